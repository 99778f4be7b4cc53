"""A child process whose run waits for a person's answer when a real SIGINT comes from its parent.

It writes `asked` when the question lies open, and then what it found as a line of JSON. It must not
know when the signal comes. `noted` as argument: with the notebook's handler of the signal.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time

from agents.answering import answering, approve
from agents.checking import add, assert_valid

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.memory import AgentMemory
from agent_magic.models.scripted import ScriptedModel
from agent_magic.notebook.kernel.interrupts import interrupts_noted

calls, final = ScriptedModel.calls, ScriptedModel.final


def main() -> None:
    is_noted = sys.argv[1:] == ["noted"]
    turn = calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4}))
    agent = ToolCallingAgent([add], ScriptedModel([turn]), approve="tools")

    def tell() -> None:
        while not agent.approvals.open:
            time.sleep(0.001)
        print("asked", flush=True)

    noted = interrupts_noted(agent.note_interrupt) if is_noted else contextlib.nullcontext()
    threading.Thread(target=tell, daemon=True).start()
    ended_at = 0.0
    try:
        with agent.approvals.attended(), noted:
            try:
                agent.run("Add.")
            finally:
                ended_at = time.monotonic()
    except KeyboardInterrupt:
        pass
    stopped = agent.result
    assert stopped is not None
    assert_valid(agent.memory)
    assert all(agent.memory.is_rebuilt_exactly(request) for request in agent.memory.requests)
    assert AgentMemory.from_dict(agent.memory.to_dict()).to_dict() == agent.memory.to_dict()
    agent.model = ScriptedModel([turn, final(10)])
    with answering(agent, lambda question: approve(agent, question)) as raised:
        resumed = agent.resume()
    assert not raised
    assert_valid(agent.memory)
    found = {
        "status": stopped.status,
        "told": [result.to_text() for result in stopped.actions[-1].tool_results],
        "is_open": bool(agent.approvals.open),
        "resumed": [resumed.status, resumed.value, [r.output for r in resumed.actions[0].tool_results]],
        "ended_at": ended_at,
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
