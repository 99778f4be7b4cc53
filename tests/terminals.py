"""A real terminal IPython in a pty, and its screen as a person sees it.

It must not know the package under test.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pyte

TIMEOUT_S = 60.0
_PROMPT = re.compile(r"In \[(\d+)\]:")


class Terminal:
    """IPython in a terminal of its own, which an emulator draws."""

    def __init__(self, folder: Path, *, columns: int = 90, rows: int = 30, **environment: str) -> None:
        self._screen = pyte.HistoryScreen(columns, rows, history=5_000, ratio=0.5)
        self._stream = pyte.Stream(self._screen)
        self._n_prompts = 0
        self.sent = ""
        """All that was written to the terminal, as it came."""
        self._child = pexpect.spawn(
            sys.executable,
            ["-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit", "--colors=nocolor"],
            cwd=str(folder),
            env={**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **environment},
            encoding="utf-8",
            codec_errors="replace",
            dimensions=(rows, columns),
        )
        self.wait_for_prompt()

    @property
    def screen(self) -> list[str]:
        """The lines that are on the screen, without blanks at their ends and empty ones at the bottom."""
        lines = [line.rstrip() for line in self._screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def all_lines(self) -> list[str]:
        """What has left the screen at its top, and the screen."""
        gone = ["".join(row[x].data for x in range(self._screen.columns)) for row in self._screen.history.top]
        return [*(line.rstrip() for line in gone), *self.screen]

    def send(self, text: str) -> None:
        """Type lines and return at once."""
        for line in text.split("\n"):
            self._child.sendline(line)

    def interrupt(self) -> None:
        """Ctrl-C."""
        self._child.sendintr()

    def resize(self, columns: int, rows: int) -> None:
        """Another size of the window."""
        self._screen.resize(rows, columns)
        self._child.setwinsize(rows, columns)

    def run(self, text: str) -> list[str]:
        """Type a cell and wait for its end; the screen, cleared before, up to the next prompt."""
        self.clear()
        self.send(text)
        self.wait_for_prompt()
        return self.screen[:-1]

    def clear(self) -> None:
        """An empty screen and an empty history."""
        self._screen.reset()
        self.sent = ""

    def wait_for_prompt(self, timeout_s: float = TIMEOUT_S) -> None:
        """Read until the next prompt stands where one types."""

        def is_there() -> bool:
            found = _PROMPT.match(self._screen.display[self._screen.cursor.y])
            return found is not None and int(found[1]) > self._n_prompts

        self.wait_until(is_there, timeout_s)
        self._n_prompts += 1
        while not self._screen.display[self._screen.cursor.y].startswith(f"In [{self._n_prompts}"):
            self._n_prompts += 1

    def wait_for(self, text: str, timeout_s: float = TIMEOUT_S) -> list[str]:
        """Read until the screen has `text` somewhere; the screen."""
        self.wait_until(lambda: text in "\n".join(self.screen), timeout_s)
        return self.screen

    def wait_until(self, is_there: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
        """Read until something is there."""
        end = time.monotonic() + timeout_s
        while not is_there():
            if time.monotonic() > end:
                raise TimeoutError("not on the screen in time:\n" + "\n".join(self.screen))
            self.read(0.05)

    def read(self, seconds: float) -> None:
        """Take what comes in so many seconds."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                text = self._child.read_nonblocking(65_536, timeout=left)
            except pexpect.TIMEOUT:
                return
            self.sent += text
            self._stream.feed(text)
            return

    def close(self) -> None:
        """End it."""
        self._child.close(force=True)
