"""Ctrl-C while a run is shown: raised where the code is, and never twice into its recording.

It must not record anything itself: the run does, and it learns of the signal by a flag as well,
since a tool may swallow the exception.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Generator
from types import FrameType

_RECORDING_S = 2.0
"""For so long after a Ctrl-C another one is taken for the same: what was stopped is being recorded."""


@contextlib.contextmanager
def interrupts_noted(note: Callable[[], None]) -> Generator[None]:
    """Within it Ctrl-C calls `note` and raises KeyboardInterrupt, the latter at most every two seconds.

    Args:
        note: Must only set flags: it is called between any two bytecodes of the main thread.
    """
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    # Who has set this signal to be ignored, or handles it outside Python, wants it so.
    if not is_main or not callable(before):
        yield
        return
    raised_at = float("-inf")

    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal raised_at
        del number, frame
        note()
        now = time.monotonic()
        if now - raised_at > _RECORDING_S:
            raised_at = now
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
