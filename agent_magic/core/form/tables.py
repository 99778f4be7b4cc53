"""Tables of a written memory: each thing stands once, and is named by its place.

It must not know what the things are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Generic, TypeVar

from agent_magic.core.form.value import UnreadableError
from agent_magic.core.values import Value

Json = dict[str, Value]
_T = TypeVar("_T")


class Table(Generic[_T]):
    """Forms of objects, each object once; equal forms once too, if they are joined."""

    def __init__(self, write: Callable[[_T], Value], *, joins_equal: bool = True) -> None:
        self.forms: list[Value] = []
        self._write = write
        self._joins_equal = joins_equal
        self._places: dict[int, int] = {}
        self._places_of_texts: dict[str, int] = {}

    def place(self, thing: _T) -> int:
        """Where the form of `thing` stands; the record keeps `thing` alive, so its id is its own."""
        place = self._places.get(id(thing))
        if place is None:
            form = self._write(thing)
            text = json.dumps(form) if self._joins_equal else ""
            place = self._places_of_texts.get(text)
            if place is None:
                # In this order: Ctrl-C in between leaves a form that nobody asks for, never a wrong place.
                place = len(self.forms)
                self.forms.append(form)
                if text:
                    self._places_of_texts[text] = place
            self._places[id(thing)] = place
        return place


def read_place(form: Json, key: str, n: int) -> int:
    """The place at `key`, in a table of `n`."""
    try:
        return check_place(form.get(key), n)
    except UnreadableError as error:
        raise error.within(key) from None


def check_place(place: Value, n: int) -> int:
    """The place itself, in a table of `n`.

    Raises:
        UnreadableError: There is none such.
    """
    if type(place) is int and 0 <= place < n:
        return place
    raise UnreadableError(place, f"a whole number from 0 to {n - 1}" if n else "empty")
