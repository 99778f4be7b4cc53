"""A namespace in which code is run, as an agent would run it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from agent_magic.execution.executor import DictExecutor
from agent_magic.execution.request import CodeOutcome, CodeStep, Guard
from agent_magic.execution.step.running import give_answer


class Room:
    """A namespace of a person's, and an executor that runs code in it."""

    def __init__(self) -> None:
        self.ns: dict[str, Any] = {"__name__": "__main__"}
        self.executor = DictExecutor(self.ns)
        self.functions: dict[str, Callable[..., Any]] = {"final_answer": give_answer}
        self._numbers = itertools.count(1)

    def run(self, code: str, *, lent: dict[str, Any] | None = None, **options: Any) -> CodeOutcome:
        """Run code; options are those of a step and of its guard."""
        guard_names = {"imports", "writes", "protect", "timeout_s"}
        guard = Guard(**{name: options.pop(name) for name in guard_names & options.keys()})
        label = f"analyst step {next(self._numbers)}"
        step = CodeStep(
            code=code, label=label, functions=self.functions, lent=lent or {}, guard=guard, **options
        )
        return self.executor.execute(step)

    def write(self, code: str) -> None:
        """Run code as a cell of the person's."""
        exec(code, self.ns)


@pytest.fixture
def room() -> Room:
    return Room()
