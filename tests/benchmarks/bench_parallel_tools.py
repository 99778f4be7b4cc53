"""How long 128 tool calls of one turn take that sleep 50 ms each, beside 50 ms.

The second run of a process counts: threads are kept between steps, and a notebook runs more than once.
"""

from __future__ import annotations

import json
import sys
import time
from subprocess import check_output

from measuring import median, report, run_python

N_CALLS = 128
NAP_S = 0.05
BUDGET = 1.3
N_ROUNDS = 5


def nap(i: int) -> str:
    """Sleep.

    Args:
        i: a number.
    """
    time.sleep(NAP_S)
    return f"ok {i}"


def measure() -> float:
    """Wall time of the second run in this process, in naps."""
    from agent_magic import ScriptedModel, ToolCallingAgent

    for _ in range(2):
        turn = ScriptedModel.calls(*[("nap", {"i": i}) for i in range(N_CALLS)])
        agent = ToolCallingAgent([nap], ScriptedModel([turn, ScriptedModel.final("done")]))
        start = time.perf_counter()
        result = agent.run("Sleep.")
        wall = time.perf_counter() - start
        assert (result.value, len(result.actions[0].tool_calls)) == ("done", N_CALLS)
    return wall / NAP_S


def main() -> int:
    """Measure and print; 1 if over the budget."""
    figures = [json.loads(check_output(run_python(__file__, "once"), text=True)) for _ in range(N_ROUNDS)]
    detail = f"{median(figures) * NAP_S * 1e3:.0f} ms; {min(figures):.2f} to {max(figures):.2f}"
    return 0 if report(f"{N_CALLS} calls of 50 ms, in times of 50 ms", median(figures), BUDGET, detail) else 1


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(measure()))
    else:
        sys.exit(main())
