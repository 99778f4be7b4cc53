"""What is weak about a tool, each with the fix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from inline_snapshot import snapshot
from tools.foreign_shapes import Lang, Query, search

from agent_magic.tools.adapt import adapt
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.weaknesses import weaknesses


def bare(a, *rest):
    return a


def shared(names: list[str] = [], more: dict[str, int] = {}, limit: int = 3) -> str:  # noqa: B006 - that is the fault
    """The names in a row.

    Args:
        names: any
        more: how often
        limit: how many
    """
    return ", ".join(names[:limit])


def rows(where: dict, cells: list) -> list[str]:
    """The rows where it is so.

    Args:
        where: conditions
        cells: which
    """
    return []


def top_rows(limit: int) -> list[str]:
    """The first rows.

    Args:
        limit: how many
    """
    return [""] * limit


def send(text: str) -> None:
    """Send it.

    Args:
        text: what
    """


def stream() -> Iterator[str]:
    """The lines, one by one."""
    yield ""


def run(x: int) -> int:
    """Do it.

    Args:
        x: a number
    """
    return x


def wordy(x: int) -> int:
    return x


wordy.__doc__ = f"{'It says much. ' * 100}\n\nArgs:\n    x: a number\n"
MANY = eval(f"lambda {', '.join(f'a{n}=0' for n in range(13))}: 0")


@pytest.mark.parametrize(
    ("function", "weak"),
    [
        (
            bare,
            snapshot(
                [
                    "Tool 'bare': parameter '*rest' is not offered to the model. Give each value that it needs a parameter of its own",
                    "Tool 'bare' has no description. Give it a docstring whose first line says what it returns and when to use it",
                    "Tool 'bare': parameter 'a' has no type hint, so any value is taken. Add one to its signature, e.g.  a: str",
                    "Tool 'bare': what it returns has no type hint, so code cannot go by it. Add one, e.g.  -> float",
                ]
            ),
        ),
        (
            shared,
            snapshot(
                [
                    "Tool 'shared': the default of 'names' is a list that all calls share, so what one call puts in the next one finds. Write  names: list | None = None  and make it in the body",
                    "Tool 'shared': the default of 'more' is a dict that all calls share, so what one call puts in the next one finds. Write  more: dict | None = None  and make it in the body",
                ]
            ),
        ),
        (
            rows,
            snapshot(
                [
                    "Tool 'rows': 'where' is a dict of anything, so a model has to guess its keys. Give it a TypedDict or a dataclass, or  dict[str, float]",
                    "Tool 'rows': 'cells' is a list of anything. Say of what, e.g.  list[str]",
                    "Tool 'rows' may return any number of items, and what is too long is cut for a model. Give it a parameter such as  limit: int = 20,  or return a summary",
                ]
            ),
        ),
        (top_rows, snapshot([])),
        (
            send,
            snapshot(
                [
                    "Tool 'send' returns nothing, so a model is not told what came of a call. Return a few words about what was done"
                ]
            ),
        ),
        (
            stream,
            snapshot(
                [
                    "Tool 'stream' returns an iterator, of which a model is shown no item. Return a list of a bounded length"
                ]
            ),
        ),
        (run, snapshot(["Tool 'run': the name says little. Call it by what it gives, e.g.  mean_price"])),
        (
            wordy,
            snapshot(
                [
                    "Tool 'wordy': the description has 1,399 characters, which go with each request. Say in a few lines what it returns and when to use it"
                ]
            ),
        ),
        (
            math.factorial,
            snapshot(
                [
                    "Tool 'factorial' comes from math as it is; a wrapper with hints and a docstring would be understood better"
                ]
            ),
        ),
        (
            np.add,
            snapshot(
                [
                    "Tool 'add' comes from numpy as it is; a wrapper with hints and a docstring would be understood better"
                ]
            ),
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_weaknesses_name_what_is_weak_and_the_fix(function: Any, weak: Any) -> None:
    assert list(weaknesses(tool_from(function))) == weak


def test_weaknesses_of_many_arguments() -> None:
    points = weaknesses(tool_from(MANY, name="mean"))
    assert [point for point in points if "takes" in point] == snapshot(
        ["Tool 'mean' takes 13 arguments. Take what belongs together as one dataclass, or make two tools"]
    )


def test_weaknesses_of_a_foreign_tool_are_what_its_maker_can_better() -> None:
    assert weaknesses(adapt(Lang("search", "", Query, search))) == snapshot(
        (
            "Tool 'search' has no description. Give it one where it is made: what it returns and when to use it",
            "Tool 'search': parameter 'kind' has no description. Describe it where the tool is made",
        )
    )
