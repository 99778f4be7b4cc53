"""Stoppers: raise in the thread that they were started in, by signals or from another thread, until they are done.

They must not know what runs nor why it is stopped: they ask.
"""

from __future__ import annotations

import _thread
import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Protocol

from agent_magic.execution.stop.handlers import get_handler, set_handler
from agent_magic.execution.stop.watching import WATCHER

Decide = Callable[[FrameType | None], type[BaseException] | None]
"""What is to be raised in the place where a frame stands, if anything."""

OnSigint = Callable[[FrameType | None], bool]
"""Takes the frame where Ctrl-C came; whether what the handler before raises is let through."""

REPEAT_S = 0.05
"""What was swallowed is raised again after this time."""
_SOON_S = 0.001
_DEAF_S = 0.15
"""A signal that is not heard for so long is not going to be: where code is as deep as it may call, no handler can be."""
NEVER = float("inf")
_LOOKS = 1_000
"""At one turn of a loop at the latest the interpreter looks for what is to be raised."""


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

    def wake_by(self, wake: Callable[[], object]) -> None:
        """Call `wake` when something was raised from another thread: what waits outside of Python must hear of it."""
        ...


class _Sigint:
    """Ctrl-C while code runs: told, handed on, and raised as what ends the code."""

    def __init__(self, decide: Decide, on_sigint: OnSigint | None) -> None:
        self._decide = decide
        self._on_sigint = on_sigint
        self._before: Callable[[int, FrameType | None], object] | None = None

    def install(self) -> None:
        before = get_handler(signal.SIGINT) if self._on_sigint is not None else None
        # Who has set this signal to be ignored, or handles it outside Python, wants it so.
        if callable(before):
            self._before = before
            set_handler(signal.SIGINT, self.handle)

    def remove(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            set_handler(signal.SIGINT, before)

    def handle(self, number: int, frame: FrameType | None) -> None:
        before = self._before
        passes_on = self._on_sigint is not None and self._on_sigint(frame)
        if before is not None:
            try:
                before(number, frame)
            except BaseException:  # KeyboardInterrupt is what it raises; `ask` raises in its place
                if passes_on:
                    raise
        self.ask(frame)

    def ask(self, frame: FrameType | None) -> None:
        raised = self._decide(frame)
        if raised is not None:
            raise raised


class SignalStopper(_Sigint):
    """In the main thread, by the timer signal: it wakes whatever waits or sleeps.

    Where no handler can be called, an exception from another thread comes in its place.
    """

    def __init__(self, decide: Decide, on_sigint: OnSigint | None) -> None:
        super().__init__(decide, on_sigint)
        self._lock = threading.RLock()
        self._is_live = False
        self._due = NEVER
        self._is_watched = False
        self._is_sent = False
        """An exception from another thread is on its way, or has come."""

    def start(self) -> None:
        """As `Stopper` says."""
        self.install()
        self._ident = threading.get_ident()
        self._alarm_before = set_handler(signal.SIGALRM, self._on_alarm)
        self._is_live = True
        self._timer_before = signal.setitimer(signal.ITIMER_REAL, 0)
        self._started = time.monotonic()

    def schedule(self, after_s: float) -> None:
        """As `Stopper` says."""
        with self._lock:
            if self._is_live:
                if not self._is_watched:
                    self._is_watched = True
                    WATCHER.add(self._tick, is_urgent=False)
                self._due = NEVER if after_s == NEVER else time.monotonic() + after_s
                after_s = 0 if after_s == NEVER else max(after_s, _SOON_S)
                signal.setitimer(signal.ITIMER_REAL, after_s, REPEAT_S)

    def hold(self) -> None:
        """As `Stopper` says."""
        with self._lock:
            self._due = NEVER
            if self._is_live:
                signal.setitimer(signal.ITIMER_REAL, 0)

    def kick(self) -> None:
        """As `Stopper` says."""
        self.schedule(0)

    def finish(self) -> None:
        """As `Stopper` says."""
        with self._lock:
            if self._is_live:
                self._is_live = False
                signal.setitimer(signal.ITIMER_REAL, 0)
                if self._is_sent:
                    _take_back(self._ident)
                # A handler from outside Python cannot be put back; the default would end the process.
                before = self._alarm_before
                set_handler(signal.SIGALRM, signal.SIG_IGN if before is None else before)
                left, interval = self._timer_before
                if left:
                    left -= time.monotonic() - self._started
                    signal.setitimer(signal.ITIMER_REAL, max(left, _SOON_S), interval)
        if self._is_watched:
            WATCHER.remove(self._tick)
        self.remove()

    def wake_by(self, wake: Callable[[], object]) -> None:
        """As `Stopper` says: a signal wakes whatever waits."""

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        del number
        due = self._due
        try:
            self._due = time.monotonic() + REPEAT_S  # heard; the next comes by itself
            raised = self._decide(frame)
        except RecursionError:  # not heard after all: the code is as deep as it may go
            self._due = due
            return
        if raised is not None:
            raise raised

    def _tick(self, now: float) -> float:
        """Raise what the handler should have, if it is not heard; gives when to look next."""
        with self._lock:
            if self._is_live and self._due + _DEAF_S < now:
                raised = self._decide(sys._current_frames().get(self._ident))
                if raised is not None:
                    self._is_sent = True
                    raise_in(self._ident, raised)
        return now + _DEAF_S


class ThreadStopper:
    """In any thread, by an exception from another one: it comes as soon as Python code runs there."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._wake: Callable[[], object] = _nothing
        self._lock = threading.RLock()
        self._is_live = False
        self._due: float | None = None

    def start(self) -> None:
        """As `Stopper` says."""
        self._ident = threading.get_ident()
        self._is_live = True
        WATCHER.add(self._tick)

    def schedule(self, after_s: float) -> None:
        """As `Stopper` says."""
        self._due = None if after_s == NEVER else time.monotonic() + after_s
        WATCHER.wake()

    def hold(self) -> None:
        """As `Stopper` says."""
        self._due = None

    def kick(self) -> None:
        """As `Stopper` says."""
        self.schedule(0)

    def finish(self) -> None:
        """As `Stopper` says."""
        with self._lock:
            if self._is_live:
                self._is_live = False
                self._take_back()
        WATCHER.remove(self._tick)

    def wake_by(self, wake: Callable[[], object]) -> None:
        """As `Stopper` says."""
        self._wake = wake

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
                self._wake()
            if self._due is not None and self._due <= now:
                self._due = now + REPEAT_S
            return now + REPEAT_S

    def _raise(self, kind: type[BaseException]) -> None:
        raise_in(self._ident, kind)

    def _take_back(self) -> None:
        _take_back(self._ident)


class InterruptStopper(ThreadStopper):
    """In the main thread where there is no timer signal (Windows)."""

    def __init__(self, decide: Decide, on_sigint: OnSigint | None) -> None:
        super().__init__(decide)
        self._sigint = _Sigint(decide, on_sigint)
        self._is_ours = False

    def start(self) -> None:
        """As `Stopper` says."""
        before = get_handler(signal.SIGINT)
        self._sigint._before = before if callable(before) else None
        if self._sigint._before is not None:
            set_handler(signal.SIGINT, self._handle)
        super().start()

    def finish(self) -> None:
        """As `Stopper` says."""
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
    _set_async(ident, kind)
    _settle()


def _take_back(ident: int) -> None:
    _set_async(ident, None)
    _settle()


def _nothing() -> None:
    """Nothing waits."""


def _set_async(ident: int, kind: type[BaseException] | None) -> None:
    # None as a C pointer takes back what was not raised yet.
    exception = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), exception)


class _Settled(BaseException):
    """Raised in the thread that asks for it, at once."""


def _settle() -> None:
    """Let the interpreter look no more for an exception that another thread may never meet.

    Until one is raised somewhere it stops at every call to look, in all threads; while a debugger or
    a coverage tool traces, CPython 3.11 never gets on from there. One raised here ends that. The other
    thread is not spared by it: it looks by itself as soon as it runs.
    """
    try:
        _set_async(threading.get_ident(), _Settled)
        for _ in range(_LOOKS):
            pass
    except _Settled:
        pass
