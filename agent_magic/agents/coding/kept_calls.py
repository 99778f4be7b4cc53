"""KeptCalls: what becomes of each call that a block of code makes, of very many the first and the last.

It must not know how a call is made.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import MutableSequence
from dataclasses import replace

from agent_magic.core.steps import Fault, ToolResult

MAX_CALLS = 1_000
"""Calls of one block that are kept; of more, the first and the last ones."""
_NOT_ENDED = Fault(
    kind="Interrupted",
    message="The call had not ended when its step did; what it did so far is not known.",
)


class KeptCalls:
    """The calls of one block, by their places in the order of their starts; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._first: list[ToolResult | None] = []
        self._last: deque[ToolResult | None] = deque(maxlen=MAX_CALLS // 2)
        self._n_started = 0
        self._going_on: dict[int, ToolResult] = {}
        """What is kept of calls that have not ended, by their place."""

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """What became of the calls, in the order of their starts."""
        with self._lock:
            return tuple(result for result in (*self._first, *self._last) if result is not None)

    @property
    def n_left_out(self) -> int:
        """Calls in the middle that are not kept."""
        return max(0, self._n_started - len(self._first) - len(self._last))

    def enter(self, result: ToolResult) -> int:
        """Keep a call that begins; gives its place."""
        with self._lock:
            place = self._n_started
            self._n_started += 1
            self._going_on[place] = result
            if place < MAX_CALLS // 2:
                self._first.append(result)
            else:
                self._last.append(result)
            return place

    def begin(self, place: int, result: ToolResult) -> None:
        """Keep what is known of a call as its body is entered."""
        self._going_on[place] = result
        self._keep(place, result)

    def end(self, place: int, result: ToolResult) -> None:
        """Keep what became of a call."""
        self._keep(place, result)
        self._going_on.pop(place, None)

    def close(self) -> None:
        """Those that have not ended, stopped on the way in or out, or left behind in a thread, have not."""
        for place, kept in list(self._going_on.items()):
            self._keep(place, replace(kept, fault=_NOT_ENDED), only_if_open=True)

    def _keep(self, place: int, result: ToolResult, *, only_if_open: bool = False) -> None:
        """Put a result in its place; of a call in the middle of very many there is none."""
        with self._lock:
            results: MutableSequence[ToolResult | None] = self._first
            at = place
            if place >= len(self._first):
                results, at = self._last, place - (self._n_started - len(self._last))
            if 0 <= at < len(results) and not (only_if_open and _has_ended(results[at])):
                results[at] = result


def _has_ended(result: ToolResult | None) -> bool:
    return result is not None and (result.timing is not None or result.fault is not None)
