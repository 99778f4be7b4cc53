"""A run that is closed, or interrupted, at any of its events leaves a valid memory and a usable agent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from agents.checking import (
    AS_TEXT,
    PATIENCE_S,
    Busy,
    add,
    agent_of,
    assert_usable,
    last_action,
    within,
)

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import RunEnded, StepEnded, ToolCallEnded, ToolCallStarted
from agent_magic.core.steps import FinalAnswerStep, TaskStep
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final


def _two_steps() -> ToolCallingAgent:
    return agent_of([calls(("add", {"a": 1, "b": 2})), final(3)])


def _streamed_and_parallel() -> ToolCallingAgent:
    three = calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3}), ("add", {"a": 4, "b": 5}))
    replies = [three | {"content": "I add them all.", "reasoning": "Let me see."}, three, final([3, 9])]
    return agent_of(replies, stream_pieces=3)


def _cut_observation() -> ToolCallingAgent:
    def long_text() -> str:
        """Much text."""
        return "x" * 20_000

    peek = calls(("peek", {"name": "obs_1", "start": 9}))
    return agent_of([calls(("long_text", {})), peek, final("seen")], long_text)


def _prose_twice() -> ToolCallingAgent:
    return agent_of(["It is three.", "It is three."], capabilities=AS_TEXT)


def _refused_answers() -> ToolCallingAgent:
    beside = calls(("add", {"a": 1, "b": 2}), ("final_answer", {"answer": 3}))
    return agent_of([beside, calls(("final_answer", {})), final(3)])


def _step_limit() -> ToolCallingAgent:
    return agent_of([calls(("add", {"a": 1, "b": 2})), "About three."], max_steps=1, stream_pieces=2)


def _retried() -> ToolCallingAgent:
    return agent_of([Busy("busy"), calls(("add", {"a": 1, "b": 2})), Busy("busy"), final(3)])


def _failed() -> ToolCallingAgent:
    return agent_of([calls(("add", {"a": 1, "b": 2})), ValueError("refused")])


def _repeated() -> ToolCallingAgent:
    return agent_of([calls(("add", {"a": 1}))] * 4)


_RUNS = [
    _two_steps,
    _streamed_and_parallel,
    _cut_observation,
    _prose_twice,
    _refused_answers,
    _step_limit,
    _retried,
    _failed,
    _repeated,
]


def _assert_ended(agent: ToolCallingAgent, whole_status: str) -> None:
    """The newest run is whole, or interrupted with a step that says so at its end."""
    result = agent.result
    assert result is not None
    assert result.steps == agent.memory.steps
    assert isinstance(result.steps[0], TaskStep)
    if result.status == "interrupted":
        assert last_action(agent).is_interrupted
        assert result.error is not None
        assert result.error.kind == "Interrupted"
        assert not any(isinstance(step, FinalAnswerStep) for step in result.steps)
    else:
        assert result.status == whole_status


@pytest.mark.parametrize("make", _RUNS, ids=lambda make: make.__name__.strip("_"))
def test_run_closed_at_any_event_leaves_valid_memory_and_a_usable_agent(
    make: Callable[[], ToolCallingAgent],
) -> None:
    whole = list(make().stream("task"))
    assert isinstance(whole[-1], RunEnded)
    statuses: list[str] = []
    for n_taken in range(1, len(whole) + 1):
        agent = make()
        events = agent.stream("task")
        taken = [next(events) for _ in range(n_taken)]
        events.close()
        assert agent.result is not None
        statuses.append(agent.result.status)
        _assert_ended(agent, whole[-1].result.status)
        for event in taken:
            if isinstance(event, StepEnded):
                assert event.step in agent.memory.steps
        assert_usable(agent)
    assert statuses[0] == "interrupted"
    assert statuses[-1] == whole[-1].result.status
    # Once it has ended, it stays so: no later close makes an answer an interrupt again.
    assert statuses == sorted(statuses, key=lambda status: status != "interrupted")


@pytest.mark.parametrize("make", _RUNS, ids=lambda make: make.__name__.strip("_"))
def test_run_interrupted_at_any_event_ends_by_itself_and_leaves_a_usable_agent(
    make: Callable[[], ToolCallingAgent],
) -> None:
    whole = list(make().stream("task"))
    assert isinstance(whole[-1], RunEnded)
    for n_taken in range(1, len(whole)):
        agent = make()
        events = agent.stream("task")
        for _ in range(n_taken):
            next(events)
        agent.interrupt("Enough.")
        rest = list(events)
        ended = rest[-1]
        assert isinstance(ended, RunEnded)
        assert ended.result is agent.result
        _assert_ended(agent, whole[-1].result.status)
        if ended.result.status == "interrupted":
            assert ended.result.error is not None
            assert ended.result.error.message == "Enough."
            before = rest[-2]
            assert isinstance(before, StepEnded)
            assert before.step is last_action(agent)
        assert_usable(agent)


def test_run_closed_before_its_first_event_leaves_nothing() -> None:
    agent = _two_steps()
    agent.stream("task").close()
    assert agent.runs == []
    assert agent.memory.steps == ()
    assert_usable(agent)


def test_run_closed_while_parallel_calls_still_run_does_not_wait_and_takes_no_late_result() -> None:
    gate, left = threading.Event(), threading.Semaphore(0)

    def hang() -> object:
        """Wait."""
        gate.wait(PATIENCE_S)
        left.release()
        return object()

    agent = agent_of([calls(("hang", {}), ("hang", {}), ("add", {"a": 1, "b": 2}))], hang, add, state={})
    events = agent.stream("hang")
    try:
        # All three are running when the last of them ends.
        assert any(isinstance(event, ToolCallEnded) for event in events)
        with within(10):
            events.close()
        steps = agent.memory.steps
        assert [bool(result.fault) for result in last_action(agent).tool_results] == [True, True, False]
    finally:
        gate.set()
    for _ in range(2):
        assert left.acquire(timeout=PATIENCE_S)
    time.sleep(0.02)
    assert agent.memory.steps == steps
    assert list(agent.state.base) == []
    assert_usable(agent)


def test_events_that_are_dropped_end_the_run() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3)], add)
    events = agent.stream("task")
    next(events)
    del events
    assert agent.result is not None
    assert agent.result.status == "interrupted"


def test_calls_that_had_ended_when_the_run_was_closed_keep_their_results_though_nobody_had_read_them() -> (
    None
):
    ended = threading.Semaphore(0)

    def work(n: int) -> int:
        """Work."""
        ended.release()
        return n

    agent = agent_of([calls(("work", {"n": 1}), ("work", {"n": 2}))], work)
    events = agent.stream("work")
    n_started = 0
    for event in events:
        n_started += isinstance(event, ToolCallStarted)
        if n_started == 2:
            break  # the first runs already
    assert ended.acquire(timeout=PATIENCE_S)
    time.sleep(0.02)
    events.close()
    first, second = last_action(agent).tool_results
    assert (first.observation, first.output, first.fault) == ("1", 1, None)
    assert second.fault is not None
    assert_usable(agent)
