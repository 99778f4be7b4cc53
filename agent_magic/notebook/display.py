"""Pumps a run's events into one output of the cell, and leaves the static record there.

The events are taken by the main thread, so that what parallel tools do shows too. It must not
decide anything about the run.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Generator, Sequence
from typing import Any, Protocol

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.events import Event, RunStarted, StepStarted, TextDelta, ToolCallStarted, Waiting
from agent_magic.core.result import RunResult
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


def show_run(
    shell: Any,
    agent: MultiStepAgent,
    events: Generator[Event, None, RunResult],
    *,
    reason: str,
    warnings: Sequence[str],
    quiet: bool,
) -> RunResult:
    """Take a run's events to the end, drawing them; returns the result.

    Ctrl-C anywhere ends the run as `interrupted`, is drawn, and comes back as that result.
    """
    draft = RunDraft(reason=reason or None, warnings=warnings)
    display: Display = (
        _PageDisplay(shell, quiet=quiet) if hasattr(shell, "kernel") else _TerminalDisplay(quiet=quiet)
    )
    run_id = ""
    drawn_at = 0.0
    try:
        display.draw(draft)
        for event in events:
            if isinstance(event, RunStarted):
                run_id = event.run_id
            draft.add(event)
            now = time.monotonic()
            if now - drawn_at >= _wait_before(event):
                display.draw(draft)
                drawn_at = now
    except KeyboardInterrupt:
        # Inside the run it is recorded already; between two events, closing records it.
        events.close()
        if not run_id:
            raise
    finally:
        result = next((run for run in reversed(agent.runs) if run.run_id == run_id), None)
        if result is not None:
            draft.finish(result)
            display.end(draft)
    assert result is not None
    return result


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

    def _send(self, bundle: dict[str, Any]) -> None:
        self._publish(data=bundle, metadata={}, transient=self._transient, update=self._is_there)
        self._is_there = True


class _TerminalDisplay:
    """A progress line that is overwritten, then the whole run as text."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._shows_progress = sys.stderr.isatty()

    def draw(self, draft: RunDraft) -> None:
        now = draft.to_record().get("now")
        if self._shows_progress and now:
            # Back to the line's beginning and wipe it; one line only, whatever the terminal's width.
            print(f"\r\x1b[2K{now_words(now)[:70]}", end="", file=sys.stderr, flush=True)

    def end(self, draft: RunDraft) -> None:
        if self._shows_progress:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
        print(to_text(draft.to_record(), quiet=self._quiet))
