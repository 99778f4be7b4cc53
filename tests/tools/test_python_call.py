"""Calls that code makes: bound as Python binds them, refused in Python's own words."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ToolCallError
from agent_magic.tools.builtin import FINAL_ANSWER, make_final_answer
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.python_call import bind_call
from agent_magic.tools.tool import Tool


def order(n: int, colour: str = "red", *, gift: bool = False) -> tuple[int, str, bool]:
    """Order."""
    return (n, colour, gift)


def label(text: str, width: int = 3, /, *, fill: str = ".") -> str:
    """Label."""
    return f"{text}{fill * width}"


def joined(first: str, *parts: str, sep: str = "-", **options: int) -> tuple[Any, ...]:
    """Join."""
    return (first, parts, sep, options)


def loose(*args, **kwargs):
    """Loose."""
    return (args, kwargs)


def wrapped(name: str, /, **options: Any) -> tuple[Any, ...]:
    """Wrap."""
    return (name, options)


class Weather(Tool):
    name = "weather"
    description = "The weather."
    inputs = {  # noqa: RUF012 - as people write a tool
        "days": {"type": "integer", "description": "how many"},
        "city": {"type": "string", "description": "where"},
    }
    output_type = "string"

    def forward(self, city: str, days: int = 1) -> str:
        return f"{city} {days}"


def call(source: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What comes of it when code calls the tool so."""
    tool = tool_from(source) if not isinstance(source, Tool) else source
    return tool.invoke(tool.prepare(bind_call(tool, args, kwargs), None))


def error_of(source: Any, /, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(ToolCallError) as caught:
        call(source, *args, **kwargs)
    return caught.value.message


def test_call_is_bound_by_position_and_by_name() -> None:
    assert bind_call(tool_from(order), (2, "teal"), {"gift": True}) == {
        "n": 2,
        "colour": "teal",
        "gift": True,
    }
    assert bind_call(tool_from(order), (), {}) == {}


def test_call_is_made_with_what_was_bound() -> None:
    assert call(order, 2) == (2, "red", False)
    assert call(order, colour="teal", n=2, gift=True) == (2, "teal", True)
    assert call(label, "a", 2, fill="*") == "a**"


def test_call_gives_more_values_to_parameters_with_stars() -> None:
    assert bind_call(tool_from(joined), ("a", "b", "c"), {"sep": "+", "x": 1}) == snapshot(
        {"first": "a", "*parts": ("b", "c"), "sep": "+", "**options": {"x": 1}}
    )
    assert call(joined, "a", "b", "c", sep="+", x=1) == ("a", ("b", "c"), "+", {"x": 1})
    assert call(joined, "a") == ("a", (), "-", {})
    assert call(joined, first="a", x=1) == ("a", (), "-", {"x": 1})
    assert call(loose, 1, "b", c=3) == ((1, "b"), {"c": 3})
    assert call(loose) == ((), {})


def test_call_checks_each_value_of_a_parameter_with_stars() -> None:
    assert error_of(joined, "a", 5, x="y") == snapshot(
        "joined: argument 'parts' is 5; expected str; argument 'options' is 'y'; expected int. Call joined(<first: str>, *parts, sep=<str, optional>, **options)."
    )


def test_call_gives_the_name_of_a_parameter_by_position_to_the_options() -> None:
    assert call(wrapped, "a", name="b") == ("a", {"name": "b"})


def test_call_gives_a_name_with_stars_as_any_other() -> None:
    assert call(loose, **{"*args": 1}) == ((), {"*args": 1})
    assert error_of(order, n=1, **{"*args": 1}) == snapshot(
        "order: there is no argument '*args'. Call order(n=<int>, colour=<str, optional>, gift=<bool, optional>)."
    )


def test_call_of_a_class_form_is_bound_in_the_order_of_its_body() -> None:
    assert call(Weather(), "Oslo", 2) == "Oslo 2"


def test_call_of_partials_methods_and_classes_is_bound() -> None:
    class Store:
        """A store."""

        def __init__(self, size: int) -> None:
            self.size = size

        def price(self, city: str, n: int = 1) -> str:
            """Price."""
            return f"{self.size} {city} {n}"

    assert call(tool_from(functools.partial(order, colour="teal"), name="order_teal"), 1) == (
        1,
        "teal",
        False,
    )
    assert call(Store(3).price, "Oslo", n=2) == "3 Oslo 2"
    assert call(tool_from(Store), 5).size == 5
    assert call(sorted, [2, 1], reverse=True) == [2, 1]


def test_call_of_final_answer_takes_any_object() -> None:
    answer = object()
    assert call(FINAL_ANSWER, answer) is answer
    assert call(FINAL_ANSWER, answer="@df") == "@df"
    assert call(FINAL_ANSWER, None) is None


def test_call_of_a_typed_final_answer_is_checked() -> None:
    assert call(make_final_answer(float), 2) == 2.0
    assert error_of(make_final_answer(float), "df") == snapshot(
        "final_answer: argument 'answer' is 'df'; expected float. Call final_answer(answer=<float>)."
    )


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (order, (1, "red", True), {}),
        (order, (1,), {"n": 2}),
        (order, (), {}),
        (order, (), {"num": 1}),
        (order, (1,), {"gifts": True}),
        (order, ("x",), {}),
        (label, (), {}),
        (label, ("a", 1, "."), {}),
        (joined, (), {"sep": "+"}),
        (Weather, (), {"town": "Oslo"}),
    ],
)
def test_call_that_is_wrong_is_refused(function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    known = snapshot(
        {
            "order(1, 'red', True)": "order: it takes 2 arguments by position, 3 given. Call order(n=<int>, colour=<str, optional>, gift=<bool, optional>).",
            "order(1, n=2)": "order: argument 'n' is given twice, by position and by name. Call order(n=<int>, colour=<str, optional>, gift=<bool, optional>).",
            "order()": "order: argument 'n' is missing. Call order(n=<int>, colour=<str, optional>, gift=<bool, optional>).",
            "order(num=1)": "order: argument 'n' is missing; there is no argument 'num'; nearest: 'n'. Call order(n=<int>, colour=<str, optional>, gift=<bool, optional>).",
            "order(1, gifts=True)": "order: there is no argument 'gifts'; nearest: 'gift'. Call order(n=<int>, colour=<str, optional>, gift=<bool, optional>).",
            "order('x')": "order: argument 'n' is 'x'; expected int. Call order(n=<int>, colour=<str, optional>, gift=<bool, optional>).",
            "label()": "label: argument 'text' is missing. Call label(<text: str>, <width: int, optional>, fill=<str, optional>).",
            "label('a', 1, '.')": "label: it takes 2 arguments by position, 3 given. Call label(<text: str>, <width: int, optional>, fill=<str, optional>).",
            "joined(sep='+')": "joined: argument 'first' is missing. Call joined(<first: str>, *parts, sep=<str, optional>, **options).",
            "weather(town='Oslo')": "weather: argument 'city' is missing; there is no argument 'town'. Call weather(city=<str>, days=<int, optional>).",
        }
    )
    tool = tool_from(function)
    given = ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])
    assert error_of(tool, *args, **kwargs) == known[f"{tool.name}({given})"]
