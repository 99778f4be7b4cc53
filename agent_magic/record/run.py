"""A finished run as a `RunRecord` that fits into a notebook.

It must not draw, nor write to a disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from agent_magic.core.result import AgentMode, RunResult
from agent_magic.core.steps import ActionStep, PlanningStep, TaskStep
from agent_magic.core.values import describe
from agent_magic.core.version import __version__
from agent_magic.record.answer import cut_answer, cut_check, to_answer, to_check
from agent_magic.record.call import cut_error, to_error, to_seconds
from agent_magic.record.clean import cut_text, redact_plain, stored_size
from agent_magic.record.lane import cut_any, cut_now, has_lanes, to_whole_any
from agent_magic.record.limits import LOOSEST, Limits, pick_ends
from agent_magic.record.notes import cut_laid_on, to_utc
from agent_magic.record.schema import (
    VERSION,
    AnyStepRecord,
    Json,
    LaidOnRecord,
    NoteRecord,
    RunRecord,
)
from agent_magic.record.sounds import keep_sounds, show_sounds
from agent_magic.record.step import to_usage
from agent_magic.record.thumbnails import keep_images, show_images

MAX_BYTES = 400_000
"""The most that a record takes in a notebook file."""
_LANE_LIMITS = (
    replace(LOOSEST, lane_steps=20, lane_chars=1_000),
    replace(LOOSEST, lane_steps=8, lane_chars=400),
)
"""Of a run with runs of managed agents in it: these are cut first."""
_TIGHT = replace(LOOSEST, lane_steps=4, lane_chars=200)
_LIMITS = (
    LOOSEST,
    *_LANE_LIMITS,
    replace(_TIGHT, images=100_000, sounds=60_000),
    replace(_TIGHT, images=40_000, sounds=0),
    replace(_TIGHT, images=0, sounds=0),
    Limits(chars=4_000, inner=30),
    Limits(chars=2_000, inner=20),
    Limits(chars=1_000, inner=12),
    Limits(chars=500, inner=8),
    Limits(chars=200, inner=4),
    Limits(chars=80, items=20, inner=2),
    Limits(chars=80, steps=400, items=10, inner=2),
    Limits(chars=80, steps=200, items=5, inner=2),
    Limits(chars=80, steps=100, items=5, inner=2, lane_steps=2, lane_chars=80),
    Limits(chars=80, steps=30, items=2, inner=2, lane_steps=2, lane_chars=80),
    Limits(chars=80, steps=6, items=2, inner=2, lane_steps=0, lane_chars=80),
)
# The task and the answer are what a record is opened for: they are cut less than the steps.
_SHORTEST_ANSWER = 4_000
_MAX_VARIABLES = 30
_MAX_WARNINGS = 10
_MAX_CHECKS = 20


def to_record(
    result: RunResult,
    *,
    reason: str | None = None,
    warnings: Sequence[str] = (),
    notes: Mapping[int, Sequence[NoteRecord]] | None = None,
    laid_on: Mapping[int, LaidOnRecord | None] | None = None,
) -> RunRecord:
    """A run as plain JSON of at most 400 kB in a notebook file; the same run gives the same bytes.

    Args:
        reason: Why this model was chosen.
        warnings: Stand in the header, such as a near miss of a variable's name.
        notes: What happened around plans and actions, by their place in `result.steps`.
        laid_on: See `record.notes.to_laid_on`; of the task too, by the place in `result.steps`.
    """
    notes, laid_on = notes or {}, laid_on or {}
    task = next((step for step in result.steps if isinstance(step, TaskStep)), TaskStep(task=result.task))
    head = to_head(
        run_id=result.run_id,
        agent=result.agent_name,
        model=result.model_id,
        max_steps=result.max_steps,
        task=task,
        started=result.timing.start,
        mode=result.mode,
        reason=reason,
        warnings=warnings,
    )
    made = [(i, step) for i, step in enumerate(result.steps) if isinstance(step, ActionStep | PlanningStep)]
    whole = head | {
        "status": result.status,
        "n_steps": len(result.actions),
        "duration_s": to_seconds(result.timing.duration_s),
        "usage": to_usage(result.usage),
        "answer": redact_plain(to_answer(result.value, result.status)),
        "error": redact_plain(to_error(result.error)) if result.error else None,
        "steps": _to_whole_steps(pick_ends(made, LOOSEST.steps), notes, laid_on),
        **_to_extras(result, next((laid_on.get(i) for i, s in enumerate(result.steps) if s is task), None)),
    }
    return _fit(cast("RunRecord", whole), len(made))


def to_head(
    *,
    run_id: str,
    agent: str,
    model: str,
    max_steps: int,
    task: TaskStep,
    started: float,
    mode: AgentMode,
    reason: str | None,
    warnings: Sequence[str],
) -> RunRecord:
    """The record of a run in which nothing has happened yet."""
    texts = redact_plain(
        {
            "run_id": run_id,
            "agent": agent,
            "model": model,
            "why": reason,
            "task": task.task,
            "images": [
                f"@{image.name}" if image.name else str(describe(image.image, 80))
                for image in task.images[:_MAX_VARIABLES]
            ],
            "variables": [
                {"name": variable.name, "description": str(variable.description)}
                for variable in (*task.variables, *task.others)[:_MAX_VARIABLES]
            ],
            "warnings": list(warnings[:_MAX_WARNINGS]),
        }
    )
    return cast(
        "RunRecord",
        {
            "version": VERSION,
            "agent_magic": __version__,
            "mode": mode,
            "status": "running",
            "max_steps": max_steps,
            "n_steps": 0,
            "started": to_utc(started),
            "duration_s": 0.0,
            "usage": to_usage(None),
            "steps": [],
            "steps_left_out": 0,
            "answer": None,
            "error": None,
            **texts,
        },
    )


def fit_record(record: RunRecord, max_bytes: int = MAX_BYTES) -> RunRecord:
    """A record of prepared texts within `max_bytes` of a notebook file: texts are cut, then steps left out."""
    return _fit(record, len(record["steps"]) + record["steps_left_out"], max_bytes)


def cut_head(record: RunRecord, limits: Limits) -> RunRecord:
    """A copy of `record` in which all but the steps is within `limits`."""
    cut = record.copy()
    longest = max(4 * limits.chars, _SHORTEST_ANSWER)
    short = min(limits.chars, 600)
    for key in ("run_id", "agent", "model"):
        cut[key] = cut_text(record[key], 200)
    cut["task"] = cut_text(record["task"], longest)
    cut["why"] = None if record["why"] is None else cut_text(record["why"], short)
    cut["images"] = [cut_text(image, 200) for image in record["images"]]
    cut["warnings"] = [cut_text(warning, short) for warning in record["warnings"]]
    cut["variables"] = [
        {"name": cut_text(variable["name"], 80), "description": cut_text(variable["description"], short)}
        for variable in record["variables"]
    ]
    if "resumed_from" in record:
        cut["resumed_from"] = cut_text(record["resumed_from"], 200)
    if "task_laid_on" in record:
        cut["task_laid_on"] = cut_laid_on(record["task_laid_on"])
    if "checks" in record:
        cut["checks"] = [cut_check(check, short) for check in record["checks"]]
    if record["error"]:
        cut["error"] = cut_error(record["error"], max(limits.chars, 1_000))
    if record["answer"]:
        cut["answer"] = cut_answer(record["answer"], longest)
    return cut


def _to_whole_steps(
    steps: Sequence[tuple[int, ActionStep | PlanningStep]],
    notes: Mapping[int, Sequence[NoteRecord]],
    laid_on: Mapping[int, LaidOnRecord | None],
) -> list[AnyStepRecord]:
    records = [to_whole_any(step, notes=notes.get(i, ()), laid_on=laid_on.get(i)) for i, step in steps]
    images, sounds = LOOSEST.images, LOOSEST.sounds
    # As far as there is room for their images and sounds: a run is best understood from its end.
    for record, (_, step) in zip(reversed(records), reversed(steps), strict=True):
        if "plan" not in record and isinstance(step, ActionStep):
            images -= show_images(record, step, images)
            sounds -= show_sounds(record, step, sounds)
    return records


def _to_extras(result: RunResult, task_laid_on: LaidOnRecord | None) -> dict[str, Json]:
    """What most runs have nothing to say of."""
    extras: dict[str, Json] = {}
    if task_laid_on:
        extras["task_laid_on"] = task_laid_on
    if result.resumed_from is not None:
        extras["resumed_from"] = result.resumed_from
    if result.verified != "unchecked":
        extras["verified"] = result.verified
    if result.checks:
        extras["checks"] = [to_check(check) for check in result.checks[:_MAX_CHECKS]]
    return cast("dict[str, Json]", redact_plain(extras))


def _fit(whole: RunRecord, n_made: int, max_bytes: int = MAX_BYTES) -> RunRecord:
    record = whole
    now = whole.get("now")
    are_lanes = has_lanes(whole["steps"]) or now is not None
    for limits in _LIMITS:
        if limits in _LANE_LIMITS and not are_lanes:
            continue
        record = cut_head(whole, limits)
        steps = [cut_any(step, limits) for step in pick_ends(whole["steps"], limits.steps)]
        record["steps"] = keep_sounds(keep_images(steps, limits.images), limits.sounds)
        if now is not None:
            record["now"] = cut_now(now, limits)
        record["steps_left_out"] = n_made - len(record["steps"])
        if stored_size(record) <= max_bytes:
            break
    return record
