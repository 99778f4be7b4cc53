"""Where prints go: the sink of the call, or of the code, that is running.

Agents open a sink around each call, executors around code; `streams` sends writes there. It must not
replace any stream itself.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Protocol

from agent_magic.core.text import strip_control

_HEAD = 4_000
_TAIL = 4_000
_FOLD = 65_536
"""Characters of unread writes that are held before they are looked at."""


class TextSink(Protocol):
    """Takes what one call, or one block of code, prints."""

    def write(self, text: str) -> object:
        """Add text; called from any thread."""
        ...


class Sink:
    """Collects text, of which it keeps the first and the last characters: 4,000 each, if not told otherwise."""

    is_left = False
    """Whoever it was opened for was to end: what is printed by threads of nobody knows whom is not theirs any more."""

    def __init__(self, *, head: int = _HEAD, tail: int = _TAIL) -> None:
        self._lock = threading.Lock()
        self._n_head = head
        self._n_tail = tail
        self._head = ""
        self._tail = ""
        self._n_cut = 0

    def write(self, text: str) -> None:
        """Add text; called from any thread."""
        with self._lock:
            self._add(text)

    @property
    def text(self) -> str:
        """All that was written, or its head and tail with a note between."""
        with self._lock:
            return self._joined(self._tail, self._n_cut)

    def _add(self, text: str) -> None:
        room = self._n_head - len(self._head)
        if room:
            self._head += text[:room]
            text = text[room:]
        if text:
            n_before = len(self._tail) + len(text)
            self._tail = (text if len(text) >= self._n_tail else self._tail + text)[-self._n_tail :]
            self._n_cut += n_before - len(self._tail)

    def _joined(self, tail: str, n_cut: int) -> str:
        note = f"\n… {n_cut:,} characters cut …\n" if n_cut else ""
        return self._head + note + tail


class CodeSink(Sink):
    r"""Collects what code prints: a line that `\r` overwrites, as a progress bar does, counts once."""

    def __init__(self, max_chars: int) -> None:
        super().__init__(head=max_chars - max_chars // 3, tail=max_chars // 3)
        self._unread: list[str] = []
        self._n_unread = 0
        self._line = ""
        """The line that is not over."""

    def write(self, text: str) -> None:
        """Add text; called from any thread."""
        with self._lock:
            self._unread.append(text)
            self._n_unread += len(text)
            if self._n_unread >= _FOLD:
                self._fold()

    @property
    def text(self) -> str:
        """All that was written as a screen shows it, or its head and tail; without control characters."""
        with self._lock:
            self._fold()
            whole = Sink(head=self._n_head, tail=self._n_tail)
            whole._head, whole._tail, whole._n_cut = self._head, self._tail, self._n_cut
            whole._add(self._line)
            return strip_control(whole._joined(whole._tail, whole._n_cut))

    def _fold(self) -> None:
        """Let what was written be lines: those that are over are settled, the last one may be overwritten yet."""
        text = self._line + "".join(self._unread)
        self._unread.clear()
        self._n_unread = 0
        lines, end, self._line = text.rpartition("\n")
        lines += end
        if "\r" in lines:
            lines = "\n".join(map(_last_state, lines.split("\n")))
        if "\r" in self._line:
            # The last `\r` stays: what comes next says whether it ends the line or overwrites it.
            is_open = self._line.endswith("\r")
            self._line = _last_state(self._line) + "\r" * is_open
        if len(self._line) > _FOLD:  # no line of a screen
            lines, self._line = lines + self._line, ""
        if lines:
            self._add(lines)


def _last_state(line: str) -> str:
    return line.rstrip("\r").rpartition("\r")[2]


CURRENT_SINK: ContextVar[Sink | None] = ContextVar("agent_magic_sink", default=None)
"""The sink of the call that this context runs; threads that a tool starts do not inherit it."""

_open: dict[int, Sink] = {}


def open_sinks() -> list[Sink]:
    """The sinks of all calls that are running now, in the order in which they began."""
    return list(_open.values())


class printing_into:  # noqa: N801 - reads as a function: `with printing_into(sink):`
    """Make `sink` the current one."""

    __slots__ = ("_sink", "_token")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def __enter__(self) -> None:
        self._token = CURRENT_SINK.set(self._sink)
        _open[id(self._sink)] = self._sink

    def __exit__(self, *_raised: object) -> None:
        _open.pop(id(self._sink), None)
        CURRENT_SINK.reset(self._token)
