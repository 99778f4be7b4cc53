"""Ledger: names of the namespace round one step: lent, given back, put back, and who made which.

It must not look into values: what is changed in place is `protecting`'s affair.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from operator import is_

from agent_magic.core.values import Value
from agent_magic.execution.step.course import FILENAMES

_ABSENT = object()


class Internal:
    """Which names the kernel alone binds; each is asked for once.

    Args:
        is_internal: Tells it.
    """

    def __init__(self, is_internal: Callable[[str], bool]) -> None:
        self._is_internal = is_internal
        self._known: set[Value] = set()
        self._internal: set[Value] = set()

    def __contains__(self, name: Value) -> bool:
        if name not in self._known:
            self._known.add(name)
            # A namespace may have any key; only texts are names.
            if type(name) is not str or self._is_internal(name):
                self._internal.add(name)
        return name in self._internal

    def among(self, names: Mapping[str, Value]) -> list[str]:
        """Those of `names` that are internal."""
        if not self._known.issuperset(names):
            for name in names:
                _ = name in self
        return [name for name in self._internal if name in names]


def persons_names(
    names: Mapping[str, Value], made: Mapping[str, Value], internal: Internal
) -> dict[str, Value]:
    """Those of `names` that are the person's: code has not made them, or they mean something else since."""
    persons = dict(names)
    for name in internal.among(names):
        del persons[name]
    for name, value in made.items():
        if persons.get(name, _ABSENT) is value:
            del persons[name]
    return persons


def _is_of_code(value: Value) -> bool:
    """Whether a function was made by code of an agent."""
    code = getattr(value, "__code__", None)
    return getattr(code, "co_filename", None) in FILENAMES


_lending: dict[int, tuple[Ledger, ...]] = {}
"""Those that lend names now, by the id of their namespace, in the order in which they began."""
_lock = threading.Lock()


def hide_lent(namespace: Mapping[str, Value], values: dict[str, Value]) -> None:
    """Let lent names mean in `values` what they mean when no code runs.

    Args:
        namespace: The living one.
        values: Read from it; changed.
    """
    for ledger in reversed(_lending.get(id(namespace), ())):
        ledger.hide(values)


def _note(ledger: Ledger) -> None:
    with _lock:
        key = id(ledger._namespace)
        _lending[key] = (*_lending.get(key, ()), ledger)


def _forget(ledger: Ledger) -> None:
    with _lock:
        key = id(ledger._namespace)
        left = tuple(each for each in _lending.get(key, ()) if each is not ledger)
        if left:
            _lending[key] = left
        else:
            _lending.pop(key, None)


class Ledger:
    """What names meant before a step, and what they are to mean after it.

    Args:
        namespace: The living one.
        persons: Names of the person's, with their values; kept up to date here.
        lent: Names for this step alone, with theirs.
        fixed: Those of them that code cannot bind, as it is refused: whoever bound one was somebody else.
        internal: Names that the kernel alone binds.
    """

    def __init__(
        self,
        namespace: dict[str, Value],
        *,
        persons: dict[str, Value],
        lent: Mapping[str, Value],
        fixed: AbstractSet[str] = frozenset(),
        internal: Internal,
    ) -> None:
        self._namespace = namespace
        self._persons = persons
        self._lent = dict(lent)
        self._fixed = fixed
        self._internal = internal
        self._before = namespace.copy()
        self._hidden: dict[str, Value] = {}
        self._is_lent = False
        self.rebound: dict[str, Value] = {}
        """Lent names that code has bound anew, with their values."""

    def lend(self) -> None:
        """Let lent names mean what they mean for the code."""
        if self._is_lent:
            return
        self._is_lent = True
        self._hidden = {name: self._namespace.get(name, _ABSENT) for name in self._lent}
        _note(self)  # before the first of them, so that at no moment one is taken for what it is not
        for name, value in self._lent.items():
            self._namespace[name] = self.rebound.get(name, value)

    def take_back(self) -> None:
        """Let lent names mean what they meant before."""
        if not self._is_lent:
            return
        namespace = self._namespace
        for name, value in self._lent.items():
            now = namespace.get(name, _ABSENT)
            if now is not value and now is not _ABSENT:
                if name in self._fixed and not _is_of_code(now):
                    self._before[name] = self._persons[name] = now  # another cell or thread has a new one
                    continue
                self.rebound[name] = now
            before = self._hidden[name]
            if before is _ABSENT:
                namespace.pop(name, None)
            else:
                namespace[name] = before
        self._is_lent = False
        _forget(self)

    def hide(self, values: dict[str, Value]) -> None:
        """Let lent names mean in `values`, which were read from the namespace, what they mean to others."""
        for name, value in self._lent.items():
            now = values.get(name, _ABSENT)
            if name in self._fixed and now is not value and now is not _ABSENT and not _is_of_code(now):
                continue
            before = self._hidden.get(name, _ABSENT)
            if before is _ABSENT:
                values.pop(name, None)
            else:
                values[name] = before

    def come_back(self, at_leaving: Mapping[str, Value]) -> None:
        """What a person's code has bound since the namespace was `at_leaving` is the person's."""
        get = at_leaving.get
        for name, value in list(self._namespace.items()):
            if get(name, _ABSENT) is not value and name not in self._internal:
                self._before[name] = self._persons[name] = value
        if len(self._namespace) < len(at_leaving) or any(name not in self._namespace for name in at_leaving):
            for name in at_leaving:
                if name not in self._namespace:
                    self._persons.pop(name, None)
                    self._before.pop(name, None)
        self.lend()

    def changed(self) -> dict[str, Value]:
        """Names that code has bound anew, with their values; those that are lent count not, while they are."""
        before, internal = self._before, self._internal
        lent = self._lent if self._is_lent else ()
        names = self._namespace.copy()
        looked_at: Iterable[tuple[str, Value]] = names.items()
        # New names stand at the end; as long as all before them is as it was, only they are looked at.
        if all(map(is_, before, names)) and all(map(is_, before.values(), names.values())):
            looked_at = islice(looked_at, len(before), None)
        return {
            name: value
            for name, value in looked_at
            if before.get(name, _ABSENT) is not value and name not in internal and name not in lent
        }

    def put_back(self, changed: Mapping[str, Value], kept_open: AbstractSet[str]) -> list[str]:
        """Let names of the person's mean what they meant; gives those that did not.

        Args:
            changed: What `changed` gave.
            kept_open: Names of the person's that code may bind.
        """
        namespace, persons = self._namespace, self._persons
        names = [name for name in changed if name in persons]
        n_new = sum(name not in self._before for name in changed)
        if len(namespace) != len(self._before) + n_new:  # some are gone, or the kernel has bound its own
            lent = self._lent if self._is_lent else ()
            names += [name for name in persons if name not in namespace and name not in lent]
        names = [name for name in names if name not in kept_open]
        for name in names:
            namespace[name] = persons[name]
        return names
