"""Parts of a run on the page, and notebooks of runs that are opened there.

It must not know how the parts are made: it finds them as a person or a screen reader does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab import Lab, write_notebook

RECORD = "application/vnd.agent-magic.run.v1+json"
WIDGET = "application/vnd.jupyter.widget-view+json"


def open_run(lab: Lab, folder: Path, name: str, cells: Sequence[str], *, run: int = 0) -> None:
    """Open a new notebook and run its cells up to `run`."""
    write_notebook(folder / f"{name}.ipynb", list(cells))
    lab.open(f"{name}.ipynb")
    for cell in range(run + 1):
        lab.run(cell)


def steps_of(shown: Any) -> Any:
    """The rows of the steps that are there, the running one too."""
    return shown.get_by_role("listitem")


def row_of(shown: Any, number: int) -> Any:
    """The row of the finished step of a number, if it is drawn; plans have none."""
    title = shown.page.get_by_role("button", name=re.compile(rf"^{number}(?!\d)"))
    return steps_of(shown).and_(shown.locator("[aria-posinset]")).filter(has=title)


def toggle_of(row: Any) -> Any:
    """What opens and closes a row."""
    return row.get_by_role("button").first
