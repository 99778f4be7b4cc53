"""SavedRuns: what was found in a journal or a notebook.

It must not read anything.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_magic.core.errors import OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.text import first_line, to_display
from agent_magic.record.schema import RunRecord
from agent_magic.record.shown import record_of

_SHOWN_RUNS = 20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SavedRuns:
    """Runs that outlived their kernel, and the memories of their agents.

    ```python
    saved = agent_magic.load("analysis.ipynb")
    analyst.take_up(saved)
    ```
    """

    source: str
    """The name of the file."""
    runs: Sequence[RunResult]
    """All runs, oldest first."""
    memories: Mapping[str, AgentMemory]
    """The newest memory of each agent, by its name."""
    warnings: Sequence[str] = ()
    """What is missing or could not be read, a text each."""

    @property
    def records(self) -> list[RunRecord]:
        """The record of each run, as its cell showed it and with what counts now: to draw it from."""
        return [record_of(run) for run in self.runs]

    @property
    def agents(self) -> list[str]:
        """The names of the agents, that of the last run last."""
        last = {run.agent_name: place for place, run in enumerate(self.runs)}
        return sorted(self.memories, key=lambda name: last.get(name, -1))

    @property
    def memory(self) -> AgentMemory:
        """The memory of the agent that ran last.

        Raises:
            OptionError: There is none.
        """
        if not self.memories:
            raise OptionError(
                f"{self.source} holds no memory of an agent. Its warnings say why: look at .warnings."
            )
        return self.memories[self.agents[-1]]

    def memory_of(self, name: str) -> AgentMemory:
        """The memory of the agent `name`.

        Raises:
            OptionError: There is no such agent.
        """
        if name in self.memories:
            return self.memories[name]
        near = difflib.get_close_matches(name, self.agents, n=1)
        hint = f"Write memory_of({near[0]!r})." if near else "Give one of these."
        names = ", ".join(map(repr, self.agents)) or "none"
        raise OptionError(f"{self.source} holds no agent {name!r}. Its agents: {names}. {hint}")

    def __repr__(self) -> str:
        n = len(self.runs)
        lines = [f"<SavedRuns of {to_display(self.source)}: {n} {'run' if n == 1 else 'runs'}"]
        if n > _SHOWN_RUNS:
            lines.append(f"  … {n - _SHOWN_RUNS:,} earlier ones")
        for run in self.runs[-_SHOWN_RUNS:]:
            n_steps = len(run.actions)
            steps = f"{n_steps} {'step' if n_steps == 1 else 'steps'}"
            name = first_line(to_display(run.agent_name), 40)
            lines.append(f"  {name}: {run.status}, {steps}: {first_line(to_display(run.task), 60)}")
        lines += [f"  ! {first_line(to_display(warning), 200)}" for warning in self.warnings[:_SHOWN_RUNS]]
        if len(self.warnings) > _SHOWN_RUNS:
            lines.append(f"  ! … {len(self.warnings) - _SHOWN_RUNS:,} more, see .warnings")
        return "\n".join(lines) + ">"
