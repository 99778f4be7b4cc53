"""Steering: what pages may ask of an agent, alike for the view of a run and for the agent's panel.

What a page asks comes from the kernel's control thread: it is put where a run takes it up, and the
moment from which it holds is said. It must not draw, nor know which steps are shown.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.edits import StepView
from agent_magic.core.errors import OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import RequestKind
from agent_magic.core.steps import PlanningStep, RunStep
from agent_magic.core.values import Value
from agent_magic.notebook.live.lens import look_at_both, look_at_step
from agent_magic.record.schema import Json
from agent_magic.view.protocol import SettingsRecord

OF_STEPS = frozenset({"max_steps", "planning_interval"})
"""Settings that are taken up before a step; the others before any call."""
_PARTS = frozenset({"model_output", "arguments", "observations", "plan"})


class Steering(ABC):
    """An agent as pages steer it; each kind says which step is at a place, and from when on a change holds."""

    def __init__(self, agent: MultiStepAgent) -> None:
        self._agent = weakref.ref(agent)

    @abstractmethod
    def step_at(self, place: int) -> RunStep:
        """The step at a place of what is shown.

        Raises:
            OptionError: There is none.
        """

    @abstractmethod
    def effective(self, name: str) -> str:
        """From when on a change of this setting, or of a step (`view`), holds."""

    @abstractmethod
    def running(self) -> MultiStepAgent:
        """The agent, if a run goes on.

        Raises:
            OptionError: None does.
        """

    @abstractmethod
    def tell(self) -> None:
        """Something is to be shown; never waits, whatever thread it comes from."""

    @property
    def settings(self) -> SettingsRecord | None:
        """The settings and when they hold; None if the agent is gone."""
        agent = self._agent()
        if agent is None:
            return None
        values = agent.settings.values
        return SettingsRecord(
            summary_mode=values.summary_mode,
            planning_interval=values.planning_interval,
            is_paused=values.is_paused,
            max_steps=values.max_steps,
            approve=values.approve,
            pending=self.pending(),
        )

    def pending(self) -> dict[str, str]:
        """Settings that were changed and do not hold yet, with the moment from which they will."""
        return {}

    def living(self) -> MultiStepAgent:
        """The agent.

        Raises:
            OptionError: It is gone.
        """
        agent = self._agent()
        if agent is None:
            raise OptionError("The agent of this run is gone: its variable was deleted or bound anew.")
        return agent

    def memory_in(self, agent: MultiStepAgent) -> AgentMemory:
        """The memory that holds what is shown."""
        return agent.memory

    # -- what pages ask for --------------------------------------------------------------------

    def stop(self) -> str:
        """End the run as interrupted."""
        self.running().interrupt()
        return "now"

    def pause(self) -> str:
        """Let it wait before its next call."""
        self.running().pause()
        return "before the next call"

    def go_on(self) -> str:
        """Let it go on."""
        self.living().unpause()
        return "now"

    def replan_now(self) -> str:
        """Have a plan made before the next step."""
        self.running().replan_now()
        return self.effective("planning_interval")

    def set(self, name: str, value: Value) -> str:
        """Change a setting."""
        self.living().settings.update(**{name: value})
        return self.effective(name)

    def set_view(self, place: int, view: StepView | None) -> str:
        """Show a step otherwise to the model."""
        self.memory_in(self.living()).set_view(self.step_at(place), view)
        return self._changed()

    def set_pinned(self, place: int, *, is_pinned: bool) -> str:
        """Shorten a step last."""
        self.memory_in(self.living()).set_pinned(self.step_at(place), is_pinned)
        return self._changed()

    def edit_step(self, place: int, changes: dict[str, Value]) -> str:
        """Put other texts into a step."""
        for name in changes:
            if name not in _PARTS:
                raise OptionError(f"A step has no part {name!r} to edit. Parts: {', '.join(sorted(_PARTS))}.")
        self.memory_in(self.living()).edit(self.step_at(place), **changes)
        return self._changed()

    def undo(self) -> str:
        """Take back the last change to a step."""
        if not self.memory_in(self.living()).undo():
            raise OptionError("There is no change to take back.")
        return self._changed()

    def decide(self, verdict: str, item: str, digest: str, request: dict[str, Value]) -> str:
        """Answer what the run asks its person."""
        return self.living().approvals.answer(
            item,
            verdict,  # pyright: ignore[reportArgumentType] - one of three, as the board has checked
            digest=digest,
            arguments=request.get("arguments"),
            plan=request.get("plan"),
            reason=request.get("reason") or "",
        )

    def lens(self, place: int | None, kind: RequestKind) -> Json:
        """The messages of a call in both views: the one that made a step, or the next one."""
        agent = self.living()
        if place is None:
            normal, summary = look_at_both(agent, step=None, kind=kind)
        else:
            step = self.step_at(place)
            made_by: RequestKind = "plan" if isinstance(step, PlanningStep) else kind
            normal, summary = look_at_step(agent, step, made_by, self.memory_in(agent))
        return {"normal": normal, "summary": summary}

    def _changed(self) -> str:
        self.tell()
        return self.effective("view")
