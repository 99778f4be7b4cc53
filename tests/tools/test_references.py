"""References: which texts in arguments become live values, and which stay text."""

from __future__ import annotations

import collections.abc
import datetime as dt
import enum
import pathlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ToolCallError
from agent_magic.core.state import AgentState, DictState
from agent_magic.tools.builtin import FINAL_ANSWER
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.tool import PreparedCall

SALES = pd.DataFrame({"amt": [5, 9, 1]})


@dataclass
class Deep:
    frame: pd.DataFrame
    n: int = 1


class Mode(enum.Enum):
    FAST = "fast"


def make_state(**names: Any) -> AgentState:
    return AgentState(DictState(names), opened=names)


def prepare(function: Callable[..., Any], arguments: dict[str, Any], **names: Any) -> PreparedCall:
    return tool_from(function).prepare(arguments, make_state(**names))


def error_of(function: Callable[..., Any], arguments: dict[str, Any], **names: Any) -> str:
    with pytest.raises(ToolCallError) as caught:
        prepare(function, arguments, **names)
    return caught.value.message


def top(frame: pd.DataFrame, n: int = 1) -> list[int]:
    """Largest amounts."""
    return frame.amt.nlargest(n).tolist()


def log(message: str) -> str:
    """Log."""
    return message


def use(value: Any) -> Any:
    """Use."""
    return value


@pytest.mark.parametrize("text", ["sales", "@sales"])
def test_reference_gives_the_very_object(text):
    prepared = prepare(top, {"frame": text, "n": 2}, sales=SALES)
    assert prepared.kwargs["frame"] is SALES
    assert prepared.notes == snapshot(("frame read as @sales",))


def test_reference_to_an_unknown_name_is_refused_with_the_nearest():
    assert error_of(top, {"frame": "salez"}, sales=SALES, n=1) == snapshot(
        "top: argument 'frame' is 'salez'; no open variable has that name. Nearest: sales. Write \"@sales\"."
    )
    assert error_of(top, {"frame": "@salez"}, sales=SALES) == snapshot(
        "top: argument 'frame' is '@salez'; no open variable has that name. Nearest: sales. Write \"@sales\"."
    )
    assert error_of(top, {"frame": "zzz"}, sales=SALES, prices=SALES) == snapshot(
        "top: argument 'frame' is 'zzz'; no open variable has that name. Open: sales, prices. Write one of them as \"@name\"."
    )


def test_reference_to_a_closed_name_is_refused():
    state = AgentState(DictState(sales=SALES))
    with pytest.raises(ToolCallError) as caught:
        tool_from(top).prepare({"frame": "sales"}, state)
    assert caught.value.message == snapshot(
        'top: argument \'frame\' is \'sales\'; no open variable has that name. Call top with {"frame": <"@name" of a DataFrame>, "n": <integer, optional>}.'
    )


def test_reference_to_a_value_of_another_type_is_refused_with_those_that_fit():
    assert error_of(top, {"frame": "@ids"}, ids=[1], sales=SALES) == snapshot(
        'top: argument \'frame\' is @ids, a list; expected "@name" of a DataFrame. Open: sales. Write one of them as "@name".'
    )
    assert error_of(top, {"frame": "ids"}, ids=[1]) == snapshot(
        'top: argument \'frame\' is @ids, a list; expected "@name" of a DataFrame. Call top with {"frame": <"@name" of a DataFrame>, "n": <integer, optional>}.'
    )
    assert error_of(top, {"frame": [1, 2]}, sales=SALES) == snapshot(
        'top: argument \'frame\' is [1, 2]; expected "@name" of a DataFrame. Call top with {"frame": <"@name" of a DataFrame>, "n": <integer, optional>}.'
    )
    assert error_of(top, {"frame": None}, sales=SALES) == snapshot(
        'top: argument \'frame\' is None; expected "@name" of a DataFrame. Call top with {"frame": <"@name" of a DataFrame>, "n": <integer, optional>}.'
    )


def test_reference_for_a_number_gives_the_number():
    assert prepare(top, {"frame": "@sales", "n": "@k"}, sales=SALES, k=2).kwargs["n"] == 2
    assert type(prepare(top, {"frame": "@sales", "n": "@k"}, sales=SALES, k=np.int64(2)).kwargs["n"]) is int
    assert error_of(top, {"frame": "@sales", "n": "@flag"}, sales=SALES, flag=True) == snapshot(
        'top: argument \'n\' is @flag, a bool; expected an integer. Call top with {"frame": <"@name" of a DataFrame>, "n": <integer, optional>}.'
    )


def test_reference_for_text_is_replaced_only_by_a_string():
    assert prepare(log, {"message": "@name"}, name="Ada").kwargs["message"] == "Ada"
    assert prepare(log, {"message": "@total"}, total=41).kwargs["message"] == "@total"
    assert prepare(log, {"message": "@sales"}, sales=SALES).kwargs["message"] == "@sales"
    assert prepare(log, {"message": "@nobody"}, name="Ada").kwargs["message"] == "@nobody"


def test_bare_name_stays_text_where_text_is_declared():
    assert prepare(log, {"message": "total"}, total=41).kwargs["message"] == "total"
    assert prepare(log, {"message": "sales"}, sales=SALES).kwargs["message"] == "sales"


def test_reference_for_a_choice_is_replaced_only_by_a_string():
    def run(mode: Mode, kind: Literal["a", "b"] = "a") -> None:
        """Run."""

    prepared = prepare(run, {"mode": "@m", "kind": "@k"}, m="fast", k="b")
    assert prepared.kwargs == {"mode": Mode.FAST, "kind": "b"}
    assert error_of(run, {"mode": "@m"}, m=1) == snapshot(
        'run: argument \'mode\' is \'@m\'; expected one of \'fast\'. Call run with {"mode": <"fast">, "kind": <"a" | "b", optional>}.'
    )


def test_bare_name_is_replaced_for_any_only_if_json_cannot_hold_the_value():
    assert prepare(use, {"value": "sales"}, sales=SALES).kwargs["value"] is SALES
    assert prepare(use, {"value": "yes"}, yes=1).kwargs["value"] == "yes"
    assert prepare(use, {"value": "@yes"}, yes=1).kwargs["value"] == 1
    assert prepare(use, {"value": "sales and more"}, sales=SALES).kwargs["value"] == "sales and more"


def test_bare_name_is_replaced_without_a_hint_as_for_any():
    def loose(value):
        """Loose."""

    assert prepare(loose, {"value": "sales"}, sales=SALES).kwargs["value"] is SALES


def test_unknown_reference_for_any_is_refused():
    assert error_of(use, {"value": "@salez"}, sales=SALES) == snapshot(
        "use: argument 'value' is '@salez'; no open variable has that name. Nearest: sales. Write \"@sales\", or give text without \"@\"."
    )
    assert error_of(use, {"value": "@salez"}) == snapshot(
        "use: argument 'value' is '@salez'; no open variable has that name. Call use with {\"value\": <any>}."
    )


@pytest.mark.parametrize("text", ["@df.price", "@ df", "a @df", "@", "@1df", "@df "])
def test_text_that_is_no_whole_reference_stays_text(text):
    assert prepare(use, {"value": text}, df=SALES).kwargs["value"] == text


def test_references_are_replaced_at_any_depth():
    def plot(opts: dict, tables: list[pd.DataFrame], labels: list[str]) -> None:
        """Plot."""

    prepared = prepare(
        plot,
        {
            "opts": {"a": [{"b": "@sales"}], "title": "plain"},
            "tables": ["@sales", "sales"],
            "labels": ["@name", "sales", "@k"],
        },
        sales=SALES,
        name="Ada",
        k=1,
    )
    assert prepared.kwargs["opts"]["a"][0]["b"] is SALES
    assert prepared.kwargs["opts"]["title"] == "plain"
    assert [table is SALES for table in prepared.kwargs["tables"]] == [True, True]
    assert prepared.kwargs["labels"] == ["Ada", "sales", "@k"]
    assert prepared.notes == snapshot(
        (
            "opts.a[0].b read as @sales",
            "tables[0] read as @sales",
            "tables[1] read as @sales",
            "labels[0] read as @name",
        )
    )


def test_reference_inside_a_list_of_frames_is_checked():
    def plot(tables: list[pd.DataFrame]) -> None:
        """Plot."""

    assert error_of(plot, {"tables": ["@sales", "@ids"]}, sales=SALES, ids=[1]) == snapshot(
        'plot: argument \'tables[1]\' is @ids, a list; expected "@name" of a DataFrame. Open: sales. Write one of them as "@name".'
    )
    assert error_of(plot, {"tables": ["salez"]}, sales=SALES) == snapshot(
        "plot: argument 'tables[0]' is 'salez'; no open variable has that name. Nearest: sales. Write \"@sales\"."
    )
    assert error_of(plot, {"tables": [3]}, sales=SALES) == snapshot(
        'plot: argument \'tables[0]\' is 3; expected "@name" of a DataFrame. Call plot with {"tables": <list of "@name" of a DataFrame>}.'
    )


def test_reference_takes_what_a_union_allows():
    def either(value: pd.DataFrame | str, maybe: pd.DataFrame | None = None) -> None:
        """Either."""

    assert prepare(either, {"value": "@sales", "maybe": "sales"}, sales=SALES).kwargs["value"] is SALES
    assert prepare(either, {"value": "sales"}, sales=SALES).kwargs["value"] == "sales"
    assert prepare(either, {"value": "@k"}, k=1).kwargs["value"] == "@k"
    assert prepare(either, {"value": "x", "maybe": None}).kwargs == {"value": "x"}
    assert error_of(either, {"value": 5}) == snapshot(
        'either: argument \'value\' is 5; expected "@name" of a DataFrame or text. Call either with {"value": <"@name" of a DataFrame or string>, "maybe": <"@name" of a DataFrame or null, optional>}.'
    )


def test_live_list_is_handed_over_itself():
    def count(ids: list[int], rows: list[dict[str, int]]) -> None:
        """Count."""

    ids, rows = [1, 2], [{"a": 1}]
    prepared = prepare(count, {"ids": "@ids", "rows": "@rows"}, ids=ids, rows=rows)
    assert prepared.kwargs["ids"] is ids
    assert prepared.kwargs["rows"] is rows


def test_live_value_is_checked_and_converted_like_any_other():
    def count(ids: list[int], unique: set[int] | None = None) -> None:
        """Count."""

    assert prepare(count, {"ids": "@t"}, t=(1, 2)).kwargs["ids"] == [1, 2]
    assert prepare(count, {"ids": "@t", "unique": "@t"}, t=[1, 2]).kwargs["unique"] == {1, 2}
    assert error_of(count, {"ids": "@words"}, words=["a"]) == snapshot(
        'count: argument \'ids\' is @words, a list; expected a list of integer. Call count with {"ids": <list of integer>, "unique": <list of integer or null, optional>}.'
    )
    assert error_of(count, {"ids": "@sales"}, sales=SALES) == snapshot(
        'count: argument \'ids\' is @sales, a DataFrame; expected a list of integer. Call count with {"ids": <list of integer>, "unique": <list of integer or null, optional>}.'
    )


def test_live_value_of_a_type_with_a_text_form_is_taken():
    def read(path: pathlib.Path, day: dt.date, raw: bytes = b"") -> None:
        """Read."""

    path, day = pathlib.Path("a"), dt.date(2024, 1, 2)
    prepared = prepare(read, {"path": "@p", "day": "d", "raw": "@b"}, p=path, d=day, b=b"x")
    assert prepared.kwargs == {"path": path, "day": day, "raw": b"x"}
    assert prepare(read, {"path": "@home", "day": "2024-01-02"}).kwargs["path"] == pathlib.Path("@home")


def test_callable_goes_by_reference():
    def apply(f: collections.abc.Callable[[int], int], x: int) -> int:
        """Apply."""
        return f(x)

    assert prepare(apply, {"f": "double", "x": 2}, double=abs).kwargs["f"] is abs
    assert error_of(apply, {"f": "@k", "x": 2}, k=1) == snapshot(
        'apply: argument \'f\' is @k, an int; expected "@name" of a callable. Call apply with {"f": <"@name" of a callable>, "x": <integer>}.'
    )


def test_final_answer_takes_a_bare_open_name_of_an_object_only():
    state = make_state(top10=SALES, yes=1)
    assert FINAL_ANSWER.prepare({"answer": "top10"}, state).kwargs["answer"] is SALES
    assert FINAL_ANSWER.prepare({"answer": "top10"}, state).notes == snapshot(("answer read as @top10",))
    assert FINAL_ANSWER.prepare({"answer": "yes"}, state).kwargs["answer"] == "yes"
    assert (
        FINAL_ANSWER.prepare({"answer": "the rows are {top10}"}, state).kwargs["answer"]
        == "the rows are {top10}"
    )
    closed = AgentState(DictState(top10=SALES))
    assert FINAL_ANSWER.prepare({"answer": "top10"}, closed).kwargs["answer"] == "top10"


def test_exact_references_replace_any_text_that_equals_a_name():
    state = AgentState(
        DictState({"image.png": SALES, "total": 41}), references="exact", opened=["image.png", "total"]
    )
    prepared = tool_from(use).prepare({"value": ["image.png", "total", "other"]}, state)
    assert prepared.kwargs["value"][0] is SALES
    assert prepared.kwargs["value"][1:] == [41, "other"]
    assert prepared.notes == snapshot(("value[0] read as @image.png", "value[1] read as @total"))
    with pytest.raises(ToolCallError) as caught:
        tool_from(log).prepare({"message": "total"}, state)
    assert caught.value.message == snapshot(
        "log: argument 'message' is 41; expected text. Call log with {\"message\": <string>}."
    )


def test_extra_and_kept_names_are_open():
    state = AgentState().fork(extra={"table": SALES})
    name = state.keep("long text")
    prepared = tool_from(use).prepare({"value": ["@table", f"@{name}"]}, state)
    assert prepared.kwargs["value"][0] is SALES
    assert prepared.kwargs["value"][1] == "long text"


def test_live_iterator_is_not_used_up_nor_replaced():
    def feed(once: collections.abc.Iterable[int], again: collections.abc.Generator[int]) -> None:
        """Feed."""

    numbers = (n for n in [1, 2])
    prepared = prepare(feed, {"once": "@numbers", "again": "numbers"}, numbers=numbers)
    assert prepared.kwargs["once"] is numbers
    assert prepared.kwargs["again"] is numbers
    assert list(numbers) == [1, 2]
    assert prepare(feed, {"once": ["1", 2], "again": "@numbers"}, numbers=numbers).kwargs["once"] == [1, 2]


def test_reference_may_stand_in_a_field_of_a_dataclass():
    def show(deep: Deep) -> None:
        """Show."""

    got = prepare(show, {"deep": {"frame": "sales", "n": "4"}}, sales=SALES).kwargs["deep"]
    assert got.frame is SALES
    assert got.n == 4
    assert error_of(show, {"deep": {"frame": "salez"}}, sales=SALES) == snapshot(
        "show: argument 'deep.frame' is 'salez'; no open variable has that name. Nearest: sales. Write \"@sales\"."
    )


def test_objects_that_cannot_be_copied_go_as_they_are():
    lock = threading.Lock()
    assert prepare(use, {"value": {"inside": ["@lock"]}}, lock=lock).kwargs["value"]["inside"][0] is lock
