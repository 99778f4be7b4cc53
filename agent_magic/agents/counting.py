"""What a run counts as it goes on: ids it gave, what its calls took, failures running, changes seen.

It must not decide what follows from a count.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from agent_magic.core.messages import ChatMessage
from agent_magic.core.request import SentRequest


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


@dataclass(slots=True, kw_only=True)
class Spent:
    """What the model calls of a run took so far, for its budgets."""

    n_calls: int = 0
    seconds: float = 0.0
    """Spent in model calls."""
    tokens: int = 0
    """Input and output; where a provider reported none, as estimated."""
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None as soon as a call's cost is unknown."""
    unreported: list[tuple[SentRequest, ChatMessage, int | None]] = field(
        default_factory=list[tuple[SentRequest, ChatMessage, int | None]]
    )
    """Calls whose figures the provider did not report, as long as nobody has asked for them; with the
    tokens of the request, where they were counted."""
    last_input: tuple[int, int] | None = None
    """Of the last call with figures: input tokens as reported, and as estimated before."""


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
