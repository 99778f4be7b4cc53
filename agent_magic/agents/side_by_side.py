"""The one seam that runs things side by side: kept threads, and one background event loop.

It must not know what it runs. Where no thread can start, jobs run in the caller's thread.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import queue
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future

from agent_magic.core.values import Value

_IDLE_S = 30.0


class TimeIsOver(Exception):  # noqa: N818 - it says what happened
    """What was waited for took longer than it may."""


def _at_fork(begin_anew: Callable[[], None]) -> None:
    if hasattr(os, "register_at_fork"):  # Windows has none, and no fork
        os.register_at_fork(after_in_child=begin_anew)


class KeptThreads:
    """Daemon threads that wait for the next job for a while before they end.

    `concurrent.futures` joins its threads when Python exits, so a tool that hangs would keep the
    process alive; starting 128 threads anew for each step would cost more than the calls.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Callable[[], None]]] = []
        _at_fork(self._begin_anew)

    def _begin_anew(self) -> None:
        # No thread but the one that forks is in the child, nor who holds the lock.
        self._lock = threading.Lock()
        self._idle = []

    def start(self, job: Callable[[], None]) -> None:
        """Run `job` in a thread; it must not raise. Inline where no thread can start."""
        with self._lock:
            jobs = self._idle.pop() if self._idle else None
        if jobs is not None:
            jobs.put(job)
            return
        jobs = queue.SimpleQueue()
        jobs.put(job)
        try:
            threading.Thread(target=self._work, args=(jobs,), name="agent_magic", daemon=True).start()
        except RuntimeError as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                # It has started, and does the job: Python's own wait for that does not stand Ctrl-C.
                raise KeyboardInterrupt from None
            job()

    def _work(self, jobs: queue.SimpleQueue[Callable[[], None]]) -> None:
        while True:
            try:
                job = jobs.get(timeout=_IDLE_S)
            except queue.Empty:
                with self._lock:
                    if jobs in self._idle:
                        self._idle.remove(jobs)
                        return
                continue  # `start` has taken this thread just now: its job is on the way
            job()
            del job  # it holds the arguments and the result of a call, which are the person's
            with self._lock:
                self._idle.append(jobs)


class BackgroundLoop:
    """An event loop in a daemon thread, for coroutines that are wanted from synchronous code."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        _at_fork(self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._loop = self._thread = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop, running; started at the first call, and again in a forked process."""
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="agent_magic_loop", daemon=True
                )
                self._thread.start()
            return self._loop


THREADS = KeptThreads()
BACKGROUND_LOOP = BackgroundLoop()


def wait_for(
    awaitable: Awaitable[Value],
    loop: asyncio.AbstractEventLoop,
    on_interrupt: Callable[[Callable[[], None]], Callable[[], None]],
    timeout_s: float | None = None,
) -> Value:
    """Run an awaitable in `loop`, which runs in another thread, and wait for its value.

    The coroutine sees the caller's context variables. An exception that reaches the waiting
    thread (Ctrl-C) cancels it there, and so does an interrupt.

    Args:
        awaitable: Of any thread's making.
        loop: Running.
        on_interrupt: Takes what is to be called at an interrupt, gives what takes it off again.
        timeout_s: So long it is waited for.

    Raises:
        TimeIsOver: It took longer; it is cancelled.
        BaseException: What the awaitable raised.
    """
    done: Future[Value] = Future()
    task: list[asyncio.Task[Value]] = []
    context = contextvars.copy_context()

    async def carry() -> Value:
        try:
            return await awaitable
        except (SystemExit, KeyboardInterrupt) as stop:
            # A task that raises one of these stops its loop, and with it all that else runs there.
            done.set_exception(stop)
            return None

    def begin() -> None:
        task.append(loop.create_task(carry(), context=context))
        task[0].add_done_callback(lambda ended: _hand_on(ended, done))

    def cancel() -> None:
        task[0].cancel()

    def cancel_from_outside() -> None:
        if not done.done() and not loop.is_closed():
            loop.call_soon_threadsafe(cancel)

    loop.call_soon_threadsafe(begin)
    take_off = on_interrupt(cancel_from_outside)
    try:
        return done.result(timeout_s)
    except TimeoutError as error:
        if done.done():  # it raised one itself
            raise
        cancel_from_outside()
        raise TimeIsOver from error
    except BaseException:  # Ctrl-C above all: nobody waits for the task any more
        cancel_from_outside()
        raise
    finally:
        take_off()


def _hand_on(ended: asyncio.Task[Value], done: Future[Value]) -> None:
    if done.done():
        return
    if ended.cancelled():
        done.set_exception(asyncio.CancelledError())
    elif (error := ended.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(ended.result())
