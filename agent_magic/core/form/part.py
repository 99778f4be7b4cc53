"""What one run added to a memory, as plain JSON that stands by itself, and parts joined to a whole again.

A part repeats what it needs of the runs before (the system prompt, the tools), and counts entries and
revisions as the whole memory does. It must not know where parts are kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from agent_magic.core.edits import MemoryChange
from agent_magic.core.errors import OptionError
from agent_magic.core.form.entry import to_entry_record
from agent_magic.core.form.image import LazyImages
from agent_magic.core.form.increments import Growing
from agent_magic.core.form.keys import check_keys, read_count, read_name
from agent_magic.core.form.memory import MemoryRecord, MemoryTables, read_memory, write_memory
from agent_magic.core.form.run import by_place, read_run, write_run
from agent_magic.core.form.step import read_step
from agent_magic.core.form.tables import Json
from agent_magic.core.form.value import UnreadableError, ValueReader
from agent_magic.core.result import RunResult
from agent_magic.core.steps import RunStep
from agent_magic.core.values import Value, safe_repr

FORMAT = "agent_magic.run"
VERSION = 2


class _HasStep(Protocol):
    @property
    def step(self) -> RunStep: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One run, and what it added to its memory."""

    result: RunResult
    n_before: int
    """How many entries the memory had before."""
    after: str | None
    """The id of the run before in it, that asked a model."""
    added: MemoryRecord
    """Entries and requests of this run alone, and the changes since the one before."""


def write_part(memory: Growing, result: RunResult, *, largest: int | None = None) -> Json | None:
    """A run and what it added to `memory`; None if its task is not in there.

    Args:
        largest: See `ValueWriter`.
    """
    whole = read_record(memory)
    n_before = _find_start(whole, result)
    if n_before is None:
        return None
    own = [request for request in whole.requests if request.run_id == result.run_id]
    n_earlier = whole.requests.index(own[0]) if own else len(whole.requests)
    last = whole.requests[n_earlier - 1] if n_earlier else None
    since = last.revision if last else -1
    n_old = sum(revision <= since for revision, _ in whole.system_prompts)
    added = MemoryRecord(
        system_prompts=whole.system_prompts[max(n_old - 1, 0) :],
        entries=whole.entries[n_before:],
        changes=[change for change in whole.changes if change.revision > since],
        undoable=whole.undoable,
        requests=own,
        revision=whole.revision,
    )
    tables = MemoryTables(largest=largest)
    run = write_run(result, tables.steps.place, tables.values)
    form: Json = {"format": FORMAT, "version": VERSION, "n_before": n_before}
    if last:
        form["after"] = last.run_id
    return {**form, "run": run, "memory": write_memory(added, tables)}


def read_part(form: Value) -> Part:
    """The run that `write_part` wrote.

    Raises:
        OptionError: Nobody wrote this form, or only a newer version reads it.
    """
    try:
        return _read_part(form)
    except UnreadableError as error:
        raise OptionError(
            f"This run cannot be read: {error.path or 'a part of it'} is {safe_repr(error.found, 80)}, "
            f"and not {error.expected}."
        ) from error


def join_part(before: MemoryRecord | None, part: Part) -> MemoryRecord | None:
    """The memory after a run, from that before it; None if the part does not go on with that one."""
    added = part.added
    if before is None:
        return added if part.n_before == 0 else None
    last = before.requests[-1].run_id if before.requests else None
    if part.n_before != len(before.entries) or part.after != last:
        return None
    entries = list(before.entries)
    changes = list(before.changes)
    for change in added.changes:
        if change.revision <= before.revision:
            continue
        if change.index < len(entries):
            entry = entries[change.index]
            if change.field == "step":  # the very step that the run before has
                change = dataclasses.replace(change, old=entry.step)  # noqa: PLW2901 - the same change
            entries[change.index] = dataclasses.replace(entry, **{change.field: change.new})
        changes.append(change)
    newest = before.system_prompts[-1][0]
    return MemoryRecord(
        system_prompts=[
            *before.system_prompts,
            *(prompt for prompt in added.system_prompts if prompt[0] > newest),
        ],
        entries=[*entries, *added.entries],
        changes=changes,
        undoable=added.undoable,
        requests=[*before.requests, *added.requests],
        revision=max(added.revision, before.revision),
    )


def read_record(memory: Growing) -> MemoryRecord:
    """All that a memory holds now."""
    with memory._lock:
        return MemoryRecord(
            system_prompts=tuple(memory._system_prompts),
            entries=[to_entry_record(entry) for entry in memory._entries],
            changes=tuple(memory._changes),
            undoable=tuple(memory._undoable),
            requests=tuple(memory._requests),
            revision=memory._revision,
        )


def find_steps(
    form: Json, entries: Iterable[_HasStep], changes: Iterable[MemoryChange]
) -> Callable[[int], RunStep | None]:
    """Gives the steps of a written memory by their places: the objects that were read of it.

    Args:
        form: The memory, written.
        entries: Those that were read of it.
        changes: Likewise.
    """
    steps: dict[int, RunStep] = {}
    for place, entry in zip(form["entries"], entries, strict=False):
        steps[place["step"] if type(place) is dict else place] = entry.step
    for written, change in zip(form["changes"], changes, strict=False):
        if change.field == "step":
            steps[written["old"]], steps[written["new"]] = change.old, change.new
    forms, reader = form["steps"], ValueReader(LazyImages(form["images"]))

    def find(place: int) -> RunStep | None:
        if place not in steps and place < len(forms):  # one that no entry has any more
            try:
                steps[place] = read_step(forms[place], reader)
            except UnreadableError:
                return None
        return steps.get(place)

    return find


def originals(entries: Sequence[_HasStep], changes: Iterable[MemoryChange]) -> list[RunStep]:
    """The steps of a memory as they were made."""
    steps = [entry.step for entry in entries]
    for change in reversed(list(changes)):
        if change.field == "step" and change.index < len(steps):
            steps[change.index] = change.old
    return steps


def _read_part(form: Value) -> Part:
    check_keys(form, _PART)
    if form.get("format") != FORMAT:
        raise UnreadableError(form.get("format"), repr(FORMAT), "format")
    if form.get("version") != VERSION:
        raise UnreadableError(form.get("version"), str(VERSION), "version")
    n_before = read_count(form, "n_before")
    memory = cast("Json", form.get("memory"))
    added = read_memory(memory, n_before=n_before)
    find = find_steps(memory, added.entries, added.changes)
    try:
        result = read_run(form.get("run"), by_place(find), ValueReader(LazyImages(memory["images"])))
    except UnreadableError as error:
        raise error.within("run") from error.__cause__
    return Part(
        result=result,
        n_before=n_before,
        after=read_name(form, "after"),
        added=added,
    )


def _find_start(whole: MemoryRecord, result: RunResult) -> int | None:
    if not result.steps:
        return None
    first = result.steps[0]
    steps = originals(whole.entries, whole.changes)
    return next((place for place in range(len(steps) - 1, -1, -1) if steps[place] is first), None)


_PART = frozenset({"format", "version", "n_before", "after", "run", "memory"})
