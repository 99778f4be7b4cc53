"""The class form of a tool: its attributes, checked against `forward` when the class is defined.

It must not make instances.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from typing import Any, cast

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.state import is_usable_name
from agent_magic.core.values import Value
from agent_magic.tools.call_rules import fault_of_rules
from agent_magic.tools.hints import LIVE, REFERENCE_TEXT, HintSchema, LiveType, build_hint_schema
from agent_magic.tools.parameter import MISSING, Parameter, Returns
from agent_magic.tools.precondition import requires_of
from agent_magic.tools.signature import python_signature, read_hints, read_result_hint

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null", "any", "image", "audio")
PYTHON_TYPES: Mapping[str, Value] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": None,
    "any": Any,
    "image": "Image",
    "audio": Any,
}
"""What `TYPES` mean in code; a text stands for itself."""
_BY_REFERENCE = ("image", "audio")


def check_class(cls: type) -> None:
    """Check that a model could be told of the tool and call it right.

    Raises:
        ToolDefinitionError: It names the class, the attribute and what to write.
    """
    attributes = {
        name: inspect.getattr_static(cls, name, None)
        for name in ("name", "description", "inputs", "output_type")
    }
    # A property is worked out by each instance, so it cannot be looked at here.
    late = {name for name, value in attributes.items() if isinstance(value, property)}
    for attribute in ("name", "description", "output_type"):
        value = attributes[attribute]
        if attribute not in late and not (isinstance(value, str) and value.strip()):
            _refuse(
                cls,
                f"{attribute!r} is {value!r}, expected text",
                f'{attribute} = "{_example_of(attribute, cls)}"',
            )
    if "name" not in late and not is_usable_name(attributes["name"]):
        _refuse(
            cls,
            f"'name' is {attributes['name']!r}, which is no Python name",
            f'name = "{cls.__name__.lower()}"',
        )
    if "output_type" not in late and attributes["output_type"] not in TYPES:
        near = _nearest(attributes["output_type"], TYPES)
        _refuse(
            cls,
            f"'output_type' is {attributes['output_type']!r}, expected one of {', '.join(TYPES)}",
            f'output_type = "{near}"',
        )
    if not callable(getattr(cls, "forward", None)) or getattr(cls.forward, "is_missing", False):  # pyright: ignore[reportAttributeAccessIssue] - asked for in the same line
        _refuse(cls, "it has no method 'forward'", "def forward(self, …): …")
    requires: Value = requires_of(cls)
    if not (requires is None or callable(requires) or isinstance(requires, property)):
        _refuse(cls, f"'requires' is {requires!r}, expected a function", "requires = is_allowed")
    _check_rules(cls)
    if "inputs" not in late:
        _check_inputs(cls, attributes["inputs"])


def read_parameters(tool: Value) -> tuple[Parameter, ...]:
    """The parameters of a class-form tool: schemas from `inputs`, types and defaults from `forward`."""
    raw = python_signature(tool.forward, tool.name)
    hints, _ = read_hints(tool.forward, raw, tool.name)
    parameters: list[Parameter] = []
    specs = cast("Mapping[str, Mapping[str, Value]]", tool.inputs)
    for name, parameter in raw.parameters.items():  # in the order of `forward`, as code may call by position
        if name not in specs:
            continue
        spec, hint = specs[name], hints[name]
        parameters.append(
            Parameter(
                name=name,
                hint=hint,
                hint_schema=_to_hint_schema(spec, hint),
                description=str(spec.get("description", "")),
                default=parameter.default,
                is_positional_only=parameter.kind is parameter.POSITIONAL_ONLY,
                is_keyword_only=parameter.kind is parameter.KEYWORD_ONLY,
                is_required=parameter.default is MISSING,
            )
        )
    return tuple(parameters)


def read_returns(tool: Value) -> Returns:
    """What a class-form tool gives back, by the hint of `forward` or else by `output_type`."""
    hint = read_result_hint(tool.forward)
    return Returns(hint=PYTHON_TYPES[tool.output_type] if hint is MISSING else hint)


def _to_hint_schema(spec: Mapping[str, Value], hint: Value) -> HintSchema:
    declared = build_hint_schema(Any if hint is MISSING else hint)
    kind = spec["type"]
    if LIVE in declared.schema:
        return declared
    if kind in _BY_REFERENCE:
        live = LiveType(name=kind, accepts=lambda _: True)
        return HintSchema(
            schema={"type": "string", "description": REFERENCE_TEXT, LIVE: live}, definitions={}, adapter=None
        )
    schema = {key: value for key, value in spec.items() if key not in ("description", "nullable")}
    if kind == "any":
        del schema["type"]
    elif spec.get("nullable"):
        schema = {"anyOf": [schema, {"type": "null"}]}
    return HintSchema(schema=schema, definitions={}, adapter=declared.adapter, is_of_adapter=False)


def _check_rules(cls: type) -> None:
    values: dict[str, Value] = {
        "timeout_s": None,
        "approve": False,
        "sequential": False,
        "main_thread": False,
        "output_schema": None,
        "examples": (),
    }
    for name, usual in values.items():
        value = inspect.getattr_static(cls, name, usual)
        values[name] = usual if isinstance(value, property) else value
    fault = fault_of_rules(**values)
    if fault is not None:
        _refuse(cls, *fault)


def _check_inputs(cls: type, inputs: Value) -> None:
    if not isinstance(inputs, Mapping):
        _refuse(
            cls,
            f"'inputs' is {inputs!r}, expected a mapping",
            'inputs = {"city": {"type": "string", "description": "…"}}',
        )
    specs = cast("Mapping[str, Value]", inputs)
    forward: Value = cls.forward  # pyright: ignore[reportAttributeAccessIssue] - checked before
    raw = list(python_signature(forward, cls.__name__).parameters.values())
    parameters = {parameter.name: parameter for parameter in (raw if _is_static(cls) else raw[1:])}
    named = [name for name, p in parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for name in specs:
        if name not in named:
            near = difflib.get_close_matches(
                str(name), [other for other in named if other not in specs], n=1, cutoff=0.3
            )
            _refuse(
                cls,
                f"'inputs' describes {name!r}, which is no parameter of forward ({', '.join(named) or 'it has none'})",
                f'"{near[0]}" in its place'
                if near
                else "a parameter of that name in forward, or take it out of inputs",
            )
    for name in named:
        if name not in specs:
            _refuse(
                cls,
                f"parameter {name!r} of forward is not described in 'inputs'",
                f'"{name}": {{"type": "string", "description": "…"}}',
            )
    for name, spec in specs.items():
        _check_input(cls, name, spec)


def _check_input(cls: type, name: str, spec: Value) -> None:
    entry = f'"{name}": {{"type": "string", "description": "…"}}'
    if not isinstance(spec, Mapping):
        _refuse(cls, f"inputs[{name!r}] is {spec!r}, expected a mapping", entry)
    values = cast("Mapping[str, Value]", spec)
    kind = values.get("type")
    kinds = cast("list[Value]", kind) if isinstance(kind, list) else [kind]
    if not kinds or any(one not in TYPES for one in kinds):
        near = _nearest(kind, TYPES)
        _refuse(
            cls,
            f"inputs[{name!r}] has the type {kind!r}, expected one of {', '.join(TYPES)}",
            f'"type": "{near}"',
        )
    if not str(values.get("description") or "").strip():
        _refuse(cls, f"inputs[{name!r}] has no description", f'"description": "what {name} means"')


def _is_static(cls: type) -> bool:
    return isinstance(inspect.getattr_static(cls, "forward"), staticmethod)


def _nearest(value: Value, names: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(value, names, n=1, cutoff=0.3) if isinstance(value, str) else []
    return near[0] if near else names[0]


def _example_of(attribute: str, cls: type) -> str:
    return {
        "name": cls.__name__.lower(),
        "description": "What it returns and when to use it.",
        "output_type": "string",
    }[attribute]


def _refuse(cls: type, what: str, fix: str) -> None:
    raise ToolDefinitionError(f"Tool class {cls.__name__}: {what}.\nWrite:  {fix}")
