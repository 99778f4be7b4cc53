"""LivePanel: an agent as its panels see and steer it, for as long as one of them is there.

It follows the agent by being told, never by asking again and again; pages are told at most a few
times a second, from a thread of its own. It must not draw, nor take a run's events.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import weakref
from typing import cast

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.result import RunResult
from agent_magic.core.steps import RunStep
from agent_magic.core.threads import start_thread
from agent_magic.core.values import Value
from agent_magic.notebook.kernel.control_channel import harden, kernel_id
from agent_magic.notebook.live.live_run import LiveRun
from agent_magic.notebook.live.panel import Panel
from agent_magic.notebook.live.steering import OF_STEPS, Steering
from agent_magic.record.schema import LaidOnRecord
from agent_magic.view.agent_widget import AgentWidget
from agent_magic.view.control import BOARD
from agent_magic.view.protocol import AgentSnapshot, HelloData

_REDRAW_S = 0.3
_MAX_WIDGETS = 8
"""Of one agent. A page does not say when an output is gone, so the oldest are let stand as they are."""

_numbers = itertools.count(1)


class LivePanel(Steering):
    """One agent and the widgets that show it."""

    def __init__(self, agent: MultiStepAgent) -> None:
        super().__init__(agent)
        self._id = f"agent-{next(_numbers)}"
        self._panel = Panel(self._id)
        self._looking = threading.RLock()
        self._bell = threading.Lock()
        self._is_due = False
        self._told_at = 0.0
        self._widgets: list[AgentWidget] = []
        settings, callbacks = agent.settings.observe(self._note), agent.callbacks.listen(self._note)
        self._ends = [settings, callbacks]
        weakref.finalize(agent, BOARD.drop, self._id)

    # -- the widgets ---------------------------------------------------------------------------

    def open(self) -> AgentWidget:
        """One more widget."""
        agent = self.living()
        with self._looking:
            snapshot = self._look(agent, with_previews=True)
        made = AgentWidget(
            snapshot,
            nonce=BOARD.put(self._id, self),
            kernel_id=kernel_id(),
            is_live=True,
            on_close=self._forget,
        )
        harden(made.comm)
        self._widgets.append(made)
        while len(self._widgets) > _MAX_WIDGETS:
            self._widgets.pop(0).is_live = False
        return made

    def look(self) -> None:
        """Show the agent as it stands, values looked into; from the thread of the person's code."""
        agent = self._agent()
        if agent is None:
            self.end()
        else:
            self._show(agent, with_previews=True)

    def end(self) -> None:
        """Follow the agent no more; the widgets stay as they are."""
        for end in self._ends:
            end()
        for widget in self._widgets:
            widget.is_live = False
        self._widgets.clear()
        self._panel.let_go()
        BOARD.drop(self._id)
        _panels.pop(self._id, None)

    def _forget(self, widget: AgentWidget) -> None:
        self._widgets = [known for known in self._widgets if known is not widget]
        if not self._widgets:
            self.end()

    # -- following the agent -------------------------------------------------------------------

    def tell(self) -> None:
        """Show the agent soon."""
        with self._bell:
            if self._is_due or not self._widgets:
                return
            self._is_due = True
        wait_s = max(self._told_at + _REDRAW_S - time.monotonic(), 0.02)

        def look() -> None:
            time.sleep(wait_s)
            self._look_from_afar()

        try:
            start_thread(look, "agent_magic_panel")
        except RuntimeError:  # no thread can start here (Pyodide): it is shown when the cell ends
            self._is_due = False
        except KeyboardInterrupt:  # nobody looks now: the next news must not wait for it
            self._is_due = False
            raise

    def _note(self, news: Value) -> None:
        del news
        self.tell()

    def _look_from_afar(self) -> None:
        self._is_due = False
        agent = self._agent()
        if agent is not None:
            # Whatever fails here, such as a comm of a kernel that ends: the next look shows it.
            with contextlib.suppress(Exception):
                self._show(agent, with_previews=False)

    def _look(self, agent: MultiStepAgent, *, with_previews: bool) -> AgentSnapshot:
        settings = self.settings
        assert settings is not None
        return self._panel.look(agent, settings, is_running=agent.is_running, with_previews=with_previews)

    def _show(self, agent: MultiStepAgent, *, with_previews: bool) -> None:
        with self._looking:  # what was seen first is shown first
            self._told_at = time.monotonic()
            snapshot = self._look(agent, with_previews=with_previews)
            for widget in list(self._widgets):
                widget.snapshot = cast("dict[str, Value]", snapshot)

    # -- what pages are told and ask for -------------------------------------------------------

    def greet(self, *, wants_snapshot: bool, wants_bundle: bool) -> HelloData:
        """What a view is told that found its kernel; its agent stands in the widget's snapshot."""
        del wants_snapshot, wants_bundle
        agent = self.living()
        return HelloData(nonce="", is_running=agent.is_running, settings=self.settings, steps=[])

    def as_it_counts(self, result: RunResult) -> tuple[RunResult, dict[int, LaidOnRecord | None]]:
        """As it is: a panel shows no run."""
        return result, {}

    def stop(self) -> str:
        """End all runs that go on, and the tool that the notebook waits for."""
        live = _live_run(self.running())
        return live.stop() if live is not None else super().stop()

    def pending(self) -> dict[str, str]:
        """Settings that a run has not taken up yet."""
        live = _live_run(self._agent())
        return live.pending() if live is not None else {}

    def step_at(self, place: int) -> RunStep:
        """The step that was shown at a place."""
        with self._looking:
            step = self._panel.step_at(place)
        if step is None:
            raise OptionError("The agent remembers this step no more. Show the agent again.")
        return step

    def effective(self, name: str) -> str:
        """From when on a change holds."""
        agent = self.living()
        live = _live_run(agent)
        if live is not None:
            return live.effective(name)
        if not agent.is_running:
            return "from the next run"
        return "from the next step" if name in OF_STEPS else "from the next call"

    def running(self) -> MultiStepAgent:
        """The agent, if a run of it goes on."""
        agent = self.living()
        if not agent.is_running:
            raise OptionError(f"No run of {agent.name} goes on.")
        return agent


def _live_run(agent: MultiStepAgent | None) -> LiveRun | None:
    """The run that a cell shows, if it goes on."""
    return LiveRun.of(agent) if agent is not None and agent.is_running else None


_panels: dict[str, LivePanel] = {}


def open_panel(agent: MultiStepAgent) -> AgentWidget:
    """A new widget that shows an agent, and follows it as long as both are there."""
    known = next((panel for panel in _panels.values() if panel._agent() is agent), None)
    if known is None:
        known = LivePanel(agent)
        _panels[known._id] = known
    return known.open()


def look_at_all(*_: Value) -> None:
    """Show every agent that has a panel as it stands; when a cell has ended."""
    for panel in list(_panels.values()):
        # It is no part of the cell: what fails in it, such as a tool of an odd class, must not be told there.
        with contextlib.suppress(Exception):
            panel.look()


def end_all() -> None:
    """Follow no agent any more."""
    for panel in list(_panels.values()):
        panel.end()
