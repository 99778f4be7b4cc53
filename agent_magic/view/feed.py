"""Feed: what is new in a run since a page was last told, as messages.

It must not send them, nor know who draws. A record is compared with the one before: finished steps
are the same objects as long as nothing in them has changed, and of a growing text only what was added goes out.
"""

from __future__ import annotations

from typing import cast

from agent_magic.record.run import fit_record
from agent_magic.record.schema import AnyStepRecord, CallRecord, Json, LaneRecord, NowRecord, RunRecord
from agent_magic.view.protocol import (
    VERSION,
    EndMessage,
    HeadMessage,
    LaneMessage,
    Message,
    NowMessage,
    SettingsMessage,
    SettingsRecord,
    Snapshot,
    StepMessage,
    TextField,
    TextMessage,
    TotalsMessage,
)

MAX_SNAPSHOT_BYTES = 380_000
_TEXTS: tuple[TextField, ...] = ("thought", "code", "plan", "reasoning")
_TOTALS = ("n_steps", "duration_s", "usage")
_FOR_LOADING = frozenset({"memory", "journal"})
_APART = frozenset({"steps", "steps_left_out", "now", *_TOTALS, *_FOR_LOADING})
"""What has messages of its own."""


class Feed:
    """The messages of one run, numbered from 1."""

    def __init__(self) -> None:
        self.n = 0
        """Of the last message."""
        self._head: Json = None
        self._steps: list[AnyStepRecord] = []
        self._now: NowRecord | None = None
        self._texts: dict[str, str] = {}
        self._step_number = 0
        self._settings: SettingsRecord | None = None
        self._lanes: dict[str, Feed] = {}
        """Of the runs inside the step that is being made, by the ids of their calls."""
        self._has_ended = False

    @property
    def n_steps(self) -> int:
        """How many steps were told of."""
        return len(self._steps)

    @property
    def has_ended(self) -> bool:
        """Whether the end was told of."""
        return self._has_ended

    def take(self, record: RunRecord, settings: SettingsRecord | None) -> list[Message]:
        """What is new in the record of a run that goes on."""
        messages: list[Message] = []
        head = {key: value for key, value in record.items() if key not in _APART}
        if head != self._head:
            self._head = head
            messages.append(HeadMessage(v=VERSION, n=0, kind="head", head={**head, **_totals(record)}))
        steps = record["steps"]
        for place, step in enumerate(steps):
            if place >= len(self._steps) or step is not self._steps[place]:
                messages.append(StepMessage(v=VERSION, n=0, kind="step", place=place, step=step))
        if len(steps) > len(self._steps):
            messages.append(
                cast("TotalsMessage", {"v": VERSION, "n": 0, "kind": "totals", **_totals(record)})
            )
        self._steps = list(steps)
        messages += self._take_now(record.get("now"))
        if settings is not None and settings != self._settings:
            self._settings = settings
            messages.append(SettingsMessage(v=VERSION, n=0, kind="settings", settings=settings))
        return self._number(messages)

    def end(self, record: RunRecord, settings: SettingsRecord | None) -> list[Message]:
        """The last news of a run, and that it has ended; `record` is that of its draft at the end."""
        if self._has_ended:
            return []
        self._has_ended = True
        messages: list[Message] = []
        if settings is not None and settings != self._settings:
            messages.append(SettingsMessage(v=VERSION, n=0, kind="settings", settings=settings))
        head = {key: value for key, value in record.items() if key not in _NOT_AT_END}
        messages.append(EndMessage(v=VERSION, n=0, kind="end", head=head))
        return self._number(messages)

    def to_snapshot(
        self, record: RunRecord, settings: SettingsRecord | None, *, step: int | None = None
    ) -> Snapshot:
        """The run as it stands at the last message, small enough to be drawn from at once."""
        shown = cast("RunRecord", {key: value for key, value in record.items() if key not in _FOR_LOADING})
        return Snapshot(
            v=VERSION, n=self.n, run=fit_record(shown, MAX_SNAPSHOT_BYTES), settings=settings, step=step
        )

    def _take_now(self, now: NowRecord | None) -> list[Message]:
        messages: list[Message] = []
        shown = None
        if now is not None:
            shown = cast("NowRecord", {key: value for key, value in now.items() if key not in _GROWING})
        number = now["step_number"] if now else 0
        if number != self._step_number or now is None:
            self._texts, self._step_number, self._lanes = {}, number, {}
        lanes = {} if now is None else _lanes_in(now)
        if shown is not None and lanes:
            shown["calls"] = [_without_lanes(call) for call in shown.get("calls", ())]
        if shown != self._now:
            self._now = shown
            messages.append(NowMessage(v=VERSION, n=0, kind="now", now=shown))
        texts = cast("dict[str, str]", now or {})
        messages += [m for field in _TEXTS if (m := self._grow(field, field, texts.get(field, "")))]
        for place, written in enumerate(now.get("writing", ()) if now else ()):
            if grown := self._grow(f"arguments {place}", "arguments", written["arguments"]):
                grown["call"], grown["name"] = place, written["name"]
                messages.append(grown)
        # After what tells of the calls that they are made for.
        for call_id, lane in lanes.items():
            messages += self._take_lane(call_id, lane)
        return messages

    def _take_lane(self, call_id: str, lane: LaneRecord) -> list[LaneMessage]:
        feed = self._lanes.setdefault(call_id, Feed())
        record = cast("RunRecord", lane)
        if lane["status"] == "running":
            told = feed.take(record, None)
        else:
            told = [*feed.take(record, None), *feed.end(record, None)] if not feed.has_ended else []
        return [LaneMessage(v=VERSION, n=0, kind="lane", call=call_id, message=one) for one in told]

    def _grow(self, key: str, field: TextField, text: str) -> TextMessage | None:
        before = self._texts.get(key, "")
        if text == before:
            return None
        self._texts[key] = text
        n_same = _n_same(before, text)
        at = len(text[:n_same].encode("utf-16-le", "surrogatepass")) // 2
        return TextMessage(v=VERSION, n=0, kind="text", field=field, at=at, add=text[n_same:])

    def _number(self, messages: list[Message]) -> list[Message]:
        for message in messages:
            self.n += 1
            message["n"] = self.n
        return messages


_NOT_AT_END = frozenset({"steps", "now", *_FOR_LOADING})
_GROWING = frozenset({*_TEXTS, "writing"})


def _lanes_in(now: NowRecord) -> dict[str, LaneRecord]:
    """The runs of managed agents for the calls of a step, and for those that its code makes, by their ids."""
    calls = [one for call in now.get("calls", ()) for one in (call, *call.get("calls", ()))]
    return {call["id"]: call["run"] for call in calls if "run" in call}


def _without_lanes(call: CallRecord) -> CallRecord:
    bare = call.copy()
    bare.pop("run", None)
    if "calls" in call:
        bare["calls"] = [_without_lanes(inner) for inner in call["calls"]]
    return bare


def _n_same(before: str, text: str) -> int:
    """How many characters two texts have in common at their beginning."""
    if text.startswith(before):
        return len(before)
    pairs = enumerate(zip(before, text, strict=False))
    return next((i for i, (one, other) in pairs if one != other), min(len(before), len(text)))


def _totals(record: RunRecord) -> Json:
    return {key: cast("Json", record)[key] for key in _TOTALS}
