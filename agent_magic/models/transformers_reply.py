"""What a model of Transformers writes, read as it comes: where it ends, and the calls in it.

It must not ask the model, nor check a call against any tool.
"""

from __future__ import annotations

import ast
import dataclasses
import warnings
from collections.abc import Iterator, Sequence

from agent_magic.core.errors import ParsingError
from agent_magic.core.messages import ChatMessage, MessageDelta
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.parsing import has_call_mark, parse_tool_calls
from agent_magic.models.stops import find_stop


class StopReader:
    """Passes text on up to where it is to end; what may be the beginning of a stop text waits."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = stop
        self._text = ""
        self._n_told = 0
        self.is_at_end = False

    def read(self, deltas: Iterator[MessageDelta], builder: MessageBuilder) -> Iterator[MessageDelta]:
        """What can be told of these pieces; it is in the builder then."""
        for delta in deltas:
            if not delta.text:
                builder.add(delta)
                yield delta
                continue
            if self.is_at_end:
                return
            self._text += delta.text
            end = _find_end(self._text, self._stop)
            self.is_at_end = end is not None
            yield from self._tell(self._safe_length() if end is None else end, builder)

    def flush(self, builder: MessageBuilder) -> Iterator[MessageDelta]:
        """What still waited when the reply ended."""
        yield from self._tell(len(self._text), builder)

    def _tell(self, end: int, builder: MessageBuilder) -> Iterator[MessageDelta]:
        if end > self._n_told:
            delta = MessageDelta(text=self._text[self._n_told : end])
            self._n_told = end
            builder.add(delta)
            yield delta

    def _safe_length(self) -> int:
        n_held = max((_n_begun(self._text, mark) for mark in self._stop), default=0)
        return len(self._text) - n_held


def _n_begun(text: str, mark: str) -> int:
    """How many characters at the end of the text are the beginning of the mark."""
    return next((size for size in range(len(mark) - 1, 0, -1) if text.endswith(mark[:size])), 0)


def _find_end(text: str, stop: Sequence[str]) -> int | None:
    """Where the reply is to end; see `find_stop`. A closing tag ends it too, but not inside a string of the code."""
    ends = [] if (end := find_stop(text, stop)) is None else [end]
    for mark in stop:
        if mark.startswith("</") and (start := text.find(mark.replace("/", "", 1))) >= 0:
            start += len(mark) - 1
            place = text.find(mark, start)
            while place >= 0 and not _is_whole(text[start:place]):
                place = text.find(mark, place + 1)
            ends += [place] if place >= 0 else []
    return min(ends, default=None)


def _is_whole(code: str) -> bool:
    """Whether no string is left open at the end of the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(code)
        except SyntaxError as error:
            return "unterminated" not in error.msg
        except (ValueError, RecursionError, MemoryError):  # code that nobody can parse ends anywhere
            return True
    return True


def with_calls(message: ChatMessage) -> ChatMessage:
    """The message with the calls in its text as calls; one that cannot be read stays as it was written."""
    text = message.content or ""
    if not has_call_mark(text):
        return message
    try:
        parsed = parse_tool_calls(text)
    except ParsingError:
        return message
    builder = MessageBuilder()
    builder.add(
        dataclasses.replace(
            message,
            content=text[: parsed.start].strip() or None,
            tool_calls=parsed.calls,
            finish_reason="tool_calls",
        )
    )
    return builder.build()
