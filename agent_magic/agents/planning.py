"""Planning: when a plan is due, how one is made, and what of it counts.

A plan is text in the history, never a program: no call in it is made. It must not end a run: a
plan that could not be made is recorded, and the run goes on without a new one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator
from typing import Protocol

from agent_magic.agents.calls.approving import Asking, approve_plan_text
from agent_magic.agents.person.approvals import MAX_EDITED_PLAN
from agent_magic.agents.person.hooks import Failure, takes_keyword, tell_error, tell_safely
from agent_magic.agents.requests.asking import ask_model
from agent_magic.agents.requests.moment import Composer, Moment
from agent_magic.agents.run.boundary import has_news, pass_boundary
from agent_magic.agents.run.run import Run
from agent_magic.core.errors import DefinitionError, RunError
from agent_magic.core.events import Event, Notice, StepStarted
from agent_magic.core.steps import Fault, PlanDiff, PlanningStep
from agent_magic.core.text import SHORTEST_CUT, truncate
from agent_magic.core.values import Value, safe_repr

PlanApproval = Callable[..., Value]
"""`approve_plan(plan)` or `approve_plan(plan, agent=agent)`: True or None takes the plan, a text
takes that text instead, False refuses it."""
END_OF_PLAN = "<end_plan>"
MAX_PLAN = MAX_EDITED_PLAN
"""Characters of a plan that count; of a model with a small window as many as it has tokens."""
_REFUSED = "The person refused this plan."
_LEADS = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+")


class Planning(Composer, Asking, Protocol):
    """What planning needs of an agent."""

    @property
    def approve_plan(self) -> PlanApproval | None:
        """The person's say in each plan, if there is one."""
        ...

    def plan_handover(self) -> str:
        """The user message after a plan."""
        ...

    def moment_of(self, run: Run) -> Moment:
        """Where the run is now."""
        ...


def is_due(run: Run) -> bool:
    """Whether a plan comes before the step that is made next."""
    interval = run.values.planning_interval
    if run.wants_plan or interval is None:
        return run.wants_plan
    if run.origin is not None and run.step_number == run.first_step:
        # The run before may have ended between a plan and its first action, or before there was a plan.
        if run.origin.is_plan_fresh:
            return False
        if run.plan is None:
            return True
    return (run.step_number - 1) % interval == 0


def make_plan(run: Run, planning: Planning) -> Generator[Event, None, PlanningStep]:
    """Ask for a plan and enter what came of it into memory.

    Raises:
        BudgetReached: The call would pass a budget.
        Interrupted: The person stopped the run.
    """
    draft = run.begin_plan(run.step_number)
    run.wants_plan = False
    yield StepStarted(step_number=draft.step_number, kind="plan")
    try:
        if has_news(run):
            yield from pass_boundary(run, "call")
        # It stands beside a plan that failed too: the person may write one in its place.
        draft.handover = planning.plan_handover()
        reply = yield from ask_model(run, planning.moment_of(run), draft, planning, "plan")
    except (RunError, DefinitionError) as error:  # the latter: a live tool became one that cannot be
        draft.fault = Fault(kind=type(error).__name__, message=error.message)
    else:
        plan = (reply.message.content or "").partition(END_OF_PLAN)[0].strip()
        plan = truncate(plan, min(MAX_PLAN, max(run.model.context_window or MAX_PLAN, SHORTEST_CUT)))
        if not plan:
            draft.fault = Fault(kind="NoPlan", message="The reply held no text, so there is no new plan.")
        else:
            plan, why = yield from _approve(run, plan, planning)
            if plan is None:
                draft.fault = Fault(kind="PlanRefused", message=why)
            else:
                draft.plan, draft.diff = plan, diff_plans(run.plan or "", plan)
                run.plan = plan
    step = run.end_step()
    assert isinstance(step, PlanningStep)
    return step


def diff_plans(old: str, new: str) -> PlanDiff:
    """What lines of a plan are new, are gone, and stay; a line's number does not count."""
    before, after = _lines(old), _lines(new)
    return PlanDiff(
        added=tuple(_without(after, before)),
        dropped=tuple(_without(before, after)),
        kept=tuple(_without(after, _without(after, before))),
    )


def _without(lines: list[str], others: list[str]) -> list[str]:
    """The lines that are not among the others; of one that stands in both, as many as there are more."""
    left = Counter(others)
    rest: list[str] = []
    for line in lines:
        if left[line]:
            left[line] -= 1
        else:
            rest.append(line)
    return rest


def _lines(plan: str) -> list[str]:
    return [_LEADS.sub("", line).strip() for line in plan.splitlines() if line.strip()]


def _approve(run: Run, plan: str, planning: Planning) -> Generator[Event, None, tuple[str | None, str]]:
    """The plan that counts, None for none, and then why."""
    taken, failure = _consult(plan, planning)
    if failure:
        yield Notice(step_number=run.step_number, message=failure.message, about=failure.about)
    if taken is None:
        return None, failure.message if failure else _REFUSED
    said = yield from approve_plan_text(run, planning, run.step_number, taken)
    if said is not None and said.verdict == "rejected":
        return None, f"{_REFUSED[:-1]}: {said.reason}" if said.reason else _REFUSED
    return (said.plan if said else None) or taken, ""


def _consult(plan: str, planning: Planning) -> tuple[str | None, Failure | None]:
    """What the person's own function makes of a plan, and what the person should be told."""
    approve = planning.approve_plan
    if approve is None:
        return plan, None
    try:
        said = approve(plan, agent=planning) if takes_keyword(approve, "agent") else approve(plan)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the person's own function may raise anything
        about = f"approve_plan raised {type(error).__name__}"
        told = f"approve_plan raised {tell_error(error)}. The plan does not count."
        return None, Failure(message=told, about=about)
    if said is None or said is True:
        return plan, None
    if isinstance(said, str) and said.strip():
        return said.strip(), None
    if said is False:
        return None, None
    shown = tell_safely(safe_repr(said, 80))
    return None, Failure(
        message=f"approve_plan returned {shown}: give True, False or the text of a plan. The plan does not count.",
        about=f"approve_plan returned {type(said).__name__}",
    )
