"""Arrays and frames: how those of numpy, pandas and polars are kept and put back in place.

It must not import any of these libraries: who has a value of one has imported it.
"""

from __future__ import annotations

import sys
from typing import Any, cast

from agent_magic.core.values import Value
from agent_magic.execution.values.restoring import MAX_ITEMS, Budget, Kind


def find_table_kind(mro: tuple[type, ...]) -> Kind | None:
    """How values of a class are kept, by the classes that it is made of; None for those of no library known."""
    for library, name, how in _TABLES:
        module = sys.modules.get(library)
        known = getattr(module, name, None) if module is not None else None
        if known is not None and any(base is known for base in mro):
            return how
    return None


# -- numpy -----------------------------------------------------------------------------------


class _ReadOnly:
    """An array too large to copy, which nobody can write to meanwhile."""


_READ_ONLY = _ReadOnly()


def _save_array(value: Value, budget: Budget) -> Value:
    numpy = sys.modules["numpy"]
    array = value.view(numpy.ndarray)
    if not array.flags.writeable:
        return None
    shape = (array.dtype, array.shape)
    if array.dtype.hasobject:
        return (
            (*shape, list(array.flat)) if array.size <= MAX_ITEMS and budget.take_items(array.size) else None
        )
    if budget.take_bytes(array.nbytes):
        return (*shape, array.tobytes())
    value.flags.writeable = False
    return _READ_ONLY


def _is_same_array(value: Value, saved: Value) -> bool:
    if saved is _READ_ONLY:
        return True
    dtype, shape, content = saved
    array = value.view(sys.modules["numpy"].ndarray)
    if array.dtype != dtype or array.shape != shape:
        return False
    if isinstance(content, list):
        return all(item is kept for item, kept in zip(array.flat, cast("list[Value]", content), strict=True))
    return bool(array.tobytes() == content)


def _restore_array(value: Value, saved: Value) -> bool:
    numpy = sys.modules["numpy"]
    dtype, shape, content = saved
    if value.dtype != dtype:
        value.dtype = dtype
    if value.shape != shape:
        numpy.ndarray.resize(value, shape, refcheck=False)
    if isinstance(content, list):
        kept = numpy.empty(len(cast("list[Value]", content)), dtype=dtype)
        for place, item in enumerate(cast("list[Value]", content)):
            kept[place] = item
    else:
        kept = numpy.frombuffer(content, dtype=dtype)
    value.view(numpy.ndarray)[...] = kept.reshape(shape)
    return True


def _release_array(value: Value, saved: Value) -> None:
    if saved is not _READ_ONLY:
        return
    # A view may be written to again only after what it looks into.
    views = [value]
    while isinstance(base := views[-1].base, sys.modules["numpy"].ndarray) and not base.flags.writeable:
        views.append(base)
    for view in reversed(views):
        try:
            view.flags.writeable = True
        except ValueError:  # it never was, being made of somebody else's memory
            continue


# -- pandas ----------------------------------------------------------------------------------


def _is_copying_on_write() -> bool:
    pandas: Any = sys.modules["pandas"]
    if int(pandas.__version__.partition(".")[0]) >= 3:
        return True
    return pandas.options.mode.copy_on_write is True if pandas.__version__ >= "2" else False


def _parts(value: Value) -> list[Value]:
    """What a frame or series is made of: other objects once it is written to."""
    manager = value._mgr
    blocks = manager.blocks
    return [
        manager,
        *(block.values for block in blocks),
        *(block.mgr_locs for block in blocks),
        *manager.axes,
        *(name for axis in manager.axes for name in axis.names),
    ]


def _save_pandas(value: Value, budget: Budget) -> Value:
    try:
        parts = _parts(value)
        if _is_copying_on_write():
            copy = value.copy(deep=False)
        else:
            size = int(sum(block.values.nbytes for block in value._mgr.blocks))
            copy = value.copy(deep=True) if budget.take_bytes(size) else None
    except Exception:  # noqa: BLE001 - private names of the library, and classes made from its own
        return None
    axes = list(value._mgr.axes)
    names = [list(axis.names) for axis in axes]
    may_repeat = value.flags.allows_duplicate_labels
    return parts, copy, getattr(value, "name", None), axes, names, may_repeat, dict(value.attrs)


def _is_same_pandas(value: Value, saved: Value) -> bool:
    parts, copy, name, *_ = saved
    now = _parts(value)
    if len(now) != len(parts) or not all(part is kept for part, kept in zip(now, parts, strict=True)):
        return False
    if value.ndim == 1 and value.name is not name:
        return False
    if value.flags.allows_duplicate_labels != saved[-2]:
        return False
    attrs, kept_attrs = value.attrs, saved[-1]
    if len(attrs) != len(kept_attrs) or not all(
        attrs.get(key, attrs) is kept for key, kept in kept_attrs.items()
    ):
        return False
    if copy is None or _is_copying_on_write():
        return True
    return bool(value.equals(copy))


def _restore_pandas(value: Value, saved: Value) -> bool:
    _, copy, name, axes, names, may_repeat, attrs = saved
    if copy is None:
        return False
    value.attrs = attrs
    value.flags.allows_duplicate_labels = may_repeat
    # The very labels that were there, so that the frame has them again by identity.
    for axis, axis_names in zip(axes, names, strict=True):
        axis.names = axis_names
    manager = copy._mgr
    manager.axes = axes
    value._mgr = manager
    if value.ndim == 1:
        object.__setattr__(value, "_name", name)
    return True


def _save_index(value: Value, budget: Budget) -> Value:
    del budget
    return list(value.names)


def _is_same_index(value: Value, saved: list[Value]) -> bool:
    return all(name is kept for name, kept in zip(value.names, saved, strict=True))


def _restore_index(value: Value, saved: list[Value]) -> bool:
    value.names = saved
    return True


# -- polars ----------------------------------------------------------------------------------


def _save_polars(value: Value, budget: Budget) -> Value:
    del budget
    return value.clone(), value._df, value.shape, value.columns, value.dtypes


def _is_same_polars(value: Value, saved: Value) -> bool:
    _, inner, shape, columns, dtypes = saved
    return value._df is inner and value.shape == shape and value.columns == columns and value.dtypes == dtypes


def _restore_polars(value: Value, saved: Value) -> bool:
    value._df = saved[0]._df
    return True


_PANDAS = Kind(save=_save_pandas, is_same=_is_same_pandas, restore=_restore_pandas, copy="{name}.copy()")
_TABLES: tuple[tuple[str, str, Kind], ...] = (
    (
        "numpy",
        "ndarray",
        Kind(
            save=_save_array,
            is_same=_is_same_array,
            restore=_restore_array,
            release=_release_array,
            copy="{name}.copy()",
        ),
    ),
    ("pandas", "DataFrame", _PANDAS),
    ("pandas", "Series", _PANDAS),
    (
        "pandas",
        "Index",
        Kind(save=_save_index, is_same=_is_same_index, restore=_restore_index, copy="{name}.copy()"),
    ),
    (
        "polars",
        "DataFrame",
        Kind(save=_save_polars, is_same=_is_same_polars, restore=_restore_polars, copy="{name}.clone()"),
    ),
)
