"""MultiStepAgent: an agent as it is defined, and how it is run, looked at and steered.

It must not draw, print or log; a run yields events, and never from a `finally`.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, cast

from agent_magic.agents import async_runs
from agent_magic.agents.boundary import foresee_max_steps
from agent_magic.agents.definition import AgentDefinition, at_least_one
from agent_magic.agents.drafts import StepDraft
from agent_magic.agents.history import RunHistory
from agent_magic.agents.log import is_heard, logged
from agent_magic.agents.loop import take_steps
from agent_magic.agents.managed import Started
from agent_magic.agents.meter import Meter
from agent_magic.agents.moment import Composed, Moment
from agent_magic.agents.pictures import to_image
from agent_magic.agents.preview import Preview, preview_next, preview_sent
from agent_magic.agents.resuming import chain_of, drop_last_run, origin_of, resumed_task
from agent_magic.agents.run import BY_PERSON, Origin, Run
from agent_magic.agents.taking_up import find_memory, open_names, restore_names, results_in, tell_missing
from agent_magic.agents.task import build_task
from agent_magic.agents.teams import refuse_team
from agent_magic.agents.tracing import Blame, blame
from agent_magic.agents.undoing import Undone, undo
from agent_magic.core.errors import OptionError, ToolDefinitionError
from agent_magic.core.events import Event, RunEnded, RunStarted
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, ImagePart, RequestKind, TokenUsage
from agent_magic.core.result import AgentMode, RunResult
from agent_magic.core.settings import SettingChange, SummaryMode
from agent_magic.core.state import AgentState, is_usable_name
from agent_magic.core.steps import Fault, TaskStep
from agent_magic.core.values import Value, safe_repr
from agent_magic.models.model import Model
from agent_magic.record.saved import SavedRuns


@dataclass(frozen=True, slots=True)
class _Given:
    """What a run is given by whoever starts it."""

    task: str | None
    images: Sequence[Value] | None
    additional_args: Mapping[str, Value] | None
    variables: Mapping[str, Value] | None


class MultiStepAgent(AgentDefinition, ABC):
    """An agent: tools, a model and settings. Each `run` is an object of its own.

    Runs of one agent may overlap, from threads too: each works on the memory as it stood at its
    start, and they are joined in, whole, in order of ending.
    """

    mode: AgentMode = "tools"
    """How its steps act."""
    _history: RunHistory

    def __new__(cls, *_args: Value, **_options: Value) -> Self:
        """An agent that remembers nothing yet; how it is defined is `AgentDefinition`'s business."""
        agent = super().__new__(cls)
        agent._history = RunHistory()
        return agent

    # -- what each kind of agent fills in ------------------------------------------------------

    @abstractmethod
    def act(self, run: Run, moment: Moment, draft: StepDraft) -> Generator[Event, None, None]:
        """One step: ask the model, do what it says, put all of it into `draft`."""

    @abstractmethod
    def compose(self, moment: Moment, kind: RequestKind) -> Composed:
        """The request that is made at this moment; the memory's system prompt is put in."""

    @abstractmethod
    def read_last_answer(self, run: Run, message: ChatMessage) -> Value:
        """The answer in the reply to the request at the step limit; None if there is none.

        Raises:
            StepError: It is not of the type that was asked for.
        """

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self.name!r}: {len(self.tools)} tools, {len(self.runs)} runs in memory>"
        )

    # -- what it remembers ---------------------------------------------------------------------

    @property
    def memory(self) -> AgentMemory:
        """The memory of the run started last; after its end, of all runs joined in."""
        return self._history.memory

    @memory.setter
    def memory(self, memory: AgentMemory) -> None:
        if not isinstance(memory, AgentMemory):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
            raise OptionError(
                f"A memory is an AgentMemory, and not {safe_repr(memory, 80)}. Write AgentMemory.from_dict(…)."
            )
        with self._history.lock:
            if not self._history.active:
                self.state.forget_kept()
            restore_names(memory, self.state)
            self._history.replace(memory)

    def take_up(self, saved: SavedRuns, name: str | None = None) -> tuple[str, ...]:
        """Go on from runs that were loaded: memory, results and the names that were open are theirs from now on.

        `resume` goes on with the last of them, `run(…, reset=False)` with another task.

        Args:
            saved: What `agent_magic.load` gave.
            name: Of the agent in the file; None for the one of this agent's name, or the only one.

        Returns:
            What is missing, a text each.

        Raises:
            OptionError: There is no such agent, or a run of this one goes on.
        """
        memory = find_memory(saved, self.name, name)
        with self._history.lock:
            if self._history.active:
                raise OptionError(f"A run of {self.name} goes on. Wait for its end, or interrupt it.")
            self.state.forget_kept()
            kept, names = restore_names(memory, self.state), open_names(memory, self.state)
            self._history.replace(memory, results_in(memory, saved.runs))
        return (*saved.warnings, *tell_missing(saved.source, kept, names))

    def memory_of(self, run_id: str) -> AgentMemory:
        """The memory that one run works on, or worked on; the agent's own for one that is not known.

        Runs that overlap have a memory each.
        """
        return self._history.memory_of(run_id)

    @property
    def runs(self) -> list[RunResult]:
        """Results of the runs in memory, in order of ending."""
        return self._history.results

    @property
    def result(self) -> RunResult | None:
        """The result of the run that ended last."""
        return self.runs[-1] if self.runs else None

    @property
    def is_running(self) -> bool:
        """Whether a run goes on."""
        return bool(self._history.active)

    @property
    def usage(self) -> TokenUsage:
        """Of all runs in memory added up."""
        usages = [result.usage for result in self.runs]
        return sum(usages[1:], usages[0]) if usages else TokenUsage()

    def write_memory_to_messages(self, *, summary_mode: bool = False) -> list[ChatMessage]:
        """The messages of the memory, in the normal or the summary view."""
        return self.memory.to_messages(summary_mode=summary_mode)

    def reset(self) -> None:
        """Forget all runs; variables and tools stay."""
        self._history.forget(self.state)

    def blame(self, name: str) -> tuple[Blame, ...]:
        """Which steps changed the variable `name`, newest first."""
        return blame(name, self.runs)

    def undo(self, step: int | None = None, *, run_id: str | None = None) -> Undone:
        """Take back what a step, or a run, made of the notebook's names.

        A name that was added is deleted, one that was rebound or deleted means again what it meant;
        one that was changed since, or in place, is left as it is, and that is said. The model is
        told so with the next task. Memory stays.

        Args:
            step: The number of a step; None for all of the run.
            run_id: Of a run in memory; None for the last one.

        Raises:
            OptionError: There is no such run or step, a run goes on, or it changed nothing.
        """
        with self._history.lock:
            if self._history.active:
                raise OptionError(f"A run of {self.name} goes on. Wait for its end, or interrupt it.")
            return undo(self._history, self.state, step, run_id)

    def preview(
        self,
        step: int | None = None,
        *,
        summary_mode: SummaryMode | None = None,
        kind: RequestKind = "act",
        task: str | None = None,
    ) -> Preview:
        """Exactly what the model is sent: in the next call, or in a past one of the last run.

        Args:
            step: The number of a step that was made; None for the next call.
            summary_mode: Another setting than the one that holds, or held.
            kind: The request for an action, for a plan, or for the last answer at the step limit.
            task: Of a run that is not started yet.

        Raises:
            OptionError: No such request was made, or no such kind or mode.
        """
        _check_choice("kind", kind, ("act", "plan", "final"))
        if summary_mode is not None:
            _check_choice("summary_mode", summary_mode, ("plan", "all", "off"))
        if step is not None:
            _check_step(step, task)
        if task is not None:
            _check_task(task)
        run = self._history.last
        if step is not None:
            memory = self.memory if run is None else self._history.memory_of(run.run_id)
            return preview_sent(
                memory,
                self.model if run is None else run.model,
                run_ids=self._chain_of(run),
                step_number=step,
                kind=kind,
                summary_mode=summary_mode,
            )
        is_active = run is not None and run.result is None
        if run is None or not is_active or task is not None:
            moment, run_id = self._resting_moment(task), None
        else:
            moment, run_id = self._copied_moment(run), run.run_id
        moment.summary_mode = summary_mode or moment.summary_mode
        return preview_next(self, moment, kind, run_id=run_id)

    # -- running -------------------------------------------------------------------------------

    def run(
        self,
        task: str,
        *,
        reset: bool = True,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
    ) -> RunResult:
        """Do a task to its end and return what came of it.

        Args:
            task: What is asked.
            reset: Forget earlier runs first; variables stay.
            images: PIL images that stand beside the task.
            additional_args: Names that the model can refer to in this run, with their values.
            max_steps: Instead of the agent's own limit.

        Raises:
            KeyboardInterrupt: Ctrl-C, after the run was recorded as `interrupted`.
            OptionError: A limit under 1 or a task that is blank; before any model call.
        """
        run = self._start(
            task, reset=reset, images=images, additional_args=additional_args, max_steps=max_steps
        )
        return self._finish(run)

    def stream(
        self,
        task: str,
        *,
        reset: bool = True,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
        variables: Mapping[str, Value] | None = None,
        listen: Callable[[Event], object] | None = None,
    ) -> Generator[Event, None, RunResult]:
        """The events of a run, as they happen; the arguments are those of `run`.

        Closing the generator ends the run as `interrupted`: memory stays valid and the agent usable.

        Args:
            variables: Names of the State that the task mentions; the model is told of them.
            listen: Takes the events that arise while the model's code runs, in the moment and the
                thread of the run; they are not yielded then. Without it they come after the code.
        """
        run = self._start(
            task,
            reset=reset,
            images=images,
            additional_args=additional_args,
            max_steps=max_steps,
            variables=variables,
        )
        run.listen = listen
        return self._drive(run)

    async def arun(
        self,
        task: str,
        *,
        reset: bool = True,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
    ) -> RunResult:
        """`run` for asynchronous code: the loop stays free; cancelling interrupts the run.

        The run works in a thread. Async tools, and tools marked `main_thread`, run in the
        caller's event loop.
        """
        run = self._start(
            task, reset=reset, images=images, additional_args=additional_args, max_steps=max_steps
        )
        await async_runs.finish(
            run, lambda: self._drive(run), lambda reason: self._history.close(run, reason, self.state)
        )
        return _ended(run)

    def astream(
        self,
        task: str,
        *,
        reset: bool = True,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
    ) -> AsyncGenerator[Event, None]:
        """`stream` for asynchronous code: `async for event in agent.astream(task)`.

        The run goes on as its events are asked for; leaving the loop early ends it as
        `interrupted`. Where tools run is as for `arun`.
        """
        run = self._start(
            task, reset=reset, images=images, additional_args=additional_args, max_steps=max_steps
        )
        return async_runs.follow(
            run, lambda: self._drive(run), lambda reason: self._history.close(run, reason, self.state)
        )

    def resume(
        self,
        correction: str | None = None,
        *,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
    ) -> RunResult:
        """Go on with the last run, which ended without an answer; what was done is not done again.

        It gets as many steps, and the same budgets, again.

        Args:
            correction: What the model is told; None for a word to go on.
            images: As for `run`.
            additional_args: As for `run`.
            max_steps: How many more steps, instead of the agent's own limit.

        Raises:
            KeyboardInterrupt: As from `run`.
            OptionError: There is no run to resume, or it was answered.
        """
        return self._finish(
            self._restart(correction, images=images, additional_args=additional_args, max_steps=max_steps)
        )

    def stream_resume(
        self,
        correction: str | None = None,
        *,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
        variables: Mapping[str, Value] | None = None,
        listen: Callable[[Event], object] | None = None,
    ) -> Generator[Event, None, RunResult]:
        """The events of a resumed run; the arguments are those of `resume` and `stream`."""
        run = self._restart(
            correction,
            images=images,
            additional_args=additional_args,
            max_steps=max_steps,
            variables=variables,
        )
        run.listen = listen
        return self._drive(run)

    def retry(self, *, max_steps: int | None = None) -> RunResult:
        """Do the last task anew, as if its run had not been; its steps are dropped, `memory.undo()` brings them back.

        Raises:
            KeyboardInterrupt: As from `run`.
            OptionError: There is no run.
        """
        return self._finish(self._again(max_steps))

    def stream_retry(
        self, *, max_steps: int | None = None, listen: Callable[[Event], object] | None = None
    ) -> Generator[Event, None, RunResult]:
        """The events of a retried run; `listen` is that of `stream`."""
        run = self._again(max_steps)
        run.listen = listen
        return self._drive(run)

    # -- as a managed agent --------------------------------------------------------------------

    def start_managed(self, task: str, additional_args: Mapping[str, Value], above: Run | None) -> Started:
        """A run for one call of a manager, which is `above`; its events have it go on.

        It knows nothing of other runs, and is in no memory but its manager's, unless `keep_memory`
        is set: then it goes on with this agent's own.

        Raises:
            DefinitionError: None can be started.
        """
        agent = self if self.keep_memory else self._apart()
        images = []
        if agent.model.capabilities.images:
            drawn = ((name, to_image(value)) for name, value in additional_args.items())
            images = [ImagePart(image=image, name=name) for name, image in drawn if image is not None]
        run = agent._start(task, reset=False, images=images, additional_args=additional_args, max_steps=None)
        run.above = above
        run.loop = above.loop if above else None
        return Started(
            run=run,
            events=agent._drive(run),
            close=lambda reason: agent._history.close(run, reason, agent.state),
        )

    def _apart(self) -> Self:
        """This agent with a memory and names of its own; what it is made of is the same."""
        twin = copy.copy(self)
        twin._history = RunHistory(self._history.active)
        twin.state = self.state.apart()
        return twin

    # -- steering ------------------------------------------------------------------------------

    def interrupt(self, reason: str = BY_PERSON) -> None:
        """End all active runs of this agent, from any thread; their status is `interrupted`."""
        for run in list(self._history.active):
            run.interrupt(reason)

    def note_interrupt(self) -> None:
        """As `interrupt`, for a signal handler: only a flag is set, and nothing that waits is woken."""
        for run in self._history.active:
            run.is_signalled = True

    def pause(self) -> None:
        """Let runs wait before their next call, until `unpause`."""
        self._settings.update(is_paused=True)

    def unpause(self) -> None:
        """Let runs go on."""
        self._settings.update(is_paused=False)

    def replan_now(self) -> None:
        """Have a plan made before the next step of the runs that go on, whatever the interval."""
        self._settings.note(SettingChange(name="replan_now", old=False, new=True))

    # -- the life of a run ---------------------------------------------------------------------

    def moment_of(self, run: Run) -> Moment:
        """Where a run is now, on its own memory."""
        return Moment(
            memory=run.memory,
            state=run.state,
            model=run.model,
            meter=run.meter,
            step_number=run.step_number,
            max_steps=run.max_steps,
            summary_mode=run.values.summary_mode,
            has_plan=run.plan is not None,
            window=run.window or run.model.context_window,
            is_first_request=run.step_number == run.first_step,
            own_tools=run.own_tools,
        )

    def plan_handover(self) -> str:
        """The user message after a plan."""
        return self._prompts.render("plan_handover", {})

    def _start(
        self,
        task: str,
        *,
        reset: bool,
        images: Sequence[Value] | None,
        additional_args: Mapping[str, Value] | None,
        max_steps: int | None,
        variables: Mapping[str, Value] | None = None,
    ) -> Run:
        limit = None if max_steps is None else at_least_one("max_steps", max_steps)
        _check_task(task)
        with self._history.lock:
            if reset:
                self.reset()
            return self._enter(_Given(task, images, additional_args, variables), limit, None)

    def _restart(
        self,
        correction: str | None,
        *,
        images: Sequence[Value] | None = None,
        additional_args: Mapping[str, Value] | None = None,
        max_steps: int | None = None,
        variables: Mapping[str, Value] | None = None,
    ) -> Run:
        limit = None if max_steps is None else at_least_one("max_steps", max_steps)
        if correction is not None:
            _check_task(correction)
        with self._history.lock:
            origin = origin_of(self.result, self.runs)
            return self._enter(_Given(correction, images, additional_args, variables), limit, origin)

    def _again(self, max_steps: int | None) -> Run:
        limit = None if max_steps is None else at_least_one("max_steps", max_steps)
        with self._history.lock:
            task = drop_last_run(self.memory, self.result, self.runs)
            return self._make_run(task, self.state.fork(), limit, None)

    def _enter(self, given: _Given, limit: int | None, origin: Origin | None) -> Run:
        _check_names(given.additional_args)
        state = self.state.fork(extra=given.additional_args, opened=given.variables or ())
        told = {**(given.variables or {}), **(given.additional_args or {})}
        step = None
        if given.task is not None or told or given.images:
            task = given.task or self._resume_words(limit)
            step = build_task(task, given.images, told, state)
        if origin is not None:
            step = resumed_task(
                step, origin, lambda: self._resume_words(limit), is_corrected=given.task is not None
            )
        assert step is not None
        if undone := self.state.take_undone():
            step = dataclasses.replace(step, undone=undone)
        return self._make_run(step, state, limit, origin)

    def _make_run(self, step: TaskStep, state: AgentState, limit: int | None, origin: Origin | None) -> Run:
        # The system prompt depends on what the model can do, and finding out may take seconds:
        # the first step puts it in, when the run is on the screen already.
        self.check_model(self.model)
        with contextlib.suppress(ToolDefinitionError):  # its step is going to say so
            refuse_team(self)
        run = Run(
            agent_name=self.name,
            mode=self.mode,
            model=self.model,
            memory=self._history.fork(),
            state=state,
            settings=self._settings,
            task=step,
            max_steps=limit,
            call_ids=self._history.call_ids,
            desk=self._approvals,
            origin=origin,
        )
        self._history.enter(run)
        return run

    def check_model(self, model: Model) -> None:
        """Refuse a model with which no run of this kind could come to anything.

        Raises:
            OptionError: It is one.
        """

    def _resume_words(self, limit: int | None) -> str:
        why = self.result.status if self.result else "failed"
        return self._prompts.render("resume", {"why": why, "remaining_steps": limit or self.max_steps})

    def _finish(self, run: Run) -> RunResult:
        # Ctrl-C between two events reaches this line, not the generator: closing tells it.
        try:
            with contextlib.closing(self._drive(run)) as events:
                for _ in events:
                    pass
        except KeyboardInterrupt:  # it may have come before the first event, or twice
            self._history.close(run, BY_PERSON, self.state)
            raise
        return _ended(run)

    def _drive(self, run: Run) -> Generator[Event, None, RunResult]:
        events = self._events(run)
        try:
            return (yield from (logged(run.run_id, self.name, events) if is_heard() else events))
        finally:
            self._history.join(run, self.state)  # where Ctrl-C came into the joining itself; else it is done

    def _events(self, run: Run) -> Generator[Event, None, RunResult]:
        self._refuse_second_resume(run)
        try:
            self._history.begin(run)
            run.add(run.task)
            yield RunStarted(
                run_id=run.run_id,
                agent_name=self.name,
                model_id=run.model.model_id,
                max_steps=run.max_steps,
                task=run.task,
                mode=run.mode,
            )
            yield from take_steps(run, self)
        except (GeneratorExit, KeyboardInterrupt):
            self._history.close(run, BY_PERSON, self.state)
            raise
        except BaseException as bug:  # whatever it is: recorded, then raised with its traceback
            run.end(
                "failed",
                error=Fault(kind=type(bug).__name__, message=f"A fault of agent_magic itself: {bug!r}"),
            )
            raise
        finally:
            self._history.join(run, self.state)
            if not self._history.active:  # a pause is of runs that go on: the next one must not hang on it
                self.unpause()
        result = _ended(run)
        yield RunEnded(result=result)
        return result

    def _refuse_second_resume(self, run: Run) -> None:
        going_on = [other.origin.run_id for other in self._history.active if other.origin is not None]
        gone_on = [result.resumed_from for result in self.runs]
        if run.origin is not None and run.origin.run_id in (*going_on, *gone_on):
            raise OptionError(
                "That run is gone on with already. Wait for the end, and resume what comes of it."
            )

    def _chain_of(self, run: Run | None) -> tuple[str, ...]:
        """The run, or else the last result's, and those that it went on with, newest first."""
        if run is None:  # they were loaded
            return tuple(result.run_id for result in chain_of(self.result, self.runs))
        earlier = {result.run_id: result.resumed_from for result in self.runs}
        chain = [run.run_id]
        before = run.origin.run_id if run.origin else None
        while before is not None:
            chain.append(before)
            before = earlier.get(before)
        return tuple(chain)

    def _copied_moment(self, run: Run) -> Moment:
        """Where a run is now, on copies that may be changed."""
        moment = self.moment_of(run)
        moment.memory, moment.state, moment.own_tools = run.memory.fork(), run.state.copy(), {}
        if not run.steps:  # it was made, but nobody has taken its first event yet
            moment.memory.append(run.task)
        moment.summary_mode, moment.max_steps = self.summary_mode, foresee_max_steps(run)
        return moment

    def _resting_moment(self, task: str | None) -> Moment:
        """Where a run would be that started now."""
        memory, state = self._history.fork(), self.state.copy()
        if task is not None:
            memory.append(build_task(task, None, {}, state))
        return Moment(
            memory=memory,
            state=state,
            model=self.model,
            meter=Meter(self.model),
            step_number=1,
            max_steps=self.max_steps,
            summary_mode=self.summary_mode,
            has_plan=False,
            window=self.model.context_window,
        )


def _check_task(task: Value) -> None:
    if not isinstance(task, str):
        raise OptionError(f"The task is of type {type(task).__name__}. Give it as text.")
    if not task.strip():
        raise OptionError("The task is empty. Say what the agent is to find out or do.")


def _check_step(step: Value, task: Value) -> None:
    if isinstance(step, bool) or not isinstance(step, int):
        raise OptionError(
            f"step={step!r} is not allowed. Give the number of a step, or None for the next call."
        )
    if task is not None:
        raise OptionError("A past step and a task are given together. Leave out one of them.")


def _check_names(values: Value) -> None:
    if values is None:
        return
    if not isinstance(values, Mapping):
        raise OptionError(
            f"additional_args is a mapping of names to values, and not {safe_repr(values, 80)}. Give a dict."
        )
    for name in cast("Mapping[Value, Value]", values):
        if not isinstance(name, str) or not is_usable_name(name):
            raise OptionError(
                f"additional_args: {safe_repr(name, 80)} is no name that a model could refer to. Give an identifier."
            )


def _check_choice(what: str, value: Value, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise OptionError(f"{what}={value!r} is not allowed. Give one of: {', '.join(map(repr, choices))}.")


def _ended(run: Run) -> RunResult:
    assert run.result is not None
    return run.result
