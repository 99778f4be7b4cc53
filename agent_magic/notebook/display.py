"""Pumps a run's events into one output of the cell, and leaves the static record there.

The events are taken by the main thread, so that what parallel tools do shows too; what it has no
time to draw, because it is inside a tool or waits for several, a thread draws. It must not decide
anything about the run.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
import time
import uuid
from collections.abc import Generator, Sequence
from typing import Any, Protocol

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.events import Event, RunStarted, StepStarted, TextDelta, ToolCallStarted, Waiting
from agent_magic.core.result import RunResult
from agent_magic.notebook.interrupts import interrupts_noted
from agent_magic.record.draft import RunDraft
from agent_magic.view.bundle import DrawnSteps, to_bundle, to_live_bundle
from agent_magic.view.plain import to_text
from agent_magic.view.words import now_words

_REDRAW_S = 0.1
"""Between two drawings of a text that is being written: pages choke on more."""
_AT_ONCE_S = 0.02
"""Between two drawings of news that may stand for long, such as a tool that begins."""


class Display(Protocol):
    """Where a run is drawn."""

    def draw(self, draft: RunDraft) -> None:
        """Show how far the run is."""

    def end(self, draft: RunDraft) -> None:
        """Leave the finished record."""

    def discard(self) -> None:
        """Leave a line: there was no run after all."""


def show_run(
    shell: Any,
    agent: MultiStepAgent,
    events: Generator[Event, None, RunResult],
    *,
    reason: str,
    warnings: Sequence[str],
    quiet: bool,
) -> RunResult | None:
    """Take a run's events to the end, drawing them; returns the result.

    Ctrl-C anywhere ends the run as `interrupted`, is drawn, and comes back as that result; None if
    it came before the run began.
    """
    draft = RunDraft(reason=reason or None, warnings=warnings)
    display: Display = (
        _PageDisplay(shell, quiet=quiet) if hasattr(shell, "kernel") else _TerminalDisplay(quiet=quiet)
    )
    known = {run.run_id for run in agent.runs}
    run_id = ""
    result: RunResult | None = None
    with interrupts_noted(agent.note_interrupt):
        drawing = _Drawing(display, draft)
        try:
            for event in events:
                if isinstance(event, RunStarted):
                    run_id = event.run_id
                drawing.add(event)
        except KeyboardInterrupt:
            pass  # inside the run it is recorded already; between two events, closing records it
        finally:
            events.close()
            # One that was stopped in the moment of its first event has told nobody its id.
            ours = [run for run in agent.runs if run.run_id not in known and run_id in ("", run.run_id)]
            result = ours[-1] if ours else None
            drawing.end(result)
    return result


class _Drawing:
    """Draws a run at most every so often, the last news too, however long nothing more happens."""

    def __init__(self, display: Display, draft: RunDraft) -> None:
        self._display = display
        self._draft = draft
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None
        self._drawn_at = 0.0
        self._due: float | None = None
        """When what was not drawn yet must be."""
        self._is_over = False
        self._draw()

    def add(self, event: Event) -> None:
        """Take in what happened; drawn now, or soon."""
        with self._news:
            self._draft.add(event)
            due = self._drawn_at + _wait_before(event)
            if due <= time.monotonic():
                self._draw()
            elif self._due is None or due < self._due:
                self._due = due
                self._wake()

    def end(self, result: RunResult | None) -> None:
        """Leave the finished record, if there is one; nothing is drawn after it."""
        with self._news:
            self._is_over = True
            self._news.notify()
            if result is None:
                self._display.discard()
            else:
                self._draft.finish(result)
                self._display.end(self._draft)

    def _draw(self) -> None:
        self._due = None
        self._display.draw(self._draft)
        self._drawn_at = time.monotonic()

    def _wake(self) -> None:
        if self._thread is not None:
            self._news.notify()
            return
        # In a copy of the context: by it a kernel knows to which cell an output belongs.
        work = contextvars.copy_context().run
        self._thread = threading.Thread(
            target=work, args=(self._draw_when_due,), name="agent_magic_display", daemon=True
        )
        with contextlib.suppress(RuntimeError):  # no thread can start here (Pyodide): the next event draws
            self._thread.start()

    def _draw_when_due(self) -> None:
        with self._news:
            while not self._is_over:
                if self._due is None:
                    self._news.wait()
                elif (left_s := self._due - time.monotonic()) > 0:
                    self._news.wait(left_s)
                else:
                    self._draw()


def _wait_before(event: Event) -> float:
    if isinstance(event, TextDelta):
        return _REDRAW_S
    return _AT_ONCE_S if isinstance(event, StepStarted | ToolCallStarted | Waiting) else _REDRAW_S


class _PageDisplay:
    """One output with a display id, updated in place."""

    def __init__(self, shell: Any, *, quiet: bool) -> None:
        self._publish = shell.display_pub.publish
        self._transient = {"display_id": f"agent_magic-{uuid.uuid4().hex[:12]}"}
        self._quiet = quiet
        self._is_there = False
        self._drawn: DrawnSteps = {}

    def draw(self, draft: RunDraft) -> None:
        self._send(to_live_bundle(draft.to_record(), quiet=self._quiet, drawn=self._drawn))

    def end(self, draft: RunDraft) -> None:
        self._send(to_bundle(draft.to_record(), quiet=self._quiet))

    def discard(self) -> None:
        self._send({"text/plain": "Stopped before the run began."})

    def _send(self, bundle: dict[str, Any]) -> None:
        self._publish(data=bundle, metadata={}, transient=self._transient, update=self._is_there)
        self._is_there = True


class _TerminalDisplay:
    """A progress line that is overwritten, then the whole run as text."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        # Python's own stream: `sys.stderr` may belong to a tool while it runs.
        self._stream = sys.__stderr__ if sys.__stderr__ is not None and sys.__stderr__.isatty() else None

    def draw(self, draft: RunDraft) -> None:
        now = draft.to_record().get("now")
        if self._stream and now:
            # Back to the line's beginning and wipe it; one line only, whatever the terminal's width.
            print(f"\r\x1b[2K{now_words(now)[:70]}", end="", file=self._stream, flush=True)

    def end(self, draft: RunDraft) -> None:
        if self._stream:
            print("\r\x1b[2K", end="", file=self._stream, flush=True)
        print(to_text(draft.to_record(), quiet=self._quiet))

    def discard(self) -> None:
        print("Stopped before the run began.")
