"""Interrupts and the end of the run's time while a provider is silent."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from agents.checking import PATIENCE_S, add, assert_valid, within
from inline_snapshot import snapshot
from models.openai_server import OpenAIServer, Turn, call_delta, delta, serve

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import StepEnded, TextDelta
from agent_magic.core.messages import ChatMessage
from agent_magic.core.result import RunResult
from agent_magic.core.steps import Fault
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.model import Model


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def agent_at(server: OpenAIServer, **settings: Any) -> ToolCallingAgent:
    model = LiteLLMModel("openai/tiny", api_base=server.api_base, api_key="k")
    return ToolCallingAgent([add], model, **settings)


def hold(server: OpenAIServer, pieces: int) -> threading.Event:
    """Let the server begin a reply, then wait until it is let go."""
    let_go = threading.Event()

    def chunks() -> Iterator[object]:
        for _ in range(pieces):
            yield delta(content="Well. ")
        let_go.wait(3 * PATIENCE_S)

    server.answer = lambda _received: Turn(chunks=chunks())  # type: ignore[arg-type]
    return let_go


@pytest.mark.parametrize("pieces", [0, 2])
def test_interrupt_from_another_thread_does_not_wait_for_a_silent_provider(
    server: OpenAIServer, pieces: int
) -> None:
    agent, let_go = agent_at(server), hold(server, pieces)
    n_asked = len(server.received)

    def stop() -> None:
        while len(server.received) == n_asked:
            time.sleep(0.01)
        agent.interrupt("enough")

    threading.Thread(target=stop).start()
    try:
        with within(PATIENCE_S):
            result = agent.run("Add.")
    finally:
        let_go.set()
    assert (result.status, result.error.message) == ("interrupted", "enough")  # type: ignore[union-attr]
    assert_valid(agent.memory)


def test_interrupt_amid_a_reply_keeps_what_was_said(server: OpenAIServer) -> None:
    agent, let_go = agent_at(server), hold(server, 2)
    n_seen = 0
    try:
        for event in agent.stream("Add."):
            if isinstance(event, TextDelta):
                n_seen += 1
                if n_seen == 2:
                    threading.Timer(0.1, agent.interrupt, ["enough"]).start()
    finally:
        let_go.set()
    assert agent.result is not None
    assert agent.result.status == "interrupted"
    assert agent.result.actions[0].model_output == "Well. Well. "


def test_closing_a_run_amid_a_reply_hangs_up(server: OpenAIServer) -> None:
    server.broken_pipe.clear()
    server.answer = lambda _received: Turn(chunks=[delta(content="Well. ")] * 2_000, pause_s=0.005)
    events = agent_at(server).stream("Add.")
    for event in events:
        if isinstance(event, TextDelta):
            break
    events.close()
    assert server.broken_pipe.wait(PATIENCE_S)


# -- the end of the run's time -----------------------------------------------------------------------


def keep_open(server: OpenAIServer) -> None:
    """Let the server begin a reply, then send nothing but comments, far beyond any patience."""
    comments = itertools.repeat(": keep-alive", 10_000)
    server.answer = lambda _received: Turn(chunks=[delta(content="Well. "), *comments], pause_s=0.01)


async def run_async(agent: ToolCallingAgent) -> RunResult:
    return await agent.arun("Add.")


@pytest.mark.parametrize("is_async", [False, True])
def test_time_budget_ends_a_call_that_is_only_kept_open(server: OpenAIServer, is_async: bool) -> None:
    agent_at(server).preview(task="Add.")  # the first look at the provider's library takes its time
    keep_open(server)
    agent = agent_at(server, max_time_s=0.9)
    with within(PATIENCE_S):
        result = asyncio.run(run_async(agent)) if is_async else agent.run("Add.")
    assert result.status == "budget"
    assert result.error is not None
    assert result.error.message == snapshot(
        "max_time_s=0.9 passed amid a model call, which was given up. To go on, resume (with the same budget again) or raise it."
    )
    assert result.actions[0].model_output == "Well. "
    assert result.actions[0].fault == snapshot(
        Fault(kind="BudgetReached", message="The time of the run was over before the reply was whole.")
    )
    assert_valid(agent.memory)


def test_time_budget_ends_a_reply_that_goes_on_and_on(server: OpenAIServer) -> None:
    server.answer = lambda _received: Turn(chunks=[delta(content="Well. ")] * 10_000, pause_s=0.01)
    agent = agent_at(server, max_time_s=0.9)
    with within(PATIENCE_S):
        events = list(agent.stream("Add."))
    assert agent.result is not None
    assert agent.result.status == "budget"
    step = agent.result.actions[0]
    assert step.model_output.startswith("Well. Well. ")
    assert [event.step for event in events if isinstance(event, StepEnded)] == [step]


def test_a_run_whose_time_was_over_amid_a_call_goes_on_when_it_is_resumed(server: OpenAIServer) -> None:
    keep_open(server)
    agent = agent_at(server, max_time_s=0.9)
    assert agent.run("Add.").status == "budget"
    call = call_delta(0, "c1", "final_answer", '{"answer": 3}')
    server.answer = lambda _received: Turn(chunks=[call, delta(finish_reason="tool_calls")])
    agent.settings.update(max_time_s=None)
    assert agent.resume().value == 3


class Silent(Model):
    """As a user writes one, who says nothing of how long it may be silent."""

    def __init__(self) -> None:
        self.let_go = threading.Event()

    def generate(self, messages: Sequence[ChatMessage], **asked: Any) -> ChatMessage:
        self.let_go.wait(3 * PATIENCE_S)
        return ChatMessage(role="assistant", content="late")


@pytest.mark.parametrize("is_async", [False, True], ids=["run", "arun"])
def test_end_of_the_time_does_not_wait_for_a_model_of_ones_own(is_async: bool) -> None:
    model = Silent()
    agent = ToolCallingAgent([add], model, max_time_s=0.3)
    try:
        with within(PATIENCE_S):
            result = asyncio.run(agent.arun("Add.")) if is_async else agent.run("Add.")
    finally:
        model.let_go.set()
    assert result.status == "budget"
    assert result.error is not None
    assert result.error.message == (
        "max_time_s=0.3 passed amid a model call, which was given up. To go on, resume (with the same budget again) or raise it."
    )
