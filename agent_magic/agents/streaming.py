"""One model call of a run: its pieces as events, its passing failures tried again.

It must not read the reply: what is in it is the agent's business.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from agent_magic.agents.run import Interrupted, Run, StepDraft
from agent_magic.core.errors import GenerationError
from agent_magic.core.events import Event, TextDelta, Waiting
from agent_magic.core.messages import ChatMessage, MessageDelta, RequestKind, ToolSchema
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.retry import RetryPolicy

STOP = ("Observation:", "Calling tools:")
"""Where a model that writes its calls as text would begin to make up their results."""


def ask_model(
    run: Run,
    draft: StepDraft,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolSchema],
    kind: RequestKind,
) -> Generator[Event, None, ChatMessage]:
    """Ask until there is a whole reply, and return it.

    What has come of the reply is in `draft` at every moment, so that an interrupt keeps it.

    Raises:
        GenerationError: The model failed for good, or too often.
        Interrupted: The person stopped the run.
    """
    policy = RetryPolicy()
    attempt = 0
    while True:
        attempt += 1
        run.raise_if_interrupted()
        try:
            return (yield from _ask_once(run, draft, messages, tools, kind))
        except (GenerationError, Interrupted):
            raise
        except Exception as error:  # any fault out of a model is a failed call; the model says of what kind
            draft.forget_pieces()  # nothing of a broken reply counts
            failure = run.model.diagnose(error)
            delay_s = policy.next_delay(attempt, failure)
            if delay_s is None:
                tried = f" (tried {attempt} times)" if attempt > 1 else ""
                raise GenerationError(failure.message + tried, model_id=run.model.model_id) from error
        yield Waiting(step_number=draft.step_number, reason=failure.message, delay_s=delay_s, attempt=attempt)
        run.stop.wait(delay_s)


def _ask_once(
    run: Run,
    draft: StepDraft,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolSchema],
    kind: RequestKind,
) -> Generator[Event, None, ChatMessage]:
    builder = MessageBuilder()
    pieces = run.model.stream(messages, tools=tools, stop=STOP if tools else (), kind=kind)
    try:
        for piece in pieces:
            run.raise_if_interrupted()
            builder.add(piece)
            if isinstance(piece, MessageDelta):
                if piece.reasoning:
                    draft.reasoning_pieces.append(piece.reasoning)
                    yield TextDelta(step_number=draft.step_number, text=piece.reasoning, is_reasoning=True)
                if piece.text:
                    draft.text_pieces.append(piece.text)
                    yield TextDelta(step_number=draft.step_number, text=piece.text)
    finally:
        # Closing cancels the request; an iterator that is no generator has nothing to close.
        close = getattr(pieces, "close", None)
        if close is not None:
            close()
    run.raise_if_interrupted()
    return builder.build()
