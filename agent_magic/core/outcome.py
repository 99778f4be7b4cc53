"""What a step or a run came to, in words: how it ended, when, why it failed, what the checks said.

It must not know steps or runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RunStatus = Literal["answered", "max_steps", "interrupted", "failed", "budget"]
"""How a run ended. Only `answered` is an answer; at `max_steps` the value is a best guess."""
AgentMode = Literal["tools", "code"]
"""How an agent acts: by calling tools, or by writing code that calls them."""
Verified = Literal["yes", "no", "unchecked"]
"""Apart from how it ended: whether the person's checks passed, one refused, or there were none."""
_FOR_MODEL = frozenset(
    {
        "StepError",
        "ParsingError",
        "ToolCallError",
        "ToolError",
        "ToolExecutionError",
        "CodeExecutionError",
        "CodeRefused",
        "FinalAnswerRejected",
        "CallRejected",
        "Interrupted",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When something began and ended, in seconds since 1970 (UTC)."""

    start: float
    end: float

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error as plain data: its traceback and the objects in it are let go."""

    kind: str
    """The error's class, such as `ToolCallError`; `Interrupted` for a stop by the person."""
    message: str

    @property
    def is_for_model(self) -> bool:
        """Whether the model is told; what ends a run, such as a failure of the model, is for the person alone."""
        return self.kind in _FOR_MODEL


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check said of an answer."""

    name: str
    passed: bool
    reason: str = ""
    """Why it refused."""
