"""What a run yields while it goes on.

Events are news, not memory: a step is in memory before its `StepEnded` is yielded, and deltas
are kept nowhere. It must not hold anything that draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent_magic.core.approval import Decision, Question, Verdict
from agent_magic.core.messages import ChatMessage, ToolCall
from agent_magic.core.result import AgentMode, RunResult
from agent_magic.core.steps import ActionStep, FinalAnswerStep, PlanningStep, TaskStep, ToolResult
from agent_magic.core.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The task is in memory; nothing was asked yet."""

    run_id: str
    agent_name: str
    model_id: str
    max_steps: int
    task: TaskStep
    mode: AgentMode = "tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """The model is about to be asked."""

    step_number: int
    kind: Literal["act", "plan"] = "act"
    """`plan`: for the plan that is made before this step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the model's text or of its reasoning."""

    step_number: int
    text: str
    is_reasoning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentsDelta:
    """A piece of the arguments of a native tool call, as the model writes them."""

    step_number: int
    place: int
    """Of the call in its turn, from 0."""
    name: str
    """Of the tool; empty as long as the model has not named it."""
    text: str
    """Of the arguments' JSON; empty where the call begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDelta:
    """A piece of a plan or of the reasoning before it."""

    step_number: int
    text: str
    is_reasoning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The run waits: to make a model call again that failed in a passing way, for its turn, or for the person."""

    step_number: int
    reason: str
    delay_s: float | None = None
    """None: until the person lets it go on."""
    attempt: int = 0
    """The attempt that failed, counted from 1."""
    kind: Literal["retry", "rate", "pause", "approval"] = "retry"
    """`rate`: no more requests a minute are allowed; `delay_s` is then an estimate."""
    question: Question | None = None
    """What the person is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalGiven:
    """One item of what the person was asked is decided."""

    step_number: int
    decision: Decision

    @property
    def item_id(self) -> str:
        """Of the item in its question."""
        return self.decision.item.id

    @property
    def verdict(self) -> Verdict:
        """What was said of it."""
        return self.decision.verdict

    @property
    def reason(self) -> str:
        """Why it was rejected."""
        return self.decision.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChanged:
    """A setting that was changed while the run goes on takes effect."""

    step_number: int
    name: str
    value: Value
    effective: str
    """From when on, such as `from step 4` or `from the next call`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextShortened:
    """Older steps go to the model in a shorter form, so that the request stays within its window."""

    step_number: int
    shortened: tuple[str, ...]
    """What, a line each."""
    tokens_before: int
    tokens_after: int
    window: int
    is_estimate: bool
    """The model's tokenizer is not known: the tokens are estimates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the person should know that does not stop the run, such as a callback that raised."""

    step_number: int
    message: str
    about: str = ""
    """What failed and how, by names alone: no content of a task, a reply, a tool or an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReplied:
    """The reply is whole."""

    step_number: int
    message: ChatMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted:
    """A tool's body, or the model's code, is about to be entered."""

    step_number: int
    call: ToolCall
    inside: str | None = None
    """Of a call that code made: the id of the code's own call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallEnded:
    """A tool call, or the model's code, has its result; several come in the order in which they end."""

    step_number: int
    result: ToolResult
    inside: str | None = None
    """As of `ToolCallStarted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded:
    """A step was entered into memory."""

    step: PlanningStep | ActionStep | FinalAnswerStep


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The last event of every run that was not closed from outside."""

    result: RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedEvent:
    """An event of a run that a managed agent makes for a call.

    All of one run come between the `ToolCallStarted` and the `ToolCallEnded` of the call, the run's
    `RunStarted` first and its `RunEnded` last; runs that go on side by side are interleaved.
    """

    step_number: int
    """Of the step whose call it is, in the run that yields this."""
    call_id: str
    agent_name: str
    """Of the managed agent."""
    run_id: str
    """Of its run."""
    event: Event
    """A `ManagedEvent` again, where that agent manages others."""
    inside: str | None = None
    """As of `ToolCallStarted`."""


Event = (
    RunStarted
    | StepStarted
    | PlanDelta
    | TextDelta
    | ArgumentsDelta
    | Waiting
    | ApprovalGiven
    | SettingChanged
    | ContextShortened
    | Notice
    | ModelReplied
    | ToolCallStarted
    | ToolCallEnded
    | ManagedEvent
    | StepEnded
    | RunEnded
)
