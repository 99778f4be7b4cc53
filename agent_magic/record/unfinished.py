"""A run and a step of which nobody wrote how they ended, from what was written ahead of them.

It must not say that a call was made or not where that is not known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from agent_magic.core.form.part import originals
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, TokenUsage, ToolCall
from agent_magic.core.result import AgentMode, RunResult, RunStatus
from agent_magic.core.steps import (
    CLOSING_TAG,
    OPENING_TAG,
    ActionStep,
    Fault,
    FinalAnswerStep,
    PlanningStep,
    RunStep,
    TaskStep,
    Timing,
    ToolResult,
)
from agent_magic.core.values import Value
from agent_magic.record.rebuild import Rebuilt
from agent_magic.record.schema import Json
from agent_magic.record.shown import Beside
from agent_magic.record.step_notes import StepNotes

KERNEL_ENDED = "The kernel ended during this run."
GOES_ON = "This run had not ended yet when its journal was read."
CAPPED = "The journal of this run reached its cap, so the steps after that are not in it."
_UNKNOWN = "The kernel ended before this call did: it may have run, what it did is not known, and it was not repeated."
_UNKNOWN_CODE = (
    "The kernel ended while this code ran: what it had done by then is not known, and it was not run again."
)
_NOT_RUN = "The call was not run: the kernel ended before it."
_NOT_TOLD = "What became of this call is not in the journal."


@dataclass(slots=True, kw_only=True)
class Unfinished:
    """What is known of a step that was begun."""

    step_number: int
    start: float
    is_plan: bool = False
    mode: AgentMode = "tools"
    reply: ChatMessage | None = None
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """Those of which there is news, by their ids, in the order of it."""
    started: set[str] = field(default_factory=set[str])
    """The ids of those whose bodies were about to be entered."""
    results: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])
    inner: dict[str, dict[str, ToolCall]] = field(default_factory=dict[str, dict[str, ToolCall]])
    """The calls that code made, by their ids, by the id of the code."""

    def start_call(self, call: ToolCall, *, inside: str | None = None) -> None:
        """A body, or code, was about to be entered; `inside` is the id of the code that made the call."""
        if inside is not None:
            self.inner.setdefault(inside, {})[call.id] = call
            return
        self.calls.setdefault(call.id, call)
        self.started.add(call.id)

    def end_call(self, result: ToolResult, *, inside: str | None = None) -> None:
        """A call, or code, had its result."""
        calls = self.calls if inside is None else self.inner.setdefault(inside, {})
        calls.setdefault(result.call.id, result.call)
        self.results[result.call.id] = result

    def to_step(
        self, *, end: float, reason: str, digest: str, known_ids: set[str], is_first_plan: bool
    ) -> ActionStep | PlanningStep:
        """The step with what there is of it.

        Args:
            end: When the last news of it came.
            reason: Why it is not finished.
            digest: Of what the model was sent, if that is known.
            known_ids: Of calls in the memory already.
            is_first_plan: There is no plan in the run before it.
        """
        reply = self.reply or ChatMessage(role="assistant")
        timing = Timing(start=self.start, end=max(end, self.start))
        fault = Fault(kind="Interrupted", message=reason)
        if self.is_plan:
            return PlanningStep(
                step_number=self.step_number,
                timing=timing,
                model_output=reply.content or "",
                reasoning=reply.reasoning or "",
                is_first=is_first_plan,
                fault=fault,
                token_usage=reply.usage,
                model_input_digest=digest,
            )
        calls = self._all_calls(reply, known_ids)
        is_code = self.mode == "code"
        text = reply.content or ""
        return ActionStep(
            step_number=self.step_number,
            timing=timing,
            model_output=_mend(text) if is_code and calls else text,
            reasoning=reply.reasoning or "",
            calls_start=text.find(OPENING_TAG) if is_code and calls and OPENING_TAG in text else None,
            tool_results=tuple(self._to_result(call, reason) for call in calls),
            is_code=is_code,
            fault=fault,
            token_usage=reply.usage,
            model_input_digest=digest,
        )

    def _all_calls(self, reply: ChatMessage, known_ids: set[str]) -> list[ToolCall]:
        """The calls of the reply in its order, each as it was made if there is news of it."""
        left = dict(self.calls)
        taken = known_ids | left.keys()
        calls: list[ToolCall] = []
        for asked in reply.tool_calls:
            # A call may have got another id, where the model's was not its own.
            made = left.pop(asked.id, None) or _pop_named(left, asked.name)
            if made is None:
                call_id = _free_id(asked.id, taken)
                made = ToolCall(id=call_id, name=asked.name.strip(), arguments=_read_arguments(asked))
                taken.add(made.id)
            calls.append(made)
        return [*calls, *left.values()]

    def _to_result(self, call: ToolCall, reason: str) -> ToolResult:
        inner = tuple(self._to_inner(made, reason) for made in self.inner.get(call.id, {}).values())
        if call.id in self.results:
            return replace(self.results[call.id], calls=inner) if inner else self.results[call.id]
        # Of the calls of one step the first alone waited for the disk: others may have begun unseen.
        message = (_UNKNOWN_CODE if self.mode == "code" else _UNKNOWN) if self.started else _NOT_RUN
        return ToolResult(call=call, fault=_to_fault(message, reason), calls=inner)

    def _to_inner(self, call: ToolCall, reason: str) -> ToolResult:
        """A call that code made: that it was begun is all that is known of one without an end."""
        return self.results.get(call.id) or ToolResult(call=call, fault=_to_fault(_UNKNOWN, reason))


@dataclass(slots=True, kw_only=True)
class WrittenRun:
    """One run, as far as its lines tell."""

    run_id: str
    agent_name: str
    model_id: str
    max_steps: int
    mode: AgentMode
    n_before: int
    start: float
    end: float
    part: int
    """In which memory, by its place in the file."""
    step: Unfinished | None = None
    outcome: Json | None = None
    is_capped: bool = False
    reason: str | None = None
    """Why its model was chosen."""
    warnings: Sequence[str] = ()
    """Of its header, from its beginning."""
    notes: StepNotes = field(default_factory=StepNotes)

    def to_beside(self, steps: Sequence[RunStep]) -> Beside:
        """What stood beside the run in its cell; `steps` are those of its result."""
        warnings = [*self.warnings, *self.notes.end()]
        return Beside(reason=self.reason, warnings=warnings, notes=self.notes.to_places(steps))


def _to_fault(message: str, reason: str) -> Fault:
    return Fault(kind="Interrupted", message=message if reason == KERNEL_ENDED else _NOT_TOLD)


def _mend(text: str) -> str:
    """A reply with code in it as it stands in a step: the closing tag was no part of what came."""
    is_open = OPENING_TAG in text and not text.rstrip().endswith(CLOSING_TAG)
    return f"{text.rstrip()}\n{CLOSING_TAG}" if is_open else text


def steps_of(run: WrittenRun, rebuilt: Rebuilt, n_after: int | None) -> list[RunStep]:
    """The steps of a run as they were made, those of the one after it begin at `n_after`."""
    memory = rebuilt.memory
    if not rebuilt.is_whole:  # where they stood is not known any more
        return []
    return originals(memory.entries, memory.edits)[run.n_before : n_after]


def to_last_step(
    run: WrittenRun, memory: AgentMemory, steps: list[RunStep], reason: str
) -> ActionStep | PlanningStep:
    """The step that says that the run was not finished, with what there is of the one that was being made."""
    counted = steps
    if steps and isinstance(steps[0], TaskStep) and steps[0].resumes is not None:
        counted = list(memory.steps)  # numbers go on from the run before
    made = [s.step_number for s in counted if isinstance(s, ActionStep)]
    number = made[-1] + 1 if made else 1
    step = run.step or Unfinished(step_number=number, start=run.end, mode=run.mode)
    last = memory.requests[-1] if memory.requests else None
    is_ours = last is not None and last.run_id == run.run_id and last.step_number == step.step_number
    known = {call.id for s in memory.steps if isinstance(s, ActionStep) for call in s.tool_calls}
    return step.to_step(
        end=run.end,
        reason=reason,
        digest=last.digest if is_ours and last and step.reply else "",
        known_ids=known,
        is_first_plan=not any(isinstance(s, PlanningStep) and s.plan for s in steps),
    )


def to_unfinished(run: WrittenRun, steps: list[RunStep], reason: str, earlier: list[RunResult]) -> RunResult:
    """The result of a run of which nobody wrote how it ended."""
    last = steps[-1] if steps else None
    status: RunStatus = "interrupted"
    error: Fault | None = Fault(kind="Interrupted", message=reason)
    value: Value = None
    if isinstance(last, ActionStep | PlanningStep) and last.is_interrupted:
        error = last.fault
    if isinstance(last, FinalAnswerStep):  # it had ended, but for that word
        status, error = ("answered" if last.request is None else "max_steps"), None
        value = last.answer
    task = next((step for step in steps if isinstance(step, TaskStep)), TaskStep(task=""))
    before = next((result for result in earlier if result.run_id == task.resumes), None)
    usages = [
        usage for step in steps if not isinstance(step, TaskStep) and (usage := step.token_usage) is not None
    ]
    return RunResult(
        run_id=run.run_id,
        agent_name=run.agent_name,
        model_id=run.model_id,
        task=before.task if before else task.task,
        value=value,
        status=status,
        max_steps=run.max_steps,
        steps=tuple(steps),
        usage=sum(usages[1:], usages[0]) if usages else TokenUsage(),
        timing=Timing(start=run.start, end=run.end),
        error=error,
        resumed_from=task.resumes,
        mode=run.mode,
    )


def _pop_named(calls: dict[str, ToolCall], name: str) -> ToolCall | None:
    for call_id, call in calls.items():
        if call.name == name.strip():
            return calls.pop(call_id)
    return None


def _read_arguments(call: ToolCall) -> Mapping[str, Value] | str | None:
    """As a mapping if they are one; a provider's own text may be anything."""
    if isinstance(call.arguments, str):
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError):
            return call.arguments
        if type(arguments) is dict:
            return cast("dict[str, Value]", arguments)
    return call.arguments


def _free_id(call_id: str, taken: set[str]) -> str:
    call_id = call_id or "call"
    number, free = 1, call_id
    while free in taken:
        number += 1
        free = f"{call_id}_{number}"
    return free
