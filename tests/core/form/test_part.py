"""Runs written one by one, and joined to the memory they shared."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic import ScriptedModel, ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.form.memory import MemoryRecord, write_memory
from agent_magic.core.form.part import join_part, read_part, write_part
from agent_magic.core.memory import AgentMemory


def look(place: str) -> str:
    """Look at a place.

    Args:
        place: where.
    """
    return f"nothing in {place}"


def _agent(n_runs: int, **options: Any) -> ToolCallingAgent:
    replies: list[Any] = []
    for number in range(n_runs):
        replies += [ScriptedModel.calls(("look", {"place": f"place {number}"})), ScriptedModel.final(number)]
    return ToolCallingAgent(tools=[look], model=ScriptedModel(replies), **options)


def _run(agent: ToolCallingAgent, task: str) -> Any:
    """A run, and the part that it leaves."""
    result = agent.run(task, reset=False)
    return json.loads(json.dumps(write_part(agent.memory, result), allow_nan=False))


def _join(forms: list[Any]) -> AgentMemory | None:
    record: MemoryRecord | None = None
    for form in forms:
        record = join_part(record, read_part(form))
        if record is None:
            return None
    assert record is not None
    return AgentMemory.from_dict(write_memory(record))


def test_parts_of_several_runs_are_the_memory_they_shared() -> None:
    agent = _agent(4)
    forms: list[Any] = []
    for number in range(4):
        forms.append(_run(agent, f"Task {number}"))
        agent.memory.edit(1, observations=f"edited after run {number}")
        agent.memory.set_view(-2, "summary")
        agent.memory.set_pinned(0, number % 2 == 0)
    agent.memory.undo()
    agent.memory.undo()
    agent.memory.undo()  # what was done after the last part was written is not in it
    again = _join(forms)
    assert again is not None
    assert [e.step for e in again.entries] == [e.step for e in agent.memory.entries]
    assert [(e.view, e.is_pinned) for e in again.entries] == [
        (e.view, e.is_pinned) for e in agent.memory.entries
    ]
    assert again.requests == agent.memory.requests
    assert all(again.is_rebuilt_exactly(request) for request in again.requests)
    assert again.to_messages() == agent.memory.to_messages()


def test_part_comes_back_with_its_result() -> None:
    agent = _agent(2)
    _run(agent, "First")
    part = read_part(_run(agent, "Second"))
    assert part.result == agent.result
    assert (part.n_before, part.after) == (4, agent.runs[0].run_id)
    assert len(part.added.entries) == 4


def test_size_of_a_part_does_not_grow_with_the_runs_before() -> None:
    agent = _agent(30)
    sizes = [len(json.dumps(_run(agent, "Again"))) for _ in range(30)]
    assert 1_000 < sizes[-1] < 1.1 * sizes[1]


def test_part_does_not_join_what_it_does_not_go_on_with() -> None:
    agent = _agent(3)
    forms = [_run(agent, f"Task {n}") for n in range(3)]
    assert _join([forms[0], forms[2]]) is None
    assert _join(forms[1:]) is None


def test_part_of_a_run_whose_task_is_not_there_is_none() -> None:
    agent = _agent(1)
    result = agent.run("Task")
    assert write_part(AgentMemory(), result) is None


@pytest.mark.parametrize(
    "form",
    [None, {}, {"format": "agent_magic.run", "version": 9}, {"format": "agent_magic.run", "version": 1}],
)
def test_part_that_nobody_wrote_is_refused(form: Any) -> None:
    with pytest.raises(OptionError):
        read_part(form)


def test_refusal_of_a_part_says_what_is_wrong() -> None:
    agent = _agent(1)
    form = _run(agent, "Task")
    form["run"]["status"] = "fine"
    with pytest.raises(OptionError) as caught:
        read_part(form)
    assert caught.value.message == snapshot(
        "This run cannot be read: run.status is 'fine', and not one of answered, max_steps, interrupted, failed, budget."
    )
