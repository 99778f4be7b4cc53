"""The life of an agent's run: made from what is given, driven to its end, joined into the memory.

It must not know how a step acts, nor how whoever started the run takes its events.
"""

from __future__ import annotations

import contextlib
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from agent_magic.agents.calls.teams import refuse_team
from agent_magic.agents.definition import at_least_one
from agent_magic.agents.loop import take_steps
from agent_magic.agents.past.resuming import drop_last_run, origin_of, resumed_task
from agent_magic.agents.previewing import PreviewingAgent
from agent_magic.agents.requests.moment import Moment
from agent_magic.agents.run.drafts import StepDraft
from agent_magic.agents.run.log import is_heard, logged
from agent_magic.agents.run.run import BY_PERSON, Origin, Run
from agent_magic.agents.run.task import build_task, check_task
from agent_magic.agents.run.waking import woken_by_interrupts
from agent_magic.core.errors import OptionError, ToolDefinitionError
from agent_magic.core.events import Event, RunEnded, RunStarted
from agent_magic.core.messages import ChatMessage
from agent_magic.core.result import AgentMode, RunResult
from agent_magic.core.state import AgentState, is_usable_name
from agent_magic.core.steps import Fault, TaskStep
from agent_magic.core.values import Value, safe_repr
from agent_magic.models.model import Model


@dataclass(frozen=True, slots=True)
class _Given:
    """What a run is given by whoever starts it."""

    task: str | None
    images: Sequence[Value] | None
    additional_args: Mapping[str, Value] | None
    variables: Mapping[str, Value] | None


class RunningAgent(PreviewingAgent, ABC):
    """An agent that can make runs, each an object of its own."""

    mode: AgentMode = "tools"
    """How its steps act."""

    # -- what each kind of agent fills in ------------------------------------------------------

    @abstractmethod
    def act(self, run: Run, moment: Moment, draft: StepDraft) -> Generator[Event, None, None]:
        """One step: ask the model, do what it says, put all of it into `draft`."""

    @abstractmethod
    def read_last_answer(self, run: Run, message: ChatMessage) -> Value:
        """The answer in the reply to the request at the step limit; None if there is none.

        Raises:
            StepError: It is not of the type that was asked for.
        """

    def check_model(self, model: Model) -> None:
        """Refuse a model with which no run of this kind could come to anything.

        Raises:
            OptionError: It is one.
        """

    # -- making one ----------------------------------------------------------------------------

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
        check_task(task)
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
            check_task(correction)
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

    def _resume_words(self, limit: int | None) -> str:
        why = self.result.status if self.result else "failed"
        return self._prompts.render("resume", {"why": why, "remaining_steps": limit or self.max_steps})

    # -- driving it ----------------------------------------------------------------------------

    def plan_handover(self) -> str:
        """The user message after a plan."""
        return self._prompts.render("plan_handover", {})

    def _finish(self, run: Run) -> RunResult:
        # Ctrl-C between two events reaches this line, not the generator: closing tells it.
        with woken_by_interrupts(run) as waking:
            try:
                with contextlib.closing(self._drive(run)) as events:
                    for _ in events:
                        pass
            except KeyboardInterrupt:  # it may have come before the first event, or twice
                self._history.close(run, run.reason or BY_PERSON, self.state)
                if not waking.was_raised:
                    raise
        if waking.was_pressed:
            raise KeyboardInterrupt
        return ended(run)

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
            self._history.close(run, run.reason or BY_PERSON, self.state)
            raise
        except BaseException as bug:  # whatever it is: recorded, then raised with its traceback
            run.end(
                "failed",
                error=Fault(kind=type(bug).__name__, message=f"A fault of agent_magic itself: {bug!r}"),
            )
            raise
        finally:
            self._history.join(run, self.state)
            # A pause is of runs that go on: the next one must not hang on it.
            if self._settings.values.is_paused and not self._history.active:
                self._settings.update(is_paused=False)
        result = ended(run)
        yield RunEnded(result=result)
        return result

    def _refuse_second_resume(self, run: Run) -> None:
        going_on = [other.origin.run_id for other in self._history.active if other.origin is not None]
        gone_on = [result.resumed_from for result in self.runs]
        if run.origin is not None and run.origin.run_id in (*going_on, *gone_on):
            raise OptionError(
                "That run is gone on with already. Wait for the end, and resume what comes of it."
            )


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


def ended(run: Run) -> RunResult:
    """What came of a run that has ended."""
    assert run.result is not None
    return run.result
