"""The moments between two calls, when a run takes up what others have changed, or waits.

It must not change a setting, nor decide what a changed one does.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Generator
from typing import Literal

from agent_magic.agents.run.run import Run
from agent_magic.core.edits import MemoryChange, name_of
from agent_magic.core.events import Event, SettingChanged, Waiting
from agent_magic.core.settings import SettingChange
from agent_magic.core.steps import PlanningStep

Place = Literal["step", "call"]
"""Before a step, when it is decided whether a plan is due; or before a call inside it."""

_POLL_S = 0.05
_OF_STEPS = frozenset({"max_steps", "planning_interval", "replan_now"})


def has_news(run: Run) -> bool:
    """Whether there is anything to take up; asked at every step, so it is cheap."""
    seen = run.seen
    return (
        seen.settings < len(run.settings.log)
        or seen.edits < run.memory.n_edits
        or not run.settings.go.is_set()
        or (run.above is not None and run.above.is_paused)
    )


def pass_boundary(run: Run, place: Place) -> Generator[Event, None, None]:
    """Take up every change since the last boundary; wait as long as the person has paused.

    Raises:
        Interrupted: The person stopped the run.
    """
    yield from _take_up(run, place)
    while run.is_paused:
        start = time.time()
        yield Waiting(step_number=run.step_number, kind="pause", reason="The person paused the run.")
        while run.is_paused:
            paused = next((each for each in run.chain if not each.settings.go.is_set()), run)
            paused.settings.go.wait(_POLL_S)
            run.raise_if_interrupted()
        run.count_pause(time.time() - start)
        yield from _take_up(run, place)


def foresee_max_steps(run: Run) -> int:
    """The number of the last step that may be made, once everything is taken up."""
    limits = [change.new for change in run.settings.log[run.seen.settings :] if change.name == "max_steps"]
    return _last_step(run, limits[-1]) if limits else run.max_steps


def _take_up(run: Run, place: Place) -> Generator[Event, None, None]:
    # Whoever is told of one change may make the next: that is taken up here too.
    log, seen = run.settings.log, run.seen
    while True:
        if seen.settings < len(log):
            seen.settings += 1
            change = log[seen.settings - 1]
            if change.name != "max_steps" or _last_step(run, change.new) != run.max_steps:
                yield _apply(run, change, place)
        elif edits := run.memory.edits_since(seen.edits):
            for change in edits:
                seen.edits += 1
                yield from _take_up_edit(run, change)
        else:
            return


def _take_up_edit(run: Run, change: MemoryChange) -> Generator[Event, None, None]:
    if change.by == "window":
        return
    if isinstance(run.memory.entries[change.index].step, PlanningStep):
        run.plan = _find_plan(run)
    yield _tell(run, change)


def _apply(run: Run, change: SettingChange, place: Place) -> SettingChanged:
    # At the boundary of a step the plan is still to be decided on; inside it, it was.
    from_step = run.step_number if place == "step" else run.step_number + 1
    effective = f"from step {from_step}" if change.name in _OF_STEPS else "from the next call"
    match change.name:
        case "max_steps":
            run.max_steps = max(_last_step(run, change.new), run.step_number - 1)  # what was made was made
        case "replan_now":
            run.wants_plan = True
        case "is_paused":
            effective = "now"
        case _:
            pass
    if change.name != "replan_now":
        # This change alone: what came after it is told, and holds, after it.
        run.values = dataclasses.replace(run.values, **{change.name: change.new})
    return SettingChanged(
        step_number=run.step_number, name=change.name, value=change.new, effective=effective
    )


def _last_step(run: Run, max_steps: int) -> int:
    return max_steps + run.first_step - 1  # a run that goes on gets as many steps again


def _find_plan(run: Run) -> str | None:
    """The plan that counts, after the person edited, dropped or brought back one."""
    for entry in reversed(run.memory.entries[run.n_start :]):
        step = entry.step
        if isinstance(step, PlanningStep) and step.plan and not step.fault and not entry.is_dropped:
            return step.plan
    return run.origin.plan if run.origin else None


def _tell(run: Run, change: MemoryChange) -> SettingChanged:
    step = name_of(run.memory.entries[change.index].step)
    match change.field:
        case "view":
            name, value = f"view of {step}", change.new
        case "is_pinned":
            name, value = f"pin of {step}", change.new
        case "is_dropped":
            name, value = step, "dropped" if change.new else "brought back"
        case _:
            name, value = step, "edited"
    return SettingChanged(step_number=run.step_number, name=name, value=value, effective="from the next call")
