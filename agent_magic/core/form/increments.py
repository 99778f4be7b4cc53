"""MemoryWriter: a memory that goes on, written bit by bit.

Each bit holds the rows that are new in each list of a written memory (see `memory`), with the place
where they begin; put one after the other they are the whole. It must not know where the bits go: who
takes them says when they are kept.

Ctrl-C may come between any two bytecodes: what was not confirmed is given again, at the same places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from operator import is_
from typing import Protocol, cast

from agent_magic.core.edits import MemoryChange
from agent_magic.core.entry import Entry
from agent_magic.core.form.entry import EntryRecord, to_entry_record, write_change, write_entry
from agent_magic.core.form.memory import MemoryTables, write_system_prompts
from agent_magic.core.form.request import COLUMNS, write_request
from agent_magic.core.form.tables import Json
from agent_magic.core.form.value import UnreadableError
from agent_magic.core.request import SentRequest
from agent_magic.core.steps import SystemPromptStep
from agent_magic.core.values import Value, safe_repr

LISTS = (
    *("system_prompts", "steps", "entries", "changes", "undoable"),
    *("requests", "messages", "schemas", "tools", "images"),
)
"""Of a written memory."""
_LARGEST_GAP = 100_000
"""Rows that may be missing between two bits; more is a place that nobody wrote."""


class Growing(Protocol):
    """What an `AgentMemory` is, to this room."""

    @property
    def _lock(self) -> AbstractContextManager[object]: ...
    @property
    def _system_prompts(self) -> Sequence[tuple[int, SystemPromptStep]]: ...
    @property
    def _entries(self) -> Sequence[Entry]: ...
    @property
    def _changes(self) -> Sequence[MemoryChange]: ...
    @property
    def _undoable(self) -> Sequence[int]: ...
    @property
    def _requests(self) -> Sequence[SentRequest]: ...
    @property
    def _revision(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """How much of a memory is kept."""

    n_prompts: int = 0
    n_entries: int = 0
    n_changes: int = 0
    n_requests: int = 0
    undoable: tuple[int, ...] = ()
    revision: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class _News:
    """What a memory has beyond what is kept, read under its lock."""

    prompts: Sequence[tuple[int, SystemPromptStep]]
    """The last one that is kept stands before them, if there is one."""
    entries: Sequence[EntryRecord]
    changed: dict[int, EntryRecord]
    changes: Sequence[MemoryChange]
    requests: Sequence[SentRequest]
    now: _Kept


class MemoryWriter:
    """Writes what is new in a memory, and only that.

    Args:
        largest: See `ValueWriter`.
    """

    def __init__(self, *, largest: int | None = None) -> None:
        self.tables = MemoryTables(largest=largest)
        self._kept = _Kept()
        self._n_rows: dict[str, int] = {}
        """Of each table that are kept."""
        self._taken: tuple[_Kept, dict[str, int]] | None = None

    @property
    def has_kept(self) -> bool:
        """Whether anything was kept yet."""
        return self._kept != _Kept()

    def goes_on(self, before: Growing, memory: Growing) -> bool:
        """Whether `memory` holds all that was kept of `before`, so that the rest of it can follow."""
        kept = self._kept
        pairs = (
            (before._system_prompts, memory._system_prompts, kept.n_prompts),
            (before._changes, memory._changes, kept.n_changes),
            (before._requests, memory._requests, kept.n_requests),
        )
        if not all(_begin_alike(old, new, n) for old, new, n in pairs):
            return False
        if len(memory._entries) < kept.n_entries or len(before._entries) < kept.n_entries:
            return False
        touched = {change.index for change in memory._changes[kept.n_changes :]}
        touched |= {change.index for change in before._changes[kept.n_changes :]}
        return all(
            old.step is new.step or place in touched
            for place, (old, new) in enumerate(
                zip(before._entries[: kept.n_entries], memory._entries, strict=False)
            )
        )

    def take(self, memory: Growing) -> Json:
        """The new rows, empty if there are none; they come again until they are confirmed."""
        news = self._read_news(memory)
        kept, tables = self._kept, self.tables
        rows: Json = {}
        if news is None:
            now = kept
        else:
            now = news.now
            before = news.prompts[0][1].text if kept.n_prompts and news.prompts else None
            new_prompts = news.prompts[1:] if kept.n_prompts else news.prompts
            _put(rows, "system_prompts", kept.n_prompts, write_system_prompts(new_prompts, before))
            _put(rows, "entries", kept.n_entries, [write_entry(e, tables.steps) for e in news.entries])
            _put(
                rows,
                "changes",
                kept.n_changes,
                [write_change(change, tables.steps, tables.values) for change in news.changes],
            )
            _put(
                rows,
                "requests",
                kept.n_requests,
                [write_request(request, tables.messages, tables.tools) for request in news.requests],
            )
            if news.changed:
                rows["changed"] = [[place, write_entry(e, tables.steps)] for place, e in news.changed.items()]
            # A bit that was not confirmed may be there all the same.
            if now.undoable != kept.undoable or self._taken is not None:
                n_same = _n_alike(kept.undoable, now.undoable)
                rows["undoable"] = [n_same, list(now.undoable[n_same:])]
            rows["revision"] = now.revision
        n_rows: dict[str, int] = {}
        for name, forms in tables.to_rows().items():
            n_kept, n_rows[name] = self._n_rows.get(name, 0), len(forms)
            _put(rows, name, n_kept, forms[n_kept:])
        self._taken = (now, n_rows)
        return rows

    def confirm(self) -> None:
        """What was taken last is kept: it is not given again."""
        if self._taken is None:
            return
        before = self._n_rows
        self._kept, self._n_rows = self._taken
        self._taken = None
        for name, forms in self.tables.to_rows().items():
            for place in range(before.get(name, 0), self._n_rows[name]):
                forms[place] = None  # its place is all that is still asked for
        self.tables.values.let_go()

    def _read_news(self, memory: Growing) -> _News | None:
        kept = self._kept
        with memory._lock:
            now = _Kept(
                n_prompts=len(memory._system_prompts),
                n_entries=len(memory._entries),
                n_changes=len(memory._changes),
                n_requests=len(memory._requests),
                revision=memory._revision,
                undoable=kept.undoable if memory._revision == kept.revision else tuple(memory._undoable),
            )
            if now == kept:
                return None
            changes = memory._changes[kept.n_changes :]
            places = sorted({change.index for change in changes if change.index < kept.n_entries})
            return _News(
                prompts=memory._system_prompts[max(kept.n_prompts - 1, 0) :]
                if now.n_prompts > kept.n_prompts
                else (),
                entries=[to_entry_record(entry) for entry in memory._entries[kept.n_entries :]],
                changed={place: to_entry_record(memory._entries[place]) for place in places},
                changes=changes,
                requests=memory._requests[kept.n_requests :],
                now=now,
            )


class MemoryRows:
    """Bits of a written memory, put together again."""

    def __init__(self) -> None:
        self._lists: dict[str, list[Value]] = {name: [] for name in LISTS}
        self._revision: Value = 0
        self.n_missing = 0
        """Rows that no bit held."""

    def add(self, rows: Value) -> None:
        """Put in one more bit; one that comes again does no harm.

        Raises:
            UnreadableError: Nobody wrote it; what stands before the fault in it is put in.
        """
        if type(rows) is not dict:
            raise UnreadableError(rows, "a dict")
        for name, part in cast("Json", rows).items():
            if name == "revision":
                self._revision = part
            elif name == "changed":
                self._change(part)
            elif name in self._lists:
                self._put(name, part)
            else:
                raise UnreadableError(part, f"one of the lists {', '.join(LISTS)}", name)

    def n(self, name: str) -> int:
        """How many rows there are in a list."""
        return len(self._lists[name])

    def to_rows(self, name: str) -> Sequence[Value]:
        """The rows of a list so far; more may come."""
        return self._lists[name]

    def to_form(self) -> Json:
        """The whole, as `read_memory` takes it; a row that is missing is None in it."""
        lists = {name: list(rows) for name, rows in self._lists.items()}
        return {"revision": self._revision, "request_columns": list(COLUMNS), **lists}

    def _put(self, name: str, part: Value) -> None:
        at, new = _to_pair(name, part)
        rows = self._lists[name]
        if type(new) is not list or not 0 <= at <= len(rows) + _LARGEST_GAP:
            raise UnreadableError(part, "a place and rows", name)
        self.n_missing += max(at - len(rows), 0)
        rows.extend([None] * (at - len(rows)))
        end = None if name == "undoable" else at + len(new)
        rows[at:end] = new

    def _change(self, part: Value) -> None:
        entries = self._lists["entries"]
        if type(part) is not list:
            raise UnreadableError(part, "a list", "changed")
        for pair in cast("list[Value]", part):
            place, entry = _to_pair("changed", pair)
            if not 0 <= place < len(entries):
                raise UnreadableError(pair, "the place of an entry, and the entry", "changed")
            entries[place] = entry


def _to_pair(name: str, part: Value) -> tuple[int, Value]:
    if type(part) is not list or len(part) != 2 or type(part[0]) is not int:
        raise UnreadableError(safe_repr(part, 80), "a place, and what stands there", name)
    return part[0], part[1]


def _put(rows: Json, name: str, at: int, new: Sequence[Value]) -> None:
    if new:
        rows[name] = [at, list(new)]


def _begin_alike(old: Sequence[object], new: Sequence[object], n: int) -> bool:
    return len(old) >= n and len(new) >= n and all(map(is_, old[:n], new[:n]))


def _n_alike(old: Iterable[int], new: Iterable[int]) -> int:
    n = 0
    for before, after in zip(old, new, strict=False):
        if before != after:
            break
        n += 1
    return n
