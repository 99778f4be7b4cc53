"""Moment: all that decides what the next request says, of a run or of an agent at rest.

A run makes its requests from one, and the preview makes one for a request that nobody sends; so
both say the same. It must not send anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, assert_never

from agent_magic.agents.run.meter import Meter
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, RequestKind, ToolSchema
from agent_magic.core.request import ACT, ACT_SUMMARY, PLAN, PLAN_FULL, Projection
from agent_magic.core.settings import SummaryMode
from agent_magic.core.state import AgentState
from agent_magic.core.values import Value
from agent_magic.models.model import Model
from agent_magic.tools.tool import Tool


@dataclass(slots=True, kw_only=True)
class Moment:
    """Where a run is when it is about to ask its model."""

    memory: AgentMemory
    state: AgentState
    model: Model
    meter: Meter
    step_number: int
    max_steps: int
    summary_mode: SummaryMode
    has_plan: bool
    window: int | None = None
    """Tokens that request and reply may have together; None if unknown."""
    is_first_request: bool = True
    """Of its run, so the system prompt is rendered anew."""
    own_tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    """Tools that belong to this run, made once."""

    @property
    def n_left(self) -> int:
        """Steps left, the next one counted."""
        return self.max_steps - self.step_number + 1


@dataclass(slots=True, kw_only=True)
class Composed:
    """A request but for its history, which the memory gives."""

    kind: RequestKind
    projection: Projection
    head: tuple[ChatMessage, ...] = ()
    tail: tuple[ChatMessage, ...] = ()
    schemas: tuple[ToolSchema, ...] = ()
    stop: tuple[str, ...] = ()
    """Texts at which the reply is to end."""
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """What goes to the model beside all this, such as a response format."""
    tools: Mapping[str, Tool]
    """Those that can be called; the ones that the model is told of come first."""


class Composer(Protocol):
    """Says what a request of each kind is made of."""

    def compose(self, moment: Moment, kind: RequestKind) -> Composed:
        """The request that would be made at this moment; the memory's system prompt is put in."""
        ...


def projection_of(kind: RequestKind, summary_mode: SummaryMode) -> Projection:
    """Which view of the memory a request of this kind shows."""
    match kind:
        case "act" | "final":
            return ACT_SUMMARY if summary_mode == "all" else ACT
        case "plan":
            return PLAN_FULL if summary_mode == "off" else PLAN
        case _:
            assert_never(kind)
