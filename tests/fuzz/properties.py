"""What holds of a real agent whatever its model replies.

It must not know how a reply was made.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Literal

from fuzz.mutations import ANSWERS, Case

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel
from agent_magic.record.draft import RunDraft
from agent_magic.tools.callable_tool import tool_from
from agent_magic.view.bundle import to_bundle

MAX_ERROR = 4_000
MAX_CPU_S = 2.0
"""Of one run, beside which a machine's other work does not count."""
STEP_TIMEOUT_S = 5.0
RECOVERED = "recovered"
_ROWS = [1, 2, 3]


class Tools:
    """Harmless tools that count how often their bodies are entered."""

    def __init__(self) -> None:
        self.entered: list[str] = []

    def add(self, a: int, b: int) -> int:
        """Add two whole numbers.

        Args:
            a: first number
            b: second number
        """
        self.entered.append("add")
        return a + b

    def echo(self, text: str) -> str:
        """Return the text.

        Args:
            text: any text
        """
        self.entered.append("echo")
        return text

    def pick(self, colour: Literal["red", "blue"] = "red", sizes: list[int] | None = None) -> str:
        """Pick a thing.

        Args:
            colour: a colour
            sizes: sizes to look at
        """
        self.entered.append("pick")
        return f"{colour}: {sizes}"

    def count(self, values: list[Any]) -> dict[str, Any]:
        """Count values.

        Args:
            values: what to count
        """
        self.entered.append("count")
        return {"n": len(values), "values": values}

    def boom(self) -> str:
        """Always fail."""
        self.entered.append("boom")
        raise ValueError("boom failed")

    def now(self) -> set[int]:
        """Give an object that JSON cannot hold."""
        self.entered.append("now")
        return {1, 2}

    def all(self) -> list[Any]:
        return [self.add, self.echo, self.pick, self.count, self.boom, self.now]


_TOOLS = Tools()
_MADE = [tool_from(tool) for tool in _TOOLS.all()]
"""Made once: that takes longer than a run."""


def check_run(case: Case) -> str:
    """Let an agent run on these replies, closed by plain answers; the status that it ended with.

    Raises:
        AssertionError: Something does not hold.
        BaseException: Whatever escaped from the agent.
    """
    answer = ANSWERS.get(case.answer_type, RECOVERED)
    closing = (
        f"<code>\nfinal_answer({answer!r})\n</code>" if case.kind == "code" else ScriptedModel.final(answer)
    )
    model = ScriptedModel(
        [*case.replies * case.n_times, *[closing] * 9],
        capabilities=Capabilities(tools=case.calls_natively),
        stream_pieces=case.n_pieces,
    )
    agent = agent_for(case, model)
    _TOOLS.entered.clear()
    draft, begun = RunDraft(), time.thread_time()
    for event in agent.stream("Use the tools, then give the final answer."):
        if case.is_drawn:
            draft.add(event)
    taken = time.thread_time() - begun
    assert taken < MAX_CPU_S, f"the run took {taken:.1f} s of the processor"
    assert agent.result is not None
    check_result(agent.result)
    check_saving(agent.memory)
    for request in model.requests:
        check_messages(request.messages)
    check_messages(model.to_wire(agent.memory.to_messages()).messages)
    check_errors(agent.result)
    check_answered_once(agent.result, _TOOLS)
    if case.is_drawn:
        check_drawing(draft)
    return agent.result.status


def agent_for(case: Case, model: ScriptedModel) -> MultiStepAgent:
    """An agent of the kind that the replies are for."""
    settings: dict[str, Any] = {
        "max_steps": case.max_steps,
        "planning_interval": 1 if case.plans else None,
        "answer_type": case.answer_type,
        "state": {"rows": list(_ROWS)},
    }
    if case.kind == "code":
        return CodeAgent(_MADE, model, step_timeout_s=STEP_TIMEOUT_S, **settings)
    return ToolCallingAgent(_MADE, model, **settings)


def check_result(result: RunResult) -> None:
    """It ended as answered or at its limit, or because the same failure came again and again."""
    if result.status == "failed":
        assert result.error is not None
        assert result.error.message.startswith("The same failure came 4 times running"), result.error
    else:
        assert result.status in ("answered", "max_steps"), (result.status, result.error)
    assert result.error is None or result.error.message.strip()


def check_saving(memory: AgentMemory) -> None:
    """The memory is saved as JSON in UTF-8, and loaded again as it was."""
    text = json.dumps(memory.to_dict(), ensure_ascii=False)
    text.encode("utf-8")
    again = AgentMemory.from_dict(json.loads(text))
    assert json.dumps(again.to_dict(), ensure_ascii=False) == text
    for summary_mode in (False, True):
        assert again.to_messages(summary_mode=summary_mode) == memory.to_messages(summary_mode=summary_mode)
    assert all(memory.is_rebuilt_exactly(request) for request in memory.requests)


def check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    """They are JSON in UTF-8, and each call is answered, once, at once and in order."""
    waiting: list[str] = []
    asked: list[str] = []
    for message in messages:
        json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8")
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert isinstance(message["content"], str)
            continue
        assert not waiting
        calls = message.get("tool_calls") or ()
        assert message["content"] is not None or calls
        for call in calls:
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])
        waiting = [call["id"] for call in calls]
        asked += waiting
    assert not waiting
    assert len(set(asked)) == len(asked)


def check_drawing(draft: RunDraft) -> None:
    """The record can be stored with a notebook, and each form of it written."""
    for form in to_bundle(draft.to_record()).values():
        json.dumps(form, ensure_ascii=False, allow_nan=False).encode("utf-8")


def check_errors(result: RunResult) -> None:
    """No text to the model about a fault is longer than it may be."""
    faults = list(chain.from_iterable(step.faults for step in result.actions))
    assert [len(fault.message) for fault in faults if len(fault.message) > MAX_ERROR] == []
    assert all(fault.message.strip() for fault in faults)


def check_answered_once(result: RunResult, tools: Tools) -> None:
    """Each call has one result under an id of its own, and a body was entered once for each that ran."""
    ids: list[str] = []
    ran: list[str] = []
    for step in result.steps:
        if not isinstance(step, ActionStep):
            continue
        assert [one.call for one in step.tool_results] == list(step.tool_calls)
        for one in (*step.tool_results, *(inner for each in step.tool_results for inner in each.calls)):
            ids.append(one.call.id)
            assert one.fault is None or one.output is None or step.is_code
            assert isinstance(one.call.arguments, Mapping | str)
            if one.timing is not None and one.call.name not in ("python", "final_answer"):
                ran.append(one.call.name)
    assert len(set(ids)) == len(ids)
    assert sorted(ran) == sorted(tools.entered)
