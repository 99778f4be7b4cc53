"""One action step as a `StepRecord`: which fields it has and how each is cut.

It must not look at the run around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from agent_magic.core.approval import EDITED
from agent_magic.core.form.value import RecordedValue
from agent_magic.core.messages import TokenUsage
from agent_magic.core.steps import ActionStep, Fault, ToolResult
from agent_magic.core.values import Description, Value, describe
from agent_magic.record.clean import cut_arguments, cut_text, redact_plain, to_plain
from agent_magic.record.notes import add_beside, cut_beside
from agent_magic.record.schema import (
    CallRecord,
    ErrorRecord,
    Json,
    LaidOnRecord,
    NoteRecord,
    StepRecord,
    UsageRecord,
    ValueRecord,
)
from agent_magic.record.thumbnails import say_images, show_images

MAX_CALLS = 50
"""The most calls of a step that a record holds."""
_MAX_CHANGES = 50
_CHANGE_CHARS = 300
_NAME_CHARS = 80
_PREVIEW_CHARS = 600
_PLAIN = (str, bool, int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a run a record holds."""

    chars: int
    """Length of a step's text fields; the arguments of one call count as one field."""
    steps: int = 600
    items: int = MAX_CALLS
    """Calls in a step, and changed names; a call has a fifth as many notes."""
    images: int = 0
    """Characters of all images together, of a step or of a run; what is beyond stands in words."""


LOOSEST = Limits(chars=8_000, images=200_000)
"""What a record holds of an ordinary run."""


def to_step_record(
    step: ActionStep,
    limits: Limits = LOOSEST,
    *,
    notes: Sequence[NoteRecord] = (),
    laid_on: LaidOnRecord | None = None,
) -> StepRecord:
    """A step as plain JSON: no secrets, every text cut."""
    whole = to_whole_step(step, notes=notes, laid_on=laid_on)
    show_images(whole, step, limits.images)
    return cut_step(whole, limits)


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
        record["calls"] = [_to_call(result) for result in step.tool_results[:MAX_CALLS]]
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


def to_call_record(result: ToolResult, limits: Limits) -> CallRecord:
    """One tool call as plain JSON: no secrets, every text cut."""
    return _cut_call(cast("CallRecord", redact_plain(_to_call(result))), limits)


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
        cut["calls"] = [_cut_call(call, limits) for call in calls[: limits.items]]
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


def to_error(fault: Fault) -> ErrorRecord:
    """An error by kind and text."""
    return {"kind": fault.kind, "message": fault.message}


def cut_error(error: ErrorRecord, max_chars: int) -> ErrorRecord:
    """A copy of `error` with its text cut."""
    return {"kind": cut_text(error["kind"], _NAME_CHARS), "message": cut_text(error["message"], max_chars)}


def to_usage(usage: TokenUsage | None) -> UsageRecord:
    """The five figures, unknown ones as None."""
    return cast("UsageRecord", to_plain((usage or TokenUsage()).to_dict()))


def to_seconds(duration_s: float) -> float:
    """A duration to the millisecond; a clock that was set back counts as 0."""
    return round(max(duration_s, 0.0), 3)


def _add_changes(record: StepRecord, step: ActionStep) -> None:
    record["changes"] = [str(change) for change in step.changes[:_MAX_CHANGES]]
    if len(step.changes) > _MAX_CHANGES:
        record["changes_left_out"] = len(step.changes) - _MAX_CHANGES


def _to_call(result: ToolResult) -> CallRecord:
    call = result.call
    record = CallRecord(id=call.id, name=call.name, arguments=_to_arguments(call.arguments))
    if result.fault:
        record["error"] = to_error(result.fault)
    else:
        record["observation"] = result.observation
        if result.output is not None:
            record["output"] = _to_output(result.output, result.observation)
    if result.notes:
        record["notes"] = list(result.notes)
        if any(note.startswith(EDITED) for note in result.notes):
            record["is_edited"] = True
    if result.printed:
        record["printed"] = result.printed.strip("\n")
    if result.images:
        record["images"] = say_images(result.images)
    if result.bound_to:
        record["bound_to"] = result.bound_to
    if result.timing:
        record["duration_s"] = to_seconds(result.timing.duration_s)
    return record


def _to_arguments(arguments: Mapping[str, Value] | str | None) -> dict[str, Json] | str:
    if isinstance(arguments, str):
        return arguments
    plain = to_plain(arguments or {})
    return plain if isinstance(plain, dict) else str(plain)


def _to_output(value: Value, observation: str) -> ValueRecord:
    if isinstance(value, RecordedValue):  # of a run that was loaded
        description = Description(type_name=value.type_name, shape=value.shape, preview=value.preview)
    elif type(value) in _PLAIN:
        return ValueRecord(type=type(value).__name__)
    else:
        description = describe(value, _PREVIEW_CHARS)
    record = ValueRecord(type=description.type_name)
    if description.shape:
        record["shape"] = description.shape
    # Plain lists and tables are in the observation already; saying it twice helps nobody.
    if description.preview and not observation:
        record["preview"] = description.preview
    return record


def _cut_call(call: CallRecord, limits: Limits) -> CallRecord:
    cut = call.copy()
    for key in ("id", "name"):
        cut[key] = cut_text(call[key], _NAME_CHARS)
    cut["arguments"] = cut_arguments(call["arguments"], limits.chars)
    if "observation" in call:
        cut["observation"] = cut_text(call["observation"], limits.chars)
    if "printed" in call:
        cut["printed"] = cut_text(call["printed"], limits.chars)
    if "bound_to" in call:
        cut["bound_to"] = cut_text(call["bound_to"], _NAME_CHARS)
    if "error" in call:
        cut["error"] = cut_error(call["error"], limits.chars)
    if "notes" in call:
        cut["notes"] = [
            cut_text(note, min(limits.chars, 500)) for note in call["notes"][: max(limits.items // 5, 1)]
        ]
    if "output" in call:
        cut["output"] = _cut_output(call["output"], limits)
    return cut


def _cut_output(output: ValueRecord, limits: Limits) -> ValueRecord:
    cut = ValueRecord(type=cut_text(output["type"], _NAME_CHARS))
    if "shape" in output:
        cut["shape"] = cut_text(output["shape"], _NAME_CHARS)
    if "preview" in output:
        cut["preview"] = cut_text(output["preview"], min(limits.chars, _PREVIEW_CHARS))
    return cut
