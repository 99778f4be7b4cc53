"""Dialect: how one provider writes replies, streams and refusals, and how LiteLLM is pointed at it.

It must not judge what comes of them: the faults say that.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from tests.providers.said import Answer, Said
from tests.providers.server import Answering

Trouble = Literal["key", "model", "timeout", "rate", "crash", "overload"]
"""What a provider refuses a request for: a wrong key, no such model, its own timeout, a rate limit, a crash, overload."""


class Dialect(ABC):
    """One provider."""

    name: str
    """As the table has it."""
    model_id: str
    key: str = "test-key-0123456789"
    key_variable: str | None = None
    """The environment variable that a text about a wrong key names; None: the usual one."""
    sse_type: str = "text/event-stream"
    statuses: ClassVar[dict[Trouble, int]] = {
        "key": 401,
        "model": 404,
        "timeout": 408,
        "rate": 429,
        "crash": 500,
        "overload": 503,
    }
    words: ClassVar[dict[Trouble, str]] = {
        "key": "Incorrect API key provided: {key}.",
        "model": "The model `tiny` does not exist or you do not have access to it.",
        "timeout": "Request timed out.",
        "rate": "Rate limit reached for requests.",
        "crash": "The server had an error while processing your request.",
        "overload": "The engine is currently overloaded, please try again later.",
    }
    """The provider's own."""
    crash_told_as: int = 500
    """The status of a crash as LiteLLM hands it on."""
    skips: frozenset[str] = frozenset()
    """Columns of the table that this dialect has no form for."""
    says_nothing: Literal["retried", "told"] = "retried"
    """What a reply without any choice is here: a broken one, or one in which the model said nothing."""
    reports: frozenset[str] = frozenset({"cached", "reasoning"})
    """What is counted besides input and output."""

    def options(self, address: str) -> dict[str, Any]:
        """Of `LiteLLMModel`, for a server at `address`."""
        return {"api_base": address, "api_key": self.key}

    @abstractmethod
    def body(self, said: Said) -> Any:
        """A whole reply, as JSON."""

    @abstractmethod
    def events(self, said: Said) -> list[bytes]:
        """The same as a stream."""

    @abstractmethod
    def refusal(self, trouble: Trouble, words: str) -> Any:
        """The body of an error, as JSON."""

    def say(self, said: Said) -> Answering:
        """Answers with a reply, as a stream where one is asked for."""
        return lambda path, body: self.answer(said, is_stream=self.streams(path, body))

    @abstractmethod
    def broken_event(self) -> bytes:
        """A piece of a stream that cannot be read."""

    def answer(self, said: Said, *, is_stream: bool) -> Answer:
        """A reply, in a stream or whole."""
        if is_stream:
            return Answer(media_type=self.sse_type, pieces=tuple(self.events(said)))
        return Answer(pieces=(json.dumps(self.body(said)).encode(),))

    def refuse(self, trouble: Trouble, retry_after_s: float | None = None) -> Answering:
        """Answers with a refusal, and perhaps how long to wait."""
        body = self.refusal(trouble, self.words[trouble].format(key=self.key))
        headers = self.refusal_headers(trouble)
        if retry_after_s is not None:
            headers = {**headers, **self.ask_to_wait(retry_after_s, body)}
        answer = Answer(status=self.statuses[trouble], pieces=(json.dumps(body).encode(),), headers=headers)
        return lambda path, body: answer

    def ask_to_wait(self, seconds: float, body: Any) -> dict[str, str]:
        """Headers that ask to wait, or none and the same in the body."""
        del body
        return {"Retry-After": f"{seconds:g}"}

    def break_off(self, said: Said, trouble: Trouble) -> Answering:
        """Answers with a reply that an error ends in the middle."""

        def answering(path: str, body: Any) -> Answer:
            del body
            events = self.events(said)
            events = [*events[: len(events) // 2], self.error_event(trouble)]
            return Answer(media_type=self.sse_type, pieces=tuple(events))

        return answering

    @abstractmethod
    def error_event(self, trouble: Trouble) -> bytes:
        """An error amid a stream."""

    def refusal_headers(self, trouble: Trouble) -> dict[str, str]:
        """Headers that name the error, where the provider has such."""
        del trouble
        return {}

    def streams(self, path: str, body: Any) -> bool:
        """Whether a request asks for a stream."""
        del path
        return body.get("stream") is True


def to_events(*data: Any) -> list[bytes]:
    """Server-sent events, one for each piece of JSON or text."""
    return [f"data: {piece if isinstance(piece, str) else json.dumps(piece)}\n\n".encode() for piece in data]
