"""Every kind of callable as a tool: what a model is told of it in both projections, and what comes of a call."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from inline_snapshot import snapshot
from tools.foreign_shapes import Lang, Query, Weather, search

from agent_magic import CodeAgent, ScriptedModel, Tool, ToolCallingAgent, tool
from agent_magic.core.state import DictState
from agent_magic.tools.code_prompt import to_code_prompt
from agent_magic.tools.toolbox import LiveTool, Toolbox


def plain(x: int, by: int = 2) -> int:
    """Times.

    Args:
        x: a number
        by: another
    """
    return x * by


async def later(x: int) -> int:
    """Times two, later.

    Args:
        x: a number
    """
    await asyncio.sleep(0)
    return 2 * x


def lines(x: int) -> Iterator[int]:
    """Some numbers.

    Args:
        x: how many
    """
    yield from range(x)


class Store:
    """A shop."""

    tax = 2

    def __init__(self, x: int) -> None:
        """Open a shop.

        Args:
            x: its stock
        """
        self.x = x

    def sold(self, x: int) -> int:
        """What is left after a sale.

        Args:
            x: pieces
        """
        return self.x - x

    @classmethod
    def taxed(cls, x: int) -> int:
        """With tax.

        Args:
            x: a price
        """
        return x * cls.tax

    @staticmethod
    def rounded(x: float) -> int:
        """Without cents.

        Args:
            x: a price
        """
        return round(x)

    def __call__(self, x: int) -> int:
        """Into stock.

        Args:
            x: pieces
        """
        return self.x + x

    def __repr__(self) -> str:
        return f"Store({self.x})"


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def counting(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return counting


class ClassForm(Tool):
    name = "class_form"
    description = "Times three."
    inputs: ClassVar[dict[str, Any]] = {"x": {"type": "integer", "description": "a number"}}
    output_type = "integer"

    def forward(self, x: int) -> int:
        return 3 * x


STORE = Store(10)
KINDS: dict[str, Any] = {
    "function": plain,
    "async_function": later,
    "generator_function": lines,
    "lambda_": lambda x: x + 1,
    "bound_method": STORE.sold,
    "class_method": Store.taxed,
    "static_method": Store.rounded,
    "partial_": functools.partial(plain, by=5),
    "partial_by_position": functools.partial(math.pow, 2.0),
    "callable_object": STORE,
    "class_": Store,
    "built_in": math.factorial,
    "method_of_a_built_in": "a,b".split,
    "unbound_method": str.upper,
    "ufunc": np.square,
    "ufunc_of_two": np.maximum,
    "decorated": counted(plain),
    "cached": functools.lru_cache(plain),
    "marked": tool(name="marked", description="Marked.")(functools.partial(plain, by=7)),
    "class_form": ClassForm,
    "instance_of_class_form": ClassForm(),
    "foreign_smolagents": Weather(),
    "foreign_langchain": Lang("look_up", "Look it up.", Query, search),
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "partial_by_position": {"y": 3},
    "built_in": {"n": 4},
    "method_of_a_built_in": {"sep": ","},
    "unbound_method": {"self": "a"},
    "ufunc_of_two": {"x1": 3, "x2": 4},
    "foreign_smolagents": {"city": "Oslo"},
    "foreign_langchain": {"text": "ice"},
}


def matrix(kind: str) -> str:
    """The kind's line of the schema, its `def` line, and what a call gives in each kind of agent."""
    box = Toolbox([LiveTool(name=kind, state=DictState(KINDS))])
    ((name, made),) = box.current().items()
    schema = made.to_schema()
    arguments = ARGUMENTS.get(kind, {"x": 3})
    agent = ToolCallingAgent(
        tools=box.sources,
        model=ScriptedModel([ScriptedModel.calls((name, arguments)), ScriptedModel.final(1)]),
    )
    observed = agent.run("Do it.").actions[0].tool_results[0].to_text()
    awaited = "await " if inspect.iscoroutinefunction(KINDS[kind]) else ""
    given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    if kind in ("partial_by_position", "built_in", "unbound_method", "ufunc", "ufunc_of_two"):
        given = ", ".join(repr(value) for value in arguments.values())
    code = f"<code>\nprint(repr({awaited}{name}({given})))\nfinal_answer(1)\n</code>"
    coder = CodeAgent(tools=box.sources, model=ScriptedModel([code]))
    printed = coder.run("Do it.").actions[0].tool_results[0].to_text()
    lines = "\n".join(
        [
            f"{schema.name}: {schema.description.splitlines()[0]}",
            json.dumps(schema.parameters["properties"]),
            to_code_prompt(made).splitlines()[0],
            f"tools: {observed}",
            f"code: {printed.splitlines()[0]}",
        ]
    )
    return re.sub(r" at 0x[0-9a-f]+", "", lines)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (
            "function",
            snapshot("""\
function: Times.
{"x": {"type": "integer", "description": "a number"}, "by": {"type": "integer", "description": "another", "default": 2}}
def function(x: int, by: int = 2) -> int:
tools: 6
code: 6\
"""),
        ),
        (
            "async_function",
            snapshot("""\
async_function: Times two, later.
{"x": {"type": "integer", "description": "a number"}}
async def async_function(x: int) -> int:
tools: 6
code: 6\
"""),
        ),
        (
            "generator_function",
            snapshot("""\
generator_function: Some numbers.
{"x": {"type": "integer", "description": "how many"}}
def generator_function(x: int) -> Iterator[int]:
tools: The result is in the variable generator_function_1; refer to it as "@generator_function_1".
generator: <generator object lines>
code: <generator object lines>\
"""),
        ),
        (
            "lambda_",
            snapshot("""\
lambda_: Lambda.
{"x": {}}
def lambda_(x):
tools: 4
code: 4\
"""),
        ),
        (
            "bound_method",
            snapshot("""\
bound_method: What is left after a sale.
{"x": {"type": "integer", "description": "pieces"}}
def bound_method(x: int) -> int:
tools: 7
code: 7\
"""),
        ),
        (
            "class_method",
            snapshot("""\
class_method: With tax.
{"x": {"type": "integer", "description": "a price"}}
def class_method(x: int) -> int:
tools: 6
code: 6\
"""),
        ),
        (
            "static_method",
            snapshot("""\
static_method: Without cents.
{"x": {"type": "number", "description": "a price"}}
def static_method(x: float) -> int:
tools: 3
code: 3\
"""),
        ),
        (
            "partial_",
            snapshot("""\
partial_: Times.
{"x": {"type": "integer", "description": "a number"}, "by": {"type": "integer", "description": "another", "default": 5}}
def partial_(x: int, *, by: int = 5) -> int:
tools: 15
code: 15\
"""),
        ),
        (
            "partial_by_position",
            snapshot("""\
partial_by_position: Return x**y (x to the power of y).
{"y": {}}
def partial_by_position(y, /):
tools: 8.0
code: 8.0\
"""),
        ),
        (
            "callable_object",
            snapshot("""\
callable_object: Into stock.
{"x": {"type": "integer", "description": "pieces"}}
def callable_object(x: int) -> int:
tools: 13
code: 13\
"""),
        ),
        (
            "class_",
            snapshot("""\
class_: A shop.
{"x": {"type": "integer", "description": "its stock"}}
def class_(x: int) -> Store:
tools: The result is in the variable class__1; refer to it as "@class__1".
Store: Store(3)
code: Store(3)\
"""),
        ),
        (
            "built_in",
            snapshot("""\
built_in: Find n!.
{"n": {}}
def built_in(n, /):
tools: 24
code: 24\
"""),
        ),
        (
            "method_of_a_built_in",
            snapshot("""\
method_of_a_built_in: Return a list of the substrings in the string, using sep as the separator string.
{"sep": {}, "maxsplit": {"default": -1}}
def method_of_a_built_in(sep=None, maxsplit=-1):
tools: ["a", "b"]
code: ['a', 'b']\
"""),
        ),
        (
            "unbound_method",
            snapshot("""\
unbound_method: Return a copy of the string converted to uppercase.
{"self": {}}
def unbound_method(self, /):
tools: A
code: 'A'\
"""),
        ),
        (
            "ufunc",
            snapshot("""\
ufunc: Return the element-wise square of the input.
{"x": {"description": "Input data."}}
def ufunc(x, /):
tools: 9
code: np.int64(9)\
"""),
        ),
        (
            "ufunc_of_two",
            snapshot("""\
ufunc_of_two: Element-wise maximum of array elements.
{"x1": {"description": "The arrays holding the elements to be compared. If ``x1.shape != x2.shape``, they must be broadcastable to a common shape (which becomes the shape of the output)."}, "x2": {"description": "The arrays holding the elements to be compared. If ``x1.shape != x2.shape``, they must be broadcastable to a common shape (which becomes the shape of the output)."}}
def ufunc_of_two(x1, x2, /):
tools: 4
code: np.int64(4)\
"""),
        ),
        (
            "decorated",
            snapshot("""\
decorated: Times.
{"x": {"type": "integer", "description": "a number"}, "by": {"type": "integer", "description": "another", "default": 2}}
def decorated(x: int, by: int = 2) -> int:
tools: 6
code: 6\
"""),
        ),
        (
            "cached",
            snapshot("""\
cached: Times.
{"x": {"type": "integer", "description": "a number"}, "by": {"type": "integer", "description": "another", "default": 2}}
def cached(x: int, by: int = 2) -> int:
tools: 6
code: 6\
"""),
        ),
        (
            "marked",
            snapshot("""\
marked: Marked.
{"x": {"type": "integer", "description": "a number"}, "by": {"type": "integer", "description": "another", "default": 7}}
def marked(x: int, *, by: int = 7) -> int:
tools: 21
code: 21\
"""),
        ),
        (
            "class_form",
            snapshot("""\
class_form: Times three.
{"x": {"type": "integer", "description": "a number"}}
def class_form(x: int) -> int:
tools: 9
code: 9\
"""),
        ),
        (
            "instance_of_class_form",
            snapshot("""\
class_form: Times three.
{"x": {"type": "integer", "description": "a number"}}
def class_form(x: int) -> int:
tools: 9
code: 9\
"""),
        ),
        (
            "foreign_smolagents",
            snapshot("""\
weather: The weather of a city now.
{"city": {"type": "string", "description": "its English name"}, "days": {"type": "integer", "description": "how many days ahead", "default": 1}}
def weather(city: str, days: int = 1) -> str:
tools: Oslo: sun for 1
code: 'Oslo: sun for 1'\
"""),
        ),
        (
            "foreign_langchain",
            snapshot("""\
look_up: Look it up.
{"text": {"type": "string", "description": "what to look for"}, "kind": {"type": "string", "enum": ["news", "papers"], "default": "news"}, "limit": {"type": "integer", "maximum": 9, "minimum": 1, "description": "how many", "default": 3}}
def look_up(text: str, kind: Literal['news', 'papers'] = 'news', limit: int = 3) -> str:
tools: 3 news about ice
code: '3 news about ice'\
"""),
        ),
    ],
    ids=list(KINDS),
)
def test_kind_of_callable(kind: str, told: str) -> None:
    assert matrix(kind) == told
