"""One model call of a run: made to fit, within the budgets, kept, its pieces as events, tried again.

It must not read the reply: what is in it is the agent's business.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from agent_magic.agents.requests.budget import BudgetReached, check_budget, check_time, note_call
from agent_magic.agents.requests.moment import Composed, Composer, Moment
from agent_magic.agents.requests.pulling import pull
from agent_magic.agents.requests.window import count_request, fit_to_window, window_for
from agent_magic.agents.run.boundary import has_news, pass_boundary
from agent_magic.agents.run.drafts import Draft
from agent_magic.agents.run.run import Interrupted, Run
from agent_magic.core.errors import GenerationError
from agent_magic.core.events import (
    ArgumentsDelta,
    ContextShortened,
    Event,
    ModelReplied,
    PlanDelta,
    TextDelta,
    Waiting,
)
from agent_magic.core.messages import ChatMessage, MessageDelta, RequestKind
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.retry import Failure, RetryPolicy

_AFTER_OVERFLOW = 0.7
"""Of the tokens that a provider refused."""
_NAP_S = 0.25
"""Between two looks at what a signal handler has noted, for it may wake nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole reply, and the request that it answers."""

    message: ChatMessage
    composed: Composed


def ask_model(
    run: Run, moment: Moment, draft: Draft, composer: Composer, kind: RequestKind
) -> Generator[Event, None, Reply]:
    """Ask until there is a whole reply, and return it; it is in the draft then.

    What has come of the reply is in `draft` at every moment, so that an interrupt keeps it.

    Raises:
        GenerationError: The model failed for good, or too often, or the request fits no window.
        BudgetReached: The call would pass a budget, and was not made; or it passed the time amid it.
        Interrupted: The person stopped the run.
    """
    run.raise_if_interrupted()
    composed = yield from _prepare(run, moment, composer, kind)
    policy: RetryPolicy | None = None
    attempt, may_shorten = 0, True
    while True:
        attempt += 1
        run.raise_if_interrupted()
        if (yield from _await_turn(run, draft)):
            composed = yield from _take_up_news(run, moment, composer, composed)
        n_counted = check_budget(run, moment, composed)
        messages, request = run.memory.take_request(
            run_id=run.run_id,
            step_number=draft.step_number,
            kind=composed.kind,
            projection=composed.projection,
            head=composed.head,
            tail=composed.tail,
            schemas=composed.schemas,
            summary_mode=moment.summary_mode,
        )
        composed.schemas, draft.model_input_digest = request.schemas, request.digest
        start = time.monotonic()
        try:
            message = yield from _ask_once(run, draft, messages, composed)
        except (Interrupted, BudgetReached):
            raise
        except Exception as error:  # any fault out of a model is a failed call; the model says of what kind
            draft.forget_pieces()  # nothing of a broken reply counts
            failure = run.model.diagnose(error)
            if failure.is_overflow and may_shorten:
                may_shorten = False
                if (shortened := _shorten_more(run, moment, composed)) is not None:
                    yield shortened
                    composed = composer.compose(moment, kind)
                    continue
            if isinstance(error, GenerationError):
                raise
            policy = policy or RetryPolicy()
            delay_s = policy.next_delay(attempt, failure)
            if delay_s is None:
                tried = f" (tried {attempt} times)" if attempt > 1 else ""
                raise GenerationError(failure.message + tried, model_id=run.model.model_id) from error
            yield from _wait(run, draft, failure, delay_s, attempt)
            composed = yield from _take_up_news(run, moment, composer, composed)
        else:
            note_call(run, request, message, time.monotonic() - start, n_counted)
            run.count_usage(message.usage)
            draft.take_reply(message)
            yield ModelReplied(step_number=draft.step_number, message=message)
            return Reply(message=message, composed=composed)


def _prepare(
    run: Run, moment: Moment, composer: Composer, kind: RequestKind
) -> Generator[Event, None, Composed]:
    """The request as it is made up now, shortened so that it fits."""
    composed = composer.compose(moment, kind)
    shortened = fit_to_window(moment, composed, window=run.window or run.model.context_window)
    if not shortened:
        return composed
    yield shortened
    # What was cut can be looked into: there is a tool for it now.
    return composer.compose(moment, kind)


def _shorten_more(run: Run, moment: Moment, composed: Composed) -> ContextShortened | None:
    """After a provider refused the request as too long: shorten it well below what it had.

    What was learned of the window holds for the rest of the run.
    """
    at_most = int(_AFTER_OVERFLOW * count_request(moment, composed))
    run.window = window_for(at_most)
    return fit_to_window(moment, composed, window=run.window, at_most=at_most)


def _wait(
    run: Run, draft: Draft, failure: Failure, delay_s: float, attempt: int
) -> Generator[Event, None, None]:
    """Wait before the next try.

    Raises:
        BudgetReached: There is no time for it.
    """
    check_time(run, delay_s=delay_s)
    yield Waiting(step_number=draft.step_number, reason=failure.message, delay_s=delay_s, attempt=attempt)
    deadline = time.monotonic() + delay_s
    while (left_s := deadline - time.monotonic()) > 0:
        _sleep(run, left_s)


def _await_turn(run: Run, draft: Draft) -> Generator[Event, None, bool]:
    """Wait for this run's turn, where the model takes only so many requests a minute; whether it had to.

    Raises:
        BudgetReached: There is no time for it.
        Interrupted: The person stopped the run; its place in the line is free then.
    """
    limit = run.model.rate_limit
    if limit is None:
        return False
    turn = limit.enter()
    try:
        delay_s = turn.delay_s()
        if not delay_s:
            return False
        check_time(run, delay_s=delay_s)
        reason = f"{run.model.model_id} takes {limit.per_minute:g} requests a minute, by requests_per_minute."
        yield Waiting(step_number=draft.step_number, reason=reason, delay_s=delay_s, kind="rate")
        while delay_s := turn.delay_s():
            _sleep(run, delay_s)
    finally:
        turn.leave()
    return True


def _sleep(run: Run, delay_s: float) -> None:
    """Sleep so long, or shorter: to be called again until the time has come.

    Raises:
        Interrupted: The person stopped the run.
    """
    run.stop.wait(min(delay_s, _NAP_S))
    run.raise_if_interrupted()


def _take_up_news(
    run: Run, moment: Moment, composer: Composer, composed: Composed
) -> Generator[Event, None, Composed]:
    """The request after a wait, made up anew if the person used that to change something."""
    if not has_news(run):
        return composed
    yield from pass_boundary(run, "call")
    moment.summary_mode, moment.max_steps = run.values.summary_mode, run.max_steps
    return (yield from _prepare(run, moment, composer, composed.kind))


def _ask_once(
    run: Run,
    draft: Draft,
    messages: Sequence[ChatMessage],
    composed: Composed,
) -> Generator[Event, None, ChatMessage]:
    delta = PlanDelta if draft.is_plan else TextDelta
    builder = MessageBuilder()
    pieces = run.model.stream(
        messages, tools=composed.schemas, stop=composed.stop, kind=composed.kind, **composed.options
    )
    with contextlib.closing(pull(pieces, run)) as pulled:
        for piece in pulled:
            written = builder.add(piece)
            if isinstance(piece, MessageDelta):
                if piece.reasoning:
                    draft.reasoning_pieces.append(piece.reasoning)
                    yield delta(step_number=draft.step_number, text=piece.reasoning, is_reasoning=True)
                if piece.text:
                    draft.text_pieces.append(piece.text)
                    yield delta(step_number=draft.step_number, text=piece.text)
            for part in () if draft.is_plan else written:  # no call in a plan is made
                yield ArgumentsDelta(
                    step_number=draft.step_number, place=part.place, name=part.name, text=part.arguments
                )
    run.raise_if_interrupted()
    return builder.build()
