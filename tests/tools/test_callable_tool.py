"""Tools from callables: names, calls, what a decorator says."""

from __future__ import annotations

import asyncio
import functools
import inspect
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.messages import ToolExample
from agent_magic.core.state import AgentState
from agent_magic.tools.callable_tool import CallableTool, tool_from
from agent_magic.tools.decorator import tool


def call(source: Any, name: str | None = None, /, **arguments: Any) -> Any:
    made = tool_from(source, name=name)
    return made.invoke(made.prepare(arguments, AgentState()))


def area(w: int, h: int) -> int:
    "Area.\n\nArgs:\n    w: width\n    h: height"
    return w * h


def test_tool_calls_the_wrapper_and_not_what_is_inside():
    hits: list[str] = []

    def counted(f):
        @functools.wraps(f)
        def w(*a, **k):
            hits.append("hit")
            return f(*a, **k)

        return w

    assert call(counted(area), w=2, h=3) == 6
    assert hits == ["hit"]


def test_tool_of_a_bound_method_sees_the_instance_as_it_is():
    class Store:
        def __init__(self) -> None:
            self.d = {"a": 1}

        def lookup(self, key: str) -> int:
            """Look up."""
            return self.d[key]

    store = Store()
    made = tool_from(store.lookup)
    prepared = made.prepare({"key": "a"}, AgentState())
    assert made.invoke(prepared) == 1
    store.d["a"] = 7
    assert made.invoke(prepared) == 7


def test_tool_of_a_partial_keeps_what_was_bound():
    def convert(amount: float, rate: float, tag: str = "x") -> str:
        """Change money."""
        return f"{amount * rate}{tag}"

    assert call(functools.partial(convert, rate=10.0), "to_kr", amount=2) == "20.0x"
    assert call(functools.partial(convert, 3.0), "three", rate=2) == "6.0x"


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_tool_of_an_async_function_gives_an_awaitable(is_wrapped):
    async def fetch(url: str) -> str:
        """Get."""
        await asyncio.sleep(0)
        return "body:" + url

    @functools.wraps(fetch)
    def traced(*a, **k):
        return fetch(*a, **k)

    got = call(traced if is_wrapped else fetch, url="u1")
    assert inspect.isawaitable(got)

    async def wait() -> Any:
        return await got

    assert asyncio.run(wait()) == "body:u1"


def test_tool_raises_what_its_body_raises():
    def div(a: float, b: float) -> float:
        """Divide."""
        return a / b

    with pytest.raises(ZeroDivisionError):
        call(div, a=1, b=0)


def test_tool_called_from_python_is_the_function():
    assert tool_from(area)(2, h=3) == 6
    assert tool_from(area).function is area


def test_tool_stays_the_tool_it_is():
    made = tool_from(area)
    assert tool_from(made, name="other") is made


def test_tool_has_the_name_of_its_variable():
    assert tool_from(area).name == "area"
    assert tool_from(area, name="surface").name == "surface"
    assert tool_from(lambda x: x, name="same").name == "same"


class Scale:
    """Scales."""

    def __call__(self, x: float) -> float:
        return x * 2


def test_tool_of_an_instance_calls_it():
    assert call(Scale(), "scale", x=2) == 4.0


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            lambda x: x,
            snapshot("""\
A callable of type function has no name that a model could call it by: '<lambda>'.
Put it in a variable and give that name, or write a function with def\
"""),
        ),
        (
            functools.partial(area, 1),
            snapshot("""\
A callable of type partial has no name that a model could call it by: 'partial'.
Put it in a variable and give that name, or write a function with def\
"""),
        ),
        (
            Scale(),
            snapshot("""\
A callable of type Scale has no name that a model could call it by: 'Scale'.
Put it in a variable and give that name, or write a function with def\
"""),
        ),
        (
            5,
            snapshot("""\
5 cannot be a tool: it is of type int and cannot be called.
Give a function, or anything else that can be called\
"""),
        ),
    ],
    ids=["lambda", "partial", "instance", "number"],
)
def test_tool_is_refused_when_it_has_no_name_or_cannot_be_called(source, text):
    with pytest.raises(ToolDefinitionError) as caught:
        tool_from(source)
    assert caught.value.message == text


@pytest.mark.parametrize("name", ["größe", "查询", "x" * 70])
def test_tool_with_a_name_that_providers_refuse_gets_another(name):
    made = tool_from(area, name=name)
    assert made.name == {"größe": "groe", "查询": "tool_ee8ae330"}.get(name, "x" * 64)
    assert made.to_schema().name == made.name
    assert made.warnings[0].startswith(f"Tool {name!r} is offered to the model as {made.name!r}")


def test_decorator_leaves_the_function_as_it_was():
    marked = tool(area)
    assert marked is area
    assert area(2, 3) == 6


def test_decorator_says_what_hints_and_docstring_cannot():
    @tool(
        name="surface",
        description="Another text.",
        sequential=True,
        main_thread=True,
        examples=["two by three -> surface(w=2, h=3)"],
    )
    def area(w: int, h: int) -> int:
        "Area.\n\nArgs:\n    w: width\n    h: height"
        return w * h

    made = tool_from(area, name="area")
    assert (made.name, made.description, made.sequential, made.main_thread) == (
        "surface",
        "Another text.",
        True,
        True,
    )
    assert made.to_schema().examples == snapshot(
        (ToolExample(task="two by three", arguments={"w": 2, "h": 3}),)
    )
    assert area(2, 3) == 6


def test_decorator_holds_below_other_decorators_and_methods():
    @functools.wraps(area)
    def inner(w: int, h: int) -> int:
        return w * h

    tool(sequential=True)(inner)

    @functools.wraps(inner)
    def outer(*a, **k):
        return inner(*a, **k)

    class Shapes:
        @tool(sequential=True)
        def area(self, w: int) -> int:
            """Area."""
            return w

    assert tool_from(outer).sequential
    assert tool_from(Shapes().area).sequential
    assert tool_from(functools.partial(inner, 1), name="one_by").sequential


def test_decorator_refuses_at_definition():
    with pytest.raises(ToolDefinitionError) as caught:
        tool(name="the area")(area)
    assert caught.value.message == snapshot("""\
@tool: name is 'the area', which is no Python name.
Write letters, digits and _ only\
""")
    with pytest.raises(ToolDefinitionError) as caught:
        tool(max)
    assert caught.value.message == snapshot("""\
@tool cannot mark a builtin_function_or_method: it takes no attributes.
Write a function with def around it\
""")


def test_callable_tool_makes_its_schema_once():
    made = tool_from(area)
    assert isinstance(made, CallableTool)
    assert made.to_schema() is made.to_schema()
    assert not made.sequential
    assert not made.main_thread


def test_decorator_marks_what_has_no_name_yet():
    half = tool(name="half_area")(functools.partial(area, 1))
    other = tool(sequential=True)(functools.partial(area, 2))
    assert (tool_from(half).name, tool_from(other, name="two_by").name) == ("half_area", "two_by")
    assert tool_from(other, name="two_by").sequential


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"name": 4}, "@tool: name is 4, which is no Python name.\nWrite letters, digits and _ only"),
        (
            {"description": 4},
            "@tool: 'description' is 4, expected text.\nWrite:  description = \"What it returns and when to use it.\"",
        ),
    ],
)
def test_decorator_refuses_a_name_or_description_that_is_no_text(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolDefinitionError) as refused:
        tool(**options)
    assert refused.value.message == told
