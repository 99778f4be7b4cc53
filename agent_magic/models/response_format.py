"""The option `response_format`: who can hold a reply to a JSON Schema, and the schema in it.

It must not check a reply: whoever asked for the form reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agent_magic.core.errors import OptionError
from agent_magic.core.values import Value

_ENGINES = frozenset({"hosted_vllm", "lm_studio", "llamafile", "ollama", "ollama_chat", "xinference"})
"""Servers that constrain any model they serve, so that what is known of the model says nothing of it."""


def knows_schemas(model_id: str) -> bool:
    """Whether the server that an id names holds each of its models to a schema."""
    return model_id.partition("/")[0] in _ENGINES


def read_schema(response_format: Value) -> dict[str, Value] | None:
    """The schema of a `response_format` as OpenAI writes it; None if there is none to hold a reply to.

    Raises:
        OptionError: It is no such mapping.
    """
    if response_format is None:
        return None
    if isinstance(response_format, Mapping):
        form = cast("Mapping[str, Value]", response_format)
        match form.get("type"):
            case "text":
                return None
            case "json_object":
                return {"type": "object"}
            case "json_schema":
                schema: Value = (form.get("json_schema") or {}).get("schema")
                if isinstance(schema, Mapping):
                    return dict(cast("Mapping[str, Value]", schema))
            case _:
                pass
    raise OptionError(
        f"response_format={response_format!r:.200} holds no JSON Schema.\n"
        'Write {"type": "json_schema", "json_schema": {"name": "reply", "schema": {…}}}.'
    )
