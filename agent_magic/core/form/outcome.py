"""How something ended, when, and what the checks said, as plain JSON and back.

It must not write a step or a run: those are made of these.
"""

from __future__ import annotations

import math

from agent_magic.core.form.message import (
    Form,
    check_keys,
    need_text,
    read_flag,
    read_moment,
    read_part,
    read_text,
)
from agent_magic.core.form.value import UnreadableError, ValueWriter, write_text
from agent_magic.core.outcome import CheckResult, Fault, Timing
from agent_magic.core.values import Value


def write_fault(fault: Fault) -> Form:
    """An error."""
    return {"kind": write_text(fault.kind), "message": write_text(fault.message)}


def read_fault(form: Value) -> Fault:
    """The error."""
    check_keys(form, _FAULT)
    return Fault(kind=need_text(form, "kind"), message=need_text(form, "message"))


def write_timing(timing: Timing, writer: ValueWriter) -> Form:
    """A start and an end."""
    start, end = timing.start, timing.end
    if type(start) is type(end) is float and math.isfinite(start) and math.isfinite(end):  # nearly always
        return {"start": start, "end": end}
    return {"start": writer.write(start), "end": writer.write(end)}


def read_timing(form: Value) -> Timing:
    """The start and the end."""
    check_keys(form, _TIMING)
    return Timing(start=read_moment(form, "start"), end=read_moment(form, "end"))


def need_timing(form: Form) -> Timing:
    """The timing at the key `timing`, which must be there."""
    timing = read_part(form, "timing", read_timing)
    if timing is None:
        raise UnreadableError(None, "a start and an end", "timing")
    return timing


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
_TIMING = frozenset(Timing.__dataclass_fields__)
_CHECK = frozenset(CheckResult.__dataclass_fields__)
