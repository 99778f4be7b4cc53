"""What a memory of 1,000 steps costs on its way to JSON and back, beside `json` alone on the same content.

All measures of a round run one after the other in this process, and each ratio is taken inside its
round.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from measuring import median, report, rounds

from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import TokenUsage, ToolCall, ToolSchema
from agent_magic.core.request import ACT
from agent_magic.core.steps import ActionStep, FinalAnswerStep, TaskStep, Timing, ToolResult

WRITE_BUDGET = 3.5
READ_BUDGET = 7.0
N_STEPS = 1_000
N_ROUNDS = 9

_SCHEMAS = tuple(
    ToolSchema(
        name=name,
        description=f"Do what {name} does, and give back what came of it.",
        parameters={
            "type": "object",
            "properties": {"place": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["place"],
        },
    )
    for name in ("look", "count", "peek", "final_answer")
)


def build_memory(n_steps: int) -> AgentMemory:
    """A run of `n_steps` actions as a tool-calling agent leaves it: texts, calls, results, requests."""
    memory = AgentMemory("You are an agent that calls tools. " * 40, [TaskStep(task="Look at all places.")])
    for number in range(1, n_steps + 1):
        _, request = memory.take_request(
            run_id="run-1", step_number=number, kind="act", projection=ACT, schemas=_SCHEMAS
        )
        call = ToolCall(
            id=f"call_{number}", name="look", arguments={"place": f"Tromsø {number}", "n": number}
        )
        output = {
            "place": f"Tromsø {number}",
            "seen": [number, number / 7, None, True],
            "note": "nothing new",
        }
        result = ToolResult(
            call=call,
            observation=json.dumps(output, ensure_ascii=False),
            output=output,
            timing=Timing(start=1.7e9 + number, end=1.7e9 + number + 0.25),
        )
        memory.append(
            ActionStep(
                step_number=number,
                timing=Timing(start=1.7e9 + number - 1.5, end=1.7e9 + number + 0.5),
                model_output=f"I look at place {number} now, since the one before showed nothing.",
                tool_results=(result,),
                token_usage=TokenUsage(
                    input_tokens=900 + number, output_tokens=40, cached_tokens=880, cost_usd=0.00042
                ),
                model_input_digest=request.digest,
            )
        )
    memory.append(FinalAnswerStep(answer="nothing new"))
    return memory


def main() -> int:
    """Measure and print; 1 if over a budget."""
    memory = build_memory(N_STEPS)
    form = memory.to_dict()
    text = json.dumps(form)
    if AgentMemory.from_dict(json.loads(text)).to_dict() != form:
        print("OVER the memory came back as another")
        return 1
    table = rounds(
        N_ROUNDS,
        lambda: _cpu_s(lambda: json.dumps(form)),
        lambda: _cpu_s(lambda: json.dumps(memory.to_dict())),
        lambda: _cpu_s(lambda: json.loads(text)),
        lambda: _cpu_s(lambda: AgentMemory.from_dict(json.loads(text))),
    )
    dumps, write, loads, read = (median(column) * 1e3 for column in zip(*table, strict=True))
    long = len(text) / 1e3
    short = len(json.dumps(build_memory(N_STEPS // 10).to_dict())) / 1e3
    fits = [
        report(
            "to JSON, in json.dumps",
            median([r[1] / r[0] for r in table]),
            WRITE_BUDGET,
            f"{write:.1f} ms / {dumps:.1f} ms",
        ),
        report(
            "from JSON, in json.loads",
            median([r[3] / r[2] for r in table]),
            READ_BUDGET,
            f"{read:.1f} ms / {loads:.1f} ms",
        ),
        report("size at 1,000 steps, in sizes at 100", long / short, 10.0, f"{long:.0f} kB / {short:.0f} kB"),
    ]
    return 0 if all(fits) else 1


def _cpu_s(do: Callable[[], Any]) -> float:
    """CPU of one go, the collector run before and not inside."""
    gc.collect()
    gc.disable()
    try:
        before = time.process_time()
        kept = do()
        spent = time.process_time() - before
    finally:
        gc.enable()
    del kept
    return spent


if __name__ == "__main__":
    sys.exit(main())
