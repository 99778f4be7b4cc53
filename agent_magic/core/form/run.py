"""What a run came to as plain JSON and back.

It must not write a step: that stands in a table of the run's memory, and is named by its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from agent_magic.core.form.message import (
    check_keys,
    need_text,
    read_choice,
    read_count,
    read_each,
    read_flag,
    read_name,
    read_part,
    read_text,
    read_usage,
    write_usage,
)
from agent_magic.core.form.step import need_timing, read_fault, write_fault, write_timing
from agent_magic.core.form.tables import Json, Table
from agent_magic.core.form.value import UnreadableError, ValueReader, ValueWriter, write_text
from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import AgentMode, CheckResult, RunResult, RunStatus, Verified
from agent_magic.core.steps import FinalAnswerStep, RunStep
from agent_magic.core.values import Value

_STATUSES: dict[Value, RunStatus] = {status: status for status in get_args(RunStatus)}
_MODES: dict[Value, AgentMode] = {mode: mode for mode in get_args(AgentMode)}
_VERIFIED: dict[Value, Verified] = {verified: verified for verified in get_args(Verified)}


def write_run(result: RunResult, steps: Table[RunStep], values: ValueWriter) -> Json:
    """The result; its steps by their places, and a value that a step holds by a word."""
    form: Json = {
        "run_id": write_text(result.run_id),
        "agent_name": write_text(result.agent_name),
        "model_id": write_text(result.model_id),
        "task": write_text(result.task),
        "status": result.status,
        "max_steps": result.max_steps,
        "steps": [steps.place(step) for step in result.steps],
        "usage": write_usage(result.usage, values),
        "timing": write_timing(result.timing, values),
    }
    if _holds_value(result):
        form["is_told"] = True
    elif result.value is not None:
        form["value"] = values.write_output(result.value)
    if result.error is not None:
        form["error"] = write_fault(result.error)
    if result.verified != "unchecked":
        form["verified"] = result.verified
    if result.checks:
        form["checks"] = [_write_check(check) for check in result.checks]
    if result.resumed_from is not None:
        form["resumed_from"] = write_text(result.resumed_from)
    if result.mode != "tools":
        form["mode"] = result.mode
    return form


def read_run(form: Value, find_step: Callable[[int], RunStep | None], reader: ValueReader) -> RunResult:
    """The result that `write_run` wrote.

    Args:
        find_step: The step at a place; None if it cannot be had, then the result goes without it.

    Raises:
        UnreadableError: Nobody wrote this form.
    """
    check_keys(form, _RUN)
    steps = tuple(step for step in read_each(form, "steps", lambda place: _find(place, find_step)) if step)
    value = read_part(form, "value", reader.read)
    if read_flag(form, "is_told") and steps and isinstance(steps[-1], FinalAnswerStep):
        value = steps[-1].answer
    return RunResult(
        run_id=need_text(form, "run_id"),
        agent_name=need_text(form, "agent_name"),
        model_id=need_text(form, "model_id"),
        task=need_text(form, "task"),
        value=value,
        status=read_choice(form, "status", _STATUSES),
        max_steps=read_count(form, "max_steps"),
        steps=steps,
        usage=read_part(form, "usage", read_usage) or TokenUsage(),
        timing=need_timing(form),
        error=read_part(form, "error", read_fault),
        verified=read_choice(form, "verified", _VERIFIED) if "verified" in form else "unchecked",
        checks=read_each(form, "checks", _read_check),
        resumed_from=read_name(form, "resumed_from"),
        mode=read_choice(form, "mode", _MODES) if "mode" in form else "tools",
    )


def _holds_value(result: RunResult) -> bool:
    last = result.steps[-1] if result.steps else None
    return isinstance(last, FinalAnswerStep) and last.answer is result.value and result.value is not None


def _find(place: Value, find_step: Callable[[int], RunStep | None]) -> RunStep | None:
    if type(place) is not int or place < 0:
        raise UnreadableError(place, "a place, counted from 0")
    return find_step(place)


def _write_check(check: CheckResult) -> Json:
    form: Json = {"name": write_text(check.name), "passed": check.passed}
    if check.reason:
        form["reason"] = write_text(check.reason)
    return form


def _read_check(form: Value) -> CheckResult:
    check_keys(form, _CHECK)
    return CheckResult(
        name=need_text(form, "name"), passed=read_flag(form, "passed"), reason=read_text(form, "reason")
    )


_RUN = frozenset({"is_told", *RunResult.__dataclass_fields__})
_CHECK = frozenset(CheckResult.__dataclass_fields__)
