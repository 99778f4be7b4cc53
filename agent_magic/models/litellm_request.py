"""What LiteLLM is asked: a model's id, options and messages as the arguments of its `completion`.

It must not import LiteLLM, nor ask anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from agent_magic.core.values import Value
from agent_magic.models.model import WireRequest
from agent_magic.models.provider_form import ProviderMessage

_COMPATIBLE = frozenset({"openai", "azure", "hosted_vllm", "lm_studio", "huggingface", "groq", "openrouter"})
"""Providers whose requests are OpenAI's own form, whatever server stands behind them."""
_BRIDGED = frozenset({"openai", "azure"})
"""Those of them whose models LiteLLM may ask by OpenAI's newer form in place of chat, if they are to reason."""
_TYPES_NEEDED = frozenset({"gemini", "vertex_ai", "vertex_ai_beta"})
"""Providers for which LiteLLM makes an object of whatever may be anything."""
_KINDS_OF_SCHEMA = frozenset({"type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "not"})
_SIMPLE: tuple[Value, ...] = tuple({"type": name} for name in ("number", "boolean", "object"))


def asked_id(model_id: str) -> str:
    """The id that LiteLLM is asked for.

    By `ollama/…` it would make a prompt of its own in place of the model's chat template, and know
    of no native calls.
    """
    provider, _, name = model_id.partition("/")
    return f"ollama_chat/{name}" if provider == "ollama" else model_id


def build_request(
    model_id: str,
    wire: WireRequest,
    stop: Sequence[str],
    *,
    is_stream: bool,
    refused: Collection[str],
    own: Mapping[str, Value],
    options: Mapping[str, Value],
) -> dict[str, Value]:
    """The request.

    Args:
        refused: Parameters that the provider does not take; those of `own` go all the same, for the
            person is to be told.
        own: The person's options; those of the call, `options`, go over them.
    """
    request: dict[str, Value] = {
        "model": asked_id(model_id),
        "messages": wire.messages,
        "num_retries": 0,
        "max_retries": 0,
    }
    if is_stream and "stream_options" not in refused:
        request["stream_options"] = {"include_usage": True}
    if wire.tools:
        is_typed = model_id.partition("/")[0] in _TYPES_NEEDED
        request.update(tools=_with_types(wire.tools) if is_typed else wire.tools, tool_choice="auto")
    if stop and "stop" not in refused:
        request["stop"] = list(stop)
    request.update(own)
    is_format_refused = "response_format" in refused
    request.update(
        (name, value)
        for name, value in options.items()
        if not (name == "response_format" and is_format_refused)
    )
    request["stream"] = is_stream
    return request


def _with_types(tools: Sequence[ProviderMessage]) -> list[ProviderMessage]:
    """The tools with all that JSON can hold for each parameter that may be anything."""
    typed: list[ProviderMessage] = []
    for tool in tools:
        function = tool["function"]
        properties: Mapping[str, Any] = function["parameters"].get("properties", {})
        written = {
            name: schema if _KINDS_OF_SCHEMA & schema.keys() else _any_of_all(schema)
            for name, schema in properties.items()
            if isinstance(schema, dict)
        }
        parameters = {**function["parameters"], "properties": {**properties, **written}}
        typed.append({**tool, "function": {**function, "parameters": parameters}})
    return typed


def _any_of_all(schema: Mapping[str, Value]) -> dict[str, Value]:
    """A schema for all that JSON can hold; LiteLLM would copy a description beside `anyOf` into each part."""
    text = {"type": "string", **schema}
    return {"anyOf": [text, *_SIMPLE, {"type": "array", "items": {"anyOf": [{"type": "string"}, *_SIMPLE]}}]}


def with_messages_as_they_are(request: dict[str, Value], *, mode: Value) -> dict[str, Value]:
    """The request with its messages also where LiteLLM leaves them alone.

    LiteLLM takes out the null content of a message that has tool calls only, and some
    OpenAI-compatible servers refuse a message without the key.

    Args:
        mode: Of the model, as LiteLLM knows it.
    """
    provider = request["model"].partition("/")[0]
    is_bridged = provider in _BRIDGED and "reasoning_effort" in request
    if mode not in (None, "chat") or is_bridged or provider not in _COMPATIBLE:
        return request
    messages = request["messages"]
    if not any(message["content"] is None or "reasoning_content" in message for message in messages):
        return request
    if "cache_control_injection_points" in request:  # LiteLLM writes the person's marks into them
        return request
    sent = [_with_mark_in_content(message) for message in messages]
    return {**request, "extra_body": {"messages": sent, **request.get("extra_body", {})}}


def _with_mark_in_content(message: ProviderMessage) -> ProviderMessage:
    """The message with a cache mark of its own at its last part, where servers of OpenAI's form look for it."""
    if "cache_control" not in message:
        return message
    content, mark = message["content"], message["cache_control"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    *others, last = cast("Sequence[ProviderMessage]", parts)
    bare = {name: value for name, value in message.items() if name != "cache_control"}
    return {**bare, "content": [*others, {**last, "cache_control": mark}]}
