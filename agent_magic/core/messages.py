"""What goes to a model and what comes back: messages, tool calls, schemas, deltas, usage.

It must not know any provider: how these become a provider's JSON is the models' business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from agent_magic.core.values import Value

_Number = TypeVar("_Number", int, float)

Role = Literal["system", "user", "assistant", "tool"]
RequestKind = Literal["act", "plan", "final"]
"""What a request is for: the next action, a plan, or the last answer after the step limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """An image inside a message, next to its text."""

    image: Value
    """A `PIL.Image.Image`."""
    name: str | None = None
    """The variable that holds it, if one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One request of the model to run one tool."""

    id: str
    """Unique within a memory; the tool message that answers it carries the same id."""
    name: str
    arguments: Mapping[str, Value] | str | None = None
    """A mapping once read; in a model's reply also the provider's raw text, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens and money of one call, or of several added up.

    None means that it was not reported; adding an unknown to a known gives unknown, never a
    silent zero.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """The part of `input_tokens` that the provider read from its cache."""
    reasoning_tokens: int | None = None
    """The part of `output_tokens` that was reasoning."""
    cost_usd: float | None = None

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            input_tokens=_add(self.input_tokens, other.input_tokens),
            output_tokens=_add(self.output_tokens, other.output_tokens),
            cached_tokens=_add(self.cached_tokens, other.cached_tokens),
            reasoning_tokens=_add(self.reasoning_tokens, other.reasoning_tokens),
            cost_usd=_add(self.cost_usd, other.cost_usd),
        )

    def to_dict(self) -> dict[str, int | float | None]:
        """The five figures by name, for records."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "cost_usd": self.cost_usd,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message, to a model or from it."""

    role: Role
    content: str | None = None
    images: tuple[ImagePart, ...] = ()
    """Sent after the text of `content`."""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    """On a message of role `tool`: the id of the call that it answers."""
    is_error: bool = False
    """It tells the model of a fault."""
    is_ours: bool = False
    """A user message that the runtime wrote, not the person: a plan's handover, a note of what was
    shortened, an error."""
    reasoning: str | None = None
    """The model's thinking, kept apart: no call and no answer is ever read from it."""
    usage: TokenUsage | None = None
    finish_reason: str | None = None
    """`stop`, `tool_calls`, `length` (cut off), … as the provider says it."""
    signed: Mapping[str, Value] | None = None
    """What the provider signed of its thinking and wants to see again beside these calls: plain JSON in
    the form of the model that wrote it, whose id is at `by`; no other is sent it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExample:
    """A worked example of a call: how a task in words becomes arguments."""

    task: str
    arguments: Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema:
    """What a model is told of a tool."""

    name: str
    description: str
    parameters: Mapping[str, Value]
    """A JSON Schema of type `object`."""
    examples: tuple[ToolExample, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """A piece of a tool call, as providers stream it."""

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDelta:
    """A piece of a reply."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()
    usage: TokenUsage | None = None
    """The running total of this reply, not an increment: the last one counts."""
    finish_reason: str | None = None


def _add(a: _Number | None, b: _Number | None) -> _Number | None:
    return None if a is None or b is None else a + b
