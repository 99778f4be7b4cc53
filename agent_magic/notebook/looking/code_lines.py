"""The lines of an agent's code that made a variable what it is, as a person is shown them.

It must not run the code, nor say that a line did it: which of several did is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from agent_magic.view.words import one_line

_MOST_LINES = 3
_LINE_CHARS = 160


def lines_about(code: str, name: str) -> list[str]:
    """At most three lines: those that bind the name, else those that use it, else the first ones.

    Each is `line 3: top = df.head()`.
    """
    lines = code.split("\n")
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it was edited, or never could be read
        numbers = []
    else:
        numbers = sorted(set(_binding(tree, name))) or sorted(set(_using(tree, name)))
    if not numbers:
        numbers = [number for number, line in enumerate(lines, 1) if line.strip()]
    shown = [
        f"line {number}: {one_line(lines[number - 1].strip(), _LINE_CHARS)}"
        for number in numbers[:_MOST_LINES]
    ]
    n_more = len(numbers) - _MOST_LINES
    return [*shown, f"… and {n_more} more"] if n_more > 0 else shown


def _binding(tree: ast.AST, name: str) -> Iterator[int]:
    """The lines where `name` is bound or deleted."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=found, ctx=ast.Store() | ast.Del()) if found == name:
                yield node.lineno
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if node.name == name:
                yield node.lineno
            case ast.Import() | ast.ImportFrom() if any(_bound_by(alias) == name for alias in node.names):
                yield node.lineno
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name == name:
                yield node.lineno
            case ast.MatchMapping() if node.rest == name:
                yield node.lineno
            case _:
                pass


def _using(tree: ast.AST, name: str) -> Iterator[int]:
    """The lines where `name` stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name:
            yield node.lineno


def _bound_by(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]
