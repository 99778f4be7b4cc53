"""A run in a terminal: a tree that is changed in place while it goes on, then the whole as text.

It must not know when it is drawn. Where lines cannot be changed in place, the text is all.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any
from weakref import WeakSet

from agent_magic.execution.prints.streams import _Proxy
from agent_magic.notebook.display.page import DISCARDED
from agent_magic.notebook.display.painting import Painter, can_paint
from agent_magic.record.draft import RunDraft
from agent_magic.record.schema import RunRecord
from agent_magic.view.plain import to_text
from agent_magic.view.tree import TreeLine, header_lines, now_lines, step_lines

_BOLD, _DIM, _NORMAL = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_STREAMS = ("stdout", "stderr")
_on_screen: WeakSet[TerminalDisplay] = WeakSet()
"""The one run that is drawn: of a run inside another one the text at its end is all."""


class TerminalDisplay:
    """A tree that grows while the run goes on, then the whole run as text."""

    redraw_s = 0.1
    news_s = 0.0
    """Before a tool begins, not while it writes into the terminal itself."""
    tick_s = 1.0
    to_snapshot = None

    def __init__(self) -> None:
        # Python's own stream: `sys.stdout` may belong to a tool while it runs.
        stream = sys.__stdout__
        self._painter = Painter(stream) if stream is not None and can_paint(stream) else None
        self._is_styled = not os.environ.get("NO_COLOR")
        self._lock = threading.RLock()
        self._is_drawing = False
        self._n_holds = 0
        self._n_told = 0
        """Steps that were drawn, or wait for it."""
        self._new: list[TreeLine] = []
        """Lines that are to stay and were not drawn yet."""
        self._record: RunRecord | None = None
        self._asides: list[_Aside] = []
        self._input: Callable[..., str] = builtins.input

    def draw(self, draft: RunDraft) -> None:
        """Show how far the run is."""
        if self._painter is None:
            return
        with self._lock:
            record = draft.to_record()
            if not self._is_drawing and not self._begin(record):
                return
            if not record.get("is_quiet"):
                for step in record["steps"][self._n_told :]:
                    self._new += step_lines(step)
            self._n_told = len(record["steps"])
            self._record = record
            self._paint(self._painter)

    def end(self, draft: RunDraft) -> None:
        """Leave the finished run."""
        self._leave()
        print(to_text(draft.to_record()))

    def discard(self) -> None:
        """Leave a line: there was no run after all."""
        self._leave()
        print(DISCARDED)

    @contextlib.contextmanager
    def hold(self) -> Generator[None]:
        """Within it nothing is drawn, so that a person can be asked; what changes in place is away."""
        with self._lock:
            self._n_holds += 1
            self._give_way()
        try:
            yield
        finally:
            with self._lock:
                self._n_holds -= 1
                if self._painter is not None and self._is_drawing:
                    self._paint(self._painter)

    def write_above(self, aside: _Aside, text: str) -> None:
        """Let a stream write above what changes; of a line that is not whole yet, what there is changes too."""
        with self._lock:
            if self._painter is None or not self._is_drawing or self._n_holds:
                aside.stream.write(text)
                return
            lines, line_end, rest = (aside.begun + text).rpartition("\n")
            # A bar that is written over itself: what was overwritten is gone.
            aside.begun = rest[rest.rstrip("\r").rfind("\r") + 1 :]
            if line_end:
                self._painter.give_way()
                aside.stream.write(lines + line_end)
                aside.stream.flush()
            self._paint(self._painter)

    def _begin(self, record: RunRecord) -> bool:
        """Take the screen, if it is free."""
        if _on_screen:
            self._painter = None
            return False
        _on_screen.add(self)
        self._is_drawing = True
        self._new += header_lines(record)
        for name in _STREAMS:
            stream = getattr(sys, name)
            if stream is not None and stream.isatty():
                self._asides.append(_Aside(self, stream, name))
                setattr(sys, name, self._asides[-1])
        self._input, builtins.input = builtins.input, self._ask
        return True

    def _leave(self) -> None:
        """Give the screen back as it was, as far as that can be."""
        with self._lock:
            if self._painter is None or not self._is_drawing:
                return
            self._is_drawing = False
            for aside in self._asides:
                if getattr(sys, aside.name) is aside:
                    setattr(sys, aside.name, aside.stream)
            if builtins.input == self._ask:
                builtins.input = self._input
            is_clean = self._painter.take_back()
            self._end_lines()
            _on_screen.discard(self)
        if not is_clean:
            print()

    def _give_way(self) -> None:
        if self._painter is not None and self._is_drawing:
            self._painter.give_way()
            self._end_lines()

    def _end_lines(self) -> None:
        for aside in self._asides:
            begun, aside.begun = aside.begun, ""
            if begun:
                aside.stream.write(begun)
                aside.stream.flush()

    def _ask(self, *prompt: Any) -> str:
        with self.hold():
            return self._input(*prompt)

    def _paint(self, painter: Painter) -> None:
        columns, rows = painter.size
        if self._n_holds or not columns or self._record is None:
            return
        begun = [TreeLine(title=aside.begun, keeps_end=True) for aside in self._asides if aside.begun]
        lines = [*begun, *now_lines(self._record, rows - len(begun))]
        new, self._new = self._new, []
        painter.paint(self._drawn(new, columns), self._drawn(lines, columns))

    def _drawn(self, lines: Sequence[TreeLine], columns: int) -> list[str]:
        return [self._styled(line, *line.fit(columns)) for line in lines]

    def _styled(self, line: TreeLine, lead: str, title: str, badges: str) -> str:
        if not self._is_styled:
            return lead + title + badges
        lead = f"{_BOLD if line.is_strong else _DIM}{lead}{_NORMAL}" if lead else ""
        return f"{lead}{title}{f'{_DIM}{badges}{_NORMAL}' if badges else ''}"


class _Aside:
    """A stream whose writes go above the tree; it is the stream itself in all else."""

    def __init__(self, display: TerminalDisplay, stream: Any, name: str) -> None:
        self._display = display
        self.stream = stream
        self.name = name
        self.begun = ""
        """A line that has no end yet."""

    def write(self, text: Any) -> int:
        is_kept = isinstance(self.stream, _Proxy) and self.stream._sink() is not None
        if is_kept or not isinstance(text, str):  # what a tool prints goes into its record
            return self.stream.write(text)
        self._display.write_above(self, text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def __iter__(self) -> Any:
        return iter(self.stream)
