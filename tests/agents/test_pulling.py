"""Interrupts while a provider is silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from agents.checking import PATIENCE_S, add, assert_valid, within
from models.openai_server import OpenAIServer, Turn, delta, serve

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import TextDelta
from agent_magic.models.litellm import LiteLLMModel


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def agent_at(server: OpenAIServer) -> ToolCallingAgent:
    return ToolCallingAgent([add], LiteLLMModel("openai/tiny", api_base=server.api_base, api_key="k"))


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
