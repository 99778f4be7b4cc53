"""What is laid upon the steps of a memory, as records; and each step as it counts now.

It must not change the memory.
"""

from __future__ import annotations

import dataclasses

from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.record.notes import to_laid_on
from agent_magic.record.schema import LaidOnRecord


def laid_on_at(memory: AgentMemory, index: int) -> LaidOnRecord | None:
    """What is laid upon the step at `index` of the memory's entries; None if nothing is."""
    entry = memory.entries[index]
    edits = [change for change in memory.edits if change.index == index and change.field == "step"]
    # An edit that was undone is none.
    last = edits[-1] if edits and edits[0].old is not entry.step else None
    return to_laid_on(
        form=entry.form,
        view=entry.view,
        is_pinned=entry.is_pinned,
        edited_by=last.by if last else None,
        edited_at=last.at if last else None,
    )


def places_of(memory: AgentMemory) -> dict[int, int]:
    """The place among the entries of each step, by the id of the step as it was made."""
    places = {id(entry.step): place for place, entry in enumerate(memory.entries)}
    for change in memory.edits:
        if change.field == "step":
            places[id(change.old)] = change.index
    return places


def as_it_counts(
    memory: AgentMemory | None, result: RunResult
) -> tuple[RunResult, dict[int, LaidOnRecord | None]]:
    """A result with its steps as they were edited, and what is laid upon them by their place in it."""
    if memory is None:
        return result, {}
    places = places_of(memory)
    found = [(place, step, places.get(id(step))) for place, step in enumerate(result.steps)]
    steps = tuple(step if at is None else memory.entries[at].step for _, step, at in found)
    laid_on = {place: laid_on_at(memory, at) for place, _, at in found if at is not None}
    return dataclasses.replace(result, steps=steps), laid_on
