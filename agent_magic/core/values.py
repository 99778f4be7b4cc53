"""The person's live values in words: can JSON hold one, and what are its type, shape and looks.

It must not import the libraries whose values it describes (numpy, pandas, pillow): they are
recognised by their attributes. It never copies a value and never changes one.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import enum
import fractions
import itertools
import json
import numbers
import pathlib
import reprlib
import uuid
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from agent_magic.core.text import replace_surrogates, strip_control, truncate

Value: TypeAlias = Any
"""A live value of the person's: the one use of `Any` outside notebook code."""

MAX_DEPTH = 64
"""Containers nested deeper than this count as nothing that JSON can hold."""
_MAX_BITS = 14_285
"""Python refuses to write a whole number of more than 4,300 digits, which may have one bit more."""
_MAX_PARTS = 2_000
"""Values that a preview looks at: a list that holds itself 30 times has no end."""

_MAX_NODES = 1_000_000
"""Containers in a value that are looked into; lists that share sublists can have far more on paper."""
_TEXT = frozenset({str})
_PLAIN = frozenset({bool, int, float, str})
_CONTAINERS = frozenset({list, dict})
_JSON = frozenset({type(None), *_PLAIN, *_CONTAINERS})
_SCALARS = (
    numbers.Number,
    dt.date,
    dt.time,
    dt.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    pathlib.PurePath,
    enum.Enum,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A value in words, for a model or a person."""

    type_name: str
    """`DataFrame`, `list`, `function`, …"""
    shape: str
    """`344 rows × 8 columns`, `(3, 2) uint8`, `12 items`; empty if it has none."""
    preview: str
    """A few lines of it, at most the length that was asked for."""

    def __str__(self) -> str:
        head = f"{self.type_name}, {self.shape}" if self.shape else self.type_name
        if not self.preview:
            return head
        return f"{head}\n{self.preview}" if "\n" in self.preview else f"{head}: {self.preview}"


_endless: weakref.WeakSet[type] = weakref.WeakSet()


def note_endless(kind: type) -> None:
    """From now on no value of this class is asked for its `repr`: it did not end within its time."""
    with contextlib.suppress(TypeError):  # a metaclass may forbid hashing
        _endless.add(kind)


def is_endless(value: Value) -> bool:
    """Whether the value's `repr` is known not to end."""
    try:
        return bool(_endless) and type(value) in _endless
    except TypeError:
        return False


def is_json(value: Value) -> bool:
    """Whether JSON can hold the value with nothing lost: None, bool, int, float, str, list, dict."""
    if type(value) not in _CONTAINERS:
        return value is None or (type(value) in _PLAIN and not _is_too_long(value))
    # Level by level, each as a whole: results have a million parts, and calls of Python for each cost more
    # than all of their text. What holds itself ends at the depth or the number.
    level, n_left = [value], _MAX_NODES
    for _ in range(MAX_DEPTH):
        n_left -= len(level)
        dicts = [one for one in level if type(one) is dict]
        if n_left < 0 or not set(map(type, itertools.chain.from_iterable(dicts))) <= _TEXT:
            return False
        lists = [one for one in level if type(one) is list]
        kinds = set(map(type, _parts(dicts, lists)))
        if not kinds <= _JSON:
            return False
        if int in kinds and any(
            part.bit_length() > _MAX_BITS for part in _parts(dicts, lists) if type(part) is int
        ):
            return False
        if kinds.isdisjoint(_CONTAINERS):
            return True
        below = (part for part in _parts(dicts, lists) if type(part) in _CONTAINERS)
        level = list(itertools.islice(below, n_left + 1))
    return False


def is_text_like(value: Value) -> bool:
    """Whether a result is told to a model whole, as text: JSON, tuples of it, and single values.

    Single values are those whose `str` says all: numbers of any library, dates, decimals, paths,
    enum members.
    """
    if isinstance(value, tuple):
        return all(is_text_like(item) for item in cast("tuple[Value, ...]", value))
    return is_json(value) or (isinstance(value, _SCALARS) and not _is_too_long(value))


def to_text(value: Value) -> str:
    """What a model reads of a text-like result: strings as they are, the rest as JSON."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if value is None:
        return "None"
    try:
        if isinstance(value, enum.Enum):
            return str(value.value)
        if isinstance(value, _SCALARS) and value is not True and value is not False:
            return str(value)
        return replace_surrogates(json.dumps(value, ensure_ascii=False, default=_json_default))
    except Exception:  # noqa: BLE001 - a value's `__str__` is the person's code and may raise anything
        return safe_repr(value)


def safe_repr(value: Value, max_chars: int = 2_000) -> str:
    """A bounded `repr` that cannot fail: one that raises is told as such."""
    try:
        text = _tell_endless(value) if is_endless(value) else _BoundedRepr().repr(value)
    except Exception as error:  # noqa: BLE001 - the repr is the person's code and may raise anything
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    return truncate(strip_control(text), max(max_chars, 80))


def describe(value: Value, max_chars: int = 600) -> Description:
    """A value's type, shape and a short preview.

    Args:
        max_chars: Length of the preview in characters, at least 80; 0 for none.
    """
    if is_endless(value):
        return Description(type_name=type(value).__name__, shape="", preview=_tell_endless(value))
    preview = truncate(strip_control(_preview(value), is_screen=False), max_chars) if max_chars else ""
    return Description(type_name=type(value).__name__, shape=_shape(value), preview=preview)


def _parts(dicts: Iterable[dict[Value, Value]], lists: Iterable[list[Value]]) -> Iterator[Value]:
    return itertools.chain(
        itertools.chain.from_iterable(map(dict.values, dicts)), itertools.chain.from_iterable(lists)
    )


def _is_too_long(value: Value) -> bool:
    return isinstance(value, int) and value.bit_length() > _MAX_BITS


def _json_default(value: Value) -> Value:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, _SCALARS):
        return str(value)
    raise TypeError(type(value).__name__)


def _shape(value: Value) -> str:
    try:
        if _is_frame(value):
            rows, columns = value.shape
            return f"{_count(rows, 'row')} × {_count(columns, 'column')}"
        shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
        if isinstance(shape, tuple) and dtype is not None:
            return f"{shape} {dtype}"
        size, mode = getattr(value, "size", None), getattr(value, "mode", None)
        if isinstance(size, tuple) and isinstance(mode, str):
            width, height = cast("tuple[int, int]", size)
            return f"{width} × {height} pixels, mode {mode}"
        if isinstance(value, str | bytes):
            return _count(len(value), "character" if isinstance(value, str) else "byte")
        if isinstance(value, list | tuple | set | frozenset | Mapping):
            return _count(len(cast("list[Value]", value)), "item")
    except Exception:  # noqa: BLE001 - attributes of foreign objects may raise anything
        return ""
    return ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _preview(value: Value) -> str:
    try:
        if _is_frame(value):
            dtypes = ", ".join(f"{name}: {dtype}" for name, dtype in list(value.dtypes.items())[:40])
            return f"columns {dtypes}\n{value.head(5).to_string(max_cols=12, max_colwidth=40)}"
        if isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "head"):
            return value.head(5).to_string()
        if isinstance(getattr(value, "size", None), tuple) and isinstance(getattr(value, "mode", None), str):
            return ""  # an image: its repr holds nothing but an address
    except Exception as error:  # noqa: BLE001 - a foreign object's own methods may raise anything
        return f"<no preview: {type(error).__name__}>"
    return safe_repr(value)


def _is_frame(value: Value) -> bool:
    return hasattr(value, "columns") and hasattr(value, "dtypes") and hasattr(value, "head")


class _BoundedRepr(reprlib.Repr):
    """`reprlib` with room for data, for one value: it stops early inside huge containers."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 6
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 30
        self.maxstring = self.maxlong = 400
        self.maxother = 2_000
        self._n_left = _MAX_PARTS

    def repr1(self, x: Value, level: int) -> str:
        self._n_left -= 1
        return super().repr1(x, level) if self._n_left >= 0 else self.fillvalue

    def repr_int(self, x: int, level: int) -> str:
        if _is_too_long(x):
            return f"<int of about {x.bit_length() * 0.30103:,.0f} digits>"
        return super().repr_int(x, level)

    def repr_dict(self, x: dict[Value, Value], level: int) -> str:
        """In the dictionary's own order; `reprlib` sorts all of it."""
        if x and level <= 0:
            return f"{{{self.fillvalue}}}"
        items = itertools.islice(x.items(), self.maxdict)
        parts = [f"{self.repr1(key, level - 1)}: {self.repr1(item, level - 1)}" for key, item in items]
        return "{" + ", ".join(parts + [self.fillvalue] * (len(x) > self.maxdict)) + "}"

    def repr_instance(self, x: Value, level: int) -> str:
        """`reprlib` hides that a repr raised."""
        del level
        if is_endless(x):
            return _tell_endless(x)
        try:
            return truncate(repr(x), self.maxother)
        except Exception as error:  # noqa: BLE001 - as in `safe_repr`
            return f"<{type(x).__name__} whose repr raised {type(error).__name__}>"
        except BaseException as stop:  # of a time limit; it is raised again
            if getattr(stop, "is_time_limit", False):  # wherever in a container it stands
                note_endless(type(x))
            raise


def _tell_endless(value: Value) -> str:
    return f"<{type(value).__name__} whose repr does not end>"
