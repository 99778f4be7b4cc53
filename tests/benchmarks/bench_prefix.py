"""How much of what a run of 60 steps sends was sent before in the same bytes, planning every 5 steps.

That part a provider's prompt cache can hold. For each request counts the earlier one, of any kind,
with which it begins for longest; shares are of bytes summed over the run. No clock is read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from measuring import report

from agent_magic import ChatMessage, Model, ToolCall, ToolCallingAgent

ACT_SHARE = 0.96
ALL_SHARE = 0.94
N_STEPS = 60
PLAN = "1. Call the tool. 2. Finish."

Request = list[bytes]
"""Its messages, each encoded."""


def note(i: int) -> str:
    """Return some text.

    Args:
        i: a number
    """
    return f"result {i} " + "lorem ipsum " * 41


class Recording(Model):
    """Calls `note` 60 times and answers; keeps what a provider would be sent."""

    model_id = "bench"

    def __init__(self) -> None:
        self.sent: list[tuple[str, Request]] = []
        self._n_actions = 0

    def generate(
        self, messages: Any, *, tools: Any = (), stop: Any = (), kind: Any = "act", **_options: Any
    ) -> ChatMessage:
        wire = self.to_wire(messages, tools, kind).messages
        self.sent.append((kind, [_encode(message) for message in wire]))
        if kind == "plan":
            return ChatMessage(role="assistant", content=PLAN)
        number = self._n_actions
        self._n_actions += 1
        name, arguments = (
            ("note", {"i": number}) if number < N_STEPS else ("final_answer", {"answer": "done"})
        )
        call = ToolCall(id=f"c{number}_0", name=name, arguments=arguments)
        return ChatMessage(role="assistant", tool_calls=(call,))


def record_run(summary_mode: Any) -> list[tuple[str, Request]]:
    """What a run sends, call by call."""
    model = Recording()
    agent = ToolCallingAgent(
        tools=[note], model=model, max_steps=100_000, planning_interval=5, summary_mode=summary_mode
    )
    result = agent.run("go")
    assert (result.status, result.value, len(result.actions)) == ("answered", "done", N_STEPS + 1), result
    return model.sent


def n_shared(one: Request, other: Request) -> int:
    """Bytes with which both begin, a separator after each message."""
    n = 0
    for ours, theirs in zip(one, other, strict=False):
        if ours != theirs:
            pairs = enumerate(zip(ours, theirs, strict=False))
            return n + next((at for at, (x, y) in pairs if x != y), min(len(ours), len(theirs)))
        n += len(ours) + 1
    return n


def share_sent_before(requests: Sequence[Request]) -> float:
    """Of all bytes but the first request's, the part that the best earlier request begins with."""
    later = range(1, len(requests))
    seen = sum(max(n_shared(requests[i], requests[k]) for k in range(i)) for i in later)
    return seen / sum(_size(requests[i]) for i in later)


def main() -> int:
    """Count and print; 1 if under a share."""
    fits: list[bool] = []
    for summary_mode in ("plan", "off", "all"):
        sent = record_run(summary_mode)
        requests = [request for _, request in sent]
        actions = [request for kind, request in sent if kind == "act"]
        plans = [request for kind, request in sent if kind == "plan"]
        detail = (
            f"{len(requests)} requests, {sum(map(_size, requests)) / 1e3:,.0f} kB; "
            f"plan calls among themselves {share_sent_before(plans):.4f} of {sum(map(_size, plans)) / 1e3:,.0f} kB"
        )
        act, every = share_sent_before(actions), share_sent_before(requests)
        name = f'summary_mode="{summary_mode}"'
        if summary_mode == "all":  # nothing is promised of it: each new plan takes the old one's place
            print(f"     {name}, action calls: {act:.4f}\n     {name}, all calls: {every:.4f} {detail}")
            continue
        fits.append(report(f"{name}, action calls", act, ACT_SHARE, at_least=True))
        fits.append(report(f"{name}, all calls", every, ALL_SHARE, detail, at_least=True))
    return 0 if all(fits) else 1


def _encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def _size(request: Request) -> int:
    return sum(map(len, request)) + len(request)


if __name__ == "__main__":
    sys.exit(main())
