"""The declared type of an agent's answer: can a model be told what it is.

It must not read answers.
"""

from __future__ import annotations

import dataclasses
import enum
import typing
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Literal, cast

from pydantic import BaseModel

from agent_magic.core.errors import OptionError
from agent_magic.core.values import Value, safe_repr
from agent_magic.tools.hints import LIVE, build_hint_schema

_LONGEST_SHOWN = 120
_WITH_PARTS = (list, dict, tuple, set, frozenset, typing.Union, UnionType, Annotated, Literal)


def check_answer_type(answer_type: Value) -> None:
    """Raise an `OptionError` for what no model could be told as the type of an answer."""
    fault = _fault(answer_type)
    if fault:
        raise OptionError(
            f"answer_type={_shown(answer_type)} cannot be described to a model: {fault}.\n"
            "Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model."
        )


def _fault(hint: Value) -> str:
    """Why a hint, or a part of it, is no type that can be described; empty if it is one."""
    if hint is None or hint is typing.Any or _stands_for_type(hint):
        return ""
    if isinstance(hint, str | typing.ForwardRef):
        name = hint if isinstance(hint, str) else hint.__forward_arg__
        return f"{safe_repr(name, _LONGEST_SHOWN)} is text; a type is written without quotes"
    origin: Value = typing.get_origin(hint)
    if isinstance(origin, type) or origin in (typing.Union, Annotated, Literal) or _stands_for_type(origin):
        return _fault_of_parts(hint, origin, typing.get_args(hint))
    if not isinstance(hint, type):
        return f"{_shown(hint)} is of type {type(hint).__name__} and is no type itself"
    if issubclass(hint, enum.Enum) and not hint.__members__:
        return f"the Enum {hint.__name__} has no members"
    if _has_fields(hint) and build_hint_schema(hint).adapter is None:
        return f"the types of the fields of {hint.__name__} cannot be read"
    return ""


def _fault_of_parts(hint: Value, origin: Value, arguments: tuple[Value, ...]) -> str:
    if origin is Annotated:
        arguments = arguments[:1]
    elif origin is Literal or origin is Callable:
        arguments = ()
    elif origin not in (typing.Union, UnionType):
        arguments = (origin, *(part for part in arguments if part is not ...))
    if inner := next(filter(None, map(_fault, arguments)), ""):
        return inner
    if origin is dict and not _is_key(arguments[1]):
        return f"JSON cannot hold keys of type {_shown(arguments[1])}"
    if origin in _WITH_PARTS and build_hint_schema(hint).adapter is None:
        return f"{_shown(hint)} holds what cannot be read as a type"
    return ""


def _stands_for_type(hint: Value) -> bool:
    """Whether it is a name for a type: a type variable, a `NewType`, an alias made by `type X = …`."""
    return isinstance(hint, typing.TypeVar | typing.NewType) or hasattr(hint, "__value__")


def _is_key(hint: Value) -> bool:
    """Whether JSON can hold it as an object's key: not what goes by reference, nor a container."""
    schema = build_hint_schema(hint).schema
    return LIVE not in schema and schema.get("type") not in ("array", "object")


def _has_fields(cls: type) -> bool:
    return dataclasses.is_dataclass(cls) or typing.is_typeddict(cls) or issubclass(cls, BaseModel)


def _shown(hint: Value) -> str:
    """`float`, `list[str]`; of what is no type, its name or its repr."""
    name = cast("Value", getattr(hint, "__name__", None))
    if isinstance(name, str) and typing.get_origin(hint) is None:
        return name
    return safe_repr(hint, _LONGEST_SHOWN)
