"""Live values that code gives, in the plain form that a schema speaks of: numpy's numbers, tuples, sets, views.

It must not check anything: what has no plain form at its place stays as it is.
"""

from __future__ import annotations

import enum
import numbers
from collections import deque
from collections.abc import Iterable, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from typing import cast

from agent_magic.core.values import MAX_DEPTH, Value
from agent_magic.tools.places import Place

_PLAIN = (str, int, float, bool, type(None))
_NUMPY_BOOLS = ("bool", "bool_")


def to_plain(value: Value, place: Place, depth: int = MAX_DEPTH) -> Value:
    """The value in a form that JSON Schema can be asked about; itself where nothing has to change.

    A generator stays one: it could be read once only, and might have no end.
    """
    kind = cast("type[Value]", type(value))
    if kind in _PLAIN or depth == 0:
        return value
    if isinstance(value, numbers.Real) and not isinstance(value, bool | enum.Enum):
        return _to_number(value, place)
    if not place.is_any and kind.__module__ == "numpy" and kind.__name__ in _NUMPY_BOOLS:
        return bool(value)
    if place.takes_array and isinstance(value, list | tuple | AbstractSet | deque | range | ValuesView):
        items = list(cast("Iterable[Value]", value))
        plain = [to_plain(item, place.child(at), depth - 1) for at, item in enumerate(items)]
        is_same = kind is list and all(map(_is, plain, items))
        return value if is_same else plain
    if place.takes_object and isinstance(value, Mapping):
        pairs = cast("Mapping[Value, Value]", value)
        read = {key: to_plain(item, place.child(str(key)), depth - 1) for key, item in pairs.items()}
        is_same = kind is dict and all(map(_is, read.values(), pairs.values()))
        return value if is_same else read
    return value


def _to_number(value: numbers.Real, place: Place) -> Value:
    if place.takes_integer and isinstance(value, numbers.Integral):
        return int(value)
    if place.takes_number:
        return float(value)
    return value


def _is(one: Value, other: Value) -> bool:
    return one is other
