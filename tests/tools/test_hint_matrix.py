"""Every kind of hint, both kinds of caller: what is told, what arrives, what a wrong value is answered.

One row a kind: the schema for a model that calls by JSON, the parameter as code sees it, the value that
reaches the function from each, and the error that each reads.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import typing
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from PIL import Image
from pydantic import BaseModel, Field

from agent_magic.core.errors import ToolCallError
from agent_magic.core.state import AgentState, DictState
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.code_prompt import to_code_prompt

MISSING: Any = object()


class Colour(enum.Enum):
    TEAL = "teal"
    OCHRE = "ochre"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Odd(enum.Enum):
    PAIR = (1, 2)
    OTHER = (3, 4)


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Row(BaseModel):
    name: str
    price: float = Field(ge=0)


class Filter(TypedDict):
    column: str
    limit: typing.NotRequired[int]


class Span(NamedTuple):
    low: int
    high: int


@dataclasses.dataclass
class Node:
    name: str
    children: list[Node] = dataclasses.field(default_factory=list)


UserId = NewType("UserId", int)
Number = TypeVar("Number", bound=float)
FRAME = pd.DataFrame({"n": [1, 2]})
STATE = AgentState(
    DictState(
        df=FRAME,
        series=FRAME["n"],
        arr=np.arange(3),
        blob=b"\x00\xff",
        cls=int,
        fn=len,
        photo=Image.new("RGB", (2, 2)),
        moment=pd.Timestamp("2024-05-01"),
    ),
    scope="all",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of hint."""

    hint: Any
    json: Any
    """What a model writes."""
    live: Any
    """What code gives."""
    bad: Any = MISSING
    """What fits for neither."""
    default: Any = MISSING


KINDS: dict[str, Kind] = {
    "str": Kind(hint=str, json="a", live="a", bad=5),
    "int": Kind(hint=int, json=2.0, live=np.int64(2), bad=True),
    "int as text": Kind(hint=int, json="2", live=2, bad="two"),
    "float": Kind(hint=float, json=2, live=np.float32(0.5), bad="x"),
    "bool": Kind(hint=bool, json="false", live=np.bool_(False), bad=2),
    "Any": Kind(hint=Any, json=[1], live=FRAME),
    "no hint": Kind(hint=MISSING, json={"a": 1}, live=FRAME),
    "None": Kind(hint=None, json=None, live=None, bad=1),
    "Optional": Kind(hint=Optional[int], json=None, live=None, bad="x"),  # noqa: UP045 - as people write it
    "union": Kind(hint=int | str, json=5, live="a", bad=True),
    "union of shapes": Kind(hint=Union[Point, list[int]], json={"x": 1}, live=[1], bad={"z": 1}),  # noqa: UP007 - as people write it
    "Literal": Kind(hint=Literal["a", "b"], json="a", live="b", bad="c"),
    "Literal of ints": Kind(hint=Literal[1, 2], json=1, live=2, bad=3),
    "Literal or None": Kind(hint=Literal["a", "b"] | None, json="a", live=None, bad="c"),
    "Enum": Kind(hint=Colour, json="teal", live=Colour.TEAL, bad="pink", default=Colour.OCHRE),
    "IntEnum": Kind(hint=Level, json=2, live=Level.HIGH, bad=3),
    "Enum of odd values": Kind(hint=Odd, json="PAIR", live=Odd.PAIR, bad="pair"),
    "list": Kind(hint=list, json=[1, "a"], live=(1, 2), bad="x"),
    "list of T": Kind(hint=list[int], json=[1, 2.0], live=[1, 2], bad=[1, "x"]),
    "List of Enum": Kind(hint=typing.List[Colour], json=["teal"], live=[Colour.TEAL], bad=["pink"]),  # noqa: UP006 - as people write it
    "Sequence": Kind(hint=Sequence[float], json=[1], live=[0.5], bad=3),
    "Iterable": Kind(hint=Iterable[int], json=[1], live=[1], bad=3),
    "dict of T": Kind(hint=dict[str, int], json={"a": 1}, live={"a": 1}, bad={"a": "x"}),
    "dict of int keys": Kind(hint=dict[int, str], json={"1": "a"}, live={1: "a"}, bad={"x": "a"}),
    "dict of dataclass": Kind(
        hint=dict[str, Point], json={"a": {"x": 1}}, live={"a": Point(1.0)}, bad={"a": {}}
    ),
    "Mapping": Kind(hint=Mapping[str, Any], json={"a": None}, live={"a": FRAME}, bad=[1]),
    "tuple": Kind(hint=tuple[int, str], json=[1, "a"], live=(1, "a"), bad=[1]),
    "tuple of any length": Kind(hint=tuple[int, ...], json=[1, 2], live=(1, 2), bad=["x"]),
    "set": Kind(hint=set[int], json=[1, 2], live={1, 2}, bad=[1, 1]),
    "NamedTuple": Kind(hint=Span, json=[1, 2], live=Span(1, 2), bad=[1]),
    "TypedDict": Kind(hint=Filter, json={"column": "a"}, live={"column": "a", "limit": 1}, bad={"limit": 1}),
    "dataclass": Kind(hint=Point, json={"x": 1}, live=Point(1.0), bad={"x": "left"}),
    "pydantic model": Kind(
        hint=Row,
        json={"name": "a", "price": 1},
        live=Row(name="a", price=1),
        bad={"name": "a", "price": -1},
    ),
    "list of dataclass": Kind(hint=list[Point], json=[{"x": 1}], live=[Point(1.0)], bad=[{"x": 1}, {}]),
    "contains itself": Kind(
        hint=Node,
        json={"name": "a", "children": [{"name": "b"}]},
        live=Node("a"),
        bad={"name": "a", "children": [{}]},
    ),
    "Annotated": Kind(hint=Annotated[int, Field(ge=1, le=9), "how many"], json=3, live=3, bad=12),
    "date": Kind(hint=dt.date, json="2024-05-01", live=dt.date(2024, 5, 1), bad="1 May"),
    "datetime": Kind(
        hint=dt.datetime,
        json="2024-05-01T10:00:00Z",
        live=dt.datetime(2024, 5, 1),  # noqa: DTZ001 - as people write it
        bad="later",
    ),
    "time": Kind(hint=dt.time, json="10:30", live=dt.time(10, 30), bad="noon"),
    "timedelta": Kind(hint=dt.timedelta, json="PT5M", live=dt.timedelta(minutes=5), bad="a while"),
    "Decimal": Kind(hint=decimal.Decimal, json="1.10", live=decimal.Decimal("1.10"), bad="much"),
    "UUID": Kind(
        hint=uuid.UUID,
        json="00000000-0000-0000-0000-000000000001",
        live=uuid.UUID(int=1),
        bad="1",
    ),
    "Path": Kind(hint=Path, json="data/a.csv", live=Path("data/a.csv"), bad=5),
    "bytes": Kind(hint=bytes, json="aé", live=b"a", bad=5),
    "bytes of a variable": Kind(hint=bytes, json="@blob", live=b"a"),
    "complex": Kind(hint=complex, json="1+2j", live=1 + 2j, bad="x"),
    "forward reference": Kind(hint="Point", json={"x": 1}, live=Point(1.0), bad={"y": 1}),
    "unknown forward reference": Kind(hint="Nowhere", json=5, live=5),
    "NewType": Kind(hint=UserId, json=5, live=5, bad="x"),
    "TypeVar": Kind(hint=Number, json=5, live=0.5, bad="x"),
    "Callable": Kind(hint=Callable[[int], int], json="@fn", live=len, bad="later"),
    "type": Kind(hint=type[int], json="@cls", live=int, bad="@fn"),
    "DataFrame": Kind(hint=pd.DataFrame, json="@df", live=FRAME, bad="@photo"),
    "DataFrame by bare name": Kind(hint=pd.DataFrame, json="df", live=FRAME, bad="fd"),
    "DataFrame or None": Kind(hint=pd.DataFrame | None, json="@df", live=None, bad="@photo"),
    "list of DataFrames": Kind(hint=list[pd.DataFrame], json=["@df"], live=[FRAME], bad=["@photo"]),
    "Series": Kind(hint=pd.Series, json="@series", live=STATE.lookup("series"), bad="@df"),
    "Timestamp": Kind(hint=pd.Timestamp, json="@moment", live=STATE.lookup("moment"), bad="2024"),
    "ndarray": Kind(hint=np.ndarray, json="@arr", live=STATE.lookup("arr"), bad=[1, 2]),
    "np.int64": Kind(hint=np.int64, json=3, live=np.int64(3), bad="x"),
    "image": Kind(hint=Image.Image, json="@photo", live=STATE.lookup("photo"), bad="@df"),
}


def _tool_of(kind: Kind) -> tuple[Any, list[Any]]:
    got: list[Any] = []

    def take(value):  # its hint is put in below
        """Take a value.

        Args:
            value: what to take
        """
        got.append(value)

    take.__annotations__ = {} if kind.hint is MISSING else {"value": kind.hint}
    if kind.default is not MISSING:
        take.__defaults__ = (kind.default,)
    return tool_from(take), got


def _shown(value: Any) -> str:
    if isinstance(value, pd.DataFrame | pd.Series | np.ndarray | Image.Image):
        return next(f"the very @{name}" for name in STATE if STATE.lookup(name) is value)
    if isinstance(value, list) and any(isinstance(item, pd.DataFrame) for item in value):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict) and any(isinstance(item, pd.DataFrame) for item in value.values()):
        return f"{{{', '.join(f'{key!r}: {_shown(item)}' for key, item in value.items())}}}"
    return repr(value)


def _arrives(tool: Any, got: list[Any], value: Any, state: AgentState | None) -> str:
    try:
        prepared = tool.prepare({"value": value}, state)
    except ToolCallError as error:
        return error.message
    tool.invoke(prepared)
    return " ".join([_shown(got.pop()), *(f"({note})" for note in prepared.notes)])


def _in_code(tool: Any) -> str:
    """The parameter as the signature has it, and what its description adds."""
    prompt = to_code_prompt(tool)
    _, _, described = prompt.partition("value: what to take")
    return prompt.partition("take(")[2].partition("):")[0] + described.partition("\n")[0]


def _row(kind: Kind) -> dict[str, Any]:
    tool, got = _tool_of(kind)
    schema = dict(tool.to_schema().parameters)
    row: dict[str, Any] = {
        "told": schema["properties"]["value"],
        "in code": _in_code(tool),
        "from JSON": _arrives(tool, got, kind.json, STATE),
        "from code": _arrives(tool, got, kind.live, None),
    }
    if schema.get("$defs"):
        row["$defs"] = schema["$defs"]
    if kind.bad is not MISSING:
        row["wrong JSON"] = _arrives(tool, got, kind.bad, STATE)
        row["wrong in code"] = _arrives(tool, got, kind.bad, None)
    return row


MATRIX = snapshot(
    {
        "str": {
            "told": {"type": "string", "description": "what to take"},
            "in code": "value: str",
            "from JSON": "'a'",
            "from code": "'a'",
            "wrong JSON": "take: argument 'value' is 5; expected text. Call take with {\"value\": <string>}.",
            "wrong in code": "take: argument 'value' is 5; expected str. Call take(value=<str>).",
        },
        "int": {
            "told": {"type": "integer", "description": "what to take"},
            "in code": "value: int",
            "from JSON": "2",
            "from code": "2",
            "wrong JSON": "take: argument 'value' is True; expected an integer. Call take with {\"value\": <integer>}.",
            "wrong in code": "take: argument 'value' is True; expected int. Call take(value=<int>).",
        },
        "int as text": {
            "told": {"type": "integer", "description": "what to take"},
            "in code": "value: int",
            "from JSON": "2 (value: text '2' read as 2)",
            "from code": "2",
            "wrong JSON": "take: argument 'value' is 'two'; expected an integer. Call take with {\"value\": <integer>}.",
            "wrong in code": "take: argument 'value' is 'two'; expected int. Call take(value=<int>).",
        },
        "float": {
            "told": {"type": "number", "description": "what to take"},
            "in code": "value: float",
            "from JSON": "2.0",
            "from code": "0.5",
            "wrong JSON": "take: argument 'value' is 'x'; expected a number. Call take with {\"value\": <number>}.",
            "wrong in code": "take: argument 'value' is 'x'; expected float. Call take(value=<float>).",
        },
        "bool": {
            "told": {"type": "boolean", "description": "what to take"},
            "in code": "value: bool",
            "from JSON": "False (value: text 'false' read as False)",
            "from code": "False",
            "wrong JSON": "take: argument 'value' is 2; expected true or false. Call take with {\"value\": <boolean>}.",
            "wrong in code": "take: argument 'value' is 2; expected bool. Call take(value=<bool>).",
        },
        "Any": {
            "told": {"description": "what to take"},
            "in code": "value: Any",
            "from JSON": "[1]",
            "from code": "the very @df",
        },
        "no hint": {
            "told": {"description": "what to take"},
            "in code": "value",
            "from JSON": "{'a': 1}",
            "from code": "the very @df",
        },
        "None": {
            "told": {"type": "null", "description": "what to take"},
            "in code": "value: None",
            "from JSON": "None",
            "from code": "None",
            "wrong JSON": "take: argument 'value' is 1; expected null. Call take with {\"value\": <null>}.",
            "wrong in code": "take: argument 'value' is 1; expected None. Call take(value=<None>).",
        },
        "Optional": {
            "told": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "what to take"},
            "in code": "value: int | None",
            "from JSON": "None",
            "from code": "None",
            "wrong JSON": "take: argument 'value' is 'x'; expected an integer or null. Call take with {\"value\": <integer or null>}.",
            "wrong in code": "take: argument 'value' is 'x'; expected int | None. Call take(value=<int | None>).",
        },
        "union": {
            "told": {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": "what to take"},
            "in code": "value: int | str",
            "from JSON": "5",
            "from code": "'a'",
            "wrong JSON": "take: argument 'value' is True; expected an integer or text. Call take with {\"value\": <integer or string>}.",
            "wrong in code": "take: argument 'value' is True; expected int | str. Call take(value=<int | str>).",
        },
        "union of shapes": {
            "told": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
                        "required": ["x"],
                    },
                    {"type": "array", "items": {"type": "integer"}},
                ],
                "description": "what to take",
            },
            "in code": "value: Point | list[int]; as a dict: {'x': <float>, 'y': <float, optional>}",
            "from JSON": "Point(x=1.0, y=0.0)",
            "from code": "[1]",
            "wrong JSON": 'take: argument \'value\' lacks \'x\'. Call take with {"value": <{"x": <number>, "y": <number, optional>} or list of integer>}.',
            "wrong in code": "take: argument 'value' lacks 'x'. Call take(value=<{'x': <float>, 'y': <float, optional>} | list[int]>).",
        },
        "Literal": {
            "told": {"type": "string", "enum": ["a", "b"], "description": "what to take"},
            "in code": "value: Literal['a', 'b']",
            "from JSON": "'a'",
            "from code": "'b'",
            "wrong JSON": "take: argument 'value' is 'c'; expected one of 'a', 'b'. Call take with {\"value\": <\"a\" | \"b\">}.",
            "wrong in code": "take: argument 'value' is 'c'; expected one of 'a', 'b'. Call take(value=<'a' | 'b'>).",
        },
        "Literal of ints": {
            "told": {"type": "integer", "enum": [1, 2], "description": "what to take"},
            "in code": "value: Literal[1, 2]",
            "from JSON": "1",
            "from code": "2",
            "wrong JSON": "take: argument 'value' is 3; expected one of 1, 2. Call take with {\"value\": <1 | 2>}.",
            "wrong in code": "take: argument 'value' is 3; expected one of 1, 2. Call take(value=<1 | 2>).",
        },
        "Literal or None": {
            "told": {
                "anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}],
                "description": "what to take",
            },
            "in code": "value: Literal['a', 'b'] | None",
            "from JSON": "'a'",
            "from code": "None",
            "wrong JSON": "take: argument 'value' is 'c'; expected one of 'a', 'b' or null. Call take with {\"value\": <\"a\" | \"b\" or null>}.",
            "wrong in code": "take: argument 'value' is 'c'; expected 'a' | 'b' | None. Call take(value=<'a' | 'b' | None>).",
        },
        "Enum": {
            "told": {
                "type": "string",
                "enum": ["teal", "ochre"],
                "description": "what to take",
                "default": "ochre",
            },
            "in code": "value: Colour = Colour.OCHRE; one of 'teal', 'ochre'",
            "from JSON": "<Colour.TEAL: 'teal'>",
            "from code": "<Colour.TEAL: 'teal'>",
            "wrong JSON": "take: argument 'value' is 'pink'; expected one of 'teal', 'ochre'. Call take with {\"value\": <\"teal\" | \"ochre\", optional>}.",
            "wrong in code": "take: argument 'value' is 'pink'; expected one of 'teal', 'ochre'. Call take(value=<'teal' | 'ochre', optional>).",
        },
        "IntEnum": {
            "told": {"type": "integer", "enum": [1, 2], "description": "what to take"},
            "in code": "value: Level; one of 1, 2",
            "from JSON": "<Level.HIGH: 2>",
            "from code": "<Level.HIGH: 2>",
            "wrong JSON": "take: argument 'value' is 3; expected one of 1, 2. Call take with {\"value\": <1 | 2>}.",
            "wrong in code": "take: argument 'value' is 3; expected one of 1, 2. Call take(value=<1 | 2>).",
        },
        "Enum of odd values": {
            "told": {"type": "string", "enum": ["PAIR", "OTHER"], "description": "what to take"},
            "in code": "value: Odd; one of 'PAIR', 'OTHER'",
            "from JSON": "<Odd.PAIR: (1, 2)>",
            "from code": "<Odd.PAIR: (1, 2)>",
            "wrong JSON": "take: argument 'value' is 'pair'; expected one of 'PAIR', 'OTHER'. Call take with {\"value\": <\"PAIR\" | \"OTHER\">}.",
            "wrong in code": "take: argument 'value' is 'pair'; expected one of 'PAIR', 'OTHER'. Call take(value=<'PAIR' | 'OTHER'>).",
        },
        "list": {
            "told": {"type": "array", "items": {}, "description": "what to take"},
            "in code": "value: list",
            "from JSON": "[1, 'a']",
            "from code": "[1, 2]",
            "wrong JSON": "take: argument 'value' is 'x'; expected a list. Call take with {\"value\": <list>}.",
            "wrong in code": "take: argument 'value' is 'x'; expected list. Call take(value=<list>).",
        },
        "list of T": {
            "told": {"type": "array", "items": {"type": "integer"}, "description": "what to take"},
            "in code": "value: list[int]",
            "from JSON": "[1, 2]",
            "from code": "[1, 2]",
            "wrong JSON": "take: argument 'value[1]' is 'x'; expected an integer. Call take with {\"value\": <list of integer>}.",
            "wrong in code": "take: argument 'value[1]' is 'x'; expected int. Call take(value=<list[int]>).",
        },
        "List of Enum": {
            "told": {
                "type": "array",
                "items": {"type": "string", "enum": ["teal", "ochre"]},
                "description": "what to take",
            },
            "in code": "value: list[Colour]; each item one of 'teal', 'ochre'",
            "from JSON": "[<Colour.TEAL: 'teal'>]",
            "from code": "[<Colour.TEAL: 'teal'>]",
            "wrong JSON": "take: argument 'value[0]' is 'pink'; expected one of 'teal', 'ochre'. Call take with {\"value\": <list of \"teal\" | \"ochre\">}.",
            "wrong in code": "take: argument 'value[0]' is 'pink'; expected one of 'teal', 'ochre'. Call take(value=<list['teal' | 'ochre']>).",
        },
        "Sequence": {
            "told": {"type": "array", "items": {"type": "number"}, "description": "what to take"},
            "in code": "value: Sequence[float]",
            "from JSON": "[1.0]",
            "from code": "[0.5]",
            "wrong JSON": "take: argument 'value' is 3; expected a list of number. Call take with {\"value\": <list of number>}.",
            "wrong in code": "take: argument 'value' is 3; expected list[float]. Call take(value=<list[float]>).",
        },
        "Iterable": {
            "told": {"type": "array", "items": {"type": "integer"}, "description": "what to take"},
            "in code": "value: Iterable[int]",
            "from JSON": "[1]",
            "from code": "[1]",
            "wrong JSON": "take: argument 'value' is 3; expected a list of integer. Call take with {\"value\": <list of integer>}.",
            "wrong in code": "take: argument 'value' is 3; expected list[int]. Call take(value=<list[int]>).",
        },
        "dict of T": {
            "told": {
                "type": "object",
                "additionalProperties": {"type": "integer"},
                "description": "what to take",
            },
            "in code": "value: dict[str, int]",
            "from JSON": "{'a': 1}",
            "from code": "{'a': 1}",
            "wrong JSON": "take: argument 'value.a' is 'x'; expected an integer. Call take with {\"value\": <{\"…\": <integer>}>}.",
            "wrong in code": "take: argument 'value.a' is 'x'; expected int. Call take(value=<{…: <int>}>).",
        },
        "dict of int keys": {
            "told": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "what to take",
            },
            "in code": "value: dict[int, str]",
            "from JSON": "{1: 'a'}",
            "from code": "{1: 'a'}",
            "wrong JSON": "take: argument 'value' has the key 'x'; its keys are whole numbers. Call take with {\"value\": <{\"…\": <string>}>}.",
            "wrong in code": "take: argument 'value' has the key 'x'; its keys are whole numbers. Call take(value=<{…: <str>}>).",
        },
        "dict of dataclass": {
            "told": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
                    "required": ["x"],
                },
                "description": "what to take",
            },
            "in code": "value: dict[str, Point]; each value as a dict: {'x': <float>, 'y': <float, optional>}",
            "from JSON": "{'a': Point(x=1.0, y=0.0)}",
            "from code": "{'a': Point(x=1.0, y=0.0)}",
            "wrong JSON": 'take: argument \'value.a\' lacks \'x\'. Call take with {"value": <{"…": <{"x": <number>, "y": <number, optional>}>}>}.',
            "wrong in code": "take: argument 'value.a' lacks 'x'. Call take(value=<{…: <{'x': <float>, 'y': <float, optional>}>}>).",
        },
        "Mapping": {
            "told": {"type": "object", "additionalProperties": True, "description": "what to take"},
            "in code": "value: Mapping[str, Any]",
            "from JSON": "{'a': None}",
            "from code": "{'a': the very @df}",
            "wrong JSON": "take: argument 'value' is [1]; expected an object. Call take with {\"value\": <object>}.",
            "wrong in code": "take: argument 'value' is [1]; expected dict. Call take(value=<dict>).",
        },
        "tuple": {
            "told": {
                "type": "array",
                "maxItems": 2,
                "minItems": 2,
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "description": "what to take",
            },
            "in code": "value: tuple[int, str]",
            "from JSON": "(1, 'a')",
            "from code": "(1, 'a')",
            "wrong JSON": "take: argument 'value' is [1]; expected exactly 2 items. Call take with {\"value\": <[integer, string]>}.",
            "wrong in code": "take: argument 'value' is [1]; expected exactly 2 items. Call take(value=<tuple[int, str]>).",
        },
        "tuple of any length": {
            "told": {"type": "array", "items": {"type": "integer"}, "description": "what to take"},
            "in code": "value: tuple[int, ...]",
            "from JSON": "(1, 2)",
            "from code": "(1, 2)",
            "wrong JSON": "take: argument 'value[0]' is 'x'; expected an integer. Call take with {\"value\": <list of integer>}.",
            "wrong in code": "take: argument 'value[0]' is 'x'; expected int. Call take(value=<list[int]>).",
        },
        "set": {
            "told": {
                "type": "array",
                "items": {"type": "integer"},
                "uniqueItems": True,
                "description": "what to take",
            },
            "in code": "value: set[int]",
            "from JSON": "{1, 2}",
            "from code": "{1, 2}",
            "wrong JSON": "take: argument 'value' is [1, 1]; expected each item once. Call take with {\"value\": <list of integer>}.",
            "wrong in code": "take: argument 'value' is [1, 1]; expected each item once. Call take(value=<set[int]>).",
        },
        "NamedTuple": {
            "told": {
                "type": "array",
                "maxItems": 2,
                "minItems": 2,
                "prefixItems": [
                    {"type": "integer", "description": "low"},
                    {"type": "integer", "description": "high"},
                ],
                "description": "what to take",
            },
            "in code": "value: Span; as a tuple: (low: int, high: int)",
            "from JSON": "Span(low=1, high=2)",
            "from code": "Span(low=1, high=2)",
            "wrong JSON": "take: argument 'value' is [1]; expected exactly 2 items. Call take with {\"value\": <[low: integer, high: integer]>}.",
            "wrong in code": "take: argument 'value' is [1]; expected exactly 2 items. Call take(value=<(low: int, high: int)>).",
        },
        "TypedDict": {
            "told": {
                "type": "object",
                "properties": {"column": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["column"],
                "description": "what to take",
            },
            "in code": "value: Filter; as a dict: {'column': <str>, 'limit': <int, optional>}",
            "from JSON": "{'column': 'a'}",
            "from code": "{'column': 'a', 'limit': 1}",
            "wrong JSON": 'take: argument \'value\' lacks \'column\'. Call take with {"value": <{"column": <string>, "limit": <integer, optional>}>}.',
            "wrong in code": "take: argument 'value' lacks 'column'. Call take(value=<{'column': <str>, 'limit': <int, optional>}>).",
        },
        "dataclass": {
            "told": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
                "required": ["x"],
                "description": "what to take",
            },
            "in code": "value: Point; as a dict: {'x': <float>, 'y': <float, optional>}",
            "from JSON": "Point(x=1.0, y=0.0)",
            "from code": "Point(x=1.0, y=0.0)",
            "wrong JSON": 'take: argument \'value.x\' is \'left\'; expected a number. Call take with {"value": <{"x": <number>, "y": <number, optional>}>}.',
            "wrong in code": "take: argument 'value.x' is 'left'; expected float. Call take(value=<{'x': <float>, 'y': <float, optional>}>).",
        },
        "pydantic model": {
            "told": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "price": {"type": "number", "minimum": 0}},
                "required": ["name", "price"],
                "description": "what to take",
            },
            "in code": "value: Row; as a dict: {'name': <str>, 'price': <float>}",
            "from JSON": "Row(name='a', price=1.0)",
            "from code": "Row(name='a', price=1.0)",
            "wrong JSON": 'take: argument \'value.price\' is -1; expected at least 0. Call take with {"value": <{"name": <string>, "price": <number>}>}.',
            "wrong in code": "take: argument 'value.price' is -1; expected at least 0. Call take(value=<{'name': <str>, 'price': <float>}>).",
        },
        "list of dataclass": {
            "told": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
                    "required": ["x"],
                },
                "description": "what to take",
            },
            "in code": "value: list[Point]; each item as a dict: {'x': <float>, 'y': <float, optional>}",
            "from JSON": "[Point(x=1.0, y=0.0)]",
            "from code": "[Point(x=1.0, y=0.0)]",
            "wrong JSON": 'take: argument \'value[1]\' lacks \'x\'. Call take with {"value": <list of {"x": <number>, "y": <number, optional>}>}.',
            "wrong in code": "take: argument 'value[1]' lacks 'x'. Call take(value=<list[{'x': <float>, 'y': <float, optional>}]>).",
        },
        "contains itself": {
            "told": {"$ref": "#/$defs/Node", "description": "what to take"},
            "in code": "value: Node; as a dict: {'name': <str>, 'children': <list[Node], optional>}",
            "from JSON": "Node(name='a', children=[Node(name='b', children=[])])",
            "from code": "Node(name='a', children=[])",
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    },
                    "required": ["name"],
                }
            },
            "wrong JSON": "take: argument 'value.children[0]' lacks 'name'. Call take with {\"value\": <Node>}.",
            "wrong in code": "take: argument 'value.children[0]' lacks 'name'. Call take(value=<Node>).",
        },
        "Annotated": {
            "told": {"type": "integer", "maximum": 9, "minimum": 1, "description": "what to take"},
            "in code": "value: int; at least 1; at most 9",
            "from JSON": "3",
            "from code": "3",
            "wrong JSON": "take: argument 'value' is 12; expected at most 9. Call take with {\"value\": <integer>}.",
            "wrong in code": "take: argument 'value' is 12; expected at most 9. Call take(value=<int>).",
        },
        "date": {
            "told": {"type": "string", "format": "date", "description": "what to take"},
            "in code": "value: date",
            "from JSON": "datetime.date(2024, 5, 1)",
            "from code": "datetime.date(2024, 5, 1)",
            "wrong JSON": "take: argument 'value' is '1 May'; expected a date such as '2024-05-01'. Call take with {\"value\": <date>}.",
            "wrong in code": "take: argument 'value' is '1 May'; expected date. Call take(value=<date>).",
        },
        "datetime": {
            "told": {"type": "string", "format": "date-time", "description": "what to take"},
            "in code": "value: datetime",
            "from JSON": "datetime.datetime(2024, 5, 1, 10, 0, tzinfo=TzInfo(0))",
            "from code": "datetime.datetime(2024, 5, 1, 0, 0)",
            "wrong JSON": "take: argument 'value' is 'later'; expected a date and time such as '2024-05-01T10:30:00'. Call take with {\"value\": <date-time>}.",
            "wrong in code": "take: argument 'value' is 'later'; expected datetime. Call take(value=<datetime>).",
        },
        "time": {
            "told": {"type": "string", "format": "time", "description": "what to take"},
            "in code": "value: time",
            "from JSON": "datetime.time(10, 30)",
            "from code": "datetime.time(10, 30)",
            "wrong JSON": "take: argument 'value' is 'noon'; expected a time such as '10:30'. Call take with {\"value\": <time>}.",
            "wrong in code": "take: argument 'value' is 'noon'; expected time. Call take(value=<time>).",
        },
        "timedelta": {
            "told": {"type": "string", "format": "duration", "description": "what to take"},
            "in code": "value: timedelta",
            "from JSON": "datetime.timedelta(seconds=300)",
            "from code": "datetime.timedelta(seconds=300)",
            "wrong JSON": "take: argument 'value' is 'a while'; expected a duration such as 'PT1H30M'. Call take with {\"value\": <duration>}.",
            "wrong in code": "take: argument 'value' is 'a while'; expected timedelta. Call take(value=<timedelta>).",
        },
        "Decimal": {
            "told": {"anyOf": [{"type": "number"}, {"type": "string"}], "description": "what to take"},
            "in code": "value: Decimal",
            "from JSON": "Decimal('1.10')",
            "from code": "Decimal('1.10')",
            "wrong JSON": "take: argument 'value' is 'much'; expected a decimal number such as '1.50'. Call take with {\"value\": <number or string>}.",
            "wrong in code": "take: argument 'value' is 'much'; expected a decimal number such as '1.50'. Call take(value=<float | str>).",
        },
        "UUID": {
            "told": {"type": "string", "format": "uuid", "description": "what to take"},
            "in code": "value: UUID",
            "from JSON": "UUID('00000000-0000-0000-0000-000000000001')",
            "from code": "UUID('00000000-0000-0000-0000-000000000001')",
            "wrong JSON": "take: argument 'value' is '1'; expected a UUID. Call take with {\"value\": <uuid>}.",
            "wrong in code": "take: argument 'value' is '1'; expected UUID. Call take(value=<UUID>).",
        },
        "Path": {
            "told": {"type": "string", "format": "path", "description": "what to take"},
            "in code": "value: Path",
            "from JSON": "PosixPath('data/a.csv')",
            "from code": "PosixPath('data/a.csv')",
            "wrong JSON": "take: argument 'value' is 5; expected text. Call take with {\"value\": <path>}.",
            "wrong in code": "take: argument 'value' is 5; expected Path. Call take(value=<Path>).",
        },
        "bytes": {
            "told": {"type": "string", "format": "binary", "description": "what to take"},
            "in code": "value: bytes",
            "from JSON": "b'a\\xc3\\xa9'",
            "from code": "b'a'",
            "wrong JSON": "take: argument 'value' is 5; expected text. Call take with {\"value\": <binary>}.",
            "wrong in code": "take: argument 'value' is 5; expected bytes. Call take(value=<bytes>).",
        },
        "bytes of a variable": {
            "told": {"type": "string", "format": "binary", "description": "what to take"},
            "in code": "value: bytes",
            "from JSON": "b'\\x00\\xff' (value read as @blob)",
            "from code": "b'a'",
        },
        "complex": {
            "told": {"type": "string", "description": "what to take"},
            "in code": "value: complex",
            "from JSON": "(1+2j)",
            "from code": "(1+2j)",
            "wrong JSON": "take: argument 'value' is 'x'; expected a complex number such as '1+2j'. Call take with {\"value\": <string>}.",
            "wrong in code": "take: argument 'value' is 'x'; expected a complex number such as '1+2j'. Call take(value=<str>).",
        },
        "forward reference": {
            "told": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
                "required": ["x"],
                "description": "what to take",
            },
            "in code": "value: Point; as a dict: {'x': <float>, 'y': <float, optional>}",
            "from JSON": "Point(x=1.0, y=0.0)",
            "from code": "Point(x=1.0, y=0.0)",
            "wrong JSON": 'take: argument \'value\' lacks \'x\'. Call take with {"value": <{"x": <number>, "y": <number, optional>}>}.',
            "wrong in code": "take: argument 'value' lacks 'x'. Call take(value=<{'x': <float>, 'y': <float, optional>}>).",
        },
        "unknown forward reference": {
            "told": {"description": "what to take"},
            "in code": "value: Any",
            "from JSON": "5",
            "from code": "5",
        },
        "NewType": {
            "told": {"type": "integer", "description": "what to take"},
            "in code": "value: int",
            "from JSON": "5",
            "from code": "5",
            "wrong JSON": "take: argument 'value' is 'x'; expected an integer. Call take with {\"value\": <integer>}.",
            "wrong in code": "take: argument 'value' is 'x'; expected int. Call take(value=<int>).",
        },
        "TypeVar": {
            "told": {"type": "number", "description": "what to take"},
            "in code": "value: float",
            "from JSON": "5.0",
            "from code": "0.5",
            "wrong JSON": "take: argument 'value' is 'x'; expected a number. Call take with {\"value\": <number>}.",
            "wrong in code": "take: argument 'value' is 'x'; expected float. Call take(value=<float>).",
        },
        "Callable": {
            "told": {"type": "string", "description": "what to take. The name of a state variable, e.g. @df"},
            "in code": "value: Callable[[int], int]",
            "from JSON": "<built-in function len> (value read as @fn)",
            "from code": "<built-in function len>",
            "wrong JSON": "take: argument 'value' is 'later'; no open variable has that name. Open: cls, fn. Write one of them as \"@name\".",
            "wrong in code": "take: argument 'value' is 'later'; expected callable. Call take(value=<callable>).",
        },
        "type": {
            "told": {"type": "string", "description": "what to take. The name of a state variable, e.g. @df"},
            "in code": "value: type[int]",
            "from JSON": "<class 'int'> (value read as @cls)",
            "from code": "<class 'int'>",
            "wrong JSON": 'take: argument \'value\' is @fn, a builtin_function_or_method; expected "@name" of a class. Open: cls. Write one of them as "@name".',
            "wrong in code": "take: argument 'value' is '@fn'; expected class. Call take(value=<class>).",
        },
        "DataFrame": {
            "told": {"type": "string", "description": "what to take. The name of a state variable, e.g. @df"},
            "in code": "value: DataFrame",
            "from JSON": "the very @df (value read as @df)",
            "from code": "the very @df",
            "wrong JSON": 'take: argument \'value\' is @photo, an Image; expected "@name" of a DataFrame. Open: df. Write one of them as "@name".',
            "wrong in code": "take: argument 'value' is '@photo'; expected DataFrame. Call take(value=<DataFrame>).",
        },
        "DataFrame by bare name": {
            "told": {"type": "string", "description": "what to take. The name of a state variable, e.g. @df"},
            "in code": "value: DataFrame",
            "from JSON": "the very @df (value read as @df)",
            "from code": "the very @df",
            "wrong JSON": "take: argument 'value' is 'fd'; no open variable has that name. Nearest: df. Write \"@df\".",
            "wrong in code": "take: argument 'value' is 'fd'; expected DataFrame. Call take(value=<DataFrame>).",
        },
        "DataFrame or None": {
            "told": {
                "anyOf": [
                    {"type": "string", "description": "The name of a state variable, e.g. @df"},
                    {"type": "null"},
                ],
                "description": "what to take",
            },
            "in code": "value: DataFrame | None",
            "from JSON": "the very @df (value read as @df)",
            "from code": "None",
            "wrong JSON": 'take: argument \'value\' is @photo, an Image; expected "@name" of a DataFrame or null. Open: df. Write one of them as "@name".',
            "wrong in code": "take: argument 'value' is '@photo'; expected DataFrame | None. Call take(value=<DataFrame | None>).",
        },
        "list of DataFrames": {
            "told": {
                "type": "array",
                "items": {"type": "string", "description": "The name of a state variable, e.g. @df"},
                "description": "what to take",
            },
            "in code": "value: list[DataFrame]",
            "from JSON": "[the very @df] (value[0] read as @df)",
            "from code": "[the very @df]",
            "wrong JSON": 'take: argument \'value[0]\' is @photo, an Image; expected "@name" of a DataFrame. Open: df. Write one of them as "@name".',
            "wrong in code": "take: argument 'value[0]' is '@photo'; expected DataFrame. Call take(value=<list[DataFrame]>).",
        },
        "Series": {
            "told": {"type": "string", "description": "what to take. The name of a state variable, e.g. @df"},
            "in code": "value: Series",
            "from JSON": "the very @series (value read as @series)",
            "from code": "the very @series",
            "wrong JSON": 'take: argument \'value\' is @df, a DataFrame; expected "@name" of a Series. Open: series. Write one of them as "@name".',
            "wrong in code": "take: argument 'value' is '@df'; expected Series. Call take(value=<Series>).",
        },
        "Timestamp": {
            "told": {"type": "string", "description": "what to take. The name of a state variable, e.g. @df"},
            "in code": "value: Timestamp",
            "from JSON": "Timestamp('2024-05-01 00:00:00') (value read as @moment)",
            "from code": "Timestamp('2024-05-01 00:00:00')",
            "wrong JSON": "take: argument 'value' is '2024'; no open variable has that name. Open: moment. Write one of them as \"@name\".",
            "wrong in code": "take: argument 'value' is '2024'; expected Timestamp. Call take(value=<Timestamp>).",
        },
        "ndarray": {
            "told": {"type": "string", "description": "what to take. The name of a state variable, e.g. @df"},
            "in code": "value: ndarray",
            "from JSON": "the very @arr (value read as @arr)",
            "from code": "the very @arr",
            "wrong JSON": 'take: argument \'value\' is [1, 2]; expected "@name" of an ndarray. Call take with {"value": <"@name" of an ndarray>}.',
            "wrong in code": "take: argument 'value' is [1, 2]; expected ndarray. Call take(value=<ndarray>).",
        },
        "np.int64": {
            "told": {"type": "integer", "description": "what to take"},
            "in code": "value: int64",
            "from JSON": "np.int64(3)",
            "from code": "np.int64(3)",
            "wrong JSON": "take: argument 'value' is 'x'; expected an integer. Call take with {\"value\": <integer>}.",
            "wrong in code": "take: argument 'value' is 'x'; expected int. Call take(value=<int>).",
        },
        "image": {
            "told": {"type": "string", "description": "what to take. The name of a state variable, e.g. @df"},
            "in code": "value: Image",
            "from JSON": "the very @photo (value read as @photo)",
            "from code": "the very @photo",
            "wrong JSON": 'take: argument \'value\' is @df, a DataFrame; expected "@name" of an Image. Open: photo. Write one of them as "@name".',
            "wrong in code": "take: argument 'value' is '@df'; expected Image. Call take(value=<Image>).",
        },
    }
)


@pytest.mark.parametrize("name", KINDS)
def test_kind_of_hint_is_told_read_and_refused_as_the_matrix_says(name: str) -> None:
    assert _row(KINDS[name]) == MATRIX[name]
