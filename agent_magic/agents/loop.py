"""The loop of a run: step after step, until an answer, a limit, a failure or an interrupt.

It must not know how a step acts, nor what becomes of the run's memory afterwards; it yields events,
and never from a `finally`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from agent_magic.agents.run import BY_PERSON, Interrupted, Run, StepDraft
from agent_magic.agents.streaming import ask_model
from agent_magic.core.errors import DefinitionError, RunError, StepError
from agent_magic.core.events import Event, StepEnded, StepStarted
from agent_magic.core.messages import ChatMessage
from agent_magic.core.steps import ActionStep, Fault, FinalAnswerStep
from agent_magic.core.values import Value

MAX_REPEATS = 4
"""Equal failures running that end a run, rather than burn the steps that are left."""


class Acting(Protocol):
    """What a kind of agent fills in."""

    def act(self, run: Run, draft: StepDraft) -> Generator[Event, None, None]:
        """One step: ask the model, do what it says, put all of it into `draft`."""
        ...

    def final_request(self, run: Run) -> str:
        """The message that asks for an answer when the steps are used up."""
        ...

    def read_last_answer(self, message: ChatMessage) -> Value:
        """The answer in the reply to that message; None if there is none."""
        ...


def take_steps(run: Run, acting: Acting) -> Generator[Event, None, None]:
    """The steps of a run, until it has ended.

    Raises:
        GeneratorExit, KeyboardInterrupt: As they came; recording them is for whoever drives the run.
    """
    for step_number in range(1, run.max_steps + 1):
        draft = run.begin_step(step_number)
        try:
            run.raise_if_interrupted()
            yield StepStarted(step_number=step_number)
            yield from acting.act(run, draft)
        except StepError as error:
            draft.fault = Fault(kind=type(error).__name__, message=error.message)
        except (RunError, DefinitionError) as error:  # the latter: a live tool became one that cannot be
            draft.fault = Fault(kind=type(error).__name__, message=error.message)
            step = run.end_step()
            run.end("failed", error=draft.fault)
            yield StepEnded(step=step)
            return
        except Interrupted as stop:
            yield from _interrupted(run, str(stop))
            return
        _tell_repeats(run, draft)
        step = run.end_step()
        if run.answer is not None:
            final = FinalAnswerStep(answer=run.answer.value, is_told=run.answer.is_told)
            run.add(final)
            run.end("answered", value=final.answer)
            yield StepEnded(step=step)
            yield StepEnded(step=final)
            return
        if run.n_equal_failures >= MAX_REPEATS:
            last = step.faults[-1]
            run.end(
                "failed",
                error=Fault(
                    kind=last.kind,
                    message=f"The same failure came {MAX_REPEATS} times running, so the run was ended: {last.message}",
                ),
            )
            yield StepEnded(step=step)
            return
        yield StepEnded(step=step)
    yield from _answer_at_limit(run, acting)


def _answer_at_limit(run: Run, acting: Acting) -> Generator[Event, None, None]:
    """One more call, without tools, for the best answer from what is known."""
    request = acting.final_request(run)
    draft = run.begin_step(run.max_steps + 1)
    messages = [*run.memory.to_messages(), ChatMessage(role="user", content=request)]
    try:
        message = yield from ask_model(run, draft, messages, (), "final")
    except Interrupted as stop:
        yield from _interrupted(run, str(stop))
        return
    except RunError as error:
        run.drop_step()
        run.end("max_steps", error=Fault(kind=type(error).__name__, message=error.message))
        return
    run.drop_step()
    run.count_usage(message.usage)
    final = FinalAnswerStep(
        answer=acting.read_last_answer(message), is_told=False, request=request, token_usage=message.usage
    )
    run.add(final)
    run.end("max_steps", value=final.answer)
    yield StepEnded(step=final)


def _interrupted(run: Run, reason: str) -> Generator[Event, None, None]:
    result = run.end_interrupted(reason or BY_PERSON)
    step = result.steps[-1]
    if isinstance(step, ActionStep):  # else it was answered in that very moment
        yield StepEnded(step=step)


def _tell_repeats(run: Run, draft: StepDraft) -> None:
    """Count a step that failed as the one before did, and tell the model so."""
    # In the order asked: the order in which parallel calls fail differs from step to step.
    faults = [draft.fault] if draft.fault else [draft.results[place].fault for place in sorted(draft.results)]
    if not faults or not all(faults):
        run.count_failure(None)
        return
    calls = tuple(f"{call.name}({call.arguments!r:.2000})" for call in draft.calls)
    failure = (*calls, *(fault.message for fault in faults if fault))
    run.count_failure(failure)
    if 1 < run.n_equal_failures < MAX_REPEATS:
        draft.add_advice(f"The same {'call' if calls else 'reply'} failed before: do something else now.")
