"""The type of an answer: from the text of an option to the type, and from a type to words.

It must not call anything: a type is read from names, attributes, subscripts and `|` alone.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import enum
import types
import typing
from collections.abc import Iterable
from typing import Any

from agent_magic.core.errors import OptionError
from agent_magic.core.redact import redact
from agent_magic.core.state import State
from agent_magic.core.values import Value, safe_repr
from agent_magic.tools.answer_type import check_answer_type

HEAD = "%%agent --answer-type"
_FORMS = "Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off."
_LONGEST_SHOWN = 120
_BUILT_IN = {name: value for name, value in vars(builtins).items() if isinstance(value, type)}


def parse_type(text: str, names: State) -> Value:
    """The type that a text means, its names looked up in the notebook, then in Python, then in `typing`.

    Raises:
        OptionError: The text is no type, a name in it is unknown, or no model could be told of it.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refusal(text, "is no type as Python writes it") from None
    found = _Reader(text, names).read_type(tree)
    if found is None:
        found = types.NoneType  # None itself would mean: anything
    check_answer_type(found)
    return found


def type_words(answer_type: Value) -> str:
    """A type as a person writes it: `float`, `list[str]`, `Literal['a', 'b']`."""
    if isinstance(answer_type, type) and not isinstance(answer_type, types.GenericAlias):
        return answer_type.__name__
    return safe_repr(answer_type, _LONGEST_SHOWN).replace("typing.", "").replace("__main__.", "")


class _Reader:
    """Reads one text."""

    def __init__(self, text: str, names: State) -> None:
        self._text = text
        self._names = names

    def read_type(self, node: ast.expr) -> Value:
        """The type that an expression means; None stands for its own type, as in `int | None`.

        Raises:
            OptionError: It means something else; the value is not shown, since it may be anything.
        """
        value = self._read(node)
        if value is None or _is_type(value):
            return value
        what = ast.unparse(node)[:_LONGEST_SHOWN]
        raise _refusal(self._text, f"has {what!r}, which is your {type(value).__name__} and no type")

    def _read(self, node: ast.expr) -> Value:
        match node:
            case ast.Name(id=name):
                return self._look_up(name)
            case ast.Attribute(value=owner, attr=name):
                return self._part(self._read(owner), ast.unparse(owner), name)
            case ast.Subscript(value=owner, slice=index):
                return self._subscript(self._read(owner), owner, index)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._either(self.read_type(left), self.read_type(right))
            case ast.Constant(value=None):
                return None
            case _:
                raise _refusal(
                    self._text, f"has {ast.unparse(node)[:_LONGEST_SHOWN]!r}, which is no part of a type"
                )

    def _argument(self, node: ast.expr) -> Value:
        """What stands between the brackets: types, and the values of a Literal."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return -number
            case ast.Tuple(elts=items):
                return tuple(self._argument(item) for item in items)
            case ast.Attribute() if isinstance(member := self._read(node), enum.Enum):
                return member  # of a Literal
            case _:
                return self.read_type(node)

    def _subscript(self, owner: Value, owner_node: ast.expr, index: ast.expr) -> Value:
        # Of anything but a type, brackets would run the person's own code.
        if not _is_type(owner):
            what = ast.unparse(owner_node)[:_LONGEST_SHOWN]
            raise _refusal(
                self._text, f"has {what!r}, which is your {type(owner).__name__} and takes no types"
            )
        try:
            return owner[self._argument(index)]
        except OptionError:
            raise
        except Exception as error:  # noqa: BLE001 - what a class makes of its brackets is its own code
            raise _refusal(self._text, f"cannot be built ({type(error).__name__}: {error})") from None

    def _either(self, left: Value, right: Value) -> Value:
        try:
            return left | right
        except Exception as error:  # noqa: BLE001 - what a class makes of `|` is its own code
            raise _refusal(self._text, f"cannot be built ({type(error).__name__}: {error})") from None

    def _look_up(self, name: str) -> Value:
        if name in self._names:
            return self._names[name]
        if name in _BUILT_IN:
            return _BUILT_IN[name]
        if name in typing.__all__:
            return getattr(typing, name)
        types_here = [each for each in self._names if isinstance(self._names[each], type | types.ModuleType)]
        near = _nearest(name, [*types_here, *_BUILT_IN, *typing.__all__])
        raise OptionError(
            f"{HEAD}: there is no type {redact(name)!r}.{near} "
            "Types of the notebook must be there: run the cell that defines or imports it first."
        )

    def _part(self, owner: Value, path: str, name: str) -> Value:
        if not isinstance(owner, type | types.ModuleType):
            raise _refusal(
                self._text, f"has {path!r}, which is your {type(owner).__name__} and holds no types"
            )
        try:
            return getattr(owner, name)
        except Exception:  # noqa: BLE001 - a module's own `__getattr__` may raise anything
            raise OptionError(
                f"{HEAD}: there is no {redact(name)!r} in {path}.{_nearest(name, dir(owner))} {_FORMS}"
            ) from None


def _is_type(value: Value) -> bool:
    """Whether a value stands for a type: a class, or what `typing` makes."""
    if isinstance(value, type | types.GenericAlias | types.UnionType):
        return True
    kind: type[Any] = type(value)
    return kind.__module__ in ("typing", "typing_extensions")


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f" Nearest: {', '.join(near)}." if near else ""


def _refusal(text: str, why: str) -> OptionError:
    return OptionError(f"{HEAD}: {redact(text[:_LONGEST_SHOWN])!r} {why}. {_FORMS}")
