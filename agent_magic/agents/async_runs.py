"""Runs for asynchronous code: each works in a thread of its own, and the caller's event loop stays free.

It must not know how a run is made, nor what its events mean.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass

from agent_magic.agents.calls.main_thread import MAIN_THREAD, LoopThread, is_known
from agent_magic.agents.run.run import BY_PERSON, Run
from agent_magic.agents.threads.side_by_side import THREADS
from agent_magic.core.events import Event, RunEnded

CANCELLED = "The task that awaited the run was cancelled."
CLOSED = "The events of the run were closed."

GRACE_S = 0.5
"""How long an interrupted run may take to end by itself, before it is left behind."""

Drive = Callable[[], Generator[Event, None, object]]
"""Gives the events of a run, which is made as they are taken."""
Close = Callable[[str], None]
"""Records a run that was left as interrupted, with the reason."""


async def finish(run: Run, drive: Drive, close: Close) -> None:
    """Make a run to its end.

    A model or a tool that cannot be stopped ends behind when the task is cancelled or the run is
    interrupted; its results are not used.
    """
    loop = run.loop = asyncio.get_running_loop()
    news: asyncio.Future[None] = loop.create_future()  # that it ended, or that it was interrupted before
    outcome: list[BaseException | None] = []

    def work() -> None:
        error: BaseException | None = None
        try:
            for _ in drive():
                pass
        except BaseException as raised:  # noqa: BLE001 - it is raised again where it is awaited
            error = raised
        outcome.append(error)
        _tell(loop, tell)

    def tell() -> None:
        if not news.done():
            news.set_result(None)

    take_off = run.on_interrupt(lambda: _tell(loop, tell))
    _start(work)
    try:
        await news
        if not outcome:
            news = loop.create_future()
            await asyncio.wait({news}, timeout=GRACE_S)
        if not outcome:
            close(run.reason or BY_PERSON)
        elif outcome[0] is not None:
            raise outcome[0]
    except asyncio.CancelledError:
        close(CANCELLED)
        raise
    finally:
        take_off()


async def follow(run: Run, drive: Drive, close: Close) -> AsyncGenerator[Event, None]:
    """The events of a run as they happen; the run waits until each is asked for, as a generator does."""
    loop = run.loop = asyncio.get_running_loop()
    news: asyncio.Queue[Event | _End] = asyncio.Queue()
    is_wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()
    caller = threading.get_ident()

    def work() -> None:
        is_inline = (
            threading.get_ident() == caller
        )  # no thread could start: nobody could say that he wants one
        error: BaseException | None = None
        try:
            with contextlib.closing(drive()) as events:
                while is_inline or is_wanted.get():
                    event = next(events, None)
                    if event is None:
                        break
                    _tell(loop, lambda event=event: news.put_nowait(event))
        except BaseException as raised:  # noqa: BLE001 - as above
            error = raised
        _tell(loop, lambda: news.put_nowait(_End(error)))

    stopped: asyncio.Future[None] = loop.create_future()
    take_off = run.on_interrupt(lambda: _tell(loop, lambda: _settle(stopped)))
    _start(work)
    has_ended = False
    reason = CANCELLED
    try:
        while True:
            is_wanted.put(True)
            item = await _next(news, stopped)
            if item is None:  # it was interrupted, and what it waits for cannot be stopped
                has_ended = True
                close(run.reason or BY_PERSON)
                is_wanted.put(False)
                assert run.result is not None
                yield RunEnded(result=run.result)
                return
            if isinstance(item, _End):
                has_ended = True
                if item.error is not None:
                    raise item.error
                return
            reason = CLOSED
            yield item
            reason = CANCELLED
    finally:
        take_off()
        if not has_ended:
            close(reason)
            is_wanted.put(False)


async def _next(news: asyncio.Queue[Event | _End], stopped: asyncio.Future[None]) -> Event | _End | None:
    """What comes next; None if nothing comes of a run that was interrupted."""
    coming = asyncio.ensure_future(news.get())
    try:
        await asyncio.wait({coming, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not coming.done():
            await asyncio.wait({coming}, timeout=GRACE_S)
        return coming.result() if coming.done() else None
    finally:
        coming.cancel()


@dataclass(frozen=True, slots=True)
class _End:
    """There are no more events."""

    error: BaseException | None


def _start(work: Callable[[], None]) -> None:
    context = contextvars.copy_context()
    if not is_known():
        context.run(MAIN_THREAD.set, LoopThread(asyncio.get_running_loop()))
    THREADS.start(lambda: context.run(work))


def _tell(loop: asyncio.AbstractEventLoop, news: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
        loop.call_soon_threadsafe(news)


def _settle(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
