"""Tools shaped like those of smolagents: `name`, `description`, `inputs`, `output_type` and a method `forward`.

It must not import smolagents, nor call the tool.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.values import Value, is_json
from agent_magic.tools.class_form import PYTHON_TYPES, TYPES
from agent_magic.tools.foreign_form import ForeignForm, look
from agent_magic.tools.hints import (
    LIVE,
    REFERENCE_TEXT,
    HintSchema,
    LiveType,
    build_hint_schema,
    build_schema,
)
from agent_magic.tools.parameter import MISSING, Parameter, Returns
from agent_magic.tools.signature import python_signature, read_hints, read_result_hint
from agent_magic.tools.validators import fault_in_schema


def is_smolagents_tool(value: Value) -> bool:
    """Whether it has that shape; of a class, whether its instances have."""
    is_named = isinstance(value, type) or all(
        isinstance(look(value, key), str) for key in ("name", "description")
    )
    is_described = isinstance(look(value, "inputs"), Mapping) and isinstance(look(value, "output_type"), str)
    return is_named and is_described and callable(look(value, "forward"))


def read_smolagents(source: Value, name: str) -> ForeignForm:
    """What such a tool says of itself."""
    raw = python_signature(source.forward, name)
    _check_inputs(source, raw, name)
    hints, _ = read_hints(source.forward, raw, name)
    hint = read_result_hint(source.forward)
    output_schema = look(source, "output_schema")
    return ForeignForm(
        description=source.description,
        parameters=tuple(
            _to_input(key, spec, raw.parameters.get(key), hints.get(key, MISSING))
            for key, spec in cast("Mapping[str, Value]", source.inputs).items()
        ),
        returns=Returns(hint=PYTHON_TYPES.get(source.output_type, Any) if hint is MISSING else hint),
        is_async=inspect.iscoroutinefunction(source.forward),
        call=lambda arguments: source(**arguments),
        output_schema=cast("Mapping[str, Value]", output_schema) if _is_schema(output_schema) else None,
    )


def _check_inputs(source: Value, raw: inspect.Signature, name: str) -> None:
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in raw.parameters.values()):
        return
    for key in source.inputs:
        if key not in raw.parameters:
            raise ToolDefinitionError(
                f"Tool {name!r}: its inputs have {key!r}, which its forward({', '.join(raw.parameters)}) does not take.\n"
                "Give both the same names"
            )


def _is_schema(value: Value) -> bool:
    # It is information, so a wrong one is left out.
    return isinstance(value, dict) and fault_in_schema(cast("dict[str, Value]", value)) is None


def _to_input(name: str, spec: Value, raw: inspect.Parameter | None, hint: Value) -> Parameter:
    said = cast("Mapping[str, Value]", spec) if isinstance(spec, Mapping) else {}
    default = MISSING if raw is None else raw.default
    is_nullable = said.get("nullable") is True
    return Parameter(
        name=name,
        hint=hint,
        hint_schema=_to_hint_schema(said, hint),
        description=str(said.get("description") or ""),
        default=default,
        # Of a body that takes `**kwargs` the inputs alone say what may be left out.
        is_required=default is MISSING and not (is_nullable and raw is None),
        is_keyword_only=raw is None,
    )


def _to_hint_schema(spec: Mapping[str, Value], hint: Value) -> HintSchema:
    """The hint of `forward`, where there is one, says more than the input's type, and is kept to it."""
    kind = spec.get("type")
    kinds = cast("list[Value]", kind) if isinstance(kind, list) else [kind]
    own = {key: value for key, value in spec.items() if key not in ("description", "nullable", "type")}
    if hint is not MISSING and hint is not Any:
        declared = build_hint_schema(hint)
        more = {key: value for key, value in own.items() if key not in declared.schema}
        if LIVE in declared.schema or not more or "type" not in declared.schema:
            return declared
        return HintSchema(
            schema={**declared.schema, **more},
            definitions=declared.definitions,
            adapter=declared.adapter,
            is_of_adapter=False,
        )
    if any(one in ("image", "audio") for one in kinds):
        return _by_reference(str(kinds[0]), lambda _: True)
    known = [one for one in kinds if one in TYPES and one != "any"]
    if len(known) < len(kinds) or not known:
        return HintSchema(schema={}, definitions={}, adapter=None)
    if spec.get("nullable") is True and "null" not in known:
        known.append("null")
    schema = {"type": known[0] if len(known) == 1 else known, **own}
    if "object" in known:  # there any object is one, a DataFrame too
        live = _by_reference("object", lambda value: not is_json(value)).schema
        return HintSchema(schema={"anyOf": [schema, live]}, definitions={}, adapter=None)
    return build_schema(schema, {})


def _by_reference(name: str, accepts: Callable[[Value], bool]) -> HintSchema:
    live = LiveType(name=name, accepts=accepts)
    return HintSchema(
        schema={"type": "string", "description": REFERENCE_TEXT, LIVE: live}, definitions={}, adapter=None
    )
