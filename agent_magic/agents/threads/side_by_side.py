"""The one seam that runs things side by side: kept threads, and one background event loop.

It must not know what it runs. Where no thread can start, jobs run in the caller's thread.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Awaitable, Callable

from agent_magic.agents.threads.promise import Promise
from agent_magic.core.threads import on_fork, start_thread
from agent_magic.core.values import Value

_IDLE_S = 30.0


class TimeIsOver(Exception):  # noqa: N818 - it says what happened
    """What was waited for took longer than it may."""


class KeptThreads:
    """Daemon threads that wait for the next job for a while before they end.

    `concurrent.futures` joins its threads when Python exits, so a tool that hangs would keep the
    process alive; starting 128 threads anew for each step would cost more than the calls.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Callable[[], None]]] = []
        on_fork(self._begin_anew)

    def _begin_anew(self) -> None:
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
            start_thread(lambda: self._work(jobs), "agent_magic")
        except RuntimeError:
            job()

    def _work(self, jobs: queue.SimpleQueue[Callable[[], None]]) -> None:
        is_forgotten = False
        while True:
            try:
                job = jobs.get(timeout=_IDLE_S)
            except queue.Empty:
                with self._lock:
                    if jobs in self._idle:
                        self._idle.remove(jobs)
                        return
                if is_forgotten:  # Ctrl-C came after `start` had taken this thread, before it had the job
                    return
                is_forgotten = True  # or its job is on the way
                continue
            is_forgotten = False
            job()
            del job  # it holds the arguments and the result of a call, which are the person's
            with self._lock:
                self._idle.append(jobs)


class BackgroundLoop:
    """An event loop in a daemon thread, for coroutines that are wanted from synchronous code."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        on_fork(self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._loop = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop, running; started at the first call, and again in a forked process."""
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                start_thread(lambda: self._run(loop), "agent_magic_loop")
                self._loop = loop
            return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            with self._lock:
                if self._loop is loop:
                    self._loop = None


THREADS = KeptThreads()
BACKGROUND_LOOP = BackgroundLoop()


class Carried:
    """An awaitable that runs in a loop of another thread. The coroutine sees the caller's context variables.

    Args:
        awaitable: Of any thread's making.
        loop: Running.
        on_end: Called, in the loop's thread, when `done` is over.
    """

    def __init__(
        self,
        awaitable: Awaitable[Value],
        loop: asyncio.AbstractEventLoop,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.done: Promise[Value] = Promise()
        self._awaitable = awaitable
        self._loop = loop
        self._on_end = on_end
        self._context = contextvars.copy_context()
        self._task: asyncio.Task[Value] | None = None
        self._has_begun = self._is_cancelled = False

    def begin(self) -> None:
        """Let it run."""
        self._has_begun = True
        self._loop.call_soon_threadsafe(self._begin)

    def cancel(self) -> None:
        """Nobody waits for it any more: it is cancelled there."""
        if not self._has_begun:
            self._is_cancelled = True
            self._close()
        elif not self.done.is_over and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._cancel)

    def _begin(self) -> None:
        if self._is_cancelled:
            self._close()
            self.done.break_(asyncio.CancelledError())
            self._on_end()
            return
        self._task = self._loop.create_task(self._carry(), context=self._context)
        self._task.add_done_callback(self._end)

    def _cancel(self) -> None:
        self._is_cancelled = True  # it may come before the beginning
        if self._task is not None:
            self._task.cancel()

    def _close(self) -> None:
        if asyncio.iscoroutine(self._awaitable):
            self._awaitable.close()  # or Python complains that nobody awaited it

    async def _carry(self) -> Value:
        try:
            return await self._awaitable
        except (SystemExit, KeyboardInterrupt) as stop:
            # A task that raises one of these stops its loop, and with it all that else runs there.
            self.done.break_(stop)
            return None

    def _end(self, ended: asyncio.Task[Value]) -> None:
        if ended.cancelled():
            self.done.break_(asyncio.CancelledError())
        elif (error := ended.exception()) is not None:
            self.done.break_(error)
        else:
            self.done.keep(ended.result())
        self._close()  # it may have been cancelled before it began
        self._on_end()


def wait_for(
    awaitable: Awaitable[Value],
    loop: asyncio.AbstractEventLoop,
    on_interrupt: Callable[[Callable[[], None]], Callable[[], None]],
    timeout_s: float | None = None,
) -> Value:
    """Run an awaitable in `loop`, which runs in another thread, and wait for its value.

    An exception that reaches the waiting thread (Ctrl-C) cancels it there, and so does an interrupt.

    Args:
        awaitable: Of any thread's making.
        loop: Running.
        on_interrupt: Takes what is to be called at an interrupt, gives what takes it off again.
        timeout_s: So long it is waited for.

    Raises:
        TimeIsOver: It took longer; it is cancelled.
        BaseException: What the awaitable raised.
    """
    carried = Carried(awaitable, loop)
    take_off = on_interrupt(carried.cancel)
    try:
        carried.begin()
        return carried.done.wait(timeout_s)
    except TimeoutError as error:
        if carried.done.is_over:  # it raised one itself
            raise
        carried.cancel()
        raise TimeIsOver from error
    except BaseException:  # Ctrl-C above all: nobody waits for the task any more
        carried.cancel()
        raise
    finally:
        take_off()
