"""PlanningStep: a plan, how it differs from the one before it, or why there is none.

It must not ask for a plan, nor compare two.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_magic.core.memory_step import MemoryStep, frozen
from agent_magic.core.messages import ChatMessage, TokenUsage
from agent_magic.core.outcome import Fault, Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDiff:
    """How a plan differs from the one before it, in its lines."""

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


@frozen
@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningStep(MemoryStep):
    """A plan, or the failure to make one."""

    step_number: int
    """Of the action step before which it was made."""
    timing: Timing
    plan: str = ""
    """The text that counts, as the person approved it; empty if there is none."""
    handover: str = ""
    """The user message that hands the turn back to acting."""
    model_output: str = ""
    """As the model wrote it."""
    reasoning: str = ""
    is_first: bool = True
    """The first plan of its run."""
    diff: PlanDiff = PlanDiff()
    """Against the plan before it in the same run."""
    fault: Fault | None = None
    """Why there is no plan: the call failed, was interrupted, or the person refused it."""
    token_usage: TokenUsage | None = None
    model_input_digest: str = ""
    """Of the request, see `core.digest`."""

    @property
    def is_interrupted(self) -> bool:
        """Whether the person stopped it."""
        return self.fault is not None and self.fault.kind == "Interrupted"

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """The plan as the assistant's and the user message after it; nothing in the summary view."""
        if summary_mode or self.fault or not self.plan:
            return ()
        return (
            ChatMessage(role="assistant", content=self.plan),
            ChatMessage(role="user", content=self.handover, is_ours=True),
        )
