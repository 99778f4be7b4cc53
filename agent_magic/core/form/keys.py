"""Reading the parts of a form: each is checked, and an error names the way to it.

It must not let a key pass that it does not know: what is not read would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, cast

from agent_magic.core.form.value import MARK, UnreadableError, ValueReader
from agent_magic.core.values import Value

_T = TypeVar("_T")
Form = dict[str, Value]
ReadPart = Callable[[Value, ValueReader], _T]
"""Gives what a part of a form stands for.

Raises:
    UnreadableError: Nobody wrote it so. Every function below does.
"""
END_OF_TIME = 253_402_300_000
"""The year 10000, in seconds since 1970."""
_PLAIN = ValueReader()


# -- all keys of a form ----------------------------------------------------------------------


def read_fields(
    form: Value, fields: Mapping[str, ReadPart[Value]], reader: ValueReader, *, needed: Iterable[str] = ()
) -> Form:
    """What stands at the keys that a form has; a memory has thousands of forms with few of their keys.

    Args:
        form: What was written.
        fields: How each key is read; no other key may be there.
        reader: Handed on.
        needed: Keys that must be there.
    """
    if type(form) is not dict:
        raise UnreadableError(form, "a dict")
    parts: Form = {}
    key = ""
    try:
        for key, part in form.items():
            parts[key] = fields[key](part, reader)
        for key in needed:
            if key not in parts:
                fields[key](None, reader)  # it says what should be there
    except KeyError:
        if key in fields:
            raise
        raise _refuse_key(form, key, fields) from None
    except UnreadableError as error:
        raise error.within(key) from error.__cause__
    return parts


def check_keys(form: Value, known: frozenset[str]) -> None:
    """Refuse what is no dict, or has keys that are not known."""
    if type(form) is not dict:
        raise UnreadableError(form, "a dict")
    if not form.keys() <= known:
        raise _refuse_key(form, min(form.keys() - known, key=str), known)


def _refuse_key(form: Form, key: str, known: Iterable[str]) -> UnreadableError:
    return UnreadableError(form[key], f"one of the keys {', '.join(sorted(known))}", str(key))


# -- parts -----------------------------------------------------------------------------------


def to_text(part: Value, _reader: ValueReader = _PLAIN) -> str:
    """The text itself."""
    if type(part) is str:
        return part
    if type(part) is dict and cast("Form", part).get(MARK) == "str":  # it has lone surrogates
        return _PLAIN.read(part)
    raise UnreadableError(part, "text")


def to_count(part: Value, _reader: ValueReader = _PLAIN) -> int:
    """The whole number from 0 on."""
    if type(part) is int and part >= 0:
        return part
    raise UnreadableError(part, "a whole number from 0 on")


def to_flag(part: Value, _reader: ValueReader = _PLAIN) -> bool:
    """The bool."""
    if part is True or part is False:
        return part
    raise UnreadableError(part, "true or false")


def to_number(part: Value, _reader: ValueReader = _PLAIN) -> float:
    """The number."""
    number = _PLAIN.read(part)
    if type(number) is float or type(number) is int:
        return number
    raise UnreadableError(number, "a number")


def to_moment(part: Value, _reader: ValueReader = _PLAIN) -> float:
    """The moment, in seconds since 1970, before the year 10000."""
    number = to_number(part)
    if 0 <= number < END_OF_TIME:
        return number
    raise UnreadableError(number, "seconds since 1970")


def to_value(part: Value, reader: ValueReader) -> Value:
    """The live value that was written."""
    return reader.read(part)


def to_word(words: Mapping[Value, _T]) -> ReadPart[_T]:
    """Reads what one of a few words stands for."""

    def read(part: Value, _reader: ValueReader) -> _T:
        if type(part) is str and part in words:
            return words[part]
        raise UnreadableError(part, f"one of {', '.join(map(str, words))}")

    return read


def each(read: ReadPart[_T]) -> ReadPart[tuple[_T, ...]]:
    """Reads a list, each part by `read`."""

    def read_list(parts: Value, reader: ValueReader) -> tuple[_T, ...]:
        if type(parts) is not list:
            raise UnreadableError(parts, "a list")
        done: list[_T] = []
        try:
            for part in cast("list[Value]", parts):
                done.append(read(part, reader))  # noqa: PERF401 - its length tells which part cannot be read
        except UnreadableError as error:
            raise error.within(f"[{len(done)}]") from error.__cause__
        return tuple(done)

    return read_list


# -- single keys -----------------------------------------------------------------------------


def read_text(form: Form, key: str, default: str = "") -> str:
    """The text at `key`."""
    return _at(key, form.get(key, default), to_text)


def read_name(form: Form, key: str) -> str | None:
    """The text at `key`, or None if there is none."""
    text = form.get(key)
    return None if text is None else _at(key, text, to_text)


def need_text(form: Form, key: str) -> str:
    """The text at `key`, which must be there."""
    return _at(key, form.get(key), to_text)


def read_count(form: Form, key: str, default: int | None = None) -> int:
    """The whole number from 0 on at `key`; without a default it must be there."""
    return _at(key, form.get(key, default), to_count)


def read_flag(form: Form, key: str, *, default: bool = False) -> bool:
    """The bool at `key`."""
    return _at(key, form.get(key, default), to_flag)


def read_number(form: Form, key: str) -> float:
    """The number at `key`, which must be there."""
    return _at(key, form.get(key), to_number)


def read_moment(form: Form, key: str) -> float:
    """The moment at `key`, which must be there."""
    return _at(key, form.get(key), to_moment)


def read_choice(form: Form, key: str, choices: Mapping[Value, _T]) -> _T:
    """What one of a few words at `key` stands for."""
    return _at(key, form.get(key), to_word(choices))


def read_part(form: Form, key: str, read: Callable[[Value], _T]) -> _T | None:
    """What `read` makes of the part at `key`, or None if there is none."""
    return _at(key, form[key], lambda part, _: read(part)) if key in form else None


def need_part(form: Form, key: str, read: Callable[[Value], _T]) -> _T:
    """What `read` makes of the part at `key`, which must be there."""
    return _at(key, form.get(key), lambda part, _: read(part))


def read_each(form: Form, key: str, read: Callable[[Value], _T]) -> tuple[_T, ...]:
    """What `read` makes of each part of the list at `key`; nothing if there is none."""
    return _at(key, form[key], each(lambda part, _: read(part))) if key in form else ()


def _at(key: str, part: Value, read: ReadPart[_T]) -> _T:
    try:
        return read(part, _PLAIN)
    except UnreadableError as error:
        raise error.within(key) from error.__cause__
