"""`load`: runs that outlived their kernel, from a journal, a saved notebook or a folder of journals.

It must not run or import anything that a file names, nor leave the folders it is told of.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from agent_magic.core.errors import OptionError
from agent_magic.core.values import Value, safe_repr
from agent_magic.record.journal_folder import FOLDER, NAME, SUFFIX, is_in_use, list_journals, own_folder
from agent_magic.record.load_journal import JournalContent, read_journal
from agent_magic.record.load_notebook import read_notebook
from agent_magic.record.saved import SavedRuns
from agent_magic.record.shown import put_loaded

MAX_BYTES = 400_000_000
"""Of a file that is read."""
_GIVE = (
    "Give a saved notebook (.ipynb), a journal (.jsonl), or the folder .agent_magic that the journals are in."
)


def load(path: str | os.PathLike[str]) -> SavedRuns:
    """The runs in a file, with their steps, and the memories of their agents.

    Args:
        path: A saved notebook; a journal; or a folder `.agent_magic`, or one with such a folder in it:
            then its newest journal.

    Returns:
        `agent.take_up(saved)` lets an agent go on; `saved.warnings` tells what is missing.

    Raises:
        OptionError: There is no such file, or it holds no runs that this version reads.
    """
    try:
        file = Path(path)
        is_folder, is_file = file.is_dir(), file.is_file()
    except (TypeError, ValueError, OSError) as error:
        raise OptionError(f"{_show(path)} is no path of a file: {error}\n{_GIVE}") from error
    if is_folder:
        return _load_newest(file)
    if not is_file:
        raise OptionError(f"There is no file {_show(path)}{_near(file)}.\n{_GIVE}")
    if file.suffix == SUFFIX:
        return _to_saved(_read_journal(file), file)
    return read_notebook(_read_text(file), file.name, lambda name: _find_journal(name, file.parent))


def _load_newest(folder: Path) -> SavedRuns:
    inner = folder / FOLDER
    if folder.name != FOLDER and inner.is_dir():
        folder = inner
    journals = list_journals(folder)
    if not journals:
        raise OptionError(f"There is no journal (.jsonl) in the folder {str(folder)!r}.\n{_GIVE}")
    return _to_saved(_read_journal(journals[0]), journals[0])


def _to_saved(content: JournalContent, file: Path) -> SavedRuns:
    last = content.runs[-1] if content.runs else None
    for run, beside, memory in zip(content.runs, content.beside, content.memories, strict=True):
        put_loaded(run, beside, memory)
    return SavedRuns(
        source=file.name,
        runs=tuple(content.runs),
        memories={last.agent_name: content.memory} if last and content.memory is not None else {},
        warnings=tuple(content.warnings),
    )


def _find_journal(name: str, beside: Path) -> JournalContent | None:
    """The journal of that name beside a notebook or in the person's own folder."""
    if not NAME.fullmatch(name) or not name.endswith(SUFFIX):
        return None
    for folder in (beside / FOLDER, own_folder()):
        # By its listing, so that no link is followed.
        if file := next((found for found in list_journals(folder) if found.name == name), None):
            try:
                return _read_journal(file)
            except OptionError:
                return None
    return None


def _read_journal(file: Path) -> JournalContent:
    _check_size(file)
    try:
        with file.open("rb") as lines:
            return read_journal(lines, file.name, is_in_use=is_in_use(file))
    except OSError as error:
        raise _unreadable(file, error) from error


def _read_text(file: Path) -> str:
    _check_size(file)
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise _unreadable(file, error) from error


def _check_size(file: Path) -> None:
    try:
        n_bytes = file.stat().st_size
    except OSError as error:
        raise _unreadable(file, error) from error
    if n_bytes > MAX_BYTES:
        raise OptionError(
            f"{file.name} is {n_bytes / 1e6:,.0f} MB long, and {MAX_BYTES / 1e6:,.0f} MB is the most that is read.\n"
            f"{_GIVE}"
        )


def _unreadable(file: Path, error: OSError) -> OptionError:
    return OptionError(f"{file.name} cannot be read: {error.strerror or error}.\n{_GIVE}")


def _near(file: Path) -> str:
    """The names in its folder that look like it."""
    try:
        names = [found.name for found in file.parent.iterdir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(file.name, names, n=2)
    return f"; nearest: {', '.join(near)}" if near else ""


def _show(path: Value) -> str:
    return safe_repr(os.fspath(path) if isinstance(path, os.PathLike) else path, 200)
