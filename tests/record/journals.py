"""Runs with a journal, for the tests of this room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_magic import ScriptedModel, ToolCallingAgent
from agent_magic.core.events import Event, RunStarted
from agent_magic.core.result import RunResult
from agent_magic.record.journal import Journal

CALLS = ScriptedModel.calls
FINAL = ScriptedModel.final


def look(place: str, n: int = 1) -> Any:
    """Look at a place.

    Args:
        place: where.
        n: how often.
    """
    return {"place": place, "seen": [n, n / 7, None, True]}


def count(place: str) -> int:
    """Count what is there.

    Args:
        place: where.
    """
    return len(place)


def make_agent(*replies: Any, name: str = "analyst", **options: Any) -> ToolCallingAgent:
    options.setdefault("tools", [look, count])
    return ToolCallingAgent(model=ScriptedModel(replies), name=name, **options)


def journaled(
    agent: ToolCallingAgent, events: Iterator[Event], beside: Path | None, after: Journal | None = None
) -> tuple[Journal, RunResult]:
    """Take a run to its end as a notebook does, with a journal."""
    journal: Journal | None = None
    for event in events:
        if isinstance(event, RunStarted):
            journal = Journal.open(
                agent_name=event.agent_name, run_id=event.run_id, beside=beside, after=after
            )
        assert journal is not None
        journal.add(event, agent.memory)
    assert journal is not None
    assert agent.result is not None
    journal.close(agent.result, agent.memory)
    return journal, agent.result


def run_journaled(
    agent: ToolCallingAgent, task: str, beside: Path | None, after: Journal | None = None
) -> tuple[Journal, RunResult]:
    """One more task for the agent."""
    return journaled(agent, agent.stream(task, reset=False), beside, after)
