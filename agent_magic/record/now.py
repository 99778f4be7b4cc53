"""Now: what happens at the moment in a run that goes on, as a `NowRecord`.

It must not know the steps that were made: `draft` folds those.
"""

from __future__ import annotations

import string

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
from agent_magic.record.schema import AskedItemRecord, AskedRecord, CallRecord, NowRecord, WritingRecord
from agent_magic.record.step import Limits, to_call_record, to_seconds

_KEPT_CHARS = 8_000
_SHOWN_CHARS = 1_500
_RUNNING_LIMITS = Limits(chars=2_000)
_ASKED_CHARS = 40_000
"""Of all that is asked at once; each item has at least `_LEAST_ASKED`."""
_LEAST_ASKED = 200
_NAME_CHARS = 80
_SHORT_WORD = 8
_JSON_SIGNS = "{}[],:\"'"
_WORD = string.ascii_letters + string.digits + string.punctuation


class Now:
    """The step that is being made."""

    def __init__(self, step_number: int, *, is_planning: bool = False) -> None:
        self.step_number = step_number
        self._is_planning = is_planning
        self.waiting: Waiting | None = None
        self._thought = ""
        self._reasoning = ""
        self._calls: dict[str, CallRecord] = {}
        self._running: dict[str, None] = {}
        self._writing: dict[int, _Writing] = {}
        """The calls that the model writes, by their place."""
        self._asked: AskedRecord | None = None

    def write(self, delta: TextDelta | PlanDelta) -> None:
        """A piece of text, plan or reasoning."""
        self.waiting = None
        if delta.is_reasoning:
            self._reasoning = (self._reasoning + delta.text)[-_KEPT_CHARS:]
        else:
            self._thought = (self._thought + delta.text)[-_KEPT_CHARS:]

    def write_arguments(self, delta: ArgumentsDelta) -> None:
        """A piece of a call's arguments."""
        self.waiting = None
        writing = self._writing.setdefault(delta.place, _Writing())
        writing.name = delta.name
        writing.add(delta.text)

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
            self._thought = self._reasoning = ""
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
        self._running[event.call.id] = None
        started = to_call_record(ToolResult(call=event.call), _RUNNING_LIMITS)
        started.pop("observation", None)
        started.pop("output", None)
        self._calls[event.call.id] = started

    def end(self, result: ToolResult) -> None:
        """A call has its result."""
        self._running.pop(result.call.id, None)
        self._calls[result.call.id] = to_call_record(result, _RUNNING_LIMITS)

    def to_record(self) -> NowRecord:
        """All of it, the newest part of each text."""
        record = NowRecord(
            step_number=self.step_number, doing="planning" if self._is_planning else "thinking"
        )
        if text := _newest(self._thought):
            record["plan" if self._is_planning else "thought"] = text
        if reasoning := _newest(self._reasoning):
            record["reasoning"] = reasoning
        if self._writing:
            record["writing"] = [writing.to_record() for _, writing in sorted(self._writing.items())]
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


class _Writing:
    """A call that the model writes: the newest part of its arguments."""

    def __init__(self) -> None:
        self.name = ""
        self._text = ""
        self._n_open = -1
        """Characters since the string began that is not closed yet; -1 outside of strings."""
        self._is_escaped = False

    def add(self, text: str) -> None:
        self._text = (self._text + text)[-_KEPT_CHARS:]
        for character in text:
            if self._n_open < 0:
                self._n_open = 0 if character == '"' else -1
                continue
            if character == '"' and not self._is_escaped:
                self._n_open = -1
                continue
            self._n_open += 1
            self._is_escaped = character == "\\" and not self._is_escaped

    def to_record(self) -> WritingRecord:
        text = self._text
        # As in `_newest`; but JSON may have no white space at all, so only an open string is held back.
        if self._n_open >= 0:
            word = _last_word(text[len(text) - min(self._n_open, len(text)) :], string.whitespace)
        else:
            word = _last_word(text, string.whitespace + _JSON_SIGNS)
        if len(word) >= _SHORT_WORD:
            text = text[: -len(word)]
        shown = clean_text(text, _KEPT_CHARS)
        return WritingRecord(
            name=clean_text(self.name, _NAME_CHARS),
            arguments=shown if len(shown) <= _SHOWN_CHARS else "…" + shown[-_SHOWN_CHARS:],
        )


def _last_word(text: str, ends: str) -> str:
    """What follows the last of these signs."""
    return text[max(map(text.rfind, ends)) + 1 :]


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


def _newest(text: str) -> str:
    """The end of a text that is being written, without secrets."""
    shown = clean_text(text, _KEPT_CHARS)
    whole_words = shown.rstrip(_WORD)
    # The last word of a text that is being written may be the first half of a key.
    if len(shown) - len(whole_words) >= _SHORT_WORD:
        shown = whole_words
    return (shown if len(shown) <= _SHOWN_CHARS else "…" + shown[-_SHOWN_CHARS:]).strip()
