"""The steps of a memory as plain JSON and back, field by field: actions and answers, with tasks and plans.

A field that has its default is not written. It must not know what is laid upon a step, nor when it
was sent.
"""

from __future__ import annotations

from typing import get_args

from agent_magic.core.changes import ChangeKind, NameChange
from agent_magic.core.form.keys import (
    Form,
    ReadPart,
    each,
    read_choice,
    read_fields,
    to_count,
    to_flag,
    to_text,
    to_value,
    to_word,
)
from agent_magic.core.form.message import (
    CALL_FIELDS,
    NEEDED_OF_CALL,
    read_images,
    read_signed,
    read_usage,
    to_call,
    write_call,
    write_images,
    write_usage,
)
from agent_magic.core.form.outcome import read_fault, read_timing, write_fault, write_timing
from agent_magic.core.form.plan import read_plan, write_plan
from agent_magic.core.form.run import read_run, write_run
from agent_magic.core.form.sound import read_sound, write_sound
from agent_magic.core.form.task import read_task, write_task
from agent_magic.core.form.value import UnreadableError, ValueReader, ValueWriter, write_text
from agent_magic.core.steps import (
    ActionStep,
    FinalAnswerStep,
    PlanningStep,
    RunResult,
    RunStep,
    TaskStep,
    ToolResult,
)
from agent_magic.core.values import Value
from agent_magic.core.values import to_text as to_told

_KINDS: dict[Value, ChangeKind] = {kind: kind for kind in get_args(ChangeKind)}


def write_step(step: RunStep, writer: ValueWriter) -> Form:
    """The step as plain JSON."""
    match step:
        case ActionStep():
            return _write_action(step, writer)
        case PlanningStep():
            return write_plan(step, writer)
        case TaskStep():
            return write_task(step, writer)
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
        # The answer of code stands in the step after this one, and may be large.
        has_output = not (step.is_code and step.is_final_answer)
        form["tool_results"] = [
            write_result(result, writer, has_output=has_output) for result in step.tool_results
        ]
    if step.model_input_digest:
        form["model_input_digest"] = step.model_input_digest
    if step.token_usage is not None:
        form["token_usage"] = write_usage(step.token_usage, writer)
    if step.changes:
        form["changes"] = [_write_change(change) for change in step.changes]
    _write_rest(form, step, writer)
    return form


def _write_rest(form: Form, step: ActionStep, writer: ValueWriter) -> None:
    """What few actions have."""
    if step.is_code:
        form["is_code"] = True
    if step.fault is not None:
        form["fault"] = write_fault(step.fault)
    if step.is_final_answer:
        form["is_final_answer"] = True
    if step.signed is not None:
        form["signed"] = writer.write(dict(step.signed))


def _read_action(form: Value, reader: ValueReader) -> ActionStep:
    parts = read_fields(form, _ACTION, reader, needed=("step_number", "timing"))
    del parts["kind"]
    return ActionStep(**parts)


def write_result(result: ToolResult, writer: ValueWriter, *, has_output: bool = True) -> Form:
    """A call, and what became of it.

    Args:
        result: What became of it.
        writer: Writes its values.
        has_output: The output is written.
    """
    form = write_call(result.call, writer)
    if result.observation:
        form["observation"] = write_text(result.observation)
    if result.output is not None and has_output:
        _write_output(form, result, writer)
    if result.timing is not None:
        form["timing"] = write_timing(result.timing, writer)
    if result.bound_to is not None:
        form["bound_to"] = write_text(result.bound_to)
    if result.kept_as is not None:
        form["kept_as"] = write_text(result.kept_as)
    if result.printed:
        form["printed"] = write_text(result.printed)
    _write_rest_of_result(form, result, writer)
    return form


def _write_output(form: Form, result: ToolResult, writer: ValueWriter) -> None:
    if type(result.output) is str and result.output == result.observation:
        form["is_told"] = True  # long texts are the most of a memory, and need not stand there twice
    elif result.run is not None and result.output is result.run.value:
        form["is_answer"] = True
    else:
        form["output"] = writer.write_output(result.output, result.bound_to)


def _write_rest_of_result(form: Form, result: ToolResult, writer: ValueWriter) -> None:
    """What few calls have."""
    if result.fault is not None:
        form["fault"] = write_fault(result.fault)
    if result.notes:
        form["notes"] = [write_text(note) for note in result.notes]
    if result.images:
        form["images"] = write_images(result.images, writer)
    if result.sounds:
        form["sounds"] = [write_sound(sound, writer) for sound in result.sounds]
    if result.run is not None:
        form["run"] = write_run(result.run, lambda step: write_step(step, writer), writer)
    if result.calls:
        form["calls"] = [write_result(call, writer) for call in result.calls]
    if result.n_calls_left_out:
        form["n_calls_left_out"] = result.n_calls_left_out


def read_result(form: Value, reader: ValueReader) -> ToolResult:
    """The result that `write_result` wrote."""
    parts = read_fields(form, _RESULT, reader, needed=NEEDED_OF_CALL)
    if parts.pop("is_told", False):
        parts["output"] = parts.get("observation", "")
    if parts.pop("is_answer", False) and "run" in parts:
        parts["output"] = parts["run"].value
    return ToolResult(call=to_call(parts), **parts)


def _read_run(form: Value, reader: ValueReader) -> RunResult:
    return read_run(form, lambda step: read_step(step, reader), reader)


def _write_change(change: NameChange) -> Form:
    form: Form = {"name": write_text(change.name), "kind": change.kind}
    for name in ("before", "after", "detail"):
        text = getattr(change, name)
        if text:
            form[name] = write_text(text)
    return form


def _read_change(form: Value, reader: ValueReader) -> NameChange:
    return NameChange(**read_fields(form, _CHANGE, reader, needed=("name", "kind")))


# -- answer ----------------------------------------------------------------------------------


def _write_answer(step: FinalAnswerStep, writer: ValueWriter) -> Form:
    n_recorded = writer.n_recorded
    answer = writer.write_output(step.answer)
    if not step.is_told and step.text is None and writer.n_recorded > n_recorded:
        # A model was told the answer's text: it must be the same after reading.
        answer = writer.record(step.answer, to_told(step.answer))
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


def _read_answer(form: Value, reader: ValueReader) -> FinalAnswerStep:
    parts = read_fields(form, _ANSWER, reader)
    if "answer" not in parts:
        raise UnreadableError(None, "a value", "answer")
    del parts["kind"]
    return FinalAnswerStep(**parts)


# -- how each key is read --------------------------------------------------------------------

_CHANGE: dict[str, ReadPart[Value]] = {
    "name": to_text,
    "kind": to_word(_KINDS),
    "before": to_text,
    "after": to_text,
    "detail": to_text,
}
_RESULT: dict[str, ReadPart[Value]] = {
    **CALL_FIELDS,
    "observation": to_text,
    "is_told": to_flag,
    "is_answer": to_flag,
    "output": to_value,
    "timing": read_timing,
    "bound_to": to_text,
    "kept_as": to_text,
    "fault": read_fault,
    "notes": each(to_text),
    "printed": to_text,
    "images": read_images,
    "sounds": each(read_sound),
    "run": _read_run,
    "calls": each(read_result),
    "n_calls_left_out": to_count,
}
_ACTION: dict[str, ReadPart[Value]] = {
    "kind": to_text,
    "step_number": to_count,
    "timing": read_timing,
    "model_output": to_text,
    "reasoning": to_text,
    "calls_start": to_count,
    "tool_results": each(read_result),
    "is_code": to_flag,
    "fault": read_fault,
    "token_usage": read_usage,
    "is_final_answer": to_flag,
    "changes": each(_read_change),
    "model_input_digest": to_text,
    "signed": read_signed,
}
_ANSWER: dict[str, ReadPart[Value]] = {
    "kind": to_text,
    "answer": to_value,
    "is_told": to_flag,
    "text": to_text,
    "request": to_text,
    "token_usage": read_usage,
}
_READERS: dict[Value, ReadPart[RunStep]] = {
    "task": read_task,
    "plan": read_plan,
    "action": _read_action,
    "answer": _read_answer,
}
