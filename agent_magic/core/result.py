"""RunResult: what a run came to.

It must not turn a state into an exception: that is the cell magic's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent_magic.core.messages import TokenUsage
from agent_magic.core.steps import ActionStep, Fault, PlanningStep, RunStep, Timing
from agent_magic.core.values import Value

RunStatus = Literal["answered", "max_steps", "interrupted", "failed", "budget"]
"""How a run ended. Only `answered` is an answer; at `max_steps` the value is a best guess."""
AgentMode = Literal["tools", "code"]
"""How an agent acts: by calling tools, or by writing code that calls them."""
Verified = Literal["yes", "no", "unchecked"]
"""Apart from how it ended: whether the person's checks passed, one refused, or there were none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check said of an answer."""

    name: str
    passed: bool
    reason: str = ""
    """Why it refused."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class RunResult:
    """The outcome of one run, with every step that was made."""

    run_id: str
    agent_name: str
    model_id: str
    task: str
    value: Value
    """The answer: the object itself. None as well if there is none, so look at `status`."""
    status: RunStatus
    max_steps: int
    steps: tuple[RunStep, ...]
    """This run's own steps: the task, the actions, the final answer."""
    usage: TokenUsage
    """All model calls of the run added up."""
    timing: Timing
    error: Fault | None = None
    """Why it failed or was interrupted, or which budget was used up."""
    verified: Verified = "unchecked"
    checks: tuple[CheckResult, ...] = ()
    """Of the answer in `value`, in the order of the checks."""
    resumed_from: str | None = None
    """The id of the run that this one went on with."""
    mode: AgentMode = "tools"

    @property
    def actions(self) -> tuple[ActionStep, ...]:
        """The action steps alone."""
        return tuple(step for step in self.steps if isinstance(step, ActionStep))

    @property
    def plans(self) -> tuple[PlanningStep, ...]:
        """The planning steps alone."""
        return tuple(step for step in self.steps if isinstance(step, PlanningStep))
