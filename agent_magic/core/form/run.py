"""What a run came to as plain JSON and back.

It must not write a step: who calls says how that is done, by its place in a table or whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from agent_magic.core.form.keys import (
    check_keys,
    need_part,
    need_text,
    read_choice,
    read_count,
    read_each,
    read_flag,
    read_name,
    read_part,
)
from agent_magic.core.form.message import read_usage, write_usage
from agent_magic.core.form.outcome import (
    read_check,
    read_fault,
    read_timing,
    write_check,
    write_fault,
    write_timing,
)
from agent_magic.core.form.tables import Json
from agent_magic.core.form.value import UnreadableError, ValueReader, ValueWriter, write_text
from agent_magic.core.messages import TokenUsage
from agent_magic.core.outcome import AgentMode, RunStatus, Verified
from agent_magic.core.steps import FinalAnswerStep, RunResult, RunStep
from agent_magic.core.values import Value

_STATUSES: dict[Value, RunStatus] = {status: status for status in get_args(RunStatus)}
_MODES: dict[Value, AgentMode] = {mode: mode for mode in get_args(AgentMode)}
_VERIFIED: dict[Value, Verified] = {verified: verified for verified in get_args(Verified)}


def write_run(result: RunResult, write_step: Callable[[RunStep], Value], values: ValueWriter) -> Json:
    """The result; a value that a step holds stands there by a word.

    Args:
        result: The run's.
        write_step: Gives what stands for a step, such as its place in a table.
        values: Writes the rest.
    """
    form: Json = {
        "run_id": write_text(result.run_id),
        "agent_name": write_text(result.agent_name),
        "model_id": write_text(result.model_id),
        "task": write_text(result.task),
        "status": result.status,
        "max_steps": result.max_steps,
        "steps": [write_step(step) for step in result.steps],
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
        form["checks"] = [write_check(check) for check in result.checks]
    if result.resumed_from is not None:
        form["resumed_from"] = write_text(result.resumed_from)
    if result.mode != "tools":
        form["mode"] = result.mode
    return form


def read_run(form: Value, read_step: Callable[[Value], RunStep | None], reader: ValueReader) -> RunResult:
    """The result that `write_run` wrote.

    Args:
        form: What was written.
        read_step: The step by what stands for it; None if it cannot be had, then the result goes without it.
        reader: Reads the rest.

    Raises:
        UnreadableError: Nobody wrote this form.
    """
    check_keys(form, _RUN)
    steps = tuple(step for step in read_each(form, "steps", read_step) if step)
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
        timing=need_part(form, "timing", read_timing),
        error=read_part(form, "error", read_fault),
        verified=read_choice(form, "verified", _VERIFIED) if "verified" in form else "unchecked",
        checks=read_each(form, "checks", read_check),
        resumed_from=read_name(form, "resumed_from"),
        mode=read_choice(form, "mode", _MODES) if "mode" in form else "tools",
    )


def by_place(find_step: Callable[[int], RunStep | None]) -> Callable[[Value], RunStep | None]:
    """Reads a step that is named by its place.

    Args:
        find_step: The step at a place, None if it cannot be had.
    """

    def read(place: Value) -> RunStep | None:
        if type(place) is not int or place < 0:
            raise UnreadableError(place, "a place, counted from 0")
        return find_step(place)

    return read


def _holds_value(result: RunResult) -> bool:
    last = result.steps[-1] if result.steps else None
    return isinstance(last, FinalAnswerStep) and last.answer is result.value and result.value is not None


_RUN = frozenset({"is_told", *RunResult.__dataclass_fields__})
