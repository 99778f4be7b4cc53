"""Pumps a run's events to where it is shown, and leaves the static record there.

The events are taken by the main thread. It must not decide anything about the run.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.approval import Question
from agent_magic.core.events import Event, RunStarted, SettingChanged, StepEnded, Waiting
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, PlanningStep
from agent_magic.notebook.answers import takes_input
from agent_magic.notebook.asking import ask_by_input, unattended_rule
from agent_magic.notebook.drawing import Display, Drawing
from agent_magic.notebook.interrupts import interrupts_noted
from agent_magic.notebook.journals import Journals
from agent_magic.notebook.live_run import LiveRun
from agent_magic.notebook.page import PageDisplay
from agent_magic.record.draft import RunDraft
from agent_magic.view.drawing_code import is_built

_PAGE_S = 5.0
"""A page that shows the run says so within this time of being asked something, or it is not there."""


def show_run(
    magics: Any,
    agent: MultiStepAgent,
    events: Generator[Event, None, RunResult],
    *,
    reason: str,
    warnings: Sequence[str],
    quiet: bool,
    journals: Journals | None = None,
) -> RunResult | None:
    """Take a run's events to the end, keeping and drawing them; returns the result.

    Ctrl-C anywhere ends the run as `interrupted`, is drawn, and comes back as that result; None if
    it came before the run began.
    """
    can_type = takes_input(magics.shell)
    draft = RunDraft(reason=reason or None, warnings=warnings)
    live = LiveRun(agent, draft, lambda: drawing.poke())
    display = _choose_display(magics, live, quiet=quiet)
    drawing = Drawing(display, draft, live)
    if display.to_snapshot is not None:
        take_snapshot = display.to_snapshot
        live.show_by(lambda: drawing.between(take_snapshot))
    known = {run.run_id for run in agent.runs}
    run_id = ""
    result: RunResult | None = None

    with (
        interrupts_noted(agent.note_interrupt) as interrupts,
        agent.approvals.attended(lambda: live.wait_for_page(_PAGE_S) or can_type),
        unattended_rule(magics, agent),
    ):
        live.stop_by(interrupts.send)
        try:
            for event in events:
                if journals is not None:  # first on disk, then on the page
                    journals.add(event)
                drawing.add(event)
                match event:
                    case RunStarted():
                        run_id = event.run_id
                        drawing.begin()
                    case StepEnded(step=ActionStep() | PlanningStep() as step):
                        live.add_step(step)
                    case SettingChanged():
                        live.settle(event.name)
                    case Waiting(question=Question() as question) if not live.wait_for_page(0):
                        with display.hold():
                            ask_by_input(agent, question)
                    case _:
                        pass
        except KeyboardInterrupt:
            pass  # inside the run it is recorded already; between two events, closing records it
        finally:
            interrupts.hold()
            events.close()
            # One that was stopped in the moment of its first event has told nobody its id.
            ours = [run for run in agent.runs if run.run_id not in known and run_id in ("", run.run_id)]
            result = ours[-1] if ours else None
            if journals is not None:
                journals.close(result)
                drawing.warn(journals.warning)
            drawing.end(result)
    return result


def _choose_display(magics: Any, live: LiveRun, *, quiet: bool) -> Display:
    """A widget where a person looks and one can be drawn; HTML in other kernels; else text."""
    shell = magics.shell
    if not hasattr(shell, "kernel"):
        from agent_magic.notebook.terminal import TerminalDisplay  # noqa: PLC0415 - widths of signs take 0.05 s

        return TerminalDisplay(quiet=quiet)
    if not takes_input(shell):  # nobody looks while it runs, and a widget would leave its state behind
        return PageDisplay(shell, quiet=quiet)
    if not is_built():
        return PageDisplay(shell, quiet=quiet)
    from agent_magic.notebook.widget_page import WidgetDisplay  # noqa: PLC0415 - widgets take 0.1 s to import

    return WidgetDisplay(shell, live, quiet=quiet, keeps_widget=magics.after_run == "widget")
