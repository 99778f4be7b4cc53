"""Stops code in the thread that it runs in: by time, at a kick from outside, again and again until it is out.

It must not know what runs nor why it is stopped: it asks.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any, Protocol

from agent_magic.execution.watching import WATCHER

Decide = Callable[[FrameType | None], type[BaseException] | None]
"""What is to be raised in the place where a frame stands, if anything."""

REPEAT_S = 0.05
"""What was swallowed is raised again after this time."""
_SOON_S = 0.001
_NEVER = float("inf")

# The bare functions: those of `signal` spend ten times as long on finding a name for the handler.
_bare: Any = sys.modules.get("_signal", signal)
_set_handler: Callable[[int, Any], Any] = _bare.signal
_get_handler: Callable[[int], Any] = _bare.getsignal


class StepEnd(SystemExit):
    """Ends the code of a step: it has answered, or was stopped. As a SystemExit it ends a thread silently."""


class TimeLimitReached(BaseException):  # noqa: N818 - it names what happened; no code is to catch it as an error
    """Raised in what ran longer than it may."""

    is_time_limit = True
    """So that those who know nothing of this module can tell it."""

    def __init__(self, message: str = "", *, is_interrupt: bool = False) -> None:
        super().__init__(message)
        self.is_interrupt = is_interrupt
        """The person did not want to wait for it."""


class Stopper(Protocol):
    """Asks, in good time, whether to raise in the thread that it was started in."""

    def start(self) -> None:
        """Take the place of what handles signals now."""
        ...

    def schedule(self, after_s: float) -> None:
        """Ask after this time, and again and again from then on; infinity is never."""
        ...

    def hold(self) -> None:
        """Ask no more until the next `schedule`."""
        ...

    def kick(self) -> None:
        """Ask now; from any thread, also when it is over."""
        ...

    def finish(self) -> None:
        """Put all back as it was; nothing is raised any more. May be called at any time, and twice."""
        ...


def new_stopper(decide: Decide, on_sigint: Callable[[], None] | None = None) -> Stopper:
    """The stopper for the thread that calls.

    Args:
        decide: Called in any thread, with a frame of this one.
        on_sigint: Called first at Ctrl-C. With it, Ctrl-C raises what `decide` says and nothing else,
            or, where that is nothing, what the handler before raises if `passes_on` is set.
    """
    if threading.current_thread() is not threading.main_thread():
        return ThreadStopper(decide)
    if hasattr(signal, "setitimer"):
        return SignalStopper(decide, on_sigint)
    return InterruptStopper(decide, on_sigint)


class _Sigint:
    """Ctrl-C while code runs: told, handed on, and raised as what ends the code."""

    passes_on = False
    """What the handler before raises is let through: the person's own code is running."""

    def __init__(self, decide: Decide, on_sigint: Callable[[], None] | None) -> None:
        self._decide = decide
        self._on_sigint = on_sigint
        self._before: Callable[[int, FrameType | None], object] | None = None

    def install(self) -> None:
        before = _get_handler(signal.SIGINT) if self._on_sigint is not None else None
        # Who has set this signal to be ignored, or handles it outside Python, wants it so.
        if callable(before):
            self._before = before
            _set_handler(signal.SIGINT, self.handle)

    def remove(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            _set_handler(signal.SIGINT, before)

    def handle(self, number: int, frame: FrameType | None) -> None:
        before = self._before
        if self._on_sigint is not None:
            self._on_sigint()
        if before is not None:
            try:
                before(number, frame)
            except BaseException:
                if self.passes_on:
                    raise
        self.ask(frame)

    def ask(self, frame: FrameType | None) -> None:
        raised = self._decide(frame)
        if raised is not None:
            raise raised


class SignalStopper(_Sigint):
    """In the main thread, by the timer signal: it wakes whatever waits or sleeps."""

    def __init__(self, decide: Decide, on_sigint: Callable[[], None] | None) -> None:
        super().__init__(decide, on_sigint)
        self._lock = threading.RLock()
        self._is_live = False

    def start(self) -> None:
        self.install()
        self._alarm_before = _set_handler(signal.SIGALRM, self._on_alarm)
        self._is_live = True
        self._timer_before = signal.setitimer(signal.ITIMER_REAL, 0)
        self._started = time.monotonic()

    def schedule(self, after_s: float) -> None:
        with self._lock:
            if self._is_live:
                after_s = 0 if after_s == _NEVER else max(after_s, _SOON_S)
                signal.setitimer(signal.ITIMER_REAL, after_s, REPEAT_S)

    def hold(self) -> None:
        with self._lock:
            if self._is_live:
                signal.setitimer(signal.ITIMER_REAL, 0)

    def kick(self) -> None:
        self.schedule(0)

    def finish(self) -> None:
        with self._lock:
            if self._is_live:
                self._is_live = False
                signal.setitimer(signal.ITIMER_REAL, 0)
                # A handler from outside Python cannot be put back; the default would end the process.
                before = self._alarm_before
                _set_handler(signal.SIGALRM, signal.SIG_IGN if before is None else before)
                left, interval = self._timer_before
                if left:
                    left -= time.monotonic() - self._started
                    signal.setitimer(signal.ITIMER_REAL, max(left, _SOON_S), interval)
        self.remove()

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        del number
        self.ask(frame)


class ThreadStopper:
    """In any thread, by an exception from another one: it comes as soon as Python code runs there."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._lock = threading.RLock()
        self._is_live = False
        self._due: float | None = None

    def start(self) -> None:
        self._ident = threading.get_ident()
        self._is_live = True
        WATCHER.add(self._tick)

    def schedule(self, after_s: float) -> None:
        self._due = None if after_s == _NEVER else time.monotonic() + after_s
        WATCHER.wake()

    def hold(self) -> None:
        self._due = None

    def kick(self) -> None:
        self.schedule(0)

    def finish(self) -> None:
        with self._lock:
            if self._is_live:
                self._is_live = False
                self._take_back()
        WATCHER.remove(self._tick)

    def _tick(self, now: float) -> float:
        """Ask if it is time; gives when to ask next."""
        with self._lock:
            due = self._due
            if not self._is_live or due is None:
                return now + 60
            if now < due:
                return due
            # The interpreter's lock is ours, so the thread stands still in this very place, and what is
            # set here is raised there.
            raised = self._decide(sys._current_frames().get(self._ident))
            if raised is not None:
                self._raise(raised)
            if self._due is not None and self._due <= now:
                self._due = now + REPEAT_S
            return now + REPEAT_S

    def _raise(self, kind: type[BaseException]) -> None:
        raise_in(self._ident, kind)

    def _take_back(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._ident), None)


class InterruptStopper(ThreadStopper):
    """In the main thread where there is no timer signal (Windows)."""

    def __init__(self, decide: Decide, on_sigint: Callable[[], None] | None) -> None:
        super().__init__(decide)
        self._sigint = _Sigint(decide, on_sigint)
        self._is_ours = False

    @property
    def passes_on(self) -> bool:
        return self._sigint.passes_on

    @passes_on.setter
    def passes_on(self, passes_on: bool) -> None:
        self._sigint.passes_on = passes_on

    def start(self) -> None:
        before = _get_handler(signal.SIGINT)
        self._sigint._before = before if callable(before) else None
        if self._sigint._before is not None:
            _set_handler(signal.SIGINT, self._handle)
        super().start()

    def finish(self) -> None:
        super().finish()
        self._sigint.remove()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        is_ours, self._is_ours = self._is_ours, False
        if is_ours:
            self._sigint.ask(frame)
        else:
            self._sigint.handle(number, frame)

    def _raise(self, kind: type[BaseException]) -> None:
        del kind
        self._is_ours = True
        _thread.interrupt_main()

    def _take_back(self) -> None:
        self._is_ours = False


def raise_in(ident: int, kind: type[BaseException]) -> None:
    """Raise in another thread, as soon as Python code runs there."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(kind))


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
            if frame.f_code is here or frame.f_globals.get("__name__") == __name__:
                return None  # it is on its way out
            frame = frame.f_back
        return TimeLimitReached

    def wait() -> float:
        left = _NEVER if deadline is None else deadline - time.monotonic()
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
