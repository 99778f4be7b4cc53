"""Runs of one agent that overlap, in threads, while their memory is edited."""

from __future__ import annotations

import random
import threading
import time
from typing import Any, get_args

import pytest
from agents.checking import agent_of, assert_valid

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.edits import StepView
from agent_magic.core.errors import OptionError
from agent_magic.core.steps import ActionStep, TaskStep
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final
N_RUNS = 4


def _change_something(agent: ToolCallingAgent, rng: random.Random) -> None:
    memory = agent.memory  # of the run started last, whichever that is by now
    steps = [step for step in memory.steps if isinstance(step, ActionStep) and not step.is_final_answer]
    if not steps:
        return
    step = rng.choice(steps)
    match rng.randrange(4):
        case 0:
            memory.set_view(step, rng.choice([*get_args(StepView), None]))
        case 1:
            memory.edit(step, observations=f"edited {rng.random()}")
        case 2:
            memory.set_pinned(step, rng.random() < 0.5)
        case _:
            memory.undo()


def _run(
    agent: ToolCallingAgent, lock: threading.Lock, seed: int, number: int, faults: list[Exception]
) -> None:
    rng = random.Random(seed * N_RUNS + number)
    adding = [calls(("add", {"a": number, "b": k})) for k in range(rng.randint(1, 5))]
    with lock:
        agent.model = ScriptedModel([*adding, final(number)], latency_s=0.001)
        events = agent.stream(f"Task {number}", reset=False)
    try:
        for _ in events:
            time.sleep(rng.random() * 0.002)
            if rng.random() < 0.3:
                _change_something(agent, rng)
    except Exception as fault:
        faults.append(fault)


@pytest.mark.parametrize("seed", range(8))
def test_overlapping_runs_in_threads_with_edits_are_joined_whole_and_stay_rebuildable(seed: int) -> None:
    agent = agent_of([])
    lock, faults = threading.Lock(), list[Exception]()
    threads = [
        threading.Thread(target=_run, args=(agent, lock, seed, number, faults)) for number in range(N_RUNS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert [result.status for result in agent.runs] == ["answered"] * N_RUNS
    tasks = [step.task for step in agent.memory.steps if isinstance(step, TaskStep)]
    assert tasks == [result.task for result in agent.runs]
    assert len(agent.memory.steps) == sum(len(result.steps) for result in agent.runs)
    for result in agent.runs:
        memory = agent.memory_of(result.run_id)
        own = [request for request in memory.requests if request.run_id == result.run_id]
        assert len(own) == len(result.actions)
        assert all(memory.is_rebuilt_exactly(request) for request in own)
    assert_valid(agent.memory)
    agent.model = ScriptedModel([final("last")])
    assert agent.run("And now?", reset=False).value == "last"
    assert agent.preview(1).is_exact


def test_reset_while_a_run_goes_on_keeps_what_that_run_makes() -> None:
    agent = agent_of([final(0), calls(("add", {"a": 1, "b": 2})), final(1)])
    agent.run("Zero.")
    events = agent.stream("One.", reset=False)
    next(events)
    agent.reset()
    ended: Any = list(events)[-1]
    assert agent.memory.steps == ended.result.steps
    assert agent.runs == [ended.result]
    assert_valid(agent.memory)
    with pytest.raises(OptionError):
        agent.resume()
