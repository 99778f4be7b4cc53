"""Drawing: when a run is drawn, so that the last news is, however long nothing more happens.

The run's own thread draws where it has the time; what it cannot draw, because it is inside a tool
or waits, a thread draws. It must not know how a run is drawn.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from agent_magic.core.events import Event, RunEnded, StepStarted, ToolCallStarted, Waiting
from agent_magic.core.flag import Flag
from agent_magic.core.result import RunResult
from agent_magic.core.threads import start_thread
from agent_magic.notebook.live.live_run import LiveRun
from agent_magic.record.draft import RunDraft
from agent_magic.record.shown import put_shown
from agent_magic.view.protocol import Snapshot

_T = TypeVar("_T")


class Display(Protocol):
    """Where a run is drawn."""

    redraw_s: float
    """The least between two drawings."""
    news_s: float
    """As `redraw_s`, of news that may stand for long, such as a tool that begins."""

    @property
    def tick_s(self) -> float | None:
        """Between two drawings while a run waits for a time that is known; None: it counts down by itself."""
        ...

    @property
    def to_snapshot(self) -> Callable[[RunDraft], Snapshot] | None:
        """Gives the run as it stands, for a view that comes late; None where there are no views."""
        ...

    def draw(self, draft: RunDraft) -> None:
        """Show how far the run is."""

    def end(self, draft: RunDraft) -> None:
        """Leave the finished record."""

    def discard(self) -> None:
        """Leave a line: there was no run after all."""

    def hold(self) -> AbstractContextManager[None]:
        """While it is open somebody types at a prompt: nothing is drawn over it."""
        ...


class Drawing:
    """Draws a run at most every so often."""

    def __init__(self, display: Display, draft: RunDraft, live: LiveRun) -> None:
        self._display = display
        self._draft = draft
        self._live = live
        self._lock = threading.Lock()
        self._bell = Flag()
        self._is_poked = False
        self._drawn_at = 0.0
        self._due: float | None = None
        """When what was not drawn yet must be."""
        self._has_begun = False
        self._is_over = False

    def begin(self) -> None:
        """Draw for the first time, and from now on what the run itself has no time to draw."""
        with self._lock:
            self._has_begun = True
            self._draw()
        # In a copy of the context: by it a kernel knows to which cell an output belongs.
        work = contextvars.copy_context().run
        with contextlib.suppress(RuntimeError):  # no thread can start here (Pyodide): the next event draws
            start_thread(lambda: work(self._draw_when_due), "agent_magic_display")

    def between(self, work: Callable[[RunDraft], _T]) -> _T | None:
        """Do something between two drawings; gives what it gave, None if the end was drawn meanwhile."""
        with self._lock:
            # Whoever waited here for the end must not draw: it would stand in the place of the record.
            return None if self._is_over else work(self._draft)

    def warn(self, warning: str | None) -> None:
        """Say something in the header, if there is something to say."""
        if warning:
            self._draft.warn(warning)

    def poke(self) -> None:
        """Something is to be shown that no event tells; never waits, whatever thread it comes from."""
        self._is_poked = True
        self._bell.set()

    def add(self, event: Event) -> None:
        """Take in what happened; drawn now, or soon."""
        if isinstance(event, RunEnded):
            return  # the end is drawn from the result, after everything before it
        with self._lock:
            if self._is_over:  # it comes from a thread that a tool left behind
                return
            self._draft.add(event)
            if not self._has_begun:
                return
            is_news = isinstance(event, StepStarted | ToolCallStarted | Waiting)
            due = self._drawn_at + (self._display.news_s if is_news else self._display.redraw_s)
            if due <= time.monotonic():
                self._draw()
            elif self._due is None or due < self._due:
                self._due = due
                self._bell.set()

    def end(self, result: RunResult | None, *, journal: str | None = None) -> None:
        """Leave the finished record, if there is one; nothing is drawn after it.

        Args:
            journal: The name of the file that has the run.
        """
        with self._lock:
            self._is_over = True
            self._bell.set()
            if result is None:
                self._display.discard()
                return
            if self._has_begun:  # what the last events told
                self._display.draw(self._draft)
            self._draft.finish(*self._live.as_it_counts(result))
            if (memory := self._live.memory) is not None:
                self._draft.keep(memory, result, journal=journal)
            put_shown(result, self._draft.to_record())
            self._display.end(self._draft)
            self._live.end(result)

    def _draw(self) -> None:
        self._due, self._is_poked = None, False
        self._display.draw(self._draft)
        self._drawn_at = time.monotonic()
        if self._display.tick_s is not None and self._draft.counts_down:
            self._due = self._drawn_at + self._display.tick_s
            self._bell.set()

    def _draw_when_due(self) -> None:
        while True:
            due = self._due
            left_s = None if due is None else max(due - time.monotonic(), 0)
            self._bell.wait(left_s)
            with self._lock:
                self._bell.clear()
                if self._is_over:
                    return
                is_due = self._due is not None and self._due <= time.monotonic()
                if is_due or self._is_poked:
                    self._draw()
