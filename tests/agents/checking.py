"""What the tests of this room look at again and again.

It must not stand in for anything of ours.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel

AS_TEXT = Capabilities(tools=False)
"""Of a model that writes its calls as text."""
PATIENCE_S = 20.0
"""After which a test that waits for something gives up."""


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: first number
        b: second number
    """
    return a + b


class Busy(ConnectionError):
    """A passing failure after which the provider asks for no wait at all."""

    headers = {"Retry-After": "0"}  # noqa: RUF012 - as the provider libraries have it


def agent_of(replies: Sequence[Any], *tools: Any, **settings: Any) -> ToolCallingAgent:
    """An agent with a script; settings of the model are those that it knows."""
    names = ("stream_pieces", "latency_s", "capabilities", "context_window")
    model = ScriptedModel(replies, **{name: settings.pop(name) for name in names if name in settings})
    return ToolCallingAgent(tools or (add,), model, **settings)


def model_of(agent: ToolCallingAgent) -> ScriptedModel:
    """The script that the agent asks."""
    assert isinstance(agent.model, ScriptedModel)
    return agent.model


def told(result: RunResult | None) -> list[str]:
    """What the model was told in each action: results of calls, then the fault of the step."""
    assert result is not None
    return [
        "\n\n".join(filter(None, [step.observations, step.fault.message if step.fault else ""]))
        for step in result.actions
    ]


def last_action(agent: ToolCallingAgent) -> ActionStep:
    """The newest step of the memory, which is an action."""
    step = agent.memory.steps[-1]
    assert isinstance(step, ActionStep)
    return step


def assert_valid(memory: AgentMemory) -> None:
    """Each call is answered once, at once and in the order asked, by a message with its id."""
    for summary_mode in (False, True):
        _assert_valid(memory.to_messages(summary_mode=summary_mode))


def _assert_valid(messages: Sequence[ChatMessage]) -> None:
    waiting: list[str] = []
    asked: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert message.tool_call_id == waiting.pop(0)
            assert message.content is not None
            continue
        assert not waiting
        waiting = [call.id for call in message.tool_calls]
        asked += waiting
        assert message.content is not None or message.tool_calls
    assert not waiting
    assert len(set(asked)) == len(asked)


def assert_usable(agent: ToolCallingAgent) -> None:
    """The agent's memory is valid, and its next run goes on from it and answers."""
    assert_valid(agent.memory)
    before = agent.memory.to_messages()
    agent.model = ScriptedModel([ScriptedModel.final("still here")])
    result = agent.run("And now?", reset=False)
    assert (result.status, result.value) == ("answered", "still here")
    sent = agent.model.requests[0].chat_messages
    assert sent[1 : len(before)] == before[1:]
    assert_valid(agent.memory)


@contextlib.contextmanager
def within(seconds: float) -> Generator[None]:
    """Fail if the body takes longer."""
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start < seconds


def eventually(is_so: Callable[[], bool]) -> bool:
    """Whether something comes true soon."""
    end = time.perf_counter() + PATIENCE_S
    while not is_so():
        if time.perf_counter() > end:
            return False
        time.sleep(0.005)
    return True
