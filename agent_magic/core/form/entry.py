"""What is laid upon the steps of a memory, and the changes to it, as plain JSON and back.

It must not write a step: that stands in a table, and is named by its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from agent_magic.core.edits import STEP_VIEWS, Field, MemoryChange, StepView
from agent_magic.core.entry import NOTHING_KEPT, Entry
from agent_magic.core.form.keys import (
    check_keys,
    need_text,
    read_choice,
    read_count,
    read_flag,
    read_moment,
    read_part,
)
from agent_magic.core.form.tables import Json, Table, check_place, read_place
from agent_magic.core.form.value import UnreadableError, ValueWriter, write_text
from agent_magic.core.short_form import FORMS, Form
from agent_magic.core.steps import RunStep
from agent_magic.core.values import Value

_FIELDS: dict[Value, Field] = {name: name for name in get_args(Field)}
_VIEWS: dict[Value, StepView] = {view: view for view in STEP_VIEWS}
_FORMS: dict[Value, Form] = {form: form for form in FORMS}


@dataclass(slots=True, kw_only=True)  # not frozen: of a thousand steps a thousand are made at once
class EntryRecord:
    """A step and what is laid upon it, see `core.memory.Entry`."""

    step: RunStep
    view: StepView | None = None
    is_pinned: bool = False
    is_dropped: bool = False
    form: Form = "whole"
    kept: Mapping[str, str] = field(default_factory=lambda: NOTHING_KEPT)

    @property
    def is_laid_upon(self) -> bool:
        """Whether it is more than its step."""
        return bool(
            self.view is not None or self.is_pinned or self.is_dropped or self.form != "whole" or self.kept
        )


def to_entry_record(entry: Entry) -> EntryRecord:
    """The entry as it is now."""
    return EntryRecord(
        step=entry.step,
        view=entry.view,
        is_pinned=entry.is_pinned,
        is_dropped=entry.is_dropped,
        form=entry.form,
        kept=entry.kept,
    )


def write_entry(entry: EntryRecord, steps: Table[RunStep]) -> Value:
    """The place of its step alone, or with what is laid upon it."""
    place = steps.place(entry.step)
    if not entry.is_laid_upon:
        return place
    form: Json = {}
    if entry.view is not None:
        form["view"] = entry.view
    if entry.is_pinned:
        form["is_pinned"] = True
    if entry.is_dropped:
        form["is_dropped"] = True
    if entry.form != "whole":
        form["form"] = entry.form
    if entry.kept:
        form["kept"] = dict(entry.kept)
    return {"step": place, **form}


def read_entry(form: Value, steps: Sequence[RunStep]) -> EntryRecord:
    """The step with what is laid upon it."""
    if type(form) is int:
        return EntryRecord(step=steps[check_place(form, len(steps))])
    check_keys(form, _ENTRY)
    return EntryRecord(
        step=steps[read_place(form, "step", len(steps))],
        view=read_choice(form, "view", _VIEWS) if "view" in form else None,
        is_pinned=read_flag(form, "is_pinned"),
        is_dropped=read_flag(form, "is_dropped"),
        form=read_choice(form, "form", _FORMS) if "form" in form else "whole",
        kept=read_part(form, "kept", _read_kept) or {},
    )


def _read_kept(form: Value) -> dict[str, str]:
    if type(form) is dict and all(
        type(call_id) is str and type(name) is str for call_id, name in form.items()
    ):
        return dict(form)
    raise UnreadableError(form, "the names of whole observations by the ids of their calls")


def write_change(change: MemoryChange, steps: Table[RunStep], values: ValueWriter) -> Json:
    """The change; steps in it by their places."""
    old, new = change.old, change.new
    if change.field == "step":
        old, new = steps.place(old), steps.place(new)
    elif change.field == "kept":
        old, new = dict(old), dict(new)
    return {
        "revision": change.revision,
        "index": change.index,
        "field": change.field,
        "old": old,
        "new": new,
        "by": write_text(change.by),
        "at": values.write(change.at),
    }


def read_change(form: Value, steps: Sequence[RunStep], n_entries: int) -> MemoryChange:
    """The change, to one of `n_entries` steps."""
    check_keys(form, _CHANGE)
    part = read_choice(form, "field", _FIELDS)
    return MemoryChange(
        revision=read_count(form, "revision"),
        index=read_place(form, "index", n_entries),
        field=part,
        old=_read_side(form, "old", part, steps),
        new=_read_side(form, "new", part, steps),
        by=need_text(form, "by"),
        at=read_moment(form, "at"),
    )


def _read_side(form: Json, key: str, part: Field, steps: Sequence[RunStep]) -> Value:
    match part:
        case "step":
            return steps[read_place(form, key, len(steps))]
        case "view":
            return None if form.get(key) is None else read_choice(form, key, _VIEWS)
        case "form":
            return read_choice(form, key, _FORMS)
        case "kept":
            return read_part(form, key, _read_kept) or {}
        case "is_pinned" | "is_dropped":
            return read_flag(form, key)


_ENTRY = frozenset(EntryRecord.__dataclass_fields__)
_CHANGE = frozenset(MemoryChange.__dataclass_fields__)
