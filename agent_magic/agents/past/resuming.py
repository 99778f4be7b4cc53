"""Going on with a run that ended without an answer: what it goes on with, and how it is told so.

It must not start a run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from agent_magic.agents.run.run import Origin
from agent_magic.core.errors import OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, PlanningStep, TaskStep


def origin_of(result: RunResult | None, results: list[RunResult]) -> Origin:
    """What a resumed run takes over from the last one and from those before it of the same task.

    Raises:
        OptionError: There is nothing to go on with.
    """
    if result is None:
        raise OptionError("There is no run to resume. Give a task first.")
    if result.status == "answered":
        raise OptionError("The last run was answered, so there is nothing to resume. Give a new task.")
    chain = chain_of(result, results)
    made = [step for earlier in chain for step in reversed(earlier.steps)]
    plans = [step for step in made if isinstance(step, PlanningStep) and not step.fault]
    newest = next((step for step in made if isinstance(step, ActionStep | PlanningStep)), None)
    return Origin(
        run_id=result.run_id,
        task=result.task,
        n_steps=max((step.step_number for earlier in chain for step in earlier.actions), default=0),
        plan=plans[0].plan if plans else None,
        is_plan_fresh=bool(plans) and newest is plans[0],
    )


def resumed_task(
    step: TaskStep | None, origin: Origin, words: Callable[[], str], *, is_corrected: bool
) -> TaskStep:
    """The step that begins a resumed run: the person's correction, or a word to go on.

    Args:
        step: The correction, or our words, with images and variables; None if there is none of these.
        words: What is said then.
        is_corrected: The words of `step` are the person's.
    """
    step = step or TaskStep(task=words())
    return dataclasses.replace(step, resumes=origin.run_id, is_ours=not is_corrected)


def chain_of(result: RunResult | None, results: list[RunResult]) -> list[RunResult]:
    """The run and those that it went on with, newest first."""
    if result is None:
        return []
    by_id = {earlier.run_id: earlier for earlier in results}
    chain = [result]
    while (before := by_id.pop(chain[-1].resumed_from or "", None)) is not None:
        chain.append(before)
    return chain


def drop_last_run(memory: AgentMemory, result: RunResult | None, results: list[RunResult]) -> TaskStep:
    """Take the steps of the last task out of the memory, those of the runs it resumed too.

    Returns:
        The task, to be done again.

    Raises:
        OptionError: There is no run.
    """
    if result is None:
        raise OptionError("There is no run to retry. Give a task first.")
    chain = chain_of(result, results)
    memory.drop(*(step for earlier in chain for step in earlier.steps))
    task = chain[-1].steps[0]
    assert isinstance(task, TaskStep)
    return task
