"""Going on from what was loaded: which memory and results an agent takes up, and what is missing in them.

It must not start a run, nor read a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent_magic.core.errors import OptionError
from agent_magic.core.form.value import RecordedValue
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.state import AgentState
from agent_magic.core.steps import ActionStep, TaskStep
from agent_magic.core.values import Value, safe_repr
from agent_magic.record.laid_on import places_of
from agent_magic.record.saved import SavedRuns

_KEPT = re.compile(r"obs_[1-9][0-9]{0,8}")
_SHOWN_NAMES = 10


def find_memory(saved: Value, own_name: str, name: str | None) -> AgentMemory:
    """The memory that an agent takes up.

    Args:
        own_name: Of the agent.
        name: Of the agent that had it; None for the one of its own name, or the only one.

    Raises:
        OptionError: There is none, or it is not clear which.
    """
    if not isinstance(saved, SavedRuns):
        raise OptionError(
            f"What is taken up are the runs of a file, and not {safe_repr(saved, 80)}. "
            f"Write {own_name}.take_up(agent_magic.load(path))."
        )
    if name is not None:
        return saved.memory_of(name)
    if own_name in saved.memories:
        return saved.memories[own_name]
    if len(saved.memories) < 2:
        return saved.memory
    names = ", ".join(map(repr, saved.agents))
    raise OptionError(
        f"{saved.source} holds several agents and none is named {own_name!r}: {names}. "
        f"Say which: {own_name}.take_up(saved, {saved.agents[-1]!r})."
    )


def results_in(memory: AgentMemory, runs: Sequence[RunResult]) -> list[RunResult]:
    """Those of the runs whose steps are in the memory."""
    places = places_of(memory)
    return [run for run in runs if any(id(step) in places for step in run.steps)]


def restore_names(memory: AgentMemory, state: AgentState) -> list[str]:
    """Put back what a memory tells a model to look into, the `obs_N`; gives those whose values are lost."""
    lost: list[str] = []
    for name, whole in _kept_in(memory).items():
        if isinstance(whole, RecordedValue):
            state.lose(name)
            lost.append(name)
        else:
            state.restore(name, whole)
    return lost


def open_names(memory: AgentMemory, state: AgentState) -> list[str]:
    """Open what the runs had open: variables of tasks and of results; gives those that are not there now."""
    names = dict.fromkeys(_names_in(memory))
    for name in names:
        state.lose(name)
        state.open(name)
    return [name for name in names if state.is_lost(name)]


def tell_missing(source: str, kept: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """What the person should know of names that are lost."""
    if kept:
        yield (
            f"{_join(kept)}: too large for {source}, which has the beginning and the end of it. The agent is "
            "told so when it looks there; it can make the call again."
        )
    if names:
        yield (
            f"{_join(names)}: no such variable here now. Run the cells that made what is yours; what a tool "
            "gave is made anew by another call."
        )


def _kept_in(memory: AgentMemory) -> dict[str, Value]:
    """By the `obs_N` that a model is told of; a file may name anything, and hides no variable by it."""
    kept: dict[str, Value] = {}
    for entry in memory.entries:
        if not isinstance(entry.step, ActionStep):
            continue
        for result in entry.step.tool_results:
            if name := entry.kept.get(result.call.id):
                kept[name] = result.observation
            if result.kept_as:
                kept[result.kept_as] = result.printed if entry.step.is_code else result.output
    return {name: value for name, value in kept.items() if _KEPT.fullmatch(name)}


def _names_in(memory: AgentMemory) -> Iterator[str]:
    for step in memory.steps:
        if isinstance(step, TaskStep):
            yield from (variable.name for variable in step.variables)
        elif isinstance(step, ActionStep):
            yield from (result.bound_to for result in step.tool_results if result.bound_to)


def _join(names: Sequence[str]) -> str:
    left_out = f" and {len(names) - _SHOWN_NAMES:,} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + left_out
