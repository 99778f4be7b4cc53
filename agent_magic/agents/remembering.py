"""What an agent remembers: its memory, the results of its runs, and what they did to names.

It must not make a run, nor know how a step acts.
"""

from __future__ import annotations

from typing import Self

from agent_magic.agents.definition import AgentDefinition
from agent_magic.agents.past.history import RunHistory
from agent_magic.agents.past.taking_up import find_memory, open_names, restore_names, results_in, tell_missing
from agent_magic.agents.past.tracing import Blame, blame
from agent_magic.agents.past.undoing import Undone, undo
from agent_magic.core.errors import OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, TokenUsage
from agent_magic.core.result import RunResult
from agent_magic.core.values import Value, safe_repr
from agent_magic.record.saved import SavedRuns


class RememberingAgent(AgentDefinition):
    """An agent with the memory that its runs share."""

    _history: RunHistory

    def __new__(cls, *_args: Value, **_options: Value) -> Self:
        """An agent that remembers nothing yet; how it is defined is `AgentDefinition`'s business."""
        agent = super().__new__(cls)
        agent._history = RunHistory()
        return agent

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self.name!r}: {len(self.tools)} tools, {len(self.runs)} runs in memory>"
        )

    @property
    def memory(self) -> AgentMemory:
        """The memory of the run started last; after its end, of all runs joined in."""
        return self._history.memory

    @memory.setter
    def memory(self, memory: AgentMemory) -> None:
        if not isinstance(memory, AgentMemory):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
            raise OptionError(
                f"A memory is an AgentMemory, and not {safe_repr(memory, 80)}. Write AgentMemory.from_dict(…)."
            )
        with self._history.lock:
            if not self._history.active:
                self.state.forget_kept()
            restore_names(memory, self.state)
            self._history.replace(memory)

    def take_up(self, saved: SavedRuns, name: str | None = None) -> tuple[str, ...]:
        """Go on from runs that were loaded: memory, results and the names that were open are theirs from now on.

        `resume` goes on with the last of them, `run(…, reset=False)` with another task.

        Args:
            saved: What `agent_magic.load` gave.
            name: Of the agent in the file; None for the one of this agent's name, or the only one.

        Returns:
            What is missing, a text each.

        Raises:
            OptionError: There is no such agent, or a run of this one goes on.
        """
        memory = find_memory(saved, self.name, name)
        with self._history.lock:
            if self._history.active:
                raise OptionError(f"A run of {self.name} goes on. Wait for its end, or interrupt it.")
            self.state.forget_kept()
            kept, names = restore_names(memory, self.state), open_names(memory, self.state)
            self._history.replace(memory, results_in(memory, saved.runs))
        return (*saved.warnings, *tell_missing(saved.source, kept, names))

    def memory_of(self, run_id: str) -> AgentMemory:
        """The memory that one run works on, or worked on; the agent's own for one that is not known.

        Runs that overlap have a memory each.
        """
        return self._history.memory_of(run_id)

    @property
    def runs(self) -> list[RunResult]:
        """Results of the runs in memory, in order of ending."""
        return self._history.results

    @property
    def result(self) -> RunResult | None:
        """The result of the run that ended last."""
        return self.runs[-1] if self.runs else None

    @property
    def is_running(self) -> bool:
        """Whether a run goes on."""
        return bool(self._history.active)

    @property
    def usage(self) -> TokenUsage:
        """Of all runs in memory added up."""
        usages = [result.usage for result in self.runs]
        return sum(usages[1:], usages[0]) if usages else TokenUsage()

    def write_memory_to_messages(self, *, summary_mode: bool = False) -> list[ChatMessage]:
        """The messages of the memory, in the normal or the summary view."""
        return self.memory.to_messages(summary_mode=summary_mode)

    def reset(self) -> None:
        """Forget all runs; variables and tools stay."""
        self._history.forget(self.state)

    def blame(self, name: str) -> tuple[Blame, ...]:
        """Which steps changed the variable `name`, newest first."""
        return blame(name, self.runs)

    def undo(self, step: int | None = None, *, run_id: str | None = None) -> Undone:
        """Take back what a step, or a run, made of the notebook's names.

        A name that was added is deleted, one that was rebound or deleted means again what it meant;
        one that was changed since, or in place, is left as it is, and that is said. The model is
        told so with the next task. Memory stays.

        Args:
            step: The number of a step; None for all of the run.
            run_id: Of a run in memory; None for the last one.

        Raises:
            OptionError: There is no such run or step, a run goes on, or it changed nothing.
        """
        with self._history.lock:
            if self._history.active:
                raise OptionError(f"A run of {self.name} goes on. Wait for its end, or interrupt it.")
            return undo(self._history, self.state, step, run_id)
