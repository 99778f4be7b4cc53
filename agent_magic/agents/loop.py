"""The loop of a run: plan if one is due, then step after step, until there is an end.

It must not know how a step acts, nor what becomes of the run's memory afterwards; it yields events,
and never from a `finally`.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Protocol

from agent_magic.agents.person.checks import Checks, refusal
from agent_magic.agents.person.hooks import Callbacks
from agent_magic.agents.planning import Planning, is_due, make_plan
from agent_magic.agents.requests.asking import ask_model
from agent_magic.agents.requests.budget import BudgetReached
from agent_magic.agents.requests.moment import Moment
from agent_magic.agents.run.boundary import has_news, pass_boundary
from agent_magic.agents.run.drafts import StepDraft
from agent_magic.agents.run.run import BY_PERSON, Interrupted, Run
from agent_magic.core.errors import ApprovalError, DefinitionError, FinalAnswerRejected, RunError, StepError
from agent_magic.core.events import Event, Notice, StepEnded, StepStarted
from agent_magic.core.messages import ChatMessage
from agent_magic.core.result import CheckResult, RunResult
from agent_magic.core.steps import ActionStep, Fault, FinalAnswerStep, PlanningStep
from agent_magic.core.values import Value

MAX_REPEATS = 4
"""Equal failures running that end a run, rather than burn the steps that are left."""


class Acting(Planning, Protocol):
    """What a kind of agent fills in."""

    @property
    def checks(self) -> Checks:
        """The person's checks of answers."""
        ...

    @property
    def callbacks(self) -> Callbacks:
        """The person's callbacks."""
        ...

    def act(self, run: Run, moment: Moment, draft: StepDraft) -> Generator[Event, None, None]:
        """One step: ask the model, do what it says, put all of it into `draft`."""
        ...

    def read_last_answer(self, run: Run, message: ChatMessage) -> Value:
        """The answer in the reply to the request that is made at the limit; None if there is none.

        Raises:
            StepError: It is not of the type that was asked for.
        """
        ...


def take_steps(run: Run, acting: Acting) -> Generator[Event, None, None]:
    """The steps of a run, until it has ended.

    Raises:
        GeneratorExit, KeyboardInterrupt: As they came; recording them is for whoever drives the run.
    """
    try:
        yield from _notify(run, acting, run.task)
        while True:
            if has_news(run):  # of the limit too, so it is looked at after this
                yield from pass_boundary(run, "step")
            if run.step_number > run.max_steps:
                break
            if is_due(run):
                plan = yield from make_plan(run, acting)
                yield from _enter(run, acting, plan)
                if has_news(run):
                    yield from pass_boundary(run, "call")
            yield from _take_step(run, acting)
            if run.result is not None:
                return
        yield from _answer_at_limit(run, acting)
    except (Interrupted, ApprovalError) as stop:
        step = _end_midway(run, stop).steps[-1]
        if isinstance(step, ActionStep | PlanningStep):  # else it was answered in that very moment
            yield from _enter(run, acting, step)
    except BudgetReached as reached:
        yield from _end_at_budget(run, acting, reached)


def _end_midway(run: Run, stop: Interrupted | ApprovalError) -> RunResult:
    if isinstance(stop, Interrupted):
        return run.end_interrupted(str(stop) or BY_PERSON)
    # Of a plan; where it is of a call, its step ends the run.
    return run.end("failed", error=Fault(kind=type(stop).__name__, message=stop.message))


def _end_at_budget(run: Run, acting: Acting, reached: BudgetReached) -> Generator[Event, None, None]:
    error = Fault(kind="BudgetReached", message=str(reached))
    if not reached.is_midway:
        run.drop_step()  # the call was not made, so there is nothing in it
        run.end("budget", error=error)
        return
    told = replace(error, message="The time of the run was over before the reply was whole.")
    step = run.end("budget", error=error, fault=told).steps[-1]
    if isinstance(step, ActionStep | PlanningStep):
        yield from _enter(run, acting, step)


def _take_step(run: Run, acting: Acting) -> Generator[Event, None, None]:
    draft = run.begin_step(run.step_number)
    try:
        run.raise_if_interrupted()
        yield StepStarted(step_number=draft.step_number)
        if has_news(run):
            yield from pass_boundary(run, "call")
        yield from acting.act(run, acting.moment_of(run), draft)
        _check_answer(run, acting, draft)
    except StepError as error:
        draft.fault = Fault(kind=type(error).__name__, message=error.message)
    except (RunError, DefinitionError) as error:  # the latter: a live tool became one that cannot be
        draft.fault = Fault(kind=type(error).__name__, message=error.message)
        step = run.end_step()
        run.end("failed", error=draft.fault)
        yield from _enter(run, acting, step)
        return
    n_equal = _tell_repeats(run, draft)
    step = run.end_step()
    if run.answer is not None:
        final = FinalAnswerStep(answer=run.answer.value, is_told=run.answer.is_told)
        run.add(final)
        run.end("answered", value=final.answer, checks=run.checks)
        yield from _enter(run, acting, step)
        yield from _enter(run, acting, final)
        return
    if n_equal >= MAX_REPEATS:
        last = draft.fault or next(result.fault for result in draft.results.values() if result.fault)
        run.end(
            "failed",
            error=Fault(
                kind=last.kind,
                message=f"The same failure came {MAX_REPEATS} times running, so the run was ended: {last.message}",
            ),
        )
    yield from _enter(run, acting, step)


def _check_answer(run: Run, acting: Acting, draft: StepDraft) -> None:
    """Let the person's checks see the answer of this step; a refused one is a fault of the step."""
    if run.answer is None or not len(acting.checks):
        return
    run.checks = acting.checks.apply(run.answer.value, agent=acting, memory=run.memory)
    refused = next((check for check in run.checks if not check.passed), None)
    if refused is None:
        return
    run.answer = None
    draft.refuse_answer(Fault(kind=FinalAnswerRejected.__name__, message=refusal(refused)))


def _answer_at_limit(run: Run, acting: Acting) -> Generator[Event, None, None]:
    """One more call, without tools, for the best answer from what is known."""
    draft = run.begin_step(run.step_number)
    try:
        reply = yield from ask_model(run, acting.moment_of(run), draft, acting, "final")
    except RunError as error:
        run.drop_step()
        run.end("max_steps", error=Fault(kind=type(error).__name__, message=error.message))
        return
    except BudgetReached as reached:
        run.drop_step()
        run.end("max_steps", error=Fault(kind="BudgetReached", message=str(reached)))
        return
    run.drop_step()
    message, request = reply.message, reply.composed.tail[-1].content or ""
    value, error, checks = message.content, None, ()
    try:
        value = acting.read_last_answer(run, message)
        checks = _check_last(run, acting, value)
    except StepError as fault:
        error = Fault(kind=type(fault).__name__, message=fault.message)
    final = FinalAnswerStep(
        answer=value, is_told=False, text=message.content, request=request, token_usage=message.usage
    )
    run.add(final)
    run.end("max_steps", value=None if error else value, error=error, checks=checks)
    yield from _enter(run, acting, final)


def _check_last(run: Run, acting: Acting, value: Value) -> tuple[CheckResult, ...]:
    if value is None or not len(acting.checks):
        return ()
    return acting.checks.apply(value, agent=acting, memory=run.memory)


def _enter(
    run: Run, acting: Acting, step: PlanningStep | ActionStep | FinalAnswerStep
) -> Generator[Event, None, None]:
    """Tell of a step that is in memory: the person's callbacks first, then whoever takes the events."""
    if len(acting.callbacks):
        yield from _notify(run, acting, step)
    yield StepEnded(step=step)


def _notify(run: Run, acting: Acting, step: Value) -> Generator[Event, None, None]:
    # An answer belongs to the step before the one that would be made next.
    number = run.step_number - 1 if isinstance(step, FinalAnswerStep) else run.step_number
    for failure in acting.callbacks.call(step, acting):
        yield Notice(
            step_number=getattr(step, "step_number", number), message=failure.message, about=failure.about
        )


def _tell_repeats(run: Run, draft: StepDraft) -> int:
    """Count a step that failed as the one before did, and tell the model so."""
    # In the order asked: the order in which parallel calls fail differs from step to step.
    faults = [draft.fault] if draft.fault else [draft.results[place].fault for place in sorted(draft.results)]
    if not faults or not all(faults):
        return run.failures.count(None)
    calls = tuple(f"{call.name}({call.arguments!r:.2000})" for call in draft.calls)
    failure = (*calls, *(fault.message for fault in faults if fault))
    n_equal = run.failures.count(failure)
    if 1 < n_equal < MAX_REPEATS:
        what = "code" if draft.is_code and calls else "call" if calls else "reply"
        draft.add_advice(f"The same {what} failed before: do something else now.")
    return n_equal
