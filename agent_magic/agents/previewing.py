"""What an agent's model is sent next, or was sent: of a run that goes on, or of one that might be started.

It must not send anything, nor change what it looks at.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from agent_magic.agents.past.resuming import chain_of
from agent_magic.agents.remembering import RememberingAgent
from agent_magic.agents.requests.moment import Composed, Moment
from agent_magic.agents.requests.preview import Preview, preview_next, preview_sent
from agent_magic.agents.run.boundary import foresee_max_steps
from agent_magic.agents.run.meter import Meter
from agent_magic.agents.run.run import Run
from agent_magic.agents.run.task import build_task, check_task
from agent_magic.core.errors import OptionError
from agent_magic.core.messages import RequestKind
from agent_magic.core.settings import SummaryMode
from agent_magic.core.values import Value


class PreviewingAgent(RememberingAgent, ABC):
    """An agent whose requests can be looked at."""

    @abstractmethod
    def compose(self, moment: Moment, kind: RequestKind) -> Composed:
        """The request that is made at this moment; the memory's system prompt is put in."""

    def preview(
        self,
        step: int | None = None,
        *,
        summary_mode: SummaryMode | None = None,
        kind: RequestKind = "act",
        task: str | None = None,
    ) -> Preview:
        """Exactly what the model is sent: in the next call, or in a past one of the last run.

        Args:
            step: The number of a step that was made; None for the next call.
            summary_mode: Another setting than the one that holds, or held.
            kind: The request for an action, for a plan, or for the last answer at the step limit.
            task: Of a run that is not started yet.

        Raises:
            OptionError: No such request was made, or no such kind or mode.
        """
        _check_choice("kind", kind, ("act", "plan", "final"))
        if summary_mode is not None:
            _check_choice("summary_mode", summary_mode, ("plan", "all", "off"))
        if step is not None:
            _check_step(step, task)
        if task is not None:
            check_task(task)
        run = self._history.last
        if step is not None:
            memory = self.memory if run is None else self._history.memory_of(run.run_id)
            return preview_sent(
                memory,
                self.model if run is None else run.model,
                run_ids=self._chain_of(run),
                step_number=step,
                kind=kind,
                summary_mode=summary_mode,
            )
        is_active = run is not None and run.result is None
        if run is None or not is_active or task is not None:
            moment, run_id = self._resting_moment(task), None
        else:
            moment, run_id = self._copied_moment(run), run.run_id
        moment.summary_mode = summary_mode or moment.summary_mode
        return preview_next(self, moment, kind, run_id=run_id)

    def moment_of(self, run: Run) -> Moment:
        """Where a run is now, on its own memory."""
        return Moment(
            memory=run.memory,
            state=run.state,
            model=run.model,
            meter=run.meter,
            step_number=run.step_number,
            max_steps=run.max_steps,
            summary_mode=run.values.summary_mode,
            has_plan=run.plan is not None,
            window=run.window or run.model.context_window,
            is_first_request=run.step_number == run.first_step,
            own_tools=run.own_tools,
        )

    def _chain_of(self, run: Run | None) -> tuple[str, ...]:
        """The run, or else the last result's, and those that it went on with, newest first."""
        if run is None:  # they were loaded
            return tuple(result.run_id for result in chain_of(self.result, self.runs))
        earlier = {result.run_id: result.resumed_from for result in self.runs}
        chain = [run.run_id]
        before = run.origin.run_id if run.origin else None
        while before is not None:
            chain.append(before)
            before = earlier.get(before)
        return tuple(chain)

    def _copied_moment(self, run: Run) -> Moment:
        """Where a run is now, on copies that may be changed."""
        moment = self.moment_of(run)
        moment.memory, moment.state, moment.own_tools = run.memory.fork(), run.state.copy(), {}
        if not run.steps:  # it was made, but nobody has taken its first event yet
            moment.memory.append(run.task)
        moment.summary_mode, moment.max_steps = self.summary_mode, foresee_max_steps(run)
        return moment

    def _resting_moment(self, task: str | None) -> Moment:
        """Where a run would be that started now."""
        memory, state = self._history.fork(), self.state.copy()
        if task is not None:
            memory.append(build_task(task, None, {}, state))
        return Moment(
            memory=memory,
            state=state,
            model=self.model,
            meter=Meter(self.model),
            step_number=1,
            max_steps=self.max_steps,
            summary_mode=self.summary_mode,
            has_plan=False,
            window=self.model.context_window,
        )


def _check_step(step: Value, task: Value) -> None:
    if isinstance(step, bool) or not isinstance(step, int):
        raise OptionError(
            f"step={step!r} is not allowed. Give the number of a step, or None for the next call."
        )
    if task is not None:
        raise OptionError("A past step and a task are given together. Leave out one of them.")


def _check_choice(what: str, value: Value, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise OptionError(f"{what}={value!r} is not allowed. Give one of: {', '.join(map(repr, choices))}.")
