"""ProviderStream: LiteLLM's stream, watched from below, for it hides what goes wrong there.

LiteLLM skips pieces that are no JSON, makes up an ending where none came, and drops contents that
are lists of parts. It must not import LiteLLM: its objects are known by their attributes.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from agent_magic.models.content_parts import split_content
from agent_magic.models.retry import BrokenReplyError

_LINES = ("streaming_response", "response_iterator")
"""Where LiteLLM's readers of lines keep the lines."""


class ProviderStream:
    """The chunks of a reply; closing it ends the request.

    Args:
        stream: LiteLLM's.
        patience_s: How long bytes may come, such as comments that keep the connection open, and no
            piece of the reply among them; it is a `TimeoutError` then.
    """

    def __init__(self, stream: Any, patience_s: float = math.inf) -> None:
        self._stream = stream
        self._watch = _Watch(patience_s)
        if hasattr(getattr(stream, "completion_stream", None), "__next__"):
            stream.completion_stream = self._watch.over(stream.completion_stream)
        elif getattr(stream, "make_call", None) is not None:  # asked at the first look only
            make_call = stream.make_call
            stream.make_call = lambda **given: self._watch.over(make_call(**given))

    def __iter__(self) -> Iterator[Any]:
        try:
            for chunk in self._stream:
                start = time.monotonic()
                yield chunk
                self._watch.last_piece += time.monotonic() - start  # the reader's own time
        except Exception as error:  # raised again, by a truer name if there is one
            if self._watch.broken is not None:  # LiteLLM tells it in words of its own
                raise self._watch.broken from error
            raise

    def close(self) -> None:
        """End the request."""
        self._stream.close()

    def note_piece(self) -> None:
        """Say that the last chunk held something of the reply."""
        self._watch.last_piece = time.monotonic()

    @property
    def has_ended(self) -> bool:
        """Whether the provider gave an ending; True where it cannot be known."""
        watch = self._watch
        return (watch.has_end_line if watch.ends_in_lines else watch.has_ended) or not watch.is_watching

    @property
    def has_choice(self) -> bool:
        """Whether there was any choice in it; True where it cannot be known."""
        return self._watch.has_choice or not self._watch.is_watching

    @property
    def is_json(self) -> bool:
        """Whether the provider answered with one JSON text."""
        hidden: Any = getattr(self._stream, "_hidden_params", None) or {}
        headers: Any = hidden.get("additional_headers") or {}
        media_type = str(headers.get("llm_provider-content-type", "")).partition(";")[0]
        return media_type.strip().lower() == "application/json"

    @property
    def reported_usage(self) -> Any:
        """The last usage that the provider sent; LiteLLM estimates one where none was, which is no report."""
        chunks = reversed(getattr(self._stream, "chunks", None) or ())
        return next((usage for chunk in chunks if (usage := getattr(chunk, "usage", None))), None)


class _Watch:
    """What is seen of the provider's own chunks."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self.last_piece = time.monotonic()
        self.is_watching = False
        self.reads_lines = False
        self.has_ended = False
        self.has_choice = False
        self.ends_in_lines = False
        self.has_end_line = False
        self.broken: BrokenReplyError | TimeoutError | None = None

    def over(self, chunks: Any) -> Any:
        """The same chunks, looked at one by one; their attributes are still there."""
        if not hasattr(chunks, "__next__"):
            return chunks
        self.is_watching = True
        # A reader of Gemini's joins lines that are no JSON each, and loses them if they never are.
        joins = hasattr(chunks, "_json_buffer")
        # The provider's own library reads bytes, and lets no comment of a stream through.
        response: Any = getattr(chunks, "response", None)
        if hasattr(response, "iter_bytes"):
            read = response.iter_bytes
            response.iter_bytes = lambda *given: self._in_time(read(*given))
        lines: Any = next((getattr(chunks, name) for name in _LINES if hasattr(chunks, name)), None)
        if hasattr(lines, "__next__"):
            self.reads_lines = True
            checked = self._check(lines, joins=joins)
            for name in _LINES:
                if hasattr(chunks, name):
                    setattr(chunks, name, checked)
        return _Watched(chunks, self)

    def look_at(self, chunk: Any) -> None:
        """Flatten contents that are lists, and note an ending."""
        if isinstance(chunk, Mapping):
            fields = cast("Mapping[str, Any]", chunk)
            self.has_ended = self.has_ended or bool(fields.get("is_finished") or fields.get("finish_reason"))
            return
        for choice in getattr(chunk, "choices", None) or ():
            self.has_choice = self.has_choice or not self.reads_lines  # where they are read, lines say it
            self.has_ended = self.has_ended or bool(getattr(choice, "finish_reason", None))
            delta: Any = getattr(choice, "delta", None)
            if isinstance(getattr(delta, "content", None), list):
                text, thinking = split_content(delta.content)
                delta.content = text
                if thinking:
                    delta.reasoning_content = (getattr(delta, "reasoning_content", None) or "") + thinking

    def _in_time(self, parts: Iterable[Any]) -> Iterator[Any]:
        for part in parts:
            yield part  # whatever is in it counts before the time does
            self.look_at_time()

    def look_at_time(self) -> None:
        """Break the stream off if it has brought nothing for too long."""
        silence_s = time.monotonic() - self.last_piece
        if silence_s > self._patience_s:
            self.broken = TimeoutError(
                f"The connection was kept open, but for {silence_s:.0f} s no piece of a reply came."
            )
            raise self.broken

    def _check(self, lines: Iterable[Any], *, joins: bool) -> Iterator[Any]:
        held = ""
        for line in self._in_time(lines):
            data = _data_of(line)
            piece = _read(data) if data else None
            if data and piece is None:
                held += data
                piece = _read(held) if joins else None
                if not joins:
                    self._break(held)
                held = "" if piece is not None else held
            elif data and held:
                self._break(held)
            if isinstance(piece, dict):
                fields = cast("dict[str, Any]", piece)
                self.has_choice = self.has_choice or fields.get("choices") != []
                self._note_end(fields)
            yield line
        if held:
            self._break(held)

    def _note_end(self, piece: Mapping[str, Any]) -> None:
        """Of Gemini's pieces each has an ending once LiteLLM has read it."""
        if "candidates" not in piece and "promptFeedback" not in piece:
            return
        self.ends_in_lines = True
        candidates: list[Any] = piece.get("candidates") or []
        is_blocked = bool((piece.get("promptFeedback") or {}).get("blockReason"))
        is_end = is_blocked or any(isinstance(one, dict) and one.get("finishReason") for one in candidates)
        self.has_end_line = self.has_end_line or is_end

    def _break(self, data: str) -> None:
        self.broken = BrokenReplyError(f"A piece of the stream is no JSON: {data[:100]}")
        raise self.broken


class _Watched:
    """A reader of LiteLLM's that is looked at."""

    def __init__(self, chunks: Any, watch: _Watch) -> None:
        self._chunks = chunks
        self._watch = watch

    def __iter__(self) -> Iterator[Any]:
        self._chunks = iter(self._chunks)  # some readers begin with it
        return self

    def __next__(self) -> Any:
        self._watch.look_at_time()
        chunk = next(self._chunks)
        self._watch.look_at(chunk)
        return chunk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chunks, name)

    def close(self) -> None:
        """End the request."""
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()


def _data_of(line: Any) -> str:
    """The JSON that a line should hold; nothing for a comment, another field or the end."""
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
    if not isinstance(text, str):
        return ""
    text = text.strip()
    if text.startswith("data:"):
        text = text.removeprefix("data:").strip()
    elif not text.startswith("{"):
        return ""
    return "" if text == "[DONE]" else text


def _read(text: str) -> Any:
    """What a JSON text holds; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
