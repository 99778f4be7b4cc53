"""LiveRun: one run as pages see and steer it, while it goes on and after.

What a page asks comes from the kernel's control thread: it is put where the run takes it up, and the
moment from which it holds is said. It must not draw, nor take a run's events.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.flag import Flag
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.settings import SettingChange
from agent_magic.core.steps import ActionStep, PlanningStep
from agent_magic.notebook.live.steering import OF_STEPS, Steering
from agent_magic.record.draft import RunDraft
from agent_magic.record.keeping import with_memory
from agent_magic.record.laid_on import as_it_counts, laid_on_at, places_of
from agent_magic.record.schema import Json, LaidOnRecord
from agent_magic.record.shown import beside_of, record_of
from agent_magic.view.bundle import to_bundle
from agent_magic.view.protocol import HelloData, Snapshot

_SHOWN = ("summary_mode", "planning_interval", "is_paused", "max_steps", "approve")


class LiveRun(Steering):
    """A run and its agent, for the pages that show it.

    Args:
        on_news: Called, from any thread, when something is to be shown that no event tells.
    """

    def __init__(self, agent: MultiStepAgent, draft: RunDraft, on_news: Callable[[], None]) -> None:
        super().__init__(agent)
        self._draft: RunDraft | None = draft
        self._on_news = on_news
        self._made: list[ActionStep | PlanningStep] = []
        self._run_id = ""
        """From its first event on. After the end its steps, with live values in them, are its agent's alone."""
        self.journal: str | None = None
        """The name of the file that has it."""
        self._take_snapshot: Callable[[], Snapshot | None] | None = None
        self._pending: dict[str, str] = {}
        self._memory: AgentMemory | None = None
        self._n_edits = 0
        self._greeted = Flag()
        self._signal_run: Callable[[], None] = _nothing
        self._unobserve = agent.settings.observe(self._note_setting)
        _going_on[agent] = self

    @staticmethod
    def of(agent: MultiStepAgent | None) -> LiveRun | None:
        """The run of an agent that a cell shows now, the newest of several."""
        return _going_on.get(agent) if agent is not None else None

    def stop_by(self, signal_run: Callable[[], None]) -> None:
        """Stop a run by calling this too: a tool that blocks the run's thread looks at no flag."""
        self._signal_run = signal_run

    def show_by(self, take_snapshot: Callable[[], Snapshot | None]) -> None:
        """Give a view that comes late, or has missed something, the run as it stands now.

        Args:
            take_snapshot: Gives None once the run has ended.
        """
        self._take_snapshot = take_snapshot

    # -- what the run tells --------------------------------------------------------------------

    def begin(self, run_id: str, *, journal: str | None = None) -> None:
        """The run has begun; `journal` names the file that has it."""
        self._run_id, self.journal = run_id, journal

    def add_step(self, step: ActionStep | PlanningStep) -> None:
        """A step was made."""
        self._made.append(step)

    def settle(self, name: str) -> None:
        """A setting took effect."""
        self._pending.pop(name, None)

    def end(self, result: RunResult) -> None:
        """The run has ended; from now on what is asked holds for the next one."""
        self._draft = self._take_snapshot = None
        self._pending.clear()
        self._run_id = result.run_id
        self._made.clear()
        self._unobserve()
        # Pages may ask about the run for long; they must not keep alive what has shown it.
        self._on_news = self._signal_run = _nothing
        if (agent := self._agent()) is not None and _going_on.get(agent) is self:
            del _going_on[agent]

    @property
    def _steps(self) -> list[ActionStep | PlanningStep]:
        """The steps by their place, as they were made; none if they are forgotten."""
        if self._draft is not None:
            return self._made
        result = self._result
        steps = result.steps if result is not None else ()
        return [step for step in steps if isinstance(step, ActionStep | PlanningStep)]

    @property
    def _result(self) -> RunResult | None:
        """Once it has ended; None if it is forgotten."""
        agent = self._agent()
        runs = agent.runs if agent is not None else []
        return next((run for run in reversed(runs) if run.run_id == self._run_id), None)

    def take_news(self) -> None:
        """Put into the draft what was laid upon steps, and edited in them, since the last time."""
        agent, draft = self._agent(), self._draft
        memory = self.memory_in(agent) if agent is not None else None
        if memory is None or draft is None or (self._memory is memory and memory.n_edits == self._n_edits):
            return
        n_known = self._n_edits if self._memory is memory else 0
        self._memory, self._n_edits = memory, memory.n_edits
        changed = {change.index for change in memory.edits_since(n_known)}
        places = places_of(memory)
        for place, step in enumerate(self._steps):
            index = places.get(id(step))
            if index in changed:
                now = memory.entries[index].step
                assert isinstance(now, ActionStep | PlanningStep)
                draft.lay_on(place, now, laid_on_at(memory, index))

    @property
    def memory(self) -> AgentMemory | None:
        """That the run works on; None if its agent is gone."""
        agent = self._agent()
        return self.memory_in(agent) if agent is not None else None

    def as_it_counts(self, result: RunResult) -> tuple[RunResult, dict[int, LaidOnRecord | None]]:
        """A result with its steps as they were edited, and what is laid upon them by their place in it."""
        return as_it_counts(self.memory, result)

    def wait_for_page(self, timeout_s: float) -> bool:
        """Whether a page shows this run and reaches the kernel, waiting for one to come up."""
        return self._take_snapshot is not None and self._greeted.wait(timeout_s)

    # -- what pages are told -------------------------------------------------------------------

    def pending(self) -> dict[str, str]:
        """Settings that were changed and do not hold yet, with the moment from which they will."""
        return dict(self._pending)

    def laid_on(self) -> list[LaidOnRecord | None]:
        """What is laid upon each step, by its place."""
        agent = self._agent()
        if agent is None:
            return []
        memory = self.memory_in(agent)
        places = places_of(memory)
        found = [places.get(id(step)) for step in self._steps]
        return [None if at is None else laid_on_at(memory, at) for at in found]

    def greet(self, *, wants_snapshot: bool, wants_bundle: bool) -> HelloData:
        """What a view is told that found its kernel."""
        self._greeted.set()
        take_snapshot = self._take_snapshot
        # First: it may wait for the end to be drawn, and then the others are those of a run that has ended.
        snapshot = take_snapshot() if wants_snapshot and take_snapshot is not None else None
        data = HelloData(
            nonce="", is_running=self._draft is not None, settings=self.settings, steps=self.laid_on()
        )
        if snapshot is not None:
            data["snapshot"] = snapshot
        if wants_bundle and self._draft is None and (result := self._result) is not None:
            data["bundle"] = self._to_bundle(result)
        return data

    def _to_bundle(self, result: RunResult) -> dict[str, Json]:
        """What stands in the cell of the run, for a page that was not there when it was put there."""
        record, memory = beside_of(result).to_record(*self.as_it_counts(result)), self.memory
        if record_of(result).get("is_quiet"):
            record["is_quiet"] = True
        kept = None if memory is None else with_memory(record, memory, result, journal=self.journal)
        return to_bundle(record, kept=kept)

    # -- what pages ask for --------------------------------------------------------------------

    def stop(self) -> str:
        """End the run as interrupted."""
        super().stop()
        self._signal_run()
        return "now"

    # -- how this run is steered ---------------------------------------------------------------

    def step_at(self, place: int) -> ActionStep | PlanningStep:
        """The plan or action at a place of this run."""
        try:
            return self._steps[place]
        except IndexError:
            raise OptionError(f"There is no step at place {place} of this run.") from None

    def memory_in(self, agent: MultiStepAgent) -> AgentMemory:
        """While it goes on the run's own, which another run of the agent may not share; then the agent's."""
        is_known = self._draft is not None and self._run_id
        return agent.memory_of(self._run_id) if is_known else agent.memory

    def effective(self, name: str) -> str:
        """From when on a change holds."""
        draft = self._draft
        if draft is None:
            return "from the next run"
        return f"from step {draft.boundary_step}" if name in OF_STEPS else "from the next call"

    def running(self) -> MultiStepAgent:
        """The agent, as long as this run goes on."""
        if self._draft is None:
            raise OptionError("The run has ended.")
        return self.living()

    def tell(self) -> None:
        """Something is to be shown that no event tells."""
        self._on_news()

    def _note_setting(self, change: SettingChange) -> None:
        if self._draft is not None and change.name in _SHOWN and change.name != "is_paused":
            self._pending[change.name] = self.effective(change.name)
        self.tell()


def _nothing() -> None:
    pass


_going_on: weakref.WeakKeyDictionary[MultiStepAgent, LiveRun] = weakref.WeakKeyDictionary()
