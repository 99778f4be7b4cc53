"""A child process that runs one script again and again, each time stopped by a real SIGINT from its parent.

It talks with `stopping`. It must not know when the signal comes. `noted` as argument: with the notebook's handler of the signal.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from agents.checking import assert_valid

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.memory import AgentMemory
from agent_magic.core.steps import FinalAnswerStep, TaskStep
from agent_magic.models.scripted import ScriptedModel, ScriptedRequest
from agent_magic.notebook.kernel.interrupts import interrupts_noted

N_CALLS = 9
LATENCY_S = 0.004
WORK_S = 0.002
Finished: TypeAlias = list[tuple[int, float]]
"""The calls that came to their end in one task, by number and time."""


def new_worker(finished: Finished) -> Callable[[int], list[int]]:
    """A tool that notes each call at its very end."""

    def work(n: int) -> list[int]:
        """Do piece n.

        Args:
            n: which piece
        """
        time.sleep(WORK_S)
        result = [n] * 50
        finished.append((n, time.monotonic()))
        return result

    return work


def reply(request: ScriptedRequest) -> Any:
    """A model that makes each call that has no result yet, some of them side by side, then answers."""
    if request.kind == "plan":
        return "1. Do the pieces that are left."
    done = {
        json.loads(message["content"])[0]
        for message in request.messages
        if message["role"] == "tool" and message["content"].startswith("[")
    }
    left = [n for n in range(N_CALLS) if n not in done]
    if not left:
        return ScriptedModel.final("done")
    turn = left[:3] if left[0] % 4 == 0 else left[:1]
    return ScriptedModel.calls(*(("work", {"n": n}) for n in turn)) | {"content": "I go on. " * 10}


def new_agent(finished: Finished) -> ToolCallingAgent:
    """An agent with this model and a tool of its own: calls of an earlier task may still end."""
    model = ScriptedModel([reply] * 60, latency_s=LATENCY_S, stream_pieces=4)
    return ToolCallingAgent([new_worker(finished)], model, planning_interval=2, max_steps=30)


def run_once(is_noted: bool) -> dict[str, Any]:
    """One run to its end or to the signal, then to an answer."""
    finished: Finished = []
    agent = new_agent(finished)
    noted = interrupts_noted(agent.note_interrupt) if is_noted else contextlib.nullcontext()
    ended_at = 0.0
    try:
        with noted:
            print("go", flush=True)
            try:
                if is_noted:
                    for _ in agent.stream("Do all the pieces."):
                        pass
                else:
                    agent.run("Do all the pieces.")
            finally:
                ended_at = time.monotonic()
        while True:  # it was faster than the signal
            time.sleep(1)
    except KeyboardInterrupt:
        pass
    return check(agent, finished, ended_at)


def check(agent: ToolCallingAgent, finished: Finished, ended_at: float) -> dict[str, Any]:
    """What the stopped run left, and what came of going on with it."""
    stopped = agent.result
    sent_at = float(sys.stdin.readline())
    before = [n for n, at in finished if at < sent_at]
    if stopped is None:
        return {"status": None}
    assert_valid(agent.memory)
    assert stopped.steps == agent.memory.steps
    assert isinstance(agent.memory.steps[0], TaskStep)
    assert not agent._history.active
    assert all(agent.memory.is_rebuilt_exactly(request) for request in agent.memory.requests)
    assert AgentMemory.from_dict(agent.memory.to_dict()).to_dict() == agent.memory.to_dict()
    known = [
        one.output[0] for step in stopped.actions for one in step.tool_results if one.observation[:1] == "["
    ]
    assert set(before) <= set(known), (known, before)
    assert len(set(known)) == len(known), known
    if stopped.status == "answered":
        assert isinstance(agent.memory.steps[-1], FinalAnswerStep)
    else:
        assert stopped.status == "interrupted"
        agent.model = ScriptedModel([reply] * 60)
        resumed = agent.resume()
        assert (resumed.status, resumed.value) == ("answered", "done"), resumed.error
        assert_valid(agent.memory)
    numbers = [n for n, _ in finished]
    assert set(numbers) == set(range(N_CALLS)), finished
    # Calls that ran side by side and had not ended yet are left behind, and may end all the same.
    assert all(numbers.count(n) == 1 for n in {*before, *known}), (finished, before, known)
    return {
        "status": stopped.status,
        "ended_at": ended_at,
        "n_steps": len(stopped.steps),
        "in_plan": bool(stopped.plans and stopped.plans[-1].is_interrupted),
    }


def main() -> None:
    is_noted = sys.argv[1:] == ["noted"]
    new_agent([]).run("Warm up.")
    print(new_agent([]).run("How long does it take?").timing.duration_s, flush=True)
    for line in sys.stdin:
        if line.strip() == "end":
            break
        print(json.dumps(run_once(is_noted)), flush=True)


if __name__ == "__main__":
    main()
