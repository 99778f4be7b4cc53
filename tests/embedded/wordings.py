"""Tries the embedded model: `python -m tests.embedded.wordings`.

Asks it 16 tasks over two tools and says of each whether tool and arguments are right; then shows
that another return value makes another answer, and what it does with tasks that no tool fits.
Ends with exit code 0 if at least 12 are right.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.messages import ToolCall
from agent_magic.core.result import RunResult
from agent_magic.models.local import LocalModel

from .penguin_tools import count_on, mean_mass

WORDINGS = json.loads(Path(__file__).with_name("wordings.json").read_text(encoding="utf-8"))
LEAST_RIGHT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A task, the call that is right for it, and what came of asking."""

    task: str
    tool: str
    arguments: Mapping[str, Any]
    result: RunResult

    @property
    def call(self) -> ToolCall:
        return self.result.actions[0].tool_calls[0]

    @property
    def is_right(self) -> bool:
        return (self.call.name, self.call.arguments) == (self.tool, self.arguments)

    def __str__(self) -> str:
        verdict = "right" if self.is_right else f"WRONG, expected {_form(self.tool, self.arguments)}"
        made = _form(self.call.name, self.call.arguments)
        return f"{verdict:<6} {self.task}\n         {made} -> {self.result.value!r} ({self.result.status})"


def try_fitting() -> Iterator[Trial]:
    """Each wording, asked of a fresh agent."""
    for wording in WORDINGS["fitting"]:
        yield Trial(**wording, result=ask(wording["task"]))


def ask(task: str, *tools: Callable[..., Any]) -> RunResult:
    """A run of a fresh agent with these tools; by default with the two over penguins."""
    return ToolCallingAgent(tools=tools or (mean_mass, count_on), model=LocalModel()).run(task, max_steps=4)


def ask_with_value(value: float) -> RunResult:
    """The first wording, asked while `mean_mass` returns this value."""

    def changed(species: str) -> float:
        return value

    changed.__name__ = changed.__qualname__ = mean_mass.__name__
    changed.__doc__ = mean_mass.__doc__
    return ask(WORDINGS["fitting"][0]["task"], changed, count_on)


def main() -> int:
    """Print all of it; 0 if enough are right."""
    print(
        f"{LocalModel.model_id}: {len(WORDINGS['fitting'])} wordings over mean_mass(species) and count_on(island)\n"
    )
    n_right = 0
    for trial in try_fitting():
        n_right += trial.is_right
        print(trial)
    print(
        f"\n{n_right} of {len(WORDINGS['fitting'])} right, tool and arguments; at least {LEAST_RIGHT} are expected."
    )
    print("\nAnother return value, another answer:")
    for value in (4444.5, 17.25):
        print(f"         mean_mass returns {value} -> {ask_with_value(value).value!r}")
    print("\nTasks that no tool fits:")
    for task in WORDINGS["unfitting"]:
        result = ask(task)
        calls = [_form(call.name, call.arguments) for action in result.actions for call in action.tool_calls]
        print(f"       {task}\n         {', '.join(calls)} -> {result.value!r} ({result.status})")
    return 0 if n_right >= LEAST_RIGHT else 1


def _form(name: str, arguments: Any) -> str:
    if not isinstance(arguments, Mapping):
        return f"{name}({arguments!r})"
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


if __name__ == "__main__":
    sys.exit(main())
