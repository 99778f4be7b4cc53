"""ResultSchema: the structure that a tool's author promises of its result, told to the model and checked.

It must not change a result.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import numbers
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import cast

from pydantic import BaseModel
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from agent_magic.core.errors import ToolExecutionError
from agent_magic.core.values import MAX_DEPTH, Value, is_json, is_text_like
from agent_magic.tools.misfits import tell_misfit
from agent_magic.tools.validators import fault_in_schema, make_validator
from agent_magic.tools.words import JSON

_MOST_FLAWS = 3
_LONGEST = 4_000
_PATH = ("result",)


class ResultSchema:
    """The `output_schema` of one tool."""

    def __init__(self, schema: Mapping[str, Value], tool_name: str) -> None:
        self._tool_name = tool_name
        self._validator = make_validator(schema)
        self.text = json.dumps(schema, ensure_ascii=False)
        """The schema on one line."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is weak about it, for the tool's author."""
        if len(self.text) <= _LONGEST:
            return ()
        weak = f"its output_schema has {len(self.text):,} characters, which every request carries"
        return (f"Tool {self._tool_name!r}: {weak}. Describe fewer levels of it",)

    def check(self, result: Value) -> None:
        """Check a result; a dataclass, a model, a tuple, a set, a date or an array counts as what JSON holds of it.

        Raises:
            ToolExecutionError: It does not fit.
        """
        plain = result if is_json(result) else _to_plain(result, MAX_DEPTH)
        errors = list(self._validator.iter_errors(plain))
        if not errors:
            return
        texts = list(dict.fromkeys(tell_misfit(error, _PATH, JSON) for error in errors))
        more = len(texts) - _MOST_FLAWS
        shown = "; ".join([*texts[:_MOST_FLAWS], *([f"and {more} more"] if more > 0 else [])])
        raise ToolExecutionError(
            f"{self._tool_name} returned what does not fit its output_schema: {shown}.\n"
            "Its author has to mend the tool or the schema. Use another tool, or go on without this result."
        )


def fault_of_schema(schema: Value) -> str:
    """Why it is no JSON Schema, after the words `output_schema is`; empty if it is one."""
    if not isinstance(schema, Mapping):
        return f"{schema!r}, expected a JSON Schema as a dict"
    plain = dict(cast("Mapping[str, Value]", schema))
    try:
        json.dumps(plain)
        fault = fault_in_schema(plain)
    except (TypeError, ValueError) as error:
        return f"no JSON Schema: {error}"
    if fault is not None:
        where = ".".join(map(str, fault.absolute_path))
        return f"no JSON Schema: {f'{where!r} is {fault.instance!r}' if where else fault.message}"
    resolver = Registry().with_resource("", DRAFT202012.create_resource(plain)).resolver()
    for reference in _references(plain):
        try:
            resolver.lookup(reference)
        except Unresolvable:
            return f"no JSON Schema: it refers to {reference!r}, which is not in it"
    return ""


def _references(schema: Value) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for key, value in cast("Mapping[str, Value]", schema).items():
            if key == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from _references(value)
    elif isinstance(schema, list):
        for item in cast("list[Value]", schema):
            yield from _references(item)


def _to_plain(value: Value, depth: int) -> Value:
    """What JSON holds of a value; itself where that is nothing."""
    if depth == 0 or value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Value, Value]", value).items()
        return {key if isinstance(key, str) else str(key): _to_plain(item, depth - 1) for key, item in pairs}
    if isinstance(value, list | tuple | AbstractSet):
        return [_to_plain(item, depth - 1) for item in cast("list[Value]", value)]
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: _to_plain(getattr(value, field.name), depth - 1) for field in fields}
    return _to_scalar(value)


def _to_scalar(value: Value) -> Value:
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    kind = cast("type[Value]", type(value))
    if kind.__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    return str(value) if is_text_like(value) else value
