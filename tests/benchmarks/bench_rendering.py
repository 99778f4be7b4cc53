"""Whether what a model is shown after one more step costs more after 1,000 steps than after 10.

Measured is what a run does for each request: the step enters the memory, and the messages are
taken with their digest. Both sizes run in this process, turn about; medians are compared.
"""

from __future__ import annotations

import gc
import sys
import time

from measuring import median, report, rounds

from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, RequestKind, ToolCall, ToolSchema
from agent_magic.core.request import ACT, PLAN, PLAN_FULL, Projection
from agent_magic.core.steps import ActionStep, TaskStep, Timing, ToolResult

GROWTH_BUDGET = 1.3
SHORT, LONG = 10, 1_000
N_NEXT = 20
"""Steps that are timed after those; the 11th to the 30th, the 1,001st to the 1,020th."""
N_ROUNDS = 15

_SCHEMAS = (ToolSchema(name="look", description="Look at a place.", parameters={"type": "object"}),)
_ASKED = (ChatMessage(role="user", content="Write the plan.", is_ours=True),)
_REQUESTS: dict[str, tuple[RequestKind, Projection, tuple[ChatMessage, ...]]] = {
    "an action": ("act", ACT, ()),
    "a plan, summary view": ("plan", PLAN, _ASKED),
    "a plan, full view": ("plan", PLAN_FULL, _ASKED),
}


def make_step(number: int) -> ActionStep:
    """A thought, a call and its result of 500 characters."""
    call = ToolCall(id=f"call_{number}", name="look", arguments={"place": number})
    return ActionStep(
        step_number=number,
        timing=Timing(start=1.7e9 + number, end=1.7e9 + number + 0.5),
        model_output=f"I look at place {number} now, since the one before showed nothing.",
        tool_results=(ToolResult(call=call, observation=f"place {number} " + "lorem ipsum " * 41),),
    )


class Growing:
    """A memory that has been asked for after each of its steps, as a run does it."""

    def __init__(self, what: str, n_steps: int) -> None:
        self._kind, self._projection, self._tail = _REQUESTS[what]
        self._memory = AgentMemory("You are an agent that calls tools. " * 40, [TaskStep(task="Look.")])
        self.n_steps = 0
        self.n_messages = 0
        for _ in range(n_steps):
            self.grow(make_step(self.n_steps + 1))

    def grow(self, step: ActionStep) -> None:
        """One more step, and the request that shows it."""
        self._memory.append(step)
        messages, _ = self._memory.take_request(
            run_id="run-1",
            step_number=step.step_number,
            kind=self._kind,
            projection=self._projection,
            tail=self._tail,
            schemas=_SCHEMAS,
        )
        self.n_steps, self.n_messages = step.step_number, len(messages)


def time_next(what: str, n_steps: int) -> float:
    """What the next step costs after `n_steps`, in µs of CPU: the median of 20."""
    memory = Growing(what, n_steps)
    steps = [make_step(n_steps + 1 + k) for k in range(N_NEXT)]
    taken: list[float] = []
    gc.collect()
    gc.disable()
    try:
        for step in steps:
            before = time.thread_time_ns()
            memory.grow(step)
            taken.append((time.thread_time_ns() - before) / 1e3)
    finally:
        gc.enable()
    assert memory.n_steps == n_steps + N_NEXT
    assert memory.n_messages >= 2 * memory.n_steps
    return median(taken)


def main() -> int:
    """Measure and print; 1 if it grows."""
    fits: list[bool] = []
    for what in _REQUESTS:
        time_next(what, SHORT)
        table = rounds(
            N_ROUNDS, lambda what=what: time_next(what, SHORT), lambda what=what: time_next(what, LONG)
        )
        short, long = (median(column) for column in zip(*table, strict=True))
        growth = median([row[1] / row[0] for row in table])
        detail = f"{long:.1f} µs / {short:.1f} µs"
        fits.append(report(f"{what}: rendering at 1,000, in those at 10", growth, GROWTH_BUDGET, detail))
    return 0 if all(fits) else 1


if __name__ == "__main__":
    sys.exit(main())
