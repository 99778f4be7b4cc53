"""Top-level await: code that awaits runs in an event loop of its own step.

It must not leave a task running, nor show the code any loop of others.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Coroutine, Generator
from types import CodeType
from typing import Any, cast

from agent_magic.core.values import Value
from agent_magic.execution.step.course import BOUNDARIES
from agent_magic.execution.stop.stoppers import Stopper
from agent_magic.execution.stop.stopping import StepEnd

_CLEANUP_S = 1.0
"""Tasks that are cancelled have this long to end."""


@contextlib.contextmanager
def no_visible_loop() -> Generator[None]:
    """The event loop that runs in this thread is not seen, so that code may run one of its own."""
    loop = asyncio._get_running_loop()
    if loop is None:
        yield
        return
    # From 3.14 on a thread has one current task, and entering another one's step is an error.
    swap: Callable[..., Value] | None = getattr(asyncio.tasks, "_swap_current_task", None)
    task = swap(loop, None) if swap is not None else None
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)
        if swap is not None:
            swap(loop, task)


def run_awaiting(
    blocks: list[CodeType], namespace: dict[str, Value], notes: list[str], stopper: Stopper
) -> Value:
    """Run blocks of code, of which some await, one after the other; gives the value of the last.

    Args:
        blocks: Coroutine code or not.
        notes: Takes a line that names tasks which were left.
        stopper: Ends the code.
    """
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(_on_trouble)
    stopper.wake_by(lambda: None if loop.is_closed() else loop.call_soon_threadsafe(_nothing))
    try:
        asyncio._set_running_loop(None)
        return _run_loop(loop, _run_blocks(blocks, namespace))
    finally:
        _close(loop, notes)


def _nothing() -> None:
    """A loop that has something to do looks at what was raised in its thread meanwhile."""


def _on_trouble(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # How a task ended is no news where the whole step did; those that are left are told in its notes.
    is_known = "destroyed" in context.get("message", "")
    if not is_known and not isinstance(context.get("exception"), StepEnd):
        loop.default_exception_handler(context)


async def _run_blocks(blocks: list[CodeType], namespace: dict[str, Value]) -> Value:
    value: Value = None
    for block in blocks:
        value = eval(block, namespace)  # noqa: S307 - the code of the step, which the guard has read
        if block.co_flags & inspect.CO_COROUTINE:
            value = await value
    return value


def _run_loop(loop: asyncio.AbstractEventLoop, main: Coroutine[Any, Any, Value]) -> Value:
    return loop.run_until_complete(main)


def _close(loop: asyncio.AbstractEventLoop, notes: list[str]) -> None:
    tasks = asyncio.all_tasks(loop)
    left = [task for task in tasks if cast("Any", task.get_coro()).__qualname__ != _run_blocks.__qualname__]
    for task in tasks:
        task.cancel()
    with contextlib.suppress(BaseException):
        if tasks:
            _run_whole(loop, _wait(tasks))
        _run_whole(loop, loop.shutdown_asyncgens())
    if left:
        names = ", ".join(sorted(cast("Any", task.get_coro()).__qualname__ for task in left)[:5])
        count = (
            "1 task that was not awaited was"
            if len(left) == 1
            else f"{len(left)} tasks that were not awaited were"
        )
        notes.append(f"{count} cancelled: {names}. Await tasks before the code ends.")
    for task in tasks:
        if task.done() and not task.cancelled():
            task.exception()  # looked at, so that nothing is logged
    loop.close()


def _run_whole(loop: asyncio.AbstractEventLoop, main: Coroutine[Any, Any, Value]) -> None:
    try:
        _run_loop(loop, main)
    finally:
        if inspect.getcoroutinestate(main) == inspect.CORO_CREATED:  # the end of the step came before it
            main.close()


async def _wait(tasks: set[asyncio.Task[Value]]) -> None:
    await asyncio.wait(tasks, timeout=_CLEANUP_S)


BOUNDARIES.add(_run_loop.__code__)
