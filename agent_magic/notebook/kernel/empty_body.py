"""Lets a `%%agent` cell of one line reach the magic.

IPython refuses a cell magic without a body before the magic is asked; but `%%agent NAME --define`
and `--resume` need none, and for any other the magic's own error says more. It must not touch other cells.
"""

from __future__ import annotations

from typing import Any

_MAGIC = "%%agent"


def give_body(lines: list[str]) -> list[str]:
    """The cell's lines, with an empty one below a `%%agent` line that stands alone."""
    said = [line for line in lines if line.strip()]
    if len(said) != 1 or said[0].split()[:1] != [_MAGIC]:
        return lines
    return [said[0].rstrip("\r\n") + "\n", "\n"]


# By this mark IPython leaves it out when it asks whether a person in a terminal has typed a whole
# cell: the first line alone is none.
give_body.has_side_effects = True  # type: ignore[attr-defined] # the name is IPython's protocol


def install(shell: Any) -> None:
    """Look at each cell before IPython does."""
    uninstall(shell)
    shell.input_transformers_cleanup.insert(0, give_body)


def uninstall(shell: Any) -> None:
    """Stop looking, also what an earlier copy of this module began."""
    transformers = shell.input_transformers_cleanup
    transformers[:] = [
        each for each in transformers if getattr(each, "__module__", "") != give_body.__module__
    ]
