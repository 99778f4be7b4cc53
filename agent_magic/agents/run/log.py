"""The bridge to `logging`: a run's events as log records, for those who turn it on.

Records of the logger `agent_magic.run` carry the event and say what happened by names, counts and
times; no content of a task, a reply or a tool is in their text. It must not change an event.
"""

from __future__ import annotations

import logging
from collections.abc import Generator

from agent_magic.core.events import (
    ApprovalGiven,
    ArgumentsDelta,
    ContextShortened,
    Event,
    ManagedEvent,
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
from agent_magic.core.steps import ActionStep, PlanningStep

LOGGER = logging.getLogger("agent_magic.run")
LOGGER.addHandler(logging.NullHandler())  # silent until the person sets logging up


def logged(
    run_id: str, agent_name: str, events: Generator[Event, None, RunResult]
) -> Generator[Event, None, RunResult]:
    """The same events, each logged before it is handed on.

    Each record has `run_id`, `agent_name` and `event` as attributes. Deltas are logged at DEBUG,
    waits, notices and ends without an answer at WARNING, all else at INFO.
    """
    try:
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return end.value
            level = _level(event)
            # A managed agent's own run logs its events.
            if LOGGER.isEnabledFor(level) and not isinstance(event, ManagedEvent):
                extra = {"run_id": run_id, "agent_name": agent_name, "event": event}
                LOGGER.log(level, "%s: %s", agent_name, _words(event), extra=extra)
            yield event
    finally:
        events.close()


def is_heard() -> bool:
    """Whether anybody has set logging up: a run that nobody listens to must not be slower for it."""
    logger: logging.Logger | None = LOGGER
    while logger is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in logger.handlers):
            return LOGGER.isEnabledFor(logging.CRITICAL)
        logger = logger.parent if logger.propagate else None
    return False


def _level(event: Event) -> int:
    match event:
        case TextDelta() | PlanDelta() | ArgumentsDelta():
            return logging.DEBUG
        case Waiting() | Notice():
            return logging.WARNING
        case RunEnded(result=result) if result.status != "answered":
            return logging.WARNING
        case _:
            return logging.INFO


def _words(event: Event) -> str:  # noqa: C901 - one case for each event
    match event:
        case RunStarted():
            return f"run {event.run_id} started with {event.model_id}, {event.max_steps} steps at most"
        case StepStarted(kind="plan"):
            return f"planning before step {event.step_number}"
        case StepStarted():
            return f"step {event.step_number} started"
        case TextDelta() | PlanDelta():
            return f"{len(event.text)} characters of {'reasoning' if event.is_reasoning else 'text'}"
        case ArgumentsDelta():
            return f"{len(event.text)} characters of arguments"  # the name may be made up by the model
        case ModelReplied():
            return f"the model replied, {_tokens(event.message.usage)}"
        case ToolCallStarted():
            return f"calls {event.call.name}"
        case ToolCallEnded(result=result) if result.timing is None:
            # Its name may be made up by the model, of any text.
            return f"a call was refused: {result.fault.kind if result.fault else 'unknown'}"
        case ToolCallEnded(result=result):
            return f"{result.call.name} {'failed: ' + result.fault.kind if result.fault else 'returned'}"
        case StepEnded(step=step):
            return _step_words(step)
        case Waiting(kind="pause"):
            return "paused"
        case Waiting(question=question) if question is not None:
            n_items = len(question.items)
            return f"the person is asked about {n_items} {'thing' if n_items == 1 else 'things'}"
        case ApprovalGiven():
            return f"{event.decision.item.name} {event.verdict} by {event.decision.by}"
        case Waiting(kind="rate"):
            return f"waits {event.delay_s:.1f} s for its turn"
        case Waiting():
            return f"waits {event.delay_s:.1f} s after attempt {event.attempt}"
        case ManagedEvent():
            return f"an event of {event.agent_name}"
        case SettingChanged():
            return f"{event.name} is {event.value!r:.100} {event.effective}"
        case ContextShortened():
            return f"history shortened from {event.tokens_before:,} to {event.tokens_after:,} tokens"
        case Notice():
            # Its message may quote a reply or an error.
            about = f"{event.about}; " if event.about else ""
            return f"notice at step {event.step_number}: {about}see the record's event"
        case RunEnded(result=result):
            return f"run {result.run_id} ended: {result.status}, {_tokens(result.usage)}, {result.timing.duration_s:.1f} s"


def _step_words(step: object) -> str:
    match step:
        case PlanningStep():
            return f"plan before step {step.step_number} {'failed: ' + step.fault.kind if step.fault else 'made'}"
        case ActionStep():
            failed = f", {len(step.faults)} failed" if step.faults else ""
            n_calls = len(step.tool_calls)
            return f"step {step.step_number} ended: {n_calls} {'call' if n_calls == 1 else 'calls'}{failed}"
        case _:
            return "an answer was given"


def _tokens(usage: TokenUsage | None) -> str:
    if usage is None or usage.input_tokens is None:
        return "tokens unknown"
    return f"{usage.input_tokens:,} tokens in, {usage.output_tokens or 0:,} out"
