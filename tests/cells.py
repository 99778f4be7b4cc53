"""Cells of a real shell that has our magics, and what each of them came to.

It must not stand in for a class of ours: models of a script are the public `ScriptedModel`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from agent_magic import MultiStepAgent, ScriptedModel

_DURATION = re.compile(r"\b\d+(\.\d+)? (ms|s)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a cell of a terminal shell came to."""

    value: Any
    """What stands in `Out`, or would."""
    error: BaseException | None
    text: str
    """All that was printed to stdout, durations as `0 s`."""
    stderr: str
    """All that was printed to stderr: there IPython shows a `UsageError`."""


class Cells:
    """Runs cells in a shell after `%load_ext agent_magic`."""

    def __init__(self, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
        self.shell = shell
        self._capsys = capsys
        self.run("%load_ext agent_magic")

    def run(self, source: str) -> Ended:
        """Run one cell."""
        self._capsys.readouterr()
        done = self.shell.run_cell(source, store_history=True)
        shown = self._capsys.readouterr()
        return Ended(
            value=done.result,
            error=done.error_before_exec or done.error_in_exec,
            text=_DURATION.sub("0 s", shown.out),
            stderr=shown.err,
        )

    def define(self, source: str) -> None:
        """Run a cell that must not fail."""
        done = self.run(source)
        assert done.error is None, done.error

    def model(self, *replies: Any, name: str = "m", **settings: Any) -> ScriptedModel:
        """A model of these replies, as the notebook's variable `name`."""
        model = ScriptedModel(list(replies), **settings)
        self.shell.user_ns[name] = model
        return model

    def agent(self, name: str = "bot") -> MultiStepAgent:
        """The agent of that name."""
        agent = self.shell.user_ns[name]
        assert isinstance(agent, MultiStepAgent)
        return agent

    def __getitem__(self, name: str) -> Any:
        """A variable of the notebook."""
        return self.shell.user_ns[name]

    def __contains__(self, name: str) -> bool:
        """Whether the notebook has that variable."""
        return name in self.shell.user_ns


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply that calls one tool."""
    return ScriptedModel.calls((name, arguments))


final = ScriptedModel.final
