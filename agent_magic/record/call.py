"""One tool call, or one block of code, as a `CallRecord`: which fields it has and how each is cut.

It must not look at the step around it. Of the thousands of calls that code may make only the few that a
record holds are looked at.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from agent_magic.core.approval import EDITED
from agent_magic.core.form.value import RecordedValue
from agent_magic.core.messages import ToolCall
from agent_magic.core.steps import Fault, ToolResult, to_code
from agent_magic.core.values import Description, Value, describe, is_text_like, safe_repr, to_text
from agent_magic.record.clean import cut_arguments, cut_text, redact_plain, to_plain
from agent_magic.record.limits import MAX_CALLS, Limits, pick_ends
from agent_magic.record.schema import CallRecord, ErrorRecord, Json, ValueRecord
from agent_magic.record.sounds import say_sounds
from agent_magic.record.thumbnails import say_images

_NAME_CHARS = 80
_NOTE_CHARS = 500
_CODE_NOTE_CHARS = 2_000
"""Of the code that a person put in the place of the model's."""
_PREVIEW_CHARS = 600
_OBJECT_CHARS = 200
_SHORTEST = 80
_INNER_SHARE = 4
_PLAIN = (str, bool, int, float)


def to_call_record(result: ToolResult, limits: Limits, *, is_code: bool = False) -> CallRecord:
    """One call as plain JSON: no secrets, every text cut.

    Args:
        is_code: It is a block of code.
    """
    return finish_call(to_whole_call(result, is_code=is_code), limits)


def finish_call(call: CallRecord, limits: Limits) -> CallRecord:
    """What `to_whole_call` or `to_inner_call` gave, without secrets, every text cut."""
    return cut_call(cast("CallRecord", redact_plain(call)), limits)


def to_whole_call(result: ToolResult, *, is_code: bool = False) -> CallRecord:
    """One call as plain JSON, neither redacted nor cut; images in words."""
    code = to_code(result.call) if is_code else None
    record = CallRecord(
        id=result.call.id,
        name=result.call.name,
        arguments=_to_arguments(result.call) if code is None else {},
    )
    if code is not None:
        record["code"] = code
    if result.calls:
        record["calls"] = [to_inner_call(call) for call in pick_ends(result.calls, MAX_CALLS)]
    n_left_out = result.n_calls_left_out + max(len(result.calls) - MAX_CALLS, 0)
    if n_left_out:
        record["calls_left_out"] = n_left_out
    if result.fault:
        record["error"] = to_error(result.fault)
    if not result.fault or result.observation:  # of code that failed: what it had printed by then
        record["observation"] = result.observation
    if result.output is not None and not result.fault:
        record["output"] = (
            _to_output(result.output, result.observation) if code is None else _to_value(result.output)
        )
    _add_rest(record, result)
    return record


def to_inner_call(result: ToolResult) -> CallRecord:
    """A call that code made: its arguments and what it returned are live values, large ones told by type."""
    record = CallRecord(
        id=result.call.id, name=result.call.name, arguments=_to_arguments(result.call, _say_live)
    )
    if result.fault:
        record["error"] = to_error(result.fault)
    else:
        record["observation"] = result.observation or _tell(result.output)
        if result.output is not None:
            record["output"] = _to_type(result.output)
    _add_rest(record, result)
    return record


def cut_call(call: CallRecord, limits: Limits) -> CallRecord:
    """A copy of `call` within `limits`."""
    cut = call.copy()
    for key in ("id", "name"):
        cut[key] = cut_text(call[key], _NAME_CHARS)
    cut["arguments"] = cut_arguments(call["arguments"], limits.chars)
    if "code" in call:
        cut["code"] = cut_text(call["code"], limits.chars)
    if "observation" in call:
        cut["observation"] = cut_text(call["observation"], limits.chars)
    if "printed" in call:
        cut["printed"] = cut_text(call["printed"], limits.chars)
    if "calls" in call:
        _cut_inner(cut, call["calls"], limits)
    if "bound_to" in call:
        cut["bound_to"] = cut_text(call["bound_to"], _NAME_CHARS)
    if "error" in call:
        cut["error"] = cut_error(call["error"], limits.chars)
    if "notes" in call:
        longest = min(limits.chars, _CODE_NOTE_CHARS if "code" in call else _NOTE_CHARS)
        cut["notes"] = [cut_text(note, longest) for note in call["notes"][: max(limits.items // 5, 1)]]
    if "output" in call:
        cut["output"] = _cut_output(call["output"], limits)
    return cut


def to_error(fault: Fault) -> ErrorRecord:
    """An error by kind and text."""
    return {"kind": fault.kind, "message": fault.message}


def cut_error(error: ErrorRecord, max_chars: int) -> ErrorRecord:
    """A copy of `error` with its text cut."""
    return {"kind": cut_text(error["kind"], _NAME_CHARS), "message": cut_text(error["message"], max_chars)}


def to_seconds(duration_s: float) -> float:
    """A duration to the millisecond; a clock that was set back counts as 0."""
    return round(max(duration_s, 0.0), 3)


def _add_rest(record: CallRecord, result: ToolResult) -> None:
    if result.notes:
        record["notes"] = list(result.notes)
        if any(note.startswith(EDITED) for note in result.notes):
            record["is_edited"] = True
    if (
        result.printed and "code" not in record
    ):  # of code it is in the observation, or the whole of what is cut there
        record["printed"] = result.printed.strip("\n")
    if result.images:
        record["images"] = say_images(result.images)
    if result.sounds:
        record["sounds"] = say_sounds(result.sounds)
    if result.bound_to:
        record["bound_to"] = result.bound_to
    if result.timing:
        record["duration_s"] = to_seconds(result.timing.duration_s)


def _cut_inner(cut: CallRecord, calls: list[CallRecord], limits: Limits) -> None:
    kept = pick_ends(calls, limits.inner)
    chars = max(_INNER_SHARE * limits.chars // max(len(kept), _INNER_SHARE), _SHORTEST)
    cut["calls"] = [cut_call(call, replace(limits, chars=chars)) for call in kept]
    if len(kept) < len(calls):
        cut["calls_left_out"] = cut.get("calls_left_out", 0) + len(calls) - len(kept)


def _to_arguments(call: ToolCall, say: Callable[[Value], Json] = safe_repr) -> dict[str, Json] | str:
    if isinstance(call.arguments, str):
        return call.arguments
    plain = to_plain(call.arguments or {}, say)
    return plain if isinstance(plain, dict) else str(plain)


def _say_live(value: Value) -> Json:
    """A live value that JSON has no word for: a number or a date as itself, what has a shape by its type.

    The `repr` of a frame takes milliseconds, and code may have handed one to each of many calls.
    """
    if isinstance(value, RecordedValue):  # of a run that was loaded
        return f"<{value.type_name}, {value.shape}>" if value.shape else value.preview
    try:
        if isinstance(value, numbers.Real) and math.isfinite(value):
            return int(value) if isinstance(value, numbers.Integral) else float(value)
        if is_text_like(value):
            return to_text(value)
    except Exception:  # noqa: BLE001 - classes of the person's may raise anything
        return safe_repr(value, _OBJECT_CHARS)
    description = describe(value, 0)
    return f"<{description}>" if description.shape else safe_repr(value, _OBJECT_CHARS)


def _tell(value: Value) -> str:
    """What a call of code returned, in words."""
    plain = _say_live(value)
    return plain if isinstance(plain, str) else to_text(plain)


def _to_type(value: Value) -> ValueRecord:
    record = ValueRecord(type=value.type_name if isinstance(value, RecordedValue) else type(value).__name__)
    shape = value.shape if isinstance(value, RecordedValue) else describe(value, 0).shape
    if shape and not isinstance(value, str):
        record["shape"] = shape
    return record


def _to_value(value: Value) -> ValueRecord:
    """What code ended in: its observation tells much more than that."""
    record = _to_output(value, "")
    if type(value) in _PLAIN:
        record["preview"] = safe_repr(value, _PREVIEW_CHARS)
    return record


def _to_output(value: Value, observation: str) -> ValueRecord:
    if isinstance(value, RecordedValue):  # of a run that was loaded
        description = Description(type_name=value.type_name, shape=value.shape, preview=value.preview)
    elif type(value) in _PLAIN:
        return ValueRecord(type=type(value).__name__)
    else:
        description = describe(value, _PREVIEW_CHARS)
    record = ValueRecord(type=description.type_name)
    if description.shape:
        record["shape"] = description.shape
    # Plain lists and tables are in the observation already; saying it twice helps nobody.
    if description.preview and not observation:
        record["preview"] = description.preview
    return record


def _cut_output(output: ValueRecord, limits: Limits) -> ValueRecord:
    cut = ValueRecord(type=cut_text(output["type"], _NAME_CHARS))
    if "shape" in output:
        cut["shape"] = cut_text(output["shape"], _NAME_CHARS)
    if "preview" in output:
        cut["preview"] = cut_text(output["preview"], min(limits.chars, _PREVIEW_CHARS))
    return cut
