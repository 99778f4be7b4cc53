"""The records of runs as their cells showed them, kept as long as the runs' results live.

A result alone does not tell why its model was chosen, nor what was told beside its steps. It must not
keep a result alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, PlanningStep
from agent_magic.record.laid_on import as_it_counts
from agent_magic.record.run import to_record
from agent_magic.record.schema import Json, LaidOnRecord, NoteRecord, RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a record says of a run that its result does not; see `record.run.to_record`."""

    reason: str | None = None
    warnings: Sequence[str] = ()
    notes: Mapping[int, Sequence[NoteRecord]] = field(default_factory=dict[int, Sequence[NoteRecord]])

    def to_record(
        self, result: RunResult, laid_on: Mapping[int, LaidOnRecord | None] | None = None
    ) -> RunRecord:
        """The record of the run."""
        return to_record(
            result, reason=self.reason, warnings=self.warnings, notes=self.notes, laid_on=laid_on
        )


@dataclass(slots=True)
class _Shown:
    result: weakref.ref[RunResult]
    make: Callable[[RunResult], RunRecord]
    record: RunRecord | None = None


_shown: dict[int, _Shown] = {}
"""By the id of the result: results are equal by their steps, and have no hash."""


def put_shown(result: RunResult, record: RunRecord) -> None:
    """This is how the run was shown."""
    _put(result, lambda _: record)


def put_loaded(result: RunResult, beside: Beside, memory: AgentMemory | None) -> None:
    """The run was loaded, with what stood beside it and the memory that it is in."""
    _put(result, partial(_make, beside, memory))


def record_of(result: RunResult) -> RunRecord:
    """The record of a run as its cell showed it; of a run that none showed, as far as its result tells."""
    shown = _shown.get(id(result))
    if shown is None or shown.result() is not result:
        return to_record(result)
    if shown.record is None:
        shown.record = shown.make(result)
    return shown.record


def beside_of(result: RunResult) -> Beside:
    """What stood beside the run where it was shown."""
    return beside_in(record_of(result), result) if id(result) in _shown else Beside()


def beside_in(record: Mapping[str, Json], result: RunResult) -> Beside:
    """What a record says beside the run; it may have been edited by hand."""
    reason = record.get("why")
    return Beside(
        reason=reason if type(reason) is str else None,
        warnings=[warning for warning in _list(record, "warnings") if type(warning) is str],
        notes=_notes_in(record, result),
    )


def _notes_in(record: Mapping[str, Json], result: RunResult) -> dict[int, list[NoteRecord]]:
    places = [i for i, step in enumerate(result.steps) if isinstance(step, ActionStep | PlanningStep)]
    steps = _list(record, "steps")
    if len(steps) < len(places):  # of a long run the first third of what is kept, and its end
        n_first = len(steps) // 3
        places = [*places[:n_first], *places[n_first - len(steps) :]] if steps else []
    notes = {place: _read_notes(step) for place, step in zip(places, steps, strict=False)}
    return {place: read for place, read in notes.items() if read}


def _read_notes(step: Json) -> list[NoteRecord]:
    notes: list[NoteRecord] = []
    for form in _list(step, "notes") if type(step) is dict else ():
        text = form.get("text") if type(form) is dict else None
        if type(text) is str:
            is_warning = cast("dict[str, Json]", form).get("is_warning") is True
            notes.append({"text": text, "is_warning": True} if is_warning else {"text": text})
    return notes


def _put(result: RunResult, make: Callable[[RunResult], RunRecord]) -> None:
    key = id(result)
    _shown[key] = _Shown(weakref.ref(result, lambda _: _shown.pop(key, None)), make)


def _make(beside: Beside, memory: AgentMemory | None, result: RunResult) -> RunRecord:
    counted, laid_on = as_it_counts(memory, result)
    return beside.to_record(counted, laid_on)


def _list(form: Mapping[str, Json], key: str) -> list[Json]:
    part = form.get(key)
    return cast("list[Json]", part) if type(part) is list else []
