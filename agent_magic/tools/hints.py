"""From a type hint to what JSON holds of it, and back to the declared Python type.

It must not know tools or functions: one hint goes in, one `HintSchema` comes out.
"""

from __future__ import annotations

import enum
import fractions
import numbers
import sys
import types
import typing
import warnings
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, cast

import typing_extensions
from pydantic import AfterValidator, ConfigDict, PlainValidator, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic.warnings import ArbitraryTypeWarning

from agent_magic.core.values import Value

LIVE = "x-live"
"""Marks a schema node whose value JSON cannot hold: a state variable is named there instead."""
REFERENCE_TEXT = "The name of a state variable, e.g. @df"
_CONFIG = ConfigDict(arbitrary_types_allowed=True)
_NAMED_NODES = ("properties", "$defs", "patternProperties", "dependentSchemas")
_NO_NODES = ("default", "enum", "const", "examples", "required", LIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveType:
    """What a value that JSON cannot hold has to be."""

    name: str
    """`DataFrame`, `callable`, …"""
    accepts: Callable[[Value], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class HintSchema:
    """One hint, ready for use."""

    schema: Mapping[str, Value]
    """JSON Schema without titles, references inlined; `LIVE` marks hold a `LiveType`."""
    definitions: Mapping[str, Value]
    """`$defs` of types that contain themselves; empty for all others."""
    adapter: TypeAdapter[Value] | None
    """Turns a value into the declared type; None where every value stays as it is."""
    is_of_adapter: bool = True
    """The adapter knows all that the schema says; False where an author wrote the schema."""
    holds_no_type: bool = False
    """The hint, or a part of it, is a value such as `[int]` or `5`, so any value is taken there."""


def build_hint_schema(hint: Value) -> HintSchema:
    """The schema of any hint; one that cannot be expressed becomes the name of a variable."""
    if isinstance(hint, typing.TypeVar) and (meant := hint.__constraints__ or hint.__bound__):
        return build_hint_schema(typing.Union[meant] if isinstance(meant, tuple) else meant)  # noqa: UP007 - built from a tuple of members
    if hint is typing.Any or hint is object or isinstance(hint, typing.TypeVar):
        return HintSchema(schema={}, definitions={}, adapter=None)
    if isinstance(hint, dict | types.FunctionType):
        # pydantic would read the one as a schema of its own, and call the other.
        return HintSchema(schema={}, definitions={}, adapter=None, holds_no_type=True)
    members = _member_names(hint)
    if members:
        return HintSchema(
            schema={"type": "string", "enum": list(members)}, definitions={}, adapter=_by_name(hint)
        )
    if typing.get_origin(hint) is Generator:
        return _live_only(_live_type(hint))  # pydantic would take any list for it
    if typing.get_origin(hint) is type or hint is type:
        return _live_only(LiveType(name="class", accepts=lambda value: isinstance(value, type)))
    try:
        adapter, holds_no_type = _build_adapter(to_portable(hint))
        with warnings.catch_warnings():
            # A field's default that JSON cannot hold is left out of the schema, which is right.
            warnings.simplefilter("ignore")
            schema = adapter.json_schema(schema_generator=_LiveAwareSchema)
    except Exception:  # noqa: BLE001 - hints run people's own hooks; what cannot be read goes by reference
        return _live_only(_live_type(hint))
    built = build_schema(schema, schema.pop("$defs", {}), adapter)
    return replace(built, holds_no_type=True) if holds_no_type else built


def build_schema(
    schema: Mapping[str, Value], definitions: Mapping[str, Value], adapter: TypeAdapter[Value] | None = None
) -> HintSchema:
    """A JSON Schema ready for use: without titles, each reference to `definitions` replaced by what it means."""
    recursive = {name for name in definitions if _reaches(name, definitions)}
    inlined = cast("dict[str, Value]", _inlined(dict(schema), definitions, recursive))
    kept = {name: _inlined(definitions[name], definitions, recursive) for name in sorted(recursive)}
    return HintSchema(schema=inlined, definitions=kept, adapter=adapter)


def without_marks(node: Value, *, keep_string: bool) -> Value:
    """A copy of a schema without `LIVE` marks.

    Args:
        node: The schema, or a part of one.
        keep_string: A marked node stays a string with its text (for a model); else it becomes `{}`,
            which every live value passes (for validation).
    """
    if isinstance(node, list):
        return [without_marks(item, keep_string=keep_string) for item in cast("list[Value]", node)]
    if not isinstance(node, dict):
        return node
    named = cast("dict[str, Value]", node)
    if LIVE in named and not keep_string:
        return {}
    return {key: without_marks(item, keep_string=keep_string) for key, item in named.items() if key != LIVE}


def newest(cls: type) -> type:
    """The class that has this class's name now: a reloaded module or a cell run again made it anew."""
    found: Value = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    same = isinstance(found, type) and (found.__module__, found.__qualname__) == (
        cls.__module__,
        cls.__qualname__,
    )
    return found if same else cls


def classes_in(hint: Value) -> set[type]:
    """All classes that a hint names."""
    found: set[type] = (
        {hint} if isinstance(hint, type) and not isinstance(hint, types.GenericAlias) else set()
    )
    for part in typing.get_args(hint):
        found |= classes_in(part)
    return found


def to_portable(hint: Value) -> Value:
    """The hint with its newest classes, and with what pydantic reads of foreign numbers and `TypedDict`s."""
    origin: Value = typing.get_origin(hint)
    arguments: tuple[Value, ...] = typing.get_args(hint)
    if isinstance(hint, type) and origin is None:
        return _portable_class(newest(hint))
    if not arguments or origin is typing.Literal:
        return hint
    if origin is Annotated:
        inner = to_portable(arguments[0])
        return hint if inner is arguments[0] else Annotated[(inner, *arguments[1:])]
    new = tuple(to_portable(part) if not isinstance(part, list) else part for part in arguments)
    if all(after is before for after, before in zip(new, arguments, strict=True)):
        return hint
    if origin in (typing.Union, types.UnionType):
        return typing.Union[new]  # noqa: UP007 - built from a tuple of members
    copy_with: Value = getattr(hint, "copy_with", None)  # aliases of `typing`, such as `List[int]`, have it
    return copy_with(new) if copy_with else origin[new]


def _portable_class(cls: type) -> Value:
    if sys.version_info < (3, 12) and typing.is_typeddict(cls) and type(cls).__module__ == "typing":
        return _typed_dict(cls)
    foreign_number = issubclass(cls, numbers.Real) and not issubclass(
        cls, int | enum.Enum | fractions.Fraction
    )
    if foreign_number and cls is not float:
        plain = int if issubclass(cls, numbers.Integral) else float
        return Annotated[plain, AfterValidator(cls)]
    return cls


def _typed_dict(cls: type) -> Value:
    # pydantic refuses `typing.TypedDict` before Python 3.12: which keys are required is lost in it.
    required = cast("frozenset[str]", getattr(cls, "__required_keys__", frozenset()))
    fields = {
        name: to_portable(inner) if name in required else typing_extensions.NotRequired[to_portable(inner)]
        for name, inner in typing.get_type_hints(cls, include_extras=True).items()
    }
    twin = typing_extensions.TypedDict(cls.__name__, fields)  # pyright: ignore[reportArgumentType, reportGeneralTypeIssues, reportUnknownVariableType] - made at run time
    twin.__module__ = cls.__module__
    twin.__doc__ = cls.__doc__
    return twin


def _build_adapter(hint: Value) -> tuple[TypeAdapter[Value], bool]:
    """The adapter, and whether pydantic met what is no type: its author is told so in words of our own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ArbitraryTypeWarning)
        adapter = _new_adapter(hint)
    others = [one for one in caught if not issubclass(one.category, ArbitraryTypeWarning)]
    for other in others:
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return adapter, len(others) < len(caught)


def _new_adapter(hint: Value) -> TypeAdapter[Value]:
    try:
        return TypeAdapter(hint, config=_CONFIG)
    except PydanticUserError as error:
        if error.code != "type-adapter-config-unused":
            raise
        # The class's own configuration rules; behind an alias ours is added to it.
        alias: Value = typing_extensions.TypeAliasType(hint.__name__, hint)  # pyright: ignore[reportGeneralTypeIssues] - made at run time
        return TypeAdapter(alias, config=_CONFIG)


class _LiveAwareSchema(GenerateJsonSchema):
    """Marks what JSON cannot hold instead of failing."""

    def handle_invalid_for_json_schema(self, schema: Value, error_info: str) -> JsonSchemaValue:
        del error_info
        if schema["type"] == "callable":
            return _live_node(LiveType(name="callable", accepts=callable))
        cls = schema.get("cls")
        return _live_node(_live_type(cls) if cls else LiveType(name="live value", accepts=lambda _: True))


def _live_node(live: LiveType) -> dict[str, Value]:
    return {"type": "string", "description": REFERENCE_TEXT, LIVE: live}


def _live_only(live: LiveType) -> HintSchema:
    return HintSchema(schema=_live_node(live), definitions={}, adapter=None)


def _live_type(hint: Value) -> LiveType:
    cls = hint if isinstance(hint, type) else typing.get_origin(hint)
    if not isinstance(cls, type):
        return LiveType(name=str(hint).rpartition(".")[2], accepts=lambda _: True)

    def accepts(value: Value) -> bool:
        try:
            return isinstance(value, (cls, newest(cls)))
        except TypeError:
            return True  # a protocol that cannot be asked

    return LiveType(name=cls.__name__, accepts=accepts)


def _member_names(hint: Value) -> tuple[str, ...]:
    """Names of an Enum's members if its values are no JSON scalars, which no model could write."""
    if not (isinstance(hint, type) and issubclass(hint, enum.Enum)):
        return ()
    members = newest(hint).__members__  # pyright: ignore[reportAttributeAccessIssue] - the same Enum, made anew
    scalars = all(isinstance(member.value, str | int | float | None) for member in members.values())
    return () if scalars else tuple(members)


def _by_name(hint: Value) -> TypeAdapter[Value]:
    cls = newest(hint)

    def member(given: Value) -> Value:
        if isinstance(given, cls):
            return given
        names = cast("Mapping[str, Value]", cls.__members__)  # pyright: ignore[reportAttributeAccessIssue] - an Enum class
        if not isinstance(given, str) or given not in names:
            raise ValueError(f"expected one of {', '.join(map(repr, names))}")
        return names[given]

    return TypeAdapter(Annotated[Value, PlainValidator(member)])


def _reaches(name: str, definitions: Mapping[str, Value]) -> bool:
    seen: set[str] = set()
    todo = _references(definitions[name])
    while todo:
        other = todo.pop()
        if other == name:
            return True
        if other not in seen:
            seen.add(other)
            todo |= _references(definitions.get(other))
    return False


def _references(node: Value) -> set[str]:
    if isinstance(node, list):
        return {name for item in cast("list[Value]", node) for name in _references(item)}
    if not isinstance(node, dict):
        return set()
    named = cast("dict[str, Value]", node)
    own = {named["$ref"].rpartition("/")[2]} if isinstance(named.get("$ref"), str) else set[str]()
    return own | {name for item in named.values() for name in _references(item)}


def _named(item: Value, definitions: Mapping[str, Value], recursive: set[str]) -> Value:
    """One item of a tuple, described by the name of its field if it has one: in a list the names are lost."""
    inlined = _inlined(item, definitions, recursive)
    title = (
        cast("dict[str, Value]", item).get("title") if isinstance(item, dict) and "$ref" not in item else None
    )
    return (
        {**inlined, "description": title.lower().replace(" ", "_")}
        if title and "description" not in inlined
        else inlined
    )


def _inlined(node: Value, definitions: Mapping[str, Value], recursive: set[str]) -> Value:
    """`node` without titles, each `$ref` replaced by what it means unless that contains itself."""
    if isinstance(node, list):
        return [_inlined(item, definitions, recursive) for item in cast("list[Value]", node)]
    if not isinstance(node, dict):
        return node
    named = cast("dict[str, Value]", node)
    out: dict[str, Value] = {}
    target = named["$ref"].rpartition("/")[2] if isinstance(named.get("$ref"), str) else None
    if target is not None and target not in recursive:
        out.update(_inlined(definitions[target], definitions, recursive))
    for key, item in named.items():
        if key == "title" or (key == "$ref" and target not in recursive) or key == "discriminator":
            continue
        if key == "prefixItems":
            out[key] = [_named(inner, definitions, recursive) for inner in item]
        elif key in _NAMED_NODES:
            out[key] = {name: _inlined(inner, definitions, recursive) for name, inner in item.items()}
        else:
            out[key] = item if key in _NO_NODES else _inlined(item, definitions, recursive)
    return {"type": out.pop("type"), **out} if "type" in out else out
