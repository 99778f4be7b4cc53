"""Undo: what steps made of names is taken back, and what cannot be is said."""

from __future__ import annotations

from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.state import DictState
from agent_magic.models.scripted import ScriptedModel


def agent_of(held: dict[str, Any], *blocks: str, **options: Any) -> CodeAgent:
    model = ScriptedModel([f"<code>\n{block}\n</code>" for block in blocks])
    return CodeAgent(model=model, state=DictState(held), **options)


def names(agent: CodeAgent) -> dict[str, Any]:
    return {name: agent.state.base[name] for name in agent.state.base if name != "__builtins__"}


def test_undo_of_a_step_deletes_what_it_made() -> None:
    agent = agent_of({"df": 1}, "a = 1", "b = 2\nc = 3", "final_answer(a)")
    agent.run("make")
    undone = agent.undo(2)
    assert names(agent) == {"df": 1, "a": 1}
    assert str(undone) == snapshot("""\
b is gone: step 2 had made it (int)
c is gone: step 2 had made it (int)\
""")


def test_undo_of_a_run_goes_from_the_newest_step_to_the_oldest() -> None:
    agent = agent_of({"x": 1}, "x = 2\ny = 1", "x = 3\ndel y", "final_answer(x)", writes="all")
    agent.run("make")
    undone = agent.undo()
    assert names(agent) == {"x": 1}
    assert str(undone) == snapshot("""\
x is what it was before step 2 (int)
y is back (int): step 2 had deleted it
x is what it was before step 1 (int)
y is gone: step 1 had made it (int)\
""")


def test_undo_gives_back_the_very_object() -> None:
    held = {"thing": object()}
    thing = held["thing"]
    agent = agent_of(held, "del thing", "final_answer(0)", writes="all")
    agent.run("delete")
    agent.undo(1)
    assert agent.state["thing"] is thing


def test_undo_leaves_what_was_changed_since() -> None:
    agent = agent_of({}, "a = 1\nb = 2", "final_answer(0)")
    agent.run("make")
    agent.state.base.bind("a", "the person's")
    undone = agent.undo()
    assert names(agent) == {"a": "the person's"}
    assert undone.kept == snapshot(("a stays as it is: it was changed after step 1",))


def test_undo_says_what_was_changed_in_place() -> None:
    agent = agent_of({}, "rows = [1]", "rows.append(2)", "final_answer(0)")
    agent.run("make")
    undone = agent.undo(2)
    assert names(agent) == {"rows": [1, 2]}
    assert str(undone) == snapshot(
        "rows stays as it is: step 2 changed it in place (1 → 2 items), and no copy is kept"
    )


def test_undo_is_done_once() -> None:
    agent = agent_of({}, "a = 1", "final_answer(0)")
    agent.run("make")
    agent.undo(1)
    with pytest.raises(OptionError) as refused:
        agent.undo(1)
    assert str(refused.value) == snapshot(
        "That run changed no name that could be taken back, or it was taken back already, or the kernel was restarted since."
    )


@pytest.mark.parametrize("is_undone", [False, True])
def test_undo_of_an_unknown_step_names_the_steps_that_there_are(is_undone: bool) -> None:
    agent = agent_of({}, "a = 1", "print(a)", "final_answer(0)")
    agent.run("make")
    if is_undone:
        agent.undo()
    with pytest.raises(OptionError) as refused:
        agent.undo(77)
    assert str(refused.value) == snapshot(
        "There is no step 77 in that run. Its steps: 1 to 3. Give one of these, or none for the whole run."
    )


def test_undo_of_an_unknown_step_of_a_resumed_run_names_those_of_both() -> None:
    agent = agent_of({}, "a = 1", "b = 1", "final_answer(0)", max_steps=1)
    agent.run("make")
    agent.resume(max_steps=2)
    with pytest.raises(OptionError) as refused:
        agent.undo(77)
    assert str(refused.value) == snapshot(
        "There is no step 77 in that run. Its steps: 1, 2. Give one of these, or none for the whole run."
    )


def test_undo_of_a_step_that_changed_nothing_names_those_that_changed_something() -> None:
    agent = agent_of({}, "a = 1", "print(a)", "b = 1", "final_answer(0)")
    agent.run("make")
    with pytest.raises(OptionError) as refused:
        agent.undo(2)
    assert str(refused.value) == snapshot(
        "Step 2 changed no name, or it was taken back already. Steps that can be: 1, 3. Give one of these, or none for the whole run."
    )


def test_undo_without_a_run_is_refused() -> None:
    with pytest.raises(OptionError) as refused:
        agent_of({}).undo()
    assert str(refused.value) == snapshot("There is no run whose changes could be taken back.")


def test_model_is_told_of_an_undo_with_the_next_task_once() -> None:
    agent = agent_of({}, "a = 1", "final_answer(0)", "final_answer(1)", "final_answer(2)")
    agent.run("make")
    agent.undo()
    agent.run("again", reset=False)
    agent.run("and again", reset=False)
    tasks = [message["content"] for message in agent.model.requests[-1].messages if message["role"] == "user"]  # type: ignore[attr-defined]
    assert [task for task in tasks if not task.startswith("Observation")] == snapshot(
        [
            "make",
            """\
again

The person has taken back what earlier steps made:
- a is gone: step 1 had made it (int)\
""",
            "and again",
        ]
    )
    again = AgentMemory.from_dict(agent.memory.to_dict())
    assert [step.to_messages() for step in again.steps] == [step.to_messages() for step in agent.memory.steps]


def test_undo_takes_back_the_results_that_tool_calls_bound() -> None:
    def table() -> object:
        """Make a table."""
        return object()

    state = DictState()
    agent = ToolCallingAgent(
        tools=[table],
        model=ScriptedModel([ScriptedModel.calls(("table", {})), ScriptedModel.final(1)]),
        state=state,
    )
    agent.run("make")
    assert list(state) == ["table_1"]
    agent.undo(1)
    assert list(state) == []


def test_undo_of_a_run_that_made_a_name_and_changed_it_in_place_says_one_thing() -> None:
    agent = agent_of({}, "rows = [1]", "rows.append(2)", "final_answer(0)")
    agent.run("make")
    assert str(agent.undo()) == snapshot("rows is gone: step 1 had made it (list, 1 item)")
    assert names(agent) == {}


def test_undo_after_a_resumed_run_reaches_what_the_run_before_it_made() -> None:
    agent = agent_of({}, "made = 1", "print(made)", "final_answer(made)", max_steps=1)
    agent.run("make")
    assert agent.resume(max_steps=2).value == 1
    assert str(agent.undo()) == "made is gone: step 1 had made it (int)"
    assert names(agent) == {}
