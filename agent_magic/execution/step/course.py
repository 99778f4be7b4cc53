"""Running: a block of code while it runs: its clock, its answer, and why it ends before its last line.

It must not run code itself, nor know where names, prints and displays are kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Generator
from types import CodeType, FrameType
from typing import Literal, NoReturn

from agent_magic.core.values import Value
from agent_magic.execution.prints.sinks import CURRENT_SINK, CodeSink, Sink
from agent_magic.execution.request import CodeStep
from agent_magic.execution.stop.checkpoints import STOP
from agent_magic.execution.stop.stoppers import REPEAT_S, Stopper, raise_in
from agent_magic.execution.stop.stopping import StepEnd, new_stopper
from agent_magic.execution.stop.watching import MemoryWatch


def _nothing() -> None:
    """No executor has anything to do."""


Reason = Literal["answered", "timeout", "interrupted", "memory", "held"]
"""Why code ends before its last line; `held`: when it was to go on, other code that nothing can stop was in its place."""

GRACE_S = 1.0
"""For so long `finally` blocks and the like may run after an answer."""
_THREADS_END_S = 0.05
"""Threads of code that was stopped have this long to end."""
_CLEANUP_S = 0.1
"""Likewise after the time limit or an interrupt, of which each is raised again and again."""
_WATCH_AFTER_S = 0.2
"""Code that runs longer has its memory watched."""
QUIET: set[str] = {
    f"agent_magic.execution.{name}"
    for name in (
        "displaying",
        "executor",
        *(f"prints.{name}" for name in ("sinks", "streams")),
        *(f"step.{name}" for name in ("audit", "awaiting", "course", "running", "turns", "writing")),
        *(f"stop.{name}" for name in ("stoppers", "stopping", "watching")),
        "telling.ending",
        *(f"values.{name}" for name in ("interpreter", "protecting", "restoring", "tables")),
    )
}
"""Modules into which nothing is raised: what they do is done whole."""

BOUNDARIES: set[CodeType] = set()
"""Of the functions that enter code, and an event loop for it."""
FILENAMES: set[str] = set()
"""Of all code that has run; functions that it defined have them for life."""


_due: set[Running] = set()
"""Those whose code is to end."""


class Running:
    """One step's code, from before it is entered until all is put back."""

    def __init__(
        self, step: CodeStep, namespace: dict[str, Value], *, filename: str, parent: Running | None = None
    ) -> None:
        self.step = step
        self.namespace = namespace
        self.filename = filename
        self.parent = parent
        """The step whose code entered this one, not through a tool."""
        self.sink = CodeSink(step.max_output)
        self.sink_before: Sink | None = CURRENT_SINK.get()
        self.loop_before: asyncio.AbstractEventLoop | None = asyncio._get_running_loop()
        self.reason: Reason | None = None
        self.is_answered = False
        self.answer: Value = None
        self.notes: list[str] = []
        self.refusals: list[str] = []
        self.threads: list[threading.Thread] = []
        self.line: int | None = None
        """Of the code, where it was stopped."""
        self.is_over = False
        self.is_signalled = False
        """Ctrl-C came, and nobody was told yet."""
        self.held_by: str | None = None
        """Why it did not get its turn back."""
        self.needs_turn = self.has_turn = False
        """Nobody else's code runs in the namespace."""
        self.on_leave: Callable[[], None] = _nothing
        """Called when the first of its threads leaves the code for a person's."""
        self.on_return: Callable[[], None] = _nothing
        """Called when the last one is about to come back."""
        self.lock = threading.RLock()
        self.stopper: Stopper = new_stopper(self._decide, self._on_sigint)
        self._thread = threading.current_thread()
        self._n_holds = 0
        self._outside: set[threading.Thread] = set()
        self._n_outside = 0
        self._is_outside = False
        self._left_s = step.guard.timeout_s
        self._spent_s = 0.0
        self._resumed: float | None = None
        self._stopped = 0.0
        self._watch: MemoryWatch | None = None
        self._take_off: Callable[[], None] | None = None

    # -- its time ----------------------------------------------------------------------------

    @property
    def taken_s(self) -> float:
        """The code's own time so far."""
        since = 0.0 if self._resumed is None else time.monotonic() - self._resumed
        return self._spent_s + since

    def start(self) -> None:
        """Be ready for signals; the clock stands yet."""
        self.stopper.start()
        self._take_off = self.step.on_interrupt(self._on_interrupt)

    def resume_clock(self) -> None:
        """The code's own time goes on."""
        self._resumed = time.monotonic()
        self.stopper.schedule(self._next_look())

    def stop_clock(self) -> None:
        """What follows is not the code's own time."""
        self.stopper.hold()
        if self._resumed is not None:
            self._spent_s += time.monotonic() - self._resumed
            self._resumed = None

    @contextlib.contextmanager
    def clock_stopped(self) -> Generator[None]:
        """While an async tool is awaited: other threads and tasks of the code may go on."""
        self._hold_clock()
        try:
            yield
        finally:
            self._let_clock_go()

    def finish(self) -> None:
        """Nothing is raised any more, and signals go where they went before."""
        self.is_over = True
        _due.discard(self)
        STOP.is_due = bool(_due)
        if self._watch is not None:
            self._watch.finish()
        if self._take_off is not None:
            take_off, self._take_off = self._take_off, None
            take_off()
        self.stopper.finish()

    # -- its end -----------------------------------------------------------------------------

    def take_answer(self, value: Value) -> NoReturn:
        """Keep the first answer, then end the code of the calling thread."""
        with self.lock:
            if not self.is_answered and self.reason != "interrupted" and not self.is_over:
                self.is_answered, self.answer = True, value
                self.stop("answered")
                # Whoever answers in another thread has nothing to clean up here.
                is_own = threading.current_thread() is self._thread
                self.stopper.schedule(GRACE_S if is_own else 0)
        raise StepEnd

    def stop(self, reason: Reason) -> None:
        """From now on the code is to end; the first reason counts."""
        if self.reason is None:
            self.reason = reason
            self.sink.is_left = reason == "interrupted"
            self._stopped = time.monotonic()
            _due.add(self)
            STOP.is_due = True

    @property
    def name(self) -> str:
        """Of the step, for those who wait for its end."""
        return self.step.label

    @property
    def overdue_s(self) -> float:
        """How long ago the code was to end; 0 if it may go on."""
        return 0.0 if self.reason is None else time.monotonic() - self._stopped

    @property
    def is_overdue(self) -> bool:
        """Whether the code was to end, and has had its time to clean up."""
        grace_s = GRACE_S if self.reason == "answered" else _CLEANUP_S
        return self.reason is not None and time.monotonic() - self._stopped > grace_s

    def stop_threads(self) -> None:
        """End the threads that the code has started, as far as they run Python code; not a person's in them."""
        alive = [thread for thread in self.threads if thread.is_alive()]
        for thread in alive:
            if thread not in self._outside and thread is not threading.current_thread():
                raise_in(thread.ident or 0, StepEnd)
        end = time.monotonic() + _THREADS_END_S
        for thread in alive:
            thread.join(max(0.0, end - time.monotonic()))

    def _on_sigint(self, frame: FrameType | None) -> bool:
        self.stop("interrupted")
        self._kick_soon()
        # What a person's code is to be told by Ctrl-C is for its own handler to say.
        is_passed_on = self._is_outside and not _is_quiet(frame)
        self.is_signalled = self.is_signalled or not is_passed_on
        return is_passed_on

    def _on_interrupt(self) -> None:
        self.stop("interrupted")
        self.stopper.kick()

    def _on_too_much_memory(self, taken: float) -> None:
        self.notes.append(f"The memory of the process grew by {taken / 1e9:,.1f} GB while the code ran.")
        self.stop("memory")
        self.stopper.kick()

    def _kick_soon(self) -> None:
        if not self._is_outside:
            self.stopper.schedule(REPEAT_S)

    def _next_look(self) -> float:
        """Seconds until there is something to decide."""
        if self.reason is not None:
            return 0.0
        left = float("inf") if self._left_s is None else self._left_s - self.taken_s
        return left if self._watch is not None else min(left, max(0.0, _WATCH_AFTER_S - self.taken_s))

    def _decide(self, frame: FrameType | None) -> type[BaseException] | None:
        if self._is_outside or self.is_over:
            self.stopper.hold()
            return None
        if self.reason is None and self.step.is_interrupted():
            self.stop("interrupted")
        if self.reason is None and self._resumed is not None:
            if self._left_s is not None and self.taken_s >= self._left_s:
                self.stop("timeout")
            else:
                self._begin_watch()
                self.stopper.schedule(self._next_look())
                return None
        if self.reason is None or not self._is_in_code(frame):
            return None
        return StepEnd

    def _begin_watch(self) -> None:
        if self._watch is None:
            self._watch = MemoryWatch(self._on_too_much_memory)
            self._watch.start()

    def _is_in_code(self, frame: FrameType | None) -> bool:
        """Whether what is raised in `frame` comes through the code; notes the line if so."""
        is_in_code = False
        depth = 0
        while frame is not None:
            code = frame.f_code
            if code.co_filename in FILENAMES:
                is_in_code = True
                if code.co_filename == self.filename:
                    self.line = self.line or frame.f_lineno
                    return True
            elif code in BOUNDARIES:
                return is_in_code or depth > 0
            elif not is_in_code and frame.f_globals.get("__name__") in QUIET:
                return False
            frame = frame.f_back
            depth += 1
        return is_in_code

    # -- a person's code inside ---------------------------------------------------------------

    def leave(self) -> None:
        """The calling thread leaves the code for a person's."""
        if threading.current_thread() is self._thread:
            self._is_outside = True
        self._hold_clock()
        with self.lock:
            self._outside.add(threading.current_thread())
            self._n_outside += 1
            if self._n_outside == 1:
                self.on_leave()

    def come_back(self) -> None:
        """The calling thread goes on with the code."""
        with self.lock:
            self._n_outside -= 1
            self._outside.discard(threading.current_thread())
            if self._n_outside == 0:
                self.on_return()
        self._let_clock_go()
        if threading.current_thread() is self._thread:
            self._is_outside = False
            if self.reason is not None:
                self.stopper.schedule(GRACE_S if self.reason == "answered" else 0)

    def _hold_clock(self) -> None:
        with self.lock:
            self._n_holds += 1
            if self._n_holds == 1:
                self.stop_clock()

    def _let_clock_go(self) -> None:
        with self.lock:
            self._n_holds -= 1
            if self._n_holds == 0:
                self.resume_clock()


def _is_quiet(frame: FrameType | None) -> bool:
    """Whether one of our own functions is at work there, which nothing may leave half done."""
    while frame is not None and frame.f_code.co_filename not in FILENAMES:
        if frame.f_globals.get("__name__") in QUIET:
            return True
        frame = frame.f_back
    return False
