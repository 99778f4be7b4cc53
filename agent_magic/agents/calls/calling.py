"""Runs the calls of one turn: in the caller's thread where there is one, else side by side.

It must not know messages: it gets prepared calls and gives outputs, errors, prints and times.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import queue
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from agent_magic.agents.calls.in_time import invoke_in_time, tell_too_long
from agent_magic.agents.calls.main_thread import (
    MAIN_THREAD,
    Errand,
    WaitingThread,
    elsewhere,
    is_known,
    make_there,
)
from agent_magic.agents.calls.managed import ManagedAgent, ManagedCall
from agent_magic.agents.run.observation import MAX_ERROR
from agent_magic.agents.run.run import Interrupted, Run
from agent_magic.agents.threads.side_by_side import BACKGROUND_LOOP, THREADS, TimeIsOver, wait_for
from agent_magic.core.current_run import in_run
from agent_magic.core.errors import StepError, ToolError, ToolExecutionError
from agent_magic.core.events import Event
from agent_magic.core.redact import redact
from agent_magic.core.steps import Timing
from agent_magic.core.text import strip_control, truncate
from agent_magic.core.values import Value
from agent_magic.execution.prints.sinks import Sink, printing_into
from agent_magic.tools.tool import PreparedCall, Tool

Ready = Mapping[int, tuple[Tool, PreparedCall]]
"""Calls that can be made, by their place in the turn."""
Manage = Callable[[int, ManagedAgent, PreparedCall], ManagedCall]
"""Makes the call of a managed agent at a place in the turn; it starts nothing yet."""
_RUNNING = object()
_PLAIN = (str, int, float, list, dict, tuple, type(None))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """News of one call: that its body is entered, an event of a managed agent's run, or what came of it."""

    place: int
    tool: Tool
    prepared: PreparedCall
    is_over: bool
    event: Event | None = None
    """Of the run of a managed agent, which goes on."""
    output: Value = None
    error: StepError | None = None
    printed: str = ""
    timing: Timing | None = None


class Body:
    """A tool's body that was entered; what it returned stands here the moment that it has."""

    __slots__ = ("managed", "prepared", "returned", "sink", "start", "tool")

    def __init__(self, tool: Tool, prepared: PreparedCall, managed: ManagedCall | None = None) -> None:
        self.tool = tool
        self.prepared = prepared
        self.managed = managed
        self.sink = Sink()
        self.start = time.time()
        self.returned: Value = _RUNNING

    @property
    def has_returned(self) -> bool:
        """Whether it came to its end without an error."""
        return self.returned is not _RUNNING and not _is_awaitable(self.returned)

    @property
    def timing(self) -> Timing:
        """From its start until now."""
        return Timing(start=self.start, end=time.time())

    def tell(self, place: int, event: Event) -> CallOutcome:
        """News of the run of a managed agent."""
        return CallOutcome(place=place, tool=self.tool, prepared=self.prepared, is_over=False, event=event)

    def to_outcome(self, place: int, error: StepError | None = None) -> CallOutcome:
        """What came of it."""
        return CallOutcome(
            place=place,
            tool=self.tool,
            prepared=self.prepared,
            is_over=True,
            output=self.returned if error is None else None,
            error=error,
            printed=self.sink.text,
            timing=self.timing,
        )


def call_tools(
    ready: Ready,
    run: Run,
    max_threads: int,
    bodies: dict[int, Body] | None = None,
    manage: Manage | None = None,
) -> Generator[CallOutcome, None, None]:
    """Make the calls; yield each one's start and end, the ends in order of completion.

    One call alone runs in the caller's thread, so that plots, sqlite and other things bound to a
    thread work. Of several, neighbours run side by side in threads; those marked `sequential`
    or `main_thread` run alone, in the caller's thread, in their place. While it waits for threads,
    the caller's makes what calls of managed agents in them have for the main thread.

    Args:
        ready: The calls.
        run: That makes them.
        max_threads: Side by side.
        bodies: Takes each body that is entered, by its place. Ctrl-C may come between the end of one
            and the news of it; what it returned is found here then.
        manage: Makes the calls of managed agents, whose runs tell of themselves; None where there are none.

    Raises:
        KeyboardInterrupt: Ctrl-C; threads that still run are left behind, their results unused.
        Interrupted: The person stopped the run.
    """
    bodies = {} if bodies is None else bodies
    for group in _groups(ready):
        run.raise_if_interrupted()
        if len(group) == 1:
            place, (tool, prepared) = next(iter(group.items()))
            yield CallOutcome(place=place, tool=tool, prepared=prepared, is_over=False)
            bodies[place] = body = _to_body(place, tool, prepared, manage)
            if body.managed is not None:
                yield (yield from _call_managed(place, body, body.managed))
            else:
                yield _call(place, body, run, is_caller=True)
        else:
            yield from _call_side_by_side(group, run, max_threads, bodies, manage)
    run.raise_if_interrupted()


def _to_body(place: int, tool: Tool, prepared: PreparedCall, manage: Manage | None) -> Body:
    if manage is None or not isinstance(tool, ManagedAgent):
        return Body(tool, prepared)
    return Body(tool, prepared, manage(place, tool, prepared))


def _call_managed(place: int, body: Body, managed: ManagedCall) -> Generator[CallOutcome, None, CallOutcome]:
    """A managed agent's run in the caller's thread; its events are news as they arise."""
    error: StepError | None = None
    try:
        with contextlib.closing(managed.events()) as events:
            while True:
                try:
                    event = next(events)
                except StopIteration as end:
                    body.returned = end.value
                    break
                yield body.tell(place, event)
    except StepError as told:
        error = told
    except Interrupted:
        raise
    except Exception as crash:  # noqa: BLE001 - a fault in the run of another agent is one of this call
        error = tell_crash(body.tool, crash)
    return body.to_outcome(place, error)


def _groups(ready: Ready) -> Generator[Ready, None, None]:
    """The calls in request order, cut where one must run alone."""
    group: dict[int, tuple[Tool, PreparedCall]] = {}
    for place, entry in ready.items():
        if entry[0].sequential or entry[0].main_thread:
            if group:
                yield group
            yield {place: entry}
            group = {}
        else:
            group[place] = entry
    if group:
        yield group


def _call_side_by_side(
    group: Ready, run: Run, max_threads: int, bodies: dict[int, Body], manage: Manage | None
) -> Generator[CallOutcome, None, None]:
    news: queue.SimpleQueue[CallOutcome | Errand | None] = queue.SimpleQueue()
    waiting = list(group.items())
    n_running = 0
    # Where this thread works for another one, that one is the main thread of what is called here, too.
    main = None if is_known() else WaitingThread(news.put)

    def job(place: int, body: Body) -> Callable[[], None]:
        context = contextvars.copy_context()
        if main is not None:
            context.run(MAIN_THREAD.set, main)

        def tell(event: Event) -> None:
            news.put(body.tell(place, event))

        return lambda: news.put(context.run(_call, place, body, run, is_caller=False, tell=tell))

    take_off = run.on_interrupt(lambda: news.put(None))
    try:
        while waiting or n_running:
            while waiting and n_running < max_threads:
                place, (tool, prepared) = waiting.pop(0)
                yield CallOutcome(place=place, tool=tool, prepared=prepared, is_over=False)
                bodies[place] = body = _to_body(place, tool, prepared, manage)
                THREADS.start(job(place, body))
                n_running += 1
            run.raise_if_interrupted()
            outcome = news.get()
            if isinstance(outcome, Errand):
                outcome.make()
            elif outcome is not None:
                n_running -= outcome.is_over
                yield outcome
    finally:
        take_off()
        if main is not None:
            main.close()


def _call(
    place: int, body: Body, run: Run, *, is_caller: bool, tell: Callable[[Event], None] | None = None
) -> CallOutcome:
    error: StepError | None = None
    body.start = time.time()
    try:
        with printing_into(body.sink), in_run(run.run_id):
            if body.managed is not None and tell is not None:
                body.returned = body.managed.carry(tell)
            else:
                _enter(body, run)
    except StepError as told:
        error = ToolError(_bounded(told.message)) if isinstance(told, ToolError) else told
    except KeyboardInterrupt as stop:
        if is_caller:  # a real Ctrl-C: signals reach the main thread only
            raise
        error = tell_crash(body.tool, stop)
    except Interrupted as stop:
        if is_caller:
            raise
        error = tell_crash(body.tool, stop)  # nobody waits for it
    except BaseException as crash:  # noqa: BLE001 - a tool may raise anything, `sys.exit` included
        if is_caller and isinstance(crash, asyncio.CancelledError):
            run.raise_if_interrupted()
        error = tell_crash(body.tool, crash)
    return body.to_outcome(place, error)


def _enter(body: Body, run: Run) -> None:
    """Run the body where it belongs, an awaitable result on the loop that it belongs to."""
    tool, prepared, loop = body.tool, body.prepared, run.loop
    # Nothing stands between a return and its keeping, so that Ctrl-C cannot come between the two.
    if tool.main_thread and (main := elsewhere(run)) is not None:
        body.returned = make_there(main, tool.name, functools.partial(tool.invoke, prepared), run)
    elif tool.timeout_s is not None:
        body.returned = invoke_in_time(tool, prepared, run)
    else:
        body.returned = tool.invoke(prepared)
    if _is_awaitable(body.returned):
        awaited, body.returned = body.returned, _RUNNING
        home = loop or BACKGROUND_LOOP.loop()
        try:
            body.returned = wait_for(awaited, home, run.on_interrupt, tool.timeout_s)
        except TimeIsOver:
            raise ToolExecutionError(tell_too_long(tool, is_left=False)) from None
    if tool.output_schema is not None:
        tool.check_result(body.returned)


def _is_awaitable(value: Value) -> bool:
    # The library's question is a slow one, and most tools return such.
    return not isinstance(value, _PLAIN) and inspect.isawaitable(value)


def tell_crash(tool: Tool, crash: BaseException) -> ToolExecutionError:
    """What a tool's body raised, as a model is told of it."""
    name = type(crash).__name__
    try:
        said = str(crash)
    except Exception as second:  # noqa: BLE001 - the exception's own `__str__` may raise
        said = f"<its text raised {type(second).__name__}>"
    if isinstance(crash, SystemExit):
        text = f"{tool.name} tried to end the Python process ({name}: {said}), which a tool cannot do."
    else:
        text = f"{tool.name} raised {name}: {said}" if said else f"{tool.name} raised {name}."
    error = ToolExecutionError(_bounded(text, "\nCall it with other arguments, or use another tool."))
    error.__cause__ = crash
    return error


def _bounded(text: str, advice: str = "") -> str:
    return truncate(redact(strip_control(text)), MAX_ERROR - len(advice)) + advice
