"""What LiteLLM hands back, as messages and deltas of our own.

It must not import LiteLLM: its objects are read by their attributes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, cast

from agent_magic.core.messages import ChatMessage, MessageDelta, ToolCall, ToolCallDelta
from agent_magic.core.values import Value
from agent_magic.models.provider_form import to_arguments_json


def to_delta(chunk: Any) -> MessageDelta | None:
    """The piece that a chunk of a stream holds; None if it holds no choice."""
    if not chunk.choices:
        return None
    choice = chunk.choices[0]
    text, thinking = split_content(choice.delta.content)
    return MessageDelta(
        text=text or "",
        reasoning=getattr(choice.delta, "reasoning_content", None) or thinking,
        tool_calls=tuple(_to_call_delta(call) for call in choice.delta.tool_calls or ()),
        finish_reason=choice.finish_reason,
    )


def _to_call_delta(call: Any) -> ToolCallDelta:
    arguments = call.function.arguments
    if isinstance(arguments, Mapping):
        arguments = to_arguments_json(cast("Mapping[str, Value]", arguments))
    return ToolCallDelta(index=call.index, id=call.id, name=call.function.name, arguments=arguments or "")


def to_call(call: Any) -> ToolCall:
    """A call of a whole reply, its arguments as the provider wrote them."""
    return ToolCall(id=call.id or "", name=call.function.name or "", arguments=call.function.arguments)


def split_content(content: Any) -> tuple[str | None, str]:
    """Text and thinking of a content, which may be a list of parts."""
    if not isinstance(content, list):
        return content, ""
    texts: list[str] = []
    thinking: list[str] = []
    for part in cast("list[Any]", content):
        fields = cast("Mapping[str, Any]", part if isinstance(part, Mapping) else {"text": str(part)})
        if "thinking" in fields:
            inner = fields["thinking"]
            thinking.append(inner if isinstance(inner, str) else split_content(inner)[0] or "")
        else:
            texts.append(fields.get("text") or "")
    return "".join(texts), "".join(thinking)


def find_stop(text: str, stop: Sequence[str]) -> int | None:
    """Where the first stop text begins; None if there is none."""
    return min((place for mark in stop if (place := text.find(mark)) >= 0), default=None)


def cut_at(message: ChatMessage, stop: Sequence[str]) -> ChatMessage:
    """The message up to the first stop text, for providers that do not stop there themselves."""
    place = find_stop(message.content or "", stop)
    return (
        message
        if place is None
        else dataclasses.replace(message, content=(message.content or "")[:place] or None)
    )
