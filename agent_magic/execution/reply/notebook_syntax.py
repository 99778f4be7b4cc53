"""Magics, shell lines and `?`: what the notebook takes and Python does not, each with what to write instead.

It must not decide whether a line is Python: it is asked once Python could not read one.
"""

from __future__ import annotations

import re

from agent_magic.core.errors import CodeRefused
from agent_magic.core.redact import redact
from agent_magic.core.text import strip_control

_MAGIC = re.compile(r"\s*(?:[\w, .\[\]]+=\s*)?%{1,2}(?P<name>[A-Za-z]\w*)")
_SHELL = re.compile(r"\s*(?:[\w, ]+=\s*)?!{1,2}\s*(?P<name>[\w./-]+)")
_HELP = re.compile(r"\s*\?{1,2}\s*[\w.]+\s*$|\s*[\w.]+\s*\?{1,2}\s*$")

_NO_PACKAGES = (
    "Packages cannot be installed from code: use what is there, or say in the final answer what is missing."
)
_FILES = 'List files with `pathlib.Path(".").iterdir()`, read one with `open(path).read()`.'
_TIME = "Measure with `time.perf_counter()` before and after."
_INSTEAD = {
    "pip": _NO_PACKAGES,
    "conda": _NO_PACKAGES,
    "uv": _NO_PACKAGES,
    "matplotlib": "Leave the line out: figures are shown without it.",
    "ls": _FILES,
    "cat": _FILES,
    "head": _FILES,
    "pwd": _FILES,
    "time": _TIME,
    "timeit": _TIME,
    "who": "Use the variables by their names.",
    "whos": "Use the variables by their names.",
}


def refuse_notebook_syntax(code: str, line_number: int) -> CodeRefused | None:
    """The refusal of the line that Python stopped at, or None if it is no notebook syntax."""
    lines = code.split("\n")
    if not 0 < line_number <= len(lines):
        return None
    line = lines[line_number - 1]
    match = _MAGIC.match(line) or _SHELL.match(line)
    if match is None and not _HELP.match(line):
        return None
    if match is None:
        instead = "To see what something is, use `print(x.__doc__)` or `dir(x)`."
    else:
        instead = _INSTEAD.get(match["name"], "Leave the line out, or write in Python what it was to do.")
    shown = strip_control(line).strip()[:160]
    return CodeRefused(
        redact(
            f"Line {line_number} is refused, and nothing ran: `{shown}`\n"
            f"Magics, shell lines and `?` are not Python, and only Python runs here. {instead}"
        )
    )
