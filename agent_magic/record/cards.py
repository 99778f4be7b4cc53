"""The small records of an agent and of a tool, for their cards.

It must not know the classes of agents and tools: it is given their parts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from agent_magic.core.messages import ToolSchema
from agent_magic.core.text import first_line
from agent_magic.core.values import Value
from agent_magic.record.clean import (
    clean_text,
    cut_arguments,
    cut_text,
    redact_plain,
    to_json,
    to_plain,
)
from agent_magic.record.schema import AgentRecord, Json, ParameterRecord, Status, ToolRecord

_MAX_ITEMS = 50
_TEXT_CHARS = 2_000
_LINE_CHARS = 200
_PROJECTION_CHARS = 20_000


class ToolCard(TypedDict):
    """A tool with both forms in which models are told of it."""

    tool: ToolRecord
    sent: str
    """What goes to a model that calls tools, as JSON."""
    code: str
    """What a model reads that writes code: a Python signature with its docstring."""


def to_agent_record(
    *,
    name: str,
    model_id: str,
    reason: str | None = None,
    tools: Sequence[ToolSchema] = (),
    settings: Mapping[str, Value] | None = None,
    n_runs: int = 0,
    n_steps: int = 0,
    last_status: Status | None = None,
) -> AgentRecord:
    """An agent as plain JSON.

    `reason` says why this model was chosen; `settings` are shown by name, such as
    `{"max_steps": 20}`, without those that are None, since they are not set; `n_runs` and `n_steps` (action steps) count what is in memory;
    `last_status` is how the newest run ended.
    """
    record: Json = {
        "name": name,
        "model": model_id,
        "why": reason,
        "tools": [
            {"name": tool.name, "description": first_line(tool.description, _TEXT_CHARS)}
            for tool in tools[:_MAX_ITEMS]
        ],
        "n_runs": n_runs,
        "n_steps": n_steps,
        "last_status": last_status,
    }
    record = _cut(redact_plain(record), _LINE_CHARS)
    given = {key: value for key, value in (settings or {}).items() if value is not None}
    plain_settings = redact_plain(to_plain(given), with_keys=True)
    record["settings"] = cut_arguments(plain_settings, _TEXT_CHARS)
    return cast("AgentRecord", record)


def to_tool_record(schema: ToolSchema, weaknesses: Sequence[str] = ()) -> ToolRecord:
    """A tool as plain JSON; `weaknesses` say, a sentence each, what makes it hard for a model."""
    parameters: Mapping[str, Value] = schema.parameters.get("properties", {})
    required: Sequence[str] = schema.parameters.get("required", ())
    record: Json = {
        "name": schema.name,
        "description": schema.description,
        "parameters": [
            _to_parameter(name, spec, is_required=name in required)
            for name, spec in list(parameters.items())[:_MAX_ITEMS]
        ],
        "examples": [
            {"task": example.task, "arguments": to_plain(dict(example.arguments))}
            for example in schema.examples[:10]
        ],
        "weaknesses": list(weaknesses[:_MAX_ITEMS]),
    }
    return cast("ToolRecord", _cut(redact_plain(record), _TEXT_CHARS))


def to_tool_card(schema: ToolSchema, *, sent: Value, code: str, weaknesses: Sequence[str] = ()) -> ToolCard:
    """A tool's card; `sent` is the schema in the provider's form."""
    shown = json.dumps(redact_plain(to_plain(sent), with_keys=True), ensure_ascii=False, indent=2)
    return ToolCard(
        tool=to_tool_record(schema, weaknesses),
        sent=cut_text(shown, _PROJECTION_CHARS),
        code=clean_text(code, _PROJECTION_CHARS),
    )


def _to_parameter(name: str, spec: Value, *, is_required: bool) -> ParameterRecord:
    spec = spec if isinstance(spec, Mapping) else {}
    record = ParameterRecord(
        name=name,
        type=_to_type(spec),
        description=str(spec.get("description", "")),
        is_required=is_required,
    )
    if "default" in spec:
        record["default"] = to_json(to_plain(spec["default"]))
    return record


def _to_type(spec: Mapping[str, Value]) -> str:
    """A JSON Schema's type in a few words: `integer`, `array of string`, `"a" | "b"`."""
    if "enum" in spec:
        return " | ".join(to_json(to_plain(choice)) for choice in list(spec["enum"])[:20])
    if choices := spec.get("anyOf") or spec.get("oneOf"):
        return " | ".join(dict.fromkeys(_to_type(choice) for choice in choices))
    kind = spec.get("type")
    if kind == "array" and isinstance(spec.get("items"), Mapping):
        return f"array of {_to_type(spec['items'])}"
    return " | ".join(map(str, kind)) if isinstance(kind, list | tuple) else str(kind or "any")


def _cut(value: Json, max_chars: int) -> Json:
    if isinstance(value, str):
        return cut_text(value, max_chars)
    if isinstance(value, list):
        return [_cut(item, max_chars) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {
            cut_text(key, max_chars): _cut(item, max_chars)
            for key, item in cast("dict[str, Json]", value).items()
        }
    return value
