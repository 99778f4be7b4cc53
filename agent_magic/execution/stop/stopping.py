"""How code is stopped in the thread that it runs in, and `limited` for what is no step's code.

It must not know what runs nor why it is stopped: it asks.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from types import FrameType

from agent_magic.execution.stop.stoppers import (
    NEVER,
    Decide,
    InterruptStopper,
    OnSigint,
    SignalStopper,
    Stopper,
    ThreadStopper,
)

_OURS = ("agent_magic.execution.stop.stopping", "agent_magic.execution.stop.stoppers")


class StepEnd(SystemExit):
    """Ends the code of a step: it has answered, or was stopped. As a SystemExit it ends a thread silently."""


class TimeLimitReached(BaseException):
    """Raised in what ran longer than it may."""

    is_time_limit = True
    """So that those who know nothing of this module can tell it."""

    def __init__(self, message: str = "", *, is_interrupt: bool = False) -> None:
        super().__init__(message)
        self.is_interrupt = is_interrupt
        """The person did not want to wait for it."""


def new_stopper(decide: Decide, on_sigint: OnSigint | None = None) -> Stopper:
    """The stopper for the thread that calls.

    Args:
        decide: Called in any thread, with a frame of this one.
        on_sigint: Called at Ctrl-C, with the frame where it came; tells whether what the handler before
            raises is let through. If not, Ctrl-C raises what `decide` says and nothing else.
    """
    if threading.current_thread() is not threading.main_thread():
        return ThreadStopper(decide)
    if hasattr(signal, "setitimer"):
        return SignalStopper(decide, on_sigint)
    return InterruptStopper(decide, on_sigint)


@contextlib.contextmanager
def limited(timeout_s: float | None, *, is_interrupted: Callable[[], bool] | None = None) -> Generator[None]:
    """Let its body run for so long, such as a `repr` of the person's.

    Args:
        timeout_s: None for as long as it takes.
        is_interrupted: Asked ten times a second.

    Raises:
        TimeLimitReached: It was stopped, for one of the two reasons.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    here = sys._getframe(0).f_code
    was_interrupted = False

    def decide(frame: FrameType | None) -> type[BaseException] | None:
        nonlocal was_interrupted
        was_interrupted = is_interrupted is not None and is_interrupted()
        if not was_interrupted and (deadline is None or time.monotonic() < deadline):
            stopper.schedule(wait())
            return None
        while frame is not None:
            if frame.f_code is here or frame.f_globals.get("__name__") in _OURS:
                return None  # it is on its way out
            frame = frame.f_back
        return TimeLimitReached

    def wait() -> float:
        left = NEVER if deadline is None else deadline - time.monotonic()
        return left if is_interrupted is None else min(left, 0.1)

    stopper = new_stopper(decide)
    try:
        stopper.start()
        if timeout_s is not None or is_interrupted is not None:
            stopper.schedule(wait())
        yield
    except TimeLimitReached:
        raise TimeLimitReached(
            "interrupted by the person" if was_interrupted else f"took longer than {timeout_s:g} s",
            is_interrupt=was_interrupted,
        ) from None
    finally:
        stopper.finish()
