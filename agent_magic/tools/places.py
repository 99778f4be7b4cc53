"""Places: what one spot in a tool's arguments takes, read from its JSON Schema.

It must not look anything up: values are given to it.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import numbers
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel, TypeAdapter

from agent_magic.core.values import Value, is_json
from agent_magic.tools.hints import LIVE, LiveType, without_marks
from agent_magic.tools.validators import make_validator

if TYPE_CHECKING:  # it loads slowly
    from jsonschema import Draft202012Validator

_FORMS_OF_TEXT = frozenset({"date", "date-time", "time", "duration", "uuid"})
"""Formats whose type refuses a plain string."""
_FORMED = (dt.date, dt.time, dt.timedelta, uuid.UUID)


class Place:
    """One spot in the arguments: a parameter, an item of its list, a value of its mapping."""

    def __init__(
        self, schema: Value, definitions: Mapping[str, Value], adapter: TypeAdapter[Value] | None = None
    ) -> None:
        self.schema = schema
        self._adapter = adapter
        self._definitions = definitions
        self._alternatives = list(_alternatives(schema, definitions))
        self._children: dict[str | int, Place] = {}
        self._validator: Draft202012Validator | None = None
        self.live = tuple(node[LIVE] for node in self._alternatives if isinstance(node.get(LIVE), LiveType))
        """Values that JSON cannot hold and that may stand here by reference."""
        plain = [node for node in self._alternatives if LIVE not in node]
        kinds = {kind for node in plain for kind in _kinds(node)}
        self.is_any = any(not _kinds(node) for node in plain)
        """No type is declared."""
        self.takes_text = self.is_any or any(_takes_text(node) for node in plain)
        """A plain string may stand here by the declared type."""
        self.has_choices = any("enum" in node or "const" in node for node in plain)
        self.takes_integer = "integer" in kinds
        self.takes_number = "number" in kinds
        self.takes_boolean = "boolean" in kinds
        self.takes_array = "array" in kinds
        self.takes_object = "object" in kinds
        self.is_by_reference = bool(self.live) and kinds <= {"null"} and not self.is_any
        self._plain = plain
        self._kinds = kinds
        self._takes_form = any(node.get("format") in _FORMS_OF_TEXT for node in plain)

    def accepts(self, value: Value) -> bool:
        """Whether a live value may take the place of a reference that stands here."""
        if self.is_any or any(live.accepts(value) for live in self.live):
            return True
        if isinstance(value, str):
            return self.takes_text
        if is_json(value):
            return self._get_validator().is_valid(value)
        if any(kind in self._kinds for kind in _kinds_of_live(value)):
            return True  # whether what it holds fits as well, the conversion decides
        if self._takes_form and isinstance(value, _FORMED):
            return True
        return not self.has_choices and self._is_declared_type(value)

    def may_take(self, value: Value) -> bool:
        """`accepts` for a value that is only looked for: one that its type cannot be asked about is none."""
        try:
            return self.accepts(value)
        except Exception:  # noqa: BLE001 - people's types may raise anything when asked about a value
            return False

    def _is_declared_type(self, value: Value) -> bool:
        """Whether it is, say, the path or the bytes that a text would have been turned into."""
        if self._adapter is None:
            return False
        try:
            self._adapter.validate_python(value, strict=True)
        except Exception:  # noqa: BLE001 - people's validators may raise anything
            return False
        return True

    def child(self, key: str | int) -> Place:
        """The place of an item or of a value in here."""
        # Items of a plain list are alike, whatever their number.
        known: str | int = (
            key if isinstance(key, str) or any("prefixItems" in node for node in self._alternatives) else 0
        )
        if known not in self._children:
            found = [schema for node in self._alternatives for schema in _child_schemas(node, key)]
            schema = found[0] if len(found) == 1 else {"anyOf": found or [{"type": "string"}]}
            self._children[known] = Place(schema, self._definitions)
        return self._children[known]

    def _get_validator(self) -> Draft202012Validator:
        if self._validator is None:
            schema = {"anyOf": [without_marks(node, keep_string=False) for node in self._plain] or [False]}
            self._validator = make_validator({**schema, "$defs": dict(self._definitions)})
        return self._validator


def _alternatives(
    schema: Value, definitions: Mapping[str, Value], depth: int = 0
) -> Iterator[dict[str, Value]]:
    if schema is True:
        schema = {}
    if not isinstance(schema, dict) or depth > 20:
        return
    node = cast("dict[str, Value]", schema)
    members = [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())]
    if isinstance(node.get("$ref"), str):
        members.append(definitions.get(node["$ref"].rpartition("/")[2], {}))
    if not members:
        yield node
    for member in members:
        yield from _alternatives(member, definitions, depth + 1)


def _kinds(node: Mapping[str, Value]) -> set[str]:
    kind = node.get("type")
    if isinstance(kind, list):
        return set(cast("list[str]", kind))
    if isinstance(kind, str):
        return {kind}
    choices = [node["const"]] if "const" in node else node.get("enum", ())
    found = {_kind_of(choice) for choice in choices}
    if "properties" in node:
        found.add("object")
    if "items" in node or "prefixItems" in node:
        found.add("array")
    return found


def _kind_of(choice: Value) -> str:
    match choice:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case None:
            return "null"
        case _:
            return "array" if isinstance(choice, list) else "object"


def _kinds_of_live(value: Value) -> Iterator[str]:
    """What a value that JSON cannot hold may stand for; a frame, though one can iterate it, is no list."""
    if isinstance(value, numbers.Integral):
        yield "integer"
    if isinstance(value, numbers.Real):
        yield "number"
    if isinstance(value, list | tuple | AbstractSet | deque | range):
        yield "array"
    if isinstance(value, Mapping | BaseModel) or dataclasses.is_dataclass(value):
        yield "object"


def _takes_text(node: Mapping[str, Value]) -> bool:
    return "string" in _kinds(node) and node.get("format") not in _FORMS_OF_TEXT


def _child_schemas(node: Mapping[str, Value], key: str | int) -> Iterator[Value]:
    if not _kinds(node):
        yield {}
    elif isinstance(key, int):
        if "array" in _kinds(node):
            prefix = node.get("prefixItems", ())
            yield prefix[key] if key < len(prefix) else node.get("items", {})
    elif "object" in _kinds(node):
        properties = node.get("properties", {})
        yield properties[key] if key in properties else node.get("additionalProperties", {})
