"""What is weak about a callable as a tool, in words for its author, each with the fix.

It must not refuse anything: what cannot be a tool is an error of the reading.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import cast

from agent_magic.core.values import Value
from agent_magic.tools.hint_text import to_hint_text
from agent_magic.tools.parameter import MISSING, Parameter
from agent_magic.tools.wording import to_bounded

_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
_SCALARS = (str, int, float, bool)
_ROWS = (list, tuple, set, frozenset)
_MOST_CHOICES = 8
_NONE_OF_PARAMETERS = (None, typing.ClassVar, typing.Final, typing.Required, typing.NotRequired)
"""What a hint that is no type is made of, if of anything: what says something of an attribute or a key."""


def starred_names(raw: Iterable[inspect.Parameter]) -> list[str]:
    """The parameters that take any number of values, as they are written: `*parts`, `**options`."""
    return [_STARS[parameter.kind] + parameter.name for parameter in raw if parameter.kind in _STARS]


def star_points(name: str, starred: Sequence[str], *, is_all: bool, is_own: bool) -> list[str]:
    """That a model cannot fill `*args` and `**kwargs`.

    Args:
        name: The tool.
        starred: Its parameters with stars.
        is_all: There are no other parameters.
        is_own: The author can change the function.
    """
    if not (is_all and starred):
        return [
            f"Tool {name!r}: parameter {parameter!r} is not offered to the model. "
            f"Give each value that it needs a parameter of its own"
            for parameter in starred
        ]
    given = "a=a, b=b" if starred[0].startswith("**") else "a, b"
    fix = (
        "Give each value that it needs a parameter of its own"
        if is_own
        else f"Wrap it in a function with named parameters, e.g.  def my_{name}(a: int, b: int): return {name}({given})"
    )
    verb = "is" if len(starred) == 1 else "are"
    return [
        f"Tool {name!r}: no argument can be given, as {_listed(starred)} {verb} not offered to the model. {fix}"
    ]


def library_point(name: str, library: str, starred: Sequence[str]) -> str:
    """One line for a function that the author did not write and so cannot better."""
    without = f", without {_listed(starred)}" if starred else ""
    return f"Tool {name!r} comes from {library} as it is{without}; a wrapper with hints and a docstring would be understood better"


def weak_points(
    name: str,
    text: str,
    parameters: Iterable[Parameter],
    described: Iterable[str],
    raw: Mapping[str, inspect.Parameter],
) -> list[str]:
    """A line for each thing that a model is not told.

    Args:
        name: The tool.
        text: Its description.
        parameters: Those that a model may give.
        described: The names that the docstring speaks of.
        raw: All of the function's parameters.
    """
    warnings: list[str] = []
    if not text:
        warnings.append(
            f"Tool {name!r} has no description. Give it a docstring whose first line says what it returns and when to use it"
        )
    for parameter in parameters:
        if parameter.hint is MISSING:
            warnings.append(
                f"Tool {name!r}: parameter {parameter.name!r} has no type hint, so any value is taken. "
                f"Add one to its signature, e.g.  {parameter.name}: str"
            )
        if text and not _is_described(parameter):
            warnings.append(
                f"Tool {name!r}: parameter {parameter.name!r} has no description. "
                f"Add to its docstring:  {parameter.name}: what it means"
            )
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in raw.values())
    return warnings if takes_any else [*warnings, *_unknown_names(name, described, raw)]


def type_points(name: str, parameters: Iterable[Parameter]) -> list[str]:
    """That a hint is no type, or holds what is none."""
    points: list[str] = []
    for parameter in parameters:
        hint, key = parameter.hint, parameter.name
        if not parameter.hint_schema.holds_no_type:
            continue
        if isinstance(hint, type) or typing.get_origin(hint) not in _NONE_OF_PARAMETERS:
            points.append(
                f"Tool {name!r}: the hint {to_hint_text(hint)} of parameter {key!r} holds what is no type, "
                f"so any value is taken there. Write types only, e.g.  list[int]"
            )
            continue
        meant = _type_meant(hint)
        fix = f"Write  {key}: {meant}" if meant else f"Write the type of its values, e.g.  {key}: str"
        points.append(
            f"Tool {name!r}: the hint {to_bounded(_shown(hint))} of parameter {key!r} is no type, so any value is taken. {fix}"
        )
    return points


def _type_meant(hint: Value) -> str:
    """The type that was likely meant by a value in its place; empty if there is no telling."""
    if hint is any:
        return "Any"
    if hint is callable:
        return "Callable"
    if typing.get_origin(hint):
        return to_hint_text(typing.get_args(hint)[0])
    if isinstance(hint, dict):
        sides = cast("dict[Value, Value]", hint)
        return (
            f"dict[{_names_of_types(list(sides)) or 'str'}, {_names_of_types(list(sides.values())) or 'int'}]"
        )
    if isinstance(hint, _ROWS):
        items = list(cast("Iterable[Value]", hint))
        if items and len(items) <= _MOST_CHOICES and all(type(item) in (str, int, bool) for item in items):
            return f"Literal[{', '.join(map(repr, items))}]"
        inner = _names_of_types(items) or "int"
        return inner if isinstance(hint, tuple) else f"{type(cast('Value', hint)).__name__}[{inner}]"
    return type(hint).__name__ if type(hint) in _SCALARS else ""


def _names_of_types(items: Sequence[Value]) -> str:
    """`int | str`; empty if one of them is no type."""
    are_types = all(isinstance(item, type) or typing.get_origin(item) for item in items)
    return " | ".join(dict.fromkeys(map(_shown, items))) if are_types else ""


def _shown(hint: Value) -> str:
    """A value in place of a type, as it was written: `(int, str)` for what `repr` gives as `(<class 'int'>, …)`."""
    match hint:
        case dict():
            pairs = cast("dict[Value, Value]", hint).items()
            return f"{{{', '.join(f'{_shown(key)}: {_shown(value)}' for key, value in pairs)}}}"
        case list() | tuple() | set() | frozenset():
            opened, closed = (
                ("[", "]") if isinstance(hint, list) else "()" if isinstance(hint, tuple) else "{}"
            )
            return f"{opened}{', '.join(map(_shown, cast('Iterable[Value]', hint)))}{closed}"
        case str() | bytes() | int() | float():
            return repr(hint)
        case _:
            return to_hint_text(hint)


def described_points(name: str, text: str, parameters: Iterable[Parameter]) -> list[str]:
    """What another library's tool does not tell a model."""
    points: list[str] = []
    if not text.strip():
        points.append(
            f"Tool {name!r} has no description. Give it one where it is made: what it returns and when to use it"
        )
    return points + [
        f"Tool {name!r}: parameter {parameter.name!r} has no description. Describe it where the tool is made"
        for parameter in parameters
        if not _is_described(parameter)
    ]


def _is_described(parameter: Parameter) -> bool:
    own: Value = not parameter.is_by_reference and parameter.hint_schema.schema.get("description")
    return bool(parameter.description or own)


def _unknown_names(name: str, described: Iterable[str], known: Collection[str]) -> list[str]:
    warnings: list[str] = []
    for unknown in (given for given in described if given not in known):
        near = get_close_matches(unknown, list(known), n=1, cutoff=0.5)
        warnings.append(
            f"Tool {name!r}: the docstring describes {unknown!r}, which is no parameter. "
            + (f"Write {near[0]!r}" if near else "Take it out")
        )
    return warnings


def _listed(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names)
