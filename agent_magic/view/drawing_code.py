"""The drawing code that TypeScript is built to: whether it is there, and its text.

It must not draw, nor import what would: asking whether a page can be drawn on must cost nothing.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

STATIC = Path(__file__).with_name("static")
NOT_BUILT = "live view not built: install node 20 or newer, then agent_magic again"
"""Said where a clone was installed without node: the static form stands then."""


def is_built() -> bool:
    """Whether the drawing code is there."""
    return (STATIC / "run.js").is_file()


@cache
def read_built(name: str) -> str:
    """The text of `run.js` or `run.css`; empty if it was not built."""
    file = STATIC / name
    return file.read_text(encoding="utf-8") if file.is_file() else ""
