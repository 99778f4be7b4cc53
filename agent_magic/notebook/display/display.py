"""Pumps a run's events to where it is shown, and leaves the static record there.

The events are taken by the main thread. It must not decide anything about the run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.approval import Question
from agent_magic.core.events import Event, ManagedEvent, RunStarted, SettingChanged, StepEnded, Waiting
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, PlanningStep
from agent_magic.notebook.building.journals import Journals
from agent_magic.notebook.cell.answers import takes_input
from agent_magic.notebook.cell.asking import ask_by_input, unattended_rule
from agent_magic.notebook.display.drawing import Display, Drawing
from agent_magic.notebook.display.page import PageDisplay
from agent_magic.notebook.kernel.interrupts import interrupts_noted
from agent_magic.notebook.live.live_run import LiveRun
from agent_magic.notebook.live.widget_host import shows_widgets
from agent_magic.record.draft import RunDraft
from agent_magic.view.drawing_code import NOT_BUILT, is_built

_PAGE_S = 5.0
"""A page that shows the run says so within this time of being asked something, or it is not there."""


class Begin(Protocol):
    """Starts a run."""

    def __call__(self, *, listen: Callable[[Event], None]) -> Generator[Event, None, RunResult]:
        """Its events; those that arise while code of the model runs are given to `listen` at once."""
        ...


def show_run(
    magics: Any,
    agent: MultiStepAgent,
    begin: Begin,
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

    def take(event: Event) -> None:
        shown.take(event)

    events = begin(listen=take)  # first: of what cannot be begun nothing is shown but its error
    shown = _Shown(magics, agent, reason=reason, warnings=warnings, quiet=quiet, journals=journals)
    known = {run.run_id for run in agent.runs}
    result: RunResult | None = None
    with (
        interrupts_noted(agent.note_interrupt) as interrupts,
        agent.approvals.attended(shown.can_be_asked),
        unattended_rule(magics, agent),
    ):
        shown.live.stop_by(interrupts.send)
        take_off = agent.on_interrupt(interrupts.send)
        try:
            for event in events:
                shown.take(event)
        except KeyboardInterrupt:
            pass  # inside the run it is recorded already; between two events, closing records it
        finally:
            interrupts.hold()
            take_off()
            events.close()
            # One that was stopped in the moment of its first event has told nobody its id.
            run_id = shown.run_id
            ours = [run for run in agent.runs if run.run_id not in known and run_id in ("", run.run_id)]
            result = ours[-1] if ours else None
            shown.end(result)
    return result


class _Shown:
    """A run, on disk and where it is drawn."""

    run_id = ""

    def __init__(
        self,
        magics: Any,
        agent: MultiStepAgent,
        *,
        reason: str,
        warnings: Sequence[str],
        quiet: bool,
        journals: Journals | None,
    ) -> None:
        self._agent = agent
        self._journals = journals
        self._page_s = _PAGE_S
        self._can_type = takes_input(magics.shell)
        if self._can_type and hasattr(magics.shell, "kernel") and not is_built():
            warnings = [*warnings, NOT_BUILT]
        if journals is not None:
            journals.tell(reason=reason or None, warnings=warnings)
        draft = RunDraft(reason=reason or None, warnings=warnings, is_quiet=quiet)
        self.live = LiveRun(agent, draft, self._poke)
        self._display = display = _choose_display(magics, self.live)
        self._drawing = drawing = Drawing(display, draft, self.live)
        if display.to_snapshot is not None:
            take_snapshot = display.to_snapshot
            self.live.show_by(lambda: drawing.between(take_snapshot))

    def _poke(self) -> None:
        self._drawing.poke()

    def can_be_asked(self) -> bool:
        """Whether a person can answer: on a page that shows this run, or at a prompt."""
        page_s, self._page_s = (
            self._page_s,
            0.0,
        )  # whoever was not there at the first question is not waited for again
        return self.live.wait_for_page(page_s) or self._can_type

    def take(self, event: Event) -> None:
        """Keep and draw what happened: first on disk, then on the page."""
        if self._journals is not None:
            self._journals.add(event)
        self._drawing.add(event)
        match event:
            case RunStarted():
                self.run_id = event.run_id
                self.live.begin(event.run_id, journal=self._journals.name if self._journals else None)
                self._drawing.begin()
            case StepEnded(step=ActionStep() | PlanningStep() as step):
                self.live.add_step(step)
            case SettingChanged():
                self.live.settle(event.name)
            case _:
                pass
        question = _asked_in(event)
        if question is not None and not self.live.wait_for_page(0):
            with self._display.hold():
                ask_by_input(self._agent, question)

    def end(self, result: RunResult | None) -> None:
        """Leave the finished record; None if there was no run after all."""
        if self._journals is not None:
            self._journals.close(result)
            self._drawing.warn(self._journals.warning)
        self._drawing.end(result, journal=self._journals.name if self._journals is not None else None)


def _asked_in(event: Event) -> Question | None:
    """What the person is asked, by the agent or by one that it manages."""
    while isinstance(event, ManagedEvent):
        event = event.event
    return event.question if isinstance(event, Waiting) else None


def _choose_display(magics: Any, live: LiveRun) -> Display:
    """A widget where a person looks and one can be drawn; HTML in other kernels; else text."""
    shell = magics.shell
    if not hasattr(shell, "kernel"):
        from agent_magic.notebook.display.terminal import TerminalDisplay  # noqa: PLC0415 - widths of signs take 0.05 s

        return TerminalDisplay()
    if not shows_widgets(shell):
        return PageDisplay(shell)
    from agent_magic.notebook.display.widget_page import WidgetDisplay  # noqa: PLC0415 - widgets take 0.1 s to import

    return WidgetDisplay(shell, live, keeps_widget=magics.after_run == "widget")
