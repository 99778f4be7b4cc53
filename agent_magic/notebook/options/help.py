"""What `%agent help` and `%%agent?` show: each option and each command with one line.

It must not say anything that the two tables do not.
"""

from __future__ import annotations

from agent_magic.notebook.options.commands import LINE_COMMANDS
from agent_magic.notebook.options.options import DEFAULT_NAME, OPTIONS, Option

_WIDEST = 40
"""Of the left column; what is longer stands on a line of its own."""


def help_text() -> str:
    """The help, whole."""
    rows = [(f"{option.flag} {option.value}".rstrip(), _help_of(option)) for option in OPTIONS]
    commands = [(command.form, command.help) for command in LINE_COMMANDS.values()]
    return "\n".join(
        [
            "%%agent [NAME] [options]",
            "the task, in the lines below",
            "",
            f"NAME is the variable that holds the agent [{DEFAULT_NAME}]; the same NAME goes on with the same memory.",
            "In the task, @name hands over a function (as a tool) or a variable; \\@name is plain text.",
            "",
            "Options [default]; those marked * hold for one cell, the others stay the agent's:",
            *_columns(rows),
            "",
            "Commands:",
            *_columns(commands),
        ]
    )


def _help_of(option: Option) -> str:
    text = f"{option.help} [{option.default}]" if option.default else option.help
    return f"* {text}" if option.is_one_cell else f"  {text}"


def _columns(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(left) for left, _ in rows if len(left) <= _WIDEST)
    lines: list[str] = []
    for left, right in rows:
        if len(left) > width:
            lines += [f"  {left}", f"  {'':{width}}  {right}"]
        else:
            lines.append(f"  {left:<{width}}  {right}")
    return lines
