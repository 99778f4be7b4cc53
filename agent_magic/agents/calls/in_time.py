"""Calls of tools that have a time limit: given up when it is over, with a word to the model.

It must not stop a body: Python has no way to. Left behind, it goes on in its daemon thread.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable

from agent_magic.agents.run.run import Run
from agent_magic.agents.threads.side_by_side import THREADS
from agent_magic.core.errors import ToolExecutionError
from agent_magic.core.flag import Flag
from agent_magic.core.values import Value
from agent_magic.tools.tool import PreparedCall, Tool


def invoke_in_time(tool: Tool, prepared: PreparedCall, run: Run) -> Value:
    """What the body returns: in this thread, or in another one if the tool has a time limit.

    Setting the tool up is not counted. An awaitable is not awaited.

    Raises:
        ToolExecutionError: The time is over. The body goes on, and what comes of it is let go.
        Interrupted: The person stopped the run while the body had a thread of its own.
        BaseException: What the body raised.
    """
    if tool.timeout_s is None:
        return tool.invoke(prepared)
    tool.get_ready()
    body = _Body(tool, prepared)
    take_off = run.on_interrupt(body.over.set)
    try:
        THREADS.start(body.run)
        body.over.wait(tool.timeout_s)
    finally:
        take_off()
    if not body.is_done:
        run.raise_if_interrupted()
        raise ToolExecutionError(tell_too_long(tool, is_left=True))
    if body.raised is not None:
        raise body.raised
    return body.returned


async def await_in_time(awaitable: Awaitable[Value], tool: Tool) -> Value:
    """The value of an awaitable that the tool's body gave; it is cancelled when the time is over.

    Raises:
        ToolExecutionError: The time is over.
    """
    if tool.timeout_s is None:
        return await awaitable
    limit = asyncio.timeout(tool.timeout_s)
    try:
        async with limit:
            return await awaitable
    except TimeoutError:
        if not limit.expired():  # its own
            raise
        raise ToolExecutionError(tell_too_long(tool, is_left=False)) from None


def tell_too_long(tool: Tool, *, is_left: bool) -> str:
    """What the model is told of a call that was given up.

    Args:
        tool: Of the call.
        is_left: Its body still runs.
    """
    left = (
        "It cannot be stopped: it may still run in the background, and its result is not used. "
        if is_left
        else ""
    )
    return (
        f"{tool.name} took longer than {tool.timeout_s:g} s and was given up. {left}"
        "Call it with less to do, or use another tool."
    )


class _Body:
    """One call in a thread of its own."""

    def __init__(self, tool: Tool, prepared: PreparedCall) -> None:
        self._call = (tool, prepared)
        self._context = contextvars.copy_context()
        self.over = Flag()
        self.is_done = False
        self.returned: Value = None
        self.raised: BaseException | None = None

    def run(self) -> None:
        """Call the body."""
        tool, prepared = self._call
        try:
            self.returned = self._context.run(tool.invoke, prepared)
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that waits
            self.raised = error
        self.is_done = True
        self.over.set()
