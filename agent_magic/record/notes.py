"""What stands beside a step in a record: news of its moment, and what was laid upon it.

It must not know the steps themselves: those are the business of `step` and `plan`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from agent_magic.core.approval import VERDICT_WORDS, Decision
from agent_magic.core.edits import StepView
from agent_magic.core.events import ApprovalGiven, ContextShortened, ManagedEvent, Notice, SettingChanged
from agent_magic.core.short_form import Form
from agent_magic.core.steps import CODE_CALL, to_code
from agent_magic.core.values import safe_repr
from agent_magic.record.clean import cut_text
from agent_magic.record.schema import AnyStepRecord, LaidOnRecord, NoteRecord

_NOTE_CHARS = 500
_VALUE_CHARS = 80


def to_note(event: SettingChanged | ContextShortened | Notice | ApprovalGiven) -> NoteRecord:
    """The line that tells of an event; its text is not redacted yet."""
    match event:
        case SettingChanged():
            return {"text": _to_setting_text(event)}
        case ContextShortened():
            about = "about " if event.is_estimate else ""
            what = "; ".join(event.shortened)
            return {
                "text": f"shortened for the window of {event.window:,} tokens "
                f"({about}{event.tokens_before:,} → {event.tokens_after:,})" + (f": {what}" if what else "")
            }
        case Notice():
            return {"text": event.message, "is_warning": True}
        case ApprovalGiven():
            return {"text": _to_decision_text(event.decision)}


def to_managed_note(event: ManagedEvent) -> NoteRecord | None:
    """The line that tells of what happened inside a managed agent's run; None if nothing is to be told."""
    match event.event:
        case ManagedEvent() as inner:
            note = to_managed_note(inner)
        case SettingChanged() | ContextShortened() | Notice() | ApprovalGiven() as inner:
            note = to_note(inner)
        case _:
            return None
    if note is not None:
        note["text"] = f"{event.agent_name}: {note['text']}"
    return note


def to_laid_on(
    *,
    form: Form = "whole",
    view: StepView | None = None,
    is_pinned: bool = False,
    edited_by: str | None = None,
    edited_at: float | None = None,
) -> LaidOnRecord | None:
    """What was laid upon a step, None if nothing was; `edited_at` is in seconds since 1970."""
    record = LaidOnRecord()
    if form != "whole":
        record["form"] = form
    if view is not None:
        record["view"] = view
    if is_pinned:
        record["is_pinned"] = True
    if edited_by is not None:
        record["edited_by"] = edited_by
        if edited_at is not None:
            record["edited_at"] = to_utc(edited_at)
    return record or None


def add_beside(record: AnyStepRecord, notes: Sequence[NoteRecord], laid_on: LaidOnRecord | None) -> None:
    """Put into a step's record what there is beside it."""
    if notes:
        record["notes"] = [*record.get("notes", []), *notes]
    if laid_on:
        record["laid_on"] = laid_on


def cut_beside(record: AnyStepRecord, max_chars: int, max_notes: int) -> None:
    """Cut what is beside a step in its record, which is the caller's own; the newest notes stay."""
    if "notes" in record:
        newest = record["notes"][-max(max_notes, 1) :]
        record["notes"] = [cut_note(note, max_chars) for note in newest]
    if "laid_on" in record:
        record["laid_on"] = cut_laid_on(record["laid_on"])


def cut_note(note: NoteRecord, max_chars: int = _NOTE_CHARS) -> NoteRecord:
    """A copy of a prepared note, not too long."""
    cut = note.copy()
    cut["text"] = cut_text(note["text"], min(max_chars, _NOTE_CHARS))
    return cut


def cut_laid_on(laid_on: LaidOnRecord) -> LaidOnRecord:
    """A copy whose texts are short."""
    cut = laid_on.copy()
    if "edited_by" in cut:
        cut["edited_by"] = cut_text(cut["edited_by"], _VALUE_CHARS)
    return cut


def to_utc(seconds: float) -> str:
    """A moment as ISO 8601, to the millisecond."""
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat(timespec="milliseconds")


def _to_decision_text(decision: Decision) -> str:
    call = decision.item.call
    is_code = call is not None and call.name == CODE_CALL and to_code(call) is not None
    what, told = f"{'the code' if is_code else decision.item.name} was", ""
    if is_code and decision.arguments is not None:
        told = ""  # the code that was run stands beside its call
    elif decision.arguments is not None:
        what, told = f"the arguments of {decision.item.name} were", safe_repr(decision.arguments, _NOTE_CHARS)
    elif decision.reason:
        told = decision.reason
    return f"{what} {VERDICT_WORDS[decision.verdict]} by {decision.by}" + (f": {told}" if told else "")


def _to_setting_text(event: SettingChanged) -> str:
    match event.name, event.value:
        case "is_paused", bool() as is_paused:
            return "paused" if is_paused else "goes on"
        case "replan_now", _:
            return f"a new plan is asked for, {event.effective}"
        case _:
            return f"{event.name} is {safe_repr(event.value, _VALUE_CHARS)} {event.effective}"
