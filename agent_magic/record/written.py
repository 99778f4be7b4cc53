"""A run as far as the lines of its journal tell, and its result where nobody wrote how it ended.

It must not read a line: `load_journal` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_magic.core.form.part import originals
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import AgentMode, RunResult, RunStatus
from agent_magic.core.steps import ActionStep, Fault, FinalAnswerStep, PlanningStep, RunStep, TaskStep, Timing
from agent_magic.core.values import Value
from agent_magic.record.rebuild import Rebuilt
from agent_magic.record.schema import Json
from agent_magic.record.shown import Beside
from agent_magic.record.step_notes import StepNotes
from agent_magic.record.unfinished import Unfinished, usage_of


@dataclass(slots=True, kw_only=True)
class WrittenRun:
    """One run, as far as its lines tell."""

    run_id: str
    agent_name: str
    model_id: str
    max_steps: int
    mode: AgentMode
    n_before: int
    start: float
    end: float
    part: int
    """In which memory, by its place in the file."""
    step: Unfinished | None = None
    outcome: Json | None = None
    is_capped: bool = False
    reason: str | None = None
    """Why its model was chosen."""
    warnings: Sequence[str] = ()
    """Of its header, from its beginning."""
    notes: StepNotes = field(default_factory=StepNotes)

    def to_beside(self, steps: Sequence[RunStep]) -> Beside:
        """What stood beside the run in its cell; `steps` are those of its result."""
        warnings = [*self.warnings, *self.notes.end()]
        return Beside(reason=self.reason, warnings=warnings, notes=self.notes.to_places(steps))


def steps_of(run: WrittenRun, rebuilt: Rebuilt, n_after: int | None) -> list[RunStep]:
    """The steps of a run as they were made, those of the one after it begin at `n_after`."""
    memory = rebuilt.memory
    if not rebuilt.is_whole:  # where they stood is not known any more
        return []
    return originals(memory.entries, memory.edits)[run.n_before : n_after]


def to_last_step(
    run: WrittenRun, memory: AgentMemory, steps: list[RunStep], reason: str
) -> ActionStep | PlanningStep:
    """The step that says that the run was not finished, with what there is of the one that was being made."""
    counted = steps
    if steps and isinstance(steps[0], TaskStep) and steps[0].resumes is not None:
        counted = list(memory.steps)  # numbers go on from the run before
    made = [s.step_number for s in counted if isinstance(s, ActionStep)]
    number = made[-1] + 1 if made else 1
    step = run.step or Unfinished(step_number=number, start=run.end, mode=run.mode)
    last = memory.requests[-1] if memory.requests else None
    is_ours = last is not None and last.run_id == run.run_id and last.step_number == step.step_number
    known = {call.id for s in memory.steps if isinstance(s, ActionStep) for call in s.tool_calls}
    return step.to_step(
        end=run.end,
        reason=reason,
        digest=last.digest if is_ours and last and step.reply else "",
        known_ids=known,
        is_first_plan=not any(isinstance(s, PlanningStep) and s.plan for s in steps),
    )


def to_unfinished(run: WrittenRun, steps: list[RunStep], reason: str, earlier: list[RunResult]) -> RunResult:
    """The result of a run of which nobody wrote how it ended."""
    last = steps[-1] if steps else None
    status: RunStatus = "interrupted"
    error: Fault | None = Fault(kind="Interrupted", message=reason)
    value: Value = None
    if isinstance(last, ActionStep | PlanningStep) and last.is_interrupted:
        error = last.fault
    if isinstance(last, FinalAnswerStep):  # it had ended, but for that word
        status, error = ("answered" if last.request is None else "max_steps"), None
        value = last.answer
    task = next((step for step in steps if isinstance(step, TaskStep)), TaskStep(task=""))
    before = next((result for result in earlier if result.run_id == task.resumes), None)
    return RunResult(
        run_id=run.run_id,
        agent_name=run.agent_name,
        model_id=run.model_id,
        task=before.task if before else task.task,
        value=value,
        status=status,
        max_steps=run.max_steps,
        steps=tuple(steps),
        usage=usage_of(steps),
        timing=Timing(start=run.start, end=run.end),
        error=error,
        resumed_from=task.resumes,
        mode=run.mode,
    )
