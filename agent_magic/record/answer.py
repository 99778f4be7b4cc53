"""What a run ended with as plain JSON: its value, and what each check said of it.

It must not look at the steps of the run.
"""

from __future__ import annotations

import json

from agent_magic.core.form.value import RecordedValue
from agent_magic.core.result import CheckResult
from agent_magic.core.values import Value, describe, safe_repr, to_text
from agent_magic.record.clean import cut_text, to_plain
from agent_magic.record.limits import LOOSEST
from agent_magic.record.schema import AnswerRecord, CheckRecord, Status

_TYPE_CHARS = 80
_PLAIN_CONTAINERS = (dict, list, tuple)


def to_answer(value: Value, status: Status) -> AnswerRecord | None:
    """The value in words; None if there is none. Neither redacted nor cut."""
    if value is None and status != "answered":
        return None
    if isinstance(value, RecordedValue):
        return _to_recorded_answer(value)
    type_name = type(value).__name__
    if isinstance(value, str):
        return {"type": type_name, "text": str.__str__(value)}
    if isinstance(value, _PLAIN_CONTAINERS):
        plain = to_plain(value)
        text = json.dumps(plain, ensure_ascii=False)
        text = text if len(text) <= 100 else json.dumps(plain, ensure_ascii=False, indent=2)
        return {"type": type_name, "shape": describe(value, 80).shape, "text": text}
    description = describe(value, LOOSEST.chars)
    if description.shape:
        return {"type": type_name, "shape": description.shape, "text": description.preview}
    return {"type": type_name, "text": _to_line(value)}


def cut_answer(answer: AnswerRecord, max_chars: int) -> AnswerRecord:
    """A copy of `answer` with its text cut."""
    cut = answer.copy()
    cut["type"] = cut_text(answer["type"], _TYPE_CHARS)
    if "shape" in answer:
        cut["shape"] = cut_text(answer["shape"], _TYPE_CHARS)
    cut["text"] = cut_text(answer["text"], max_chars)
    return cut


def to_check(check: CheckResult) -> CheckRecord:
    """What one check said, neither redacted nor cut."""
    record = CheckRecord(name=check.name, passed=check.passed)
    if check.reason:
        record["reason"] = check.reason
    return record


def cut_check(check: CheckRecord, max_chars: int) -> CheckRecord:
    """A copy of `check` with its texts cut."""
    cut = check.copy()
    cut["name"] = cut_text(check["name"], 80)
    if "reason" in check:
        cut["reason"] = cut_text(check["reason"], max_chars)
    return cut


def _to_recorded_answer(value: RecordedValue) -> AnswerRecord:
    """That of an object which a run that was loaded had; it is known by what was written of it."""
    if value.shape:
        return {"type": value.type_name, "shape": value.shape, "text": value.preview}
    return {"type": value.type_name, "text": value.preview}


def _to_line(value: Value) -> str:
    try:
        return to_text(value)
    except Exception:  # noqa: BLE001 - the person's own `__str__` may raise anything
        return safe_repr(value)
