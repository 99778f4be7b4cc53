"""What a journal costs a run: for each event without waiting for the disk, and for a step with it.

Figures of this machine: a wait for the disk takes from 0.1 to 10 ms, and a step has two.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import median, report

from agent_magic import ScriptedModel, ToolCallingAgent
from agent_magic.core.events import RunStarted
from agent_magic.record.journal import Journal
from agent_magic.record.journal_file import JournalFile

EVENT_BUDGET_MS = 0.3
STEP_BUDGET_MS = 15.0
GROWTH_BUDGET = 1.3
OWN_BUDGET_MS = 1.0
"""Of a step, without waits."""
N_STEPS = 400
N_ROUNDS = 5


class _UnwaitedFile(JournalFile):
    """One that does not wait for the disk."""

    def sync(self) -> None:
        """Go on."""


def look(place: str, n: int) -> dict[str, Any]:
    """Look at a place.

    Args:
        place: where.
        n: how often.
    """
    return {"place": f"{place} {n}", "seen": [n, n / 7, None, True], "note": "nothing new " * 20}


def run(folder: Path, *, waits: bool) -> tuple[list[list[float]], Journal]:
    """A run of `N_STEPS`: ms of each event of each step, and its journal."""
    replies = [ScriptedModel.calls(("look", {"place": "Tromsø", "n": n})) for n in range(N_STEPS)]
    model = ScriptedModel([*replies, ScriptedModel.final("nothing new")])
    agent = ToolCallingAgent(tools=[look], model=model, max_steps=N_STEPS + 1)
    steps: list[list[float]] = [[]]
    journal: Journal | None = None
    for event in agent.stream("Look at all places."):
        if isinstance(event, RunStarted):
            if waits:
                journal = Journal.open(agent_name="a", run_id=event.run_id, beside=folder)
            else:
                journal = Journal(_UnwaitedFile(folder, "a", event.run_id), agent_name="a")
        assert journal is not None
        before = time.perf_counter()
        journal.add(event, agent.memory)
        steps[-1].append((time.perf_counter() - before) * 1e3)
        if type(event).__name__ == "StepEnded":
            steps.append([])
    assert journal is not None
    assert journal.warning is None
    return steps[:N_STEPS], journal


def main() -> int:
    """Measure and print; 1 if over a budget."""
    events: list[float] = []
    growth: list[float] = []
    whole: list[float] = []
    own: list[float] = []
    sizes: list[float] = []
    for _ in range(N_ROUNDS):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:  # not in memory, as /tmp may be
            folder = Path(name)
            steps, journal = run(folder, waits=False)
            events.append(median([max(step) for step in steps]))
            tenth = N_STEPS // 10
            growth.append(
                median([sum(step) for step in steps[-tenth:]])
                / median([sum(step) for step in steps[tenth : 2 * tenth]])
            )
            assert journal.path is not None
            sizes.append(journal.path.stat().st_size / N_STEPS)
            own.append(median([sum(step) for step in steps]))
            steps, journal = run(folder, waits=True)
            whole.append(median([sum(step) for step in steps]))
    fits = [
        report("the dearest event of a step, without waits, in ms", median(events), EVENT_BUDGET_MS),
        report("a step with all waits, in ms", median(whole), STEP_BUDGET_MS),
        report("a step without waits, in ms", median(own), OWN_BUDGET_MS),
        report("the last steps of 400, in the early ones", median(growth), GROWTH_BUDGET),
        report("size of a step, in kB", median(sizes) / 1e3, 5.0),
    ]
    return 0 if all(fits) else 1


if __name__ == "__main__":
    sys.exit(main())
