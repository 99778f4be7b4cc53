"""A finished run as a `RunRecord` that fits into a notebook.

It must not draw, nor write to a disk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from agent_magic.core.form.value import RecordedValue
from agent_magic.core.result import AgentMode, CheckResult, RunResult
from agent_magic.core.steps import ActionStep, PlanningStep, TaskStep
from agent_magic.core.values import Value, describe, safe_repr, to_text
from agent_magic.core.version import __version__
from agent_magic.record.call import cut_error, to_error, to_seconds
from agent_magic.record.clean import cut_text, redact_plain, stored_size, to_plain
from agent_magic.record.limits import LOOSEST, Limits, pick_ends
from agent_magic.record.notes import cut_laid_on, to_utc
from agent_magic.record.plan import cut_plan, to_whole_plan
from agent_magic.record.schema import (
    VERSION,
    AnswerRecord,
    AnyStepRecord,
    CheckRecord,
    Json,
    LaidOnRecord,
    NoteRecord,
    RunRecord,
    Status,
)
from agent_magic.record.step import cut_step, to_usage, to_whole_step
from agent_magic.record.thumbnails import keep_images, show_images

MAX_BYTES = 400_000
"""The most that a record takes in a notebook file."""
_LIMITS = (
    LOOSEST,
    replace(LOOSEST, images=100_000),
    replace(LOOSEST, images=40_000),
    replace(LOOSEST, images=0),
    Limits(chars=4_000, inner=30),
    Limits(chars=2_000, inner=20),
    Limits(chars=1_000, inner=12),
    Limits(chars=500, inner=8),
    Limits(chars=200, inner=4),
    Limits(chars=80, items=20, inner=2),
    Limits(chars=80, steps=400, items=10, inner=2),
    Limits(chars=80, steps=200, items=5, inner=2),
    Limits(chars=80, steps=100, items=5, inner=2),
    Limits(chars=80, steps=30, items=2, inner=2),
    Limits(chars=80, steps=6, items=2, inner=2),
)
# The task and the answer are what a record is opened for: they are cut less than the steps.
_SHORTEST_ANSWER = 4_000
_MAX_VARIABLES = 30
_MAX_WARNINGS = 10
_MAX_CHECKS = 20
_PLAIN_CONTAINERS = (dict, list, tuple)


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
        "answer": redact_plain(_to_answer(result.value, result.status)),
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
        cut["checks"] = [_cut_check(check, short) for check in record["checks"]]
    if record["error"]:
        cut["error"] = cut_error(record["error"], max(limits.chars, 1_000))
    if record["answer"]:
        answer = record["answer"].copy()
        answer["type"] = cut_text(answer["type"], 80)
        if "shape" in answer:
            answer["shape"] = cut_text(answer["shape"], 80)
        answer["text"] = cut_text(answer["text"], longest)
        cut["answer"] = answer
    return cut


def _cut_any_step(step: AnyStepRecord, limits: Limits) -> AnyStepRecord:
    """A copy of a plan or an action within `limits`."""
    return cut_plan(step, limits) if "plan" in step else cut_step(step, limits)


def _to_whole_steps(
    steps: Sequence[tuple[int, ActionStep | PlanningStep]],
    notes: Mapping[int, Sequence[NoteRecord]],
    laid_on: Mapping[int, LaidOnRecord | None],
) -> list[AnyStepRecord]:
    records = [_to_whole(step, notes.get(i, ()), laid_on.get(i)) for i, step in steps]
    left = LOOSEST.images
    # As far as there is room for their images: a run is best understood from its end.
    for record, (_, step) in zip(reversed(records), reversed(steps), strict=True):
        if "plan" not in record and isinstance(step, ActionStep):
            left -= show_images(record, step, left)
    return records


def _to_whole(
    step: ActionStep | PlanningStep, notes: Sequence[NoteRecord], laid_on: LaidOnRecord | None
) -> AnyStepRecord:
    if isinstance(step, PlanningStep):
        return to_whole_plan(step, notes=notes, laid_on=laid_on)
    return to_whole_step(step, notes=notes, laid_on=laid_on)


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
        extras["checks"] = [_to_check(check) for check in result.checks[:_MAX_CHECKS]]
    return cast("dict[str, Json]", redact_plain(extras))


def _to_check(check: CheckResult) -> CheckRecord:
    record = CheckRecord(name=check.name, passed=check.passed)
    if check.reason:
        record["reason"] = check.reason
    return record


def _cut_check(check: CheckRecord, max_chars: int) -> CheckRecord:
    cut = check.copy()
    cut["name"] = cut_text(check["name"], 80)
    if "reason" in check:
        cut["reason"] = cut_text(check["reason"], max_chars)
    return cut


def _fit(whole: RunRecord, n_made: int, max_bytes: int = MAX_BYTES) -> RunRecord:
    record = whole
    for limits in _LIMITS:
        record = cut_head(whole, limits)
        steps = [_cut_any_step(step, limits) for step in pick_ends(whole["steps"], limits.steps)]
        record["steps"] = keep_images(steps, limits.images)
        record["steps_left_out"] = n_made - len(record["steps"])
        if stored_size(record) <= max_bytes:
            break
    return record


def _to_answer(value: Value, status: Status) -> AnswerRecord | None:
    if value is None and status != "answered":
        return None
    if isinstance(value, RecordedValue):
        return _to_recorded_answer(value)
    type_name = type(value).__name__
    if isinstance(value, str):
        return {"type": type_name, "text": str.__str__(value)}
    if isinstance(value, _PLAIN_CONTAINERS):
        plain = to_plain(value)
        text = json.dumps(plain, ensure_ascii=False)
        text = text if len(text) <= 100 else json.dumps(plain, ensure_ascii=False, indent=2)
        return {"type": type_name, "shape": describe(value, 80).shape, "text": text}
    description = describe(value, LOOSEST.chars)
    if description.shape:
        return {"type": type_name, "shape": description.shape, "text": description.preview}
    return {"type": type_name, "text": _to_line(value)}


def _to_recorded_answer(value: RecordedValue) -> AnswerRecord:
    """That of an object which a run that was loaded had; it is known by what was written of it."""
    if value.shape:
        return {"type": value.type_name, "shape": value.shape, "text": value.preview}
    return {"type": value.type_name, "text": value.preview}


def _to_line(value: Value) -> str:
    try:
        return to_text(value)
    except Exception:  # noqa: BLE001 - the person's own `__str__` may raise anything
        return safe_repr(value)
