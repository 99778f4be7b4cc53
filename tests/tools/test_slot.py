"""Values that code gives: handed over themselves, converted, or refused in Python's own words."""

# ruff: noqa: DTZ001 - times without a zone, as people have them
from __future__ import annotations

import datetime as dt
import decimal
import enum
import itertools
import pathlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from agent_magic.core.errors import ToolCallError
from agent_magic.core.state import AgentState
from agent_magic.tools.builtin import make_final_answer
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.tool import Tool


class Mode(enum.Enum):
    FAST = "fast"
    SLOW = "slow"


class Level(enum.IntEnum):
    LOW = 1


class Colour(enum.Enum):
    RED = (255, 0, 0)
    BLUE = (0, 0, 255)


@dataclass
class Row:
    price: float
    city: str = "Oslo"


class Dear(Row):
    """A subclass."""


class Box(BaseModel):
    width: int = Field(ge=1)


class Options(TypedDict):
    depth: int


def taking(hint: Any) -> Callable[[Any], Any]:
    """A tool whose one argument has this hint, called as code calls it; it gives what reached its body."""

    def keep(value: Any) -> Any:
        """Keep."""
        return value

    keep.__annotations__ = {"value": hint}
    tool = tool_from(keep)
    return lambda value: tool.invoke(tool.prepare({"value": value}, None))


def refusal(hint: Any, value: Any) -> str:
    with pytest.raises(ToolCallError) as caught:
        taking(hint)(value)
    return caught.value.message.partition(". Call keep(")[0].removeprefix("keep: argument 'value' ")


FRAME = pd.DataFrame({"a": [1]})
ARRAY = np.arange(3)
STAMP = pd.Timestamp("2024-01-02 03:04:05.123456789")


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Row, Row(1.5)),
        (Row, Dear(1.5)),
        (Box, Box(width=2)),
        (Mode, Mode.SLOW),
        (Colour, Colour.BLUE),
        (dt.date, dt.date(2024, 1, 2)),
        (dt.datetime, dt.datetime(2024, 1, 2)),
        (dt.datetime, STAMP),
        (pathlib.Path, pathlib.Path("a")),
        (decimal.Decimal, decimal.Decimal("1.1")),
        (pd.DataFrame, FRAME),
        (pd.DataFrame | None, FRAME),
        (str | pd.DataFrame, FRAME),
        (np.ndarray, ARRAY),
        (bytes, b"x"),
        (list, [object()]),
        (dict, Counter("ab")),
        (list[int], [1, 2]),
        (list[float], [1, 2]),
        (list[Row], [Row(1.5), Row(2.5)]),
        (dict[int, float], {1: 2.5}),
        (dict[str, list[int]], {"a": [1]}),
        (tuple[int, ...], (1, 2)),
        (set[int], {1, 2}),
        (Sequence[int], (1, 2)),
        (Any, FRAME),
        (object, FRAME),
        (Callable[[int], int], abs),
        (type, Row),
        (int | None, None),
        (Options, {"depth": 3}),
        (Literal["a", "b"], "a"),
    ],
)
def test_slot_hands_over_the_very_object_that_fits(hint: Any, value: Any) -> None:
    assert taking(hint)(value) is value


@pytest.mark.parametrize(
    ("hint", "value", "reached"),
    [
        (int, np.int64(3), 3),
        (int, np.uint8(3), 3),
        (int, 2.0, 2),
        (int, Level.LOW, 1),
        (float, np.float32(0.5), 0.5),
        (float, np.float64(0.5), 0.5),
        (float, np.int64(2), 2.0),
        (float, 2, 2.0),
        (bool, np.True_, True),
        (int | None, np.int64(3), 3),
        (Annotated[int, Field(ge=1)], np.int64(3), 3),
        (Literal[1, 2], np.int64(2), 2),
        (list[int], (1, 2), [1, 2]),
        (list[int], range(3), [0, 1, 2]),
        (list[int], deque([1]), [1]),
        (list[int], [np.int64(1)], [1]),
        (list[int], {"a": 1}.values(), [1]),
        (list[str], {"a": 1}.keys(), ["a"]),
        (tuple[int, str], [np.int64(1), "a"], (1, "a")),
        (set[int], [1, 2], {1, 2}),
        (list[list[int]], [(1,), (2,)], [[1], [2]]),
        (dict[str, int], {"a": np.int64(1)}, {"a": 1}),
        (Row, {"price": 2}, Row(2.0)),
        (list[Row], [{"price": 2.5}, Row(1.5)], [Row(2.5), Row(1.5)]),
        (Mode, "slow", Mode.SLOW),
        (Colour, "RED", Colour.RED),
        (dt.date, "2024-01-02", dt.date(2024, 1, 2)),
        (dt.date, pd.Timestamp("2024-01-02"), dt.date(2024, 1, 2)),
        (dt.date, dt.datetime(2024, 1, 2), dt.date(2024, 1, 2)),
        (dt.datetime, "2024-01-02T03:04", dt.datetime(2024, 1, 2, 3, 4)),
        (pathlib.Path, "a/b", pathlib.Path("a/b")),
    ],
)
def test_slot_converts_what_means_the_declared_type(hint: Any, value: Any, reached: Any) -> None:
    found = taking(hint)(value)
    assert found == reached
    assert repr(found) == repr(reached)
    assert type(found) is type(reached)


def test_slot_refuses_in_pythons_words() -> None:
    cases: list[tuple[Any, Any]] = [
        (int, True),
        (int, "3"),
        (int, 2.5),
        (int, None),
        (int, np.True_),
        (float, "1"),
        (float, [1]),
        (bool, 1),
        (bool, "true"),
        (str, 5),
        (str, FRAME),
        (int, FRAME),
        (pd.DataFrame, "df"),
        (pd.DataFrame | None, [1]),
        (list[int], "1, 2"),
        (list[int], [1, True]),
        (list[int], (1, "2")),
        (list[float], ARRAY),
        (list[float], FRAME["a"]),
        (set[int], {True}),
        (dict[str, int], {"a": "x"}),
        (Literal["a", "b"], "c"),
        (Mode, "quick"),
        (Mode, Colour.RED),
        (Colour, "GREEN"),
        (Colour, 5),
        (dt.date, "soon"),
        (dt.date, STAMP),
        (dt.date, 5),
        (Row, {"city": "Oslo"}),
        (Row, {"price": "x"}),
        (list[Row], [Row(1.0), {"price": None}]),
        (Annotated[int, Field(ge=1)], np.int64(0)),
        (Annotated[list[int], Field(max_length=2)], (1, 2, 3)),
        (Callable[[int], int], 5),
        (int | None, "x"),
        (Box, {"width": 0}),
        (pathlib.Path, 5),
    ]
    assert [refusal(hint, value) for hint, value in cases] == snapshot(
        [
            "is True; expected int",
            "is '3'; expected int",
            "is 2.5; expected int",
            "is None; expected int",
            "is True; expected int",
            "is '1'; expected float",
            "is [1]; expected float",
            "is 1; expected bool",
            "is 'true'; expected bool",
            "is 5; expected str",
            "is a DataFrame; expected str",
            "is a DataFrame; expected int",
            "is 'df'; expected DataFrame",
            "is [1]; expected DataFrame | None",
            "is '1, 2'; expected list[int]",
            "keep: argument 'value[1]' is True; expected int",
            "keep: argument 'value[1]' is '2'; expected int",
            "is an ndarray; expected list[float]",
            "is a Series; expected list[float]",
            "keep: argument 'value[0]' is True; expected int",
            "keep: argument 'value.a' is 'x'; expected int",
            "is 'c'; expected one of 'a', 'b'",
            "is 'quick'; expected one of 'fast', 'slow'",
            "is a Colour; expected one of 'fast', 'slow'",
            "is 'GREEN'; expected one of 'RED', 'BLUE'",
            "is 5; expected one of 'RED', 'BLUE'",
            "is 'soon'; expected date",
            "is a Timestamp; expected date",
            "is 5; expected date",
            "lacks 'price'",
            "keep: argument 'value.price' is 'x'; expected float",
            "keep: argument 'value[1].price' is None; expected float",
            "is 0; expected at least 1",
            "is [1, 2, 3]; expected at most 2 items",
            "is 5; expected callable",
            "is 'x'; expected int | None",
            "keep: argument 'value.width' is 0; expected at least 1",
            "is 5; expected Path",
        ]
    )


def test_slot_reads_no_generator_for_a_list() -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in itertools.count():
            taken.append(number)
            yield number

    assert refusal(list[int], numbers()) == snapshot("is a generator; expected list[int]")
    assert refusal(list[int] | None, map(abs, [1])) == snapshot("is a map; expected list[int] | None")
    assert taken == []


def test_slot_hands_over_a_generator_where_one_is_declared() -> None:
    for hint in (Iterable[int], Iterator[int], Any):
        given = iter([1, 2])
        assert taking(hint)(given) is given
    assert list(taking(Iterable[int])([1])) == [1]


def test_slot_changes_no_value_that_was_given() -> None:
    given = [np.int64(1), 2]
    taking(list[int])(given)
    assert type(given[0]) is np.int64


def test_slot_hands_over_a_list_that_the_body_may_change() -> None:
    def fill(rows: list[int]) -> None:
        """Fill."""
        rows.append(3)

    tool, rows = tool_from(fill), [1]
    tool.invoke(tool.prepare({"rows": rows}, None))
    assert rows == [1, 3]


def test_slot_takes_text_that_looks_like_a_reference_as_text() -> None:
    assert [taking(hint)("@df") for hint in (str, Any)] == ["@df", "@df"]


def test_slot_bounds_a_list_that_holds_itself() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    with pytest.raises(ToolCallError, match=r"argument 'value\[1\]' is a list; expected int"):
        taking(list[int])(loop)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (list[float], [0.5] * 300_000),
        (list[float], [np.float64(0.5)] * 300_000),
        (dict[str, int], {str(n): n for n in range(100_000)}),
    ],
)
def test_slot_reads_a_long_list_quickly(hint: Any, value: Any) -> None:
    begin = time.perf_counter()
    assert len(taking(hint)(value)) == len(value)
    assert time.perf_counter() - begin < 10


class Weather(Tool):
    name = "weather"
    description = "The weather."
    inputs = {  # noqa: RUF012 - as people write a tool
        "city": {"type": "string", "description": "where"},
        "days": {"type": "integer", "description": "how many", "minimum": 1},
        "places": {"type": "array", "description": "more", "nullable": True},
    }
    output_type = "string"

    def forward(self, city, days=1, places=None):
        return (city, days, places)


def test_slot_of_a_class_form_holds_to_its_schema_without_hints() -> None:
    weather = Weather()
    assert repr(weather(city="Oslo", days=np.int64(2), places=("a",))) == "('Oslo', 2, ['a'])"
    texts: list[str] = []
    for given in ({"city": FRAME}, {"city": "Oslo", "days": 0}, {"city": "Oslo", "days": True}):
        with pytest.raises(ToolCallError) as caught:
            weather(**given)
        texts.append(caught.value.message)
    assert texts == snapshot(
        [
            "weather: argument 'city' is a DataFrame; expected str. Call weather(city=<str>, days=<int, optional>, places=<list | None, optional>).",
            "weather: argument 'days' is 0; expected at least 1. Call weather(city=<str>, days=<int, optional>, places=<list | None, optional>).",
            "weather: argument 'days' is True; expected int. Call weather(city=<str>, days=<int, optional>, places=<list | None, optional>).",
        ]
    )


def test_slot_of_a_class_form_holds_to_its_bounds_beside_hints() -> None:
    class Count(Tool):
        name = "count"
        description = "Count."
        inputs = {"n": {"type": "integer", "description": "how many", "maximum": 3}}  # noqa: RUF012 - as people write a tool
        output_type = "integer"

        def forward(self, n: int) -> int:
            return n

    with pytest.raises(ToolCallError) as caught:
        Count()(n=4)
    assert caught.value.message == snapshot(
        "count: argument 'n' is 4; expected at most 3. Call count(n=<int>)."
    )


def test_slot_takes_a_mapping_for_a_mapping() -> None:
    class View(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            return 1

        def __iter__(self) -> Iterator[str]:
            return iter(["a"])

        def __len__(self) -> int:
            return 1

    assert taking(dict[str, int])(View()) == {"a": 1}


class Unasked(type):
    def __instancecheck__(cls, instance: object) -> bool:
        raise RuntimeError("no database")


class Stored(metaclass=Unasked):
    """A class that cannot be asked about a value."""


def take(value: Stored) -> int:
    """Take."""
    return 1


def test_slot_refuses_what_its_type_raises_about() -> None:
    state = AgentState({"frame": pd.DataFrame(), "rows": Stored()}, opened=["frame", "rows"])
    told: list[str] = []
    for given in (1, "@frame", "frame", "other"):
        with pytest.raises(ToolCallError) as refused:
            tool_from(take).prepare({"value": given}, state)
        told.append(refused.value.message)
    assert told == snapshot(
        [
            'take: argument \'value\' is 1; expected "@name" of a Stored, and asking for that raised RuntimeError: no database. Call take with {"value": <"@name" of a Stored>}.',
            'take: argument \'value\' is \'@frame\'; expected "@name" of a Stored, and asking for that raised RuntimeError: no database. Call take with {"value": <"@name" of a Stored>}.',
            'take: argument \'value\' is \'frame\'; expected "@name" of a Stored, and asking for that raised RuntimeError: no database. Call take with {"value": <"@name" of a Stored>}.',
            "take: argument 'value' is 'other'; no open variable has that name. Open: rows. Write one of them as \"@name\".",
        ]
    )


def test_slot_refuses_what_its_type_raises_about_when_code_calls() -> None:
    with pytest.raises(ToolCallError) as refused:
        tool_from(take).prepare({"value": 1}, None)
    assert refused.value.message == snapshot(
        "take: argument 'value' is 1; expected Stored, and asking for that raised RuntimeError: no database. Call take(value=<Stored>)."
    )


def test_final_answer_refuses_a_name_when_its_type_raises_about_the_value() -> None:
    with pytest.raises(ToolCallError) as refused:
        make_final_answer(Stored).prepare(
            {"answer": "frame"}, AgentState({"frame": pd.DataFrame()}, opened=["frame"])
        )
    assert refused.value.message == snapshot(
        'final_answer: argument \'answer\' is \'frame\'; expected "@name" of a Stored, and asking for that raised RuntimeError: no database. Call final_answer with {"answer": <"@name" of a Stored>}.'
    )


class Silent(RuntimeError):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Unsaid(type):
    def __instancecheck__(cls, instance: object) -> bool:
        raise Silent


class Hidden(metaclass=Unsaid):
    """A class whose refusal to be asked has no text."""


def test_slot_names_the_error_of_a_type_when_its_text_raises_too() -> None:
    assert refusal(Hidden, 1) == "is 1; expected Hidden, and asking for that raised Silent"
