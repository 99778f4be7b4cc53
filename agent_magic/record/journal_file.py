"""JournalFile: one file that only grows, line by line, and no further than its cap.

It must not know what the lines say. A line is written by one call, so that whatever comes in between,
Ctrl-C or the end of the process, no line before it is torn.
"""

from __future__ import annotations

import errno
import os
import weakref
from pathlib import Path

from agent_magic.record.journal_folder import create_file

MAX_BYTES = 50_000_000
"""Of one file."""
_LAST_BYTES = 200_000
"""Beyond the cap, for the lines that say how it ended."""
_SYNC = getattr(os, "fdatasync", os.fsync)
_CANNOT_SYNC = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP})


class JournalFile:
    """An open file; it is closed when nobody has it any more.

    Raises:
        OSError: From every method: the disk is full, the folder is gone, …
    """

    def __init__(self, folder: Path, agent_name: str, run_id: str, *, max_bytes: int = MAX_BYTES) -> None:
        self._fd, self.path = create_file(folder, agent_name, run_id)
        weakref.finalize(self, os.close, self._fd)
        self._max_bytes = max_bytes
        self._n_bytes = 0
        self._may_be_torn = False

    def has_room(self, n_bytes: int, *, is_last: bool = False) -> bool:
        """Whether a line of so many bytes fits; one that says how it ended has room of its own."""
        return self._n_bytes + n_bytes <= self._max_bytes + (_LAST_BYTES if is_last else 0)

    def append(self, line: bytes) -> None:
        """Write a line, which ends with a line end."""
        # A line that was begun is ended first: it is skipped by who reads it, and the next one is not.
        data = b"\n" + line if self._may_be_torn else line
        self._may_be_torn = True
        n_written = os.write(self._fd, data)
        self._n_bytes += n_written
        if n_written < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._may_be_torn = False

    def sync(self) -> None:
        """Wait until all that was written is on the disk."""
        if os.fstat(self._fd).st_nlink == 0:
            raise FileNotFoundError(errno.ENOENT, "the file was deleted")
        try:
            _SYNC(self._fd)
        except OSError as error:
            if error.errno not in _CANNOT_SYNC:  # such a place has no disk below it
                raise
