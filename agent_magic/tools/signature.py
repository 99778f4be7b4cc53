"""From a callable to its parameters, description and examples, with warnings to its author.

It must not read arguments nor call anything.
"""

from __future__ import annotations

import enum
import functools
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, cast

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.messages import ToolExample
from agent_magic.core.values import Value, is_json
from agent_magic.tools.docstring import DocText, parse_docstring
from agent_magic.tools.examples import read_examples
from agent_magic.tools.hints import LIVE, REFERENCE_TEXT, HintSchema, build_hint_schema, without_marks

MISSING = inspect.Parameter.empty
_Kind = inspect.Parameter
_LONGEST_DEFAULT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter that a model may give."""

    name: str
    hint: Value
    """`MISSING` if there is none."""
    hint_schema: HintSchema
    description: str = ""
    default: Value = MISSING
    is_positional_only: bool = False
    is_required: bool = True

    @property
    def is_by_reference(self) -> bool:
        """Whether only a state variable can be given, as JSON cannot hold the value."""
        return LIVE in self.hint_schema.schema

    def to_property(self) -> dict[str, Value]:
        """The parameter's JSON Schema for a model."""
        schema: dict[str, Value] = without_marks(self.hint_schema.schema, keep_string=True)
        own = str(schema.pop("description", ""))
        description = self.description or own
        if self.is_by_reference and self.description:
            description = f"{self.description.rstrip('.')}. {REFERENCE_TEXT}"
        if description:
            schema["description"] = description
        default = self.default.value if isinstance(self.default, enum.Enum) else self.default
        if (
            not self.is_by_reference
            and default is not MISSING
            and default is not None
            and is_json(default)
            and _is_short(default)
        ):
            schema["default"] = default
        return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a model is told of a callable, and what it can be given."""

    description: str
    parameters: tuple[Parameter, ...]
    examples: tuple[ToolExample, ...] = ()
    warnings: tuple[str, ...] = ()
    """What is weak, for the author, with the fix."""


def read_signature(
    function: Callable[..., Value],
    name: str,
    *,
    description: str | None = None,
    examples: Iterable[str | ToolExample] = (),
) -> Signature:
    """The signature of any callable.

    Args:
        function: Anything that can be called.
        name: What the tool is called, for warnings and errors.
        description: Instead of the docstring's.
        examples: Added to the docstring's.

    Raises:
        ToolDefinitionError: No call could be made right, as Python knows no signature.
    """
    raw = python_signature(function, name)
    hints, warnings = read_hints(function, raw, name)
    doc = _read_doc(function, raw.parameters)
    parameters: list[Parameter] = []
    for parameter in raw.parameters.values():
        if parameter.kind in (_Kind.VAR_POSITIONAL, _Kind.VAR_KEYWORD):
            star = "*" if parameter.kind is _Kind.VAR_POSITIONAL else "**"
            warnings.append(
                f"Tool {name!r}: parameter '{star}{parameter.name}' is not offered to the model. "
                f"Give each value that it needs a parameter of its own"
            )
            continue
        parameters.append(
            _build_parameter(parameter, hints[parameter.name], doc.parameters.get(parameter.name, ""))
        )
    found, example_warnings = read_examples([*doc.examples, *examples], name, [p.name for p in parameters])
    text = description or doc.description
    warnings += _weak_points(name, text, parameters, doc, raw.parameters)
    return Signature(
        description=text or _made_description(name),
        parameters=tuple(parameters),
        examples=found,
        warnings=(*warnings, *example_warnings),
    )


def python_signature(function: Callable[..., Value], name: str) -> inspect.Signature:
    """`inspect.signature`, or an error that says what to write.

    Raises:
        ToolDefinitionError: Python knows no signature of it.
    """
    try:
        if sys.version_info >= (3, 14):
            import annotationlib  # noqa: PLC0415 - exists from 3.14 on

            return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
        return inspect.signature(function)
    except (ValueError, TypeError):
        raise ToolDefinitionError(
            f"Tool {name!r}: Python knows no signature of it, so no call could be made right.\n"
            f"Wrap it in a function with named parameters, e.g.  def my_{name}(value: float) -> float: return {name}(value)"
        ) from None


def read_hints(function: Value, raw: inspect.Signature, name: str) -> tuple[dict[str, Value], list[str]]:
    """The hint of each parameter (`MISSING` if none), and warnings about those that mean nothing."""
    target = target_of(function)
    try:
        resolved: Mapping[str, Value] = typing.get_type_hints(target, include_extras=True)
    except Exception:  # noqa: BLE001 - evaluating hints runs people's expressions; each is tried alone below
        resolved = {}
    hints: dict[str, Value] = {}
    warnings: list[str] = []
    names_of = getattr(target, "__globals__", {})
    for parameter in raw.parameters.values():
        hint = resolved.get(parameter.name, parameter.annotation)
        if isinstance(hint, str):
            try:
                hint = _evaluated(hint, names_of)
            except Exception:  # noqa: BLE001 - as above
                warnings.append(
                    f"Tool {name!r}: the hint {hint!r} of parameter {parameter.name!r} names nothing that exists, so any value "
                    f"is taken. Define it before the tool, or write another hint"
                )
                hint = Any
        hints[parameter.name] = hint
    return hints, warnings


def target_of(function: Value) -> Value:
    """The function that holds a callable's hints and docstring, below partials, methods and decorators."""
    while True:
        if isinstance(function, functools.partial):
            function = cast("functools.partial[Value]", function).func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif getattr(function, "__wrapped__", None) is not None:
            function = inspect.unwrap(function)
        elif isinstance(function, type):
            return function.__init__
        elif isinstance(
            function, types.FunctionType | types.BuiltinFunctionType | types.MethodDescriptorType
        ):
            return function
        else:
            call = inspect.getattr_static(type(function), "__call__", None)
            return call if isinstance(call, types.FunctionType) else function


def _evaluated(hint: str, names_of: dict[str, Value]) -> Value:
    def holder() -> None: ...

    holder.__annotations__ = {"value": hint}
    return typing.get_type_hints(holder, names_of, include_extras=True)["value"]


def _build_parameter(raw: inspect.Parameter, hint: Value, description: str) -> Parameter:
    hint_schema = build_hint_schema(Any if hint is MISSING else hint)
    if not description and typing.get_origin(hint) is Annotated:
        description = next((extra for extra in typing.get_args(hint)[1:] if isinstance(extra, str)), "")
    return Parameter(
        name=raw.name,
        hint=hint,
        hint_schema=hint_schema,
        description=description,
        default=raw.default,
        is_positional_only=raw.kind is _Kind.POSITIONAL_ONLY,
        is_required=raw.default is MISSING,
    )


def _read_doc(function: Value, names: Collection[str]) -> DocText:
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Value]", function).func
    target = target_of(function)
    own = inspect.unwrap(function) if isinstance(function, types.FunctionType) else function
    if isinstance(own, type):
        first, second = parse_docstring(own.__doc__, names), parse_docstring(_own_doc(target), names)
    elif isinstance(
        own, types.FunctionType | types.MethodType | types.BuiltinFunctionType | types.MethodDescriptorType
    ):
        return parse_docstring(own.__doc__, names)
    else:
        first, second = parse_docstring(_own_doc(target), names), parse_docstring(own.__doc__, names)
    return DocText(
        description=first.description or second.description,
        parameters={**second.parameters, **first.parameters},
        examples=first.examples or second.examples,
    )


def _own_doc(target: Value) -> str | None:
    """The docstring a person wrote: not that of `object.__init__`."""
    return target.__doc__ if isinstance(target, types.FunctionType) else None


def _weak_points(
    name: str, text: str, parameters: list[Parameter], doc: DocText, raw: Mapping[str, inspect.Parameter]
) -> list[str]:
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
        said = parameter.description or (
            not parameter.is_by_reference and parameter.hint_schema.schema.get("description")
        )
        if text and not said:
            warnings.append(
                f"Tool {name!r}: parameter {parameter.name!r} has no description. "
                f"Add to its docstring:  {parameter.name}: what it means"
            )
    takes_any = any(parameter.kind is _Kind.VAR_KEYWORD for parameter in raw.values())
    for unknown in () if takes_any else [given for given in doc.parameters if given not in raw]:
        near = get_close_matches(unknown, list(raw), n=1, cutoff=0.5)
        warnings.append(
            f"Tool {name!r}: the docstring describes {unknown!r}, which is no parameter. "
            + (f"Write {near[0]!r}" if near else "Take it out")
        )
    return warnings


def _made_description(name: str) -> str:
    return name.replace("_", " ").strip().capitalize() + "."


def _is_short(default: Value) -> bool:
    return len(json.dumps(default)) <= _LONGEST_DEFAULT
