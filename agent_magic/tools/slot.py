"""Slot: one parameter of a tool, and how a value given for it becomes what the function gets.

It must not know the other arguments of a call.
"""

from __future__ import annotations

import datetime as dt
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError as ConversionError

from agent_magic.core.state import AgentState
from agent_magic.core.values import Value, is_json
from agent_magic.tools.hints import newest, without_marks
from agent_magic.tools.live import to_plain
from agent_magic.tools.misfits import tell_misfit
from agent_magic.tools.parameter import Parameter
from agent_magic.tools.places import Place
from agent_magic.tools.references import Flaw, Path, Reader
from agent_magic.tools.validators import make_validator
from agent_magic.tools.wording import to_bounded, to_path, to_short
from agent_magic.tools.words import JSON, PYTHON, Words

if TYPE_CHECKING:  # it loads slowly
    from jsonschema import Draft202012Validator

_PLAIN: Mapping[type, str] = {int: "integer", float: "number", str: "string", bool: "boolean"}
_NOT_BY_CLASS = (int, float, complex, bool, dt.date)
"""Classes whose subclasses are something else: a bool is no number, a time is no day."""


_TEXTS: Mapping[str, str] = {
    "decimal_parsing": "a decimal number such as '1.50'",
    "complex_str_parsing": "a complex number such as '1+2j'",
    "complex_type": "a complex number such as '1+2j'",
}
"""Errors of pydantic's whose type the schema does not name, with what was expected."""
_KEYS: Mapping[str, str] = {
    "int_parsing": "whole numbers",
    "float_parsing": "numbers",
    "bool_parsing": "true or false",
    "date_from_datetime_parsing": "dates",
}


class Slot:
    """One parameter with what is made once for it."""

    def __init__(self, parameter: Parameter) -> None:
        hints = parameter.hint_schema
        self.parameter = parameter
        self._path: Path = (parameter.name,)
        self._adapter = hints.adapter
        self._place = Place(hints.schema, hints.definitions, hints.adapter)
        is_plain = (
            hints.schema == {"type": _PLAIN.get(parameter.hint)}
            if isinstance(parameter.hint, type)
            else False
        )
        self._plain = parameter.hint if is_plain else None
        self._says_all = hints.adapter is not None and hints.is_of_adapter

    @cached_property
    def _validator(self) -> Draft202012Validator | None:
        hints = self.parameter.hint_schema
        schema = without_marks(hints.schema, keep_string=False)
        return make_validator({**schema, "$defs": dict(hints.definitions)}) if schema else None

    def read(self, value: Value, reader: Reader) -> Value:
        """The value for the function; flaws are left with the reader."""
        # The common case, a scalar of the declared type, costs next to nothing.
        kind = cast("type[Value]", type(value))
        if kind is self._plain and (kind is not str or not _may_refer(value, reader.state)):
            return value
        try:
            return self._read_live(value, reader) if reader.state is None else self._read_json(value, reader)
        except Exception as error:  # noqa: BLE001 - people's types may raise anything when asked about a value
            words = _words_of(reader)
            raised = _tell(error)
            reason = f"expected {words.to_expected(self._place.schema)}, and asking for that raised {raised}"
            reader.flaws.append(self._refused(self._path, value, words, reason))
            return None

    def _read_json(self, value: Value, reader: Reader) -> Value:
        n_flaws = len(reader.flaws)
        value = reader.read(value, self._place, self._path)
        if len(reader.flaws) > n_flaws or self._is_refused_by_schema(value, reader):
            return None
        is_live = self._path in reader.live
        if is_live and any(live.accepts(value) for live in self._place.live):
            return value
        return self._convert(value, value, reader, is_live=is_live)

    def _read_live(self, value: Value, reader: Reader) -> Value:
        """What code gives: handed over itself if it is of the declared type, else converted as JSON would be."""
        if any(live.accepts(value) for live in self._place.live) or self._is_instance(value):
            return value
        if self._fits_strictly(value):
            return self._convert(value, value, reader, is_live=True)
        plain = to_plain(value, self._place)
        if plain is not value and self._fits_strictly(plain):
            return self._convert(plain, value, reader, is_live=True)
        if self._is_refused_by_schema(plain, reader):
            return None
        # pydantic would make a list of whatever can be iterated: a frame's columns, a generator without end.
        if not is_json(plain) and not self._place.accepts(plain):
            reader.flaws.append(self._refused(self._path, value, PYTHON))
            return None
        return self._convert(plain, value, reader, is_live=True)

    def _is_instance(self, value: Value) -> bool:
        hint = self.parameter.hint
        if not (self._says_all and isinstance(hint, type)) or isinstance(hint, types.GenericAlias):
            return False
        cls = newest(hint)
        try:
            return cls not in _NOT_BY_CLASS and isinstance(value, cls)
        except TypeError:
            return False  # a TypedDict, or a protocol that cannot be asked

    def _fits_strictly(self, value: Value) -> bool:
        """Whether it is of the declared type to the letter: quickly told, also of a long list."""
        if self._adapter is None or not self._says_all:
            return False
        try:
            self._adapter.validate_python(value, strict=True)
        except Exception:  # noqa: BLE001 - people's validators may raise anything
            return False
        return True

    def _is_refused_by_schema(self, value: Value, reader: Reader) -> bool:
        if not is_json(value) or self._validator is None:
            return False
        words = _words_of(reader)
        errors = self._validator.iter_errors(value)
        flaws = dict.fromkeys(
            Flaw(text=f"argument {tell_misfit(error, self._path, words)}") for error in errors
        )
        reader.flaws += flaws
        return bool(flaws)

    def _convert(self, value: Value, given: Value, reader: Reader, *, is_live: bool) -> Value:
        words = _words_of(reader)
        if self._adapter is None:
            if self._place.is_by_reference and not self._place.accepts(value):
                reader.flaws.append(self._refused(self._path, value, words))
            return value
        try:
            converted = self._adapter.validate_python(value)
            if isinstance(converted, Iterator) and converted is not value:
                # Of an `Iterable` pydantic makes an iterator that checks late and runs once.
                converted = given if is_live else list(converted)
        except ConversionError as error:
            reader.flaws.append(self._conversion_flaw(error, value, words))
            return None
        except Exception as error:  # noqa: BLE001 - people's validators and `__post_init__` may raise anything
            reader.flaws.append(self._refused(self._path, value, words, _tell(error)))
            return None
        # A live list that needs no change is handed over itself and not as pydantic's copy.
        return given if is_live and value is given and _is_same(given, converted) else converted

    def _conversion_flaw(self, error: ConversionError, value: Value, words: Words) -> Flaw:
        details = error.errors(include_url=False, include_context=False)
        inner: Value = value
        path = list(self._path)
        for part in details[0]["loc"]:
            # pydantic's location also holds names of types and of a union's members.
            if (isinstance(inner, list) and isinstance(part, int)) or (
                isinstance(inner, dict) and part in inner
            ):
                inner = cast("dict[str | int, Value]", inner)[part]
                path.append(part)
        kind = details[0]["type"]
        if details[0]["loc"][-1:] == ("[key]",):
            return Flaw(
                text=f"argument {to_path(path[:-1])!r} has the key {to_short(path[-1])}; its keys are {_KEYS.get(kind, 'others')}"
            )
        if kind in _TEXTS:
            return self._refused(path, inner, words, f"expected {_TEXTS[kind]}")
        is_type = kind.endswith("_parsing") or (words is PYTHON and kind.endswith(("_type", "_inexact")))
        if len(details) > 1 or is_type or kind in ("is_instance_of", "callable_type"):
            return self._refused(path, inner, words)
        message = details[0]["msg"].replace("Input should be", "expected", 1).removeprefix("Value error, ")
        return self._refused(path, inner, words, to_bounded(message))

    def _refused(self, path: Sequence[str | int], value: Value, words: Words, reason: str = "") -> Flaw:
        if not reason:
            place = self._place
            for part in path[1:]:
                place = place.child(part)
            reason = f"expected {words.to_expected(place.schema)}"
        return Flaw(text=f"argument {to_path(path)!r} is {to_short(value)}; {reason}")


def _words_of(reader: Reader) -> Words:
    return PYTHON if reader.state is None else JSON


def _tell(error: Exception) -> str:
    name = type(error).__name__
    try:
        return to_bounded(f"{name}: {error}")
    except Exception:  # noqa: BLE001 - the text is made by people's code as well
        return name


def _may_refer(text: str, state: AgentState | None) -> bool:
    return state is not None and (text.startswith("@") or state.references == "exact")


def _is_same(value: Value, converted: Value) -> bool:
    try:
        return type(value) is type(converted) and bool(value == converted)
    except Exception:  # noqa: BLE001 - `==` of live values may raise anything (arrays do)
        return False
