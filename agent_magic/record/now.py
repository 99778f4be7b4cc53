"""Now: what happens at the moment in a run that goes on, as a `NowRecord`.

It must not know the steps that were made: `draft` folds those.
"""

from __future__ import annotations

from agent_magic.core.approval import Item, Question
from agent_magic.core.events import (
    ApprovalGiven,
    ArgumentsDelta,
    PlanDelta,
    TextDelta,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.steps import ToolResult
from agent_magic.record.clean import clean_text
from agent_magic.record.growing import GrowingArguments, GrowingText
from agent_magic.record.schema import AskedItemRecord, AskedRecord, CallRecord, NowRecord, WritingRecord
from agent_magic.record.step import Limits, to_call_record, to_seconds

_ALL_WRITING_CHARS = 60_000
"""Of the arguments of all calls that are written; beyond it those before the newest call are cut."""
_FORMER_CHARS = 1_500
_RUNNING_LIMITS = Limits(chars=2_000)
_ASKED_CHARS = 40_000
"""Of all that is asked at once; each item has at least `_LEAST_ASKED`."""
_LEAST_ASKED = 200
_NAME_CHARS = 80


class Now:
    """The step that is being made."""

    def __init__(self, step_number: int, *, is_planning: bool = False) -> None:
        self.step_number = step_number
        self._is_planning = is_planning
        self.waiting: Waiting | None = None
        self._thought = GrowingText()
        self._reasoning = GrowingText()
        self._calls: dict[str, CallRecord] = {}
        self._running: dict[str, None] = {}
        self._writing: dict[int, GrowingArguments] = {}
        """The arguments that the model writes, by the place of their call."""
        self._names: dict[int, str] = {}
        self._asked: AskedRecord | None = None

    def write(self, delta: TextDelta | PlanDelta) -> None:
        """A piece of text, plan or reasoning."""
        self.waiting = None
        (self._reasoning if delta.is_reasoning else self._thought).add(delta.text)

    def write_arguments(self, delta: ArgumentsDelta) -> None:
        """A piece of a call's arguments."""
        self.waiting = None
        if delta.place not in self._writing:
            if sum(map(len, self._writing.values())) > _ALL_WRITING_CHARS:
                for written in self._writing.values():
                    written.cut(_FORMER_CHARS)
            self._writing[delta.place] = GrowingArguments()
        self._names[delta.place] = delta.name
        self._writing[delta.place].add(delta.text)

    def end_reply(self) -> None:
        """The reply is whole: the calls in it are known."""
        self.waiting = None
        self._writing.clear()

    def wait(self, event: Waiting) -> None:
        """The run waits."""
        if event.question is not None:
            self._asked = _to_asked(event.question)
            return
        if event.kind == "retry":  # a reply that broke off is thrown away whole and asked for again
            self._thought.clear()
            self._reasoning.clear()
            self._writing.clear()
        self.waiting = event

    def decide(self, event: ApprovalGiven) -> None:
        """One item of what is asked is decided."""
        if self._asked is None:  # approved by a rule: nobody was asked
            return
        items = [_with_verdict(item, event) for item in self._asked["items"]]
        is_open = any("verdict" not in item for item in items)
        self._asked = AskedRecord(id=self._asked["id"], items=items) if is_open else None

    def start(self, event: ToolCallStarted) -> None:
        """A call runs."""
        self.waiting = None
        started = to_call_record(ToolResult(call=event.call), _RUNNING_LIMITS)
        started.pop("observation", None)
        started.pop("output", None)
        # In this order: Ctrl-C may come between the two, and what runs is looked up among the calls.
        self._calls[event.call.id] = started
        self._running[event.call.id] = None

    def end(self, result: ToolResult) -> None:
        """A call has its result."""
        self._running.pop(result.call.id, None)
        self._calls[result.call.id] = to_call_record(result, _RUNNING_LIMITS)

    def to_record(self) -> NowRecord:
        """All of it; of a long text the newer part."""
        record = NowRecord(
            step_number=self.step_number, doing="planning" if self._is_planning else "thinking"
        )
        if text := self._thought.to_text():
            record["plan" if self._is_planning else "thought"] = text
        if reasoning := self._reasoning.to_text():
            record["reasoning"] = reasoning
        if self._writing:
            record["writing"] = [
                WritingRecord(name=clean_text(self._names[place], _NAME_CHARS), arguments=written.to_text())
                for place, written in sorted(self._writing.items())
            ]
        if self._calls:
            record["calls"] = list(self._calls.values())
        if self._running:
            record["doing"] = "calling"
            record["running"] = [self._calls[call_id]["id"] for call_id in self._running]
        if self._asked:
            record["doing"] = "asking"
            record["asked"] = self._asked
        if self.waiting:
            delay_s = self.waiting.delay_s
            record["doing"] = "waiting" if self.waiting.kind == "retry" else "paused"
            record["waiting"] = {
                "reason": clean_text(self.waiting.reason, 300),
                "delay_s": None if delay_s is None else to_seconds(delay_s),
                "attempt": self.waiting.attempt,
            }
        return record


def _to_asked(question: Question) -> AskedRecord:
    share = max(_LEAST_ASKED, _ASKED_CHARS // len(question.items))
    return AskedRecord(id=question.id, items=[_to_asked_item(item, share) for item in question.items])


def _to_asked_item(item: Item, max_chars: int) -> AskedItemRecord:
    record = AskedItemRecord(id=item.id, digest=item.digest, kind=item.kind)
    if item.call is None:
        whole = item.plan or ""
        record["plan"] = shown = clean_text(whole, max_chars)
    else:
        whole = item.call.arguments
        call = to_call_record(ToolResult(call=item.call), Limits(chars=max_chars))
        record["name"], record["arguments"] = call["name"], call["arguments"]
        shown = call["arguments"]
    if shown != whole:
        record["is_partial"] = True
    return record


def _with_verdict(item: AskedItemRecord, event: ApprovalGiven) -> AskedItemRecord:
    if item["id"] != event.item_id:
        return item
    decided = item.copy()
    decided["verdict"] = event.verdict
    return decided
