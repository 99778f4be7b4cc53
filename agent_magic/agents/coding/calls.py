"""The tools of a code agent as functions of its code: each call checked, made, recorded and told.

It must not run code, nor decide when a step ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from dataclasses import replace
from typing import Any, cast

from agent_magic.agents.calls.approving import CALLS_OF_CODE, Asking, approve_calls, may_ask
from agent_magic.agents.calls.in_time import await_in_time, invoke_in_time
from agent_magic.agents.calls.main_thread import BUSY, MAIN_THREAD, elsewhere, make_there
from agent_magic.agents.calls.managed import ManagedAgent, ManagedCall
from agent_magic.agents.coding.entered import Entered, to_fault
from agent_magic.agents.coding.kept_calls import KeptCalls
from agent_magic.agents.coding.tool_function import ToolFunction
from agent_magic.agents.run.drafts import StepDraft
from agent_magic.agents.run.run import Interrupted, Run
from agent_magic.agents.threads.side_by_side import BACKGROUND_LOOP, Carried
from agent_magic.core.current_run import in_run
from agent_magic.core.errors import ApprovalError, CallRejected, StepError
from agent_magic.core.events import Event, ToolCallEnded, ToolCallStarted
from agent_magic.core.messages import ToolCall
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ToolResult
from agent_magic.core.values import Value
from agent_magic.execution.prints.sinks import printing_into
from agent_magic.execution.step.running import current_step, give_answer, persons_code
from agent_magic.tools.builtin import FINAL_ANSWER
from agent_magic.tools.python_call import bind_call
from agent_magic.tools.tool import PreparedCall, Tool


class CodeCalls:
    """The tools of one step, as functions, and what became of each call.

    Args:
        run: The run.
        asking: The agent, of whom a person's approvals are asked.
        tools: By name, as they are for this step.
        code_id: Of the code's own call.
        step_number: Of the step.
        report: What is noted of a managed agent that has answered, with its answer in words.
    """

    def __init__(
        self,
        run: Run,
        asking: Asking,
        tools: Mapping[str, Tool],
        *,
        code_id: str,
        step_number: int,
        report: Callable[[ManagedAgent, RunResult, str], str],
    ) -> None:
        self._run = run
        self._report = report
        self._asking = asking
        self._code_id = code_id
        self._step_number = step_number
        self._lock = threading.Lock()
        self._thread = threading.current_thread()
        self._main = MAIN_THREAD.get()
        self._kept = KeptCalls()
        self._events: deque[Event] = deque()
        self._carried: list[tuple[Coroutine[Any, Any, Value], Awaitable[Value], Entered]] = []
        self.notes: list[str] = []
        """What the model should know of its calls, once the step is over."""
        self.unanswered: ApprovalError | None = None
        """Nobody was there who could have been asked of a call: the run ends with this step."""
        self._is_open = True
        self.functions: dict[str, Callable[..., Value]] = {
            name: self._final_answer(tool) if name == FINAL_ANSWER.name else ToolFunction(tool, self)
            for name, tool in tools.items()
        }
        """By name, to be lent to the code's namespace."""

    @property
    def is_open(self) -> bool:
        """Whether the step still goes on."""
        return self._is_open

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """What became of the calls, in the order of their starts."""
        return self._kept.results

    @property
    def n_left_out(self) -> int:
        """Calls in the middle that are not kept."""
        return self._kept.n_left_out

    def close(self) -> None:
        """The step is over: functions that outlived it are the person's own again.

        A call of an async tool that nobody awaited was not made, and its result says so.
        """
        self._is_open = False
        for carried, awaitable, entered in self._carried:
            if inspect.getcoroutinestate(carried) != inspect.CORO_CREATED:
                continue
            carried.close()
            if inspect.iscoroutine(awaitable):
                awaitable.close()
            name = entered.tool.name
            text = f"{name} is async and was not awaited, so it did not run. Write `await {name}(…)`."
            self._kept.end(entered.place, entered.refused(text))
            if text not in self.notes:
                self.notes.append(text)
        self._carried.clear()
        self._kept.close()

    def take_events(self) -> Generator[Event, None, None]:
        """The events that nobody took while the code ran, in order."""
        while self._events:
            yield self._events.popleft()

    def call(self, tool: Tool, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """Make one call.

        Raises:
            ToolCallError: Its arguments do not fit; the body was not entered.
            CallRejected: The person refused it.
            ApprovalError: The person is to be asked, and nobody can answer.
            Exception: What the body raised, as it is.
        """
        call = ToolCall(id=self._run.call_ids.unique("call_1"), name=tool.name, arguments={})
        place = self._kept.enter(ToolResult(call=call))
        try:
            arguments = bind_call(tool, args, kwargs)
            call = replace(call, arguments=arguments)
            prepared = tool.prepare(arguments, None)
            with persons_code():
                prepared = self._approved(tool, call, prepared)
        except (StepError, ApprovalError) as error:
            self._end(place, ToolResult(call=call, fault=to_fault(error)))
            if isinstance(error, ApprovalError):
                self.unanswered = error
            raise
        return self._make(Entered(tool, call, prepared, place))

    # -- one call ------------------------------------------------------------------------------

    def _make(self, entered: Entered) -> Value:
        place, call = entered.place, entered.call
        with persons_code():
            self._kept.begin(place, ToolResult(call=call))
            self._tell(ToolCallStarted(step_number=self._step_number, call=call, inside=self._code_id))
            try:
                with printing_into(entered.sink), in_run(self._run.run_id), self._main_known():
                    value = self._enter_body(entered)
            except BaseException as crash:  # Ctrl-C and the end of the step too: recorded, then raised again
                self._end(place, entered.failed(crash))
                raise
            is_async = inspect.isawaitable(value)
            if not is_async:
                self._end(place, entered.succeeded(value))
        if printed := entered.sink.text:  # in its place among what the code prints
            sys.stdout.write(printed)
        return self._await(value, entered) if is_async else value

    def _enter_body(self, entered: Entered) -> Value:
        tool, prepared = entered.tool, entered.prepared
        try:
            if isinstance(tool, ManagedAgent):
                entered.managed = managed = ManagedCall(
                    tool,
                    prepared,
                    self._run,
                    step_number=self._step_number,
                    call_id=entered.call.id,
                    inside=self._code_id,
                )
                value = managed.carry(self._tell)
                if tool.agent.provide_run_summary and managed.result is not None:
                    answer = entered.succeeded(value).observation
                    self.notes.append(self._report(tool, managed.result, answer))
                return value
            if tool.main_thread and (main := elsewhere(self._run)) is not None:
                value = make_there(main, tool.name, functools.partial(tool.invoke, prepared), self._run)
            else:
                value = invoke_in_time(tool, prepared, self._run)
        except Interrupted:
            raise KeyboardInterrupt from None  # as the code is stopped elsewhere
        if tool.output_schema is not None and not inspect.isawaitable(value):
            tool.check_result(value)
        return value

    @contextlib.contextmanager
    def _main_known(self) -> Generator[None]:
        """Threads that code has started know nothing of a main thread, so they are told."""
        if threading.current_thread() is self._thread:
            yield
            return
        before = MAIN_THREAD.get()
        MAIN_THREAD.set(self._main or BUSY)  # without another, it is the code's own, which does not wait
        try:
            yield
        finally:
            MAIN_THREAD.set(before)

    def _await(self, awaitable: Awaitable[Value], entered: Entered) -> Coroutine[Any, Any, Value]:
        carried = self._awaited(awaitable, entered)
        with self._lock:
            self._carried.append((carried, awaitable, entered))
        return carried

    async def _awaited(self, awaitable: Awaitable[Value], entered: Entered) -> Value:
        """What an async tool gives: it runs on the loop that async tools run on, outside of the guard."""
        here = asyncio.get_running_loop()
        is_over = asyncio.Event()

        def tell_here() -> None:
            with contextlib.suppress(RuntimeError):  # the code's loop was closed: nobody waits any more
                here.call_soon_threadsafe(is_over.set)

        async def printing() -> Value:
            with printing_into(entered.sink):
                return await awaitable

        carried = Carried(printing(), self._run.loop or BACKGROUND_LOOP.loop(), tell_here)

        async def come() -> Value:
            carried.begin()
            await is_over.wait()
            return carried.done.wait()

        step = current_step()
        try:
            # As with any tool: its time is not the code's.
            with step.clock_stopped() if step is not None else contextlib.nullcontext():
                value = await await_in_time(come(), entered.tool)
            entered.tool.check_result(value)
        except BaseException as crash:  # as in `_make`
            carried.cancel()
            self._end(entered.place, entered.failed(crash))
            raise
        self._end(entered.place, entered.succeeded(value))
        return value

    def _approved(self, tool: Tool, call: ToolCall, prepared: PreparedCall) -> PreparedCall:
        """The call as the person wants it made.

        Raises:
            CallRejected: It is not to be made.
        """
        run = self._run
        if not may_ask(run, self._asking, (tool,)) or run.own_tools.get(tool.name) is tool:
            return prepared
        asked = StepDraft(self._step_number)
        asked.calls = (call,)

        def prepare(edited: ToolCall) -> tuple[Tool, PreparedCall]:
            return tool, tool.prepare(cast("Mapping[str, Value]", edited.arguments), run.state)

        events = approve_calls(
            run, self._asking, asked, {0: (tool, prepared)}, prepare, policies=CALLS_OF_CODE
        )
        while True:
            try:
                event = next(events)
            except StopIteration as ended:
                ready = ended.value
                break
            if not isinstance(event, ToolCallEnded):  # its end is told once, below
                self._tell(event)
        if not ready:
            fault = asked.results[0].fault
            raise CallRejected(fault.message if fault else "The person refused this call.")
        return ready[0][1]

    def _final_answer(self, tool: Tool) -> Callable[..., Value]:
        @functools.wraps(getattr(tool, "function", tool.forward))
        def final_answer(*args: Value, **kwargs: Value) -> Value:
            prepared = tool.prepare(bind_call(tool, args, kwargs), None)
            with persons_code():
                value = tool.invoke(prepared)
            give_answer(value)

        final_answer.__name__ = final_answer.__qualname__ = FINAL_ANSWER.name
        return final_answer

    # -- keeping and telling -------------------------------------------------------------------

    def _end(self, place: int, result: ToolResult) -> None:
        self._kept.end(place, result)
        with persons_code():
            self._tell(ToolCallEnded(step_number=self._step_number, result=result, inside=self._code_id))

    def _tell(self, event: Event) -> None:
        """Give an event to whoever listens, in the run's own thread; else keep it for later."""
        self._events.append(event)
        listen = self._run.listen
        if listen is None or threading.current_thread() is not self._thread:
            return
        while self._events:
            listen(self._events.popleft())
