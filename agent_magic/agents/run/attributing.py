"""Watch: what changes in a namespace while a step works on it, each change told by the step that made it.

Steps of several agents may work on the same names at once. It must not guess in silence: where a change
may be another's, one step tells it, and says so.
"""

from __future__ import annotations

import dataclasses
import re
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from agent_magic.core.changes import NameChange, Snapshot, find_changes, take_snapshot
from agent_magic.core.state import State
from agent_magic.core.values import Value
from agent_magic.execution.step.writing import hide_lent

_WORD = re.compile(r"\w+")
_LOCK = threading.RLock()


class _Room:
    """All steps that work on the names of one namespace; one that was let go is none of them."""

    def __init__(self, names: Mapping[str, Value]) -> None:
        self.names = names  # held, so that its id belongs to nothing else meanwhile
        self._watches: list[weakref.ref[Watch]] = []

    def enter(self, watch: Watch) -> None:
        """From now on it is one of them."""
        self._watches.append(weakref.ref(watch))

    def leave(self, watch: Watch) -> None:
        """It is none of them any more."""
        self._watches = [each for each in self._watches if each() not in (None, watch)]

    def others(self, watch: Watch) -> list[Watch]:
        """All but this one."""
        watches = (each() for each in self._watches) if len(self._watches) > 1 else ()
        return [each for each in watches if each is not None and each is not watch]


_rooms: weakref.WeakValueDictionary[int, _Room] = weakref.WeakValueDictionary()


def _room_of(state: State) -> _Room:
    # Several states may show the same names.
    names = cast("Mapping[str, Value]", getattr(state, "namespace", state))
    room = _rooms.get(id(names))
    if room is None:
        _rooms[id(names)] = room = _Room(names)
    return room


@dataclass(frozen=True, kw_only=True)
class Maker:
    """Who makes a step."""

    name: str
    """The agent's."""
    run_ids: tuple[str, ...]
    """Of its run, then of those that it was started for: they tell its changes too."""
    code: str | None = None
    """What it runs, if it is code."""

    @cached_property
    def words(self) -> frozenset[str]:
        """What the code speaks of."""
        return frozenset(_WORD.findall(self.code or ""))

    def works_for(self, other: Maker) -> bool:
        """Whether it works in a run that was started for the other's."""
        return other.run_ids[0] in self.run_ids

    def is_stranger_to(self, other: Maker) -> bool:
        """Whether neither works for the other."""
        return not self.works_for(other) and not other.works_for(self)


class Watch:
    """The changes of one step, from now on.

    Code that has the namespace to itself made what it speaks of. What else changes belongs to the first
    step that tells of it; if others were at work meanwhile, it names them.

    Args:
        state: Where the names are.
        maker: Of the step.
    """

    def __init__(self, state: State, maker: Maker) -> None:
        self.maker = maker
        self.is_inside = maker.code is not None
        """Its code runs, and no other."""
        self._state = state
        self._sure: set[str] = set()
        """Names whose changes are known to be of this step, or of one that works for it."""
        self._other: dict[str, str] = {}
        """Who may have made a change instead, by the name."""
        self._told: set[str] = set()
        self._before, self._after = Snapshot({}, {}), Snapshot({}, {})
        self._is_over = False
        with _LOCK:
            self._room = _room_of(state)
            self._base = self._look()
            self._room.enter(self)

    def leave(self) -> None:
        """Its code waits for what it calls, and others may run."""
        with _LOCK:
            if self._room.others(self) and not self._is_over:
                self._take_own()
            self.is_inside = False

    def come_back(self) -> None:
        """Its code goes on, and no other."""
        self.is_inside = True

    def end(self) -> None:
        """What changes from now on is not of this step."""
        with _LOCK:
            if self._is_over:
                return
            strangers = [each for each in self._room.others(self) if each.maker.is_stranger_to(self.maker)]
            for stranger in strangers:
                if stranger.is_inside:
                    stranger._take_own()
            if strangers and self.is_inside:
                self._take_own()
            self._take(None, " or ".join(sorted({each.maker.name for each in strangers})))
            self._is_over = True
            self._room.leave(self)

    def changes(self) -> tuple[NameChange, ...]:
        """What the step made of names, once it is over."""
        if not self._told:
            return ()
        return tuple(self._with_doubt(change) for change in find_changes(self._before, self._after))

    def ends_of(self, name: str) -> tuple[Value, Value]:
        """What a name meant before the step and after it; `ABSENT` if it did not exist."""
        return self._before.value(name), self._after.value(name)

    def _take_own(self) -> None:
        self._sure.update(self._take(self.maker.words.__contains__, is_own=True))

    def _take(
        self, is_meant: Callable[[str], bool] | None, strangers: str = "", *, is_own: bool = False
    ) -> list[str]:
        """Let changes, or those meant, be of this step; no other tells them. Gives their names."""
        now = self._look()
        changes = find_changes(self._base, now)
        names = [change.name for change in changes if is_meant is None or is_meant(change.name)]
        if not names:
            return names
        self._before.take_over([name for name in names if name not in self._told], self._base)
        self._after.take_over(names, now)
        self._told.update(names)
        if strangers:
            self._other.update({name: strangers for name in names if name not in self._sure})
        for other in self._room.others(self):
            if self.maker.works_for(other.maker):
                if not strangers:
                    other._sure.update(names)
            elif is_own or not other.maker.works_for(self.maker):  # else it tells them, too
                other._base.take_over(names, now)
        # Last, so that what Ctrl-C leaves half done is found again.
        self._base.take_over(names, now)
        return names

    def _look(self) -> Snapshot:
        return take_snapshot(self._state, lambda values: hide_lent(self._room.names, values))

    def _with_doubt(self, change: NameChange) -> NameChange:
        if change.name not in self._other:
            return change
        doubt = f"by this step or by {self._other[change.name]}, at work at the same time"
        return dataclasses.replace(change, detail="; ".join(filter(None, [change.detail, doubt])))
