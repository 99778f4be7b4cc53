"""The steps of a memory as plain JSON and back, field by field.

A field that has its default is not written. It must not know what is laid upon a step, nor when it
was sent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import get_args

from agent_magic.core.changes import ChangeKind, NameChange
from agent_magic.core.form.message import (
    Form,
    check_keys,
    need_text,
    read_call,
    read_choice,
    read_count,
    read_each,
    read_flag,
    read_images,
    read_line,
    read_name,
    read_part,
    read_signed,
    read_text,
    read_usage,
    write_call,
    write_images,
    write_usage,
)
from agent_magic.core.form.outcome import (
    need_timing,
    read_fault,
    read_timing,
    write_fault,
    write_timing,
)
from agent_magic.core.form.run import read_run, write_run
from agent_magic.core.form.sound import read_sound, write_sound
from agent_magic.core.form.value import UnreadableError, ValueReader, ValueWriter, write_text
from agent_magic.core.steps import (
    ActionStep,
    FinalAnswerStep,
    PlanDiff,
    PlanningStep,
    RunStep,
    StateVariable,
    TaskStep,
    ToolResult,
)
from agent_magic.core.values import Description, Value, to_text

_KINDS: dict[Value, ChangeKind] = {kind: kind for kind in get_args(ChangeKind)}


def write_step(step: RunStep, writer: ValueWriter) -> Form:
    """The step as plain JSON."""
    match step:
        case ActionStep():
            return _write_action(step, writer)
        case PlanningStep():
            return _write_plan(step, writer)
        case TaskStep():
            return _write_task(step, writer)
        case FinalAnswerStep():
            return _write_answer(step, writer)


def read_step(form: Value, reader: ValueReader) -> RunStep:
    """The step that `write_step` wrote.

    Raises:
        UnreadableError: Nobody wrote this form.
    """
    if type(form) is not dict:
        raise UnreadableError(form, "a dict")
    return read_choice(form, "kind", _READERS)(form, reader)


# -- task ------------------------------------------------------------------------------------


def _write_task(step: TaskStep, writer: ValueWriter) -> Form:
    form: Form = {"kind": "task", "task": write_text(step.task)}
    if step.images:
        form["images"] = write_images(step.images, writer)
    if step.variables:
        form["variables"] = [_write_variable(variable) for variable in step.variables]
    if step.others:
        form["others"] = [_write_variable(variable) for variable in step.others]
    if step.n_others_left_out:
        form["n_others_left_out"] = step.n_others_left_out
    if step.resumes is not None:
        form["resumes"] = write_text(step.resumes)
    if step.is_ours:
        form["is_ours"] = True
    if step.undone:
        form["undone"] = [write_text(line) for line in step.undone]
    return form


def _read_task(form: Form, reader: ValueReader) -> TaskStep:
    check_keys(form, _TASK)
    return TaskStep(
        task=need_text(form, "task"),
        images=read_images(form, reader),
        variables=read_each(form, "variables", _read_variable),
        others=read_each(form, "others", _read_variable),
        n_others_left_out=read_count(form, "n_others_left_out", 0),
        resumes=read_name(form, "resumes"),
        is_ours=read_flag(form, "is_ours"),
        undone=read_each(form, "undone", read_line),
    )


def _write_variable(variable: StateVariable) -> Form:
    told = variable.description
    form: Form = {"name": write_text(variable.name), "type": write_text(told.type_name)}
    if told.shape:
        form["shape"] = write_text(told.shape)
    if told.preview:
        form["preview"] = write_text(told.preview)
    return form


def _read_variable(form: Value) -> StateVariable:
    check_keys(form, _VARIABLE)
    return StateVariable(
        name=need_text(form, "name"),
        description=Description(
            type_name=need_text(form, "type"),
            shape=read_text(form, "shape"),
            preview=read_text(form, "preview"),
        ),
    )


# -- plan ------------------------------------------------------------------------------------


def _write_plan(step: PlanningStep, writer: ValueWriter) -> Form:
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
    _write_fault_and_usage(form, step, writer)
    return form


def _read_plan(form: Form, _reader: ValueReader) -> PlanningStep:
    check_keys(form, _PLAN)
    return PlanningStep(
        step_number=read_count(form, "step_number"),
        timing=need_timing(form),
        plan=read_text(form, "plan"),
        handover=read_text(form, "handover"),
        model_output=read_text(form, "model_output"),
        reasoning=read_text(form, "reasoning"),
        is_first=read_flag(form, "is_first", default=True),
        diff=read_part(form, "diff", _read_diff) or PlanDiff(),
        fault=read_part(form, "fault", read_fault),
        token_usage=read_part(form, "token_usage", read_usage),
        model_input_digest=read_text(form, "model_input_digest"),
    )


def _read_diff(form: Value) -> PlanDiff:
    check_keys(form, _DIFF)
    return PlanDiff(
        added=read_each(form, "added", read_line),
        dropped=read_each(form, "dropped", read_line),
        kept=read_each(form, "kept", read_line),
    )


# -- action ----------------------------------------------------------------------------------


def _write_action(step: ActionStep, writer: ValueWriter) -> Form:
    form: Form = {
        "kind": "action",
        "step_number": step.step_number,
        "timing": write_timing(step.timing, writer),
    }
    if step.model_output:
        form["model_output"] = write_text(step.model_output)
    if step.reasoning:
        form["reasoning"] = write_text(step.reasoning)
    if step.calls_start is not None:
        form["calls_start"] = step.calls_start
    if step.tool_results:
        form["tool_results"] = [write_result(result, writer) for result in _results_of(step)]
    if step.is_code:
        form["is_code"] = True
    _write_fault_and_usage(form, step, writer)
    if step.is_final_answer:
        form["is_final_answer"] = True
    if step.changes:
        form["changes"] = [_write_change(change) for change in step.changes]
    if step.model_input_digest:
        form["model_input_digest"] = step.model_input_digest
    if step.signed is not None:
        form["signed"] = writer.write(dict(step.signed))
    return form


def _results_of(step: ActionStep) -> tuple[ToolResult, ...]:
    if not (step.is_code and step.is_final_answer):
        return step.tool_results
    # The answer stands in the step after this one, and may be large.
    return tuple(dataclasses.replace(result, output=None) for result in step.tool_results)


def _read_action(form: Form, reader: ValueReader) -> ActionStep:
    check_keys(form, _ACTION)
    return ActionStep(
        step_number=read_count(form, "step_number"),
        timing=need_timing(form),
        model_output=read_text(form, "model_output"),
        reasoning=read_text(form, "reasoning"),
        calls_start=read_count(form, "calls_start") if "calls_start" in form else None,
        tool_results=read_each(form, "tool_results", lambda result: read_result(result, reader)),
        is_code=read_flag(form, "is_code"),
        fault=read_part(form, "fault", read_fault),
        token_usage=read_part(form, "token_usage", read_usage),
        is_final_answer=read_flag(form, "is_final_answer"),
        changes=read_each(form, "changes", _read_change),
        model_input_digest=read_text(form, "model_input_digest"),
        signed=read_signed(form, reader),
    )


def write_result(result: ToolResult, writer: ValueWriter) -> Form:
    """What became of one call."""
    form: Form = {"call": write_call(result.call, writer)}
    if result.observation:
        form["observation"] = write_text(result.observation)
    _write_output(form, result, writer)
    for key, name in (("bound_to", result.bound_to), ("kept_as", result.kept_as)):
        if name is not None:
            form[key] = write_text(name)
    _write_shown(form, result, writer)
    if result.fault is not None:
        form["fault"] = write_fault(result.fault)
    if result.notes:
        form["notes"] = [write_text(note) for note in result.notes]
    if result.printed:
        form["printed"] = write_text(result.printed)
    if result.timing is not None:
        form["timing"] = write_timing(result.timing, writer)
    if result.run is not None:
        form["run"] = write_run(result.run, lambda step: write_step(step, writer), writer)
    _write_inner_calls(form, result, writer)
    return form


def _write_shown(form: Form, result: ToolResult, writer: ValueWriter) -> None:
    if result.images:
        form["images"] = write_images(result.images, writer)
    if result.sounds:
        form["sounds"] = [write_sound(sound, writer) for sound in result.sounds]


def _write_inner_calls(form: Form, result: ToolResult, writer: ValueWriter) -> None:
    if result.calls:
        form["calls"] = [write_result(call, writer) for call in result.calls]
    if result.n_calls_left_out:
        form["n_calls_left_out"] = result.n_calls_left_out


def _write_output(form: Form, result: ToolResult, writer: ValueWriter) -> None:
    if type(result.output) is str and result.output == result.observation:
        form["is_told"] = True  # long texts are the most of a memory, and need not stand there twice
    elif result.run is not None and result.output is result.run.value:
        form["is_answer"] = True
    elif result.output is not None:
        form["output"] = writer.write_output(result.output, result.bound_to)


def read_result(form: Value, reader: ValueReader, *, is_inner: bool = False) -> ToolResult:
    """The result that `write_result` wrote.

    Args:
        is_inner: Of a call that code made, which makes none of its own.
    """
    check_keys(form, _RESULT)
    call = read_part(form, "call", lambda part: read_call(part, reader))
    if call is None:
        raise UnreadableError(None, "a tool call", "call")
    observation = read_text(form, "observation")
    run = read_part(form, "run", lambda part: read_run(part, lambda step: read_step(step, reader), reader))
    output = observation if read_flag(form, "is_told") else read_part(form, "output", reader.read)
    if run and read_flag(form, "is_answer"):
        output = run.value
    return ToolResult(
        call=call,
        observation=observation,
        output=output,
        bound_to=read_name(form, "bound_to"),
        kept_as=read_name(form, "kept_as"),
        images=read_images(form, reader),
        sounds=read_each(form, "sounds", read_sound),
        fault=read_part(form, "fault", read_fault),
        notes=read_each(form, "notes", read_line),
        printed=read_text(form, "printed"),
        timing=read_part(form, "timing", read_timing),
        calls=()
        if is_inner
        else read_each(form, "calls", lambda call: read_result(call, reader, is_inner=True)),
        n_calls_left_out=read_count(form, "n_calls_left_out", 0),
        run=run,
    )


def _write_change(change: NameChange) -> Form:
    form: Form = {"name": write_text(change.name), "kind": change.kind}
    for name in ("before", "after", "detail"):
        text = getattr(change, name)
        if text:
            form[name] = write_text(text)
    return form


def _read_change(form: Value) -> NameChange:
    check_keys(form, _CHANGE)
    return NameChange(
        name=need_text(form, "name"),
        kind=read_choice(form, "kind", _KINDS),
        before=read_text(form, "before"),
        after=read_text(form, "after"),
        detail=read_text(form, "detail"),
    )


# -- answer ----------------------------------------------------------------------------------


def _write_answer(step: FinalAnswerStep, writer: ValueWriter) -> Form:
    n_recorded = writer.n_recorded
    answer = writer.write_output(step.answer)
    if not step.is_told and step.text is None and writer.n_recorded > n_recorded:
        # A model was told the answer's text: it must be the same after reading.
        answer = writer.record(step.answer, to_text(step.answer))
    form: Form = {"kind": "answer", "answer": answer}
    if not step.is_told:
        form["is_told"] = False
    if step.text is not None:
        form["text"] = write_text(step.text)
    if step.request is not None:
        form["request"] = write_text(step.request)
    if step.token_usage is not None:
        form["token_usage"] = write_usage(step.token_usage, writer)
    return form


def _read_answer(form: Form, reader: ValueReader) -> FinalAnswerStep:
    check_keys(form, _ANSWER)
    if "answer" not in form:
        raise UnreadableError(None, "a value", "answer")
    return FinalAnswerStep(
        answer=read_part(form, "answer", reader.read),
        is_told=read_flag(form, "is_told", default=True),
        text=read_name(form, "text"),
        request=read_name(form, "request"),
        token_usage=read_part(form, "token_usage", read_usage),
    )


# -- what several have -----------------------------------------------------------------------


def _write_fault_and_usage(form: Form, step: PlanningStep | ActionStep, writer: ValueWriter) -> None:
    if step.fault is not None:
        form["fault"] = write_fault(step.fault)
    if step.token_usage is not None:
        form["token_usage"] = write_usage(step.token_usage, writer)


_READERS: dict[Value, Callable[[Form, ValueReader], RunStep]] = {
    "task": _read_task,
    "plan": _read_plan,
    "action": _read_action,
    "answer": _read_answer,
}
_TASK = frozenset({"kind", *TaskStep.__dataclass_fields__})
_PLAN = frozenset({"kind", *PlanningStep.__dataclass_fields__})
_ACTION = frozenset({"kind", *ActionStep.__dataclass_fields__})
_ANSWER = frozenset({"kind", *FinalAnswerStep.__dataclass_fields__})
_RESULT = frozenset({"is_told", "is_answer", *ToolResult.__dataclass_fields__})
_VARIABLE = frozenset({"name", "type", "shape", "preview"})
_DIFF = frozenset(PlanDiff.__dataclass_fields__)
_CHANGE = frozenset(NameChange.__dataclass_fields__)
