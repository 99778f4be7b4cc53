"""What a step costs beside a bare loop, whether it grows with the history, and what is held in memory.

Each measure runs in a process of its own. Both loops keep the whole conversation and give each
request all of it; the bare one does nothing else.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from subprocess import check_output
from typing import Any

from measuring import median, report, resident_mb, rounds, run_python

STEP_BUDGET = 25.0
GROWTH_BUDGET = 1.3
MEMORY_BUDGET_MB = 3.0
N_ROUNDS = 7


def noop(i: int) -> str:
    """Do nothing.

    Args:
        i: a number.
    """
    return f"ok {i}"


def run_bare(n: int) -> list[dict[str, Any]]:
    """`n` calls of `noop` and an answer, with no framework."""
    tools: dict[str, Callable[..., Any]] = {"noop": noop}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Call noop."},
    ]

    def ask(request: Sequence[dict[str, Any]], step: int) -> tuple[str, dict[str, Any]] | str:
        return ("noop", {"i": step}) if len(request) < 2 + 2 * n else "done"

    step = 0
    while not isinstance(reply := ask(messages, step), str):
        name, arguments = reply
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"c{step}", "type": "function", "function": function}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{step}", "content": str(tools[name](**arguments))}
        )
        step += 1
    return messages


def run_agent(n: int) -> Any:
    """The same with a `ToolCallingAgent`; gives the agent."""
    # Here, not above: the bare loop's process must not pay for it.
    from agent_magic import ChatMessage, Model, ToolCall, ToolCallingAgent

    class Counting(Model):
        model_id = "bench"

        def __init__(self) -> None:
            self.step = 0

        def generate(self, messages: Any, **_options: Any) -> ChatMessage:
            name, arguments = (
                ("noop", {"i": self.step}) if self.step < n else ("final_answer", {"answer": "done"})
            )
            self.step += 1
            call = ToolCall(id=f"c{self.step}", name=name, arguments=arguments)
            return ChatMessage(role="assistant", tool_calls=(call,))

    agent = ToolCallingAgent(tools=[noop], model=Counting(), max_steps=n + 1)
    result = agent.run("Call noop.")
    assert (result.status, result.value, len(result.actions)) == ("answered", "done", n + 1), result
    return agent


def measure(kind: str, n: int) -> dict[str, float]:
    """CPU per step in µs and memory held in MiB, in this process."""
    run = run_bare if kind == "bare" else run_agent
    run(3)
    gc.collect()
    memory, cpu = resident_mb(), time.process_time()
    kept = run(n)
    cpu = time.process_time() - cpu
    gc.collect()
    held = resident_mb() - memory
    del kept
    return {"us": cpu / n * 1e6, "mb": held}


def main() -> int:
    """Measure and print; 1 if over a budget."""

    def child(kind: str, n: int) -> dict[str, float]:
        return json.loads(check_output(run_python(__file__, kind, str(n)), text=True).splitlines()[-1])

    held: list[float] = []

    def thousand() -> float:
        figures = child("agent", 1_000)
        held.append(figures["mb"])
        return figures["us"]

    table = rounds(
        N_ROUNDS,
        lambda: child("bare", 100)["us"],
        lambda: child("agent", 100)["us"],
        lambda: child("bare", 1_000)["us"],
        thousand,
    )
    bare, hundred, bare_long, long = (median(column) for column in zip(*table, strict=True))
    fits = [
        report(
            "step at 100, in bare steps",
            median([r[1] / r[0] for r in table]),
            STEP_BUDGET,
            f"{hundred:.0f} µs / {bare:.1f} µs",
        ),
        report(
            "step at 1,000, in bare steps",
            median([r[3] / r[2] for r in table]),
            STEP_BUDGET,
            f"{long:.0f} µs / {bare_long:.1f} µs",
        ),
        report(
            "cost of a step at 1,000, in steps at 100", median([r[3] / r[1] for r in table]), GROWTH_BUDGET
        ),
        report("MB held at 1,000 steps", median(held), MEMORY_BUDGET_MB, f"median of {N_ROUNDS} rounds"),
    ]
    return 0 if all(fits) else 1


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        sys.exit(main())
