"""How a block of code ended, in the words that the model reads.

It must not run anything of the code's, beyond the text of its exception.
"""

from __future__ import annotations

import linecache
import threading
from dataclasses import dataclass

from agent_magic.core.errors import CodeExecutionError, CodeRefused, StepError
from agent_magic.core.redact import redact
from agent_magic.core.text import first_line
from agent_magic.core.values import Value
from agent_magic.execution.step.course import FILENAMES, Running
from agent_magic.execution.stop.stopping import StepEnd, TimeLimitReached, limited
from agent_magic.execution.telling.explaining import explain

_TEXT_S = 2.0
"""For the text of an error."""
_LATE_S = 0.5
"""Stopped later than this after the limit, it was not to be stopped sooner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What came out of the code."""

    value: Value = None
    """Of the last expression."""
    error: BaseException | None = None


def to_error(running: Running, ending: Ending) -> StepError | None:
    """What the model is told, if the code did not come to its end."""
    if running.reason == "timeout":
        return CodeExecutionError(_timeout(running))
    if running.reason == "memory":
        return CodeExecutionError(
            f"The code was stopped{_at_line(running)}: it took more than three quarters of the memory that was free.\n"
            "Work on a part of the data at a time, or keep less of it."
        )
    if running.held_by is not None:
        return CodeExecutionError(running.held_by)
    if ending.error is None:
        return None
    if isinstance(ending.error, StepEnd):
        return CodeExecutionError("The code ended early: it called what belongs to a step that is over.")
    kind = CodeRefused if isinstance(ending.error, CodeRefused) else CodeExecutionError
    error = kind(_explained(running, ending.error))
    error.__cause__ = ending.error
    return error


def _explained(running: Running, error: BaseException) -> str:
    try:
        with limited(_TEXT_S, is_interrupted=running.step.is_interrupted):
            return explain(error, running.filename, running.step.code)
    except TimeLimitReached:  # the exception's text is the code's own, and may never end
        return (
            f"{type(error).__name__} was raised, and its text took too long to make.\nGive it a plain text."
        )


def to_notes(running: Running, error: StepError | None) -> list[str]:
    """Lines for the model and the person, of what the code tried and left."""
    notes = list(running.notes)
    told = error.message if error is not None else ""
    notes += [redact(refusal) for refusal in dict.fromkeys(running.refusals) if refusal not in told]
    alive = [
        thread
        for thread in running.threads
        if thread.is_alive() and thread is not threading.current_thread() and not _is_of_library(thread)
    ]
    if alive:
        names = ", ".join(thread.name for thread in alive[:5]) + (", …" if len(alive) > 5 else "")
        count = "1 thread goes on" if len(alive) == 1 else f"{len(alive)} threads go on"
        notes.append(f"{count}: {names}. Join threads before the code ends.")
    return notes


def _is_of_library(thread: threading.Thread) -> bool:
    """Whether a library has a kind of thread of its own for it, as progress bars have: nothing of the code's."""
    run = getattr(type(thread).run, "__code__", None)
    return type(thread) is not threading.Thread and getattr(run, "co_filename", None) not in FILENAMES


def _timeout(running: Running) -> str:
    limit = running.step.guard.timeout_s or 0.0
    taken = running.taken_s
    text = f"The code was stopped by its time limit of {limit:g} s{_at_line(running)}."
    if taken > limit + _LATE_S:
        text += f" It took {taken:.1f} s: a call into native code could not be stopped sooner."
    return f"{text}\nDo less in one step: a part of the data, a faster way, or an end to the loop."


def _at_line(running: Running) -> str:
    if running.line is None:
        return ""
    source = linecache.getline(running.filename, running.line).strip()
    return (
        f" at line {running.line}: `{first_line(redact(source), 100)}`"
        if source
        else f" at line {running.line}"
    )
