"""A run as one output of the cell, in its static form, updated in place.

It must not know when it is drawn.
"""

from __future__ import annotations

import uuid
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from agent_magic.record.draft import RunDraft
from agent_magic.view.bundle import DrawnSteps, to_bundle, to_live_bundle

DISCARDED = "Stopped before the run began."


class Output:
    """One output with a display id."""

    def __init__(self, shell: Any) -> None:
        self._publish = shell.display_pub.publish
        self._transient = {"display_id": f"agent_magic-{uuid.uuid4().hex[:12]}"}
        self._is_there = False

    def show(self, bundle: dict[str, Any]) -> None:
        """Put a bundle there, in the place of the one before."""
        self._publish(data=bundle, metadata={}, transient=self._transient, update=self._is_there)
        self._is_there = True


class PageDisplay:
    """Where no widget can live: HTML and text, drawn anew each time."""

    redraw_s = 0.1
    """Between two drawings of a text that is being written: pages choke on more."""
    news_s = 0.02
    tick_s = 1.0
    to_snapshot = None

    def __init__(self, shell: Any) -> None:
        self._output = Output(shell)
        self._drawn: DrawnSteps = {}

    def draw(self, draft: RunDraft) -> None:
        """Show how far the run is."""
        self._output.show(to_live_bundle(draft.to_record(), drawn=self._drawn))

    def end(self, draft: RunDraft) -> None:
        """Leave the finished record."""
        record, kept = draft.to_record(), draft.to_kept_record()
        self._output.show(to_bundle(record, kept=kept))

    def hold(self) -> AbstractContextManager[None]:
        """A front end shows its prompt below the output."""
        return nullcontext()

    def discard(self) -> None:
        """Leave a line: there was no run after all."""
        self._output.show({"text/plain": DISCARDED})
