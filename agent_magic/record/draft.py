"""RunDraft: the record of a run while it goes on, folded from the run's events.

It must not draw, nor know who pumps the events.

A finished step is rendered once and stays the same object from then on, so that whoever draws
the record again and again need draw only what is new.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never, cast

from agent_magic.core.events import (
    ApprovalGiven,
    ArgumentsDelta,
    ContextShortened,
    Event,
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
from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, PlanningStep, TaskStep
from agent_magic.record.clean import redact_plain
from agent_magic.record.notes import add_beside, cut_beside, cut_note, to_note
from agent_magic.record.now import Now
from agent_magic.record.plan import to_plan_record
from agent_magic.record.run import cut_head, to_head, to_record
from agent_magic.record.schema import AnyStepRecord, LaidOnRecord, NoteRecord, RunRecord
from agent_magic.record.step import LOOSEST, to_seconds, to_step_record, to_usage

_SHOWN_NOTES = 5


class RunDraft:
    """A run's record from its first event on.

    Args:
        reason: Why this model was chosen.
        warnings: Said in the header, such as a near miss of a variable's name.
        clock: Gives seconds since 1970.
    """

    def __init__(
        self,
        *,
        reason: str | None = None,
        warnings: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._reason = reason
        self._warnings = tuple(warnings)
        self._clock = clock
        self._started = clock()
        self._head = self._to_head(
            RunStarted(run_id="", agent_name="", model_id="", max_steps=0, task=TaskStep(task=""))
        )
        self._steps: list[AnyStepRecord] = []
        self._made: list[ActionStep | PlanningStep] = []
        self._notes: list[list[NoteRecord]] = []
        """Of each step that was made."""
        self._new_notes: list[NoteRecord] = []
        """Of the step that is being made."""
        self._usage: TokenUsage | None = None
        self._first_step: int | None = None
        self._has_begun = False
        self._now = Now(1)
        self._finished: RunRecord | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self._finished is not None

    @property
    def boundary_step(self) -> int:
        """The number of the step before which settings of steps are taken up next."""
        return self._now.step_number + self._has_begun

    def add(self, event: Event) -> None:  # noqa: C901 - one case for each event
        """Take in what happened."""
        match event:
            case RunStarted():
                self._started = self._clock()
                self._head = self._to_head(event)
            case StepStarted():
                self._first_step = self._first_step or event.step_number
                self._now = Now(event.step_number, is_planning=event.kind == "plan")
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
                self._now.end(event.result)
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
            notes = self._notes[place]
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
        if self._new_notes and self._notes:  # the step that they told of was not made
            self._notes[-1] += self._new_notes
            self._new_notes = []
        warnings = [*self._warnings, *(note["text"] for note in self._new_notes if "is_warning" in note)]
        notes = self._to_notes(result)
        self._finished = to_record(
            result, reason=self._reason, warnings=warnings, notes=notes, laid_on=laid_on
        )

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
        if self._new_notes:
            record["now"]["notes"] = [_to_shown(note) for note in self._new_notes[-_SHOWN_NOTES:]]
        return record

    def _to_head(self, event: RunStarted) -> RunRecord:
        head = to_head(
            run_id=event.run_id,
            agent=event.agent_name,
            model=event.model_id,
            max_steps=event.max_steps,
            task=event.task,
            started=self._started,
            reason=self._reason,
            warnings=self._warnings,
        )
        return cut_head(head, LOOSEST)

    def _add_step(self, step: ActionStep | PlanningStep) -> None:
        notes, self._new_notes = self._new_notes, []
        # A plan and the action after it are one step: settings of steps are not taken up between them.
        self._has_begun = isinstance(step, PlanningStep)
        if isinstance(step, PlanningStep):
            self._steps.append(to_plan_record(step, notes=notes))
            self._now = Now(step.step_number)
        else:
            self._steps.append(to_step_record(step, notes=notes))
            self._now = Now(step.step_number + 1)
        self._made.append(step)
        self._notes.append(notes)
        usage = step.token_usage or TokenUsage()
        self._usage = usage if self._usage is None else self._usage + usage

    def _add_note(self, event: SettingChanged | ContextShortened | Notice | ApprovalGiven) -> None:
        note = to_note(event)
        self._first_step = self._first_step or event.step_number
        match event:
            case SettingChanged(name="max_steps", value=int() as n_steps):
                self._head["max_steps"] = n_steps + self._first_step - 1
            case SettingChanged(name="is_paused", value=False):
                self._now.waiting = None
            case _:
                pass
        last = self._made[-1] if self._made else None
        if not isinstance(last, ActionStep) or last.step_number < event.step_number:
            self._new_notes.append(note)
            return
        # News of a step that is over, such as a callback that raised: its record is made anew.
        self._notes[-1].append(note)
        record = self._steps[-1].copy()
        add_beside(record, [_to_shown(note)], None)
        cut_beside(record, LOOSEST.chars, LOOSEST.items // 2)
        self._steps[-1] = record

    def _to_notes(self, result: RunResult) -> dict[int, list[NoteRecord]]:
        """The notes by the place of their step in the result."""
        left = list(zip(self._made, self._notes, strict=True))
        placed: dict[int, list[NoteRecord]] = {}
        for place, step in enumerate(result.steps):
            for i, (made, notes) in enumerate(left):
                # A step that was edited since is another object.
                if type(made) is type(step) and made.step_number == getattr(step, "step_number", None):
                    placed[place] = notes
                    del left[i]
                    break
        return placed


def _to_shown(note: NoteRecord) -> NoteRecord:
    return cut_note(cast("NoteRecord", redact_plain(note)))
