"""How a cell ends: the answer as its value, or the error that says why there is none.

It must not show the run: that is done when this begins.
"""

from __future__ import annotations

from typing import Any

from agent_magic.core.errors import RunNotAnswered
from agent_magic.core.result import RunResult
from agent_magic.core.text import first_line
from agent_magic.core.values import Value
from agent_magic.notebook.cell.answers import takes_input

_WHY = {
    "max_steps": "its step limit was reached",
    "budget": "its budget was used up",
    "failed": "its run failed",
}
_LONGEST_REASON = 300


def end_cell(magics: Any, name: str, result: RunResult | None, *, raises: bool | None) -> Value:
    """The answer of a run that was shown; None where there is none and a person can see it.

    Args:
        magics: The magics, with their settings.
        name: The variable that holds the agent: what its error says to type.
        result: None if it was stopped before it began.
        raises: What the cell says about a run without an answer.

    Raises:
        KeyboardInterrupt: It was interrupted: always, so that Run All stops.
        RunNotAnswered: It ended otherwise without an answer, and nobody is there to see it.
    """
    if result is None:
        raise _one_line(KeyboardInterrupt("Stopped before the run began."))
    if result.status == "answered":
        return result.value
    if result.status == "interrupted":
        raise _one_line(KeyboardInterrupt(result.error.message if result.error else ""))
    wanted = raises if raises is not None else magics.raise_unanswered
    if wanted or (wanted is None and not takes_input(magics.shell)):
        raise _one_line(RunNotAnswered(_words(name, result), result))
    return None


def _words(name: str, result: RunResult) -> str:
    why = _WHY[result.status]
    refused = next((check for check in result.checks if not check.passed), None)
    if result.error and result.error.message:
        why += f": {first_line(result.error.message, _LONGEST_REASON)}"
    elif refused:
        reason = first_line(refused.reason, _LONGEST_REASON)
        why += f", and the check {refused.name} refused its best guess" + (f" ({reason})" if reason else "")
    return f"{name} gave no answer, {why} ({name}.result has every step; %agent resume {name} goes on)"


def _one_line(error: BaseException) -> BaseException:
    """The error as one line: IPython asks it for its own traceback, and our frames say nothing."""
    lines = [f"{type(error).__name__}: {error}"]
    error._render_traceback_ = lambda: lines  # type: ignore[attr-defined] # the name is IPython's protocol
    return error
