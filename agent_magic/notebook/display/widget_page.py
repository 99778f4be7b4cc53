"""A run as a widget while it goes on, and as the static record from its end on.

The widget is fed by messages that only ever add; at the end the output is replaced, so that a saved
notebook needs no kernel. It must not know when it is drawn.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from agent_magic.notebook.display.page import DISCARDED, Output
from agent_magic.notebook.kernel.control_channel import harden, kernel_id
from agent_magic.notebook.live.live_run import LiveRun
from agent_magic.notebook.live.widget_host import mime_of
from agent_magic.record.draft import RunDraft
from agent_magic.record.schema import RUN_MIME, RunRecord
from agent_magic.view.bundle import to_bundle, to_live_bundle
from agent_magic.view.control import BOARD
from agent_magic.view.feed import Feed
from agent_magic.view.protocol import Snapshot
from agent_magic.view.run_widget import RunWidget

_SNAPSHOT_S = 2.0
_SNAPSHOT_GROWTH = 1.1
"""A snapshot is made anew when there are a tenth more steps: so long runs pay for it ever less often."""


class WidgetDisplay:
    """One widget in one output.

    Args:
        keeps_widget: The widget stays the output after the end.
    """

    redraw_s = 0.05
    news_s = 0.02
    tick_s = None

    def __init__(self, shell: Any, live: LiveRun, *, keeps_widget: bool) -> None:
        self._output = Output(shell)
        self._live = live
        self._keeps_widget = keeps_widget
        self._feed = Feed()
        self._widget: RunWidget | None = None
        self._n_in_snapshot = 0
        self._snapshot_at = 0.0

    def draw(self, draft: RunDraft) -> None:
        """Tell the widget what is new; the first time, show it."""
        self._live.take_news()
        record = draft.to_record()
        messages = self._feed.take(record, self._live.settings)
        if self._widget is None:
            self._widget = widget = RunWidget(
                self._feed.to_snapshot(record, self._live.settings),
                nonce=BOARD.put(record["run_id"], self._live),
                kernel_id=kernel_id(),
                is_live=True,
            )
            harden(widget.comm)
            live = to_live_bundle(record)
            self._output.show({**mime_of(widget), RUN_MIME: _to_sketch(record, self._live), **live})
            return
        self._widget.tell(messages)
        is_grown = self._feed.n_steps > self._n_in_snapshot * _SNAPSHOT_GROWTH
        if is_grown and time.monotonic() - self._snapshot_at >= _SNAPSHOT_S:
            self._n_in_snapshot, self._snapshot_at = self._feed.n_steps, time.monotonic()
            self._widget.snapshot = dict(self._feed.to_snapshot(record, self._live.settings))

    def to_snapshot(self, draft: RunDraft) -> Snapshot:
        """The run as it stands, for a view that comes late; what is new is told first, to those that are there."""
        self.draw(draft)
        return self._feed.to_snapshot(draft.to_record(), self._live.settings)

    def end(self, draft: RunDraft) -> None:
        """Leave the finished record in the place of the widget."""
        record = draft.to_record()
        bundle = to_bundle(record, kept=draft.to_kept_record())
        widget, self._widget = self._widget, None
        if widget is None:
            self._output.show(bundle)
            return
        widget.tell(self._feed.end(record, self._live.settings))
        if self._keeps_widget:
            widget.snapshot = dict(self._feed.to_snapshot(record, self._live.settings))
            widget.is_live = False
            self._output.show({**mime_of(widget), **bundle})
            return
        self._output.show(bundle)
        widget.close()

    def hold(self) -> AbstractContextManager[None]:
        """A front end shows its prompt below the output."""
        return nullcontext()

    def discard(self) -> None:
        """Leave a line: there was no run after all."""
        self._output.show({"text/plain": DISCARDED})
        if self._widget is not None:
            self._widget.close()


def _to_sketch(record: RunRecord, live: LiveRun) -> RunRecord:
    """What a page that opens the notebook in the middle of the run needs to find the run again."""
    sketch = record.copy()
    sketch["steps"], sketch["steps_left_out"] = [], 0
    sketch.pop("now", None)
    if live.journal is not None:
        sketch["journal"] = live.journal
    return sketch
