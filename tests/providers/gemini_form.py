"""Gemini's generateContent form: parts, signed function calls, the wait of a rate limit in the body.

By Google's API reference: generateContent, function calling, thought signatures, google.rpc.Status.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tests.providers.dialect import Dialect, Trouble, to_events
from tests.providers.said import Call, Counted, Said


class Gemini(Dialect):
    """`candidates[0].content.parts`."""

    name = "Gemini"
    model_id = "gemini/gemini-3-pro-preview"
    statuses: ClassVar[dict[Trouble, int]] = {
        "key": 400,
        "model": 404,
        "timeout": 504,
        "rate": 429,
        "crash": 500,
        "overload": 503,
    }

    words: ClassVar[dict[Trouble, str]] = Dialect.words | {
        "key": "API key not valid. Please pass a valid API key.",
        "model": "models/tiny is not found for API version v1beta, or is not supported for generateContent.",
        "timeout": "Deadline expired before operation could complete.",
        "rate": "You exceeded your current quota, please check your plan and billing details.",
        "overload": "The model is overloaded. Please try again later.",
    }

    def options(self, address: str) -> dict[str, Any]:
        return {"api_base": f"{address}/v1beta", "api_key": self.key}

    def streams(self, path: str, body: Any) -> bool:
        del body
        return ":streamGenerateContent" in path

    def body(self, said: Said) -> Any:
        return self._response(said, _parts(said), finish="STOP", is_last=True)

    def events(self, said: Said) -> list[bytes]:
        parts = _parts(said)
        if said.shape == "no choice":
            return to_events(self._response(said, parts, finish=None, is_last=True))
        bodies = [self._response(said, [part], finish=None, is_last=False) for part in parts]
        bodies.append(self._response(said, [{"text": ""}], finish="STOP", is_last=True))
        return to_events(*bodies)

    def _response(self, said: Said, parts: list[Any], *, finish: str | None, is_last: bool) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if said.shape == "null" and not parts:
            candidate["content"] = {"role": "model"}
        if finish:
            candidate["finishReason"] = finish
        body: dict[str, Any] = {"modelVersion": "gemini-3-pro-preview", "responseId": "r1"}
        if said.shape != "no choice":
            body["candidates"] = [candidate]
        if said.counted and is_last:
            body["usageMetadata"] = _usage(said.counted)
        return body

    def refusal(self, trouble: Trouble, words: str) -> Any:
        error: dict[str, Any] = {"code": self.statuses[trouble], "message": words, "status": _KINDS[trouble]}
        if trouble == "key":
            reason = {"reason": "API_KEY_INVALID", "domain": "googleapis.com"}
            error["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", **reason}]
        return {"error": error}

    def ask_to_wait(self, seconds: float, body: Any) -> dict[str, str]:
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds:g}s"}
        body["error"].setdefault("details", []).append(info)
        return {}

    def error_event(self, trouble: Trouble) -> bytes:
        return to_events(self.refusal(trouble, self.words[trouble]))[0]

    def broken_event(self) -> bytes:
        return b'data: {"candidates": [{"content": {"par\n\n'


def _parts(said: Said) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": said.thinking, "thought": True}] if said.thinking else []
    parts += [{"text": text} for text in said.texts]
    return parts + [_call(call) for call in said.calls]


def _call(call: Call) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": call.name, "args": call.arguments}}
    return part if call.signature is None else {**part, "thoughtSignature": call.signature}


def _usage(counted: Counted) -> dict[str, Any]:
    thoughts = counted.reasoning or 0
    usage = {
        "promptTokenCount": counted.input,
        "candidatesTokenCount": counted.output - thoughts,
        "totalTokenCount": counted.input + counted.output,
    }
    if counted.cached is not None:
        usage["cachedContentTokenCount"] = counted.cached
    return usage | ({"thoughtsTokenCount": thoughts} if thoughts else {})


_KINDS: dict[Trouble, str] = {
    "key": "INVALID_ARGUMENT",
    "model": "NOT_FOUND",
    "timeout": "DEADLINE_EXCEEDED",
    "rate": "RESOURCE_EXHAUSTED",
    "crash": "INTERNAL",
    "overload": "UNAVAILABLE",
}
