"""The lines of a journal about a step that is being made, and about the runs inside of it.

It must not know the run around the step.
"""

from __future__ import annotations

from typing import cast

from agent_magic.core.form.keys import need_text, read_count, read_name, read_part
from agent_magic.core.form.message import read_call, read_message
from agent_magic.core.form.run import read_run
from agent_magic.core.form.step import read_result, read_step
from agent_magic.core.form.value import UnreadableError, ValueReader
from agent_magic.core.result import AgentMode
from agent_magic.core.steps import RunStep, TaskStep
from agent_magic.core.values import Value
from agent_magic.record.schema import Json
from agent_magic.record.unfinished import ManagedRun, Unfinished


def begin_step(form: Json, at: float, mode: AgentMode) -> Unfinished:
    """The step that a line says begins.

    Raises:
        UnreadableError: Nobody wrote this line.
    """
    is_plan = form.get("step_kind") == "plan"
    return Unfinished(step_number=read_count(form, "step_number"), start=at, is_plan=is_plan, mode=mode)


def take_news(step: Unfinished, form: Json, at: float, reader: ValueReader) -> None:
    """Take a line that is about a step; one of a later version tells nothing.

    Raises:
        UnreadableError: Nobody wrote this line.
    """
    match form.get("kind"):
        case "model_reply":
            step.reply = read_part(form, "message", lambda part: read_message(part, reader))
        case "call_start":
            call = read_part(form, "call", lambda part: read_call(part, reader))
            if call is not None:
                step.start_call(call, inside=read_name(form, "inside"))
        case "call_end":
            result = read_part(form, "result", lambda part: read_result(part, reader))
            if result is not None:
                step.end_call(result, inside=read_name(form, "inside"))
        case "managed":
            line = form.get("line")
            if type(line) is not dict:
                raise UnreadableError(line, "a dict", "line")
            try:
                _take_managed(step, need_text(form, "call_id"), cast("Json", line), at, reader)
            except UnreadableError as error:
                raise error.within("line") from error.__cause__
        case _:
            pass  # news for the person, or of a later version


def _take_managed(step: Unfinished, call_id: str, line: Json, at: float, reader: ValueReader) -> None:
    kind = line.get("kind")
    if kind == "run_start":
        step.managed[call_id] = _begin_managed(line, at, reader)
        return
    run = step.managed.get(call_id)
    if run is None:
        return
    run.end = max(run.end, at)
    match kind:
        case "step_start":
            run.step = begin_step(line, at, run.mode)
        case "step_end":
            finished = read_part(line, "step", lambda part: read_step(part, reader))
            if finished is not None:
                run.steps.append(finished)
            run.step = None
        case "run_end":
            run.outcome = read_part(line, "run", lambda part: read_run(part, _no_step, reader))
            run.step = None
        case _:
            if run.step is not None:
                take_news(run.step, line, at, reader)


def _begin_managed(line: Json, at: float, reader: ValueReader) -> ManagedRun:
    task = read_part(line, "task", lambda part: read_step(part, reader))
    return ManagedRun(
        run_id=need_text(line, "run_id"),
        agent_name=need_text(line, "agent_name"),
        model_id=need_text(line, "model_id"),
        max_steps=read_count(line, "max_steps"),
        mode="code" if line.get("mode") == "code" else "tools",
        task=task if isinstance(task, TaskStep) else TaskStep(task=""),
        start=at,
        end=at,
    )


def _no_step(form: Value) -> RunStep | None:
    del form
    return None
