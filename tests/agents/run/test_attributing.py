"""Whose a change of the namespace is, where several steps work on it at once."""

from __future__ import annotations

import threading
from typing import Any

from agents.checking import PATIENCE_S, eventually
from inline_snapshot import snapshot

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.run.attributing import Maker, Watch
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.changes import ABSENT
from agent_magic.core.result import RunResult
from agent_magic.core.state import NamespaceState
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final


def maker(name: str, *above: str, code: str | None = None) -> Maker:
    return Maker(name=name, run_ids=(name, *above), code=code)


def told(watch: Watch) -> list[str]:
    watch.end()
    return [str(change) for change in watch.changes()]


def test_change_of_code_is_told_by_it_alone() -> None:
    names: dict[str, Any] = {"rows": [1]}
    state = NamespaceState(names)
    one = Watch(state, maker("one", code="x = 1\nnap()\nrows.append(2)"))
    names["x"] = 1
    one.leave()
    two = Watch(NamespaceState(names), maker("two", code="y = 2"))  # another view of the same names
    names["y"] = 2
    assert told(two) == ["added y: int"]
    one.come_back()
    names["rows"].append(2)
    assert told(one) == snapshot(["changed in place rows: list, 1 → 2 items", "added x: int"])
    assert one.ends_of("x") == (ABSENT, 1)


def test_change_that_code_was_to_make_is_told_by_it_though_another_step_ends_before() -> None:
    names: dict[str, Any] = {}
    calling = Watch(NamespaceState(names), maker("calling"))
    code = Watch(NamespaceState(names), maker("code", code="x = 1\nwhile True: pass"))
    names["x"] = 1
    assert told(calling) == []
    assert told(code) == ["added x: int"]


def test_change_that_may_be_anothers_is_told_once_with_that_said() -> None:
    names: dict[str, Any] = {"a": 1, "rows": [1], "old": 2.0}
    calling = Watch(NamespaceState(names), maker("calling"))
    code = Watch(NamespaceState(names), maker("code", code="work()"))
    code.leave()
    names["made"] = 1
    names["a"] = "text"
    names["rows"].append(2)
    del names["old"]
    assert told(code) == snapshot(
        [
            "rebound a: another str, by this step or by calling, at work at the same time",
            "changed in place rows: list, 1 → 2 items; by this step or by calling, at work at the same time",
            "added made: int, by this step or by calling, at work at the same time",
            "deleted old: float, by this step or by calling, at work at the same time",
        ]
    )
    names["late"] = 1
    assert told(calling) == ["added late: int"]


def test_change_of_a_managed_agents_step_is_its_managers_too_without_a_doubt() -> None:
    names: dict[str, Any] = {}
    state = NamespaceState(names)
    boss = Watch(state, maker("boss"))
    child = Watch(state, maker("child", "boss", code="x = 1"))
    other = Watch(state, maker("other", "boss"))
    names["x"] = 1
    assert (told(child), told(other), told(boss)) == (["added x: int"], [], ["added x: int"])


def test_step_that_was_let_go_is_named_nowhere() -> None:
    names: dict[str, Any] = {}
    state = NamespaceState(names)
    watch = Watch(state, maker("gone"))
    del watch
    left = Watch(state, maker("left"))
    names["x"] = 1
    assert told(left) == ["added x: int"]


# -- runs -----------------------------------------------------------------------------------------


class Meeting:
    """A tool of one agent, and code of another that runs while it does."""

    def __init__(self) -> None:
        self.is_bound, self.let_go = threading.Event(), threading.Event()

    def nap(self) -> None:
        """Wait for the other's code."""
        self.is_bound.wait(PATIENCE_S)
        self.let_go.wait(PATIENCE_S)


def team(meeting: Meeting, state: NamespaceState, spinning: str) -> ToolCallingAgent:
    """Two agents that write code, side by side: one waits in a tool while the other's code runs."""
    children = [
        CodeAgent([meeting.nap], ScriptedModel([f"<code>{code}</code>"] * 9), name=name, state=state)
        for name, code in (("waiting", "va = 1\nnap()\nvb = 2\nfinal_answer(1)"), ("spinning", spinning))
    ]
    turn = calls(*((child.name, {"task": "go"}) for child in children))
    return ToolCallingAgent(
        managed_agents=children, model=ScriptedModel([turn, final(1)]), name="boss", state=state
    )


def changes_of(result: RunResult) -> dict[str, list[str]]:
    """By the agent, what its steps are said to have changed."""
    found = {"boss": [str(change) for step in result.actions for change in step.changes]}
    for call in result.actions[0].tool_results:
        steps = call.run.actions if call.run else ()
        found[call.call.name] = [str(change) for step in steps for change in step.changes]
    return found


def test_code_that_runs_while_anothers_tool_does_tells_its_own_changes_alone() -> None:
    meeting, names = Meeting(), dict[str, Any]()
    names["meet"] = lambda: (meeting.is_bound.set(), meeting.let_go.set())
    boss = team(meeting, NamespaceState(names), "vc = 3\nmeet()\nfinal_answer(2)")
    result = boss.run("go")
    assert changes_of(result) == {
        "boss": ["added va: int", "added vc: int", "added vb: int"],
        "waiting": ["added va: int", "added vb: int"],
        "spinning": ["added vc: int"],
    } or changes_of(result)["boss"] == ["added vc: int", "added va: int", "added vb: int"]
    assert [call.name for call in boss.blame("vc")[0].calls] == ["spinning"]


def test_names_that_code_is_lent_are_no_changes_when_it_is_interrupted() -> None:
    meeting, names = Meeting(), dict[str, Any]()
    names["meet"] = meeting.is_bound.set
    names["nap"] = meeting.nap
    boss = team(meeting, NamespaceState(names), "vc = 3\nmeet()\nwhile True: pass")

    def interrupt() -> None:
        meeting.is_bound.wait(PATIENCE_S)
        boss.interrupt("Enough.")
        meeting.let_go.set()

    threading.Thread(target=interrupt).start()
    result = boss.run("go")
    assert result.status == "interrupted"
    changes = changes_of(result)
    assert changes["spinning"] == ["added vc: int"]
    assert set(changes["boss"]) <= {"added va: int", "added vc: int", "added vb: int"}
    assert eventually(lambda: "final_answer" not in names)
    undone = boss.undo()
    assert undone.kept == ()
    assert not {"va", "vc"} & names.keys()
