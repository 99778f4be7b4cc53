"""Entered: one call of a tool by code, from when its body is entered, and what may come of it.

It must not make the call.
"""

from __future__ import annotations

import time

from agent_magic.agents.calls.calling import tell_crash
from agent_magic.agents.calls.managed import ManagedCall
from agent_magic.core.errors import ApprovalError, StepError, ToolCallError
from agent_magic.core.messages import ToolCall
from agent_magic.core.steps import Fault, Timing, ToolResult
from agent_magic.core.text import truncate
from agent_magic.core.values import Value, describe, is_text_like, to_text
from agent_magic.execution.prints.sinks import Sink
from agent_magic.tools.tool import PreparedCall, Tool

_SHOWN = 600
"""Characters of a result that are kept beside the value, for a person to read."""


class Entered:
    """One call whose body is entered, and what may come of it."""

    def __init__(self, tool: Tool, call: ToolCall, prepared: PreparedCall, place: int) -> None:
        self.tool = tool
        self.call = call
        self.prepared = prepared
        self.place = place
        self.managed: ManagedCall | None = None
        """Of a call of an agent, once it is made."""
        self.sink = Sink()
        self._start = time.time()

    def succeeded(self, value: Value) -> ToolResult:
        """It returned."""
        shown = to_text(value) if is_text_like(value) else str(describe(value, _SHOWN))
        return self._to_result(observation=truncate(shown, _SHOWN), output=value)

    def refused(self, text: str) -> ToolResult:
        """It did not run."""
        return ToolResult(call=self.call, fault=Fault(kind=ToolCallError.__name__, message=text))

    def failed(self, crash: BaseException) -> ToolResult:
        """It raised."""
        if isinstance(crash, Exception | SystemExit):
            return self._to_result(
                fault=to_fault(crash if isinstance(crash, StepError) else tell_crash(self.tool, crash))
            )
        if self.managed is not None:
            self.managed.close()
            return self._to_result(fault=self.managed.to_fault())
        return self._to_result(
            fault=Fault(kind="Interrupted", message="The call was interrupted before it ended.")
        )

    def _to_result(
        self, *, observation: str = "", output: Value = None, fault: Fault | None = None
    ) -> ToolResult:
        return ToolResult(
            call=self.call,
            observation=observation,
            output=output,
            fault=fault,
            notes=self.prepared.notes,
            printed=self.sink.text,
            timing=Timing(start=self._start, end=time.time()),
            run=self.managed.result if self.managed else None,
        )


def to_fault(error: StepError | ApprovalError) -> Fault:
    """What is recorded of it."""
    return Fault(kind=type(error).__name__, message=error.message)
