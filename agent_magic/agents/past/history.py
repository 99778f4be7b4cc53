"""RunHistory: the runs of one agent, and the memory that they come to share.

Runs may overlap, from threads too: each works on the memory as it stood at its start, and they
are joined in, whole, in order of ending. It must not take a step.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from agent_magic.agents.run.counting import CallIds
from agent_magic.agents.run.drafts import Binding
from agent_magic.agents.run.run import BY_PERSON, Joining, Run
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.state import AgentState
from agent_magic.core.steps import ActionStep

_UNDOABLE_RUNS = 20
"""What older runs rebound is let go: it may be large."""


class RunHistory:
    """What an agent remembers: ended runs, those that go on, and their memory."""

    def __init__(self, active: list[Run] | None = None) -> None:
        self.lock = threading.RLock()
        self.results: list[RunResult] = []
        """Of the runs in memory, in order of ending."""
        self.active: list[Run] = [] if active is None else active
        """Those that go on; of calls by managers too, whose runs are remembered elsewhere."""
        self.last: Run | None = None
        """The run started last."""
        self.call_ids = CallIds()
        self.bindings: dict[str, dict[int, dict[str, Binding]]] = {}
        """What steps made of names, by run and step; of the newest runs."""
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
        last = [self.last] if self.last is not None and self.last.result is None else []
        own = next((run.memory for run in (*self.active, *last) if run.run_id == run_id), self._joined)
        return self._apart.get(run_id, own)

    def forget(self, state: AgentState) -> None:
        """Forget all runs; the system prompt and the person's variables stay."""
        with self.lock:
            self._n_changes += 1
            if not self.active:  # the calls of a run that goes on will stand beside those of later ones
                self.call_ids = CallIds()
            self._joined = AgentMemory(self._shown.system_prompt.text)
            self._shown = self._joined
            self._apart.clear()
            self.bindings.clear()
            self.results.clear()
            state.close_names()

    def replace(self, memory: AgentMemory, results: Sequence[RunResult] = ()) -> None:
        """Remember what another memory holds, such as one that was loaded, with the results of its runs."""
        with self.lock:
            self._n_changes += 1
            self._joined = self._shown = memory
            self._apart.clear()
            self.bindings.clear()
            self.results[:] = results
            if not self.active:
                self.last = None
            # Those of dropped steps too: they may be brought back.
            steps = (*(entry.step for entry in memory.entries), *(s for run in results for s in run.steps))
            for call_id in dict.fromkeys(
                call.id for step in steps if isinstance(step, ActionStep) for call in step.tool_calls
            ):
                self.call_ids.unique(call_id)

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
        """The run goes on from now; once begun or ended it does not begin again."""
        with self.lock:
            has_ended = any(run.result is result for result in self.results)
            if run not in self.active and not has_ended:
                self.active.append(run)

    def close(self, run: Run, reason: str, state: AgentState) -> None:
        """End a run as interrupted, and take it in, though it had not begun yet."""
        self.begin(run)
        run.interrupt(reason)  # whatever still runs behind learns that nobody waits for it
        run.end_interrupted(reason)
        self.join(run, state)

    def join(self, run: Run, state: AgentState) -> None:
        """Take an ended run's steps into the shared memory, once.

        Ctrl-C may come in between: what is done by then stays right when it is done again.
        """
        with self.lock:
            if run not in self.active:
                return
            if run.result is None:  # a second Ctrl-C came while the first was being recorded
                run.end_interrupted(BY_PERSON)
            assert run.result is not None
            joining = run.joining = run.joining or self._join(run)
            self._joined = joining.memory
            self._n_changes = joining.n_changes
            if joining.has_overlapped:
                self._apart[run.run_id] = run.memory
            if self.last is not None and self.last.result is not None:
                self._shown = self._joined
            if not any(run.result is result for result in self.results):
                self.results.append(run.result)
            if run.bindings:
                self.bindings[run.run_id] = run.bindings
                for run_id in list(self.bindings)[:-_UNDOABLE_RUNS]:
                    del self.bindings[run_id]
            state.join(run.state)
            self.active.remove(run)

    def _join(self, run: Run) -> Joining:
        is_last = run is self.last
        has_overlapped = run.n_changes != self._n_changes
        if has_overlapped:
            memory = self._joined.fork()
            memory.join(run.memory, run.n_start, with_edits=is_last)
        else:
            memory = run.memory if is_last else run.memory.fork()
        return Joining(memory=memory, has_overlapped=has_overlapped, n_changes=self._n_changes + 1)
