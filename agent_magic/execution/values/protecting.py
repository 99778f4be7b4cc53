"""Protection: the person's lists, frames and arrays as they were before code ran, to be put back in place.

It must not compare by `==` of anybody's class, import the libraries whose values it knows, nor hold
anything once the step is over.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, compress
from operator import is_, not_
from typing import Any

from agent_magic.core.values import Value
from agent_magic.execution.values.restoring import Budget, Kind
from agent_magic.execution.values.tables import find_table_kind

# As `id`, but without the event that each call of `id` raises: the audit hook would look at all of them.
_key: Callable[[Value], int] = object.__hash__


class _Watched:
    """A container too large to copy: its length and its ends."""

    __slots__ = ("ends", "length")

    def __init__(self, length: int, ends: list[Value]) -> None:
        self.length = length
        self.ends = ends


def _sequence_kind(base: type[Any], copy: str) -> Kind:
    """Of lists and deques: both are indexed, extended and emptied alike."""
    length: Callable[[Value], int] = base.__len__
    at: Callable[[Value, int], Value] = base.__getitem__

    def ends(value: Value) -> list[Value]:
        n = length(value)
        return [at(value, i) for i in (*range(min(50, n)), *range(max(0, n - 50), n))]

    def save(value: Value, budget: Budget) -> Value:
        n = length(value)
        if budget.take_items(n):
            return (
                base.copy(value)
                if base is not list
                else value[:]
                if type(value) is list
                else list.copy(value)
            )
        return _Watched(n, ends(value))

    def is_same(value: Value, saved: Value) -> bool:
        if isinstance(saved, _Watched):
            return length(value) == saved.length and all(map(is_, ends(value), saved.ends))
        return length(value) == length(saved) and all(map(is_, base.__iter__(value), base.__iter__(saved)))

    def restore(value: Value, saved: Value) -> bool:
        if isinstance(saved, _Watched):
            return False
        base.clear(value)
        base.extend(value, saved)
        return True

    return Kind(
        save=save,
        is_same=is_same,
        restore=restore,
        items=lambda saved: () if isinstance(saved, _Watched) else base.__iter__(saved),
        copy=copy,
    )


def _dict_kind(base: type[Any], copy: str) -> Kind:
    def save(value: Value, budget: Budget) -> Value:
        n = dict.__len__(value)
        if budget.take_items(n):
            return dict(base.items(value))
        return _Watched(n, list(map(_key, _first(base.__iter__(value), 50))))

    def is_same(value: Value, saved: Value) -> bool:
        if isinstance(saved, _Watched):
            keys = map(_key, _first(base.__iter__(value), 50))
            return dict.__len__(value) == saved.length and list(keys) == saved.ends
        if dict.__len__(value) != len(saved):
            return False
        return all(map(is_, base.keys(value), saved)) and all(map(is_, base.values(value), saved.values()))

    def restore(value: Value, saved: Value) -> bool:
        if isinstance(saved, _Watched):
            return False
        base.clear(value)
        for key, item in saved.items():
            base.__setitem__(value, key, item)
        return True

    return Kind(
        save=save,
        is_same=is_same,
        restore=restore,
        items=lambda saved: () if isinstance(saved, _Watched) else saved.values(),
        copy=copy,
    )


def _save_set(value: Value, budget: Budget) -> Value:
    return set.copy(value) if budget.take_items(set.__len__(value)) else _Watched(set.__len__(value), [])


def _is_same_set(value: Value, saved: Value) -> bool:
    if isinstance(saved, _Watched):
        return set.__len__(value) == saved.length
    same_length = set.__len__(value) == set.__len__(saved)
    return same_length and set(map(_key, set.__iter__(value))) == set(map(_key, set.__iter__(saved)))


def _restore_set(value: Value, saved: Value) -> bool:
    if isinstance(saved, _Watched):
        return False
    set.clear(value)
    set.update(value, saved)
    return True


def _save_bytes(value: bytearray, budget: Budget) -> bytes | None:
    return bytes(value) if budget.take_bytes(len(value)) else None


def _restore_bytes(value: bytearray, saved: bytes) -> bool:
    value[:] = saved
    return True


def _first(values: Iterable[Value], count: int) -> list[Value]:
    return [value for value, _ in zip(values, range(count), strict=False)]


_KNOWN_LIST = _sequence_kind(list, "list({name})")
_KNOWN_DICT = _dict_kind(dict, "dict({name})")
_KINDS: tuple[tuple[type, Kind], ...] = (
    (list, _KNOWN_LIST),
    (collections.OrderedDict, _dict_kind(collections.OrderedDict, "{name}.copy()")),
    (dict, _KNOWN_DICT),
    (
        set,
        Kind(
            save=_save_set, is_same=_is_same_set, restore=_restore_set, items=set.__iter__, copy="set({name})"
        ),
    ),
    (
        bytearray,
        Kind(
            save=_save_bytes,
            is_same=lambda value, saved: saved == value,
            restore=_restore_bytes,
            copy="bytearray({name})",
        ),
    ),
    (collections.deque, _sequence_kind(collections.deque, "{name}.copy()")),
    (
        tuple,  # it cannot change, but what is in it can
        Kind(
            save=lambda value, budget: (
                tuple(tuple.__iter__(value)) if budget.take_items(len(value)) else None
            ),
            is_same=lambda _value, _saved: True,
            restore=lambda _value, _saved: True,
            items=tuple.__iter__,
            copy="{name}",
        ),
    ),
)
_UNCHANGING_TYPES: set[type] = {int, float, str, bool, bytes, complex, frozenset, type}
_UNCHANGING_TYPES.update(type(value) for value in (None, len, _first, collections))
_UNCHANGING = set(map(_key, _UNCHANGING_TYPES))
_LIST, _DICT = _key(list), _key(dict)
_known: dict[int, Kind] = {_key(kind): how for kind, how in _KINDS}
_mro_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__


class Protection:
    """Values of the person's that code may not change in place, from `begin` to `end`."""

    def __init__(self) -> None:
        self._lists: list[tuple[str, list[Value]]] = []
        self._kept_lists: list[list[Value]] = []
        """What each of them held."""
        self._dicts: list[tuple[str, dict[Value, Value]]] = []
        self._kept_dicts: list[dict[Value, Value]] = []
        self._others: list[tuple[str, Value, Kind, Value]] = []

    def begin(self, values: Mapping[str, Value]) -> None:
        """Keep how they are now, by name."""
        # Most names are functions, modules, numbers and texts.
        kinds = list(map(type, values.values()))
        try:
            if _UNCHANGING_TYPES.issuperset(kinds):
                return
            can_change = list(map(not_, map(_UNCHANGING_TYPES.__contains__, kinds)))
        except Exception:  # noqa: BLE001 - a metaclass may forbid hashing, by any error
            can_change = [_key(kind) not in _UNCHANGING for kind in kinds]
        budget = Budget()
        left = self._keep_plain(list(compress(values.items(), can_change)), budget)
        todo = self._keep([(name, value, _key(type(value))) for name, value in left], budget, None)
        seen: set[int] = set()
        while todo:
            todo = self._keep(todo, budget, seen)

    def _keep_plain(self, todo: list[tuple[str, Value]], budget: Budget) -> list[tuple[str, Value]]:
        """Keep lists and dictionaries of numbers, texts and the like, all at once; gives what is left.

        They are by far the most of what can change, and a step is not to wait for them.
        """
        lists = [entry for entry in todo if type(entry[1]) is list]
        dicts = [entry for entry in todo if type(entry[1]) is dict]
        n_items = sum([len(value) for _, value in lists]) + sum([len(value) for _, value in dicts])
        if n_items > budget.n_items:
            return todo
        kept_lists = [value[:] for _, value in lists]
        kept_dicts = [value.copy() for _, value in dicts]
        in_lists, in_dicts = (
            chain.from_iterable(kept_lists),
            chain.from_iterable(map(dict.values, kept_dicts)),
        )
        try:
            if not _UNCHANGING_TYPES.issuperset(map(type, chain(in_lists, in_dicts))):
                return todo
        except Exception:  # noqa: BLE001 - as in `begin`
            return todo
        budget.n_items -= n_items
        self._lists, self._kept_lists, self._dicts, self._kept_dicts = lists, kept_lists, dicts, kept_dicts
        return [entry for entry in todo if type(entry[1]) is not list and type(entry[1]) is not dict]

    def _keep(
        self, todo: list[tuple[str, Value, int]], budget: Budget, seen: set[int] | None
    ) -> list[tuple[str, Value, int]]:
        """Keep values, given with the ids of their types; gives those inside of them that can change."""
        inside: list[tuple[str, Iterable[Value]]] = []
        for name, value, key in todo:
            if seen is not None:  # what holds itself is met again
                if _key(value) in seen:
                    continue
                seen.add(_key(value))
            if key == _LIST and len(value) <= budget.n_items:
                budget.n_items -= len(value)
                kept = value[:]
                self._lists.append((name, value))
                self._kept_lists.append(kept)
                if not _UNCHANGING.issuperset(map(_key, map(type, kept))):
                    inside.append((name, kept))
            elif key == _DICT and len(value) <= budget.n_items:
                budget.n_items -= len(value)
                copy = value.copy()
                self._dicts.append((name, value))
                self._kept_dicts.append(copy)
                if not _UNCHANGING.issuperset(map(_key, map(type, copy.values()))):
                    inside.append((name, copy.values()))
            else:
                how = _known[key] if key in _known else _find_kind(type(value))
                saved = how.save(value, budget) if how is not None else None
                if how is not None and saved is not None:
                    self._others.append((name, value, how, saved))
                    if how.items is not None and not isinstance(saved, _Watched):
                        inside.append((name, how.items(saved)))
        return [
            (name, item, key)
            for name, items in inside
            for item in items
            if (key := _key(type(item))) not in _UNCHANGING
        ]

    def end(self) -> list[str]:
        """Put back what was changed since `begin`, and let all go; gives a line for each name that was."""
        lists, dicts, others = self._lists, self._dicts, self._others
        kept_lists, kept_dicts = self._kept_lists, self._kept_dicts
        self._lists, self._dicts, self._others, self._kept_lists, self._kept_dicts = [], [], [], [], []
        for _, value, how, saved in others:
            if how.release is not None:
                how.release(value, saved)
        changed = [
            (name, value, how, saved) for name, value, how, saved in others if not how.is_same(value, saved)
        ]
        if not _are_same([value for _, value in lists], kept_lists):
            changed += [
                (name, value, _KNOWN_LIST, kept)
                for (name, value), kept in zip(lists, kept_lists, strict=True)
                if len(value) != len(kept) or not all(map(is_, value, kept))
            ]
        now = [value for _, value in dicts]
        if not (
            _are_same(now, kept_dicts)
            and all(
                map(
                    is_,
                    chain.from_iterable(map(dict.values, now)),
                    chain.from_iterable(map(dict.values, kept_dicts)),
                )
            )
        ):
            changed += [
                (name, value, _KNOWN_DICT, kept)
                for (name, value), kept in zip(dicts, kept_dicts, strict=True)
                if len(value) != len(kept)
                or not all(map(is_, value, kept))
                or not all(map(is_, value.values(), kept.values()))
            ]
        lines: dict[str, str] = {}
        for name, value, how, saved in changed:
            if _try(how.restore, value, saved):
                lines.setdefault(
                    name,
                    f"{name} was put back: code may not change the person's variables in place. "
                    f"Work on a copy: {how.copy.format(name=name)}.",
                )
            else:
                lines[name] = (
                    f"{name} was changed in place and could not be put back: it is not protected. "
                    "Tell the person in the final answer."
                )
        return list(lines.values())


def _are_same(values: Sequence[Collection[Value]], kept: Sequence[Collection[Value]]) -> bool:
    """Whether all hold the very items that were kept of them, in their order."""
    if list(map(len, values)) != list(map(len, kept)):
        return False
    return all(map(is_, chain.from_iterable(values), chain.from_iterable(kept)))


def _try(restore: Callable[[Value, Value], bool], value: Value, saved: Value) -> bool:
    try:
        return restore(value, saved)
    except Exception:  # noqa: BLE001 - libraries may refuse for any reason, and the rest is to be put back
        return False


def _find_kind(kind: type) -> Kind | None:
    for base in _mro_of(kind):
        for known, how in _KINDS:
            if base is known and base is not tuple:
                return how
    return find_table_kind(_mro_of(kind))
