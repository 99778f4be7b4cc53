"""Live values as plain JSON and back: what JSON has no word for is marked, the rest goes by repr.

```
None True 3 1.5 "text" [1, 2] {"a": 1}     themselves
float nan inf, int of over 4,300 digits    {"$": "float", "text": "nan"}
date time datetime timedelta Decimal …     {"$": "date", "text": "2026-01-31"}
text with lone surrogates, bytes           {"$": "bytes", "text": base64}
tuple set frozenset                        {"$": "tuple", "items": [1, 2]}
dict with other keys, or with a key "$"    {"$": "dict", "items": [[key, value], …]}
PIL image                                  {"$": "image", "index": 0}, once for each object
all else                                   {"$": "object", "type": …, "preview": …, "name": …, "shape": …}
```

It must not run anything that a form names: a class is never looked up.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import json
import math
import pathlib
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn, cast

from agent_magic.core.form.image import is_image, write_image
from agent_magic.core.values import Value, describe, safe_repr

MARK = "$"
MAX_DEPTH = 200
"""What is nested deeper, or holds itself, is written by its repr."""
_MAX_CONTAINERS = 1_000_000
"""Containers in one value; lists that share sublists can have far more on paper."""
_WIDEST = 10**4_299
"""Python writes whole numbers of up to 4,300 digits."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RecordedValue:
    """What a memory that was read from JSON holds in place of an object that JSON cannot hold."""

    type_name: str
    preview: str
    """The object's repr, shortened."""
    name: str | None = None
    """The variable that held it, if one did."""
    shape: str = ""
    """`344 rows × 8 columns`, `12 items`; empty if it has none."""

    def __repr__(self) -> str:
        return self.preview


class UnreadableError(Exception):
    """A form that nobody wrote so; the way to it is added on the way up."""

    def __init__(self, found: Value, expected: str, path: str = "") -> None:
        super().__init__(found, expected)
        self.found = found
        self.expected = expected
        self.path = path

    def within(self, key: str) -> UnreadableError:
        """The same, seen from one level higher."""
        self.path = f"{key}.{self.path}" if self.path and self.path[0] != "[" else key + self.path
        return self


def write_text(text: str) -> Value:
    """A text; one with lone surrogates is marked, since JSON would join two of them into one sign."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return {MARK: "str", "text": _write_bytes(text.encode("utf-8", "surrogatepass"))}
    return text


class ValueWriter:
    """Writes the values of one memory; each image, and each object by its repr, once.

    Args:
        largest: About how many bytes of JSON a tool's output or an answer may take; what is larger is
            written by its repr. None for any size.
    """

    def __init__(self, *, largest: int | None = None) -> None:
        self._largest = largest
        self._room: float = math.inf
        self.images: list[dict[str, Value]] = []
        """The forms of the images, in the order in which they were met."""
        self.n_recorded = 0
        """How many objects were written by their repr."""
        self._image_places: dict[int, int] = {}
        self._recorded: dict[tuple[int, str | None], dict[str, Value]] = {}
        self._alive: list[Value] = []
        self._n_left = 0

    def write(self, value: Value, name: str | None = None) -> Value:
        """The value as JSON; it shares no container with the value.

        A member of a subclass of str, int, float, list, dict or tuple, such as an `IntEnum` or a
        numpy float, is written as that: it is what a model was told of it.

        Args:
            name: The variable that holds it, if one does.
        """
        kind = type(value)
        if kind is str:
            return write_text(value)
        if value is None or kind is bool:
            return value
        return self._write_or_record(value, name)

    def write_output(self, value: Value, name: str | None = None) -> Value:
        """The same for what a tool returned or a run answered, which may be of any size."""
        if self._largest is None:
            return self.write(value, name)
        self._room = self._largest
        try:
            return self._write_or_record(value, name)
        finally:
            self._room = math.inf

    def let_go(self) -> None:
        """Forget the objects that were written by their repr; written again, they are looked at anew."""
        self._recorded.clear()
        self._alive = [value for value in self._alive if id(value) in self._image_places]

    def _write_or_record(self, value: Value, name: str | None) -> Value:
        self._n_left = _MAX_CONTAINERS
        n_recorded = self.n_recorded
        try:
            return self._write(value, MAX_DEPTH, name)
        except Exception:  # noqa: BLE001 - too deep, too large, or of a class whose class has code of its own
            self.n_recorded = n_recorded
            return self._record(value, name)

    def record(self, value: Value, preview: str) -> dict[str, Value]:
        """The value by a text of it."""
        if type(value) is RecordedValue:
            return self._record(value, None)
        return _to_object(RecordedValue(type_name=type(value).__name__, preview=preview))

    def _take_room(self, value: Value, kind: type) -> None:
        """Note what a value takes that is about to be written.

        Raises:
            _TooLargeError: There is no room for it.
        """
        self._room -= len(value) + 8 if kind in _SIZED else 8
        if self._room < 0:
            raise _TooLargeError

    def _write(self, value: Value, depth: int, name: str | None = None) -> Value:
        kind = type(value)
        if self._largest is not None:
            self._take_room(value, kind)
        if kind is str:
            return value if value.isascii() else write_text(value)
        if kind is int:
            return value if -_WIDEST < value < _WIDEST else {MARK: "int", "text": hex(value)}
        if value is None or kind is bool:
            return value
        if kind is float:
            return value if math.isfinite(value) else {MARK: "float", "text": repr(value)}
        if kind is list:
            below = self._go_down(depth)
            return [self._write(item, below) for item in tuple(value)]
        if kind is dict:
            below = self._go_down(depth)
            form: dict[str, Value] = {}
            for key, item in tuple(value.items()):
                if type(key) is not str or key == MARK or not (key.isascii() or write_text(key) is key):
                    return self._write_pairs(value, depth)
                form[key] = self._write(item, below)
            return form
        return self._write_marked(value, kind, depth, name)

    def _write_marked(self, value: Value, kind: type, depth: int, name: str | None) -> Value:
        if kind is tuple:
            below = self._go_down(depth)
            return {MARK: "tuple", "items": [self._write(item, below) for item in value]}
        if kind is set or kind is frozenset:
            return self._write_set(value, kind, depth)
        if kind in _TEXTS:
            text = _TEXTS[kind].write(value)
            return self._record(value, name) if text is None else {MARK: _TEXTS[kind].mark, "text": text}
        if is_image(value):
            return self._write_image(value, name)
        for base, to_base in _BASES:
            if issubclass(kind, base):
                return self._write(to_base(value), depth)
        return self._record(value, name)

    def _go_down(self, depth: int) -> int:
        self._n_left -= 1
        if depth <= 0 or self._n_left < 0:
            raise _TooLargeError
        return depth - 1

    def _write_pairs(self, value: dict[Value, Value], depth: int) -> dict[str, Value]:
        below = self._go_down(depth)
        pairs = [[self._write(key, below), self._write(item, below)] for key, item in tuple(value.items())]
        keys = {json.dumps(key) for key, _ in pairs}
        return {MARK: "dict", "items": pairs} if len(keys) == len(pairs) else self._record(value, None)

    def _write_set(self, value: Iterable[Value], kind: type, depth: int) -> dict[str, Value]:
        below = self._go_down(depth)
        items = [self._write(item, below) for item in tuple(value)]
        # A set has no order of its own: the same set must give the same form.
        by_text = {json.dumps(item): item for item in items}
        if len(by_text) < len(items):  # two objects with one repr would come back as one
            return self._record(value, None)
        return {MARK: kind.__name__, "items": [by_text[text] for text in sorted(by_text)]}

    def _write_image(self, image: Value, name: str | None) -> dict[str, Value]:
        place = self._image_places.get(id(image))
        if place is None:
            try:
                form = write_image(image)
            except Exception:  # noqa: BLE001 - a file that is broken or gone: whatever pillow says of it
                return self._record(image, name)
            # In this order: after Ctrl-C in between no image stands for another.
            self._alive.append(image)
            place = len(self.images)
            self.images.append(form)
            self._image_places[id(image)] = place
        return {MARK: "image", "index": place}

    def _record(self, value: Value, name: str | None) -> dict[str, Value]:
        self.n_recorded += 1
        if type(value) is RecordedValue:
            return _to_object(value)
        form = self._recorded.get((id(value), name))
        if form is None:
            told = describe(value, 0)
            form = _to_object(
                RecordedValue(type_name=told.type_name, preview=safe_repr(value), name=name, shape=told.shape)
            )
            self._alive.append(value)  # no other object may get its id
            self._recorded[id(value), name] = form
        return form


class ValueReader:
    """Reads the values of one memory."""

    def __init__(self, images: Sequence[Value] = ()) -> None:
        self._images = images

    def read(self, form: Value) -> Value:
        """The value that `ValueWriter.write` wrote.

        Raises:
            UnreadableError: Nobody wrote this form.
        """
        kind = type(form)
        if kind is str or form is None or kind is int or kind is float or kind is bool:
            return form
        if kind is list:
            return [self.read(item) for item in form]
        if kind is not dict:
            raise UnreadableError(form, "plain JSON")
        if MARK in form:
            return self._read_marked(form)
        return {key: self.read(item) for key, item in form.items()}

    def _read_marked(self, form: dict[str, Value]) -> Value:
        mark = form[MARK]
        try:
            if mark == "object":
                return RecordedValue(
                    type_name=_as_text(self.read(form["type"])),
                    preview=_as_text(self.read(form["preview"])),
                    name=_as_text(self.read(form["name"])) if "name" in form else None,
                    shape=_as_text(self.read(form["shape"])) if "shape" in form else "",
                )
            if mark == "image":
                return self._images[_as_place(form["index"])]
            if mark in _READERS:
                return _READERS[mark](_as_text(form["text"]))
            if mark == "dict":
                return {self.read(key): self.read(item) for key, item in form["items"]}
            if mark in _SEQUENCES:
                return _SEQUENCES[mark](self.read(item) for item in form["items"])
        except UnreadableError:
            raise
        except Exception as error:  # whatever a form that nobody wrote makes Python's types raise
            raise UnreadableError(form, f"the form of {mark!r}") from error
        raise UnreadableError(mark, "one of the kinds of value that this version knows", f"[{MARK!r}]")


class _TooLargeError(Exception):
    """A value that holds itself, or as good as that."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A type whose values have a text that says all."""

    mark: str
    write: Callable[[Value], str | None]
    """None for the odd value of which its text does not say all."""
    read: Callable[[str], Value]


def _write_moment(value: dt.datetime | dt.time) -> str | None:
    """ISO text; None for a zone with a name or rules, and for the second of two equal hours."""
    if value.tzinfo is not None and type(value.tzinfo) is not dt.timezone:
        return None
    text = value.isoformat()
    return text if repr(type(value).fromisoformat(text)) == repr(value) else None


def _write_timedelta(value: dt.timedelta) -> str:
    return f"{value.days} {value.seconds} {value.microseconds}"


def _read_timedelta(text: str) -> dt.timedelta:
    return dt.timedelta(*map(int, text.split()))


def _write_bytes(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode("ascii")


def _read_bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


_TEXTS: dict[type, _Text] = {
    bytes: _Text("bytes", _write_bytes, _read_bytes),
    bytearray: _Text("bytearray", _write_bytes, lambda text: bytearray(_read_bytes(text))),
    complex: _Text("complex", repr, complex),
    dt.date: _Text("date", dt.date.isoformat, dt.date.fromisoformat),
    dt.time: _Text("time", _write_moment, dt.time.fromisoformat),
    dt.datetime: _Text("datetime", _write_moment, dt.datetime.fromisoformat),
    dt.timedelta: _Text("timedelta", _write_timedelta, _read_timedelta),
    decimal.Decimal: _Text("decimal", str, decimal.Decimal),
    uuid.UUID: _Text("uuid", str, uuid.UUID),
    type(pathlib.Path()): _Text("path", str, pathlib.Path),
}
_SIZED = frozenset({str, bytes, bytearray})
_READERS: dict[Value, Callable[[str], Value]] = {
    **{text.mark: text.read for text in _TEXTS.values()},
    "int": lambda text: int(text, 16),
    "float": float,
    "str": lambda text: _read_bytes(text).decode("utf-8", "surrogatepass"),
}
_SEQUENCES: dict[Value, Callable[[Iterable[Value]], Value]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
_BASES: tuple[tuple[type, Callable[[Value], Value]], ...] = (
    # By the methods of the base, which are not the person's code.
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))),
)


def _to_object(value: RecordedValue) -> dict[str, Value]:
    form = {MARK: "object", "type": write_text(value.type_name), "preview": write_text(value.preview)}
    if value.name is not None:
        form["name"] = write_text(value.name)
    if value.shape:
        form["shape"] = write_text(value.shape)
    return form


def _as_text(value: Value) -> str:
    return value if type(value) is str else _refuse(value, "text")


def _as_place(value: Value) -> int:
    return value if type(value) is int and value >= 0 else _refuse(value, "a place, counted from 0")


def _refuse(value: Value, expected: str) -> NoReturn:
    raise UnreadableError(cast("object", value), expected)
