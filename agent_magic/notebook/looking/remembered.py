"""What an agent remembers, run by run: its steps as they count now, and what was laid upon them.

It must not change the memory.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import RunStep
from agent_magic.record.laid_on import laid_on_at, places_of
from agent_magic.record.run import to_record
from agent_magic.record.schema import LaidOnRecord
from agent_magic.view.bundle import to_bundle

Bundle = dict[str, Any]


def remembered(agent: MultiStepAgent) -> tuple[list[Bundle], int]:
    """Each run that is remembered, as a bundle to display, and how many steps were dropped."""
    memory = agent.memory
    places = places_of(memory)
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
        laid_on[place] = laid_on_at(memory, index)
    return to_bundle(to_record(dataclasses.replace(result, steps=tuple(now)), laid_on=laid_on))
