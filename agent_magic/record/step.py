"""One action step as a `StepRecord`: which fields it has and how each is cut.

It must not look at the run around it, nor at runs inside it: those are the business of `lane`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from agent_magic.core.messages import TokenUsage
from agent_magic.core.steps import ActionStep
from agent_magic.record.call import cut_call, cut_error, to_error, to_seconds, to_whole_call
from agent_magic.record.clean import cut_text, redact_plain, to_plain
from agent_magic.record.limits import MAX_CALLS, Limits
from agent_magic.record.notes import add_beside, cut_beside
from agent_magic.record.schema import CallRecord, LaidOnRecord, NoteRecord, StepRecord, UsageRecord

_MAX_CHANGES = 50
_CHANGE_CHARS = 300


def to_whole_step(
    step: ActionStep, *, notes: Sequence[NoteRecord] = (), laid_on: LaidOnRecord | None = None
) -> StepRecord:
    """A step as plain JSON without secrets, its texts prepared for `cut_step` but not cut; images in words."""
    record = StepRecord(step_number=step.step_number, duration_s=to_seconds(step.timing.duration_s))
    if thought := step.model_output[: step.calls_start].strip():
        record["thought"] = thought
    if step.reasoning.strip():
        record["reasoning"] = step.reasoning.strip()
    if step.tool_results:
        record["calls"] = _to_calls(step)
        if len(step.tool_results) > MAX_CALLS:
            record["calls_left_out"] = len(step.tool_results) - MAX_CALLS
    if step.changes:
        _add_changes(record, step)
    if step.fault:
        record["error"] = to_error(step.fault)
    if step.token_usage:
        record["usage"] = to_usage(step.token_usage)
    if step.is_final_answer:
        record["is_final_answer"] = True
    add_beside(record, notes, laid_on)
    return cast("StepRecord", redact_plain(record))


def cut_step(step: StepRecord, limits: Limits) -> StepRecord:
    """A copy of `step` within `limits`."""
    cut = step.copy()
    if "thought" in step:
        cut["thought"] = cut_text(step["thought"], limits.chars)
    if "reasoning" in step:
        cut["reasoning"] = cut_text(step["reasoning"], limits.chars)
    if "error" in step:
        cut["error"] = cut_error(step["error"], limits.chars)
    if "calls" in step:
        calls = step["calls"]
        cut["calls"] = [cut_call(call, limits) for call in calls[: limits.items]]
        if len(calls) > limits.items:
            cut["calls_left_out"] = step.get("calls_left_out", 0) + len(calls) - limits.items
    if "changes" in step:
        changes = step["changes"]
        cut["changes"] = [
            cut_text(change, min(limits.chars, _CHANGE_CHARS)) for change in changes[: limits.items]
        ]
        if len(changes) > limits.items:
            cut["changes_left_out"] = step.get("changes_left_out", 0) + len(changes) - limits.items
    cut_beside(cut, limits.chars, limits.items // 2)
    return cut


def to_usage(usage: TokenUsage | None) -> UsageRecord:
    """The five figures, unknown ones as None."""
    return cast("UsageRecord", to_plain((usage or TokenUsage()).to_dict()))


def _to_calls(step: ActionStep) -> list[CallRecord]:
    calls = [to_whole_call(result, is_code=step.is_code) for result in step.tool_results[:MAX_CALLS]]
    if step.is_code and step.is_final_answer:
        for call in calls:  # what it answered stands in its observation, and as the answer of the run
            call.pop("output", None)
    return calls


def _add_changes(record: StepRecord, step: ActionStep) -> None:
    record["changes"] = [str(change) for change in step.changes[:_MAX_CHANGES]]
    if len(step.changes) > _MAX_CHANGES:
        record["changes_left_out"] = len(step.changes) - _MAX_CHANGES
