"""SentRequest: what a model was sent, kept so that it can be shown again.

It must not hold the messages of the history: those are rebuilt from the memory as it stood then.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_magic.core.messages import ChatMessage, RequestKind, ToolSchema
from agent_magic.core.settings import SummaryMode


@dataclass(frozen=True, slots=True)
class Projection:
    """Which view of a memory a request shows."""

    summary_mode: bool = False
    """The summary view instead of the normal one; a step's own view goes before it."""
    system: bool = True
    """The memory's system prompt stands in front."""
    newest_plan: bool = True
    """In the summary view, the plan that counts now is shown all the same."""


ACT = Projection()
ACT_SUMMARY = Projection(summary_mode=True)
PLAN = Projection(summary_mode=True, system=False, newest_plan=False)
PLAN_FULL = Projection(system=False)


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One model call: its moment in the memory, and what stood before and after the history."""

    run_id: str
    step_number: int
    kind: RequestKind
    projection: Projection
    revision: int
    """Of the memory; see `AgentMemory.revision`."""
    n_steps: int
    """How many steps the memory had, dropped ones counted."""
    head: tuple[ChatMessage, ...] = ()
    """Before the history, such as the planner's own system prompt."""
    tail: tuple[ChatMessage, ...] = ()
    """After it, such as the message that asks for a plan."""
    schemas: tuple[ToolSchema, ...] = ()
    summary_mode: SummaryMode = "plan"
    """That held then."""
    digest: str = ""
    """Of all messages and schemas as they were sent."""
