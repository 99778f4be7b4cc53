"""Budget: how much of the web a tool may read in one run.

It must not read any.
"""

from __future__ import annotations

import threading

from agent_magic.core.current_run import CURRENT_RUN
from agent_magic.core.errors import ToolError
from agent_magic.core.text import SHORTEST_CUT, truncate

_MOST_RUNS = 1_000
"""Whose counts are kept; of more, those of the oldest are forgotten."""


class Budget:
    """Counts a tool's readings for each run; a person's own calls count for none.

    Args:
        max_pages: Readings of one run.
        max_chars: Characters that one reading may give.
        max_total_chars: Characters that all readings of one run may give.
    """

    def __init__(self, *, max_pages: int, max_chars: int, max_total_chars: int) -> None:
        self.max_pages = max_pages
        self.max_chars = max_chars
        self.max_total_chars = max_total_chars
        self._lock = threading.Lock()
        self._pages: dict[str, int] = {}
        self._chars: dict[str, int] = {}

    def take_page(self, tool: str, noun: str = "pages") -> None:
        """Count a reading that is about to be made.

        Args:
            tool: Its name, as an error says it.
            noun: What its readings are.

        Raises:
            ToolError: The run has used up what it may read.
        """
        run_id = CURRENT_RUN.get()
        if run_id is None:
            return
        with self._lock:
            n_pages, n_chars = self._pages.get(run_id, 0), self._chars.get(run_id, 0)
            if n_pages < self.max_pages and self.max_total_chars - n_chars >= SHORTEST_CUT:
                self._pages[run_id] = n_pages + 1
                self._forget_oldest()
                return
        used = f"{n_pages:,} of {self.max_pages:,} {noun}"
        if n_pages < self.max_pages:
            used = f"{n_chars:,} of {self.max_total_chars:,} characters"
        raise ToolError(
            f"{tool} is used up: {used} in this run. Answer from what you have, and say what is missing."
        )

    def cut(self, text: str) -> str:
        """Head and tail of a text that was read, as much as the run may still have of it."""
        run_id = CURRENT_RUN.get()
        if run_id is None:
            return truncate(text, self.max_chars)
        with self._lock:
            left = self.max_total_chars - self._chars.get(run_id, 0)
            text = truncate(text, max(min(self.max_chars, left), SHORTEST_CUT))
            self._chars[run_id] = self._chars.get(run_id, 0) + len(text)
            return text

    def _forget_oldest(self) -> None:
        while len(self._pages) > _MOST_RUNS:
            oldest = next(iter(self._pages))
            del self._pages[oldest]
            self._chars.pop(oldest, None)
