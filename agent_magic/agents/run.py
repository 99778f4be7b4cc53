"""Run: one execution of a task, with its own memory, state and counters.

An agent is a definition; what changes while a task goes on lives here, so that two runs of one
agent never mix. It must not ask a model nor call a tool.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import TokenUsage, ToolCall
from agent_magic.core.result import RunResult, RunStatus
from agent_magic.core.state import AgentState
from agent_magic.core.steps import ActionStep, Fault, FinalAnswerStep, RunStep, TaskStep, Timing, ToolResult
from agent_magic.core.text import truncate
from agent_magic.core.values import Value
from agent_magic.models.model import Model

MAX_MODEL_OUTPUT = 100_000
"""Characters of a reply's text that are kept; a longer one is a model gone astray."""
BY_PERSON = "The person interrupted the run."


class Interrupted(Exception):  # noqa: N818 - it is no error: the person stopped the run
    """Carries the reason of `agent.interrupt` from where it is noticed to where it is recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer that was taken, on its way into memory."""

    value: Value
    is_told: bool
    """See `FinalAnswerStep.is_told`."""


class StepDraft:
    """An action step while it is being made. Anything in it so far can become a valid step."""

    def __init__(self, step_number: int) -> None:
        self.step_number = step_number
        self.start = time.time()
        self.text_pieces: list[str] = []
        self.reasoning_pieces: list[str] = []
        self.calls_start: int | None = None
        self.calls: tuple[ToolCall, ...] = ()
        self.results: dict[int, ToolResult] = {}
        """By place in `calls`."""
        self.fault: Fault | None = None
        self.token_usage: TokenUsage | None = None
        self.is_final_answer = False

    def forget_pieces(self) -> None:
        """Drop what has come of a reply."""
        self.text_pieces.clear()
        self.reasoning_pieces.clear()

    def add_advice(self, advice: str) -> None:
        """Add a line to each of the step's error texts."""
        if self.fault:
            self.fault = _advised(self.fault, advice)
        for place, result in self.results.items():
            if result.fault:
                self.results[place] = replace(result, fault=_advised(result.fault, advice))

    def freeze(self) -> ActionStep:
        """The step; a call without a result is answered by what stopped it."""
        fault = self.fault
        unanswered = Fault(
            kind=fault.kind if fault else "Interrupted",
            message="The call was interrupted before it ended; what it did so far is not known."
            if fault is None or fault.kind == "Interrupted"
            else fault.message,
        )
        results = tuple(
            self.results.get(place) or ToolResult(call=call, fault=unanswered)
            for place, call in enumerate(self.calls)
        )
        return ActionStep(
            step_number=self.step_number,
            timing=Timing(start=self.start, end=time.time()),
            model_output=truncate("".join(self.text_pieces), MAX_MODEL_OUTPUT),
            reasoning=truncate("".join(self.reasoning_pieces), MAX_MODEL_OUTPUT),
            calls_start=self.calls_start,
            tool_results=results,
            fault=fault,
            token_usage=self.token_usage,
            is_final_answer=self.is_final_answer,
        )


class CallIds:
    """The ids of tool calls, each given once in all runs that may come to stand in one memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: set[str] = set()
        self._numbers: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """`wanted`, or the next of `wanted_2`, `wanted_3`, … that no call has yet."""
        with self._lock:
            call_id = base = wanted or "call_1"
            number = self._numbers.get(base, 1)
            while call_id in self._used:
                number += 1
                call_id = f"{base}_{number}"
            self._numbers[base] = number
            self._used.add(call_id)
            return call_id


class Run:
    """One execution of a task."""

    def __init__(
        self,
        *,
        agent_name: str,
        model: Model,
        memory: AgentMemory,
        state: AgentState,
        task: TaskStep,
        max_steps: int,
        call_ids: CallIds,
    ) -> None:
        self.run_id = uuid.uuid4().hex[:12]
        self.agent_name = agent_name
        self.model = model
        self.memory = memory
        self.state = state
        self.task = task
        self.max_steps = max_steps
        self.call_ids = call_ids
        self.loop: asyncio.AbstractEventLoop | None = None
        """The caller's event loop under `arun`; async tools and `main_thread` tools run there."""
        self.result: RunResult | None = None
        self.stop = threading.Event()
        """Set when the person wants it to end; waits of the run listen to it."""
        self.is_signalled = False
        """Like `stop`, but set from a signal handler, where no lock may be taken."""
        self.steps: list[RunStep] = []
        """This run's own, in memory already."""
        self.n_changes = 0
        """How often the agent's history had changed when the run started."""
        self.usage: TokenUsage | None = None
        """Of the calls so far that were answered; None before the first."""
        self._start = time.time()
        self._draft: StepDraft | None = None
        self._reason = ""
        self._lock = threading.RLock()
        self._wakers: list[Callable[[], None]] = []
        self._last_failure: tuple[str, ...] | None = None
        self.n_equal_failures = 0
        """How many steps running failed in the same way."""
        self.was_nudged = False
        """The model was told once that its reply has no call."""
        self.answer: Answer | None = None

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

    def raise_if_interrupted(self) -> None:
        """Leave for the recording of the interrupt, if there is one."""
        if self.is_signalled or self.stop.is_set():
            raise Interrupted(self._reason)

    # -- steps -------------------------------------------------------------------------------

    def begin_step(self, step_number: int) -> StepDraft:
        """Start an action step."""
        self._draft = StepDraft(step_number)
        return self._draft

    def end_step(self) -> ActionStep:
        """Enter the current step into memory."""
        with self._lock:
            draft = self._draft
            if draft is None or self.result is not None:
                raise Interrupted(self._reason)
            self._draft = None
            step = draft.freeze()
            self._append(step)
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
        """Add what a model call cost; one that does not say makes the sum unknown."""
        reported = usage or TokenUsage()
        self.usage = reported if self.usage is None else self.usage + reported

    def count_failure(self, failure: tuple[str, ...] | None) -> None:
        """Note how a step failed, None for one that did not."""
        self.n_equal_failures = (
            0 if failure is None else (self.n_equal_failures + 1 if failure == self._last_failure else 1)
        )
        self._last_failure = failure

    # -- the end -----------------------------------------------------------------------------

    def end(self, status: RunStatus, *, value: Value = None, error: Fault | None = None) -> RunResult:
        """Make the result; the first end counts.

        A step that is being made enters memory with what it has; an interrupt between two steps
        leaves a step of its own, so that memory always shows it.
        """
        with self._lock:
            if self.result is not None:
                return self.result
            if not self.steps:  # it ended before it began
                self._append(self.task)
            if self._draft is None and status == "interrupted":
                self._draft = StepDraft(1 + sum(isinstance(step, ActionStep) for step in self.steps))
            if self._draft is not None:
                self._draft.fault = self._draft.fault or error
                self._append(self._draft.freeze())
                self._draft = None
            self.result = RunResult(
                run_id=self.run_id,
                agent_name=self.agent_name,
                model_id=self.model.model_id,
                task=self.task.task,
                value=value,
                status=status,
                max_steps=self.max_steps,
                steps=tuple(self.steps),
                usage=self.usage or TokenUsage(),
                timing=Timing(start=self._start, end=time.time()),
                error=error,
            )
            return self.result

    def end_interrupted(self, reason: str) -> RunResult:
        """End as interrupted by the person; the first end counts."""
        return self.end("interrupted", error=Fault(kind="Interrupted", message=reason))

    def _append(self, step: RunStep) -> None:
        if self.result is None:
            self.steps.append(step)
            self.memory.append(step)


def _advised(fault: Fault, advice: str) -> Fault:
    return replace(fault, message=f"{fault.message}\n{advice}")
