"""RunHistory: the runs of one agent, and the memory that they come to share.

Runs may overlap, from threads too: each works on the memory as it stood at its start, and they
are joined in, whole, in order of ending. It must not take a step.
"""

from __future__ import annotations

import threading

from agent_magic.agents.run import BY_PERSON, CallIds, Run
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.state import AgentState
from agent_magic.core.steps import ActionStep


class RunHistory:
    """What an agent remembers: ended runs, those that go on, and their memory."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.results: list[RunResult] = []
        """Of the runs in memory, in order of ending."""
        self.active: list[Run] = []
        self.last: Run | None = None
        """The run started last."""
        self.call_ids = CallIds()
        self._joined = AgentMemory()
        self._shown: AgentMemory = self._joined
        self._apart: dict[str, AgentMemory] = {}
        self._n_changes = 0  # a run that ends finds out by it whether others joined in

    @property
    def memory(self) -> AgentMemory:
        """The memory of the run started last; after its end, of all runs joined in."""
        return self._shown

    def memory_of(self, run_id: str) -> AgentMemory:
        """The memory that a run worked on: its requests can be rebuilt from it."""
        return self._apart.get(run_id, self._shown)

    def forget(self, state: AgentState) -> None:
        """Forget all runs; the system prompt and the person's variables stay."""
        with self.lock:
            self._n_changes += 1
            if not self.active:  # the calls of a run that goes on will stand beside those of later ones
                self.call_ids = CallIds()
            self._joined = AgentMemory(self._shown.system_prompt.text)
            self._shown = self._joined
            self._apart.clear()
            self.results.clear()
            state.close_names()

    def replace(self, memory: AgentMemory) -> None:
        """Remember what another memory holds, such as one that was loaded."""
        with self.lock:
            self._n_changes += 1
            self._joined = self._shown = memory
            self._apart.clear()
            self.results.clear()
            for step in memory.steps:
                if isinstance(step, ActionStep):
                    for call in step.tool_calls:
                        self.call_ids.unique(call.id)

    def fork(self) -> AgentMemory:
        """A memory for a run that is about to start."""
        return self._joined.fork()

    def enter(self, run: Run) -> None:
        """A run was made; from now on its memory is the one that is shown."""
        with self.lock:
            run.n_changes = self._n_changes
            self._shown = run.memory
            self.last = run

    def begin(self, run: Run) -> None:
        """The run goes on from now."""
        with self.lock:
            self.active.append(run)

    def close(self, run: Run, reason: str, state: AgentState) -> None:
        """End a run as interrupted, and take it in."""
        run.interrupt(reason)  # whatever still runs behind learns that nobody waits for it
        run.end_interrupted(reason)
        self.join(run, state)

    def join(self, run: Run, state: AgentState) -> None:
        """Take an ended run's steps into the shared memory, once."""
        with self.lock:
            if run not in self.active:
                return
            if run.result is None:  # a second Ctrl-C came while the first was being recorded
                run.end_interrupted(BY_PERSON)
            assert run.result is not None
            self.active.remove(run)
            others_joined = run.n_changes != self._n_changes
            self._n_changes += 1
            is_last = run is self.last
            if others_joined:
                self._apart[run.run_id] = run.memory
                self._joined.join(run.memory, run.n_start, with_edits=is_last)
            else:
                self._joined = run.memory if is_last else run.memory.fork()
            if self.last is not None and self.last.result is not None:
                self._shown = self._joined
            self.results.append(run.result)
            state.join(run.state)
