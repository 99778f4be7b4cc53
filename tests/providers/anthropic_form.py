"""Anthropic's Messages form: blocks of content, signed thinking, named events.

By Anthropic's API reference: messages, streaming, extended thinking, errors.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from tests.providers.dialect import Dialect, Trouble
from tests.providers.said import Call, Counted, Said

_MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929"}


class Anthropic(Dialect):
    """`content` is a list of blocks."""

    name = "Anthropic"
    model_id = "anthropic/claude-sonnet-4-5"
    statuses: ClassVar[dict[Trouble, int]] = {
        "key": 401,
        "model": 404,
        "timeout": 408,
        "rate": 429,
        "crash": 500,
        "overload": 529,
    }
    words: ClassVar[dict[Trouble, str]] = Dialect.words | {
        "key": "invalid x-api-key",
        "model": "model: tiny",
        "overload": "Overloaded",
    }
    says_nothing = "told"
    reports = frozenset({"cached"})

    def body(self, said: Said) -> Any:
        body: dict[str, Any] = {
            **_MESSAGE,
            "content": _blocks(said),
            "stop_reason": "tool_use" if said.calls else "end_turn",
            "stop_sequence": None,
        }
        if said.counted:
            body["usage"] = _usage(said.counted)
        return body

    def events(self, said: Said) -> list[bytes]:
        begin: dict[str, Any] = {**_MESSAGE, "content": [], "stop_reason": None, "stop_sequence": None}
        end: dict[str, Any] = {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use" if said.calls else "end_turn", "stop_sequence": None},
        }
        if said.counted:
            usage = _usage(said.counted)
            begin["usage"] = {**usage, "output_tokens": 1}
            end["usage"] = {"output_tokens": usage["output_tokens"]}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": begin}, {"type": "ping"}]
        for index, block in enumerate(_blocks(said)):
            first, deltas = _in_pieces(block)
            events.append({"type": "content_block_start", "index": index, "content_block": first})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        events += [end, {"type": "message_stop"}]
        return [_event(event) for event in events]

    def refusal(self, trouble: Trouble, words: str) -> Any:
        return {"type": "error", "error": {"type": _KINDS[trouble], "message": words}, "request_id": "req_1"}

    def error_event(self, trouble: Trouble) -> bytes:
        return _event(self.refusal(trouble, self.words[trouble]))

    def broken_event(self) -> bytes:
        return b'event: content_block_delta\ndata: {"type": "content_block_del\n\n'


def _blocks(said: Said) -> list[dict[str, Any]]:
    if said.shape == "no choice":
        return []
    blocks: list[dict[str, Any]] = []
    if said.thinking:
        blocks.append({"type": "thinking", "thinking": said.thinking, "signature": said.signature or ""})
    if said.text and said.shape == "list":
        blocks += [{"type": "text", "text": text} for text in said.texts]
    elif said.text:
        blocks.append({"type": "text", "text": said.text})
    return blocks + [_call(call) for call in said.calls]


def _call(call: Call) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}


def _in_pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match block["type"]:
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "tool_use":
            text = json.dumps(block["input"])
            pieces = ["", text[: len(text) // 2], text[len(text) // 2 :]]
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": one} for one in pieces
            ]
        case _:
            half = len(block["text"]) // 2
            texts = (block["text"][:half], block["text"][half:])
            return {**block, "text": ""}, [{"type": "text_delta", "text": text} for text in texts]


def _usage(counted: Counted) -> dict[str, Any]:
    cached = counted.cached or 0
    return {
        "input_tokens": counted.input - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": counted.output,
    }


def _event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


_KINDS: dict[Trouble, str] = {
    "key": "authentication_error",
    "model": "not_found_error",
    "timeout": "timeout_error",
    "rate": "rate_limit_error",
    "crash": "api_error",
    "overload": "overloaded_error",
}
