"""Tools shaped like those of LangChain: `name`, `description`, `args_schema` or `args`, and `invoke` or `_run`.

It must not import LangChain, nor call the tool.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, cast

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.values import Value
from agent_magic.tools.docstring import parse_docstring
from agent_magic.tools.foreign_form import ForeignForm, has, look
from agent_magic.tools.hints import build_hint_schema, build_schema
from agent_magic.tools.parameter import MISSING, Parameter, Returns
from agent_magic.tools.signature import python_signature, read_hints, read_result_hint
from agent_magic.tools.validators import fault_in_schema

_OF_THE_LIBRARY = ("run_manager", "callbacks", "config")
"""Parameters of a body that the library fills."""
_STARS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def is_langchain_tool(value: Value) -> bool:
    """Whether it has that shape; of a class, whether its instances have."""
    is_class = isinstance(value, type)
    if not (is_class or all(isinstance(look(value, key), str) for key in ("name", "description"))):
        return False
    fields = look(value, "model_fields") if is_class else None
    has_schema = (
        has(value, "args_schema")
        or has(value, "args")
        or (isinstance(fields, dict) and "args_schema" in fields)
    )
    return has_schema and (callable(look(value, "invoke")) or callable(look(value, "_run")))


def read_langchain(source: Value, name: str) -> ForeignForm:
    """What such a tool says of itself.

    Raises:
        ToolDefinitionError: No call of it could be made right.
    """
    body, is_async = _body_of(source)
    gives_more = (
        look(source, "response_format") == "content_and_artifact"
    )  # the body's own hint is of the pair
    hint = MISSING if gives_more or body is None else read_result_hint(body)
    return ForeignForm(
        description=source.description,
        parameters=_read_arguments(source, name),
        returns=Returns(hint=hint),
        is_async=is_async,
        call=_caller_of(source, is_async=is_async),
    )


def _body_of(source: Value) -> tuple[Value, bool]:
    """The function that a tool calls in the end, and whether it is async alone."""
    function, coroutine = look(source, "func"), look(source, "coroutine")
    if callable(function):
        return function, False
    if callable(coroutine):
        return coroutine, True
    run = look(source, "_run")
    return (run, inspect.iscoroutinefunction(run)) if callable(run) else (None, False)


def _caller_of(source: Value, *, is_async: bool) -> Callable[[dict[str, Value]], Value]:
    invoke, ainvoke = look(source, "invoke"), look(source, "ainvoke")
    if is_async and callable(ainvoke):
        return ainvoke
    if not callable(invoke):
        return lambda arguments: source._run(**arguments)

    def call(arguments: dict[str, Value]) -> Value:
        try:
            return invoke(arguments)
        except NotImplementedError:
            # A tool whose `_run` says that it is async alone.
            if callable(ainvoke) and _has_body_of_its_own(source):
                return ainvoke(arguments)
            raise

    return call


def _has_body_of_its_own(source: Value) -> bool:
    """Whether `_arun` is written beside the library's own `ainvoke`, and not inherited with it."""
    owners = {
        name: next((cls for cls in type(source).__mro__ if name in vars(cls)), None)
        for name in ("_arun", "ainvoke")
    }
    return owners["_arun"] is not None and owners["_arun"] is not owners["ainvoke"]


def _read_arguments(source: Value, name: str) -> tuple[Parameter, ...]:
    schema = look(source, "args_schema")
    if isinstance(schema, type):
        fields = getattr(schema, "model_fields", None)
        if isinstance(fields, Mapping):
            return _from_fields(cast("Mapping[str, Value]", fields), _offered(source), name)
        schema = cast("Value", schema).schema()  # a class of pydantic 1
    if isinstance(schema, Mapping):
        return _from_schema(cast("Mapping[str, Value]", schema), name)
    if (body := look(source, "_run")) is not None and (found := _from_body(body, name)):
        return found
    args = look(source, "args")
    if not isinstance(args, Mapping):
        raise ToolDefinitionError(
            f"Tool {name!r}: it has neither args_schema nor args, so no call could be made right.\n"
            f"Give it an args_schema, or wrap it in a function with named parameters"
        )
    properties = cast("Mapping[str, Value]", args)
    needed = [key for key, spec in properties.items() if "default" not in spec]
    return _from_schema({"properties": properties, "required": needed}, name)


def _offered(source: Value) -> frozenset[str] | None:
    """The arguments that a model is to give; None if the tool does not say."""
    args = look(source, "args")
    return frozenset(cast("Mapping[str, Value]", args)) if isinstance(args, Mapping) else None


def _from_fields(
    fields: Mapping[str, Value], offered: frozenset[str] | None, name: str
) -> tuple[Parameter, ...]:
    parameters: list[Parameter] = []
    for field_name, field in fields.items():
        key = str(field.alias or field_name)
        is_required = field.is_required()
        if offered is not None and key not in offered:
            if is_required:
                raise ToolDefinitionError(
                    f"Tool {name!r}: its own library fills in {key!r}, and nothing does that here, so no call could be made right.\n"
                    f"Wrap it in a function that gives it"
                )
            continue
        hint = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
        parameters.append(
            Parameter(
                name=key,
                hint=hint,
                hint_schema=build_hint_schema(hint),
                description=str(field.description or ""),
                default=MISSING if is_required or field.default_factory else field.default,
                is_required=is_required,
            )
        )
    return tuple(parameters)


def _from_schema(schema: Mapping[str, Value], name: str) -> tuple[Parameter, ...]:
    definitions = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    required = schema.get("required", ())
    parameters: list[Parameter] = []
    for key, spec in cast("Mapping[str, Value]", schema.get("properties", {})).items():
        said = cast("Mapping[str, Value]", spec) if isinstance(spec, Mapping) else {}
        inner = {word: value for word, value in said.items() if word not in ("description", "default")}
        fault = fault_in_schema(inner)
        if fault is not None:
            raise ToolDefinitionError(
                f"Tool {name!r}: the schema of its argument {key!r} is no JSON Schema: {fault.message}.\n"
                f"Correct its args_schema"
            )
        hint_schema = build_schema(inner, definitions)
        parameters.append(
            Parameter(
                name=key,
                hint=dict if hint_schema.schema.get("properties") else MISSING,
                hint_schema=hint_schema,
                description=str(said.get("description") or ""),
                default=said.get("default", MISSING),
                is_required=key in required,
            )
        )
    return tuple(parameters)


def _from_body(body: Value, name: str) -> tuple[Parameter, ...]:
    """The named parameters of `_run`, but for those that its library fills; none if it takes anything."""
    raw = python_signature(body, name)
    hints, _ = read_hints(body, raw, name)
    doc = parse_docstring(inspect.getdoc(body), list(raw.parameters))
    return tuple(
        Parameter(
            name=key,
            hint=hints[key],
            hint_schema=build_hint_schema(Any if hints[key] is MISSING else hints[key]),
            description=doc.parameters.get(key, ""),
            default=parameter.default,
            is_required=parameter.default is MISSING,
        )
        for key, parameter in raw.parameters.items()
        if parameter.kind not in _STARS and key not in _OF_THE_LIBRARY
    )
