"""Lines at the bottom of a terminal's screen that are changed in place, and lines that stay above them.

It must not know what they say. The cursor rests on the line below, so that what others write into the
terminal itself, such as a child process or the echo of a key, begins a line of its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TextIO

try:
    from resource import RUSAGE_CHILDREN, getrusage
except ImportError:  # not a Unix: nothing is painted there

    def _used_by_children() -> tuple[float, ...]:
        return ()
else:

    def _used_by_children() -> tuple[float, ...]:
        """Figures that differ whenever a child process has ended."""
        return tuple(getrusage(RUSAGE_CHILDREN))


_WIPE_LINE, _WIPE_BELOW = "\x1b[2K", "\x1b[J"
_SIGNS = "├─└→✗·…"
_LEAST_SIZE = (20, 4)
"""Columns and rows of the smallest screen that is painted on."""


def can_paint(stream: TextIO | None) -> bool:
    """Whether `stream` is a terminal whose lines can be changed in place."""
    if stream is None or os.name == "nt" or os.environ.get("TERM", "dumb") in ("", "dumb"):
        return False
    try:
        _SIGNS.encode(stream.encoding or "ascii")
        return stream.isatty()
    except (UnicodeEncodeError, LookupError, ValueError):
        return False


class Painter:
    """The bottom of one screen. Its caller sees to it that one thread at a time is here.

    No line given may be wider than the columns of `size`, nor have a control character but a style's.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown: list[str] = []
        """The lines that are changed in place, as they stand on the screen."""
        self._n_above = 0
        """Lines that stay, written since the beginning."""
        self._is_alone = True
        """Nobody else has written since the beginning."""
        self._is_sure = True
        """It is known what stands above the cursor; not so after a Ctrl-C in the middle of a write."""
        self._columns = 0
        self._children = _used_by_children()

    @property
    def size(self) -> tuple[int, int]:
        """Columns that a line may take, and lines that may be changed in place; 0, 0 if it is too small."""
        try:
            columns, rows = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            return 0, 0
        # A line that ends in the last column leaves the cursor in places that differ by terminal.
        return (columns - 1, rows - 1) if columns >= _LEAST_SIZE[0] and rows >= _LEAST_SIZE[1] else (0, 0)

    def paint(self, above: Sequence[str], lines: Sequence[str]) -> None:
        """Add lines that stay, and put `lines` in the place of those that do not."""
        columns = self.size[0]
        is_same_size, self._columns = columns == self._columns, columns
        begin = self._begin()
        self._n_above += len(above)
        if not above and is_same_size and self._shown:
            self._send(self._changes(lines), lines)
        else:
            self._send(begin + _ended([*above, *lines]), lines)

    def give_way(self) -> None:
        """Take away the lines that change, for somebody else who is going to write."""
        self._send(self._begin(), [])
        self._is_alone = False

    def take_back(self) -> bool:
        """Take away the lines that change, and those above if the screen still holds them all and no other.

        Returns:
            Whether nothing that was painted is left.
        """
        self._send(self._begin(), [])
        if not self._is_alone or self._n_above > self.size[1]:
            return False
        self._send(f"\r{_up(self._n_above)}{_WIPE_BELOW}", [])
        self._n_above = 0
        return True

    def _changes(self, lines: Sequence[str]) -> str:
        """What makes `lines` of the lines that are shown, without writing again what is the same."""
        parts: list[str] = []
        at = len(self._shown)
        for place, line in enumerate(lines):
            if place < len(self._shown) and line == self._shown[place]:
                continue
            parts.append(f"{_move(place - at)}{_WIPE_LINE}{line}\n")
            at = place + 1
        parts.append(_move(len(lines) - at))
        if len(lines) < len(self._shown):
            parts.append(_WIPE_BELOW)
        changes = "".join(parts)
        return f"\r{changes}" if changes else ""

    def _begin(self) -> str:
        """What takes away the lines that change, and leaves the cursor at the beginning of a line.

        Where somebody else may have written since, what stands there stays: a child process writes
        into the terminal itself, and nobody says whether it has.
        """
        children = _used_by_children()
        if self._is_sure and children == self._children:
            return f"\r{_up(len(self._shown))}{_WIPE_BELOW}"
        self._children, self._is_sure, self._is_alone = children, True, False
        self._shown = []
        # So many blanks end in the next line, but for a cursor that stood at the beginning of its own.
        return f"{' ' * (self.size[0] + 1)}\r{_WIPE_BELOW}"

    def _send(self, text: str, shown: Sequence[str]) -> None:
        if not text:
            return
        self._is_sure = False
        encoding = self._stream.encoding or "ascii"
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone; the run goes on
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        self._shown = list(shown)
        self._is_sure = True


def _ended(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _up(n_lines: int) -> str:
    return f"\x1b[{n_lines}A" if n_lines else ""


def _move(n_lines: int) -> str:
    return _up(-n_lines) if n_lines < 0 else f"\x1b[{n_lines}B" if n_lines else ""
