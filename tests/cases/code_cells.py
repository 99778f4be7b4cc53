"""Cells of an agent in a real kernel: each asked with a script, and what came of its steps.

It must not judge: that is for the tests.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kernels import Execution, Kernel

RECORD = "application/vnd.agent-magic.run.v1+json"
_INSIDE = "__import__('tests.cases.inside', fromlist=['inside'])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step, as the agent has it."""

    code: str | None
    faults: list[dict[str, str]]
    is_final: bool
    seconds: float
    """Of the code itself, if there was any."""
    told: str
    """What the model is told of it."""
    notes: list[str]
    value: dict[str, Any]
    calls: list[dict[str, Any]]
    results: list[dict[str, Any]] = field(default_factory=list)
    """Of tool calls that the model made itself: what became of each."""

    @property
    def kind(self) -> str | None:
        """Of its first fault."""
        return self.faults[0]["kind"] if self.faults else None

    @property
    def error(self) -> str:
        """What its faults say."""
        return "\n".join(fault["message"] for fault in self.faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run, as the agent has it."""

    status: str
    error: str | None
    answer: dict[str, Any]
    steps: list[Step]


def block(code: str) -> str:
    """A reply of a model that is this code."""
    return f"<code>\n{code.rstrip()}\n</code>"


class CodeCells:
    """A kernel with our magics and an empty namespace; what was there is gone."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.define(
            "if 'agent_magic' not in get_ipython().extension_manager.loaded:\n    %load_ext agent_magic"
        )
        self.inside_quietly("forget(get_ipython())")

    def define(self, source: str) -> Execution:
        """Run an ordinary cell that must not fail."""
        done = self.kernel.execute(source)
        assert done.error is None, "\n".join(done.error.traceback)
        return done

    def script(self, replies: Sequence[Any], name: str = "m", *, before: str = "") -> None:
        """A model of these replies, as the variable `name`, after a line of Python."""
        text = json.dumps(list(replies))  # ASCII, so that half a surrogate pair arrives as it is
        self.define(
            f"{before}\n{name} = __import__('agent_magic').ScriptedModel(__import__('json').loads({text!r}))"
        )

    def ask(self, options: str = "", task: str = "Do it.", timeout_s: float = 60) -> Execution:
        """Run an agent cell for `bot`."""
        return self.kernel.execute(f"%%agent bot {options}\n{task}", timeout_s)

    def runs(self, name: str = "bot") -> list[Run]:
        """All runs of an agent."""
        return [to_run(run) for run in self.inside(f"print_runs(globals(), {name!r})")]

    def check_memory(self, name: str = "bot") -> None:
        """Fail unless the memory of an agent that writes code is sound."""
        self.inside_quietly(f"check_memory(globals(), {name!r})")

    def check_calls(self, name: str = "bot") -> None:
        """Fail unless the memory of an agent that calls tools is sound."""
        self.inside_quietly(f"check_calls(globals(), {name!r})")

    def inside(self, call: str) -> Any:
        """Call one of the functions inside that print JSON; what it printed."""
        return json.loads(self.inside_quietly(call).stdout)

    def inside_quietly(self, call: str) -> Execution:
        """Call one of the functions inside."""
        return self.define(f"{_INSIDE}.{call}")

    def sent(self, number: int) -> list[dict[str, Any]]:
        """The messages of a request of the model `m`, counted from 1."""
        done = self.define(f"print(__import__('json').dumps(m.requests[{number - 1}].messages))")
        return json.loads(done.stdout)

    def value(self, expression: str) -> str:
        """The `repr` of an expression in the kernel."""
        done = self.define(f"print(repr({expression}))")
        return done.stdout.removesuffix("\n")


def to_run(run: dict[str, Any]) -> Run:
    """A run from its plain data."""
    return Run(**{**run, "steps": [Step(**step) for step in run["steps"]]})


def last_display(done: Execution) -> dict[str, Any]:
    """The forms of the one run that a cell shows."""
    return next(bundle for bundle in reversed(done.displays) if RECORD in bundle)
