"""What stands in a record: a run as plain JSON, and the small records of an agent and of a tool.

It must not build a record nor draw one: it is the contract between those that do.

A key that is `NotRequired` is left out when there is nothing to say, so that long runs stay small.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, final

from agent_magic.core.approval import Verdict
from agent_magic.core.edits import StepView
from agent_magic.core.result import AgentMode, RunStatus, Verified
from agent_magic.core.short_form import Form

RUN_MIME = "application/vnd.agent-magic.run.v1+json"
"""The MIME type of a `RunRecord` in a notebook's output."""
VERSION = 1

Json: TypeAlias = Any
"""None, bool, int, finite float, str, and lists and string-keyed dicts of these."""
Status = Literal["running"] | RunStatus


class UsageRecord(TypedDict):
    """Tokens and money; None is unknown."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: float | None


class ErrorRecord(TypedDict):
    """What went wrong."""

    kind: str
    message: str


class ValueRecord(TypedDict):
    """A live value in words."""

    type: str
    shape: NotRequired[str]
    preview: NotRequired[str]


class SoundRecord(TypedDict):
    """A sound that came with an observation."""

    words: str
    """Such as `sound of 2.5 s, 44,100 Hz, 1 channel (audio/wav)`."""
    url: NotRequired[str]
    """A `data:` URL, if it is small enough to be played from here."""


class CallRecord(TypedDict):
    """One tool call, or one block of code, and what became of it."""

    id: str
    name: str
    arguments: dict[str, Json] | str
    """As the model wrote them; the raw text if it could not be read. Of a call that code made, what it was
    given, objects in words."""
    code: NotRequired[str]
    """Of a block of code, which then has no `arguments`: the code as the model wrote it."""
    calls: NotRequired[list[CallRecord]]
    """The calls of tools that the code made, in the order of their starts; these make none of their own."""
    calls_left_out: NotRequired[int]
    """How many more it made: they belong after the first third (`len(calls) // 3`) of `calls`."""
    observation: NotRequired[str]
    """What the model was told; of code that failed too: what had come of it before."""
    error: NotRequired[ErrorRecord]
    is_edited: NotRequired[bool]
    """It was made with arguments, or code, of the person's, which stand in its notes."""
    notes: NotRequired[list[str]]
    printed: NotRequired[str]
    bound_to: NotRequired[str]
    duration_s: NotRequired[float]
    output: NotRequired[ValueRecord]
    """What was returned, or code ended in, if not None; `preview` only of code and where there is no observation."""
    images: NotRequired[list[str]]
    """Those that came with the observation: each a `data:` URL, small, or words such as `image 1200 × 800`."""
    sounds: NotRequired[list[SoundRecord]]
    run: NotRequired[LaneRecord]
    """Of a call of a managed agent: the run that it made."""


class NoteRecord(TypedDict):
    """What happened around a step: a setting that took effect, a request that was shortened."""

    text: str
    is_warning: NotRequired[bool]


class LaidOnRecord(TypedDict):
    """What a person or the window laid upon a step: how a model is shown it, and who edited it."""

    form: NotRequired[Form]
    """How the window shortened it."""
    view: NotRequired[StepView]
    is_pinned: NotRequired[bool]
    edited_by: NotRequired[str]
    edited_at: NotRequired[str]
    """ISO 8601, UTC."""


@final
class StepRecord(TypedDict):
    """One action step."""

    step_number: int
    duration_s: float
    thought: NotRequired[str]
    reasoning: NotRequired[str]
    calls: NotRequired[list[CallRecord]]
    calls_left_out: NotRequired[int]
    changes: NotRequired[list[str]]
    """What became of the namespace, a line for each name."""
    changes_left_out: NotRequired[int]
    error: NotRequired[ErrorRecord]
    usage: NotRequired[UsageRecord]
    is_final_answer: NotRequired[bool]
    notes: NotRequired[list[NoteRecord]]
    laid_on: NotRequired[LaidOnRecord]


class PlanDiffRecord(TypedDict):
    """How a plan differs from the one before it; the lists may be cut, the counts are not."""

    n_added: int
    n_dropped: int
    n_kept: int
    added: list[str]
    dropped: list[str]
    kept: list[str]


@final
class PlanRecord(TypedDict):
    """One plan, or the failure to make one."""

    kind: Literal["plan"]
    step_number: int
    """Of the action step before which it was made."""
    duration_s: float
    plan: str
    """The text that counts; empty if there is none."""
    original: NotRequired[str]
    """As the model wrote it, if that is not `plan`."""
    reasoning: NotRequired[str]
    n_items: NotRequired[int]
    """Lines of `plan` that are items of a list."""
    diff: NotRequired[PlanDiffRecord]
    """Left out for the first plan of a run."""
    error: NotRequired[ErrorRecord]
    usage: NotRequired[UsageRecord]
    notes: NotRequired[list[NoteRecord]]
    laid_on: NotRequired[LaidOnRecord]


AnyStepRecord: TypeAlias = StepRecord | PlanRecord
"""Told apart by `"plan" in record`."""


class LaneRecord(TypedDict):
    """The run of a managed agent, under the call that it was made for; its task stands in the call."""

    run_id: str
    agent: str
    model: str
    mode: AgentMode
    status: Status
    max_steps: int
    n_steps: int
    """Action steps made, also those that are left out of `steps`; plans are not counted."""
    duration_s: float
    usage: UsageRecord
    steps: list[AnyStepRecord]
    """Of a long run the first and the last ones; images in them stand in words."""
    steps_left_out: int
    """Plans counted too."""
    answer: AnswerRecord | None
    verified: NotRequired[Verified]
    error: ErrorRecord | None
    now: NotRequired[NowRecord]
    """While it goes on only."""


class VariableRecord(TypedDict):
    """A variable that the task mentions."""

    name: str
    description: str


class AnswerRecord(TypedDict):
    """The value that the run ended with."""

    type: str
    shape: NotRequired[str]
    text: str
    """The text itself, JSON for plain data, a description for other objects."""


class CheckRecord(TypedDict):
    """What one check said of the value at the end."""

    name: str
    passed: bool
    reason: NotRequired[str]
    """Why it refused."""


class WaitRecord(TypedDict):
    """A pause before the model is asked again."""

    reason: str
    delay_s: float | None
    """None: until the person lets the run go on."""
    attempt: int


class WritingRecord(TypedDict):
    """A tool call that the model is writing."""

    name: str
    """As far as it has come."""
    arguments: str
    """The newer part of their JSON."""


class AskedItemRecord(TypedDict):
    """One thing that the person is asked about."""

    id: str
    digest: str
    """An answer carries it, so that nothing is approved but what was shown."""
    kind: Literal["call", "plan"]
    agent: NotRequired[str]
    """The managed agent that asks; left out if it is the agent of the run itself."""
    name: NotRequired[str]
    arguments: NotRequired[dict[str, Json] | str]
    code: NotRequired[str]
    """Of a block of code, in place of `arguments`; one that was edited is answered as `{"code": …}`."""
    plan: NotRequired[str]
    is_partial: NotRequired[bool]
    """What is shown is cut or has secrets taken out, so an edit of it would not be the whole."""
    verdict: NotRequired[Verdict]
    """Left out as long as it waits for an answer."""


class AskedRecord(TypedDict):
    """What the run waits for the person to say."""

    id: str
    items: list[AskedItemRecord]


class NowRecord(TypedDict):
    """What happens at the moment in a run that goes on."""

    step_number: int
    doing: Literal["thinking", "planning", "calling", "asking", "waiting", "paused"]
    thought: NotRequired[str]
    """What the model writes, of a long text the newer part; it grows at its end."""
    code: NotRequired[str]
    """Likewise the code that it writes, from its opening tag on, until the reply is whole."""
    plan: NotRequired[str]
    """Likewise the plan that it writes."""
    reasoning: NotRequired[str]
    calls: NotRequired[list[CallRecord]]
    """Calls of this step; those without `observation` and `error` are still running. Of very many that
    code made, the first and the newest ones."""
    running: NotRequired[list[str]]
    """Ids of the calls that are running, those too that code made."""
    waiting: NotRequired[WaitRecord]
    writing: NotRequired[list[WritingRecord]]
    """Calls that the model is writing, by their place in the turn."""
    asked: NotRequired[AskedRecord]
    notes: NotRequired[list[NoteRecord]]


class RunRecord(TypedDict):
    """A run: what its four forms in a notebook are drawn from."""

    version: int
    agent_magic: str
    run_id: str
    agent: str
    model: str
    why: str | None
    """Why this model was chosen."""
    mode: AgentMode
    status: Status
    max_steps: int
    """The highest number that a step may have: those of a run that is resumed count on."""
    n_steps: int
    """Action steps made, also those that are left out of `steps`; plans are not counted."""
    started: str
    """ISO 8601, UTC."""
    duration_s: float
    usage: UsageRecord
    task: str
    images: list[str]
    variables: list[VariableRecord]
    warnings: list[str]
    task_laid_on: NotRequired[LaidOnRecord]
    resumed_from: NotRequired[str]
    """The id of the run that this one went on with."""
    steps: list[AnyStepRecord]
    """Plans and actions in order; of a very long run the first and the last ones."""
    steps_left_out: int
    """Plans counted too."""
    answer: AnswerRecord | None
    """None if there is no value; an answer only if the run is `answered`, else a best guess."""
    verified: NotRequired[Verified]
    """Left out if there were no checks."""
    checks: NotRequired[list[CheckRecord]]
    error: ErrorRecord | None
    is_quiet: NotRequired[bool]
    """Header and answer only, until a person asks for the steps."""
    now: NotRequired[NowRecord]
    """While it runs only."""
    memory: NotRequired[str]
    """What the run added to its agent's memory, see `core.form.part`, as the text of its JSON."""
    journal: NotRequired[str]
    """The name of the journal that has it, where it is too large to stand here."""


class ToolLineRecord(TypedDict):
    """A tool in the list of an agent."""

    name: str
    description: str


class AgentRecord(TypedDict):
    """An agent, as its card shows it."""

    name: str
    model: str
    why: str | None
    tools: list[ToolLineRecord]
    settings: dict[str, Json]
    n_runs: int
    n_steps: int
    last_status: Status | None


class ParameterRecord(TypedDict):
    """One parameter of a tool."""

    name: str
    type: str
    description: str
    is_required: bool
    default: NotRequired[str]


class ExampleRecord(TypedDict):
    """A worked example of a call."""

    task: str
    arguments: dict[str, Json]


class ToolRecord(TypedDict):
    """A tool, as its card shows it."""

    name: str
    description: str
    parameters: list[ParameterRecord]
    examples: list[ExampleRecord]
    weaknesses: list[str]
    """What makes it hard to use for a model."""
