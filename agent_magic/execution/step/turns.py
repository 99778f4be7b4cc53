"""Turn: one block of code at a time in a namespace, whoever runs it, and in whichever thread.

It must not know what runs. A step's code hands its turn on while a person's code runs inside it.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Protocol

from agent_magic.core.values import Value

_LOOK_S = 0.1
_PATIENCE_S = 0.5
"""Code that is to be stopped waits this long for its turn to put things in order."""
_OVERDUE_S = 10.0
"""Code that was to end so long ago, and has not, is not waited for."""


class Holder(Protocol):
    """Who has the turn."""

    @property
    def name(self) -> str:
        """For those who wait."""
        ...

    @property
    def overdue_s(self) -> float:
        """How long ago its code was to end; 0 if it may go on."""
        ...


class TurnIsHeld(Exception):  # noqa: N818 - it says what happened
    """The turn is had by code that was to end and cannot be stopped."""

    def __init__(self, holder: Holder) -> None:
        super().__init__(holder.name)
        self._overdue_s = holder.overdue_s

    def to_text(self, did_not: str) -> str:
        """What the model is told of its own code.

        Args:
            did_not: What that did not do.
        """
        return (
            f"The code did not {did_not}: that of {self}, which was to end {self._overdue_s:.0f} s ago, cannot be "
            "stopped. It waits in a thread for a lock, a queue, a sleep or native code.\n"
            "Answer with what you have. The person can let it have what it waits for, or restart the kernel."
        )


class Turns:
    """The turns of one namespace."""

    def __init__(self, namespace: dict[str, Value]) -> None:
        self._namespace = namespace  # held, so that its id belongs to nothing else meanwhile
        self._lock = threading.Lock()
        self._holder: Holder | None = None

    def take(self, holder: Holder, is_stopped: Callable[[], bool]) -> bool:
        """Wait for the turn; False if it was not got before the code was to be stopped.

        Raises:
            TurnIsHeld: Nobody knows when it is going to be free.
        """
        if not self._lock.acquire(blocking=False):
            since: float | None = None
            while not self._lock.acquire(timeout=_LOOK_S):
                if is_stopped():
                    since = since or time.monotonic()
                    if time.monotonic() - since > _PATIENCE_S:
                        return False
                held_by = self._holder
                if held_by is not None and held_by.overdue_s > _OVERDUE_S:
                    raise TurnIsHeld(held_by)
        self._holder = holder
        return True

    def hand_on(self) -> None:
        """Let the next one have it; from any thread."""
        self._holder = None
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
