"""Names in words: of types and dtypes, of columns and keys, and which of those came and went.

It must not run the code of a label's class, unless that comes from a library it knows.
"""

from __future__ import annotations

import datetime as dt
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

from agent_magic.core.values import Value

LIBRARIES = frozenset({"numpy", "pandas", "PIL", "polars", "torch"})
"""Packages whose own code may be run to learn a shape, a dtype or a label's text."""
_MAX_LISTED = 10
_MAX_CHARS = 40
_MAX_BITS = 100
# By id, as a metaclass may forbid hashing.
_PLAIN = frozenset(map(id, (bool, bytes, float, int, types.NoneType, dt.date, dt.datetime)))

_Label: TypeAlias = tuple[str, Any, int]
"""As it is shown, what tells it from others, and how many equal ones stand before it."""


# `type`'s own descriptors: a metaclass, or a class's `__getattr__`, has no say in what they give.
_name_of: Callable[[type], str] = type.__dict__["__name__"].__get__
_module_of: Callable[[type], Value] = type.__dict__["__module__"].__get__


def type_name(kind: type) -> str:
    """The bare name of a type; quoted and cut if it is an odd one."""
    return _quote(_name_of(kind))


def root_of(kind: type) -> str:
    """The package that a type says it is from; empty if it says nothing."""
    try:
        module = _module_of(kind)
    except AttributeError:  # `del C.__module__`
        return ""
    return module.partition(".")[0] if type(module) is str else ""


def is_at_home(kind: type, module_name: str) -> bool:
    """Whether the module that is loaded under this name has the type: a name alone can be borrowed."""
    module = sys.modules.get(module_name)
    return type(module) is types.ModuleType and vars(module).get(_name_of(kind)) is kind


def dtype_name(dtype: Value) -> str:
    """`float64`, `category`, …; of a dtype of the person's making the name of its class."""
    kind = cast("type[Value]", type(dtype))
    return _cut(str(dtype)) if root_of(kind) in LIBRARIES else type_name(kind)


def compare_labels(noun: str, old: Iterable[Value], new: Iterable[Value]) -> str:
    """`columns + a, b, − c`; empty if both have the same labels, which may be repeated, in one order."""
    before, after = _number(old), _number(new)
    had, has = set(before), set(after)
    added = [label[0] for label in after if label not in had]
    removed = [label[0] for label in before if label not in has]
    signs = [f"{sign} {_listed(labels)}" for sign, labels in (("+", added), ("−", removed)) if labels]
    if signs:
        return f"{noun} {', '.join(signs)}"
    return f"{noun} in another order" if before != after else ""


def compare_dtypes(
    old: tuple[Iterable[Value], Sequence[Value]], new: tuple[Iterable[Value], Sequence[Value]]
) -> str:
    """`dtype of n int64 → float64`, for labels that both have; each side is labels and their dtypes."""
    before = dict(zip(_number(old[0]), old[1], strict=False))
    changed: list[str] = []
    for label, dtype in zip(_number(new[0]), new[1], strict=False):
        was = before.get(label, dtype)
        if was is not dtype and (text := dtype_name(was)) != (text_now := dtype_name(dtype)):
            changed.append(f"{label[0]} {text} → {text_now}")
    return f"dtype{'s' if len(changed) > 1 else ''} of {_listed(changed)}" if changed else ""


def _number(labels: Iterable[Value]) -> list[_Label]:
    seen: dict[Any, int] = {}
    numbered: list[_Label] = []
    for label in labels:
        text, identity = _to_label(label)
        seen[identity] = place = seen.get(identity, -1) + 1
        numbered.append((text, identity, place))
    return numbered


def _to_label(label: Value) -> tuple[str, Any]:
    """A label as it is shown, and what tells it from others; of the person's classes only the name."""
    kind = cast("type[Value]", type(label))
    if kind is str:
        return _quote(label), label
    if kind is tuple:
        parts = [_to_label(part) for part in label]
        return f"({', '.join(text for text, _ in parts)})", tuple(identity for _, identity in parts)
    is_plain = id(kind) in _PLAIN and not (kind is int and label.bit_length() > _MAX_BITS)
    if is_plain or ((root := root_of(kind)) in LIBRARIES and is_at_home(kind, root)):
        text = str(label)
        return _cut(text), (id(kind), text)
    return f"<{type_name(kind)}>", (id(kind), id(label))


def _quote(text: str) -> str:
    is_plain = text.isprintable() and text.strip() == text != "" and not set(",;→") & set(text)
    return _cut(text) if is_plain else repr(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


def _listed(texts: list[str]) -> str:
    more = f" and {len(texts) - _MAX_LISTED} more" if len(texts) > _MAX_LISTED else ""
    return ", ".join(texts[:_MAX_LISTED]) + more
