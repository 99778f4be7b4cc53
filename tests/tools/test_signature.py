"""What is read from callables: schemas, descriptions, examples, warnings."""

# ruff: noqa: PLR0917 - the many parameters are the cases
from __future__ import annotations

import datetime as dt
import decimal
import enum
import functools
import importlib
import json
import math
import os
import pathlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NoReturn,
    NotRequired,
    Optional,
    TypedDict,
    Union,
)

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.messages import ToolExample
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.decorator import tool
from agent_magic.tools.parameter import Returns
from agent_magic.tools.signature import read_signature
from agent_magic.tools.tool import Tool


def parameters_of(function: Callable[..., Any] | Tool) -> Any:
    """The schema of the parameters, which JSON must hold."""
    return json.loads(json.dumps(tool_from(function).to_schema().parameters))


def properties_of(function: Callable[..., Any] | Tool) -> Any:
    return parameters_of(function)["properties"]


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


class Box(BaseModel):
    """A box."""

    width: int = Field(ge=1, description="in cm")
    title: str = ""


class Options(TypedDict):
    depth: int
    tag: NotRequired[str]


class Pair(NamedTuple):
    left: int
    right: int = 2


@dataclass
class Node:
    name: str
    children: list[Node]


class Thing: ...


def test_signature_gives_a_literal_as_enum():
    def paint(colour: Literal["teal", "ochre"], coats: int = 1) -> str:
        """Paint the wall.

        Args:
            colour: which tin
            coats: how many
        """
        return f"{coats} x {colour}"

    assert parameters_of(paint) == snapshot(
        {
            "type": "object",
            "properties": {
                "colour": {"type": "string", "enum": ["teal", "ochre"], "description": "which tin"},
                "coats": {"type": "integer", "description": "how many", "default": 1},
            },
            "required": ["colour"],
            "additionalProperties": False,
        }
    )
    assert tool_from(paint).description == "Paint the wall."
    assert tool_from(paint).warnings == ()


def test_signature_keeps_the_type_of_literal_numbers():
    def bet(lane: Literal[1, 2, 3]) -> str:
        "Back a lane. \n\nArgs:\n    lane: lane number"
        return type(lane).__name__

    assert parameters_of(bet) == snapshot(
        {
            "type": "object",
            "properties": {"lane": {"type": "integer", "enum": [1, 2, 3], "description": "lane number"}},
            "required": ["lane"],
            "additionalProperties": False,
        }
    )


def test_signature_reads_types_in_brackets_and_inner_colons():
    def maree(port: str, jour: str = None) -> str:  # noqa: RUF013 - as people write it
        """Donne la marée.

        Args:
            port (str) : Nom du port (par ex. "Brest", "Sète")
            jour (str, optional): Date, comme ceci : "03-05"
        Returns:
            str : le texte
        """
        return port

    assert parameters_of(maree) == snapshot(
        {
            "type": "object",
            "properties": {
                "port": {"type": "string", "description": 'Nom du port (par ex. "Brest", "Sète")'},
                "jour": {"type": "string", "description": 'Date, comme ceci : "03-05"'},
            },
            "required": ["port"],
            "additionalProperties": False,
        }
    )
    assert tool_from(maree).description == "Donne la marée."


def test_signature_leaves_the_type_open_and_warns_when_a_hint_is_missing():
    def mix(a: int, b):
        """Mix two things."""
        return (a, b)

    assert parameters_of(mix) == snapshot(
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {}},
            "required": ["a", "b"],
            "additionalProperties": False,
        }
    )
    assert tool_from(mix).warnings == snapshot(
        (
            "Tool 'mix': parameter 'a' has no description. Add to its docstring:  a: what it means",
            "Tool 'mix': parameter 'b' has no type hint, so any value is taken. Add one to its signature, e.g.  b: str",
            "Tool 'mix': parameter 'b' has no description. Add to its docstring:  b: what it means",
        )
    )


def test_signature_keeps_required_and_nullable_apart():
    def find(q: str, lang: str | None, limit: int | None = None) -> str:
        "Find.\n\nArgs:\n    q: query\n    lang: language or null\n    limit: at most"
        return q

    assert parameters_of(find) == snapshot(
        {
            "type": "object",
            "properties": {
                "q": {"type": "string", "description": "query"},
                "lang": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "language or null"},
                "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "at most"},
            },
            "required": ["q", "lang"],
            "additionalProperties": False,
        }
    )


def test_signature_leaves_out_star_parameters():
    def glue(sep: str, *parts: str, **opts: int) -> str:
        """Glue.

        Args:
            sep: separator
            *parts: pieces
            **opts: options
        """
        return sep.join(parts)

    assert parameters_of(glue) == snapshot(
        {
            "type": "object",
            "properties": {"sep": {"type": "string", "description": "separator"}},
            "required": ["sep"],
            "additionalProperties": False,
        }
    )
    assert tool_from(glue).warnings == snapshot(
        (
            "Tool 'glue': parameter '*parts' is not offered to the model. Give each value that it needs a parameter of its own",
            "Tool 'glue': parameter '**opts' is not offered to the model. Give each value that it needs a parameter of its own",
        )
    )


def test_signature_gives_enum_values_and_an_enum_default():
    def run_job(mode: Mode, level: Level = Level.LOW) -> str:
        "Run.\n\nArgs:\n    mode: speed\n    level: how hard"
        return mode.value

    assert parameters_of(run_job) == snapshot(
        {
            "type": "object",
            "properties": {
                "mode": {"type": "string", "enum": ["fast", "slow"], "description": "speed"},
                "level": {"type": "integer", "enum": [1, 2], "description": "how hard", "default": 1},
            },
            "required": ["mode"],
            "additionalProperties": False,
        }
    )


def test_signature_gives_member_names_when_an_enum_holds_no_scalars():
    def paint(colour: Colour) -> str:
        "Paint.\n\nArgs:\n    colour: which"
        return colour.name

    assert properties_of(paint) == snapshot(
        {"colour": {"type": "string", "enum": ["RED", "BLUE"], "description": "which"}}
    )


def test_signature_makes_a_frame_the_name_of_a_variable():
    def top(frame: pd.DataFrame, n: int = 1) -> list:
        "Largest amounts.\n\nArgs:\n    frame: table\n    n: how many"
        return []

    assert parameters_of(top) == snapshot(
        {
            "type": "object",
            "properties": {
                "frame": {"type": "string", "description": "table. The name of a state variable, e.g. @df"},
                "n": {"type": "integer", "description": "how many", "default": 1},
            },
            "required": ["frame"],
            "additionalProperties": False,
        }
    )


def test_signature_makes_whatever_json_cannot_hold_a_reference_at_any_depth():
    def use(
        array: np.ndarray,
        things: list[Thing],
        maybe: Thing | None,
        either: Thing | str,
        key: Callable[[int], int],
        kind: type[int],
    ) -> None:
        """Use."""

    assert properties_of(use) == snapshot(
        {
            "array": {"type": "string", "description": "The name of a state variable, e.g. @df"},
            "things": {
                "type": "array",
                "items": {"type": "string", "description": "The name of a state variable, e.g. @df"},
            },
            "maybe": {
                "anyOf": [
                    {"type": "string", "description": "The name of a state variable, e.g. @df"},
                    {"type": "null"},
                ]
            },
            "either": {
                "anyOf": [
                    {"type": "string", "description": "The name of a state variable, e.g. @df"},
                    {"type": "string"},
                ]
            },
            "key": {"type": "string", "description": "The name of a state variable, e.g. @df"},
            "kind": {"type": "string", "description": "The name of a state variable, e.g. @df"},
        }
    )


def test_signature_gives_every_node_a_form_when_a_union_holds_an_empty_literal():
    def note(body: Optional[Union[str, Literal[""]]] = None) -> str:  # noqa: PYI051, UP007, UP045 - as people write it
        "Write.\n\nArgs:\n    body: text"
        return repr(body)

    assert properties_of(note) == snapshot(
        {
            "body": {
                "anyOf": [{"type": "string"}, {"type": "string", "const": ""}, {"type": "null"}],
                "description": "text",
            }
        }
    )


def test_signature_takes_positional_only_and_keyword_only():
    def pad(text: str, /, *, width: int, fill: str = ".") -> str:
        "Pad.\n\nArgs:\n    text: what\n    width: to\n    fill: with"
        return text.ljust(width, fill)

    assert parameters_of(pad) == snapshot(
        {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "what"},
                "width": {"type": "integer", "description": "to"},
                "fill": {"type": "string", "description": "with", "default": "."},
            },
            "required": ["text", "width"],
            "additionalProperties": False,
        }
    )


def test_signature_is_empty_when_there_are_no_parameters():
    def flip():
        """flip a coin"""
        return "heads"

    assert parameters_of(flip) == snapshot(
        {"type": "object", "properties": {}, "additionalProperties": False}
    )
    assert tool_from(flip).description == "flip a coin"


def test_signature_reads_structured_hints():
    def build(
        row: Row, box: Box, options: Options, pair: Pair, rows: list[Row], by_name: dict[str, Row]
    ) -> None:
        """Build."""

    assert properties_of(build) == snapshot(
        {
            "row": {
                "type": "object",
                "properties": {"price": {"type": "number"}, "city": {"type": "string", "default": "Oslo"}},
                "required": ["price"],
            },
            "box": {
                "type": "object",
                "properties": {
                    "width": {"type": "integer", "description": "in cm", "minimum": 1},
                    "title": {"type": "string", "default": ""},
                },
                "required": ["width"],
                "description": "A box.",
            },
            "options": {
                "type": "object",
                "properties": {"depth": {"type": "integer"}, "tag": {"type": "string"}},
                "required": ["depth"],
            },
            "pair": {
                "type": "array",
                "maxItems": 2,
                "minItems": 1,
                "prefixItems": [
                    {"type": "integer", "description": "left"},
                    {"type": "integer", "default": 2, "description": "right"},
                ],
            },
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "price": {"type": "number"},
                        "city": {"type": "string", "default": "Oslo"},
                    },
                    "required": ["price"],
                },
            },
            "by_name": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "properties": {
                        "price": {"type": "number"},
                        "city": {"type": "string", "default": "Oslo"},
                    },
                    "required": ["price"],
                },
            },
        }
    )


def test_signature_keeps_definitions_of_types_that_contain_themselves():
    def walk(node: Node) -> None:
        "Walk.\n\nArgs:\n    node: the root"

    assert parameters_of(walk) == snapshot(
        {
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/Node", "description": "the root"}},
            "required": ["node"],
            "additionalProperties": False,
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    },
                    "required": ["name", "children"],
                }
            },
        }
    )


def test_signature_reads_containers_and_plain_values():
    def take(
        ids: list[int],
        unique: set[str],
        point: tuple[float, float],
        many: tuple[int, ...],
        day: dt.date,
        path: pathlib.Path,
        raw: bytes,
        amount: decimal.Decimal,
        count: np.int64,
        anything: Any,
        plain: dict,
        each: Iterable[int],
    ) -> None:
        """Take."""

    assert properties_of(take) == snapshot(
        {
            "ids": {"type": "array", "items": {"type": "integer"}},
            "unique": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            "point": {
                "type": "array",
                "maxItems": 2,
                "minItems": 2,
                "prefixItems": [{"type": "number"}, {"type": "number"}],
            },
            "many": {"type": "array", "items": {"type": "integer"}},
            "day": {"type": "string", "format": "date"},
            "path": {"type": "string", "format": "path"},
            "raw": {"type": "string", "format": "binary"},
            "amount": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            "count": {"type": "integer"},
            "anything": {},
            "plain": {"type": "object", "additionalProperties": True},
            "each": {"type": "array", "items": {"type": "integer"}},
        }
    )


def test_signature_takes_constraints_and_text_from_annotated():
    def ask(
        n: Annotated[int, Field(ge=1, le=9, description="how many")], city: Annotated[str, "its name"]
    ) -> None:
        """Ask."""

    assert properties_of(ask) == snapshot(
        {
            "n": {"type": "integer", "maximum": 9, "minimum": 1, "description": "how many"},
            "city": {"type": "string", "description": "its name"},
        }
    )
    assert tool_from(ask).warnings == ()


def test_signature_takes_any_value_and_warns_when_a_forward_reference_names_nothing():
    def use(thing: Nowhere, n: int) -> None:  # noqa: F821 - that is the case
        "Use.\n\nArgs:\n    thing: what\n    n: times"

    assert properties_of(use) == snapshot(
        {"thing": {"description": "what"}, "n": {"type": "integer", "description": "times"}}
    )
    assert tool_from(use).warnings == snapshot(
        (
            "Tool 'use': the hint 'Nowhere' of parameter 'thing' names nothing that exists, so any value is taken. Define it before the tool, or write another hint",
        )
    )


def parsed(text: str) -> str:
    return text


@dataclass
class Shelf:
    width: 5  # pyright: ignore[reportInvalidTypeForm] - that is the case


def test_signature_takes_any_value_and_says_what_to_write_when_a_hint_is_no_type():
    def use(x):
        "Use.\n\nArgs:\n    x: what"

    values = [
        *([int], [int, str], ["a", "b"], {int}, (int, str), {"a": int}, 5, ..., NoReturn, ClassVar[int]),
        *(any, callable, print, parsed, list[5], Shelf),  # pyright: ignore[reportInvalidTypeArguments] - that is the case
    ]
    told: list[str] = []
    for value in values:  # a warning of pydantic's would be an error here
        use.__annotations__ = {"x": value}
        told += tool_from(use).warnings
    assert told == snapshot(
        [
            "Tool 'use': the hint [int] of parameter 'x' is no type, so any value is taken. Write  x: list[int]",
            "Tool 'use': the hint [int, str] of parameter 'x' is no type, so any value is taken. Write  x: list[int | str]",
            "Tool 'use': the hint ['a', 'b'] of parameter 'x' is no type, so any value is taken. Write  x: Literal['a', 'b']",
            "Tool 'use': the hint {int} of parameter 'x' is no type, so any value is taken. Write  x: set[int]",
            "Tool 'use': the hint (int, str) of parameter 'x' is no type, so any value is taken. Write  x: int | str",
            "Tool 'use': the hint {'a': int} of parameter 'x' is no type, so any value is taken. Write  x: dict[str, int]",
            "Tool 'use': the hint 5 of parameter 'x' is no type, so any value is taken. Write  x: int",
            "Tool 'use': the hint ... of parameter 'x' is no type, so any value is taken. Write the type of its values, e.g.  x: str",
            "Tool 'use': the hint NoReturn of parameter 'x' is no type, so any value is taken. Write the type of its values, e.g.  x: str",
            "Tool 'use': the hint ClassVar[int] of parameter 'x' is no type, so any value is taken. Write  x: int",
            "Tool 'use': the hint any of parameter 'x' is no type, so any value is taken. Write  x: Any",
            "Tool 'use': the hint callable of parameter 'x' is no type, so any value is taken. Write  x: Callable",
            "Tool 'use': the hint print of parameter 'x' is no type, so any value is taken. Write the type of its values, e.g.  x: str",
            "Tool 'use': the hint parsed of parameter 'x' is no type, so any value is taken. Write the type of its values, e.g.  x: str",
            "Tool 'use': the hint list[5] of parameter 'x' holds what is no type, so any value is taken there. Write types only, e.g.  list[int]",
            "Tool 'use': the hint Shelf of parameter 'x' holds what is no type, so any value is taken there. Write types only, e.g.  list[int]",
        ]
    )


def test_signature_with_a_hint_that_is_no_type_takes_any_value():
    def use(x, y):
        "Use.\n\nArgs:\n    x: what\n    y: how"

    use.__annotations__ = {"x": {"type": "int"}, "y": parsed}
    assert properties_of(use) == {"x": {"description": "what"}, "y": {"description": "how"}}
    assert tool_from(use).prepare({"x": "a", "y": [1]}, None).kwargs == {"x": "a", "y": [1]}


def test_signature_of_a_bound_method_has_no_self():
    class Store:
        def lookup(self, key: str) -> int:
            "Look up.\n\nArgs:\n    key: the key"
            return 1

    assert parameters_of(Store().lookup) == snapshot(
        {
            "type": "object",
            "properties": {"key": {"type": "string", "description": "the key"}},
            "required": ["key"],
            "additionalProperties": False,
        }
    )


def test_signature_of_a_partial_has_the_functions_text_and_optional_bound_arguments():
    def convert(amount: float, rate: float, tag: str = "x") -> str:
        """Change money.

        Args:
            amount: how much
            rate: the rate
            tag: label
        """
        return f"{amount * rate}{tag}"

    tool = tool_from(functools.partial(convert, rate=10.0), name="to_kr")
    assert (tool.name, tool.description) == ("to_kr", "Change money.")
    assert tool.to_schema().parameters == snapshot(
        {
            "type": "object",
            "properties": {
                "amount": {"type": "number", "description": "how much"},
                "rate": {"type": "number", "description": "the rate", "default": 10.0},
                "tag": {"type": "string", "description": "label", "default": "x"},
            },
            "required": ["amount"],
            "additionalProperties": False,
        }
    )


def test_signature_of_a_wrapped_function_is_that_of_the_function_inside():
    def traced(f):
        @functools.wraps(f)
        def w(*a, **k):
            return f(*a, **k)

        return w

    @traced
    @functools.lru_cache
    def area(w: int, h: int) -> int:
        "Area.\n\nArgs:\n    w: width\n    h: height"
        return w * h

    assert list(properties_of(area)) == ["w", "h"]
    assert tool_from(area).description == "Area."


def test_signature_needs_no_source():
    names: dict[str, Any] = {}
    exec('def ghost(x: int) -> int:\n    "Ghost.\\n\\nArgs:\\n    x: number"\n    return x + 1', names)
    assert parameters_of(names["ghost"]) == snapshot(
        {
            "type": "object",
            "properties": {"x": {"type": "integer", "description": "number"}},
            "required": ["x"],
            "additionalProperties": False,
        }
    )


def test_signature_of_an_instance_is_that_of_its_call():
    class Scale:
        """Scales numbers."""

        def __call__(self, x: float) -> float:
            """Scale one number.

            Args:
                x: the number
            """
            return x * 2

    tool = tool_from(Scale(), name="scale")
    assert tool.description == "Scale one number."
    assert tool.to_schema().parameters == snapshot(
        {
            "type": "object",
            "properties": {"x": {"type": "number", "description": "the number"}},
            "required": ["x"],
            "additionalProperties": False,
        }
    )


def test_signature_of_a_class_is_that_of_its_making():
    class Point:
        """A point of the plane.

        Args:
            x: to the right
        """

        def __init__(self, x: float, y: float = 0.0) -> None: ...

    tool = tool_from(Point)
    assert tool.description == "A point of the plane."
    assert tool.to_schema().parameters == snapshot(
        {
            "type": "object",
            "properties": {
                "x": {"type": "number", "description": "to the right"},
                "y": {"type": "number", "default": 0.0},
            },
            "required": ["x"],
            "additionalProperties": False,
        }
    )


def test_signature_of_a_dataclass_is_that_of_its_fields():
    assert properties_of(Row) == snapshot(
        {"price": {"type": "number"}, "city": {"type": "string", "default": "Oslo"}}
    )


def test_signature_of_a_builtin_takes_any_value():
    tool = tool_from(math.sqrt)
    assert tool.description == "Return the square root of x."
    assert tool.to_schema().parameters == snapshot(
        {"type": "object", "properties": {"x": {}}, "required": ["x"], "additionalProperties": False}
    )


def test_signature_of_a_library_function_warns_in_one_line():
    assert tool_from(np.mean).warnings == snapshot(
        (
            "Tool 'mean' comes from numpy as it is; a wrapper with hints and a docstring would be understood better",
        )
    )
    assert tool_from(np.sqrt, name="root").warnings == snapshot(
        (
            "Tool 'root' comes from numpy as it is; a wrapper with hints and a docstring would be understood better",
        )
    )
    assert tool_from(functools.partial(np.mean, axis=0), name="column_means").warnings == snapshot(
        (
            "Tool 'column_means' comes from numpy as it is; a wrapper with hints and a docstring would be understood better",
        )
    )
    assert tool_from(pd.DataFrame({"a": [1]}).head).warnings == ()
    assert tool_from(math.sqrt).warnings == snapshot(
        (
            "Tool 'sqrt' comes from math as it is; a wrapper with hints and a docstring would be understood better",
        )
    )
    assert tool_from("-".join).warnings == snapshot(
        (
            "Tool 'join' comes from Python as it is; a wrapper with hints and a docstring would be understood better",
        )
    )
    assert tool_from(print).warnings == snapshot(
        (
            "Tool 'print' comes from Python as it is, without '*args'; a wrapper with hints and a docstring would be understood better",
        )
    )


def test_signature_of_a_library_function_keeps_the_warnings_of_its_authors_examples():
    mean = functools.partial(np.mean)
    tool(examples=["no arrow"])(mean)
    assert tool_from(mean, name="mean").warnings == snapshot(
        (
            "Tool 'mean' comes from numpy as it is; a wrapper with hints and a docstring would be understood better",
            "Tool 'mean': example 'no arrow' is left out: it has no '->'. Write: task in words -> mean(a=…, axis=…, dtype=…, out=…, keepdims=…, where=…)",
        )
    )


def test_signature_of_a_module_beside_the_notebook_is_the_authors_own(tmp_path, monkeypatch):
    (tmp_path / "beside_tools.py").write_text('def rate(row):\n    "Rate."\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert tool_from(importlib.import_module("beside_tools").rate).warnings == snapshot(
        (
            "Tool 'rate': parameter 'row' has no type hint, so any value is taken. Add one to its signature, e.g.  row: str",
            "Tool 'rate': parameter 'row' has no description. Add to its docstring:  row: what it means",
        )
    )
    sys.modules.pop("beside_tools")


def test_signature_warns_when_no_argument_can_be_given():
    def glue(*parts: str, **options: int) -> str:
        """Glue."""
        return ""

    assert tool_from(math.gcd).warnings == snapshot(
        (
            "Tool 'gcd': no argument can be given, as '*integers' is not offered to the model. Wrap it in a function with named parameters, e.g.  def my_gcd(a: int, b: int): return gcd(a, b)",
        )
    )
    assert tool_from(glue).warnings == snapshot(
        (
            "Tool 'glue': no argument can be given, as '*parts' and '**options' are not offered to the model. Give each value that it needs a parameter of its own",
        )
    )
    assert tool_from(os.times).warnings == ()


def test_signature_is_refused_when_python_knows_none():
    with pytest.raises(ToolDefinitionError) as caught:
        tool_from(max)
    assert caught.value.message == snapshot("""\
Tool 'max': Python knows no signature of it, so no call could be made right.
Wrap it in a function with named parameters, e.g.  def my_max(value: float) -> float: return max(value)\
""")


def test_signature_reads_numpy_style():
    def blend(x, y, *, weight: float = 0.5):
        """Blend two tables.

        The second one wins.

        Parameters
        ----------
        x, y : DataFrame
            The tables: both.
        weight : float, optional
            Share of `x`.

        Returns
        -------
        DataFrame
            The blend.

        Examples
        --------
        blend a and b -> blend(x="@a", y="@b")
        """

    tool = tool_from(blend)
    assert tool.description == "Blend two tables.\n\nThe second one wins."
    assert {name: inner["description"] for name, inner in properties_of(blend).items()} == snapshot(
        {"x": "The tables: both.", "y": "The tables: both.", "weight": "Share of `x`."}
    )
    assert tool.to_schema().examples == (ToolExample(task="blend a and b", arguments={"x": "@a", "y": "@b"}),)


def test_signature_reads_rest_style():
    def send(to: str, text: str) -> bool:
        """Send a message.

        :param to: who gets it: a name
        :param str text: the words
        :returns: whether it went
        """
        return True

    tool = tool_from(send)
    assert tool.description == "Send a message."
    assert {name: inner["description"] for name, inner in properties_of(send).items()} == snapshot(
        {"to": "who gets it: a name", "text": "the words"}
    )


def test_signature_makes_a_description_from_the_name_when_there_is_no_docstring():
    def mean_price(city: str) -> float:
        return 1.0

    tool = tool_from(mean_price)
    assert tool.description == "Mean price."
    assert tool.warnings == snapshot(
        (
            "Tool 'mean_price' has no description. Give it a docstring whose first line says what it returns and when to use it",
        )
    )


def test_signature_warns_of_parameters_without_words_and_of_words_without_parameter():
    def top_rows(frame: pd.DataFrame, n: int) -> None:
        """The first rows.

        Args:
            fram: the table
        """

    assert tool_from(top_rows).warnings == snapshot(
        (
            "Tool 'top_rows': parameter 'frame' has no description. Add to its docstring:  frame: what it means",
            "Tool 'top_rows': parameter 'n' has no description. Add to its docstring:  n: what it means",
            "Tool 'top_rows': the docstring describes 'fram', which is no parameter. Write 'frame'",
        )
    )


def test_signature_leaves_out_defaults_that_json_cannot_hold():
    def plot(
        a: int,
        when: dt.date = dt.date(2024, 1, 1),
        size: tuple[int, int] = (3, 4),
        text: str = "x" * 500,
    ) -> None:
        """Plot."""

    assert [("default" in inner) for inner in properties_of(plot).values()] == [False] * 4


def test_signature_survives_a_docstring_that_no_style_can_read():
    def odd(a: int) -> int:
        """Odd one.

        Args:
        a - not indented

        Returns:
        """
        return a

    assert tool_from(odd).description == snapshot("""\
Odd one.

Args:
a - not indented

Returns:\
""")
    assert list(properties_of(odd)) == ["a"]


@pytest.mark.parametrize(
    "doc",
    [
        "Mean.\n\nReturns:\n    The mean,\n    in EUR.",
        "Mean.\n\nReturns\n-------\nfloat\n    The mean, in EUR.",
        "Mean.\n\n:returns: The mean, in EUR.",
    ],
)
def test_signature_knows_what_is_returned(doc: str):
    def mean(city: str) -> float:
        return 1.0

    mean.__doc__ = doc
    returns = read_signature(mean, "mean").returns
    assert (returns.hint, returns.description) == (float, "The mean, in EUR.")


def test_signature_without_a_result_has_none():
    def go(city: str): ...

    async def wait(city: str) -> Missing: ...  # noqa: F821 - it names nothing

    assert read_signature(go, "go").returns == Returns()
    assert read_signature(wait, "wait").returns == Returns(hint="Missing")


def test_signature_keeps_parameters_with_stars_apart():
    def join(first: str, *parts: int, sep: str = "-", **options: float) -> str:
        """Join.

        Args:
            parts: more of it
        """
        return first

    signature = read_signature(join, "join")
    assert [(one.name, one.is_keyword_only) for one in signature.parameters] == [
        ("first", False),
        ("sep", True),
    ]
    assert {star: (one.name, one.hint, one.description) for star, one in signature.stars.items()} == {
        "*": ("parts", int, "more of it"),
        "**": ("options", float, ""),
    }
