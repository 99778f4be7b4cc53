"""The step of a plan as plain JSON and back.

A field that has its default is not written. It must not compare plans: how they differ is in the step.
"""

from __future__ import annotations

from agent_magic.core.form.keys import Form, ReadPart, each, read_fields, to_count, to_flag, to_text
from agent_magic.core.form.message import read_usage, write_usage
from agent_magic.core.form.outcome import read_fault, read_timing, write_fault, write_timing
from agent_magic.core.form.value import ValueReader, ValueWriter, write_text
from agent_magic.core.steps import PlanDiff, PlanningStep
from agent_magic.core.values import Value


def write_plan(step: PlanningStep, writer: ValueWriter) -> Form:
    """The plan."""
    form: Form = {
        "kind": "plan",
        "step_number": step.step_number,
        "timing": write_timing(step.timing, writer),
    }
    for name in ("plan", "handover", "model_output", "reasoning", "model_input_digest"):
        text = getattr(step, name)
        if text:
            form[name] = write_text(text)
    if not step.is_first:
        form["is_first"] = False
    diff = {
        name: [write_text(line) for line in getattr(step.diff, name)] for name in ("added", "dropped", "kept")
    }
    if any(diff.values()):
        form["diff"] = {name: lines for name, lines in diff.items() if lines}
    if step.fault is not None:
        form["fault"] = write_fault(step.fault)
    if step.token_usage is not None:
        form["token_usage"] = write_usage(step.token_usage, writer)
    return form


def read_plan(form: Value, reader: ValueReader) -> PlanningStep:
    """The plan."""
    parts = read_fields(form, _PLAN, reader, needed=("step_number", "timing"))
    del parts["kind"]
    return PlanningStep(**parts)


def _read_diff(form: Value, reader: ValueReader) -> PlanDiff:
    return PlanDiff(**read_fields(form, _DIFF, reader))


_DIFF: dict[str, ReadPart[Value]] = dict.fromkeys(("added", "dropped", "kept"), each(to_text))
_PLAN: dict[str, ReadPart[Value]] = {
    "kind": to_text,
    "step_number": to_count,
    "timing": read_timing,
    "plan": to_text,
    "handover": to_text,
    "model_output": to_text,
    "reasoning": to_text,
    "is_first": to_flag,
    "diff": _read_diff,
    "fault": read_fault,
    "token_usage": read_usage,
    "model_input_digest": to_text,
}
