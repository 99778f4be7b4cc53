"""A step that was being made when its kernel ended, from what was written ahead of it.

It must not say that a call was made or not where that is not known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from agent_magic.core.messages import ChatMessage, ToolCall
from agent_magic.core.steps import ActionStep, Fault, PlanningStep, Timing, ToolResult
from agent_magic.core.values import Value

KERNEL_ENDED = "The kernel ended during this run."
GOES_ON = "This run had not ended yet when its journal was read."
CAPPED = "The journal of this run reached its cap, so the steps after that are not in it."
_UNKNOWN = "The kernel ended before this call did: it may have run, what it did is not known, and it was not repeated."
_NOT_RUN = "The call was not run: the kernel ended before it."
_NOT_TOLD = "What became of this call is not in the journal."


@dataclass(slots=True, kw_only=True)
class Unfinished:
    """What is known of a step that was begun."""

    step_number: int
    start: float
    is_plan: bool = False
    reply: ChatMessage | None = None
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    """Those of which there is news, by their ids, in the order of it."""
    started: set[str] = field(default_factory=set[str])
    """The ids of those whose bodies were about to be entered."""
    results: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])

    def start_call(self, call: ToolCall) -> None:
        """A body was about to be entered."""
        self.calls.setdefault(call.id, call)
        self.started.add(call.id)

    def end_call(self, result: ToolResult) -> None:
        """A call had its result."""
        self.calls.setdefault(result.call.id, result.call)
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
        return ActionStep(
            step_number=self.step_number,
            timing=timing,
            model_output=reply.content or "",
            reasoning=reply.reasoning or "",
            tool_results=tuple(self._to_result(call, reason) for call in calls),
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
        if call.id in self.results:
            return self.results[call.id]
        # Of the calls of one step the first alone waited for the disk: others may have begun unseen.
        message = _UNKNOWN if self.started else _NOT_RUN
        if reason != KERNEL_ENDED:
            message = _NOT_TOLD
        return ToolResult(call=call, fault=Fault(kind="Interrupted", message=message))


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
