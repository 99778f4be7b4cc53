"""A step of which nobody wrote how it ended, from what was written ahead of it; and runs inside of it.

It must not say that a call was made or not where that is not known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

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
from agent_magic.record.lane import usages_of_lanes

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
    managed: dict[str, ManagedRun] = field(default_factory=dict[str, "ManagedRun"])
    """The runs of managed agents, by the ids of their calls, which may be calls that code made."""

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
            signed=reply.signed,
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
            result = self._with_run(self.results[call.id], reason)
            return replace(result, calls=inner) if inner else result
        # Of the calls of one step the first alone waited for the disk: others may have begun unseen.
        message = (_UNKNOWN_CODE if self.mode == "code" else _UNKNOWN) if self.started else _NOT_RUN
        return self._with_run(ToolResult(call=call, fault=_to_fault(message, reason), calls=inner), reason)

    def _to_inner(self, call: ToolCall, reason: str) -> ToolResult:
        """A call that code made: that it was begun is all that is known of one without an end."""
        result = self.results.get(call.id) or ToolResult(call=call, fault=_to_fault(_UNKNOWN, reason))
        return self._with_run(result, reason)

    def _with_run(self, result: ToolResult, reason: str) -> ToolResult:
        managed = self.managed.get(result.call.id)
        return result if managed is None else replace(result, run=managed.to_result(reason))


@dataclass(slots=True, kw_only=True)
class ManagedRun:
    """What is known of a run that a managed agent began for a call."""

    run_id: str
    agent_name: str
    model_id: str
    max_steps: int
    mode: AgentMode
    task: TaskStep
    start: float
    end: float
    steps: list[RunStep] = field(default_factory=list[RunStep])
    """Those that were finished, without the task."""
    step: Unfinished | None = None
    outcome: RunResult | None = None
    """How it ended, without its steps."""

    def to_result(self, reason: str) -> RunResult:
        """The run with what there is of it; `reason` is why it is not finished, if it is not."""
        steps: list[RunStep] = [self.task, *self.steps]
        if self.outcome is not None:
            return replace(self.outcome, steps=tuple(steps))
        if self.step is not None:
            known = {call.id for step in steps if isinstance(step, ActionStep) for call in step.tool_calls}
            is_first_plan = not any(isinstance(step, PlanningStep) and step.plan for step in steps)
            last = self.step.to_step(
                end=self.end, reason=reason, digest="", known_ids=known, is_first_plan=is_first_plan
            )
            steps.append(last)
        end = steps[-1]
        is_over = isinstance(end, FinalAnswerStep)  # it had ended, but for that word
        status: RunStatus = ("answered" if end.request is None else "max_steps") if is_over else "interrupted"
        return RunResult(
            run_id=self.run_id,
            agent_name=self.agent_name,
            model_id=self.model_id,
            task=self.task.task,
            value=end.answer if is_over else None,
            status=status,
            max_steps=self.max_steps,
            steps=tuple(steps),
            usage=usage_of(steps),
            timing=Timing(start=self.start, end=max(self.end, self.start)),
            error=None if is_over else Fault(kind="Interrupted", message=reason),
            mode=self.mode,
        )


def _to_fault(message: str, reason: str) -> Fault:
    return Fault(kind="Interrupted", message=message if reason == KERNEL_ENDED else _NOT_TOLD)


def _mend(text: str) -> str:
    """A reply with code in it as it stands in a step: the closing tag was no part of what came."""
    is_open = OPENING_TAG in text and not text.rstrip().endswith(CLOSING_TAG)
    return f"{text.rstrip()}\n{CLOSING_TAG}" if is_open else text


def usage_of(steps: Sequence[RunStep]) -> TokenUsage:
    """What these steps used, and the runs inside them."""
    usages = [
        usage for step in steps if not isinstance(step, TaskStep) and (usage := step.token_usage) is not None
    ]
    usages += [usage for step in steps for usage in usages_of_lanes(step)]
    return sum(usages[1:], usages[0]) if usages else TokenUsage()


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
