"""What an agent remembers, run by run: its steps as they count now, and what was laid upon them.

It must not change the memory.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.entry import Entry
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import RunStep
from agent_magic.record.notes import to_laid_on
from agent_magic.record.run import to_record
from agent_magic.record.schema import LaidOnRecord
from agent_magic.view.bundle import to_bundle

Bundle = dict[str, Any]


def remembered(agent: MultiStepAgent) -> tuple[list[Bundle], int]:
    """Each run that is remembered, as a bundle to display, and how many steps were dropped."""
    memory = agent.memory
    places = _places(memory)
    bundles: list[Bundle] = []
    n_dropped = 0
    for result in agent.runs:
        steps = [(step, places.get(id(step))) for step in result.steps]
        kept = [(step, at) for step, at in steps if at is None or not memory.entries[at].is_dropped]
        n_dropped += len(steps) - len(kept)
        if kept:
            bundles.append(_bundle(result, kept, memory))
    return bundles, n_dropped


def _bundle(result: RunResult, steps: list[tuple[RunStep, int | None]], memory: AgentMemory) -> Bundle:
    laid_on: dict[int, LaidOnRecord | None] = {}
    now: list[RunStep] = []
    for place, (step, index) in enumerate(steps):
        if index is None:
            now.append(step)
            continue
        entry = memory.entries[index]
        now.append(entry.step)
        laid_on[place] = _laid_on(entry, index, memory)
    return to_bundle(to_record(dataclasses.replace(result, steps=tuple(now)), laid_on=laid_on))


def _laid_on(entry: Entry, index: int, memory: AgentMemory) -> LaidOnRecord | None:
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


def _places(memory: AgentMemory) -> dict[int, int]:
    """The place among the entries of each step, by the id of the step as it was made."""
    places = {id(entry.step): place for place, entry in enumerate(memory.entries)}
    for change in memory.edits:
        if change.field == "step":
            places[id(change.old)] = change.index
    return places
