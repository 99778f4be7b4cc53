"""Where the prints of a tool's body go: the sink of the call that is running.

Agents open a sink around each call; who owns `sys.stdout` (the notebook) sends writes there.
It must not replace any stream itself.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar

_HEAD = 4_000
_TAIL = 4_000


class Sink:
    """Collects text, of which it keeps the first and the last 4,000 characters."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = ""
        self._tail = ""
        self._n_cut = 0

    def write(self, text: str) -> None:
        """Add text; called from any thread."""
        with self._lock:
            room = _HEAD - len(self._head)
            self._head += text[:room]
            rest = text[room:]
            if rest:
                tail = self._tail + rest
                self._n_cut += max(0, len(tail) - _TAIL)
                self._tail = tail[-_TAIL:]

    @property
    def text(self) -> str:
        """All that was written, or its head and tail with a note between."""
        with self._lock:
            note = f"\n… {self._n_cut:,} characters cut …\n" if self._n_cut else ""
            return self._head + note + self._tail


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
