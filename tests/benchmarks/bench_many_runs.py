"""200 runs at once of six model calls each, whose model takes 200 ms for a reply: wall time and CPU of a run."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from subprocess import check_output
from typing import Any

from measuring import median, report, run_python

N_RUNS = 200
N_CALLS = 5
LATENCY_S = 0.2
CPU_BUDGET_MS = 1.0
WALL_BUDGET = 1.15
N_ROUNDS = 3


def noop(i: int) -> str:
    """Do nothing.

    Args:
        i: a number.
    """
    return f"ok {i}"


def make_agent(latency_s: float) -> Any:
    """One agent with its script."""
    from agent_magic import ScriptedModel, ToolCallingAgent

    script = [ScriptedModel.calls(("noop", {"i": i})) for i in range(N_CALLS)]
    model = ScriptedModel([*script, ScriptedModel.final("done")], latency_s=latency_s)
    return ToolCallingAgent([noop], model)


def measure() -> dict[str, float]:
    """Wall time in times of the least one can wait, and CPU of a run in ms, in this process."""
    make_agent(0.0).run("warm up")
    agents = [make_agent(LATENCY_S) for _ in range(N_RUNS)]

    async def main() -> list[Any]:
        return await asyncio.gather(*(agent.arun("go") for agent in agents))

    wall, cpu = time.perf_counter(), time.process_time()
    results = asyncio.run(main())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert {(result.status, result.value) for result in results} == {("answered", "done")}
    return {"wall": wall / (LATENCY_S * (N_CALLS + 1)), "cpu_ms": cpu / N_RUNS * 1e3}


def main() -> int:
    """Measure and print; 1 if over a budget."""
    figures = [json.loads(check_output(run_python(__file__, "once"), text=True)) for _ in range(N_ROUNDS)]
    fits = [
        report("200 runs at once, in times of 1.2 s", median([f["wall"] for f in figures]), WALL_BUDGET),
        report("CPU of one of 200 runs, ms", median([f["cpu_ms"] for f in figures]), CPU_BUDGET_MS),
    ]
    return 0 if all(fits) else 1


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(measure()))
    else:
        sys.exit(main())
