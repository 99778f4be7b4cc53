"""RunDraft: the record of a run while it goes on, folded from the run's events.

It must not draw, nor know who pumps the events.

A finished step is rendered once and stays the same object from then on, so that whoever draws
the record again and again need draw only what is new.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import assert_never, cast

from agent_magic.core.events import (
    ApprovalGiven,
    ArgumentsDelta,
    ContextShortened,
    Event,
    ManagedEvent,
    ModelReplied,
    Notice,
    PlanDelta,
    RunEnded,
    RunStarted,
    SettingChanged,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import AgentMode, RunResult
from agent_magic.core.steps import ActionStep, PlanningStep, TaskStep
from agent_magic.record.call import to_seconds
from agent_magic.record.clean import redact_plain
from agent_magic.record.keeping import with_memory
from agent_magic.record.lane import end_lane, lane_of, to_step_record, usages_of_lanes
from agent_magic.record.limits import LOOSEST, Limits
from agent_magic.record.notes import add_beside, cut_beside, cut_note, to_managed_note, to_note
from agent_magic.record.now import Now
from agent_magic.record.plan import to_plan_record
from agent_magic.record.run import cut_head, to_head, to_record
from agent_magic.record.schema import AnyStepRecord, LaidOnRecord, LaneRecord, NoteRecord, RunRecord
from agent_magic.record.sounds import n_chars_of_sounds
from agent_magic.record.step import to_usage
from agent_magic.record.step_notes import StepNotes
from agent_magic.record.thumbnails import n_chars_of_images

_SHOWN_NOTES = 5
_MAX_IMAGE_CHARS = 1_000_000
"""Of all images while the run goes on, sounds counted too; those after them stand in words until it ends."""
_LIVE = replace(LOOSEST, lane_steps=12, lane_chars=1_000)
_LANE = Limits(chars=2_000, items=20, inner=10)
"""Of a step of a run inside this one."""


class RunDraft:
    """A run's record from its first event on.

    Args:
        reason: Why this model was chosen.
        warnings: Said in the header, such as a near miss of a variable's name.
        is_quiet: The person asked for header and answer only.
        clock: Gives seconds since 1970.
        limits: Of each step, while the run goes on.
    """

    def __init__(
        self,
        *,
        reason: str | None = None,
        warnings: Sequence[str] = (),
        is_quiet: bool = False,
        clock: Callable[[], float] = time.time,
        limits: Limits = _LIVE,
    ) -> None:
        self._reason = reason
        self._warnings = tuple(warnings)
        self._is_quiet = is_quiet
        self._clock = clock
        self._limits = limits
        self._started = clock()
        self._head = self._to_head(
            RunStarted(run_id="", agent_name="", model_id="", max_steps=0, task=TaskStep(task=""))
        )
        self._steps: list[AnyStepRecord] = []
        self._made: list[ActionStep | PlanningStep] = []
        self._notes = StepNotes()
        self._n_image_chars = 0
        self._usage: TokenUsage | None = None
        self._first_step: int | None = None
        self._has_begun = False
        self._mode: AgentMode = "tools"
        self._now = self._new_now(1)
        self._finished: RunRecord | None = None
        self._keep: Callable[[RunRecord], RunRecord] = _as_it_is

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self._finished is not None

    @property
    def boundary_step(self) -> int:
        """The number of the step before which settings of steps are taken up next."""
        return self._now.step_number + self._has_begun

    @property
    def counts_down(self) -> bool:
        """Whether it waits for a time that is known: what is shown changes without news."""
        return self._finished is None and self._now.counts_down

    def add(self, event: Event) -> None:  # noqa: C901 - one case for each event
        """Take in what happened."""
        match event:
            case RunStarted():
                self._started = self._clock()
                self._mode = event.mode
                self._head = self._to_head(event)
            case StepStarted():
                self._first_step = self._first_step or event.step_number
                self._now = self._new_now(event.step_number, is_planning=event.kind == "plan")
                self._has_begun = True
            case TextDelta() | PlanDelta():
                self._now.write(event)
            case ArgumentsDelta():
                self._now.write_arguments(event)
            case Waiting():
                self._now.wait(event)
            case ApprovalGiven():
                self._now.decide(event)
                self._add_note(event)
            case ModelReplied():
                self._now.end_reply()
            case ToolCallStarted():
                self._now.start(event)
            case ToolCallEnded():
                self._now.end(event)
            case ManagedEvent():
                self._now.manage(event)
                self._add_managed_note(event)
            case StepEnded():
                if isinstance(event.step, ActionStep | PlanningStep):
                    self._add_step(event.step)
            case SettingChanged() | ContextShortened() | Notice():
                self._add_note(event)
            case RunEnded():
                self.finish(event.result)
            case _:
                assert_never(event)

    def warn(self, warning: str) -> None:
        """Say something in the header from now on."""
        self._warnings = (*self._warnings, warning)

    def lay_on(self, place: int, step: ActionStep | PlanningStep, laid_on: LaidOnRecord | None) -> None:
        """Show a step, by its place, as it counts now: edited, or with what was laid upon it."""
        if self._finished is None and place < len(self._steps):
            notes = self._notes.made[place]
            self._steps[place] = (
                to_plan_record(step, notes=notes, laid_on=laid_on)
                if isinstance(step, PlanningStep)
                else to_step_record(step, notes=notes, laid_on=laid_on)
            )

    def finish(self, result: RunResult, laid_on: Mapping[int, LaidOnRecord | None] | None = None) -> None:
        """End the record with `result`; for a run that was closed from outside and said nothing.

        Args:
            laid_on: See `record.run.to_record`.
        """
        warnings = [*self._warnings, *self._notes.end()]
        notes = self._notes.to_places(result.steps)
        self._finished = to_record(
            result, reason=self._reason, warnings=warnings, notes=notes, laid_on=laid_on
        )
        if self._is_quiet:
            self._finished["is_quiet"] = True

    def keep(self, memory: AgentMemory, result: RunResult, *, journal: str | None = None) -> None:
        """Let `to_kept_record` have what it takes to go on from the run.

        Args:
            memory: That the run worked on.
            result: Of the run, as it ended.
            journal: The name of its journal.
        """
        self._keep = lambda record: with_memory(record, memory, result, journal=journal)

    def to_kept_record(self) -> RunRecord:
        """The record of a run that has ended, as it stands in a notebook."""
        return self._keep(self.to_record())

    def to_record(self) -> RunRecord:
        """The record as it stands; after the end that of the result, with the notes taken in before."""
        if self._finished is not None:
            return self._finished
        record = self._head.copy()
        record["steps"] = self._steps.copy()
        record["n_steps"] = sum(isinstance(step, ActionStep) for step in self._made)
        record["duration_s"] = to_seconds(self._clock() - self._started)
        record["usage"] = to_usage(self._usage)
        record["now"] = self._now.to_record()
        if self._is_quiet:
            record["is_quiet"] = True
        if self._notes.new:
            record["now"]["notes"] = [_to_shown(note) for note in self._notes.new[-_SHOWN_NOTES:]]
        return record

    def _to_head(self, event: RunStarted) -> RunRecord:
        head = to_head(
            run_id=event.run_id,
            agent=event.agent_name,
            model=event.model_id,
            max_steps=event.max_steps,
            task=event.task,
            started=self._started,
            mode=event.mode,
            reason=self._reason,
            warnings=self._warnings,
        )
        return cut_head(head, LOOSEST)

    def _new_now(self, step_number: int, *, is_planning: bool = False) -> Now:
        return Now(
            step_number,
            is_planning=is_planning,
            mode=self._mode,
            clock=self._clock,
            new_lane=lambda: _Lane(self._clock),
        )

    def _add_step(self, step: ActionStep | PlanningStep) -> None:
        notes = self._notes.end_step(step.step_number, is_plan=isinstance(step, PlanningStep))
        # A plan and the action after it are one step: settings of steps are not taken up between them.
        self._has_begun = isinstance(step, PlanningStep)
        if isinstance(step, PlanningStep):
            self._steps.append(to_plan_record(step, notes=notes))
            self._now = self._new_now(step.step_number)
        else:
            self._steps.append(self._to_step_record(step, notes))
            self._now = self._new_now(step.step_number + 1)
        self._made.append(step)
        for usage in (step.token_usage or TokenUsage(), *usages_of_lanes(step)):
            self._usage = usage if self._usage is None else self._usage + usage

    def _to_step_record(self, step: ActionStep, notes: Sequence[NoteRecord]) -> AnyStepRecord:
        left = max(_MAX_IMAGE_CHARS - self._n_image_chars, 0)
        limits = self._limits
        limits = replace(limits, images=min(limits.images, left), sounds=min(limits.sounds, left))
        record = to_step_record(step, limits, notes=notes)
        self._n_image_chars += n_chars_of_images(record) + n_chars_of_sounds(record)
        return record

    def _add_note(self, event: SettingChanged | ContextShortened | Notice | ApprovalGiven) -> None:
        self._first_step = self._first_step or event.step_number
        match event:
            case SettingChanged(name="max_steps", value=int() as n_steps):
                self._head["max_steps"] = n_steps + self._first_step - 1
            case SettingChanged(name="is_paused", value=False):
                self._now.waiting = None
            case _:
                pass
        self._note(to_note(event), event.step_number)

    def _add_managed_note(self, event: ManagedEvent) -> None:
        """What the person should know of a run inside this one stands beside the step that it was made for."""
        note = to_managed_note(event)
        if note is not None:
            self._note(note, event.step_number)

    def _note(self, note: NoteRecord, step_number: int) -> None:
        if not self._notes.add(note, step_number):
            return
        # News of a step that is over: its record is made anew.
        record = self._steps[-1].copy()
        add_beside(record, [_to_shown(note)], None)
        cut_beside(record, LOOSEST.chars, LOOSEST.items // 2)
        self._steps[-1] = record


class _Lane:
    """The lane of a run inside a run, folded from its events likewise."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._draft = RunDraft(clock=clock, limits=_LANE)
        self._result: RunResult | None = None

    @property
    def counts_down(self) -> bool:
        return self._result is None and self._draft.counts_down

    def add(self, event: Event) -> None:
        if isinstance(event, RunEnded):  # its steps stay the objects that they are
            self._result = event.result
        else:
            self._draft.add(event)

    def to_lane(self) -> LaneRecord:
        lane = lane_of(self._draft.to_record())
        return lane if self._result is None else end_lane(lane, self._result)


def _as_it_is(record: RunRecord) -> RunRecord:
    return record


def _to_shown(note: NoteRecord) -> NoteRecord:
    return cut_note(cast("NoteRecord", redact_plain(note)))
