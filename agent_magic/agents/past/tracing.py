"""Blame: which run and step last changed a variable, and by which calls.

It must not guess: what no step was seen to change is not told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent_magic.core.changes import NameChange
from agent_magic.core.messages import ToolCall
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """One change of a variable by a step."""

    run_id: str
    task: str
    step_number: int
    change: NameChange
    calls: tuple[ToolCall, ...]
    """All calls of that step, for which of several tools did it is not known; of managed agents, those whose own steps did it."""


def blame(name: str, results: Iterable[RunResult]) -> tuple[Blame, ...]:
    """The changes of a variable in these runs, newest first."""
    found = [
        Blame(
            run_id=result.run_id,
            task=result.task,
            step_number=step.step_number,
            change=change,
            calls=_makers(step, name),
        )
        for result in results
        for step in result.actions
        for change in step.changes
        if change.name == name
    ]
    return tuple(reversed(found))


def _makers(step: ActionStep, name: str) -> tuple[ToolCall, ...]:
    made = tuple(
        result.call
        for result in step.tool_results
        if result.run is not None
        and any(change.name == name for inner in result.run.actions for change in inner.changes)
    )
    return made or step.tool_calls
