"""What the text of code must be before anything reads it: its characters, its size, and whether it parses.

It must not look at what the code does.
"""

from __future__ import annotations

import ast
import re
import warnings

from agent_magic.core.errors import ParsingError

MAX_CODE_CHARS = 200_000
"""Code longer than this holds data, not steps."""
MAX_CODE_LINES = 10_000

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python's parser may raise: besides syntax errors, for characters and for depth."""

_BAD_CHARACTER = re.compile("[\x00\ud800-\udfff]")
# Of `codeop`, where it is private from 3.11 on: tells code that only lacks its end from wrong code.
_ALLOW_INCOMPLETE_INPUT = 0x4000


def parse_module(code: str, filename: str = "<code>", flags: int = 0) -> ast.Module:
    """The syntax tree of the code; top-level `await` is allowed, and no warning is raised.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: See `UNREADABLE`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in a string is the author's affair, and no fault
        tree = compile(
            code,
            filename,
            "exec",
            ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | flags,
            dont_inherit=True,
        )
    assert isinstance(tree, ast.Module)
    return tree


def try_parse(code: str) -> ast.Module | None:
    """The syntax tree, or None if the code has none."""
    try:
        return parse_module(code)
    except UNREADABLE:
        return None


def is_incomplete(code: str) -> bool:
    """Whether the code only lacks its end: a bracket, a string or a statement that goes on."""
    try:
        parse_module(code, flags=_ALLOW_INCOMPLETE_INPUT)
    except SyntaxError as error:
        if "incomplete input" in str(error.msg):
            return True
        last = code.rstrip().count("\n") + 1
        if error.lineno is None or error.lineno < last:
            return False
        end = code.rstrip().rpartition("\n")[2]
        # A name or sign that wants more after it, or a string that ends with the text.
        return "unterminated" in str(error.msg) or bool(_WANTS_MORE.search(end))
    except (ValueError, RecursionError, MemoryError):
        return False
    return False


_WANTS_MORE = re.compile(
    r"(?:[-+*/%=<>&|^~.,\\@]|\b(?:if|else|in|is|and|or|not|import|from|as|await|lambda))$"
)


def refuse_unreadable(code: str) -> None:
    """Refuses code that Python could not read, or that is too long to be steps.

    Raises:
        ParsingError: It names the character, or the size.
    """
    bad = None if code.isascii() and "\0" not in code else _BAD_CHARACTER.search(code)
    if bad:
        kind = "NUL character" if bad[0] == "\0" else "lone surrogate character"
        line = code.count("\n", 0, bad.start()) + 1
        raise ParsingError(
            f"Line {line} of the code has a {kind}, U+{ord(bad[0]):04X}, which Python cannot read; nothing ran.\n"
            f"Leave it out, or write it as an escape inside a string: {bad[0]!a}"
        )
    n_lines = code.count("\n") + 1
    if len(code) > MAX_CODE_CHARS or n_lines > MAX_CODE_LINES:
        raise ParsingError(
            f"The code has {len(code):,} characters on {n_lines:,} lines; at most {MAX_CODE_CHARS:,} on "
            f"{MAX_CODE_LINES:,} can be run, and nothing ran.\n"
            "Make large data in a loop or read it from where it is, and send the work in smaller steps."
        )
