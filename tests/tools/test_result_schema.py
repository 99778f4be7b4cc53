"""`output_schema`: told to the model in both projections, and each result held against it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel

from agent_magic.core.errors import ToolDefinitionError, ToolExecutionError
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.code_prompt import to_code_prompt
from agent_magic.tools.decorator import tool
from agent_magic.tools.result_schema import ResultSchema
from agent_magic.tools.tool import Tool

PRICE = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "price": {"type": "number", "minimum": 0, "description": "in euros"},
    },
    "required": ["price"],
}


class Colour(enum.Enum):
    RED = "red"


class Row(BaseModel):
    price: float
    day: dt.date


@dataclasses.dataclass
class Offer:
    price: float
    colour: Colour


def _refusal(schema: dict[str, Any], result: Any) -> str:
    with pytest.raises(ToolExecutionError) as raised:
        ResultSchema(schema, "price").check(result)
    return raised.value.message


# -- what is told --------------------------------------------------------------------------------


def test_schema_is_told_in_both_projections() -> None:
    @tool(output_schema=PRICE)
    def price(city: str) -> dict[str, Any]:
        """The price of a night.

        Args:
            city: its name

        Returns:
            The cheapest one.
        """
        return {"city": city, "price": 1}

    made = tool_from(price)
    assert made.to_schema().description == snapshot("""\
The price of a night.

Its result fits this JSON Schema: {"type": "object", "properties": {"city": {"type": "string"}, "price": {"type": "number", "minimum": 0, "description": "in euros"}}, "required": ["price"]}\
""")
    assert to_code_prompt(made) == snapshot('''\
def price(city: str) -> dict[str, Any]:
    """The price of a night.

    Args:
        city: its name

    Returns:
        The cheapest one. What fits this JSON Schema: {"type": "object", "properties": {"city": {"type": "string"}, "price": {"type": "number", "minimum": 0, "description": "in euros"}}, "required": ["price"]}
    """\
''')


def test_class_form_tells_its_schema_too() -> None:
    class Price(Tool):
        name = "price"
        description = "The price of a night."
        inputs = {"city": {"type": "string", "description": "its name"}}  # noqa: RUF012 - as people write it
        output_type = "object"
        output_schema = {"type": "object"}  # noqa: RUF012 - as people write it

        def forward(self, city: str) -> dict[str, Any]:
            return {"city": city}

    assert Price().to_schema().description == snapshot("""\
The price of a night.

Its result fits this JSON Schema: {"type": "object"}\
""")
    assert to_code_prompt(Price()) == snapshot('''\
def price(city: str) -> dict[str, Any]:
    """The price of a night.

    Args:
        city: its name

    Returns:
        What fits this JSON Schema: {"type": "object"}
    """\
''')


def test_long_schema_is_a_weak_point() -> None:
    @tool(output_schema={"type": "object", "description": "x" * 5_000})
    def price() -> dict[str, Any]:
        """The price."""
        return {}

    made = tool_from(price)
    made.to_schema()
    assert made.warnings == snapshot(
        (
            "Tool 'price': its output_schema has 5,037 characters, which every request carries. Describe fewer levels of it",
        )
    )


# -- what fits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "result"),
    [
        (PRICE, {"price": 1, "city": "Oslo", "more": None}),
        (PRICE, Offer(price=1.5, colour=Colour.RED)),
        (PRICE, Row(price=1.5, day=dt.date(2024, 5, 1))),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 3}, (1, 2, 3)),
        ({"type": "array", "items": {"type": "integer"}}, {1, 2}),
        ({"type": "array", "items": {"type": "number"}}, np.array([0.5, 1.0])),
        ({"type": "number"}, np.float32(0.5)),
        ({"type": "integer"}, np.int64(5)),
        ({"enum": ["red"]}, Colour.RED),
        ({"type": "string"}, dt.date(2024, 5, 1)),
        ({"type": "null"}, None),
        ({"type": "object", "properties": {"frame": {}}}, {"frame": pd.DataFrame()}),
    ],
)
def test_result_that_fits_is_let_through(schema: dict[str, Any], result: Any) -> None:
    ResultSchema(schema, "price").check(result)


# -- what does not -------------------------------------------------------------------------------


def test_result_that_does_not_fit_is_refused_with_the_place() -> None:
    assert [
        _refusal(PRICE, {"city": "Oslo"}),
        _refusal(PRICE, {"price": -1, "city": 5}),
        _refusal(PRICE, Offer(price="dear", colour=Colour.RED)),  # pyright: ignore[reportArgumentType] - that is the fault
        _refusal(PRICE, pd.DataFrame({"price": [1]})),
        _refusal({"type": "array", "items": {"type": "integer"}}, [1, "a", "b", "c", "d"]),
    ] == snapshot(
        [
            """\
price returned what does not fit its output_schema: 'result' lacks 'price'.
Its author has to mend the tool or the schema. Use another tool, or go on without this result.\
""",
            """\
price returned what does not fit its output_schema: 'result.city' is 5; expected text; 'result.price' is -1; expected at least 0.
Its author has to mend the tool or the schema. Use another tool, or go on without this result.\
""",
            """\
price returned what does not fit its output_schema: 'result.price' is 'dear'; expected a number.
Its author has to mend the tool or the schema. Use another tool, or go on without this result.\
""",
            """\
price returned what does not fit its output_schema: 'result' is a DataFrame; expected an object.
Its author has to mend the tool or the schema. Use another tool, or go on without this result.\
""",
            """\
price returned what does not fit its output_schema: 'result[1]' is 'a'; expected an integer; 'result[2]' is 'b'; expected an integer; 'result[3]' is 'c'; expected an integer; and 1 more.
Its author has to mend the tool or the schema. Use another tool, or go on without this result.\
""",
        ]
    )


def test_refusal_shows_no_secret() -> None:
    assert "sk-" not in _refusal({"type": "integer"}, "sk-abcdefghijklmnopqrstuvwxyz123456")


def test_result_that_holds_itself_is_refused_and_does_not_hang() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "does not fit" in _refusal({"type": "array", "items": {"type": "integer"}}, loop)


def test_class_form_called_from_python_is_held_to_it() -> None:
    class Price(Tool):
        name = "price"
        description = "The price of a night."
        inputs: dict[str, Any] = {}  # noqa: RUF012 - as people write it
        output_type = "number"
        output_schema = {"type": "number"}  # noqa: RUF012 - as people write it

        def forward(self) -> Any:
            return "dear"

    with pytest.raises(ToolExecutionError, match="does not fit its output_schema"):
        Price()()


def test_function_called_from_python_is_as_it_was() -> None:
    @tool(output_schema={"type": "number"})
    def price() -> Any:
        """The price."""
        return "dear"

    assert price() == "dear"


# -- definitions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_s": 0},
        {"timeout_s": True},
        {"timeout_s": "5"},
        {"timeout_s": float("inf")},
        {"timeout_s": 5, "main_thread": True},
        {"approve": "always"},
        {"sequential": "x"},
        {"main_thread": None},
        {"examples": "zz"},
        {"examples": [4]},
        {"output_schema": dict},
        {"output_schema": {"type": "text"}},
        {"output_schema": {"properties": {"n": {"type": int}}}},
        {"output_schema": {"properties": {"n": {"minimum": "low"}}}},
    ],
    ids=str,
)
def test_rules_that_cannot_be_are_refused_at_the_definition(options: dict[str, Any]) -> None:
    def price() -> float:
        """The price."""
        return 1.0

    with pytest.raises(ToolDefinitionError) as of_function:
        tool(**options)(price)
    namespace = {
        "name": "price",
        "description": "The price.",
        "inputs": {},
        "output_type": "number",
        "forward": lambda self: 1.0,
        **options,
    }
    with pytest.raises(ToolDefinitionError) as of_class:
        type("Price", (Tool,), namespace)
    assert of_class.value.message == of_function.value.message.replace("@tool:", "Tool class Price:")
    assert of_function.value.message == REFUSALS[str(options)]


REFUSALS = snapshot(
    {
        "{'timeout_s': 0}": """\
@tool: 'timeout_s' is 0, expected seconds, a number above 0.
Write:  timeout_s = 30\
""",
        "{'timeout_s': True}": """\
@tool: 'timeout_s' is True, expected seconds, a number above 0.
Write:  timeout_s = 30\
""",
        "{'timeout_s': '5'}": """\
@tool: 'timeout_s' is '5', expected seconds, a number above 0.
Write:  timeout_s = 30\
""",
        "{'timeout_s': inf}": """\
@tool: 'timeout_s' is inf, expected seconds, a number above 0.
Write:  timeout_s = 30\
""",
        "{'timeout_s': 5, 'main_thread': True}": """\
@tool: it has 'timeout_s' and 'main_thread', and a call in the main thread cannot be given up.
Write:  one of the two\
""",
        "{'approve': 'always'}": """\
@tool: 'approve' is 'always', expected True or False.
Write:  approve = True\
""",
        "{'output_schema': <class 'dict'>}": """\
@tool: 'output_schema' is <class 'dict'>, expected a JSON Schema as a dict.
Write:  output_schema = {"type": "object", "properties": {"price": {"type": "number"}}}\
""",
        "{'output_schema': {'type': 'text'}}": """\
@tool: 'output_schema' is no JSON Schema: 'type' is 'text'.
Write:  output_schema = {"type": "object", "properties": {"price": {"type": "number"}}}\
""",
        "{'output_schema': {'properties': {'n': {'type': <class 'int'>}}}}": """\
@tool: 'output_schema' is no JSON Schema: Object of type type is not JSON serializable.
Write:  output_schema = {"type": "object", "properties": {"price": {"type": "number"}}}\
""",
        "{'output_schema': {'properties': {'n': {'minimum': 'low'}}}}": """\
@tool: 'output_schema' is no JSON Schema: 'properties.n.minimum' is 'low'.
Write:  output_schema = {"type": "object", "properties": {"price": {"type": "number"}}}\
""",
        "{'sequential': 'x'}": """\
@tool: 'sequential' is 'x', expected True or False.
Write:  sequential = True\
""",
        "{'main_thread': None}": """\
@tool: 'main_thread' is None, expected True or False.
Write:  main_thread = True\
""",
        "{'examples': 'zz'}": """\
@tool: 'examples' is 'zz', expected a list of texts.
Write:  examples = ["the mean of a column -> mean(column='price')"]\
""",
        "{'examples': [4]}": """\
@tool: 'examples' is [4], expected a list of texts.
Write:  examples = ["the mean of a column -> mean(column='price')"]\
""",
    }
)


def test_rules_are_those_of_the_function_below_a_partial_and_of_a_wrapped_one() -> None:
    @tool(timeout_s=5, approve=True, output_schema={"type": "number"})
    def price(city: str, nights: int) -> float:
        """The price.

        Args:
            city: its name
            nights: how many
        """
        return float(nights)

    @functools.wraps(price)
    def logged(*args: Any, **kwargs: Any) -> float:
        return price(*args, **kwargs)

    for source in (price, functools.partial(price, nights=2), logged):
        made = tool_from(source, name="price")
        assert (made.timeout_s, made.approve, made.output_schema) == (5, True, {"type": "number"})


@pytest.mark.parametrize("reference", ["#/nope", "https://example.org/schema.json", "other"])
def test_output_schema_that_refers_to_what_is_not_there_is_refused(reference: str) -> None:
    with pytest.raises(ToolDefinitionError, match="it refers to"):
        tool(output_schema={"type": "array", "items": {"$ref": reference}})(_numbers)
    tool(output_schema={"$defs": {"a": {"type": "string"}}, "items": {"$ref": "#/$defs/a"}})(_numbers)


def _numbers() -> list[str]:
    """Give numbers."""
    return []
