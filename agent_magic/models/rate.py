"""RateLimit: at most so many requests in any minute, whoever asks and from whichever thread.

It must not sleep: whoever waits for a turn does, so that an interrupt ends the waiting.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable

from agent_magic.core.errors import OptionError
from agent_magic.core.values import Value

_MINUTE_S = 60.0


class RateLimit:
    """The turns of one model; who came first goes first.

    Args:
        per_minute: May be less than one: 0.5 is one request in two minutes.
        clock: Seconds, never going back.

    Raises:
        OptionError: `per_minute` is no number above 0.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._taken: deque[float] = deque()
        """When the turns of the last window were taken."""
        self._waiting: list[Turn] = []
        self.change(per_minute)

    def change(self, per_minute: float) -> None:
        """Allow another number from now on; turns that were taken count on.

        Raises:
            OptionError: It is no number above 0.
        """
        check_rate(per_minute)
        with self._lock:
            self.per_minute = per_minute
            self._most = max(1, math.floor(per_minute))
            self._window_s = _MINUTE_S * self._most / per_minute

    def enter(self) -> Turn:
        """Stand in line; leave it again by `Turn.leave`."""
        turn = Turn(self)
        with self._lock:
            self._waiting.append(turn)
        return turn

    def _try(self, turn: Turn) -> float:
        with self._lock:
            now = self._clock()
            while self._taken and self._taken[0] <= now - self._window_s:
                self._taken.popleft()
            place = self._waiting.index(turn)
            if place < self._most - len(self._taken):
                self._waiting.remove(turn)
                self._taken.append(now)
                return 0.0
            return self._foresee(place, now)

    def _foresee(self, place: int, now: float) -> float:
        """Seconds until the turn at this place of the line, if nobody leaves it."""
        # Each turn can be taken a window after the one that is `most` before it.
        rounds = place // self._most + 1
        before = len(self._taken) + place - rounds * self._most
        since = self._taken[before] if before >= 0 else now - self._window_s
        return max(0.001, since + rounds * self._window_s - now)

    def _leave(self, turn: Turn) -> None:
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)


class Turn:
    """A place in the line of a `RateLimit`."""

    def __init__(self, limit: RateLimit) -> None:
        self._limit = limit

    def delay_s(self) -> float:
        """Take the turn if it is there, which gives 0; else the seconds until it will be, about.

        To be asked again after at most that long, and no more once it has given 0.
        """
        return self._limit._try(self)

    def leave(self) -> None:
        """Give the place up, if the turn was not taken."""
        self._limit._leave(self)


def check_rate(per_minute: Value) -> None:
    """Refuse what can be no rate.

    Raises:
        OptionError: It is no number above 0.
    """
    is_number = isinstance(per_minute, int | float) and not isinstance(per_minute, bool)
    if not is_number or not 0 < per_minute < math.inf:
        raise OptionError(
            f"requests_per_minute={per_minute!r} is no rate.\n"
            "Give a number above 0, such as requests_per_minute=20, or None for no limit."
        )
