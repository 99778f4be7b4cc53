"""What showing a run live costs the kernel: time for each event, and bytes on the wire.

The page is not part of it: messages are counted as JSON and let go.
"""

from __future__ import annotations

import json
import sys
import time
from types import SimpleNamespace
from typing import Any

import comm
from comm.base_comm import BaseComm
from measuring import report

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import RunStarted, StepEnded
from agent_magic.models.scripted import ScriptedModel
from agent_magic.notebook.display.drawing import Drawing
from agent_magic.notebook.display.widget_page import WidgetDisplay
from agent_magic.notebook.live.live_run import LiveRun
from agent_magic.record.draft import RunDraft

BUDGET_MS = 0.3
BUDGET_MB = 3.0
ENVELOPE_BYTES = 900
"""Of a message: its headers, and that of the cell."""


class CountingComm(BaseComm):
    """Takes what a kernel would send, and counts it."""

    n_bytes = 0

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        """Count a message."""
        CountingComm.n_bytes += len(json.dumps([data, metadata, keys]).encode()) + ENVELOPE_BYTES


comm.create_comm = CountingComm


def add(a: int, b: int) -> int:
    """Add.

    Args:
        a: one
        b: other
    """
    return a + b


def show(n_steps: int, *, n_pieces: int = 0) -> tuple[float, int, float]:
    """Seconds spent on showing, events, and megabytes sent, of a run of so many steps."""
    CountingComm.n_bytes = 0
    replies = [
        ScriptedModel.calls(("add", {"a": n, "b": 1})) | {"content": f"Adding {n}."} for n in range(n_steps)
    ]
    model = ScriptedModel([*replies, ScriptedModel.final(1)], stream_pieces=n_pieces or 1)
    agent = ToolCallingAgent(tools=[add], model=model, max_steps=n_steps + 1)
    draft = RunDraft()
    live = LiveRun(agent, draft, lambda: None)
    shell = SimpleNamespace(display_pub=SimpleNamespace(publish=lambda **_: None))
    drawing = Drawing(WidgetDisplay(shell, live, keeps_widget=False), draft, live)
    spent, n_events = 0.0, 0
    for event in agent.stream("Add."):
        n_events += 1
        began = time.perf_counter()
        drawing.add(event)
        if isinstance(event, RunStarted):
            drawing.begin()
        elif isinstance(event, StepEnded):
            live.add_step(event.step)
        spent += time.perf_counter() - began
    assert agent.result is not None
    began = time.perf_counter()
    drawing.end(agent.result)
    return spent, n_events, CountingComm.n_bytes / 1e6


def main() -> int:
    """Measure and print; 1 if over a budget."""
    show(10)
    fits: list[bool] = []
    for n_steps in (100, 1_000, 5_000):
        spent, n_events, megabytes = show(n_steps)
        fits.append(
            report(
                f"{n_steps:,} steps, ms an event", 1000 * spent / n_events, BUDGET_MS, f"{n_events:,} events"
            )
        )
        if n_steps == 1_000:
            fits.append(report("1,000 steps, MB on the wire", megabytes, BUDGET_MB))
    spent, n_events, _ = show(50, n_pieces=400)
    fits.append(report("streamed, ms an event", 1000 * spent / n_events, BUDGET_MS, f"{n_events:,} events"))
    return 0 if all(fits) else 1


if __name__ == "__main__":
    sys.exit(main())
