"""What each step changed in the namespace, and which step last changed a variable."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from agents.checking import add, agent_of
from inline_snapshot import snapshot

from agent_magic.agents.past.tracing import Blame
from agent_magic.core.state import DictState
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final


def _tools(state: DictState) -> list[Any]:
    def make(name: str) -> str:
        """Make a frame under a name."""
        state[name] = pd.DataFrame({"a": [1, 2]})
        return "made"

    def widen(name: str) -> str:
        """Add a column to a frame, in place."""
        state[name]["b"] = 0.5
        return "widened"

    def replace(name: str) -> str:
        """Put a list in the place of a variable."""
        state[name] = [1, 2, 3]
        return "replaced"

    def delete(name: str) -> str:
        """Delete a variable."""
        del state[name]
        return "deleted"

    def frame() -> pd.DataFrame:
        """A frame."""
        return pd.DataFrame({"x": range(4)})

    def fail(name: str) -> str:
        """Change something and fail."""
        state[name] = 1
        raise ValueError("no more")

    return [make, widen, replace, delete, frame, fail, add]


def _changes(script: list[Any], state: DictState) -> list[list[str]]:
    agent = agent_of([*script, final("done")], *_tools(state), state=state)
    return [[str(change) for change in step.changes] for step in agent.run("Change things.").actions]


def test_changes_of_each_step_are_told() -> None:
    state = DictState(old=pd.DataFrame({"a": [1]}), n=3)
    script = [calls((tool, {"name": "t"})) for tool in ("make", "widen", "replace", "delete")]
    script += [calls(("add", {"a": 1, "b": 2})), calls(("widen", {"name": "old"}))]
    assert _changes(script, state) == snapshot(
        [
            ["added t: DataFrame, 2 rows × 1 column"],
            ["changed in place t: DataFrame, columns + b"],
            ["rebound t: DataFrame, 2 rows × 2 columns → list, 3 items"],
            ["deleted t: list, 3 items"],
            [],
            ["changed in place old: DataFrame, columns + b"],
            [],
        ]
    )


def test_result_that_is_bound_for_the_model_is_added() -> None:
    assert _changes([calls(("frame", {}))], DictState()) == snapshot(
        [["added frame_1: DataFrame, 4 rows × 1 column"], []]
    )


def test_calls_side_by_side_are_seen_together() -> None:
    script = [calls(("make", {"name": "p"}), ("make", {"name": "q"}), ("add", {"a": 1, "b": 1}))]
    (first, _) = _changes(script, DictState())
    assert sorted(first) == snapshot(
        ["added p: DataFrame, 2 rows × 1 column", "added q: DataFrame, 2 rows × 1 column"]
    )


def test_change_of_a_tool_that_failed_is_told() -> None:
    assert _changes([calls(("fail", {"name": "v"}))], DictState()) == snapshot([["added v: int"], []])


def test_change_of_a_tool_that_was_interrupted_is_told() -> None:
    state = DictState()

    def stop() -> None:
        """Change something and stop."""
        state["v"] = 1
        raise KeyboardInterrupt

    agent = agent_of([calls(("stop", {}))], stop, state=state)
    with pytest.raises(KeyboardInterrupt):
        agent.run("Stop.")
    assert agent.result is not None
    assert [str(change) for change in agent.result.actions[0].changes] == ["added v: int"]


def test_step_without_a_call_changes_nothing() -> None:
    assert _changes(["I do not know.", calls(("unknown", {}))], DictState(n=1)) == [[], [], []]


def test_blame_tells_the_newest_change_first() -> None:
    state = DictState(t=0)
    agent = agent_of([], *_tools(state), state=state)
    agent.model = ScriptedModel([calls(("make", {"name": "t"})), calls(("widen", {"name": "t"})), final(1)])
    first = agent.run("Make it.")
    agent.model = ScriptedModel([calls(("replace", {"name": "t"}), ("make", {"name": "u"})), final(2)])
    second = agent.run("Replace it.", reset=False)
    found = agent.blame("t")
    assert [(one.run_id, one.task, one.step_number, one.change.kind) for one in found] == [
        (second.run_id, "Replace it.", 1, "rebound"),
        (first.run_id, "Make it.", 2, "mutated"),
        (first.run_id, "Make it.", 1, "rebound"),
    ]
    assert [call.name for call in found[0].calls] == ["replace", "make"]
    assert all(isinstance(one, Blame) for one in found)
    assert agent.blame("nowhere") == ()


def test_blame_of_a_resumed_run_names_the_first_task_and_the_step_that_went_on() -> None:
    state = DictState()
    agent = agent_of([calls(("make", {"name": "t"})), ValueError("gone")], *_tools(state), state=state)
    agent.run("Make it.")
    agent.model = ScriptedModel([calls(("widen", {"name": "t"})), final(1)])
    agent.resume()
    assert [(one.task, one.step_number, one.change.kind) for one in agent.blame("t")] == [
        ("Make it.", 3, "mutated"),
        ("Make it.", 1, "added"),
    ]
