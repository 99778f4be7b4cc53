"""The wire between a run in the kernel and its view in a page: messages there, requests back.

It must not send anything: it is the contract between the two. Its twin is
`labextension/src/protocol.ts`; everything is plain JSON.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, get_args

from agent_magic.core.approval import ApprovalPolicy
from agent_magic.core.settings import SummaryMode
from agent_magic.record.schema import (
    AgentRecord,
    AnyStepRecord,
    Json,
    LaidOnRecord,
    NowRecord,
    RunRecord,
    Status,
    ToolRecord,
    UsageRecord,
)

VERSION = 1

TextField = Literal["thought", "code", "plan", "reasoning", "arguments"]
"""A text that grows while the model writes."""
Verb = Literal[
    "hello",
    "stop",
    "pause",
    "go_on",
    "replan_now",
    "set",
    "set_view",
    "set_pinned",
    "approve",
    "edit",
    "reject",
    "edit_step",
    "undo",
    "lens",
]
"""All that a page may ask for."""
VERBS: tuple[Verb, ...] = get_args(Verb)


class SettingsRecord(TypedDict):
    """The settings of an agent that a page can turn."""

    summary_mode: SummaryMode
    planning_interval: int | None
    is_paused: bool
    max_steps: int
    approve: ApprovalPolicy
    pending: dict[str, str]
    """Those that were changed and do not hold yet, with the moment from which they will."""


class Snapshot(TypedDict):
    """A run as it stood at message `n`: a view is drawn from it, then from every later message."""

    v: int
    n: int
    run: RunRecord
    settings: SettingsRecord | None
    """None for a run whose agent is gone."""
    step: int | None
    """The number of the only step to show."""


class HeadMessage(TypedDict):
    """The run without its steps: at its begin, and when something in it has changed."""

    v: int
    n: int
    kind: Literal["head"]
    head: Json


class StepMessage(TypedDict):
    """A step that was made; of a place that was sent before, the step as it is now."""

    v: int
    n: int
    kind: Literal["step"]
    place: int
    """Among plans and actions, from 0."""
    step: AnyStepRecord


class NowMessage(TypedDict):
    """What happens now, without the texts that grow; another step number clears those."""

    v: int
    n: int
    kind: Literal["now"]
    now: NowRecord | None


class TextMessage(TypedDict):
    """A text grows: the first `at` characters stay, `add` follows them."""

    v: int
    n: int
    kind: Literal["text"]
    field: TextField
    at: int
    """In UTF-16 code units, as a page counts."""
    add: str
    call: NotRequired[int]
    """Of `arguments`: the place of the call in its turn."""
    name: NotRequired[str]


class TotalsMessage(TypedDict):
    """The figures so far."""

    v: int
    n: int
    kind: Literal["totals"]
    n_steps: int
    duration_s: float
    usage: UsageRecord


class SettingsMessage(TypedDict):
    """A setting was changed or took effect."""

    v: int
    n: int
    kind: Literal["settings"]
    settings: SettingsRecord


class EndMessage(TypedDict):
    """The run has ended; nothing numbered follows."""

    v: int
    n: int
    kind: Literal["end"]
    head: Json


class LaneMessage(TypedDict):
    """News of the run that a managed agent makes for a call of this step.

    Its first message of all is a head. `NowMessage` does not tell of it.
    """

    v: int
    n: int
    kind: Literal["lane"]
    call: str
    """The id of the call, which may be one that code made."""
    message: Message
    """Its `n` says nothing; it may be a `LaneMessage` again."""


Message: TypeAlias = (
    HeadMessage
    | StepMessage
    | NowMessage
    | TextMessage
    | TotalsMessage
    | SettingsMessage
    | LaneMessage
    | EndMessage
)


class Batch(TypedDict):
    """Messages that go together, so that a fast run does not flood the page."""

    v: int
    kind: Literal["batch"]
    messages: list[Message]


Request: TypeAlias = dict[str, Any]
"""`v`, `id`, `verb`, `nonce`, `run_id` and what the verb needs; anything at all may come in."""


class Reply(TypedDict):
    """What became of a request."""

    v: int
    ok: bool
    effective: NotRequired[str]
    """From when on it holds: `now`, `from step 4`, `from the next call`."""
    data: NotRequired[Json]
    error: NotRequired[str]
    """Why it was refused, and what to do."""


class HelloData(TypedDict):
    """What a view learns when it finds its kernel."""

    nonce: str
    """Stands in every later request of this view."""
    is_running: bool
    settings: SettingsRecord | None
    steps: list[LaidOnRecord | None]
    """What is laid upon each step, by its place."""
    snapshot: NotRequired[Snapshot]
    """The run as it stands, if it goes on and the view asked for it by `snapshot: true`."""
    bundle: NotRequired[dict[str, Json]]
    """The forms of the run by MIME type, if it has ended and the view asked for them by `bundle: true`."""


def accept(effective: str = "", data: Json = None) -> Reply:
    """The reply to a request that was taken."""
    reply = Reply(v=VERSION, ok=True)
    if effective:
        reply["effective"] = effective
    if data is not None:
        reply["data"] = data
    return reply


def refuse(error: str) -> Reply:
    """The reply to a request that was not."""
    return Reply(v=VERSION, ok=False, error=error)


# -- the panel of an agent -----------------------------------------------------------------------


class PanelStepRecord(TypedDict):
    """A step in the memory of an agent, on one line."""

    place: int
    """What requests name it by; it stays the same as long as the agent lives."""
    kind: Literal["task", "plan", "action", "answer"]
    step_number: NotRequired[int]
    title: str
    is_error: NotRequired[bool]
    laid_on: NotRequired[LaidOnRecord]


class PanelRunRecord(TypedDict):
    """A run in the memory of an agent."""

    task: str
    """On one line."""
    status: Status | None
    """None if it is not known, as in a memory that was loaded."""
    steps: list[PanelStepRecord]
    """The task, plans, actions, the answer; those that were dropped are left out."""


class NameRecord(TypedDict):
    """A name that the agent may refer to."""

    name: str
    type: str
    shape: NotRequired[str]
    preview: NotRequired[str]


class AgentSnapshot(TypedDict):
    """An agent as it stands: what its panel, and its static form, are drawn from."""

    v: int
    id: str
    """Stands as `run_id` in what a panel asks for."""
    agent: AgentRecord
    settings: SettingsRecord
    is_running: bool
    runs: list[PanelRunRecord]
    steps_left_out: int
    """The oldest, beside those in `runs`."""
    scope: Literal["named", "all"]
    names: list[NameRecord]
    names_left_out: int
    tools: list[ToolRecord]
    tools_left_out: int
    tools_missing: list[str]
    """Names that were given as tools and are gone."""
    tools_error: NotRequired[str]
    """Why there are no tools."""
