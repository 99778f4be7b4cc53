"""The step of a task as plain JSON and back.

A field that has its default is not written. It must not look at the variables that a task mentions.
"""

from __future__ import annotations

from agent_magic.core.form.keys import (
    Form,
    ReadPart,
    check_keys,
    each,
    need_text,
    read_fields,
    read_text,
    to_count,
    to_flag,
    to_text,
)
from agent_magic.core.form.message import read_images, write_images
from agent_magic.core.form.value import ValueReader, ValueWriter, write_text
from agent_magic.core.steps import StateVariable, TaskStep
from agent_magic.core.values import Description, Value


def write_task(step: TaskStep, writer: ValueWriter) -> Form:
    """The task."""
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


def read_task(form: Value, reader: ValueReader) -> TaskStep:
    """The task."""
    parts = read_fields(form, _TASK, reader, needed=("task",))
    del parts["kind"]
    return TaskStep(**parts)


def _write_variable(variable: StateVariable) -> Form:
    told = variable.description
    form: Form = {"name": write_text(variable.name), "type": write_text(told.type_name)}
    if told.shape:
        form["shape"] = write_text(told.shape)
    if told.preview:
        form["preview"] = write_text(told.preview)
    return form


def _read_variable(form: Value, _reader: ValueReader) -> StateVariable:
    check_keys(form, _VARIABLE)
    return StateVariable(
        name=need_text(form, "name"),
        description=Description(
            type_name=need_text(form, "type"),
            shape=read_text(form, "shape"),
            preview=read_text(form, "preview"),
        ),
    )


_TASK: dict[str, ReadPart[Value]] = {
    "kind": to_text,
    "task": to_text,
    "images": read_images,
    "variables": each(_read_variable),
    "others": each(_read_variable),
    "n_others_left_out": to_count,
    "resumes": to_text,
    "is_ours": to_flag,
    "undone": each(to_text),
}
_VARIABLE = frozenset({"name", "type", "shape", "preview"})
