"""Whether a callable still is what its schema was made from: code, docstring, defaults, annotations.

It must not build a schema; comparing costs a few identity checks.
"""

from __future__ import annotations

import functools
import operator
import re
import types
from collections.abc import Callable, Iterator
from typing import cast

from agent_magic.core.values import Value
from agent_magic.tools.hints import classes_in, newest

OPTIONS = "__agent_tool__"
"""The attribute in which `@tool` leaves what its author said."""
_NAME = re.compile(r"[^\W\d]\w*")
_LONGEST_CHAIN = 50
_PLAIN_HINTS = frozenset(map(id, (str, int, float, bool, list, dict, tuple, set, object, None)))
"""By identity: classes of the person's may be equal to anything."""


class Fingerprint:
    """The parts of a callable that its schema depends on, held by identity."""

    def __init__(self, function: Callable[..., Value]) -> None:
        self._parts = list(_parts(function))
        self._plain = _plain_parts(function)

    def matches(self, function: Callable[..., Value]) -> bool:
        """Whether `function` has the very same parts now."""
        # Most tools are plain functions, and every step of a run asks this of each.
        if self._plain is not None and (plain := _plain_parts(function)) is not None:
            return all(map(operator.is_, plain, self._plain)) and len(plain) == len(self._plain)
        parts = list(_parts(function))
        return len(parts) == len(self._parts) and all(a is b for a, b in zip(parts, self._parts, strict=True))


def _plain_parts(function: Value) -> tuple[Value, ...] | None:
    """The parts of a function that wraps nothing and whose hints are built-in classes; None for others."""
    if (
        type(function) is not types.FunctionType
        or function.__kwdefaults__
        or "__wrapped__" in function.__dict__
    ):
        return None
    try:
        hints = function.__annotations__.values()
    except NameError:  # evaluated late (Python 3.14) and not complete yet
        return None
    if not _PLAIN_HINTS.issuperset(map(id, hints)):
        return None
    options = function.__dict__.get(OPTIONS)
    return (function, function.__code__, function.__doc__, function.__defaults__, options, *hints)


def _parts(function: Value) -> Iterator[Value]:
    for _ in range(_LONGEST_CHAIN):
        if isinstance(function, functools.partial):
            partial = cast("functools.partial[Value]", function)
            yield from (
                *partial.args,
                *partial.keywords,
                *partial.keywords.values(),
                partial.__dict__.get(OPTIONS),
            )
            function = partial.func
        elif isinstance(function, types.MethodType):
            yield function.__self__
            function = function.__func__
        else:
            yield function
            if isinstance(function, types.FunctionType):
                yield from _function_parts(function)
            elif isinstance(function, type):
                yield from _class_parts(function)
            elif not isinstance(function, types.BuiltinFunctionType):
                yield from _class_parts(type(function))
            function = getattr(function, "__wrapped__", None)
            if function is None:
                return


def _function_parts(function: types.FunctionType) -> Iterator[Value]:
    yield function.__code__
    yield function.__doc__
    yield function.__defaults__
    yield function.__dict__.get(OPTIONS)
    for name, value in (function.__kwdefaults__ or {}).items():
        yield from (name, value)
    try:
        annotations = function.__annotations__
    except NameError:  # evaluated late (Python 3.14) and not complete yet
        return
    for hint in annotations.values():
        yield hint
        if isinstance(hint, str):
            yield from (function.__globals__.get(name) for name in _NAME.findall(hint))
        else:
            yield from map(newest, sorted(classes_in(hint), key=id))


def _class_parts(cls: type) -> Iterator[Value]:
    yield cls.__doc__
    for name in ("__init__", "__call__"):
        method = getattr(cls, name, None)
        if isinstance(method, types.FunctionType):
            yield from _function_parts(method)
