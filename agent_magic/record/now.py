"""Now: what happens at the moment in a run that goes on, as a `NowRecord`.

It must not know the steps that were made: `draft` folds those.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from agent_magic.core.approval import Item, Question
from agent_magic.core.events import (
    ApprovalGiven,
    ArgumentsDelta,
    ManagedEvent,
    PlanDelta,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.result import AgentMode
from agent_magic.core.steps import CODE_CALL, ToolResult
from agent_magic.core.values import Value
from agent_magic.record.call import to_call_record, to_seconds
from agent_magic.record.clean import clean_text
from agent_magic.record.growing import GrowingArguments, GrowingReply, GrowingText
from agent_magic.record.limits import Limits
from agent_magic.record.now_calls import Lane, NowCalls
from agent_magic.record.schema import (
    AskedItemRecord,
    AskedRecord,
    CallRecord,
    Json,
    LaneRecord,
    NowRecord,
    WritingRecord,
)

_ALL_WRITING_CHARS = 60_000
"""Of the arguments of all calls that are written; beyond it those before the newest call are cut."""
_FORMER_CHARS = 1_500
_ASKED_CHARS = 40_000
"""Of all that is asked at once; each item has at least `_LEAST_ASKED`."""
_LEAST_ASKED = 200
_NAME_CHARS = 80


class Now:
    """The step that is being made.

    Args:
        step_number: Of the step, or of the one before which a plan is made.
        is_planning: A plan is made.
        mode: How the run's steps act.
        clock: Gives seconds, from any begin.
        new_lane: Makes the lane of a run that a managed agent begins.
    """

    def __init__(
        self,
        step_number: int,
        *,
        new_lane: Callable[[], Lane],
        is_planning: bool = False,
        mode: AgentMode = "tools",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.step_number = step_number
        self._is_planning = is_planning
        self._mode: AgentMode = mode
        self.waiting: Waiting | None = None
        self._clock = clock
        self._waits_since = 0.0
        self._reply = GrowingReply(has_code=mode == "code" and not is_planning)
        self._reasoning = GrowingText()
        self._calls = NowCalls(mode, new_lane)
        self._writing: dict[int, GrowingArguments] = {}
        """The arguments that the model writes, by the place of their call."""
        self._names: dict[int, str] = {}
        self._asked: AskedRecord | None = None

    def write(self, delta: TextDelta | PlanDelta) -> None:
        """A piece of text, plan or reasoning."""
        self.waiting = None
        (self._reasoning if delta.is_reasoning else self._reply).add(delta.text)

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
        """The reply is whole: the calls, or the code, in it are known."""
        self.waiting = None
        self._writing.clear()
        self._reply.code.clear()

    def wait(self, event: Waiting) -> None:
        """The run waits."""
        if event.question is not None:
            self._asked = _to_asked(event.question, self._mode)
            return
        if event.kind == "retry":  # a reply that broke off is thrown away whole and asked for again
            self._reply.clear()
            self._reasoning.clear()
            self._writing.clear()
        self.waiting, self._waits_since = event, self._clock()

    def decide(self, event: ApprovalGiven) -> None:
        """One item of what is asked is decided."""
        call, given = event.decision.item.call, event.decision.arguments
        if self._mode == "code" and call is not None and given is not None and call.name == CODE_CALL:
            self._calls.edit(call.id, str(given.get("code", "")))
        if self._asked is None:  # approved by a rule: nobody was asked
            return
        items = [_with_verdict(item, event) for item in self._asked["items"]]
        is_open = any("verdict" not in item for item in items)
        self._asked = AskedRecord(id=self._asked["id"], items=items) if is_open else None

    def start(self, event: ToolCallStarted) -> None:
        """A call runs."""
        self.waiting = None
        self._calls.start(event)

    def end(self, event: ToolCallEnded) -> None:
        """A call has its result."""
        self._calls.end(event)

    def manage(self, event: ManagedEvent) -> None:
        """Something happened in the run that a managed agent makes for a call."""
        self.waiting = None
        self._calls.manage(event)

    @property
    def counts_down(self) -> bool:
        """Whether it waits for a time that is known, itself or in a run inside it."""
        return bool(self._left_s) or self._calls.counts_down

    @property
    def _left_s(self) -> float | None:
        """How long it still waits; None: until the person lets it go on, or not at all."""
        delay_s = self.waiting.delay_s if self.waiting else None
        return None if delay_s is None else max(delay_s - max(self._clock() - self._waits_since, 0), 0.0)

    def to_record(self) -> NowRecord:
        """All of it; of a long text the newer part."""
        record = NowRecord(
            step_number=self.step_number, doing="planning" if self._is_planning else "thinking"
        )
        if text := self._reply.thought.to_text():
            record["plan" if self._is_planning else "thought"] = text
        if code := self._reply.to_code():
            record["code"] = code
        if reasoning := self._reasoning.to_text():
            record["reasoning"] = reasoning
        if self._writing:
            record["writing"] = [
                WritingRecord(name=clean_text(self._names[place], _NAME_CHARS), arguments=written.to_text())
                for place, written in sorted(self._writing.items())
            ]
        self._calls.put(record)
        if asked := self._asked or _asked_in(record.get("calls", ())):
            record["doing"] = "asking"
            record["asked"] = asked
        if self.waiting:
            left_s = self._left_s
            record["doing"] = "paused" if self.waiting.kind == "pause" else "waiting"
            record["waiting"] = {
                "reason": clean_text(self.waiting.reason, 300),
                "delay_s": None if left_s is None else to_seconds(left_s),
                "attempt": self.waiting.attempt,
            }
        return record


def _asked_in(calls: Sequence[CallRecord]) -> AskedRecord | None:
    """What managed agents ask, in their runs for these calls, as one question; None if they ask nothing."""
    found = [(lane, asked) for lane in _lanes_in(calls) if (asked := lane.get("now", {}).get("asked"))]
    if not found:
        return None
    items = [_with_agent(item, lane) for lane, asked in found for item in asked["items"]]
    return AskedRecord(id=" ".join(asked["id"] for _, asked in found), items=items)


def _lanes_in(calls: Sequence[CallRecord]) -> Iterator[LaneRecord]:
    for call in calls:
        if "run" in call:
            yield call["run"]
        yield from _lanes_in(call.get("calls", ()))


def _with_agent(item: AskedItemRecord, lane: LaneRecord) -> AskedItemRecord:
    told = item.copy()
    below = item.get("agent")
    told["agent"] = lane["agent"] if below is None else f"{lane['agent']} → {below}"
    return told


def _to_asked(question: Question, mode: AgentMode) -> AskedRecord:
    share = max(_LEAST_ASKED, _ASKED_CHARS // len(question.items))
    return AskedRecord(id=question.id, items=[_to_asked_item(item, share, mode) for item in question.items])


def _to_asked_item(item: Item, max_chars: int, mode: AgentMode) -> AskedItemRecord:
    record = AskedItemRecord(id=item.id, digest=item.digest, kind=item.kind)
    if item.call is None:
        whole = item.plan or ""
        record["plan"] = shown = clean_text(whole, max_chars)
    else:
        is_code = mode == "code" and item.call.name == CODE_CALL
        call = to_call_record(ToolResult(call=item.call), Limits(chars=max_chars), is_code=is_code)
        record["name"], whole = call["name"], item.call.arguments
        if "code" in call:
            record["code"] = call["code"]
            shown = {"code": call["code"]}
        else:
            record["arguments"] = shown = call["arguments"]
    if not _is_whole(shown, whole):
        record["is_partial"] = True
    return record


def _is_whole(shown: Json, whole: Value) -> bool:
    """Whether plain JSON says all that there is; calls that code makes have live values, which may be any."""
    kind = type(shown)
    if kind is dict and isinstance(whole, Mapping):
        theirs = cast("Mapping[Value, Value]", whole)
        return len(shown) == len(theirs) and all(
            key in theirs and _is_whole(item, theirs[key]) for key, item in shown.items()
        )
    if kind is list and isinstance(whole, list):
        items = cast("list[Value]", whole)
        return len(shown) == len(items) and all(map(_is_whole, shown, items))
    return type(whole) is kind and kind not in (dict, list) and shown == whole


def _with_verdict(item: AskedItemRecord, event: ApprovalGiven) -> AskedItemRecord:
    if item["id"] != event.item_id:
        return item
    decided = item.copy()
    decided["verdict"] = event.verdict
    return decided
