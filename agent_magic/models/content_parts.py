"""Contents that are lists of parts (thinking, text), as some OpenAI-compatible servers write them.

LiteLLM refuses them in a whole reply and drops them from a stream, so they are put right as it
reads. It must not import LiteLLM, which it is handed, nor touch a reply whose content is a text.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from agent_magic.core.values import Value

_THINKING_FIELDS = ("thinking", "reasoning", "reasoning_content")
"""Where a part holds thinking; a part of such a type holds nothing else."""


def complete(litellm: Any, request: dict[str, Value]) -> Any:
    """The reply as LiteLLM reads it, also where a content is a list of parts."""
    if request["stream"]:
        stream = litellm.completion(**request)
        if hasattr(getattr(stream, "completion_stream", None), "__next__"):
            stream.completion_stream = _PartsStream(stream.completion_stream)
        return stream
    body = _ReplyBody()
    try:
        response = litellm.completion(**{"logger_fn": body.keep, **request})
    except Exception:  # raised again, but for a reply that came and holds parts
        response = _read_parts(litellm, body)
        if response is None:
            raise
        return response
    return _read_parts(litellm, body) or response  # some of its routes keep but one of several parts


def _read_parts(litellm: Any, body: _ReplyBody) -> Any:
    """The reply that holds a list of parts, in LiteLLM's form; None if it is no such reply."""
    readable = body.without_parts()
    if readable is not None:
        with contextlib.suppress(Exception):  # a body that is no reply is told in LiteLLM's own words
            return litellm.ModelResponse(choices=readable["choices"], usage=readable.get("usage"))
    return None


def split_content(content: Any) -> tuple[str | None, str]:
    """Text and thinking of a content, which may be a list of parts."""
    if not isinstance(content, list):
        return content, ""
    texts: list[str] = []
    thinking: list[str] = []
    for part in cast("list[Any]", content):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            fields = cast("Mapping[str, Any]", part)
            inner = [fields[name] for name in _THINKING_FIELDS if name in fields]
            if inner or fields.get("type") in _THINKING_FIELDS:
                thinking.extend(_join(one) for one in inner or [fields.get("text")])
            elif isinstance(fields.get("text"), str):
                texts.append(fields["text"])
    return "".join(texts), "".join(thinking)


def _join(inner: Any) -> str:
    """Whatever text stands inside a thinking part; all of it is thinking."""
    text, thinking = split_content(inner)
    return f"{thinking}{text}" if isinstance(text, str) else ""


class _PartsStream:
    """A provider's stream in which a content is a text; closing it closes the provider's."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        chunk = next(self._chunks)
        for choice in getattr(chunk, "choices", None) or ():
            delta: Any = getattr(choice, "delta", None)
            if isinstance(getattr(delta, "content", None), list):
                text, thinking = split_content(delta.content)
                delta.content = text
                if thinking:
                    delta.reasoning_content = (getattr(delta, "reasoning_content", None) or "") + thinking
        return chunk

    def close(self) -> None:
        """End the request."""
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()


class _ReplyBody:
    """Keeps the body of a whole reply beside LiteLLM, which cannot read all of them."""

    def __init__(self) -> None:
        self._text = ""

    def keep(self, details: Mapping[str, Any]) -> None:
        """Take what LiteLLM is about to read; it also calls this before the request and after a failure."""
        text = details.get("original_response")
        if isinstance(text, str) and text.lstrip().startswith("{") and '"choices"' in text:
            self._text = text

    def without_parts(self) -> dict[str, Any] | None:
        """The body with texts for contents; None if no content was a list, for then LiteLLM's reading stands."""
        try:
            body: Any = json.loads(self._text)
            messages = [choice["message"] for choice in body["choices"]]
            listed = [message for message in messages if isinstance(message["content"], list)]
            for message in listed:
                message["content"], thinking = split_content(message["content"])
                if thinking:
                    message["reasoning_content"] = (message.get("reasoning_content") or "") + thinking
        except (ValueError, TypeError, LookupError, RecursionError):  # no body of that form
            return None
        return body if listed else None
