"""Where journals stand: the folder beside the notebook, or the person's own; their names; how many are kept.

It must not read a journal beyond its first line, follow a link out of a folder, or delete a file that is
not a journal.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
from pathlib import Path

import platformdirs

if sys.platform != "win32":
    import fcntl

FOLDER = ".agent_magic"
"""Beside a notebook."""
SUFFIX = ".jsonl"
FIRST_LINE = b'{"format":"agent_magic.journal",'
"""How every journal begins."""
MAX_FOLDER_BYTES = 500_000_000
"""Of the journals in one folder together; the oldest go first."""
NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LONG_AGO_S = 86_400.0


def own_folder() -> Path:
    """The person's own folder of journals; it need not exist."""
    return platformdirs.user_state_path("agent_magic", appauthor=False) / "runs"


def open_folder(beside: Path | None) -> Path:
    """A folder to write journals into: beside the notebook if that can be, else the person's own.

    Raises:
        OSError: There is none that can be written.
    """
    if beside is not None:
        with contextlib.suppress(OSError):
            return _make(Path(os.path.realpath(beside)) / FOLDER)
    own = own_folder()
    own.parent.mkdir(parents=True, exist_ok=True)
    return _make(Path(os.path.realpath(own.parent)) / own.name)


def create_file(folder: Path, agent_name: str, run_id: str) -> tuple[int, Path]:
    """A new file in `folder`, open for writing, that only this person can read.

    Raises:
        OSError: It cannot be made.
    """
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    stem = f"{_to_name(agent_name, 40)}-{moment}-{_to_name(run_id, 12)}"
    path = folder / f"{stem}{SUFFIX}"
    for number in range(2, 100):
        with contextlib.suppress(FileExistsError):
            fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
            lock(fd)
            return fd, path
        path = folder / f"{stem}-{number}{SUFFIX}"
    raise FileExistsError(f"100 files are there that are named like {path.name}")


def lock(fd: int) -> bool:
    """Mark an open file as in use by this process; False if it is in use already."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no locks
        return True
    return True


def is_in_use(path: Path) -> bool:
    """Whether a living process writes this journal, as far as that can be known."""
    try:
        fd = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError:
        return False
    try:
        return not lock(fd)
    finally:
        os.close(fd)


def prune(folder: Path, *, max_bytes: int = MAX_FOLDER_BYTES) -> None:
    """Delete the oldest journals of ended processes until the rest takes `max_bytes` at most."""
    journals = [(path, status) for path in list_journals(folder) if (status := _status(path))]
    left = sum(status.st_size for _, status in journals)
    for path, status in sorted(journals, key=lambda journal: (journal[1].st_mtime, journal[0].name)):
        if left <= max_bytes:
            return
        with contextlib.suppress(OSError):
            if _is_journal(path) and not _may_be_in_use(path, status):
                path.unlink()
                left -= status.st_size


def list_journals(folder: Path) -> list[Path]:
    """The files in `folder` that are named as journals are, newest first."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - a name is looked at before it becomes a path
    except OSError:
        return []
    found = [
        (status.st_mtime, name)
        for name in names
        if name.endswith(SUFFIX) and NAME.fullmatch(name) and (status := _status(folder / name))
    ]
    return [folder / name for _, name in sorted(found, reverse=True)]


def _make(folder: Path) -> Path:
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not stat.S_ISDIR(folder.lstat().st_mode):  # a link is none
        raise NotADirectoryError(f"{folder} is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{folder} cannot be written")
    with contextlib.suppress(FileExistsError):
        fd = os.open(folder / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
        try:
            os.write(fd, b"*\n")
        finally:
            os.close(fd)
    return folder


def _to_name(text: str, max_chars: int) -> str:
    """Letters, digits, `_`, `.` and `-`; what else there is becomes `_`."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", text)[:max_chars]
    return name or "agent"


def _status(path: Path) -> os.stat_result | None:
    with contextlib.suppress(OSError):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode):
            return status
    return None


def _is_journal(path: Path) -> bool:
    fd = os.open(path, os.O_RDONLY | _FLAGS)
    try:
        return os.read(fd, len(FIRST_LINE)) == FIRST_LINE
    finally:
        os.close(fd)


def _may_be_in_use(path: Path, status: os.stat_result) -> bool:
    if sys.platform == "win32":  # where no lock tells
        return time.time() - status.st_mtime < _LONG_AGO_S
    return is_in_use(path)
