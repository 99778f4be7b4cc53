"""Planning: when a plan is due, how one is made, and what of it counts.

A plan is text in the history, never a program: no call in it is made. It must not end a run: a
plan that could not be made is recorded, and the run goes on without a new one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Generator
from typing import Protocol

from agent_magic.agents.asking import ask_model
from agent_magic.agents.hooks import takes_keyword
from agent_magic.agents.moment import Composer, Moment
from agent_magic.agents.run import Run
from agent_magic.core.errors import RunError
from agent_magic.core.events import Event, Notice, StepStarted
from agent_magic.core.steps import Fault, PlanDiff, PlanningStep
from agent_magic.core.values import Value

PlanApproval = Callable[..., Value]
"""`approve_plan(plan)` or `approve_plan(plan, agent=agent)`: True or None takes the plan, a text
takes that text instead, False refuses it."""
END_OF_PLAN = "<end_plan>"
_LEADS = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s*")


class Planning(Composer, Protocol):
    """What planning needs of an agent."""

    @property
    def approve_plan(self) -> PlanApproval | None:
        """The person's say in each plan, if there is one."""
        ...

    def plan_handover(self) -> str:
        """The user message after a plan."""
        ...


def is_due(run: Run) -> bool:
    """Whether a plan comes before the step that is made next."""
    interval = run.values.planning_interval
    return run.wants_plan or (interval is not None and (run.step_number - 1) % interval == 0)


def make_plan(run: Run, moment: Moment, planning: Planning) -> Generator[Event, None, PlanningStep]:
    """Ask for a plan and enter what came of it into memory.

    Raises:
        BudgetReached: The call would pass a budget.
        Interrupted: The person stopped the run.
    """
    draft = run.begin_plan(run.step_number)
    run.wants_plan = False
    yield StepStarted(step_number=draft.step_number, kind="plan")
    try:
        reply = yield from ask_model(run, moment, draft, planning, "plan")
    except RunError as error:
        draft.fault = Fault(kind=type(error).__name__, message=error.message)
    else:
        plan = (reply.message.content or "").partition(END_OF_PLAN)[0].strip()
        if not plan:
            draft.fault = Fault(kind="NoPlan", message="The reply held no text, so there is no new plan.")
        else:
            plan, notice = _approve(plan, planning)
            if notice:
                yield Notice(step_number=draft.step_number, message=notice)
            if plan is None:
                draft.fault = Fault(kind="PlanRefused", message=notice or "The person refused this plan.")
            else:
                draft.plan, draft.handover = plan, planning.plan_handover()
                draft.diff = diff_plans(run.plan or "", plan)
                run.plan = plan
    step = run.end_step()
    assert isinstance(step, PlanningStep)
    return step


def diff_plans(old: str, new: str) -> PlanDiff:
    """What lines of a plan are new, are gone, and stay; a line's number does not count."""
    added: list[str] = []
    dropped: list[str] = []
    kept: list[str] = []
    matcher = difflib.SequenceMatcher(None, before := _lines(old), after := _lines(new), autojunk=False)
    for what, start, end, new_start, new_end in matcher.get_opcodes():
        if what == "equal":
            kept += before[start:end]
        else:
            dropped += before[start:end]
            added += after[new_start:new_end]
    return PlanDiff(added=tuple(added), dropped=tuple(dropped), kept=tuple(kept))


def _lines(plan: str) -> list[str]:
    return [_LEADS.sub("", line).strip() for line in plan.splitlines() if line.strip()]


def _approve(plan: str, planning: Planning) -> tuple[str | None, str]:
    """The plan that counts, None for none, and what the person should be told."""
    approve = planning.approve_plan
    if approve is None:
        return plan, ""
    try:
        said = approve(plan, agent=planning) if takes_keyword(approve, "agent") else approve(plan)
    except Exception as error:  # noqa: BLE001 - the person's own function may raise anything
        return None, f"approve_plan raised {type(error).__name__}: {error}. The plan does not count."
    if said is None or said is True:
        return plan, ""
    if isinstance(said, str) and said.strip():
        return said.strip(), ""
    if said is False:
        return None, ""
    return (
        None,
        f"approve_plan returned {said!r:.80}: give True, False or the text of a plan. The plan does not count.",
    )
