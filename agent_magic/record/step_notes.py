"""StepNotes: the news of a run, each beside the step of its moment.

It must not know what a note says.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_magic.core.steps import ActionStep, PlanningStep, RunStep
from agent_magic.record.schema import NoteRecord


class StepNotes:
    """Takes notes and steps in the order in which a run tells of them."""

    def __init__(self) -> None:
        self.made: list[list[NoteRecord]] = []
        """Of each plan and action that was made."""
        self.new: list[NoteRecord] = []
        """Of the step that is being made."""
        self._steps: list[tuple[bool, int]] = []
        """Of each that was made: whether it is a plan, and its number."""

    def add(self, note: NoteRecord, step_number: int) -> bool:
        """Take a note; whether it is one of the last step that was made, such as of a callback that raised."""
        is_plan, last = self._steps[-1] if self._steps else (True, 0)
        is_late = not is_plan and last >= step_number
        (self.made[-1] if is_late else self.new).append(note)
        return is_late

    def end_step(self, step_number: int, *, is_plan: bool) -> list[NoteRecord]:
        """A plan or an action was made; gives what stands beside it."""
        notes, self.new = self.new, []
        self._steps.append((is_plan, step_number))
        self.made.append(notes)
        return notes

    def end(self) -> list[str]:
        """The run has ended; gives what is to be warned of that no step tells."""
        if self.new and self.made:  # the step that they told of was not made
            self.made[-1] += self.new
            self.new = []
        return [note["text"] for note in self.new if "is_warning" in note]

    def to_places(self, steps: Sequence[RunStep]) -> dict[int, list[NoteRecord]]:
        """The notes by the place of their step among those of a run, which may have been edited since."""
        left = list(zip(self._steps, self.made, strict=True))
        placed: dict[int, list[NoteRecord]] = {}
        for place, step in enumerate(steps):
            if not isinstance(step, ActionStep | PlanningStep):
                continue
            key = (isinstance(step, PlanningStep), step.step_number)
            found = next((i for i, (made, _) in enumerate(left) if made == key), None)
            if found is not None:
                placed[place] = left.pop(found)[1]
        return placed
