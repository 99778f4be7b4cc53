"""As `stopped_at_random`, of a manager whose pieces of work are done by another agent, some of them side by side.

It must not know when the signal comes. `code` as argument: the manager writes code.
"""

from __future__ import annotations

import json
import re
import sys
import time
from typing import Any

from agents.checking import eventually

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.memory import AgentMemory
from agent_magic.core.steps import ToolResult
from agent_magic.models.scripted import ScriptedModel, ScriptedRequest
from agent_magic.notebook.kernel.interrupts import interrupts_noted

N_PIECES = 6
LATENCY_S = 0.003


def work(n: int) -> int:
    """Do piece n."""
    time.sleep(0.002)
    return n


def worker_reply(request: ScriptedRequest) -> Any:
    """A model that makes one call, then answers with what came of it."""
    last = request.messages[-1]
    if last["role"] == "tool":
        return ScriptedModel.final(int(last["content"]))
    return ScriptedModel.calls(("work", {"n": int(last["content"])}))


def reply(request: ScriptedRequest) -> Any:
    """A model that hands out each piece that was not reported yet, then answers."""
    told = "\n".join(str(message["content"]) for message in request.messages if message["role"] != "system")
    done = {int(n) for n in re.findall(r"did (\d)\b", told)}
    left = [n for n in range(N_PIECES) if n not in done]
    turn = left[:3] if left and left[0] % 2 == 0 else left[:1]
    if any("<code>" in str(message["content"]) for message in request.messages):
        if not left:
            return "<code>final_answer('done')</code>"
        return "<code>" + "\n".join(f"print('did', worker('{n}'))" for n in turn) + "</code>"
    if not left:
        return ScriptedModel.final("done")
    return ScriptedModel.calls(*(("worker", {"task": str(n)}) for n in turn))


def new_agents(kind: type[MultiStepAgent]) -> tuple[MultiStepAgent, MultiStepAgent]:
    """A manager and the agent that does its work."""
    worker = ToolCallingAgent(
        [work], ScriptedModel([worker_reply] * 200, latency_s=LATENCY_S), name="worker", description="Works."
    )
    model = ScriptedModel([reply] * 60, latency_s=LATENCY_S, stream_pieces=4)
    report = {"managed_report": "did {{ answer }}"}
    return kind(
        managed_agents=[worker], model=model, max_steps=30, prompt_templates=report, name="boss"
    ), worker


def run_once(kind: type[MultiStepAgent]) -> dict[str, Any]:
    """One run to its end or to the signal, then to an answer."""
    boss, worker = new_agents(kind)
    try:
        with interrupts_noted(boss.note_interrupt):
            print("go", flush=True)
            for _ in boss.stream("Do all the pieces."):
                pass
        while boss.result is None or boss.result.status == "answered":  # it was faster than the signal
            time.sleep(1)
    except KeyboardInterrupt:
        pass
    sys.stdin.readline()
    return check(boss, worker)


def check(boss: MultiStepAgent, worker: MultiStepAgent) -> dict[str, Any]:
    """What the stopped run left, and what came of going on with it."""
    stopped = boss.result
    if stopped is None:
        return {"status": None, "n_steps": 0, "is_inside": False}
    assert not boss.is_running
    assert eventually(lambda: not worker.is_running)
    assert AgentMemory.from_dict(boss.memory.to_dict()).to_dict() == boss.memory.to_dict()
    assert worker.runs == []
    made = [call for step in stopped.actions for result in step.tool_results for call in _managed(result)]
    for call in made:
        assert call.run is None or call.run.status in ("answered", "interrupted"), call.run.error
        if call.run is not None and call.run.status == "interrupted":
            assert call.fault is not None
            assert call.fault.kind == "Interrupted", call.fault
        if call.fault is None:
            assert call.run is not None
            assert call.run.value == int(call.call.arguments["task"])  # type: ignore[index]
    if stopped.status != "answered":
        assert stopped.status == "interrupted"
        boss.model = ScriptedModel([reply] * 60)
        resumed = boss.resume()
        assert (resumed.status, resumed.value) == ("answered", "done"), resumed.error
    return {
        "status": stopped.status,
        "n_steps": len(stopped.steps),
        "is_inside": any(call.run is not None and call.run.status == "interrupted" for call in made),
    }


def _managed(result: ToolResult) -> tuple[ToolResult, ...]:
    calls = result.calls if result.call.name == "python" else (result,)
    return tuple(call for call in calls if call.call.name == "worker")


def main() -> None:
    kind = CodeAgent if sys.argv[1:] == ["code"] else ToolCallingAgent
    new_agents(kind)[0].run("Warm up.")
    print(new_agents(kind)[0].run("How long does it take?").timing.duration_s, flush=True)
    for line in sys.stdin:
        if line.strip() == "end":
            break
        print(json.dumps(run_once(kind)), flush=True)


if __name__ == "__main__":
    main()
