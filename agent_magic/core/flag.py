"""Flag: one thread waits for what another one does, and Ctrl-C may come between any two bytecodes of either.

`threading.Event`, `Condition` and `Future` are Python code inside: an exception that a signal's
handler raises there leaves their lock held for ever, or released twice. Here all that must not be
cut in two is one call into C. It must not know what is waited for.
"""

from __future__ import annotations

import contextlib
import queue


class Flag:
    """Set or not; as `threading.Event`, for threads that signals and stopped code reach too."""

    __slots__ = ("_is_set", "_waiting")

    def __init__(self) -> None:
        self._is_set = False
        self._waiting: list[queue.SimpleQueue[None]] = []

    def is_set(self) -> bool:
        """Whether it is."""
        return self._is_set

    def set(self) -> None:
        """Wake all that wait."""
        self._is_set = True
        for bell in self._waiting.copy():
            bell.put(None)

    def clear(self) -> None:
        """From now on it is waited for again."""
        self._is_set = False

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it is set, or so long.

        Args:
            timeout_s: Seconds; None for ever.

        Returns:
            Whether it was set meanwhile.
        """
        if self._is_set:
            return True
        bell: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._waiting.append(bell)
        try:
            # Who sets it sees the bell, or has set it before this look.
            if self._is_set:
                return True
            with contextlib.suppress(queue.Empty):
                bell.get(timeout=None if timeout_s is None else max(timeout_s, 0.0))
                return True
            return self._is_set
        finally:
            self._waiting.remove(bell)
