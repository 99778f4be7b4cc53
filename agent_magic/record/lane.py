"""A run of a managed agent as a `LaneRecord`, and steps as records with such runs under their calls.

It must not look at the run around a step, nor hold more of a run inside of it than `Limits` say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, PlanningStep, RunStep, ToolResult
from agent_magic.record.answer import cut_answer, to_answer
from agent_magic.record.call import cut_error, to_error, to_seconds
from agent_magic.record.clean import cut_text, redact_plain
from agent_magic.record.limits import LOOSEST, MAX_CALLS, Limits, pick_ends
from agent_magic.record.plan import cut_plan, to_whole_plan
from agent_magic.record.schema import (
    AnyStepRecord,
    CallRecord,
    LaidOnRecord,
    LaneRecord,
    NoteRecord,
    NowRecord,
    RunRecord,
    StepRecord,
)
from agent_magic.record.sounds import show_sounds
from agent_magic.record.step import cut_step, to_usage, to_whole_step
from agent_magic.record.thumbnails import show_images

_NAME_CHARS = 200
_LANE_ITEMS = 10
"""Calls of a step in a lane, and of a block of code in it."""
_FEWEST_STEPS = 4
_INNER_SHARE = 3
"""Of the steps that a lane may have, a lane inside of it may have a third: so what goes deep ends."""
_KEYS = (
    *("run_id", "agent", "model", "mode", "status", "max_steps", "n_steps", "duration_s", "usage"),
    *("steps", "steps_left_out", "answer", "error", "verified", "now"),
)


def to_step_record(
    step: ActionStep,
    limits: Limits = LOOSEST,
    *,
    notes: Sequence[NoteRecord] = (),
    laid_on: LaidOnRecord | None = None,
) -> StepRecord:
    """A step as plain JSON: no secrets, every text cut."""
    whole = to_whole_any(step, notes=notes, laid_on=laid_on)
    assert "plan" not in whole
    show_images(whole, step, limits.images)
    show_sounds(whole, step, limits.sounds)
    return _cut_action(whole, limits)


def to_whole_any(
    step: ActionStep | PlanningStep,
    *,
    notes: Sequence[NoteRecord] = (),
    laid_on: LaidOnRecord | None = None,
    lane_steps: int = LOOSEST.lane_steps,
) -> AnyStepRecord:
    """A plan or an action without secrets, its texts prepared for `cut_any` but not cut; images in words.

    Args:
        step: The plan or action.
        notes: What happened around it.
        laid_on: What was laid upon it.
        lane_steps: See `Limits`.
    """
    if isinstance(step, PlanningStep):
        return to_whole_plan(step, notes=notes, laid_on=laid_on)
    record = to_whole_step(step, notes=notes, laid_on=laid_on)
    _add_lanes(record.get("calls", ()), step.tool_results, lane_steps)
    return record


def cut_any(step: AnyStepRecord, limits: Limits) -> AnyStepRecord:
    """A copy of a plan or an action within `limits`."""
    return cut_plan(step, limits) if "plan" in step else _cut_action(step, limits)


def cut_now(now: NowRecord, limits: Limits) -> NowRecord:
    """A copy of what happens at the moment, with the runs that managed agents make within `limits`."""
    if not any(_calls_with_lanes(now.get("calls", ()))):
        return now
    cut = now.copy()
    cut["calls"] = [_copy_call(call) for call in now.get("calls", ())]
    _cut_lanes(cut["calls"], limits)
    return cut


def usages_of_lanes(step: RunStep) -> list[TokenUsage]:
    """What the runs of managed agents used that were made for the calls of a step."""
    results: list[ToolResult] = []
    if isinstance(step, ActionStep):
        results = [one for result in step.tool_results for one in (result, *result.calls)]
    return [result.run.usage for result in results if result.run is not None]


def has_lanes(steps: Sequence[AnyStepRecord]) -> bool:
    """Whether a managed agent made a run in one of these."""
    return any(any(_calls_with_lanes(step.get("calls", ()))) for step in steps if "plan" not in step)


def lane_of(record: RunRecord) -> LaneRecord:
    """The parts of a run's record that its lane has."""
    return cast("LaneRecord", {key: record[key] for key in _KEYS if key in record})


def end_lane(lane: LaneRecord, result: RunResult) -> LaneRecord:
    """A lane that was drawn while its run went on, as the run ended; its steps stay the same objects."""
    ended = _cut_head(_to_head(result), LOOSEST)
    ended["steps"], ended["steps_left_out"] = lane["steps"], lane["steps_left_out"]
    return ended


def _add_lanes(calls: Sequence[CallRecord], results: Sequence[ToolResult], lane_steps: int) -> None:
    for call, result in zip(calls, results, strict=False):
        if result.run is not None:
            call["run"] = _to_whole_lane(result.run, lane_steps)
        if "calls" in call:
            _add_lanes(call["calls"], pick_ends(result.calls, MAX_CALLS), lane_steps)


def _to_whole_lane(result: RunResult, lane_steps: int) -> LaneRecord:
    lane = _to_head(result)
    made = [step for step in result.steps if isinstance(step, ActionStep | PlanningStep)]
    kept = pick_ends(made, lane_steps) if lane_steps else []
    lane["steps"] = [to_whole_any(step, lane_steps=lane_steps // _INNER_SHARE) for step in kept]
    lane["steps_left_out"] = len(made) - len(kept)
    return lane


def _to_head(result: RunResult) -> LaneRecord:
    """A lane without its steps, not yet cut."""
    lane = LaneRecord(
        run_id=result.run_id,
        agent=result.agent_name,
        model=result.model_id,
        mode=result.mode,
        status=result.status,
        max_steps=result.max_steps,
        n_steps=len(result.actions),
        duration_s=to_seconds(result.timing.duration_s),
        usage=to_usage(result.usage),
        steps=[],
        steps_left_out=0,
        answer=to_answer(result.value, result.status),
        error=to_error(result.error) if result.error else None,
    )
    if result.verified != "unchecked":
        lane["verified"] = result.verified
    return cast("LaneRecord", redact_plain(lane))


def _cut_action(step: StepRecord, limits: Limits) -> StepRecord:
    cut = cut_step(step, limits)
    _cut_lanes(cut.get("calls", ()), limits)
    return cut


def _cut_lanes(calls: Sequence[CallRecord], limits: Limits) -> None:
    """Cut the runs of calls, which are the caller's own copies; they share the room."""
    with_lanes = list(_calls_with_lanes(calls))
    share = max(limits.lane_steps // max(len(with_lanes) // 2, 1), min(limits.lane_steps, _FEWEST_STEPS))
    for call in with_lanes:
        if "run" in call:
            call["run"] = _cut_lane(call["run"], replace(limits, lane_steps=share))


def _cut_lane(lane: LaneRecord, limits: Limits) -> LaneRecord:
    inner = Limits(
        chars=min(limits.chars, limits.lane_chars),
        items=min(limits.items, _LANE_ITEMS),
        inner=min(limits.inner, _LANE_ITEMS),
        lane_steps=limits.lane_steps // _INNER_SHARE,
        lane_chars=limits.lane_chars,
    )
    cut = _cut_head(lane, inner)
    steps = pick_ends(lane["steps"], limits.lane_steps) if limits.lane_steps else []
    cut["steps"] = [cut_any(step, inner) for step in steps]
    cut["steps_left_out"] = lane["steps_left_out"] + len(lane["steps"]) - len(steps)
    if "now" in lane:
        cut["now"] = cut_now(lane["now"], inner)
    return cut


def _cut_head(lane: LaneRecord, limits: Limits) -> LaneRecord:
    cut = lane.copy()
    for key in ("run_id", "agent", "model"):
        cut[key] = cut_text(lane[key], _NAME_CHARS)
    if lane["error"]:
        cut["error"] = cut_error(lane["error"], limits.chars)
    if lane["answer"]:
        cut["answer"] = cut_answer(lane["answer"], limits.chars)
    return cut


def _copy_call(call: CallRecord) -> CallRecord:
    copy = call.copy()
    if "calls" in call:
        copy["calls"] = [inner.copy() for inner in call["calls"]]
    return copy


def _calls_with_lanes(calls: Sequence[CallRecord]) -> Iterator[CallRecord]:
    """Those among calls, and among the calls that code in them made."""
    for call in calls:
        if "run" in call:
            yield call
        yield from (inner for inner in call.get("calls", ()) if "run" in inner)
