"""What a step changed in the namespace: names added, rebound, changed in place and deleted.

It must not keep or show a value beyond its type and shape; what may be read of one is `marks`' affair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

from agent_magic.core.marks import Mark, learn, read_opaque, read_unchanging, readers, to_detail, to_words
from agent_magic.core.state import State
from agent_magic.core.values import Value

ChangeKind = Literal["added", "rebound", "mutated", "deleted"]
"""`rebound`: the name means another object. `mutated`: the same object, changed in place."""

_MAX_SCALAR_CHARS = 100
_TRIES = 20
ABSENT = object()
"""Stands for the value of a name that does not exist."""
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameChange:
    """One name and what happened to it, in words; no value is kept or shown."""

    name: str
    kind: ChangeKind
    before: str = ""
    """`DataFrame, 3 rows × 2 columns`; empty when added."""
    after: str = ""
    """The same afterwards; empty when deleted."""
    detail: str = ""
    """What differs inside: `columns + price_eur; dtype of n int64 → float64; 10 → 12 rows`; and who else may have done it."""

    def __str__(self) -> str:
        if self.kind in ("added", "deleted"):
            return ", ".join(
                filter(None, [f"{self.kind} {self.name}: {self.after or self.before}", self.detail])
            )
        is_rebound = self.kind == "rebound"
        verb, another = ("rebound", "another ") if is_rebound else ("changed in place", "")
        if self.detail:
            return f"{verb} {self.name}: {another}{self.after.partition(', ')[0]}, {self.detail}"
        if is_rebound and self.before == self.after:
            return f"{verb} {self.name}: {another}{self.after}"
        return f"{verb} {self.name}: {self.before} → {self.after}"


class Snapshot:
    """All names at one moment. It holds their values while it lives, so no id is used again."""

    __slots__ = ("_marks", "_values")

    def __init__(self, values: dict[str, Value], marks: dict[str, Mark]) -> None:
        self._values = values
        self._marks = marks

    def value(self, name: str) -> Value:
        """What the name meant at that moment; `ABSENT` if there was none."""
        return self._values.get(name, ABSENT)

    def take_over(self, names: Iterable[str], other: Snapshot) -> None:
        """Be as `other` is in these names."""
        for name in names:
            for mine, theirs in ((self._values, other._values), (self._marks, other._marks)):
                if name in theirs:
                    cast("dict[str, Value]", mine)[name] = theirs[name]
                else:
                    mine.pop(name, None)


def take_snapshot(
    state: State | Mapping[str, Value], hide: Callable[[dict[str, Value]], object] | None = None
) -> Snapshot:
    """All names of `state` and what can be told of their values, to be compared later.

    Of containers only the top level is seen: a list's length, a dictionary's length and keys (up to
    `MAX_KEYS`), a frame's shape, columns and dtypes (of the first `MAX_COLUMNS`), an array's shape
    and dtype. An item that is replaced, or changed inside, is not.

    Args:
        state: Which names count is its own business. One with a method `items`, as a dictionary has
            one, is read by it, which is faster. It may change while it is read.
        hide: Is given all that was read, to let names mean what they mean beside this moment.
    """
    values = _read_names(state)
    if hide is not None:
        hide(values)
    marks: dict[str, Mark] = {}
    known = readers
    for name, value in values.items():
        kind = type(value)
        key = id(kind)
        read = known[key] if key in known else learn(kind)
        if read is not None:
            try:
                marks[name] = read(value, kind)
            except Exception:  # noqa: BLE001 - a library's attributes may raise anything on a broken object
                marks[name] = read_opaque(value, kind)
    return Snapshot(values, marks)


def find_changes(before: Snapshot, after: Snapshot) -> tuple[NameChange, ...]:
    """What differs between two snapshots of one State, in the order of `after`, deleted names last.

    A plain number, short text or bytes bound again to an equal value of the same type is no change.
    """
    changes: list[NameChange] = []
    old_values, old_marks, new_marks = before._values, before._marks, after._marks
    for name, value in after._values.items():
        old = old_values.get(name, ABSENT)
        if old is value:
            mark, new = old_marks.get(name), new_marks.get(name)
            if mark is None or new is None or (mark[0] is new[0] and mark[2] == new[2]):
                continue
            change = _compare_marks(name, mark, new)
        elif old is ABSENT:
            change = NameChange(name=name, kind="added", after=to_words(_mark(after, name)))
        elif _is_equal_scalar(old, value):
            continue
        else:
            change = _compare_values(name, _mark(before, name), _mark(after, name))
        if change is not None:
            changes.append(change)
    if len(old_values) + sum(change.kind == "added" for change in changes) > len(after._values):
        changes += (
            NameChange(name=name, kind="deleted", before=to_words(_mark(before, name)))
            for name in old_values
            if name not in after._values
        )
    return tuple(changes)


def _read_names(state: State | Mapping[str, Value]) -> dict[str, Value]:
    if isinstance(state, dict):
        return dict.copy(state)  # in one go: no other thread can come between
    items: Callable[[], Iterable[tuple[str, Value]]] | None = getattr(state, "items", None)
    if items is not None:
        return dict(_listed(items))
    values: dict[str, Value] = {}
    for name in _listed(lambda: state):
        try:
            values[name] = state[name]
        except KeyError:  # deleted since
            continue
    return values


def _listed(source: Callable[[], Iterable[_Item]]) -> list[_Item]:
    """All that it gives, although another thread may add to it meanwhile."""
    found: list[_Item] = []
    for _ in range(_TRIES):
        found = []
        try:
            found.extend(source())
            break
        except RuntimeError:  # "changed size during iteration"; what the last try found counts
            continue
    return found


def _compare_marks(name: str, old: Mark, new: Mark) -> NameChange | None:
    """The same object: None if it only looked different, such as equal columns set anew."""
    detail = to_detail(old, new)
    if old[0] is new[0] and not detail:
        return None
    return NameChange(name=name, kind="mutated", before=to_words(old), after=to_words(new), detail=detail)


def _compare_values(name: str, old: Mark, new: Mark) -> NameChange:
    detail = to_detail(old, new)
    return NameChange(name=name, kind="rebound", before=to_words(old), after=to_words(new), detail=detail)


def _mark(snapshot: Snapshot, name: str) -> Mark:
    """What was noted of a value, or is noted now, if it is of a type that cannot change."""
    noted = snapshot._marks.get(name)
    return read_unchanging(snapshot._values[name]) if noted is None else noted


def _is_equal_scalar(old: Value, new: Value) -> bool:
    kind = cast("type[Value]", type(new))
    if type(old) is not kind:
        return False
    if kind is str or kind is bytes:
        return len(new) <= _MAX_SCALAR_CHARS and old == new
    return (kind is int or kind is float) and (old == new or (old != old and new != new))  # noqa: PLR0124 - nan
