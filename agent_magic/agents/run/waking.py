"""Interrupts from another thread while a run keeps the main thread busy: raised there, as Ctrl-C is.

So a tool or a model that sleeps there is not waited for. It must not record anything: the run does.
"""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
from collections.abc import Generator
from types import FrameType

from agent_magic.agents.run.run import Run
from agent_magic.agents.threads.side_by_side import THREADS
from agent_magic.core.flag import Flag
from agent_magic.execution.stop.handlers import get_handler, set_handler

_GRACE_S = 0.1
"""What waits in a way that an interrupt reaches ends by itself in this time, and records what it has come to."""


class Waking:
    """What an interrupt from another thread does to the main thread."""

    was_raised = False
    """A KeyboardInterrupt was raised, and no person pressed Ctrl-C."""
    was_pressed = False
    """A person pressed Ctrl-C, and that raised KeyboardInterrupt."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._is_over = Flag()
        self._is_sent = False

    def wake(self) -> None:
        """Send the signal if the run has not ended soon; the main thread itself goes on to where it looks."""
        if threading.current_thread() is not threading.main_thread():
            THREADS.start(self._send)

    def _send(self) -> None:
        self._is_over.wait(_GRACE_S)
        with self._lock:
            if self._is_over.is_set():
                return
            self._is_sent = True
            if hasattr(signal, "pthread_kill"):
                # To the thread itself, so that what sleeps or reads there is woken.
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                _thread.interrupt_main(signal.SIGINT)

    def take_signal(self) -> bool:
        """Whether the signal that came is ours; called in its handler.

        Raises:
            KeyboardInterrupt: It is, and the run goes on.
        """
        is_ours, self._is_sent = self._is_sent, False
        if is_ours and self._run.result is None:
            self.was_raised = True
            raise KeyboardInterrupt
        return is_ours

    def finish(self) -> None:
        """Send nothing any more: it would hit what comes next."""
        with self._lock:
            self._is_over.set()


@contextlib.contextmanager
def woken_by_interrupts(run: Run) -> Generator[Waking]:
    """Within it an interrupt of the run raises KeyboardInterrupt in the main thread, if that is where it is made."""
    waking = Waking(run)
    is_main = threading.current_thread() is threading.main_thread()
    before = get_handler(signal.SIGINT) if is_main else None
    # Who has set this signal to be ignored, or handles it outside Python, wants it so.
    if not callable(before):
        yield waking
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        if waking.take_signal():
            return
        try:
            before(number, frame)
        except KeyboardInterrupt:
            # A tool may swallow it, and so does Python in a finalizer: the run looks at this, too.
            waking.was_pressed = run.is_signalled = True
            raise

    set_handler(signal.SIGINT, on_signal)
    take_off = run.on_interrupt(waking.wake)
    try:
        yield waking
    finally:
        waking.finish()
        take_off()
        set_handler(signal.SIGINT, before)
