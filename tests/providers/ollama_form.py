"""Ollama's own chat form: a line of JSON for each piece, arguments as objects, calls without ids.

By Ollama's API page: /api/chat, thinking, tool calls, errors.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from tests.providers.dialect import Dialect, Trouble
from tests.providers.said import Call, Counted, Said

_HEAD = {"model": "tiny", "created_at": "2026-11-29T10:00:00.000000Z"}


class Ollama(Dialect):
    """`message`, and `done` in the last line."""

    name = "Ollama"
    model_id = "ollama/tiny"
    sse_type = "application/x-ndjson"
    words: ClassVar[dict[Trouble, str]] = Dialect.words | {
        "key": "unauthorized",
        "model": "model 'tiny' not found",
        "overload": "server busy, please try again.  maximum pending requests exceeded",
    }
    skips = frozenset({"list"})
    says_nothing = "told"
    reports = frozenset()

    def body(self, said: Said) -> Any:
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        if said.thinking:
            message["thinking"] = said.thinking
        if said.calls:
            message["tool_calls"] = [_call(call) for call in said.calls]
        return {**_HEAD, "message": message, **_end(said)}

    def events(self, said: Said) -> list[bytes]:
        messages: list[dict[str, Any]] = [{"content": "", "thinking": said.thinking}] if said.thinking else []
        messages += [{"content": text} for text in said.texts]
        messages += [{"content": "", "tool_calls": [_call(call)]} for call in said.calls]
        lines: list[dict[str, Any]] = [
            {**_HEAD, "message": {"role": "assistant", **message}, "done": False} for message in messages
        ]
        lines.append({**_HEAD, "message": {"role": "assistant", "content": ""}, **_end(said)})
        return [json.dumps(line).encode() + b"\n" for line in lines]

    def refusal(self, trouble: Trouble, words: str) -> Any:
        return {"error": words}

    def error_event(self, trouble: Trouble) -> bytes:
        return json.dumps(self.refusal(trouble, self.words[trouble])).encode() + b"\n"

    def broken_event(self) -> bytes:
        return b'{"model": "tiny", "mess\n'


def _call(call: Call) -> dict[str, Any]:
    return {"function": {"name": call.name, "arguments": call.arguments}}


def _end(said: Said) -> dict[str, Any]:
    # Without a word of its own it says that it has only loaded the model.
    reason = "load" if said.shape == "no choice" else "stop"
    end: dict[str, Any] = {"done": True, "done_reason": reason, "total_duration": 9_000_000}
    counted: Counted | None = said.counted
    return {**end, "prompt_eval_count": counted.input, "eval_count": counted.output} if counted else end
