"""What a provider signs in a reply and wants to see again: taken out of it, and put into later requests.

Anthropic and Bedrock sign blocks of thinking, OpenRouter hands on details of reasoning, Gemini
signs calls. It must not import LiteLLM, nor read what is signed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, cast

from agent_magic.core.messages import ChatMessage
from agent_magic.core.values import Value

_MARK_IN_ID = "__thought__"
"""LiteLLM writes Gemini's signature behind this into the id of a call."""
_GROWING = ("thinking", "text", "summary", "signature")
"""Fields that come in pieces."""
_CLOSING = ("signature", "data")
"""Fields that end a part."""


class SignedParts:
    """Gathers what is signed, from a whole reply or from the pieces of one."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, Value]] = []
        self._details: list[dict[str, Value]] = []
        self._of_text: list[str] = []
        self._of_calls: dict[str, str] = {}

    def add(self, part: Any) -> None:
        """Take LiteLLM's message, or one delta of it."""
        fields = _mapping(getattr(part, "provider_specific_fields", None))
        _grow(self._blocks, getattr(part, "thinking_blocks", None))
        _grow(self._details, getattr(part, "reasoning_details", None) or fields.get("reasoning_details"))
        self._of_text += [one for one in fields.get("thought_signatures") or () if isinstance(one, str)]
        for call in getattr(part, "tool_calls", None) or ():
            signature = _mapping(getattr(call, "provider_specific_fields", None)).get("thought_signature")
            if isinstance(signature, str) and call.id:
                self._of_calls[plain_id(call.id)] = signature

    def sign(self, message: ChatMessage, model_id: str) -> ChatMessage:
        """The whole message with what is signed in it; the message itself if nothing is.

        Args:
            model_id: Of the model that wrote it.
        """
        signed: dict[str, Value] = {}
        # Without its signature a block would be refused, and so would the place that LiteLLM notes in it.
        blocks = [
            {name: value for name, value in block.items() if name != "index"}
            for block in self._blocks
            if _is_closed(block)
        ]
        if blocks:
            signed["thinking_blocks"] = blocks
        if self._details:
            signed["reasoning_details"] = self._details
        if self._of_calls:
            signed["calls"] = [self._of_calls.get(call.id) for call in message.tool_calls]
        of_text = [one for one in self._of_text if one not in self._of_calls.values()]
        if of_text:
            signed["thought_signatures"] = of_text
        return dataclasses.replace(message, signed={"by": model_id, **signed}) if signed else message


def plain_id(call_id: str) -> str:
    """The id of a call without the signature that LiteLLM hides in it."""
    return call_id.partition(_MARK_IN_ID)[0]


def put_back(signed: Mapping[str, Value], wire: dict[str, Any]) -> None:
    """Write what is signed into a message in the provider's form, which is the caller's."""
    for name in ("thinking_blocks", "reasoning_details"):
        if signed.get(name):
            wire[name] = [dict(part) for part in signed[name]]
    if signed.get("thought_signatures"):
        wire["provider_specific_fields"] = {"thought_signatures": list(signed["thought_signatures"])}
    # Of calls that a person has edited, those that are left may not be the signed ones.
    calls, signatures = wire.get("tool_calls", ()), signed.get("calls") or ()
    if len(calls) == len(signatures):
        for call, signature in zip(calls, signatures, strict=True):
            if signature:
                call["provider_specific_fields"] = {"thought_signature": signature}


def _grow(parts: list[dict[str, Value]], pieces: Iterable[Any] | None) -> None:
    """Add pieces; one goes on with the last part if it is of its kind and place, and that is not signed yet."""
    for piece in pieces or ():
        fields = _mapping(piece)
        if not fields:
            continue
        last = parts[-1] if parts else None
        if (
            last is None
            or _is_closed(last)
            or any(last.get(name) != fields.get(name) for name in ("type", "index"))
        ):
            parts.append({name: value for name, value in fields.items() if value is not None})
            continue
        for name, value in fields.items():
            if name in _GROWING and isinstance(value, str):
                last[name] = f"{last.get(name) or ''}{value}"
            elif value is not None:
                last[name] = value


def _is_closed(part: Mapping[str, Value]) -> bool:
    return any(part.get(name) for name in _CLOSING)


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
