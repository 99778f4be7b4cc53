"""Tools whose author wants the person's word for every call, whatever the agent's `approve` says."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from agents.answering import answering, approve, only
from agents.checking import add, agent_of, assert_usable, told
from inline_snapshot import snapshot

from agent_magic import CodeAgent
from agent_magic.core.events import Waiting
from agent_magic.core.messages import ToolCall
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.decorator import tool
from agent_magic.tools.tool import Tool

calls, final = ScriptedModel.calls, ScriptedModel.final


def _deleting() -> tuple[list[str], Any]:
    gone: list[str] = []

    @tool(approve=True)
    def delete(name: str) -> str:
        """Delete a file.

        Args:
            name: which one
        """
        gone.append(name)
        return f"deleted {name}"

    return gone, delete


def _code_agent(code: str, *tools: Any, **settings: Any) -> CodeAgent:
    blocks = [f"<code>\n{text}\n</code>" for text in (code, "final_answer(1)")]
    return CodeAgent(model=ScriptedModel(blocks), tools=tools, **settings)


def test_call_waits_for_the_person_though_the_agent_asks_of_none() -> None:
    gone, delete = _deleting()
    agent = agent_of([calls(("delete", {"name": "a"}), ("add", {"a": 1, "b": 2})), final(1)], delete, add)
    with answering(agent, partial(approve, agent)) as raised:
        events = list(agent.stream("go"))
    assert not raised
    # Of the other call nobody is asked.
    (question,) = [event.question for event in events if isinstance(event, Waiting)]
    assert question is not None
    assert only(question).name == "delete"
    assert told(agent.result)[0] == "deleted a\n\n3"
    assert gone == ["a"]


def test_refused_call_is_not_made() -> None:
    gone, delete = _deleting()
    agent = agent_of([calls(("delete", {"name": "a"})), final(1)], delete)
    with answering(agent, lambda question: agent.approvals.answer(only(question).id, "reject", reason="No.")):
        result = agent.run("go")
    assert gone == []
    assert told(result)[0].startswith("The person refused this call: No. delete was not run.")
    assert_usable(agent)


def test_edited_call_is_made_as_the_person_wrote_it() -> None:
    gone, delete = _deleting()
    agent = agent_of([calls(("delete", {"name": "a"})), final(1)], delete)
    with answering(
        agent,
        lambda question: agent.approvals.answer(only(question).id, "edit", arguments={"name": "b"}),
    ):
        agent.run("go")
    assert gone == ["b"]


@pytest.mark.parametrize("mode", ["tools", "code"])
def test_run_fails_where_nobody_can_answer(mode: str) -> None:
    gone, delete = _deleting()
    agent = (
        agent_of([calls(("delete", {"name": "a"})), final(1)], delete)
        if mode == "tools"
        else _code_agent("delete('a')", delete)
    )
    result = agent.run("go")
    assert (result.status, gone) == ("failed", [])
    assert result.error is not None
    assert result.error.message == snapshot(
        "delete waits for a person's word at every call (approve=True), and nobody can answer here. Answer from another thread inside `with agent.approvals.attended():` by agent.approvals.answer(…), or run without delete."
    )


def test_approve_call_does_not_stand_in_for_the_person() -> None:
    gone, delete = _deleting()
    seen: list[ToolCall] = []
    agent = agent_of([calls(("delete", {"name": "a"})), final(1)], delete, approve_call=seen.append)
    result = agent.run("go")
    assert (result.status, gone, [call.name for call in seen]) == ("failed", [], ["delete"])


@pytest.mark.parametrize("policy", ["never", "code", "all"])
def test_call_in_code_waits_for_the_person_under_every_policy(policy: str) -> None:
    gone, delete = _deleting()
    agent = _code_agent("print(delete('a'), add(1, 2))", delete, add, approve=policy)
    asked: list[Any] = []

    def answer(question: Any) -> None:
        item = only(question)
        asked.append(json.loads(json.dumps(item.call.arguments)))
        approve(agent, question)

    of_code = [answer] if policy != "never" else []
    with answering(agent, *of_code, answer, *of_code) as raised:
        result = agent.run("go")
    assert not raised
    assert result.status == "answered"
    assert gone == ["a"]
    assert {"name": "a"} in asked
    assert len(asked) == 1 + 2 * len(of_code)


def test_class_form_is_asked_of_too() -> None:
    class Delete(Tool):
        name = "delete"
        description = "Delete all."
        inputs: dict[str, Any] = {}  # noqa: RUF012 - as people write it
        output_type = "string"
        approve = True

        def forward(self) -> str:
            return "gone"

    agent = agent_of([calls(("delete", {})), final(1)], Delete())
    with answering(agent, partial(approve, agent)) as raised:
        assert told(agent.run("go"))[0] == "gone"
    assert not raised
