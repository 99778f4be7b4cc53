"""Arguments of one tool: from a model's JSON to what the function is called with, or an error that teaches.

It must not call the tool.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from jsonschema import Draft202012Validator, ValidationError
from pydantic import ValidationError as ConversionError

from agent_magic.core.errors import ToolCallError
from agent_magic.core.state import AgentState
from agent_magic.core.values import Value, is_json
from agent_magic.tools.hints import has_mark, without_marks
from agent_magic.tools.parameter import Parameter
from agent_magic.tools.places import Place
from agent_magic.tools.references import Flaw, Path, Reader
from agent_magic.tools.wording import to_bounded, to_call_form, to_expected, to_path, to_short

_MOST_FLAWS = 3
_LONGEST_NAME = 100
_LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "items": "at most {} items",
    "uniqueItems": "each item once",
    "pattern": "text that matches {}",
}
_PLAIN: Mapping[type, str] = {int: "integer", float: "number", str: "string", bool: "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A call that can be made as it is."""

    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value]
    notes: tuple[str, ...] = ()
    """What was read otherwise than it was written, for the model and the person."""


class ArgumentReader:
    """Reads arguments for the parameters of one tool; validators are made once."""

    def __init__(self, tool_name: str, parameters: Sequence[Parameter]) -> None:
        self._tool_name = tool_name
        self._slots = {parameter.name: _Slot(parameter) for parameter in parameters}

    def prepare(self, arguments: Mapping[str, Value], state: AgentState | None) -> PreparedCall:
        """References replaced, checked against the schema, converted to the declared types.

        Args:
            arguments: By name, as the model gave them; they stay as they are.
            state: None: the values are live already, and no text is a reference.

        Raises:
            ToolCallError: It names the argument, its value, what was expected and the right form.
        """
        reader = Reader(state=state)
        values: dict[str, Value] = {}
        for name, slot in self._slots.items():
            if name not in arguments:
                if slot.parameter.is_required:
                    reader.flaws.append(Flaw(text=f"argument {name!r} is missing"))
                continue
            value = arguments[name]
            if value is None and slot.parameter.default is None:
                continue  # null says the same as leaving it out
            values[name] = slot.read(value, reader)
        for name in arguments:
            if name not in self._slots:
                near = difflib.get_close_matches(name[:_LONGEST_NAME], list(self._slots), n=1, cutoff=0.5)
                nearest = f"; nearest: {near[0]!r}" if near else ""
                reader.flaws.append(Flaw(text=f"there is no argument {to_short(name)}{nearest}"))
        if reader.flaws:
            raise ToolCallError(self._to_text(reader.flaws))
        args = tuple(self._positional(values))
        return PreparedCall(args=args, kwargs=values, notes=tuple(reader.notes))

    def _positional(self, values: dict[str, Value]) -> Iterator[Value]:
        """Takes out of `values` what can be given by position only."""
        slots = [slot.parameter for slot in self._slots.values() if slot.parameter.is_positional_only]
        last = max((at for at, parameter in enumerate(slots) if parameter.name in values), default=-1)
        for parameter in slots[: last + 1]:
            yield values.pop(parameter.name, parameter.default)

    def _to_text(self, flaws: Sequence[Flaw]) -> str:
        texts = [flaw.text for flaw in flaws[:_MOST_FLAWS]]
        if len(flaws) > _MOST_FLAWS:
            texts.append(f"and {len(flaws) - _MOST_FLAWS} more faults")
        advice = flaws[0].advice if len(flaws) == 1 else ""
        return f"{self._tool_name}: {'; '.join(texts)}. {advice or self.call_form}"

    @property
    def call_form(self) -> str:
        """How the tool is called: `Call order with {"n": <integer>}`, say."""
        parameters = [slot.parameter for slot in self._slots.values()]
        return to_call_form(
            self._tool_name, [(p.name, p.hint_schema.schema, p.is_required) for p in parameters]
        )


class _Slot:
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
        schema = without_marks(hints.schema, keep_string=False)
        self._validator = (
            Draft202012Validator({**schema, "$defs": dict(hints.definitions)}) if schema else None
        )
        self._has_mark = has_mark(hints.schema)

    def read(self, value: Value, reader: Reader) -> Value:
        """The value for the function; flaws are left with the reader."""
        # The common case, a scalar of the declared type, costs next to nothing.
        kind = cast("type[Value]", type(value))
        if kind is self._plain and (kind is not str or not _may_refer(value, reader.state)):
            return value
        n_flaws = len(reader.flaws)
        if reader.state is not None:
            value = reader.read(value, self._place, self._path)
            if len(reader.flaws) > n_flaws:
                return None
        if self._validator is not None and is_json(value):
            flaws = [_to_flaw(error, self._path) for error in self._validator.iter_errors(value)]
            if flaws:
                reader.flaws += flaws
                return None
        is_live = self._path in reader.live or reader.state is None
        if is_live and any(live.accepts(value) for live in self._place.live):
            return value
        return self._convert(value, reader, is_live=is_live)

    def _convert(self, value: Value, reader: Reader, *, is_live: bool) -> Value:
        if self._adapter is None:
            if self._place.is_by_reference and not self._place.accepts(value):
                reader.flaws.append(self._refused(self._path, value))
            return value
        try:
            converted = self._adapter.validate_python(value)
            if isinstance(converted, Iterator) and converted is not value:
                # Of an `Iterable` pydantic makes an iterator that checks late and runs once.
                converted = value if is_live else list(converted)
        except ConversionError as error:
            reader.flaws.append(self._conversion_flaw(error, value))
            return None
        except Exception as error:  # noqa: BLE001 - people's validators and `__post_init__` may raise anything
            reason = to_bounded(f"{type(error).__name__}: {error}")
            reader.flaws.append(self._refused(self._path, value, reason))
            return None
        # A live list that needs no change is handed over itself and not as pydantic's copy.
        return value if is_live and _is_same(value, converted) else converted

    def _conversion_flaw(self, error: ConversionError, value: Value) -> Flaw:
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
        if len(details) > 1 or details[0]["type"] in ("is_instance_of", "callable_type"):
            return self._refused(path, inner)
        message = details[0]["msg"].replace("Input should be", "expected", 1).removeprefix("Value error, ")
        return self._refused(path, inner, to_bounded(message))

    def _refused(self, path: Sequence[str | int], value: Value, reason: str = "") -> Flaw:
        if not reason:
            place = self._place
            for part in path[1:]:
                place = place.child(part)
            reason = f"expected {to_expected(place.schema)}"
        return Flaw(text=f"argument {to_path(path)!r} is {to_short(value)}; {reason}")


def _to_flaw(error: ValidationError, path: Path) -> Flaw:
    error = _deepest(error)
    where = to_path((*path, *error.absolute_path))
    limit, value, schema = cast(
        "tuple[Value, Value, Value]", (error.validator_value, error.instance, error.schema)
    )
    if error.validator == "required":
        return Flaw(text=f"argument {where!r} lacks {next(key for key in limit if key not in value)!r}")
    if error.validator == "additionalProperties":
        known = schema.get("properties", {})
        unknown = next(key for key in value if key not in known)
        return Flaw(
            text=f"argument {where!r} has no place for {to_short(unknown)}; expected {', '.join(known) or 'nothing'}"
        )
    if error.validator == "items" and "prefixItems" in schema:
        limit = len(schema["prefixItems"])
    limited = _LIMITS.get(cast("str", error.validator))
    expected = limited.format(limit) if limited else to_expected(schema)
    return Flaw(text=f"argument {where!r} is {to_short(value)}; expected {expected}")


def _deepest(error: ValidationError) -> ValidationError:
    """Of a refused union, the error inside the member that fits best, if one fits at the top."""
    while error.context:
        inner = [
            found
            for found in error.context
            if found.relative_path or found.validator not in ("type", "const", "enum")
        ]
        if len(inner) != 1:
            break
        error = inner[0]
    return error


def _may_refer(text: str, state: AgentState | None) -> bool:
    return state is not None and (text.startswith("@") or state.references == "exact")


def _is_same(value: Value, converted: Value) -> bool:
    try:
        return type(value) is type(converted) and bool(value == converted)
    except Exception:  # noqa: BLE001 - `==` of live values may raise anything (arrays do)
        return False
