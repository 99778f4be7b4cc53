"""What a run counts as it goes on: ids it gave, what its calls took, failures running, changes seen.

It must not decide what follows from a count.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agent_magic.core.messages import ChatMessage
from agent_magic.core.request import SentRequest

_Run = TypeVar("_Run")


class CallIds:
    """The ids of tool calls, each given once in all runs that may come to stand in one memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: set[str] = set()
        self._numbers: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """`wanted`, or the next of `wanted_2`, `wanted_3`, … that no call has yet."""
        with self._lock:
            call_id = base = wanted or "call_1"
            number = self._numbers.get(base, 1)
            while call_id in self._used:
                number += 1
                call_id = f"{base}_{number}"
            self._numbers[base] = number
            self._used.add(call_id)
            return call_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreported(Generic[_Run]):
    """A model call whose figures the provider did not report."""

    run: _Run
    """That made it: the run itself, or one of a managed agent."""
    request: SentRequest
    message: ChatMessage
    n_counted: int | None
    """The tokens of the request, where they were counted."""


@dataclass(slots=True, kw_only=True)
class Spent(Generic[_Run]):
    """What the model calls of a run took so far, for its budgets; calls of managed agents count in the sums."""

    n_calls: int = 0
    """Of the run's own."""
    seconds: float = 0.0
    """Spent in the run's own model calls."""
    output_tokens: int = 0
    """Of the run's own calls."""
    last_input: tuple[int, int] | None = None
    """Of its own last call with figures: input tokens as reported, and as estimated before."""
    tokens: int = 0
    """Input and output; where a provider reported none, as estimated."""
    cost_usd: float | None = 0.0
    """None as soon as a call's cost is unknown."""
    n_summed: int = 0
    """How many calls the sums are of."""
    unreported: list[Unreported[_Run]] = field(default_factory=list[Unreported[_Run]])
    """Calls that are in no sum yet, as long as nobody has asked for one."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held while sums are read and made: calls of several managed agents go on side by side."""


@dataclass(slots=True, kw_only=True)
class Failures:
    """Failures running that were equal."""

    last: tuple[str, ...] | None = None
    n_equal: int = 0

    def count(self, failure: tuple[str, ...] | None) -> int:
        """Note how a step failed, None for one that did not; returns how many were equal."""
        self.n_equal = 0 if failure is None else (self.n_equal + 1 if failure == self.last else 1)
        self.last = failure
        return self.n_equal


@dataclass(slots=True)
class Seen:
    """How much of what others change a run has taken up."""

    settings: int = 0
    edits: int = 0
