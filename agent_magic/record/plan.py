"""One planning step as a `PlanRecord`: which fields it has and how each is cut.

It must not look at the run around it, nor compare plans: the step has its diff.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from agent_magic.core.steps import PlanDiff, PlanningStep
from agent_magic.record.call import cut_error, to_error, to_seconds
from agent_magic.record.clean import cut_text, redact_plain
from agent_magic.record.limits import LOOSEST, Limits
from agent_magic.record.notes import add_beside, cut_beside
from agent_magic.record.schema import LaidOnRecord, NoteRecord, PlanDiffRecord, PlanRecord
from agent_magic.record.step import to_usage

_MAX_LINES = 100
_LINE_CHARS = 300
_ITEM = re.compile(r" {0,3}(?:\d{1,3}[.)]|[-*•])\s+\S")


def to_plan_record(
    step: PlanningStep,
    limits: Limits = LOOSEST,
    *,
    notes: Sequence[NoteRecord] = (),
    laid_on: LaidOnRecord | None = None,
) -> PlanRecord:
    """A planning step as plain JSON: no secrets, every text cut."""
    return cut_plan(to_whole_plan(step, notes=notes, laid_on=laid_on), limits)


def to_whole_plan(
    step: PlanningStep, *, notes: Sequence[NoteRecord] = (), laid_on: LaidOnRecord | None = None
) -> PlanRecord:
    """A planning step as plain JSON without secrets, its texts prepared for `cut_plan` but not cut."""
    record = PlanRecord(
        kind="plan",
        step_number=step.step_number,
        duration_s=to_seconds(step.timing.duration_s),
        plan=step.plan.strip(),
    )
    original = step.model_output.strip()
    if original and original != record["plan"]:
        record["original"] = original
    if step.reasoning.strip():
        record["reasoning"] = step.reasoning.strip()
    if n_items := sum(bool(_ITEM.match(line)) for line in step.plan.splitlines()):
        record["n_items"] = n_items
    if not step.is_first and not step.fault:
        record["diff"] = _to_diff(step.diff)
    if step.fault:
        record["error"] = to_error(step.fault)
    if step.token_usage:
        record["usage"] = to_usage(step.token_usage)
    add_beside(record, notes, laid_on)
    return cast("PlanRecord", redact_plain(record))


def cut_plan(plan: PlanRecord, limits: Limits) -> PlanRecord:
    """A copy of `plan` within `limits`."""
    cut = plan.copy()
    cut["plan"] = cut_text(plan["plan"], limits.chars)
    if "original" in plan:
        cut["original"] = cut_text(plan["original"], limits.chars)
    if "reasoning" in plan:
        cut["reasoning"] = cut_text(plan["reasoning"], limits.chars)
    if "diff" in plan:
        diff = plan["diff"].copy()
        for lines in ("added", "dropped", "kept"):
            diff[lines] = [
                cut_text(line, min(limits.chars, _LINE_CHARS)) for line in diff[lines][: limits.items]
            ]
        cut["diff"] = diff
    if "error" in plan:
        cut["error"] = cut_error(plan["error"], limits.chars)
    cut_beside(cut, limits.chars, limits.items // 2)
    return cut


def _to_diff(diff: PlanDiff) -> PlanDiffRecord:
    return {
        "n_added": len(diff.added),
        "n_dropped": len(diff.dropped),
        "n_kept": len(diff.kept),
        "added": list(diff.added[:_MAX_LINES]),
        "dropped": list(diff.dropped[:_MAX_LINES]),
        "kept": list(diff.kept[:_MAX_LINES]),
    }
