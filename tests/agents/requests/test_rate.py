"""Runs of one model that may make only so many requests a minute: they wait, say so, and let go at once."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable

import pytest
from inline_snapshot import snapshot

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import ModelReplied, StepStarted, Waiting
from agent_magic.core.result import RunResult
from agent_magic.models.scripted import ScriptedModel
from agent_magic.record.draft import RunDraft


def limited(per_minute: float, n_replies: int = 10) -> ScriptedModel:
    model = ScriptedModel([ScriptedModel.final(1)] * n_replies)
    model.requests_per_minute = per_minute
    return model


def agent_of(model: ScriptedModel, **settings: object) -> ToolCallingAgent:
    return ToolCallingAgent(model=model, **settings)  # pyright: ignore[reportArgumentType] - as given


def used_up(model: ScriptedModel) -> ToolCallingAgent:
    """An agent whose model has no turn left for a minute."""
    agent = agent_of(model)
    assert agent.run("first").status == "answered"
    return agent


def test_a_run_waits_for_its_turn_and_says_so() -> None:
    model = limited(1)
    agent = used_up(model)
    events: list[object] = []
    for event in agent.stream("second"):
        events.append(event)
        if isinstance(event, Waiting):
            assert len(model.requests) == 1
            assert model.rate_limit is not None
            model.rate_limit.change(100)  # it is let go
    [waiting] = [event for event in events if isinstance(event, Waiting)]
    assert (waiting.kind, waiting.reason, waiting.attempt) == snapshot(
        ("rate", "scripted takes 1 requests a minute, by requests_per_minute.", 0)
    )
    assert waiting.delay_s is not None
    assert 30 < waiting.delay_s <= 60
    kinds = [type(event) for event in events]
    assert kinds.index(StepStarted) < kinds.index(Waiting) < kinds.index(ModelReplied)
    assert agent.result.status == "answered"


def test_an_interrupt_from_another_thread_ends_the_wait_at_once() -> None:
    agent = used_up(limited(1))
    result = None
    for event in agent.stream("second"):
        if isinstance(event, Waiting):
            threading.Timer(0.05, agent.interrupt, args=("Enough.",)).start()
        result = getattr(event, "result", result)
    assert isinstance(result, RunResult)
    assert (result.status, result.timing.duration_s < 10) == ("interrupted", True)


def test_a_run_that_left_the_line_holds_no_turn() -> None:
    model = limited(1)
    agent = used_up(model)
    stream = agent.stream("second")
    next(event for event in stream if isinstance(event, Waiting))
    stream.close()
    assert model.rate_limit is not None
    assert model.rate_limit._waiting == []
    assert len(model.requests) == 1


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.01)


def test_cancelling_arun_ends_the_wait() -> None:
    model = limited(1)
    agent = used_up(model)

    async def ask() -> None:
        task = asyncio.create_task(agent.arun("second"))
        await until(lambda: bool(model.rate_limit and model.rate_limit._waiting))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not (model.rate_limit and model.rate_limit._waiting))

    asyncio.run(asyncio.wait_for(ask(), 20))
    assert agent.result.status == "interrupted"


def test_runs_at_once_share_the_turns() -> None:
    model = limited(3)
    agents = [agent_of(model) for _ in range(6)]
    waiting = threading.Semaphore(0)
    results: list[RunResult] = []

    def ask(agent: ToolCallingAgent) -> None:
        for event in agent.stream("go"):
            if isinstance(event, Waiting):
                waiting.release()
        results.append(agent.result)

    threads = [threading.Thread(target=ask, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for _ in range(3):
        assert waiting.acquire(timeout=20)
    assert len(model.requests) == 3
    for agent in agents:
        agent.interrupt("Enough.")
    for thread in threads:
        thread.join(20)
    assert sorted(result.status for result in results) == ["answered"] * 3 + ["interrupted"] * 3


def test_a_budget_of_time_ends_a_run_that_would_wait_too_long() -> None:
    model = limited(1)
    used_up(model)
    result = agent_of(model, max_time_s=5).run("second")
    assert result.status == "budget"


def test_a_retry_takes_a_turn_too() -> None:
    model = ScriptedModel([TimeoutError(), ScriptedModel.final(1)])
    model.requests_per_minute = 1
    agent = agent_of(model)
    kinds: list[str] = []
    for event in agent.stream("go"):
        if isinstance(event, Waiting):
            kinds.append(event.kind)
            if event.kind == "rate":
                agent.interrupt("Enough.")
    assert kinds == ["retry", "rate"]
    assert len(model.requests) == 1


def test_the_wait_is_logged_and_drawn(caplog: pytest.LogCaptureFixture) -> None:
    agent = used_up(limited(1))
    draft = RunDraft()
    doing = []
    with caplog.at_level(logging.WARNING, logger="agent_magic"):
        for event in agent.stream("second"):
            draft.add(event)
            if isinstance(event, Waiting):
                doing.append(draft.to_record()["now"]["doing"])
                agent.interrupt("Enough.")
    assert doing == ["waiting"]
    assert any("for its turn" in record.getMessage() for record in caplog.records)
