"""Marks: what can be told of a live value without running its owner's code, to be compared later.

It must not evaluate a property, `__eq__`, `__len__` or `repr` of a class that it does not know, nor
import the libraries whose frames and arrays it recognises.
"""

from __future__ import annotations

import array
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent_magic.core.labels import (
    LIBRARIES,
    compare_dtypes,
    compare_labels,
    dtype_name,
    is_at_home,
    root_of,
    type_name,
)
from agent_magic.core.values import Value, _count

MAX_KEYS = 50
"""Keys of a dictionary that are compared; of a larger one only the length is."""
MAX_COLUMNS = 200
"""Columns of a frame that are compared by name, and whose dtypes are."""


@dataclass(frozen=True, slots=True)
class _Family:
    describe: Callable[[Mark], str]
    """The shape in words; empty if there is none."""
    compare: Callable[[Mark, Mark], Iterable[str]]
    """What differs between two marks of this family and one type; empty texts count for nothing."""


Mark: TypeAlias = tuple[type[Value], _Family, Any, Any]
"""A value's type, its family, facts that `==` may compare (numbers, ids, texts), and what they stand for."""
Reader: TypeAlias = Callable[[Value, type[Value]], Mark]

_OPAQUE = _Family(lambda _mark: "", lambda _old, _new: ())


def read_opaque(value: Value, kind: type[Value]) -> Mark:
    """Nothing but the type."""
    del value
    return kind, _OPAQUE, None, None


def _sized(length: Callable[[Any], int], noun: str = "item") -> Reader:
    """A reader of the length, by the built-in type's own `__len__`."""
    family = _Family(
        lambda mark: _count(mark[2], noun),
        lambda old, new: [_arrow(old[2], new[2], noun)],
    )
    return lambda value, kind: (kind, family, length(value), None)


_DICT = _Family(
    lambda mark: _count(mark[2][0], "item"),
    lambda old, new: [_arrow(old[2][0], new[2][0], "item"), _compare_keys(old[3], new[3])],
)


def _read_dict(value: dict[Value, Value], kind: type[Value]) -> Mark:
    n_keys = dict.__len__(value)
    keys = tuple(dict.keys(value)) if n_keys <= MAX_KEYS else None
    return kind, _DICT, (n_keys, *map(id, keys or ())), keys  # by id: a key's `__eq__` may be the person's


def _compare_keys(old: tuple[Value, ...] | None, new: tuple[Value, ...] | None) -> str:
    if old is None or new is None:
        return ""
    detail = compare_labels("keys", old, new)
    return "" if detail == "keys in another order" else detail


_ARRAY = _Family(
    lambda mark: f"{mark[2][0]} {dtype_name(mark[3])}",
    lambda old, new: [
        f"shape {old[2][0]} → {new[2][0]}" if old[2][0] != new[2][0] else "",
        f"dtype {was} → {now}" if (was := dtype_name(old[3])) != (now := dtype_name(new[3])) else "",
    ],
)


def _read_array(value: Value, kind: type[Value]) -> Mark:
    dtype = value.dtype
    return kind, _ARRAY, (tuple(value.shape), id(dtype)), dtype


_IMAGE = _Family(
    lambda mark: f"{_pixels(mark)}, mode {mark[2][1]}",
    lambda old, new: [
        f"{_pixels(old)} → {_pixels(new)}" if old[2][0] != new[2][0] else "",
        f"mode {old[2][1]} → {new[2][1]}" if old[2][1] != new[2][1] else "",
    ],
)


def _read_image(value: Value, kind: type[Value]) -> Mark:
    return kind, _IMAGE, (value.size, value.mode), None


def _read_frame(value: Value, kind: type[Value]) -> Mark:
    """Of a pandas frame.

    `columns` gives one unchangeable object for as long as nobody sets columns, so its id stands for all
    labels. For dtypes there is no such thing: `dtypes` makes a Series, 14 µs, nearly all that a frame
    costs here, and is the one public way to them that does not go column by column.
    """
    columns = value.columns
    dtypes = value.dtypes.values[:MAX_COLUMNS].tolist()
    return kind, _FRAME, (len(value.index), len(columns), id(columns), *map(id, dtypes)), (columns, dtypes)


def _read_frame_subclass(value: Value, kind: type[Value]) -> Mark:
    """Of a frame whose class makes its own Series, which `dtypes` would call: without dtypes."""
    columns = value.columns
    return kind, _FRAME, (len(value.index), len(columns), id(columns)), (columns, None)


def _read_polars_frame(value: Value, kind: type[Value]) -> Mark:
    n_rows, n_columns = value.shape
    columns, dtypes = value.columns, value.dtypes[:MAX_COLUMNS]
    return kind, _FRAME, (n_rows, n_columns, tuple(columns), tuple(map(str, dtypes))), (columns, dtypes)


def _compare_frames(old: Mark, new: Mark) -> Iterable[str]:
    (n_rows, n_columns, *_), (n_rows_now, n_columns_now, *_) = old[2], new[2]
    (columns, dtypes), (columns_now, dtypes_now) = old[3], new[3]
    if max(n_columns, n_columns_now) > MAX_COLUMNS:
        yield _arrow(n_columns, n_columns_now, "column")
    elif columns is not columns_now:
        yield compare_labels("columns", columns, columns_now)
    if dtypes is not None and dtypes_now is not None:
        yield compare_dtypes((columns[:MAX_COLUMNS], dtypes), (columns_now[:MAX_COLUMNS], dtypes_now))
    yield _arrow(n_rows, n_rows_now, "row")


# Below what it names, and read only when a frame is.
_FRAME = _Family(
    lambda mark: f"{_count(mark[2][0], 'row')} × {_count(mark[2][1], 'column')}", _compare_frames
)


def read_unchanging(value: Value) -> Mark:
    """The mark of a value for whose type `readers` has None."""
    kind = type(value)
    return _UNCHANGING.get(id(kind), read_opaque)(value, kind)


def to_detail(old: Mark, new: Mark) -> str:
    """What differs inside, of values of one type; empty if nothing does."""
    is_alike = old[0] is new[0] and old[1] is new[1]
    return "; ".join(part for part in old[1].compare(old, new) if part) if is_alike else ""


def to_words(mark: Mark) -> str:
    """`DataFrame, 3 rows × 2 columns`."""
    shape = mark[1].describe(mark)
    return f"{type_name(mark[0])}, {shape}" if shape else type_name(mark[0])


def _arrow(old: int, new: int, noun: str) -> str:
    return f"{old:,} → {_count(new, noun)}" if old != new else ""


def _pixels(mark: Mark) -> str:
    width, height = mark[2][0]
    return f"{width} × {height} pixels"


# `type`'s own descriptors: a metaclass, or a class's `__getattr__`, has no say in what they give.
_mro_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_dict_of: Callable[[type], Mapping[str, Value]] = type.__dict__["__dict__"].__get__
_flags_of: Callable[[type], int] = type.__dict__["__flags__"].__get__
_HEAP_TYPE = 1 << 9

_BUILTIN: tuple[tuple[type, Reader], ...] = (
    (list, _sized(list.__len__)),
    (dict, _read_dict),
    (set, _sized(set.__len__)),
    (bytearray, _sized(bytearray.__len__, "byte")),
    (deque, _sized(deque.__len__)),
    (array.array, _sized(array.array.__len__)),
    (tuple, _sized(tuple.__len__)),
    (frozenset, _sized(frozenset.__len__)),
    (str, _sized(str.__len__, "character")),
    (bytes, _sized(bytes.__len__, "byte")),
)
_BY_BASE = {id(kind): read for kind, read in _BUILTIN}
_UNCHANGING = {id(kind): read for kind, read in _BUILTIN[-4:]}

_FRAME_NAMES = ("shape", "columns", "index", "dtypes", "__getattr__", "__getattribute__")
_ARRAY_NAMES = ("shape", "dtype", "__getattribute__")
_LIBRARY: dict[tuple[str, str], tuple[str, Reader, tuple[str, ...]]] = {
    ("pandas", "DataFrame"): ("pandas", _read_frame, _FRAME_NAMES),
    ("pandas", "Series"): ("pandas", _read_array, (*_ARRAY_NAMES, "__getattr__")),
    ("pandas", "Index"): ("pandas", _read_array, _ARRAY_NAMES),
    ("polars", "DataFrame"): ("polars", _read_polars_frame, _FRAME_NAMES),
    ("polars", "Series"): ("polars", _read_array, _ARRAY_NAMES),
    ("numpy", "ndarray"): ("numpy", _read_array, _ARRAY_NAMES),
    ("torch", "Tensor"): ("torch", _read_array, (*_ARRAY_NAMES, "__torch_function__")),
    ("PIL", "Image"): ("PIL.Image", _read_image, ("size", "mode", "__getattr__", "__getattribute__")),
}
"""By package and class: the module that has it, its reader, and the names that this reader uses.

A class of the person's that gives one of these names another meaning is opaque.
"""

_NO_ENTRY: tuple[str, Reader, tuple[str, ...]] = ("", read_opaque, ())

# Ids, as a metaclass may forbid hashing.
readers: dict[int, Reader | None] = {id(kind): read for kind, read in _BUILTIN[:-4]}
"""By id of type, how its values are read; None: they cannot change in a way seen here. See `learn`."""
readers |= dict.fromkeys(_UNCHANGING)
readers |= {id(kind): None for kind in (type, types.ModuleType)}
_watches: dict[int, Value] = {}


def learn(kind: type) -> Reader | None:
    """The reader of a type met for the first time; forgotten when the type goes."""
    read = _find_reader(kind)
    if read is read_opaque and not _flags_of(kind) & _HEAP_TYPE:
        read = None  # `__class__` of such values cannot be assigned
    key = id(kind)

    # Bound here: at the interpreter's end the module's names go before the types do.
    def forget(
        _watch: Value, known: dict[int, Reader | None] = readers, watches: dict[int, Value] = _watches
    ) -> None:
        known.pop(key, None)
        watches.pop(key, None)

    _watches[key] = weakref.ref(kind, forget)
    readers[key] = read
    return read


def _find_reader(kind: type) -> Reader:
    mro = _mro_of(kind)
    for place, base in enumerate(mro):
        if (read := _BY_BASE.get(id(base))) is not None:
            return read
        home, read, used = _LIBRARY.get((root_of(base), type_name(base)), _NO_ENTRY)
        if not is_at_home(base, home):
            continue
        foreign = [_dict_of(above) for above in mro[:place] if root_of(above) not in LIBRARIES]
        if any(name in names for names in foreign for name in used):
            return read_opaque
        if read is _read_frame and any("_constructor_sliced" in names for names in foreign):
            return _read_frame_subclass
        return read
    return read_opaque
