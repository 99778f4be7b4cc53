"""ThinkingSplitter: tells thinking from text while a reply streams in.

It must not decide what counts: the whole reply is split again by `parsing.split_reasoning`.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_magic.core.messages import MessageDelta

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkingSplitter:
    """Turns the pieces of a text that begins with `<think>` into pieces of reasoning and of text.

    Only for showing a reply while it comes; a text that begins otherwise passes unchanged.
    """

    def __init__(self) -> None:
        self._held = ""
        self._tag: str | None = _OPEN
        """The tag that is waited for; None once all that comes is text."""

    def feed(self, text: str) -> Iterator[MessageDelta]:
        """The pieces that can be told now."""
        self._held += text
        if self._tag == _OPEN:
            begin = self._held.lstrip()
            if begin.startswith(_OPEN):
                self._held, self._tag = begin[len(_OPEN) :], _CLOSE
            elif not _OPEN.startswith(begin):
                self._tag = None
        if self._tag == _CLOSE:
            thinking, closed, rest = self._held.partition(_CLOSE)
            if closed:
                self._held, self._tag = rest, None
            else:
                self._held = _held_back(thinking, _CLOSE)
                thinking = thinking[: len(thinking) - len(self._held)]
            if thinking:
                yield MessageDelta(reasoning=thinking)
        if self._tag is None and self._held:
            yield MessageDelta(text=self._held)
            self._held = ""

    def flush(self) -> Iterator[MessageDelta]:
        """What was still held back when the reply ended."""
        if self._held:
            yield MessageDelta(reasoning=self._held) if self._tag == _CLOSE else MessageDelta(text=self._held)
        self._held = ""


def _held_back(text: str, tag: str) -> str:
    """The end of a text that may be the beginning of a tag."""
    return next((tag[:size] for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), "")
