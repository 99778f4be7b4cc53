"""RunResult and the words it is told in, in one place to import from.

It must not turn a state into an exception: that is the cell magic's business.
"""

from __future__ import annotations

from agent_magic.core.outcome import AgentMode, CheckResult, RunStatus, Verified
from agent_magic.core.steps import RunResult

__all__ = ["AgentMode", "CheckResult", "RunResult", "RunStatus", "Verified"]
