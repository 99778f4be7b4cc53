"""Bedrock's Converse form, and the binary event stream of AWS.

By the API reference of the Bedrock runtime (Converse, ConverseStream, common errors) and the
encoding `application/vnd.amazon.eventstream`.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any, ClassVar

from tests.providers.dialect import Dialect, Trouble
from tests.providers.said import Call, Counted, Said


class Bedrock(Dialect):
    """`output.message.content` is a list of blocks; errors are named in a header."""

    name = "Bedrock (Converse)"
    model_id = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    key_variable = "AWS_BEARER_TOKEN_BEDROCK"
    sse_type = "application/vnd.amazon.eventstream"
    statuses: ClassVar[dict[Trouble, int]] = {
        "key": 403,
        "model": 404,
        "timeout": 408,
        "rate": 429,
        "crash": 500,
        "overload": 503,
    }

    words: ClassVar[dict[Trouble, str]] = Dialect.words | {
        "key": "Authentication failed: Please make sure your API Key is valid.",
        "model": "This model version has reached the end of its life.",
        "rate": "Too many requests, please wait before trying again.",
        "overload": "Bedrock is unable to process your request.",
    }
    crash_told_as = 503
    says_nothing = "told"
    reports = frozenset({"cached"})

    def options(self, address: str) -> dict[str, Any]:
        return {"api_base": address, "api_key": self.key, "aws_region_name": "us-east-1"}

    def streams(self, path: str, body: Any) -> bool:
        del body
        return path.endswith("/converse-stream")

    def body(self, said: Said) -> Any:
        body: dict[str, Any] = {
            "output": {"message": {"role": "assistant", "content": _blocks(said)}},
            "stopReason": "tool_use" if said.calls else "end_turn",
            "metrics": {"latencyMs": 12},
        }
        if said.counted:
            body["usage"] = _usage(said.counted)
        return body

    def events(self, said: Said) -> list[bytes]:
        events: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
        for index, block in enumerate(_blocks(said)):
            if "toolUse" in block:
                start = {key: block["toolUse"][key] for key in ("toolUseId", "name")}
                events.append(
                    ("contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": start}})
                )
            events += [
                ("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})
                for delta in _in_pieces(block)
            ]
            events.append(("contentBlockStop", {"contentBlockIndex": index}))
        events.append(("messageStop", {"stopReason": "tool_use" if said.calls else "end_turn"}))
        metadata: dict[str, Any] = {"metrics": {"latencyMs": 12}}
        if said.counted:
            metadata["usage"] = _usage(said.counted)
        events.append(("metadata", metadata))
        return [encode_event({":event-type": kind}, json.dumps(event).encode()) for kind, event in events]

    def refusal(self, trouble: Trouble, words: str) -> Any:
        return {"message": words}

    def refusal_headers(self, trouble: Trouble) -> dict[str, str]:
        return {"x-amzn-ErrorType": _KINDS[trouble]}

    def error_event(self, trouble: Trouble) -> bytes:
        kind = _KINDS[trouble]
        headers = {":message-type": "exception", ":exception-type": kind[0].lower() + kind[1:]}
        return encode_event(headers, json.dumps(self.refusal(trouble, self.words[trouble])).encode())

    def broken_event(self) -> bytes:
        return encode_event({":event-type": "contentBlockDelta"}, b'{"contentBlockIndex": 0, "del')


def encode_event(headers: dict[str, str], payload: bytes) -> bytes:
    """One message of the event stream: lengths, headers, payload, each part with its checksum."""
    named = {":message-type": "event", ":content-type": "application/json", **headers}
    head = b"".join(
        struct.pack("!B", len(name))
        + name.encode()
        + b"\x07"
        + struct.pack("!H", len(value))
        + value.encode()
        for name, value in named.items()
    )
    prelude = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + head + payload
    return message + struct.pack("!I", zlib.crc32(message))


def _blocks(said: Said) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if said.thinking:
        text: dict[str, Any] = {"text": said.thinking}
        if said.signature:
            text["signature"] = said.signature
        blocks.append({"reasoningContent": {"reasoningText": text}})
    texts = said.texts if said.shape == "list" else (said.text,)
    return blocks + [{"text": text} for text in texts if text] + [_call(call) for call in said.calls]


def _call(call: Call) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}}


def _in_pieces(block: dict[str, Any]) -> list[dict[str, Any]]:
    if "reasoningContent" in block:
        text = block["reasoningContent"]["reasoningText"]
        pieces = [{"reasoningContent": {"text": text["text"]}}]
        return [
            *pieces,
            *([{"reasoningContent": {"signature": text["signature"]}}] if "signature" in text else []),
        ]
    if "toolUse" in block:
        text = json.dumps(block["toolUse"]["input"])
        half = len(text) // 2
        return [{"toolUse": {"input": piece}} for piece in (text[:half], text[half:])]
    half = len(block["text"]) // 2
    return [{"text": piece} for piece in (block["text"][:half], block["text"][half:])]


def _usage(counted: Counted) -> dict[str, Any]:
    cached = counted.cached or 0
    return {
        "inputTokens": counted.input - cached,
        "outputTokens": counted.output,
        "totalTokens": counted.input + counted.output,
        "cacheReadInputTokens": cached,
        "cacheWriteInputTokens": 0,
    }


_KINDS: dict[Trouble, str] = {
    "key": "AccessDeniedException",
    "model": "ResourceNotFoundException",
    "timeout": "ModelTimeoutException",
    "rate": "ThrottlingException",
    "crash": "InternalServerException",
    "overload": "ServiceUnavailableException",
}
