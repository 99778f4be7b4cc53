"""Arguments: checked, read leniently where the meaning is clear, converted to the declared types."""

# ruff: noqa: PLR0917 - the many parameters are the cases
from __future__ import annotations

import datetime as dt
import enum
import pathlib
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from agent_magic.core.errors import ToolCallError
from agent_magic.core.state import AgentState, DictState
from agent_magic.tools.callable_tool import tool_from


def call(function: Callable[..., Any], /, **arguments: Any) -> Any:
    """What the function gives when a model calls it so."""
    tool = tool_from(function)
    return tool.invoke(tool.prepare(arguments, AgentState()))


def notes_of(function: Callable[..., Any], /, **arguments: Any) -> tuple[str, ...]:
    return tool_from(function).prepare(arguments, AgentState()).notes


def error_of(function: Callable[..., Any], /, **arguments: Any) -> str:
    with pytest.raises(ToolCallError) as caught:
        tool_from(function).prepare(arguments, AgentState())
    return caught.value.message


class Mode(enum.Enum):
    FAST = "fast"
    SLOW = "slow"


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


class Colour(enum.Enum):
    RED = (255, 0, 0)
    BLUE = (0, 0, 255)


@dataclass
class Row:
    price: float
    city: str = "Oslo"


@dataclass
class Positive:
    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError("n is under 1")


class Box(BaseModel):
    width: int = Field(ge=1)


class Options(TypedDict):
    depth: int


@dataclass
class Node:
    name: str
    children: list[Node]


def order(n: int, gift: bool = False) -> tuple[int, bool]:
    "Order.\n\nArgs:\n    n: number\n    gift: wrap"
    return (n, gift)


def test_arguments_read_a_text_as_the_number_it_says_with_a_note():
    assert call(order, n="3") == (3, False)
    assert notes_of(order, n="3") == snapshot(("n: text '3' read as 3",))


def test_arguments_take_a_whole_float_for_an_integer_without_a_note():
    assert repr(call(order, n=2.0, gift="false")) == "(2, False)"
    assert notes_of(order, n=2.0) == ()


def test_arguments_read_false_as_false():
    assert call(order, n=1, gift="false") == (1, False)
    assert call(order, n=1, gift="TRUE") == (1, True)
    assert notes_of(order, n=1, gift="false") == snapshot(("gift: text 'false' read as False",))


def test_arguments_refuse_an_unknown_name():
    assert error_of(order, n=1, colour="red") == snapshot(
        'order: there is no argument \'colour\'. Call order with {"n": <integer>, "gift": <boolean, optional>}.'
    )


def test_arguments_name_the_nearest_when_one_is_unknown_and_one_is_missing():
    assert error_of(order, num=1) == snapshot(
        "order: argument 'n' is missing; there is no argument 'num'; nearest: 'n'. Call order with {\"n\": <integer>, \"gift\": <boolean, optional>}."
    )
    assert error_of(order, gifts=True, n=1) == snapshot(
        "order: there is no argument 'gifts'; nearest: 'gift'. Call order with {\"n\": <integer>, \"gift\": <boolean, optional>}."
    )


def test_arguments_refuse_true_for_an_integer():
    assert error_of(order, n=True) == snapshot(
        'order: argument \'n\' is True; expected an integer. Call order with {"n": <integer>, "gift": <boolean, optional>}.'
    )


@pytest.mark.parametrize("n", ["", "three", "3.5", "1e400", "٣", "1_000", "nan", 2.5, None, [1], {"a": 1}])
def test_arguments_refuse_what_is_no_integer(n):
    assert error_of(order, n=n).startswith("order: argument 'n' is ")


def test_arguments_read_numbers_for_number_and_union():
    def scale(
        x: float, y: int | None = None, z: float | Literal["auto"] = "auto"
    ) -> tuple[float, int | None, float | str]:
        """Scale."""
        return (x, y, z)

    assert repr(call(scale, x="2.5", y="4", z=3)) == "(2.5, 4, 3.0)"
    assert repr(call(scale, x=2, y=None)) == "(2.0, None, 'auto')"
    assert call(scale, x="1e3", z="auto")[0] == 1000.0
    assert error_of(scale, x="inf") == snapshot(
        'scale: argument \'x\' is \'inf\'; expected a number. Call scale with {"x": <number>, "y": <integer or null, optional>, "z": <number or "auto", optional>}.'
    )


def test_arguments_read_json_in_a_text_as_the_container_it_is():
    def plot(
        x: list[int], opts: dict, rows: list[Row] | None = None, unique: set[int] | None = None
    ) -> list[Any]:
        """Plot."""
        return [x, opts, rows, unique]

    given = {"x": "[1, 2]", "opts": ' {"k": [1, "2"]}\n', "rows": '[{"price": "2.5"}]', "unique": "[3]"}
    assert call(plot, **given) == [[1, 2], {"k": [1, "2"]}, [Row(2.5)], {3}]
    assert notes_of(plot, **given) == snapshot(
        (
            "x: text read as JSON",
            "opts: text read as JSON",
            "rows: text read as JSON",
            "rows[0].price: text '2.5' read as 2.5",
            "unique: text read as JSON",
        )
    )
    assert notes_of(plot, x=[1], opts={"k": "[1]"}) == ()


def test_arguments_read_json_in_a_text_inside_a_list():
    def plot(rows: list[Row]) -> list[Row]:
        """Plot."""
        return rows

    assert call(plot, rows=[{"price": 1}, '{"price": 2}']) == [Row(1), Row(2)]
    assert notes_of(plot, rows=['{"price": 2}']) == snapshot(("rows[0]: text read as JSON",))


def test_arguments_read_references_in_a_text_that_is_json():
    def plot(x: list[int], opts: dict) -> None:
        """Plot."""

    state = AgentState(DictState(k=7, array=np.arange(3)), opened=["k", "array"])
    prepared = tool_from(plot).prepare({"x": '["@k"]', "opts": '{"a": "@array"}'}, state)
    assert prepared.kwargs["x"] == [7]
    assert prepared.kwargs["opts"]["a"] is state.lookup("array")
    assert prepared.notes == snapshot(
        ("x: text read as JSON", "x[0] read as @k", "opts: text read as JSON", "opts.a read as @array")
    )


def test_arguments_name_the_place_of_a_fault_in_a_text_that_is_json():
    def plot(x: list[int], opts: dict[str, int]) -> None:
        """Plot."""

    assert error_of(plot, x='[1, "two"]', opts='{"a": null}') == snapshot(
        "plot: argument 'x[1]' is 'two'; expected an integer; argument 'opts.a' is None; expected an integer. Call plot with {\"x\": <list of integer>, \"opts\": <{\"…\": <integer>}>}."
    )


def test_arguments_leave_json_alone_where_text_is_declared():
    def keep(a: str, b: list[int] | str, c: Any, d: bytes) -> list[Any]:
        """Keep."""
        return [a, b, c, d]

    assert call(keep, a="[1]", b="[1]", c='{"k": 1}', d="[1]") == ["[1]", "[1]", '{"k": 1}', b"[1]"]


@pytest.mark.parametrize("x", ["[1, 2", "[1,]", "['a']", "{}", "1", '"[1]"', "[1] and more", "[NaN]", ""])
def test_arguments_refuse_a_text_that_is_no_json_list(x):
    def plot(x: list[Any]) -> None:
        """Plot."""

    assert error_of(plot, x=x) == (
        f"plot: argument 'x' is {x!r}; expected a list. Call plot with {{\"x\": <list>}}."
    )


def test_arguments_leave_text_alone_where_text_is_declared():
    def keep(a: str, b: int | str, c: Any) -> list[Any]:
        """Keep."""
        return [a, b, c]

    assert call(keep, a="3", b="4", c="5") == ["3", "4", "5"]


def test_arguments_refuse_a_number_for_text():
    def say(words: str) -> str:
        """Say."""
        return words

    assert error_of(say, words=5) == snapshot(
        "say: argument 'words' is 5; expected text. Call say with {\"words\": <string>}."
    )


def test_arguments_keep_missing_and_null_apart():
    def find(q: str, lang: str | None) -> str:
        """Find."""
        return f"{q} {lang}"

    assert call(find, q="x", lang=None) == "x None"
    assert error_of(find, q="x") == snapshot(
        'find: argument \'lang\' is missing. Call find with {"q": <string>, "lang": <string or null>}.'
    )
    assert error_of(find, q=None, lang=None) == snapshot(
        'find: argument \'q\' is None; expected text. Call find with {"q": <string>, "lang": <string or null>}.'
    )


def test_arguments_take_null_for_what_is_none_by_default():
    def tide(port: str, day: str = None) -> str:  # noqa: RUF013 - as people write it
        """Tide."""
        return f"{port} {day}"

    assert call(tide, port="Hull", day=None) == "Hull None"


def test_arguments_list_the_choices_of_a_literal():
    def paint(colour: Literal["teal", "ochre"], coats: int = 1) -> str:
        """Paint."""
        return f"{coats} x {colour}"

    assert error_of(paint, colour="pink") == snapshot(
        "paint: argument 'colour' is 'pink'; expected one of 'teal', 'ochre'. Call paint with {\"colour\": <\"teal\" | \"ochre\">, \"coats\": <integer, optional>}."
    )
    assert call(paint, colour="ochre") == "1 x ochre"


def test_arguments_give_literal_numbers_as_numbers():
    def bet(lane: Literal[1, 2, 3]) -> str:
        """Bet."""
        return type(lane).__name__

    assert [call(bet, lane=2), call(bet, lane=2.0), call(bet, lane="2")] == ["int", "int", "int"]
    assert error_of(bet, lane=4) == snapshot(
        "bet: argument 'lane' is 4; expected one of 1, 2, 3. Call bet with {\"lane\": <1 | 2 | 3>}."
    )


def test_arguments_reach_the_function_as_enum_members():
    def run_job(mode: Mode, level: Level = Level.LOW, colour: Colour = Colour.RED) -> list[enum.Enum]:
        """Run."""
        return [mode, level, colour]

    assert call(run_job, mode="slow", level=2, colour="BLUE") == [Mode.SLOW, Level.HIGH, Colour.BLUE]
    assert call(run_job, mode="slow") == [Mode.SLOW, Level.LOW, Colour.RED]
    assert error_of(run_job, mode="medium") == snapshot(
        'run_job: argument \'mode\' is \'medium\'; expected one of \'fast\', \'slow\'. Call run_job with {"mode": <"fast" | "slow">, "level": <1 | 2, optional>, "colour": <"RED" | "BLUE", optional>}.'
    )


def test_arguments_reach_the_function_as_the_declared_types():
    def take(
        row: Row,
        box: Box,
        options: Options,
        day: dt.date,
        moment: dt.datetime,
        path: pathlib.Path,
        unique: set[int],
        point: tuple[float, float],
        raw: bytes,
        rows: list[Row],
        node: Node,
        count: np.int64,
    ) -> list[Any]:
        """Take."""
        return [row, box, options, day, moment, path, unique, point, raw, rows, node, count, type(count)]

    got = call(
        take,
        row={"price": 2},
        box={"width": 3},
        options={"depth": 1},
        day="2024-05-06",
        moment="2024-05-06T07:08:09",
        path="a/b",
        unique=[1, 2],
        point=[1, 2],
        raw="ab",
        rows=[{"price": "2.5", "city": "Rome"}],
        node={"name": "a", "children": [{"name": "b", "children": []}]},
        count=7,
    )
    assert got == [
        Row(2.0),
        Box(width=3),
        {"depth": 1},
        dt.date(2024, 5, 6),
        dt.datetime(2024, 5, 6, 7, 8, 9),  # noqa: DTZ001 - as a model gives it
        pathlib.Path("a/b"),
        {1, 2},
        (1.0, 2.0),
        b"ab",
        [Row(2.5, "Rome")],
        Node("a", [Node("b", [])]),
        7,
        np.int64,
    ]


def test_arguments_name_the_place_of_a_fault_inside():
    def take(rows: list[Row], limits: dict[str, int]) -> None:
        """Take."""

    assert error_of(take, rows=[{"price": 1}, {"price": "dear"}], limits={}) == snapshot(
        'take: argument \'rows[1].price\' is \'dear\'; expected a number. Call take with {"rows": <list of {"price": <number>, "city": <string, optional>}>, "limits": <{"…": <integer>}>}.'
    )
    assert error_of(take, rows=[{"city": "Rome"}], limits={"a": "b"}) == snapshot(
        'take: argument \'rows[0]\' lacks \'price\'; argument \'limits.a\' is \'b\'; expected an integer. Call take with {"rows": <list of {"price": <number>, "city": <string, optional>}>, "limits": <{"…": <integer>}>}.'
    )
    assert error_of(take, rows="all", limits=[]) == snapshot(
        'take: argument \'rows\' is \'all\'; expected a list of {"price": <number>, "city": <string, optional>}; argument \'limits\' is []; expected an object. Call take with {"rows": <list of {"price": <number>, "city": <string, optional>}>, "limits": <{"…": <integer>}>}.'
    )


def test_arguments_name_the_member_of_a_union_that_nearly_fits():
    def take(row: Row | None, either: int | list[int] = 0) -> None:
        """Take."""

    assert error_of(take, row={"price": "dear"}) == snapshot(
        'take: argument \'row.price\' is \'dear\'; expected a number. Call take with {"row": <{"price": <number>, "city": <string, optional>} or null>, "either": <integer or list of integer, optional>}.'
    )
    assert error_of(take, row=5, either="x") == snapshot(
        'take: argument \'row\' is 5; expected an object or null; argument \'either\' is \'x\'; expected an integer or a list of integer. Call take with {"row": <{"price": <number>, "city": <string, optional>} or null>, "either": <integer or list of integer, optional>}.'
    )


def test_arguments_are_held_to_their_bounds():
    def ask(
        n: Annotated[int, Field(ge=1, le=9)],
        words: Annotated[list[str], Field(min_length=1, max_length=2)],
        code: Annotated[str, Field(pattern="^[A-Z]+$", max_length=3)],
        unique: set[int],
        pair: tuple[int, int],
        step: Annotated[float, Field(gt=0, lt=1)] = 0.5,
    ) -> None:
        """Ask."""

    good = {"n": 1, "words": ["a"], "code": "AB", "unique": [1], "pair": [1, 2]}
    call(ask, **good)
    faults = [
        {"n": 0},
        {"n": 10},
        {"words": []},
        {"words": ["a", "b", "c"]},
        {"code": "ab"},
        {"code": "ABCD"},
        {"unique": [1, 1]},
        {"pair": [1]},
        {"pair": [1, 2, 3]},
        {"step": 0},
        {"step": 1},
    ]
    assert [error_of(ask, **{**good, **fault}).partition(". Call")[0] for fault in faults] == snapshot(
        [
            "ask: argument 'n' is 0; expected at least 1",
            "ask: argument 'n' is 10; expected at most 9",
            "ask: argument 'words' is []; expected at least 1 items",
            "ask: argument 'words' is ['a', 'b', 'c']; expected at most 2 items",
            "ask: argument 'code' is 'ab'; expected text that matches ^[A-Z]+$",
            "ask: argument 'code' is 'ABCD'; expected at most 3 characters",
            "ask: argument 'unique' is [1, 1]; expected each item once",
            "ask: argument 'pair' is [1]; expected exactly 2 items",
            "ask: argument 'pair' is [1, 2, 3]; expected exactly 2 items",
            "ask: argument 'step' is 0; expected more than 0",
            "ask: argument 'step' is 1; expected less than 1",
        ]
    )


def test_arguments_say_what_a_conversion_did_not_like():
    def take(day: dt.date, positive: Positive | None = None, box: Box | None = None) -> None:
        """Take."""

    assert error_of(take, day="2024-13-01") == snapshot(
        'take: argument \'day\' is \'2024-13-01\'; expected a date such as \'2024-05-01\'. Call take with {"day": <date>, "positive": <{"n": <integer>} or null, optional>, "box": <{"width": <integer>} or null, optional>}.'
    )
    assert error_of(take, day="2024-12-01", positive={"n": 0}) == snapshot(
        'take: argument \'positive\' is {\'n\': 0}; n is under 1. Call take with {"day": <date>, "positive": <{"n": <integer>} or null, optional>, "box": <{"width": <integer>} or null, optional>}.'
    )
    assert error_of(take, day="tomorrow", box={"width": 0}) == snapshot(
        'take: argument \'day\' is \'tomorrow\'; expected a date such as \'2024-05-01\'; argument \'box.width\' is 0; expected at least 1. Call take with {"day": <date>, "positive": <{"n": <integer>} or null, optional>, "box": <{"width": <integer>} or null, optional>}.'
    )


def test_arguments_refuse_keys_that_a_closed_model_does_not_know():
    class Closed(BaseModel, extra="forbid"):
        width: int = 1

    def take(box: Any) -> None:
        """Take."""

    take.__annotations__["box"] = Closed
    assert error_of(take, box={"widht": 2}) == snapshot(
        "take: argument 'box' has no place for 'widht'; expected width. Call take with {\"box\": <{\"width\": <integer, optional>}>}."
    )


def test_arguments_show_at_most_three_faults_and_short_values():
    def take(a: int, b: int, c: int, d: int, e: int) -> None:
        """Take."""

    assert error_of(take, a="x" * 500, b="y\nz") == snapshot(
        'take: argument \'a\' is \'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…; expected an integer; argument \'b\' is \'y\\nz\'; expected an integer; argument \'c\' is missing; and 2 more faults. Call take with {"a": <integer>, "b": <integer>, "c": <integer>, "d": <integer>, "e": <integer>}.'
    )


def test_arguments_show_no_secret(monkeypatch):
    def take(n: int, rows: list[int], box: dict[str, int], positive: Positive | None = None) -> None:
        """Take."""

    secret = 'quoted "and" long: ' + "s" * 100
    monkeypatch.setenv("SHOP_API_KEY", secret)
    key = "sk-" + "a" * 100
    assert error_of(take, n=secret, rows=[key], box={"a": 1}) == snapshot(
        'take: argument \'n\' is \'[redacted]\'; expected an integer; argument \'rows[0]\' is \'[redacted]\'; expected an integer. Call take with {"n": <integer>, "rows": <list of integer>, "box": <{"…": <integer>}>, "positive": <{"n": <integer>} or null, optional>}.'
    )
    assert error_of(take, n={secret: [key]}, rows=[1], box={key: key}) == snapshot(
        'take: argument \'n\' is {\'[redacted]\': [\'[redacted]\']}; expected an integer; argument \'box.[redacted]\' is \'[redacted]\'; expected an integer. Call take with {"n": <integer>, "rows": <list of integer>, "box": <{"…": <integer>}>, "positive": <{"n": <integer>} or null, optional>}.'
    )
    assert error_of(take, **{key: 1, "n": 1, "rows": [1], "box": {}}) == snapshot(
        'take: there is no argument \'[redacted]\'. Call take with {"n": <integer>, "rows": <list of integer>, "box": <{"…": <integer>}>, "positive": <{"n": <integer>} or null, optional>}.'
    )
    assert error_of(
        take,
        n=["x", {"k": "-----BEGIN PRIVATE KEY-----" + "M" * 2_000 + "-----END PRIVATE KEY-----"}],
        rows=[],
        box={},
    ) == snapshot(
        'take: argument \'n\' is [\'x\', {\'k\': \'[redacted]\'}]; expected an integer. Call take with {"n": <integer>, "rows": <list of integer>, "box": <{"…": <integer>}>, "positive": <{"n": <integer>} or null, optional>}.'
    )


def test_arguments_show_no_secret_of_a_validator_and_bound_what_it_says():
    @dataclass
    class Login:
        key: str

        def __post_init__(self) -> None:
            if self.key.startswith("sk-"):
                raise ValueError(f"the key {self.key} has no place here")
            raise KeyError(self.key * 100)

    def enter(login: Any) -> None:
        """Enter."""

    enter.__annotations__["login"] = Login
    assert error_of(enter, login={"key": "sk-" + "a" * 30}) == snapshot(
        "enter: argument 'login' is {'key': '[redacted]'}; the key [redacted] has no place here. Call enter with {\"login\": <{\"key\": <string>}>}."
    )
    assert error_of(enter, login={"key": "wrong "}) == snapshot(
        "enter: argument 'login' is {'key': 'wrong '}; KeyError: 'wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wrong wr…. Call enter with {\"login\": <{\"key\": <string>}>}."
    )


def test_notes_are_short_and_show_no_secret(monkeypatch):
    monkeypatch.setenv("DOOR_PASSWORD", "4711471147114711")
    assert notes_of(order, n="9" * 300) == snapshot(
        (
            "n: text '999999999999999999999999999999999999999999999999999999999999999999999999999999… read as 9999999999999999999999999999999999999999999999999999999999999999999999999999999…",
        )
    )
    assert notes_of(order, n="4711471147114711") == snapshot(("n: text '[redacted]' read as [redacted]",))


def test_arguments_bound_the_names_that_a_model_made_up():
    def take(box: dict[str, int]) -> None:
        """Take."""

    assert error_of(take, box={"k" * 1_000: "x"}) == snapshot(
        "take: argument 'box.kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…' is 'x'; expected an integer. Call take with {\"box\": <{\"…\": <integer>}>}."
    )
    assert error_of(take, **{"n" * 100_000: 1, "box": {}}) == snapshot(
        'take: there is no argument \'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…. Call take with {"box": <{"…": <integer>}>}.'
    )


def test_arguments_say_that_there_are_none():
    def flip() -> str:
        """Flip."""
        return "heads"

    assert call(flip) == "heads"
    assert error_of(flip, coin="new") == snapshot("flip: there is no argument 'coin'. Call flip with {}.")


def test_arguments_are_given_by_position_where_that_is_the_only_way():
    def pad(text: str, left: int = 1, mark: str = "!", /, *, width: int, fill: str = ".") -> str:
        """Pad."""
        return " " * left + text.ljust(width, fill) + mark

    assert call(pad, text="ab", width=4) == " ab..!"
    assert call(pad, text="ab", width=4, mark="?") == " ab..?"


def test_arguments_of_star_functions_leave_the_stars_empty():
    def glue(sep: str, *parts: str, **opts: int) -> str:
        """Glue."""
        return sep.join(parts) + str(sorted(opts))

    assert call(glue, sep="-") == "[]"
    assert "there is no argument 'parts'" in error_of(glue, sep="-", parts=["a"])


def test_arguments_that_cannot_be_hashed_are_no_trouble():
    def pick(ids: list[int], opts: dict, flag: bool) -> str:
        """Pick."""
        return f"{ids}{opts}{flag}"

    state = AgentState(DictState(ids=[9], opts={"z": 1}), scope="all")
    tool = tool_from(pick)
    prepared = tool.prepare({"ids": [1, 2], "opts": {"a": [1]}, "flag": True}, state)
    assert tool.invoke(prepared) == "[1, 2]{'a': [1]}True"
    assert prepared.notes == ()


def test_arguments_given_stay_as_they_are():
    def take(rows: list[dict[str, int]]) -> None:
        rows[0]["a"] = 99

    given = {"rows": [{"a": "1"}]}
    call(take, **given)
    assert given == {"rows": [{"a": "1"}]}


def test_arguments_cost_little():
    tool = tool_from(order)
    state = AgentState()
    arguments = {"n": 3, "gift": True}
    per_call_s = (
        min(timeit.repeat(lambda: tool.invoke(tool.prepare(arguments, state)), number=1_000, repeat=5))
        / 1_000
    )
    assert per_call_s < 2e-3
