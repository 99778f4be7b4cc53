"""Schemas and calls in Python's own words."""

from __future__ import annotations

import datetime as dt
import pathlib
import uuid
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from inline_snapshot import snapshot

from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.hints import build_hint_schema
from agent_magic.tools.words import JSON, PYTHON, to_python_shape


@dataclass
class Row:
    price: float
    tags: list[str]


@dataclass
class Node:
    children: list[Node]


def test_shape_of_hints_in_python() -> None:
    hints: list[Any] = [
        int,
        float | None,
        list[str],
        set[int],
        tuple[int, str],
        dict[str, int],
        Literal["a", "b"],
        dt.date,
        dt.datetime | None,
        dt.timedelta,
        uuid.UUID,
        pathlib.Path,
        bytes,
        pd.DataFrame,
        pd.DataFrame | str,
        list[Row],
        Node,
        Any,
    ]
    assert [to_python_shape(build_hint_schema(hint).schema) for hint in hints] == snapshot(
        [
            "int",
            "float | None",
            "list[str]",
            "set[int]",
            "tuple[int, str]",
            "{…: <int>}",
            "'a' | 'b'",
            "date",
            "datetime | None",
            "timedelta",
            "UUID",
            "Path",
            "bytes",
            "DataFrame",
            "DataFrame | str",
            "list[{'price': <float>, 'tags': <list[str]>}]",
            "Node",
            "Any",
        ]
    )


def test_shape_of_schemas_that_authors_write() -> None:
    schemas = [
        {"type": ["integer", "null"]},
        {"const": 3},
        {"enum": list(range(30))},
        True,
        {"type": "array"},
    ]
    assert [to_python_shape(schema) for schema in schemas] == snapshot(
        [
            "int | None",
            "3",
            "0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19 | …",
            "Any",
            "list",
        ]
    )


def test_call_form_in_json_and_in_python() -> None:
    def draw(text: str, /, width: int, *rest: int, fill: str = ".", **options: float) -> str:
        """Draw."""
        return text

    reader = tool_from(draw).definition.reader
    assert [reader.to_call_form(words) for words in (JSON, PYTHON)] == snapshot(
        [
            'Call draw with {"text": <string>, "width": <integer>, "fill": <string, optional>}.',
            "Call draw(<text: str>, <width: int>, *rest, fill=<str, optional>, **options).",
        ]
    )


def test_call_form_leaves_out_what_is_optional_of_many() -> None:
    def wide(a0, a1, a2, a3, a4, b0=0, b1=0, b2=0, b3=0, b4=0, b5=0, b6=0, b7=0, b8=0) -> None:  # noqa: PLR0917 - the many parameters are the case
        """Wide."""

    assert tool_from(wide).definition.reader.to_call_form(PYTHON) == snapshot(
        "Call wide(a0=<Any>, a1=<Any>, a2=<Any>, a3=<Any>, a4=<Any>, b0=<Any, optional>, b1=<Any, optional>, b2=<Any, optional>, b3=<Any, optional>, b4=<Any, optional>, b5=<Any, optional>, b6=<Any, optional>, …)."
    )
