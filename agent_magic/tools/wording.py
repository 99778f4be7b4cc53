"""Schemas and calls in words, for error texts that a model or an author reads.

It must not decide whether a value fits.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import cast

from agent_magic.core.redact import redact
from agent_magic.core.values import Value, is_json, safe_repr
from agent_magic.tools.hints import LIVE, LiveType

_ARTICLES = {
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_FORMATS = {
    "date": "a date such as '2024-05-01'",
    "date-time": "a date and time such as '2024-05-01T10:30:00'",
    "time": "a time such as '10:30'",
    "duration": "a duration such as 'PT1H30M'",
    "uuid": "a UUID",
}
LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "items": "at most {} items",
    "uniqueItems": "each item once",
    "pattern": "text that matches {}",
}
"""What a keyword of JSON Schema asks for, with its value put in."""
MOST_CHOICES = 20
MOST_PARAMETERS = 12
_LONGEST_VALUE = 80
_LONGEST_TEXT = 200
_LONGEST_LOOK = 20_000
_MOST_PARTS = 100
"""Parts of a value that can be seen in 80 characters, and some."""
_MOST_LEVELS = 8


def to_shape(schema: Value) -> str:
    """What stands for a value in a call form, such as `integer`, `list of string`, `"teal" | "ochre"`."""
    if not isinstance(schema, dict):
        return "any"
    node = cast("dict[str, Value]", schema)
    if isinstance(live := node.get(LIVE), LiveType):
        return f'"@name" of {_article(live.name)}'
    if "const" in node or "enum" in node:
        return " | ".join(json.dumps(choice, ensure_ascii=False, default=str) for choice in _choices(node))
    if alternatives := node.get("anyOf") or node.get("oneOf"):
        return " or ".join(dict.fromkeys(to_shape(alternative) for alternative in alternatives))
    kind = node.get("type")
    if isinstance(kind, list):
        return " or ".join(cast("list[str]", kind))
    if kind == "array":
        return _to_list_shape(node)
    if kind == "object":
        return _to_object_shape(node)
    if "$ref" in node:
        return node["$ref"].rpartition("/")[2]
    return node.get("format") or kind or "any"


def name_item(item: Value) -> str:
    """`low: ` before an item of a tuple whose items have names; else nothing."""
    name = str(cast("dict[str, Value]", item).get("description", "")) if isinstance(item, dict) else ""
    return f"{name}: " if name.isidentifier() else ""


def _to_list_shape(node: dict[str, Value]) -> str:
    if isinstance(items := node.get("prefixItems"), list):
        return f"[{', '.join(name_item(item) + to_shape(item) for item in cast('list[Value]', items))}]"
    return f"list of {to_shape(node['items'])}" if node.get("items") else "list"


def _to_object_shape(node: dict[str, Value]) -> str:
    if fields := node.get("properties"):
        required = node.get("required", ())
        parts = (
            f'"{name}": <{to_shape(inner)}{"" if name in required else ", optional"}>'
            for name, inner in fields.items()
        )
        return f"{{{', '.join(parts)}}}"
    values = node.get("additionalProperties")
    return f'{{"…": <{to_shape(values)}>}}' if isinstance(values, dict) and values else "object"


def to_expected(schema: Value) -> str:
    """What a place takes, for a sentence: `an integer`, `one of 'a', 'b'`, `text or null`."""
    if not isinstance(schema, dict):
        return "any value"
    node = cast("dict[str, Value]", schema)
    if isinstance(live := node.get(LIVE), LiveType):
        return f'"@name" of {_article(live.name)}'
    if "const" in node or "enum" in node:
        choices = ", ".join(repr(choice) for choice in _choices(node))
        return choices if "const" in node else f"one of {choices}"
    if alternatives := node.get("anyOf") or node.get("oneOf"):
        return " or ".join(dict.fromkeys(to_expected(alternative) for alternative in alternatives))
    kind = node.get("type")
    if isinstance(kind, list):
        return " or ".join(_ARTICLES.get(one, one) for one in cast("list[str]", kind))
    if kind == "array":
        shape = _to_list_shape(node)
        return f"the list {shape}" if shape.startswith("[") else f"a {shape}"
    if "$ref" in node:
        return f"a {node['$ref'].rpartition('/')[2]}"
    if "format" in node:
        return _FORMATS.get(node["format"], "text")
    return _ARTICLES.get(kind or "", "any value")


def to_call_form(tool_name: str, parameters: Sequence[tuple[str, Value, bool]]) -> str:
    """The right form: `Call order with {"n": <integer>, "gift": <boolean, optional>}`, say.

    Args:
        tool_name: What the model calls it.
        parameters: Name, schema with marks, and whether it is required. Of more than 12 the
            optional ones at the end are left out.
    """
    room = MOST_PARAMETERS - sum(required for _, _, required in parameters)
    parts: list[str] = []
    for name, schema, required in parameters:
        if required or room > 0:
            parts.append(f'"{name}": <{to_shape(schema)}{"" if required else ", optional"}>')
            room -= not required
    if len(parts) < len(parameters):
        parts.append("…")
    return f"Call {tool_name} with {{{', '.join(parts)}}}."


def to_short(value: Value) -> str:
    """A value's repr in at most 80 characters, without secrets; the type alone of what JSON cannot hold."""
    if not is_json(value):
        return with_article(value)
    # Text by text and before anything is cut: half a secret, or one with escapes, is not recognised.
    text = redact(" ".join(safe_repr(_redacted(value, _MOST_LEVELS, [_MOST_PARTS])).split()))
    return _cut(text, _LONGEST_VALUE)


def to_bounded(text: str) -> str:
    """What foreign code says of a value, in at most 200 characters, without secrets."""
    return _cut(redact(text), _LONGEST_TEXT)


def with_article(value: Value) -> str:
    """The type of a value in a sentence: `a DataFrame`."""
    return _article(type(value).__name__)


def to_path(parts: Sequence[str | int]) -> str:
    """`rows[1].price` of `("rows", 1, "price")`."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:  # a key that a model wrote may be anything
            key = _cut(redact(part), _LONGEST_VALUE)
            text += f".{key}" if text else key
    return _cut(text, _LONGEST_TEXT)


def _redacted(value: Value, levels: int, left: list[int]) -> Value:
    """The beginning of a value, more than is shown of it, with no secret in it."""
    left[0] -= 1
    if left[0] < 0:
        return "…"
    if isinstance(value, str):
        return redact(value[:_LONGEST_LOOK])
    if levels == 0 or not isinstance(value, list | dict):
        return value
    if isinstance(value, list):
        items = itertools.islice(cast("list[Value]", value), _MOST_PARTS)
        return [_redacted(item, levels - 1, left) for item in items]
    pairs = itertools.islice(cast("dict[str, Value]", value).items(), _MOST_PARTS)
    return {_redacted(key, 0, left): _redacted(item, levels - 1, left) for key, item in pairs}


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' or name == 'ndarray' else 'a'} {name}"


def _choices(node: dict[str, Value]) -> list[Value]:
    if "const" in node:
        return [node["const"]]
    choices = cast("list[Value]", node["enum"])
    return choices if len(choices) <= MOST_CHOICES else [*choices[:MOST_CHOICES], "…"]
