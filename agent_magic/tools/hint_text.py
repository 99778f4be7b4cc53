"""Type hints as a person writes them: `date | None`, `list[Row]`, `Literal['a', 'b']`.

It must not evaluate anything.
"""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable
from typing import Annotated, Literal, cast

from agent_magic.core.values import Value

_LONGEST = 200


def to_hint_text(hint: Value) -> str:
    """One hint in at most 200 characters; of `Annotated` the type alone."""
    text = " ".join(_to_text(hint).split())
    return text if len(text) <= _LONGEST else "Any"


def has_choices(hint: Value) -> bool:
    """Whether the hint's text lists the values that there are."""
    return typing.get_origin(hint) is Literal or any(map(has_choices, typing.get_args(hint)))


def _to_text(hint: Value) -> str:
    match hint:
        case None | types.NoneType:
            return "None"
        case types.EllipsisType():
            return "..."
        case str():
            return hint
        case typing.ForwardRef():
            return hint.__forward_arg__
        case typing.TypeVar():
            return "Any" if hint.__bound__ is None else _to_text(hint.__bound__)
        case typing.NewType():
            return _to_text(hint.__supertype__)
        case list():  # the parameters of a Callable
            return f"[{', '.join(map(_to_text, cast('list[Value]', hint)))}]"
        case _:
            return _to_text_of_type(hint, typing.get_origin(hint), typing.get_args(hint))


def _to_text_of_type(hint: Value, origin: Value, arguments: tuple[Value, ...]) -> str:
    if origin is Annotated:
        return _to_text(arguments[0])
    if origin in (typing.Union, types.UnionType):
        members = list(dict.fromkeys(map(_to_text, arguments)))
        return " | ".join(sorted(members, key=lambda member: member == "None"))
    if origin is Literal:
        return f"Literal[{', '.join(map(_to_choice, arguments))}]"
    name = _name_of(hint if origin is None else origin)
    if not arguments or (origin is Callable and len(arguments) != 2):
        return name
    return f"{name}[{', '.join(map(_to_text, arguments))}]"


def _to_choice(choice: Value) -> str:
    return f"{type(choice).__name__}.{choice.name}" if isinstance(choice, enum.Enum) else repr(choice)


def _name_of(hint: Value) -> str:
    name = getattr(hint, "__qualname__", None) or getattr(hint, "__name__", None)
    if isinstance(name, str):
        return name.rpartition("<locals>.")[2]
    return str(hint).rpartition(".")[2]
