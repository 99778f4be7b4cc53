"""Run: one execution of a task, with its own memory, state and counters.

An agent is a definition; what changes while a task goes on lives here, so that two runs of one
agent never mix. It must not ask a model nor call a tool.
"""

from __future__ import annotations

import asyncio
import dataclasses
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from agent_magic.agents.person.approvals import Approvals
from agent_magic.agents.run.attributing import Maker
from agent_magic.agents.run.counting import CallIds, Failures, Seen, Spent
from agent_magic.agents.run.drafts import Binding, Draft, PlanDraft, StepDraft
from agent_magic.agents.run.meter import Meter
from agent_magic.core.events import Event
from agent_magic.core.flag import Flag
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import AgentMode, CheckResult, RunResult, RunStatus, Verified
from agent_magic.core.settings import AgentSettings, SettingValues
from agent_magic.core.state import AgentState
from agent_magic.core.steps import (
    ActionStep,
    Fault,
    FinalAnswerStep,
    PlanningStep,
    RunStep,
    TaskStep,
    Timing,
)
from agent_magic.core.values import Value
from agent_magic.models.model import Model
from agent_magic.tools.tool import Tool

BY_PERSON = "The person interrupted the run."


class Interrupted(Exception):  # noqa: N818 - it is no error: the person stopped the run
    """Carries the reason of `agent.interrupt` from where it is noticed to where it is recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer that was taken, on its way into memory."""

    value: Value
    is_told: bool
    """See `FinalAnswerStep.is_told`."""


@dataclass(slots=True, kw_only=True)
class Origin:
    """The run that this one goes on with."""

    run_id: str
    task: str
    n_steps: int
    """Action steps that were made of this task already."""
    plan: str | None
    """The plan that counted, if there was one."""
    is_plan_fresh: bool = False
    """No action was made after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """How an ended run comes into the memory of its agent."""

    memory: AgentMemory
    """The agent's from then on."""
    has_overlapped: bool
    """Others joined in since it started."""
    n_changes: int


class Run:
    """One execution of a task."""

    loop: asyncio.AbstractEventLoop | None = None
    """The caller's event loop under `arun`; async tools run there."""
    result: RunResult | None = None
    is_signalled = False
    """Like `stop`, but set from a signal handler, where no lock may be taken."""
    n_changes = 0
    """How often the agent's history had changed when the run started."""
    joining: Joining | None = None
    usage: TokenUsage | None = None
    """Of the calls so far that were answered; None before the first."""
    paused_s = 0.0
    """How long the person had it wait."""
    wants_plan = False
    """The person asked for a new plan."""
    window: int | None = None
    """Tokens that a request may have, where the provider has taught us less than it says."""
    was_nudged = False
    """The model was told once that its reply has no call."""
    answer: Answer | None = None
    checks: tuple[CheckResult, ...] = ()
    """Of the newest answer that was checked."""
    listen: Callable[[Event], object] | None = None
    """Takes the events that arise while code runs, at once; without it they are told after the code."""
    above: Run | None = None
    """Of a managed agent: the run whose call it was started for."""
    _draft: Draft | None = None
    _reason = ""
    _maker: Maker | None = None

    def __init__(
        self,
        *,
        agent_name: str,
        model: Model,
        memory: AgentMemory,
        state: AgentState,
        settings: AgentSettings,
        task: TaskStep,
        max_steps: int | None,
        call_ids: CallIds,
        desk: Approvals | None = None,
        mode: AgentMode = "tools",
        origin: Origin | None = None,
    ) -> None:
        self.run_id = uuid.uuid4().hex[:12]
        self.agent_name = agent_name
        self.mode: AgentMode = mode
        self.model = model
        self.memory = memory
        self.n_start = len(memory.entries)
        """How many steps of earlier runs its memory begins with."""
        self.state = state
        self.meter = Meter(model)
        self.own_tools: dict[str, Tool] = {}
        """Tools that belong to this run, such as `peek` into its state."""
        self.settings = settings
        # In this order: a change that comes between the two is told though it holds already, never lost.
        self.seen = Seen(len(settings.log), len(memory.edits))
        self.values: SettingValues = settings.values
        """The settings as far as they are in effect."""
        self.task = task
        self.origin = origin
        self.first_step = 1 + (origin.n_steps if origin else 0)
        self.step_number = self.first_step
        """Of the action step that is made now or next."""
        # A run that goes on gets as many steps again.
        self.max_steps = (max_steps or settings.values.max_steps) + self.first_step - 1
        """The number of the last step that may be made."""
        self.call_ids = call_ids
        self.desk = desk or Approvals()
        """Where it asks the person."""
        self.stop = Flag()
        """Set when the person wants it to end; waits of the run listen to it."""
        self.steps: list[RunStep] = []
        """This run's own, in memory already, as they were made."""
        self.bindings: dict[int, dict[str, Binding]] = {}
        """What each step made of names, by its number."""
        self.spent: Spent[Run] = Spent()
        self.failures = Failures()
        self.plan: str | None = origin.plan if origin else None
        """The newest plan that counts."""
        self.start = time.time()
        self._lock = threading.RLock()
        self._wakers: list[Callable[[], None]] = []

    @property
    def n_left(self) -> int:
        """Steps left, the one that is made now or next counted."""
        return self.max_steps - self.step_number + 1

    @property
    def chain(self) -> tuple[Run, ...]:
        """The run itself, then those that it was started for, nearest first."""
        return (self,) if self.above is None else (self, *self.above.chain)

    def as_maker(self, code: str | None = None) -> Maker:
        """Who makes its steps; one of code with what that says."""
        if self._maker is None:
            self._maker = Maker(name=self.agent_name, run_ids=tuple(run.run_id for run in self.chain))
        return self._maker if code is None else dataclasses.replace(self._maker, code=code)

    @property
    def is_paused(self) -> bool:
        """Whether the person has it wait, or one that it was started for."""
        return any(not run.settings.go.is_set() for run in self.chain)

    # -- stopping ----------------------------------------------------------------------------

    def interrupt(self, reason: str) -> None:
        """Ask the run to end; it does at the next piece of a reply, result of a tool, or wait."""
        self._reason = reason
        self.stop.set()
        for wake in list(self._wakers):
            wake()

    def on_interrupt(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` when the run is interrupted, now if it is; returns what takes it off again."""
        self._wakers.append(wake)
        if self.stop.is_set():
            wake()
        return lambda: self._wakers.remove(wake)

    @property
    def is_stopping(self) -> bool:
        """Whether the person has stopped it, or one that it was started for; asked from signal handlers too."""
        if self.is_signalled or self.stop.is_set():
            return True
        return self.above is not None and self.above.is_stopping

    @property
    def reason(self) -> str:
        """Why it is stopped; empty if nobody said."""
        return next((run._reason for run in self.chain if run._reason), "")

    def raise_if_interrupted(self) -> None:
        """Leave for the recording of the interrupt, if there is one."""
        if self.is_stopping:
            raise Interrupted(self.reason)

    # -- steps -------------------------------------------------------------------------------

    def begin_step(self, step_number: int) -> StepDraft:
        """Start an action step."""
        self.step_number = step_number
        self._draft = draft = StepDraft(step_number, is_code=self.mode == "code")
        return draft

    def begin_plan(self, step_number: int) -> PlanDraft:
        """Start the plan that is made before a step."""
        self.step_number = step_number
        self._draft = draft = PlanDraft(step_number, is_first=self.plan is None)
        return draft

    def end_step(self) -> ActionStep | PlanningStep:
        """Enter the current step into memory."""
        with self._lock:
            draft = self._draft
            if draft is None or self.result is not None:
                raise Interrupted(self._reason)
            step = self._freeze(draft)
            if isinstance(step, ActionStep):
                self.step_number += 1
            return step

    def drop_step(self) -> None:
        """Let the current step go: what it made stands elsewhere."""
        self._draft = None

    def take_answer(self, value: Value, *, is_told: bool) -> None:
        """Note the answer; the run ends with this step."""
        self.answer = Answer(value=value, is_told=is_told)

    def add(self, step: TaskStep | FinalAnswerStep) -> None:
        """Enter a task or an answer into memory."""
        with self._lock:
            self._append(step)

    def count_usage(self, usage: TokenUsage | None) -> None:
        """Add what a model call cost; one that does not say makes the sum unknown.

        The runs that it was started for count it too, at once.
        """
        reported = usage or TokenUsage()
        for run in self.chain:
            with run._lock:  # calls of several managed agents go on side by side
                run.usage = reported if run.usage is None else run.usage + reported

    def count_pause(self, seconds: float) -> None:
        """Note how long the person had it wait; those that it was started for waited with it."""
        for run in self.chain:
            run.paused_s += seconds

    # -- the end -----------------------------------------------------------------------------

    def end(
        self,
        status: RunStatus,
        *,
        value: Value = None,
        error: Fault | None = None,
        fault: Fault | None = None,
        checks: tuple[CheckResult, ...] = (),
    ) -> RunResult:
        """Make the result; the first end counts.

        A step that is being made enters memory with what it has; an interrupt between two steps
        leaves a step of its own, so that memory always shows it.

        Args:
            status: How it ended.
            value: The answer.
            error: Why there is none, for the person.
            fault: Of the step that is being made, for the model; None for the error.
            checks: Of the answer.
        """
        with self._lock:
            if self.result is not None:
                return self.result
            self._mend()
            if self._draft is None and status == "interrupted":
                n_made = sum(isinstance(step, ActionStep) for step in self.steps)
                self._draft = StepDraft(self.first_step + n_made, is_code=self.mode == "code")
            if self._draft is not None:
                self._draft.fault = self._draft.fault or fault or error
                if status == "interrupted":
                    self._draft.take_back_answer()
                self._freeze(self._draft)
            self.result = RunResult(
                run_id=self.run_id,
                agent_name=self.agent_name,
                model_id=self.model.model_id,
                task=self.origin.task if self.origin else self.task.task,
                value=value,
                status=status,
                max_steps=self.max_steps,
                steps=tuple(self.steps),
                usage=self.usage or TokenUsage(),
                timing=Timing(start=self.start, end=time.time()),
                error=error,
                verified=_verified(checks),
                checks=checks,
                resumed_from=self.origin.run_id if self.origin else None,
                mode=self.mode,
            )
            return self.result

    def end_interrupted(self, reason: str) -> RunResult:
        """End as interrupted by the person; the first end counts, and an answer that is in memory."""
        if self.answer is not None and self.steps and isinstance(self.steps[-1], FinalAnswerStep):
            return self.end("answered", value=self.answer.value, checks=self.checks)
        return self.end("interrupted", error=Fault(kind="Interrupted", message=reason))

    def _freeze(self, draft: Draft) -> ActionStep | PlanningStep:
        """Let what is being made be a step; the order is one that an interrupt may come into at any place."""
        draft.step = step = draft.freeze()
        if isinstance(draft, StepDraft) and draft.bindings:
            self.bindings[draft.step_number] = draft.bindings
        self._append(step)
        self._draft = None
        return step

    def _append(self, step: RunStep) -> None:
        if self.result is None:
            self.steps.append(step)
            self.memory.append(step)

    def _mend(self) -> None:
        """Put right what an interrupt left half done: a step that is made is in memory, once."""
        if not self.steps:  # it ended before it began
            self.steps.append(self.task)
        for step in self.steps[len(self.memory.entries) - self.n_start :]:
            self.memory.append(step)
        if self._draft is not None and self._draft.step is self.steps[-1]:
            self._draft = None


def _verified(checks: tuple[CheckResult, ...]) -> Verified:
    if not checks:
        return "unchecked"
    return "yes" if all(check.passed for check in checks) else "no"
