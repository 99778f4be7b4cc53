"""Schemas in words."""

# ruff: noqa: PLR0917 - the many parameters are the cases
from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from inline_snapshot import snapshot

from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.wording import to_call_form, to_expected, to_path, to_shape, to_short


@dataclass
class Row:
    price: float
    city: str = "Oslo"


def test_call_form_shows_every_kind_of_parameter():
    def take(
        n: int,
        names: list[str],
        row: Row,
        frame: pd.DataFrame | None,
        day: dt.date,
        kind: Literal["a", "b"] = "a",
        anything: Any = None,
        rest: dict | None = None,
        point: tuple[int, int] = (0, 0),
    ) -> None:
        """Take."""

    assert tool_from(take).call_form == snapshot(
        'Call take with {"n": <integer>, "names": <list of string>, "row": <{"price": <number>, "city": <string, optional>}>, "frame": <"@name" of a DataFrame or null>, "day": <date>, "kind": <"a" | "b", optional>, "anything": <any, optional>, "rest": <object or null, optional>, "point": <[integer, integer], optional>}.'
    )


def test_expected_says_what_a_place_takes():
    schemas: list[Any] = [
        {"type": ["string", "null"]},
        {"enum": list(range(30))},
        {"const": 1},
        {"type": "string", "format": "binary"},
        True,
        {"$ref": "#/$defs/Node"},
    ]
    assert [to_expected(schema) for schema in schemas] == snapshot(
        [
            "text or null",
            "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, '…'",
            "1",
            "text",
            "any value",
            "a Node",
        ]
    )
    assert [to_shape(schema) for schema in schemas] == snapshot(
        [
            "string or null",
            '0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19 | "…"',
            "1",
            "binary",
            "any",
            "Node",
        ]
    )


def test_path_and_value_are_short():
    assert to_path(("rows", 1, "price", 0)) == "rows[1].price[0]"
    assert len(to_short("x" * 1000)) == 80
    assert to_short("a\x1b[31m\nb") == snapshot("'a\\x1b[31m\\nb'")


def test_call_form_leaves_out_the_last_optional_parameters_of_many():
    parameters = [
        ("first", {"type": "integer"}, True),
        *((f"p{n}", True, False) for n in range(20)),
        ("last", {}, True),
    ]
    assert to_call_form("take", parameters) == snapshot(
        'Call take with {"first": <integer>, "p0": <any, optional>, "p1": <any, optional>, "p2": <any, optional>, "p3": <any, optional>, "p4": <any, optional>, "p5": <any, optional>, "p6": <any, optional>, "p7": <any, optional>, "p8": <any, optional>, "p9": <any, optional>, "last": <any>, …}.'
    )
