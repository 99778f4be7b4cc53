"""Turn: one block of code at a time in a namespace, whoever runs it, and in whichever thread.

It must not know what runs. A step's code hands its turn on while a person's code runs inside it.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable

from agent_magic.core.values import Value

_LOOK_S = 0.1
_PATIENCE_S = 0.5
"""Code that is to be stopped waits this long for its turn to put things in order."""


class Turns:
    """The turns of one namespace."""

    def __init__(self, namespace: dict[str, Value]) -> None:
        self._namespace = namespace  # held, so that its id belongs to nothing else meanwhile
        self._lock = threading.Lock()

    def take(self, is_stopped: Callable[[], bool]) -> bool:
        """Wait for the turn; False if it was not got before the code was to be stopped."""
        if self._lock.acquire(blocking=False):
            return True
        since: float | None = None
        while not self._lock.acquire(timeout=_LOOK_S):
            if is_stopped():
                since = since or time.monotonic()
                if time.monotonic() - since > _PATIENCE_S:
                    return False
        return True

    def hand_on(self) -> None:
        """Let the next one have it; from any thread."""
        self._lock.release()


_turns: weakref.WeakValueDictionary[int, Turns] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def turns_of(namespace: dict[str, Value]) -> Turns:
    """The turns of a namespace: the same for all who run code in it."""
    with _lock:
        turns = _turns.get(id(namespace))
        if turns is None:
            _turns[id(namespace)] = turns = Turns(namespace)
        return turns
