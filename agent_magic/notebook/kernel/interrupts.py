"""Ctrl-C while a run is shown: raised where the code is, and never twice into its recording.

It must not record anything itself: the run does, and it learns of the signal by a flag as well,
since a tool may swallow the exception.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Generator
from types import FrameType

_RECORDING_S = 2.0
"""For so long after a Ctrl-C another one is taken for the same: what was stopped is being recorded."""


class Interrupts:
    """How Ctrl-C is taken at the moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_held = False
        self._is_ours = False
        """Our handler is installed."""

    @property
    def is_held(self) -> bool:
        """Ctrl-C is noted only."""
        return self._is_held

    def hold(self) -> None:
        """From now on Ctrl-C is noted only: what is being left behind must not be half a record."""
        self._is_held = True
        with self._lock:  # whoever is sending a signal has sent it
            self._is_ours = False

    def send(self) -> None:
        """Do as Ctrl-C does, from another thread; nothing once it is held: it would hit what comes next."""
        if threading.current_thread() is threading.main_thread():  # a tool or a callback: the run looks soon
            return
        with self._lock:
            if not self._is_ours:
                return
            if hasattr(signal, "pthread_kill"):
                # To the thread itself, so that a tool that sleeps or reads is woken.
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                _thread.interrupt_main(signal.SIGINT)


@contextlib.contextmanager
def interrupts_noted(note: Callable[[], None]) -> Generator[Interrupts]:
    """Within it Ctrl-C calls `note` and raises KeyboardInterrupt, the latter at most every two seconds.

    Args:
        note: Must only set flags: it is called between any two bytecodes of the main thread.
    """
    interrupts = Interrupts()
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    # Who has set this signal to be ignored, or handles it outside Python, wants it so.
    if not is_main or not callable(before):
        yield interrupts
        return
    raised_at = float("-inf")

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal raised_at
        del number, frame
        note()
        now = time.monotonic()
        if not interrupts.is_held and now - raised_at > _RECORDING_S:
            raised_at = now
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, on_signal)
    interrupts._is_ours = True
    try:
        yield interrupts
    finally:
        interrupts.hold()
        signal.signal(signal.SIGINT, before)
