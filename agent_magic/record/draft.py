"""RunDraft: the record of a run while it goes on, folded from the run's events.

It must not draw, nor know who pumps the events.

A finished step is rendered once and stays the same object from then on, so that whoever draws
the record again and again need draw only what is new.
"""

from __future__ import annotations

import string
import time
from collections.abc import Callable, Sequence
from typing import assert_never

from agent_magic.core.events import (
    Event,
    ModelReplied,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, TaskStep, ToolResult
from agent_magic.record.clean import clean_text
from agent_magic.record.run import cut_head, to_head, to_record
from agent_magic.record.schema import CallRecord, NowRecord, RunRecord, StepRecord
from agent_magic.record.step import LOOSEST, Limits, to_call_record, to_seconds, to_step_record, to_usage

_KEPT_CHARS = 8_000
_SHOWN_CHARS = 1_500
_RUNNING_LIMITS = Limits(chars=2_000)
_SHORT_WORD = 8
_WORD = string.ascii_letters + string.digits + string.punctuation


class RunDraft:
    """A run's record from its first event on.

    Args:
        reason: Why this model was chosen.
        warnings: Said in the header, such as a near miss of a variable's name.
        clock: Gives seconds since 1970.
    """

    def __init__(
        self,
        *,
        reason: str | None = None,
        warnings: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._reason = reason
        self._warnings = tuple(warnings)
        self._clock = clock
        self._started = clock()
        self._head = self._to_head(
            RunStarted(run_id="", agent_name="", model_id="", max_steps=0, task=TaskStep(task=""))
        )
        self._steps: list[StepRecord] = []
        self._usage: TokenUsage | None = None
        self._now = _Now(1)
        self._finished: RunRecord | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self._finished is not None

    def add(self, event: Event) -> None:  # noqa: C901 - one case for each event
        """Take in what happened."""
        match event:
            case RunStarted():
                self._started = self._clock()
                self._head = self._to_head(event)
            case StepStarted():
                self._now = _Now(event.step_number)
            case TextDelta():
                self._now.write(event)
            case Waiting():
                self._now.wait(event)
            case ModelReplied():
                self._now.waiting = None
            case ToolCallStarted():
                self._now.start(event)
            case ToolCallEnded():
                self._now.end(event.result)
            case StepEnded():
                if isinstance(event.step, ActionStep):
                    self._add_step(event.step)
            case RunEnded():
                self.finish(event.result)
            case _:
                assert_never(event)

    def finish(self, result: RunResult) -> None:
        """End the record with `result`; for a run that was closed from outside and said nothing."""
        self._finished = to_record(result, reason=self._reason, warnings=self._warnings)

    def to_record(self) -> RunRecord:
        """The record as it stands; after the end the same as `record.run.to_record(result)`."""
        if self._finished is not None:
            return self._finished
        record = self._head.copy()
        record["steps"] = self._steps.copy()
        record["n_steps"] = len(self._steps)
        record["duration_s"] = to_seconds(self._clock() - self._started)
        record["usage"] = to_usage(self._usage)
        record["now"] = self._now.to_record()
        return record

    def _to_head(self, event: RunStarted) -> RunRecord:
        head = to_head(
            run_id=event.run_id,
            agent=event.agent_name,
            model=event.model_id,
            max_steps=event.max_steps,
            task=event.task,
            started=self._started,
            reason=self._reason,
            warnings=self._warnings,
        )
        return cut_head(head, LOOSEST)

    def _add_step(self, step: ActionStep) -> None:
        self._steps.append(to_step_record(step, LOOSEST))
        usage = step.token_usage or TokenUsage()
        self._usage = usage if self._usage is None else self._usage + usage
        self._now = _Now(step.step_number + 1)


class _Now:
    """The step that is being made."""

    def __init__(self, step_number: int) -> None:
        self.step_number = step_number
        self.waiting: Waiting | None = None
        self._thought = ""
        self._reasoning = ""
        self._calls: dict[str, CallRecord] = {}
        self._running: dict[str, None] = {}

    def write(self, delta: TextDelta) -> None:
        self.waiting = None
        if delta.is_reasoning:
            self._reasoning = (self._reasoning + delta.text)[-_KEPT_CHARS:]
        else:
            self._thought = (self._thought + delta.text)[-_KEPT_CHARS:]

    def wait(self, event: Waiting) -> None:
        # A reply that broke off is thrown away whole and asked for again.
        self._thought = self._reasoning = ""
        self.waiting = event

    def start(self, event: ToolCallStarted) -> None:
        self.waiting = None
        self._running[event.call.id] = None
        started = to_call_record(ToolResult(call=event.call), _RUNNING_LIMITS)
        started.pop("observation", None)
        started.pop("output", None)
        self._calls[event.call.id] = started

    def end(self, result: ToolResult) -> None:
        self._running.pop(result.call.id, None)
        self._calls[result.call.id] = to_call_record(result, _RUNNING_LIMITS)

    def to_record(self) -> NowRecord:
        record = NowRecord(step_number=self.step_number, doing="thinking")
        if thought := _newest(self._thought):
            record["thought"] = thought
        if reasoning := _newest(self._reasoning):
            record["reasoning"] = reasoning
        if self._calls:
            record["calls"] = list(self._calls.values())
        if self._running:
            record["doing"] = "calling"
            record["running"] = [self._calls[call_id]["id"] for call_id in self._running]
        if self.waiting:
            record["doing"] = "waiting"
            record["waiting"] = {
                "reason": clean_text(self.waiting.reason, 300),
                "delay_s": to_seconds(self.waiting.delay_s),
                "attempt": self.waiting.attempt,
            }
        return record


def _newest(text: str) -> str:
    """The end of a text that is being written, without secrets."""
    shown = clean_text(text, _KEPT_CHARS)
    whole_words = shown.rstrip(_WORD)
    # The last word of a text that is being written may be the first half of a key.
    if len(shown) - len(whole_words) >= _SHORT_WORD:
        shown = whole_words
    return (shown if len(shown) <= _SHOWN_CHARS else "…" + shown[-_SHOWN_CHARS:]).strip()
