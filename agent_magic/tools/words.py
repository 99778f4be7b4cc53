"""Words: what a value has to be, and the right form of a call, as JSON or as Python writes it.

It must not decide whether a value fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from agent_magic.core.values import Value
from agent_magic.tools.hints import LIVE, LiveType
from agent_magic.tools.parameter import Parameter, Star
from agent_magic.tools.wording import MOST_CHOICES, MOST_PARAMETERS, name_item, to_call_form, to_expected

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "None",
}
_FORMATS = {
    "date": "date",
    "date-time": "datetime",
    "time": "time",
    "duration": "timedelta",
    "uuid": "UUID",
    "binary": "bytes",
    "path": "Path",
    "file-path": "Path",
    "directory-path": "Path",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How the reader of an error text writes values and calls."""

    to_expected: Callable[[Value], str]
    """What a place takes by its schema, after the word "expected"."""
    to_call_form: Callable[[str, Sequence[Parameter], Mapping[Star, Parameter]], str]
    """The right form of a call, by the tool's name, its parameters, and those with stars."""


def to_python_shape(schema: Value) -> str:
    """What stands for a value in Python: `int`, `list[str]`, `date | None`, `'teal' | 'ochre'`."""
    if not isinstance(schema, dict):
        return "Any"
    node = cast("dict[str, Value]", schema)
    if isinstance(live := node.get(LIVE), LiveType):
        return live.name
    if "const" in node or "enum" in node:
        return " | ".join(_to_choices(node))
    if alternatives := node.get("anyOf") or node.get("oneOf"):
        return " | ".join(dict.fromkeys(to_python_shape(alternative) for alternative in alternatives))
    kind = node.get("type")
    if isinstance(kind, list):
        return " | ".join(_TYPES.get(one, one) for one in cast("list[str]", kind))
    if kind == "array":
        return _to_python_list(node)
    if kind == "object":
        return _to_python_dict(node)
    if "$ref" in node:
        return node["$ref"].rpartition("/")[2]
    return _FORMATS.get(node.get("format", "")) or _TYPES.get(kind or "", "Any")


def _to_python_list(node: dict[str, Value]) -> str:
    if isinstance(items := node.get("prefixItems"), list):
        shapes = [name_item(item) + to_python_shape(item) for item in cast("list[Value]", items)]
        return (
            f"({', '.join(shapes)})"
            if any(": " in shape for shape in shapes)
            else f"tuple[{', '.join(shapes)}]"
        )
    name = "set" if node.get("uniqueItems") else "list"
    return f"{name}[{to_python_shape(node['items'])}]" if node.get("items") else name


def _to_python_dict(node: dict[str, Value]) -> str:
    if fields := node.get("properties"):
        required = node.get("required", ())
        parts = (
            f"{name!r}: <{to_python_shape(inner)}{'' if name in required else ', optional'}>"
            for name, inner in fields.items()
        )
        return f"{{{', '.join(parts)}}}"
    values = node.get("additionalProperties")
    return f"{{…: <{to_python_shape(values)}>}}" if isinstance(values, dict) and values else "dict"


def _to_python_expected(schema: Value) -> str:
    if isinstance(schema, dict) and "enum" in (node := cast("dict[str, Value]", schema)):
        return f"one of {', '.join(_to_choices(node))}"
    return to_python_shape(schema)


def _to_choices(node: dict[str, Value]) -> list[str]:
    choices = cast("list[Value]", [node["const"]] if "const" in node else node["enum"])
    shown = [repr(choice) for choice in choices[:MOST_CHOICES]]
    return shown if len(choices) <= MOST_CHOICES else [*shown, "…"]


def _to_json_call_form(
    tool_name: str, parameters: Sequence[Parameter], stars: Mapping[Star, Parameter]
) -> str:
    del stars  # JSON has no way to give these
    return to_call_form(tool_name, [(p.name, p.hint_schema.schema, p.is_required) for p in parameters])


def _to_python_call_form(
    tool_name: str, parameters: Sequence[Parameter], stars: Mapping[Star, Parameter]
) -> str:
    """`Call order(n=<int>, gift=<bool, optional>)`; what goes by position only has no name before it."""
    room = MOST_PARAMETERS - sum(parameter.is_required for parameter in parameters)
    parts: list[str] = []
    n_by_position = 0
    for parameter in parameters:
        if parameter.is_required or room > 0:
            shape = to_python_shape(parameter.hint_schema.schema)
            optional = "" if parameter.is_required else ", optional"
            # All that stands before more values goes by position.
            by_position = parameter.is_positional_only or ("*" in stars and not parameter.is_keyword_only)
            shown = f"{parameter.name}: " if by_position else ""
            parts.append(f"{'' if by_position else parameter.name + '='}<{shown}{shape}{optional}>")
            n_by_position += by_position
            room -= not parameter.is_required
    if len(parts) < len(parameters):
        parts.append("…")
    if "*" in stars:
        parts.insert(n_by_position, f"*{stars['*'].name}")
    if "**" in stars:
        parts.append(f"**{stars['**'].name}")
    return f"Call {tool_name}({', '.join(parts)})."


JSON = Words(to_expected=to_expected, to_call_form=_to_json_call_form)
PYTHON = Words(to_expected=_to_python_expected, to_call_form=_to_python_call_form)
