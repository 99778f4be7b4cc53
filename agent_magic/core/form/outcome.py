"""How something ended, when, and what the checks said, as plain JSON and back.

It must not write a step or a run: those are made of these.
"""

from __future__ import annotations

from typing import cast

from agent_magic.core.form.keys import (
    END_OF_TIME,
    Form,
    check_keys,
    each,
    need_text,
    read_flag,
    read_text,
    to_moment,
)
from agent_magic.core.form.value import UnreadableError, ValueReader, ValueWriter, write_text
from agent_magic.core.outcome import CheckResult, Fault, Timing
from agent_magic.core.values import Value


def write_fault(fault: Fault) -> Form:
    """An error."""
    return {"kind": write_text(fault.kind), "message": write_text(fault.message)}


def read_fault(form: Value, _reader: ValueReader | None = None) -> Fault:
    """The error."""
    check_keys(form, _FAULT)
    return Fault(kind=need_text(form, "kind"), message=need_text(form, "message"))


def write_timing(timing: Timing, writer: ValueWriter) -> list[Value]:
    """A start and an end."""
    start, end = timing.start, timing.end
    # Nearly always, and a step has several.
    if type(start) is type(end) is float and 0.0 <= start < END_OF_TIME and 0.0 <= end < END_OF_TIME:
        return [start, end]
    return [writer.write(start), writer.write(end)]


def read_timing(form: Value, reader: ValueReader | None = None) -> Timing:
    """The start and the end."""
    if type(form) is not list or len(cast("list[Value]", form)) != 2:
        raise UnreadableError(form, "a start and an end")
    start, end = cast("list[Value]", form)
    if type(start) is type(end) is float and 0.0 <= start < END_OF_TIME and 0.0 <= end < END_OF_TIME:
        return Timing(start=start, end=end)
    start, end = _to_moments(form, reader or _PLAIN)
    return Timing(start=start, end=end)


def write_check(check: CheckResult) -> Form:
    """What a check said."""
    form: Form = {"name": write_text(check.name), "passed": check.passed}
    if check.reason:
        form["reason"] = write_text(check.reason)
    return form


def read_check(form: Value) -> CheckResult:
    """What the check said."""
    check_keys(form, _CHECK)
    return CheckResult(
        name=need_text(form, "name"), passed=read_flag(form, "passed"), reason=read_text(form, "reason")
    )


_FAULT = frozenset(Fault.__dataclass_fields__)
_PLAIN = ValueReader()
_to_moments = each(to_moment)
_CHECK = frozenset(CheckResult.__dataclass_fields__)
