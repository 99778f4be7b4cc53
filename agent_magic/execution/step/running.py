"""Which step's code a thread runs, what that code may call to end itself, and a person's code inside it.

It must not run code itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from types import FrameType
from typing import NoReturn

from agent_magic.core.values import Value
from agent_magic.execution.prints.sinks import CURRENT_SINK
from agent_magic.execution.step.course import BOUNDARIES, FILENAMES, Running
from agent_magic.execution.stop.checkpoints import STOP
from agent_magic.execution.stop.stopping import StepEnd


class _Here(threading.local):
    running: Running | None = None
    """The step whose code this thread runs now."""


HERE = _Here()
LIVE: list[Running] = []
"""All steps whose code runs now."""


def current_step() -> Running | None:
    """The step whose code the calling thread runs; None in a person's code that it called."""
    return HERE.running


def give_answer(value: Value) -> NoReturn:
    """Keep the answer of the step that runs, if it is the first, and end the step's code.

    Raises:
        StepEnd: Always. Where that is swallowed, it comes again.
        RuntimeError: No step's code called it, as far as can be told.
    """
    running = HERE.running
    if running is None:
        # A thread that the person started earlier, such as one of a pool, knows of no step.
        running = LIVE[0] if len(LIVE) == 1 else None
    if running is None or running.is_over:
        raise RuntimeError("final_answer was called when its step was over, so the answer was not taken.")
    running.take_answer(value)


def enter_thread(thread: threading.Thread, running: Running) -> None:
    """Let a thread that code is starting be one of its step."""
    run = thread.run

    def run_in_step() -> None:
        del thread.run
        HERE.running = running
        CURRENT_SINK.set(running.sink)
        # Python ends a thread silently for SystemExit itself alone.
        with contextlib.suppress(StepEnd):
            run()

    # The class's own method is found again by whoever asks the thread later.
    thread.run = run_in_step
    running.threads.append(thread)


class persons_code:  # noqa: N801 - reads as a function: `with persons_code():`
    """Inside a step's code: what follows is a person's, such as a tool's body, or asks a person.

    Guard, clock, protection and capture of the code are off, its lent names are taken back, the event
    loop that ran before is back, and other steps may use the namespace. On leaving, what the body made of
    the person's variables is what is protected. Outside of a step it does nothing.

    Raises:
        StepEnd: On leaving, if the step is to end; on entering, if the person has just stopped it.
    """

    __slots__ = ("_loop", "_running", "_sink")

    def __enter__(self) -> None:
        self._running = running = HERE.running
        if running is None:
            return
        running.leave()
        HERE.running = None
        self._sink = CURRENT_SINK.get()
        CURRENT_SINK.set(running.sink_before)
        self._loop = asyncio._get_running_loop()
        if threading.current_thread() is running._thread:
            asyncio._set_running_loop(running.loop_before)

        if running.reason == "interrupted":  # Ctrl-C came on the way out
            self._return(running)
            raise StepEnd

    def __exit__(self, kind: type[BaseException] | None, *_raised: object) -> None:
        running = self._running
        if running is None:
            return
        self._return(running)
        if running.reason is not None and (kind is None or issubclass(kind, KeyboardInterrupt)):
            raise StepEnd

    def _return(self, running: Running) -> None:
        if threading.current_thread() is running._thread:
            asyncio._set_running_loop(self._loop)
        CURRENT_SINK.set(self._sink)
        HERE.running = running
        running.come_back()


def is_called_by_code() -> bool:
    """Whether it is code of a step that made this call, rather than a function of the person's.

    The nearest frame that lives in the namespace of the step tells; with none of it the code did, by a
    library.
    """
    running = HERE.running
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename in FILENAMES:
            return True
        if running is not None and frame.f_globals is running.namespace:
            return False
        if frame.f_code in BOUNDARIES:
            return True
        frame = frame.f_back
    return True


def _check_here() -> None:
    running = HERE.running
    if running is not None and running.reason is not None:
        raise StepEnd


def _check_late() -> None:
    running = HERE.running
    if running is not None and running.is_overdue:
        raise StepEnd


STOP.ask = _check_here
STOP.ask_late = _check_late
