"""The journals of a notebook's agents: where they stand, and which goes on.

It must not write one: `record.journal` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.events import Event, RunStarted
from agent_magic.core.result import RunResult
from agent_magic.notebook.building.building import journals_kept
from agent_magic.notebook.kernel.notebook_folder import folder_of_notebook
from agent_magic.record.journal import Journal

_CELL_ENDED = "post_run_cell"


class Journals:
    """Keeps one agent's runs on disk, one run at a time.

    Args:
        shell: Knows where the notebook is.
        before: The journal of the agent's run before.
    """

    def __init__(self, shell: Any, agent: MultiStepAgent, before: Journal | None) -> None:
        self._shell = shell
        self._agent = agent
        self.journal = before
        self._reason: str | None = None
        self._warnings: Sequence[str] = ()
        self._run_id = ""

    def tell(self, *, reason: str | None, warnings: Sequence[str]) -> None:
        """What stands in the header of the run that is about to start."""
        self._reason, self._warnings = reason, warnings

    def add(self, event: Event) -> None:
        """Write what happened; the journal is opened with the run."""
        if isinstance(event, RunStarted):
            self._run_id = event.run_id
            self._shell.events.register(_CELL_ENDED, keep_up)  # once, however often
            self.journal = Journal.open(
                agent_name=self._agent.name,
                run_id=event.run_id,
                beside=folder_of_notebook(self._shell),
                after=self.journal,
                reason=self._reason,
                warnings=self._warnings,
                earlier=self._agent.runs,
            )
        if self.journal is not None:
            self.journal.add(event, self._agent.memory_of(self._run_id))

    def close(self, result: RunResult | None) -> None:
        """Write how the run ended."""
        if self.journal is not None:
            run_id = self._run_id if result is None else result.run_id
            self.journal.close(result, self._agent.memory_of(run_id))

    @property
    def name(self) -> str | None:
        """The name of the file that has the run."""
        path = self.journal.path if self.journal is not None and self._run_id else None
        return path.name if path is not None else None

    @property
    def warning(self) -> str | None:
        """What the person should know of the journal."""
        return self.journal.warning if self.journal is not None else None


def keep_up(_cell: Any = None) -> None:
    """Write what a cell, or a click since the one before, has changed in what agents remember."""
    for agent, journal in journals_kept():
        if not agent.is_running:
            journal.keep_up(agent.memory)


def uninstall(shell: Any) -> None:
    """Write no more after cells."""
    if keep_up in shell.events.callbacks[_CELL_ENDED]:
        shell.events.unregister(_CELL_ENDED, keep_up)
