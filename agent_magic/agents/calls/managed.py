"""An agent as a tool of another one, and one call of it: its run, driven to its end and told of meanwhile.

It must not own the life of that run: the agent starts and ends it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agent_magic.agents.calls.reporting import tell_failure
from agent_magic.agents.run.run import BY_PERSON, Interrupted, Run
from agent_magic.core.errors import AgentError, StepError, ToolCallError, ToolExecutionError
from agent_magic.core.events import Event, ManagedEvent
from agent_magic.core.messages import ToolCall
from agent_magic.core.result import RunResult
from agent_magic.core.settings import AgentSettings
from agent_magic.core.state import AgentState, is_usable_name
from agent_magic.core.steps import Fault, Timing, ToolResult
from agent_magic.core.values import Value, safe_repr
from agent_magic.tools.arguments import PreparedCall
from agent_magic.tools.callable_tool import CallableTool, ToolOptions
from agent_magic.tools.fingerprint import OPTIONS

_MENTION = re.compile(r"(?<![\w@.\\])@([^\W\d]\w*)")
_ABOUT_AGENTS = (
    "It is an agent: it works on its task by itself, step by step, with tools of its own, and gives its answer. "
    "It knows nothing of what you know."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A run that was started for a manager's call."""

    run: Run
    events: Generator[Event, None, RunResult]
    """Taking them is what has it go on."""
    close: Callable[[str], None]
    """Ends it as interrupted, for a reason, from any thread."""


class Manageable(Protocol):
    """What an agent is to those that call it."""

    name: str
    description: str
    provide_run_summary: bool

    @property
    def settings(self) -> AgentSettings:
        """The agent's own: all its runs have it."""
        ...

    def start_managed(self, task: str, additional_args: Mapping[str, Value], above: Run | None) -> Started:
        """A run of its own for this call.

        Raises:
            DefinitionError: None can be started.
        """
        ...


class ManagedAgent(CallableTool, is_abstract=True):
    """An agent as a tool: `task`, and `additional_args` by reference."""

    def __init__(self, function: Callable[..., Value], name: str) -> None:
        super().__init__(function, name)
        self.agent: Manageable = function.agent  # pyright: ignore[reportFunctionMemberAccess] - `tool_of` put it there
        self._told = self.agent.description
        if not self._told.strip():
            weak = (
                f"Agent {name!r} has no description, so a manager cannot know what it is for. "
                'Give it one: description="…", or  --define --description "…"  in a cell'
            )
            self.warnings = (*self.warnings, weak)

    def is_made_from(self, function: Callable[..., Value]) -> bool:
        """Whether this still is the tool of the agent, and tells its description."""
        return getattr(function, "agent", None) is self.agent and self._told == self.agent.description

    def prepare(self, arguments: Mapping[str, Value], state: AgentState | None) -> PreparedCall:
        """The arguments checked; variables that the task mentions as `@name` are handed over too.

        Raises:
            ToolCallError: As from any tool; the task is blank, or a name is none.
        """
        prepared = super().prepare(arguments, state)
        task, given = prepared.kwargs["task"], prepared.kwargs.get("additional_args") or {}
        if not task.strip():
            raise ToolCallError(f"{self.name}: argument 'task' is blank. Say in it all that it is to do.")
        for name in given:
            if not is_usable_name(name):
                raise ToolCallError(
                    f"{self.name}: additional_args has the key {safe_repr(name, 80)}, which is no name. "
                    'Give each value a name that is an identifier, such as "table".'
                )
        mentioned = {} if state is None else _mentioned(task, state)
        handed = {name: value for name, value in mentioned.items() if name not in given}
        notes = tuple(f"@{name} of the task was handed over" for name in handed)
        return dataclasses.replace(
            prepared,
            kwargs={"task": task, "additional_args": {**given, **handed}},
            notes=(*prepared.notes, *notes),
        )


def tool_of(agent: Manageable, name: str) -> ManagedAgent:
    """An agent as a tool of this name."""

    def call(task: str, additional_args: dict[str, Any] | None = None) -> Any:
        """Give a task to an agent.

        Args:
            task: what it is to do, whole: it is told nothing else.
            additional_args: what it needs for that, each by the name that it is to know it by; objects are handed over themselves.

        Returns:
            Its answer.
        """
        return _run_alone(agent, name, task, additional_args or {})

    call.__name__ = call.__qualname__ = name
    described = agent.description.strip()
    setattr(
        call,
        OPTIONS,
        ToolOptions(description=f"{described}\n\n{_ABOUT_AGENTS}" if described else _ABOUT_AGENTS),
    )
    call.agent = agent  # pyright: ignore[reportFunctionMemberAccess] - `ManagedAgent` takes it from there
    return ManagedAgent(call, name)


class ManagedCall:
    """One call of a managed agent.

    Args:
        tool: The agent.
        prepared: What it is called with.
        above: The run that calls.
        step_number: Of the step there.
        call_id: Of the call there.
        inside: See `ManagedEvent`.
    """

    def __init__(
        self,
        tool: ManagedAgent,
        prepared: PreparedCall,
        above: Run,
        *,
        step_number: int,
        call_id: str,
        inside: str | None = None,
    ) -> None:
        self._tool = tool
        self._prepared = prepared
        self._above = above
        self._step_number = step_number
        self._call_id = call_id
        self._inside = inside
        self._started: Started | None = None

    @property
    def result(self) -> RunResult | None:
        """What came of its run; None before its end, and if none was started."""
        return None if self._started is None else self._started.run.result

    def events(self) -> Generator[ManagedEvent, None, Value]:
        """The events of its run, in the caller's thread; what the agent answers is returned.

        Raises:
            StepError: There is no answer; the text says why.
            Interrupted: The run that calls was stopped.
            KeyboardInterrupt: Ctrl-C; the run is recorded as interrupted.
        """
        above = self._above
        return (yield from self._drive(above.listen))

    def carry(self, tell: Callable[[ManagedEvent], object]) -> Value:
        """The same at once, with the events told instead: for a call in another thread, or one that code makes."""
        events = self._drive(tell)
        with contextlib.closing(events):
            while True:
                try:
                    tell(next(events))
                except StopIteration as end:
                    return end.value

    def close(self, reason: str = BY_PERSON) -> None:
        """End its run as interrupted, if it goes on; from any thread."""
        if self._started is not None and self._started.run.result is None:
            self._started.close(reason)

    def leave(self, call: ToolCall) -> ToolResult | None:
        """What is recorded of it where the run that calls ends before; its run is ended too. None if it has none."""
        if self._started is None:
            return None
        self.close()
        timing = Timing(start=self._started.run.start, end=time.time())
        return ToolResult(call=call, fault=self.to_fault(), run=self.result, timing=timing)

    def to_fault(self) -> Fault:
        """What is told of the call where the run that calls was stopped."""
        result = self.result
        n_steps = sum(not step.is_interrupted for step in result.actions) if result else 0
        done = (
            f" {self._tool.name} had made {n_steps} {'step' if n_steps == 1 else 'steps'}." if n_steps else ""
        )
        return Fault(
            kind="Interrupted",
            message=f"The call was interrupted before it ended.{done} If its answer is still needed, call it again.",
        )

    def _drive(self, tell: Callable[[ManagedEvent], object] | None) -> Generator[ManagedEvent, None, Value]:
        self._started = started = self._start()
        above, run = self._above, started.run
        if tell is not None:
            run.listen = lambda event: tell(self._wrap(event))
        take_off = above.on_interrupt(lambda: run.interrupt(above.reason))
        try:
            with contextlib.closing(started.events) as events:
                for event in events:
                    yield self._wrap(event)
        finally:
            take_off()
        result = self.result
        assert result is not None
        if result.status == "answered":
            return result.value
        if above.is_stopping:
            raise Interrupted(above.reason)
        raise ToolExecutionError(tell_failure(self._tool.name, result))

    def _start(self) -> Started:
        tool, agent = self._tool, self._tool.agent
        if any(each.settings is agent.settings for each in self._above.chain):
            raise ToolCallError(
                f"{tool.name} is at work already on the task that this is a part of, so it cannot be called for it. "
                "Do this part yourself, or call another tool."
            )
        try:
            return agent.start_managed(
                self._prepared.kwargs["task"], self._prepared.kwargs["additional_args"], self._above
            )
        except StepError:
            raise
        except AgentError as error:  # it has no model, say
            raise ToolExecutionError(
                f"{tool.name} could not begin: {error.message}\nDo without it, or say so in the answer."
            ) from error

    def _wrap(self, event: Event) -> ManagedEvent:
        assert self._started is not None
        run = self._started.run
        return ManagedEvent(
            step_number=self._step_number,
            call_id=self._call_id,
            agent_name=run.agent_name,
            run_id=run.run_id,
            event=event,
            inside=self._inside,
        )


def _run_alone(agent: Manageable, name: str, task: str, additional_args: Mapping[str, Value]) -> Value:
    """What it answers where no run calls it, such as a function that code left behind."""
    started = agent.start_managed(task, additional_args, None)
    with contextlib.closing(started.events) as events:
        for _ in events:
            pass
    result = started.run.result
    assert result is not None
    if result.status != "answered":
        raise ToolExecutionError(tell_failure(name, result))
    return result.value


def _mentioned(task: str, state: AgentState) -> dict[str, Value]:
    names = dict.fromkeys(_MENTION.findall(task))
    return {name: state.lookup(name) for name in names if state.is_open(name)}
