"""From a callable to its parameters, description and examples, with warnings to its author.

It must not read arguments nor call anything.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.messages import ToolExample
from agent_magic.core.values import Value
from agent_magic.tools.advice import library_point, star_points, starred_names, type_points, weak_points
from agent_magic.tools.docstring import DocText, parse_docstring
from agent_magic.tools.examples import read_examples
from agent_magic.tools.hints import build_hint_schema
from agent_magic.tools.origin import library_of, target_of
from agent_magic.tools.parameter import MISSING, Parameter, Returns, Star

_Kind = inspect.Parameter
_STARS: Mapping[Value, Star] = {_Kind.VAR_POSITIONAL: "*", _Kind.VAR_KEYWORD: "**"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a model is told of a callable, and what it can be given."""

    description: str
    parameters: tuple[Parameter, ...]
    stars: Mapping[Star, Parameter] = field(default_factory=dict[Star, Parameter])
    """Parameters that take any number of values; only code can give these."""
    returns: Returns = field(default_factory=Returns)
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
    hints, unread = read_hints(function, raw, name)
    doc = _read_doc(function, raw.parameters)
    starred = starred_names(raw.parameters.values())
    built = [
        _build_parameter(parameter, hints[parameter.name], doc.parameters.get(parameter.name, ""))
        for parameter in raw.parameters.values()
    ]
    kinds = [parameter.kind for parameter in raw.parameters.values()]
    parameters = [one for one, kind in zip(built, kinds, strict=True) if kind not in _STARS]
    stars: dict[Star, Parameter] = {
        _STARS[kind]: one for one, kind in zip(built, kinds, strict=True) if kind in _STARS
    }
    names = [parameter.name for parameter in parameters]
    in_doc, unread_in_doc = read_examples(doc.examples, name, names)
    given, unread_given = read_examples(examples, name, names)
    text = description or doc.description
    library = library_of(function)
    points = star_points(name, starred, is_all=not parameters, is_own=not library)
    unread += type_points(name, parameters)
    weak = [*unread, *points, *weak_points(name, text, parameters, doc.parameters, raw.parameters)]
    if library and starred and not parameters:
        weak = points
    elif library:
        weak = [library_point(name, library, starred)] if weak else []
    else:
        weak += unread_in_doc
    return Signature(
        description=text or _made_description(name),
        parameters=tuple(parameters),
        stars=stars,
        returns=Returns(hint=read_result_hint(function), description=doc.returns),
        examples=(*in_doc, *given),
        warnings=(*weak, *unread_given),
    )


def python_signature(function: Callable[..., Value], name: str) -> inspect.Signature:
    """`inspect.signature`, or an error that says what to write.

    Raises:
        ToolDefinitionError: Python knows no signature of it.
    """
    if type(function).__name__ == "ufunc" and isinstance(n_inputs := getattr(function, "nin", None), int):
        return _signature_of_ufunc(n_inputs)
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


def _signature_of_ufunc(n_inputs: int) -> inspect.Signature:
    """Of a numpy ufunc: its inputs, as its documentation names them, without what steers memory and types."""
    names = ["x"] if n_inputs == 1 else [f"x{at + 1}" for at in range(n_inputs)]
    return inspect.Signature([_Kind(name, _Kind.POSITIONAL_ONLY) for name in names])


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


def read_result_hint(function: Value) -> Value:
    """The hint of what a callable returns, a text if it names nothing that exists; `MISSING` if there is none."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Value]", function).func
    if isinstance(function, type):
        return cast("type[Value]", function)
    target = target_of(function)
    try:
        return typing.get_type_hints(target, include_extras=True).get("return", MISSING)
    except Exception:  # noqa: BLE001 - evaluating hints runs people's expressions
        return getattr(target, "__annotations__", {}).get("return", MISSING)


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
        is_keyword_only=raw.kind is _Kind.KEYWORD_ONLY,
        is_required=raw.default is MISSING and raw.kind not in _STARS,
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
        returns=first.returns or second.returns,
        examples=first.examples or second.examples,
    )


def _own_doc(target: Value) -> str | None:
    """The docstring a person wrote: not that of `object.__init__`."""
    return target.__doc__ if isinstance(target, types.FunctionType) else None


def _made_description(name: str) -> str:
    return name.replace("_", " ").strip().capitalize() + "."
