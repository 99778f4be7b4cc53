"""What a run yields while it goes on.

Events are news, not memory: a step is in memory before its `StepEnded` is yielded, and deltas
are kept nowhere. It must not hold anything that draws.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_magic.core.messages import ChatMessage, ToolCall
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, FinalAnswerStep, TaskStep, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The task is in memory; nothing was asked yet."""

    run_id: str
    agent_name: str
    model_id: str
    max_steps: int
    task: TaskStep


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """The model is about to be asked."""

    step_number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the model's text or of its reasoning."""

    step_number: int
    text: str
    is_reasoning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A model call failed in a passing way and will be made again."""

    step_number: int
    reason: str
    delay_s: float
    attempt: int
    """The attempt that failed, counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReplied:
    """The reply is whole."""

    step_number: int
    message: ChatMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted:
    """A tool's body is about to be entered."""

    step_number: int
    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallEnded:
    """A tool call has its result; several come in the order in which they end."""

    step_number: int
    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded:
    """A step was entered into memory."""

    step: ActionStep | FinalAnswerStep


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The last event of every run that was not closed from outside."""

    result: RunResult


Event = (
    RunStarted
    | StepStarted
    | TextDelta
    | Waiting
    | ModelReplied
    | ToolCallStarted
    | ToolCallEnded
    | StepEnded
    | RunEnded
)
