"""The calls of the step that is being made: which run, what came of the others, what code calls inside.

It must not know what the model writes or the person is asked: `now` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from agent_magic.core.approval import EDITED
from agent_magic.core.events import Event, ManagedEvent, ToolCallEnded, ToolCallStarted
from agent_magic.core.result import AgentMode
from agent_magic.core.steps import CODE_CALL, ToolResult
from agent_magic.record.call import finish_call, to_call_record, to_inner_call
from agent_magic.record.limits import Limits
from agent_magic.record.schema import CallRecord, LaneRecord, NowRecord

_LIMITS = Limits(chars=2_000)
_CODE_LIMITS = Limits(chars=8_000, inner=15)
_INNER_LIMITS = Limits(chars=400)
_MAX_LANES = 20
"""Runs of managed agents that are shown step by step, side by side; of those beyond it that they run."""
_FIRST_INNER = 5
_SHOWN_INNER = 15
"""Of the calls that code makes: a third of them are its first ones, the others the newest."""


@dataclass(slots=True)
class _Inner:
    """A call that code makes."""

    whole: CallRecord
    is_running: bool = True
    shown: CallRecord | None = None
    """Made when it is drawn: most of thousands never are."""


@dataclass(slots=True)
class _InnerCalls:
    """Those of one block of code."""

    shown: dict[str, _Inner] = field(default_factory=dict[str, _Inner])
    """The first and the newest ones by their ids, in the order of their starts."""
    n_left_out: int = 0
    running: set[str] = field(default_factory=set[str])
    """Those too that are not shown any more."""


class Lane(Protocol):
    """The run that a managed agent makes for a call."""

    @property
    def counts_down(self) -> bool:
        """Whether it waits for a time that is known."""
        ...

    def add(self, event: Event) -> None:
        """Take in what happened in it."""

    def to_lane(self) -> LaneRecord:
        """The run as it stands."""
        ...


class NowCalls:
    """The calls of a step, by their events.

    Args:
        mode: How the run's steps act.
        new_lane: Makes the lane of a run that a managed agent begins.
    """

    def __init__(self, mode: AgentMode, new_lane: Callable[[], Lane]) -> None:
        self._mode: AgentMode = mode
        self._new_lane = new_lane
        self._lanes: dict[str, Lane] = {}
        """By the id of the call, which may be one that code made."""
        self._calls: dict[str, CallRecord] = {}
        self._running: dict[str, None] = {}
        self._inner: dict[str, _InnerCalls] = {}
        """By the id of the code that makes them."""
        self._edited: dict[str, str] = {}

    def edit(self, call_id: str, code: str) -> None:
        """The person had other code put in the place of the model's; it is about to run."""
        self._edited[call_id] = code

    def start(self, event: ToolCallStarted) -> None:
        """A call, or code, runs."""
        result = ToolResult(call=event.call)
        if event.inside is not None:
            whole = to_inner_call(result)
            _forget_result(whole)
            self._take_inner(event.inside, event.call.id, _Inner(whole))
            self._inner[event.inside].running.add(event.call.id)
            return
        is_code = self._is_code(result)
        if code := self._edited.get(event.call.id):
            result = ToolResult(call=event.call, notes=(f"{EDITED} this code:\n{code}",))
        started = to_call_record(result, _CODE_LIMITS if is_code else _LIMITS, is_code=is_code)
        _forget_result(started)
        # In this order: Ctrl-C may come between the two, and what runs is looked up among the calls.
        self._calls[event.call.id] = started
        self._running[event.call.id] = None

    def end(self, event: ToolCallEnded) -> None:
        """A call, or code, has its result."""
        result = event.result
        if event.inside is not None:
            inner = self._inner.setdefault(event.inside, _InnerCalls())
            # One that was refused has no beginning.
            if result.call.id in inner.shown or result.call.id not in inner.running:
                self._take_inner(
                    event.inside, result.call.id, _Inner(to_inner_call(result), is_running=False)
                )
            inner.running.discard(result.call.id)
            return
        self._running.pop(result.call.id, None)
        self._inner.pop(result.call.id, None)
        is_code = self._is_code(result)
        self._calls[result.call.id] = to_call_record(
            result, _CODE_LIMITS if is_code else _LIMITS, is_code=is_code
        )

    def manage(self, event: ManagedEvent) -> None:
        """Something happened in the run that a managed agent makes for a call."""
        lane = self._lanes.get(event.call_id)
        if lane is None:
            if len(self._lanes) >= _MAX_LANES:
                return
            lane = self._lanes[event.call_id] = self._new_lane()
        lane.add(event.event)

    @property
    def counts_down(self) -> bool:
        """Whether the run of a managed agent waits for a time that is known."""
        return any(lane.counts_down for lane in list(self._lanes.values()))

    def put(self, record: NowRecord) -> None:
        """Say in the record of a moment what there is to say of them."""
        if self._calls:
            record["calls"] = [self._to_call(call_id) for call_id in list(self._calls)]
        if self._running:
            record["doing"] = "calling"
            running = list(self._running)
            inner = [
                call_id
                for code_id in running
                if code_id in self._inner
                for call_id in _running_in(self._inner[code_id])
            ]
            record["running"] = [*(self._calls[call_id]["id"] for call_id in running), *inner]

    def _is_code(self, result: ToolResult) -> bool:
        return self._mode == "code" and result.call.name == CODE_CALL

    def _take_inner(self, code_id: str, call_id: str, call: _Inner) -> None:
        calls = self._inner.setdefault(code_id, _InnerCalls())
        calls.shown[call_id] = call
        if len(calls.shown) > _SHOWN_INNER:
            del calls.shown[next(islice(calls.shown, _FIRST_INNER, None))]
            calls.n_left_out += 1

    def _to_call(self, call_id: str) -> CallRecord:
        call, inner = self._with_lane(self._calls[call_id]), self._inner.get(call_id)
        if inner is None:
            return call
        call = call.copy()
        call["calls"] = [self._with_lane(_to_shown(one)) for one in list(inner.shown.values())]
        if inner.n_left_out:
            call["calls_left_out"] = inner.n_left_out
        return call

    def _with_lane(self, call: CallRecord) -> CallRecord:
        lane = self._lanes.get(call["id"])
        if lane is None:
            return call
        call = call.copy()
        call["run"] = lane.to_lane()
        return call


def _running_in(calls: _InnerCalls) -> list[str]:
    return [_to_shown(call)["id"] for call in list(calls.shown.values()) if call.is_running]


def _to_shown(call: _Inner) -> CallRecord:
    if call.shown is None:
        call.shown = finish_call(call.whole, _INNER_LIMITS)
    return call.shown


def _forget_result(call: CallRecord) -> None:
    """It has none yet."""
    call.pop("observation", None)
    call.pop("output", None)
