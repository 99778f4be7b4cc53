"""A tool as code sees it: a Python signature with a docstring, for the prompt of an agent that writes code.

It must not say how JSON calls the tool: there is no `@name` and no schema in it.
"""

from __future__ import annotations

import ast
import enum
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from functools import partial
from typing import cast

from agent_magic.core.messages import ToolExample
from agent_magic.core.redact import redact
from agent_magic.core.state import parse_reference
from agent_magic.core.values import Value, is_text_like, safe_repr
from agent_magic.tools.builtin import is_final_answer
from agent_magic.tools.callable_tool import CallableTool
from agent_magic.tools.hint_text import has_choices, to_hint_text
from agent_magic.tools.hints import LIVE, LiveType
from agent_magic.tools.parameter import MISSING, Parameter
from agent_magic.tools.tool import Tool
from agent_magic.tools.wording import LIMITS, name_item
from agent_magic.tools.words import PYTHON, to_python_shape

_LONGEST_DEFAULT = 60
_FINAL_ANSWER = "Give the answer to the task and end it. Nothing after this call runs."
_ANSWER = "the answer itself: any Python object, such as a number, a text or a DataFrame"
_TYPED_ANSWER = "the answer itself"
_LIVE_NAMES = {"image": "Image", "audio": "Any", "live value": "Any"}


def to_code_prompt(tool: Tool) -> str:
    """The tool as a `def` line and a docstring: description, Args, Returns, Examples as calls."""
    definition = tool.definition
    is_final, is_async = is_final_answer(tool), is_async_tool(tool)
    returns = "" if definition.returns.hint is MISSING else f" -> {to_hint_text(definition.returns.hint)}"
    if is_final:
        returns = " -> NoReturn"
    head = f"{'async ' if is_async else ''}def {tool.name}({', '.join(_to_parameters(tool))}){returns}:"
    return f"{head}\n{textwrap.indent(_to_docstring(tool, is_final=is_final, is_async=is_async), '    ')}"


def is_async_tool(tool: Tool) -> bool:
    """Whether a call of it is to be awaited, as far as its body says so."""
    body: Value = tool.function if isinstance(tool, CallableTool) else tool.forward
    while isinstance(body, partial):
        body = cast("partial[Value]", body).func
    is_instance = not isinstance(body, type) and not inspect.isroutine(body)
    return inspect.iscoroutinefunction(type(body).__call__ if is_instance else body)


def _to_parameters(tool: Tool) -> Iterator[str]:
    parameters, stars = tool.definition.parameters, tool.definition.stars
    is_marked = False
    for at, parameter in enumerate(parameters):
        if parameter.is_keyword_only and not is_marked:
            is_marked = True
            yield f"*{_to_annotated(stars['*'])}" if "*" in stars else "*"
        yield _to_annotated(parameter) + _to_default(parameter)
        is_last = at + 1 == len(parameters) or not parameters[at + 1].is_positional_only
        if parameter.is_positional_only and is_last:
            yield "/"
    if "*" in stars and not is_marked:
        yield f"*{_to_annotated(stars['*'])}"
    if "**" in stars:
        yield f"**{_to_annotated(stars['**'])}"


def _to_annotated(parameter: Parameter) -> str:
    text = _to_hint(parameter)
    return f"{parameter.name}: {text}" if text else parameter.name


def _to_hint(parameter: Parameter) -> str:
    if parameter.hint is not MISSING:
        return to_hint_text(parameter.hint)
    schema = parameter.hint_schema.schema
    if isinstance(live := schema.get(LIVE), LiveType):
        return _LIVE_NAMES.get(live.name, live.name)
    return to_python_shape(_without_choices(schema)) if schema else ""


def _without_choices(node: Mapping[str, Value]) -> dict[str, Value]:
    """The schema's types alone: its choices are told among the arguments."""
    kept = {key: value for key, value in node.items() if key not in ("enum", "const") or "type" not in node}
    if "anyOf" in kept:
        kept["anyOf"] = [_without_choices(member) for member in kept["anyOf"]]
    return kept


def _to_default(parameter: Parameter) -> str:
    if parameter.is_required:
        return ""
    sign = " = " if _to_hint(parameter) else "="
    default = parameter.default
    if isinstance(default, enum.Enum):
        return f"{sign}{type(default).__name__}.{default.name}"
    return sign + (_to_literal(default) or "...")


def _to_literal(value: Value) -> str:
    """A short value as Python writes it; empty if it cannot be."""
    text = redact(safe_repr(value)) if is_text_like(value) else ""
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return ""
    return text if len(text) <= _LONGEST_DEFAULT else ""


def _to_docstring(tool: Tool, *, is_final: bool, is_async: bool) -> str:
    definition = tool.definition
    parts = [_FINAL_ANSWER if is_final else tool.description.strip()]
    if is_async:
        parts.append(f"It is async: write `await {tool.name}(...)`.")
    given = [*definition.parameters, *definition.stars.values()]
    described = [text for one in given if (text := _to_argument(one, is_final=is_final))]
    if described:
        parts.append("Args:\n" + textwrap.indent("\n".join(described), "    "))
    if returned := _to_returned(tool):
        parts.append(f"Returns:\n    {returned}")
    if definition.schema.examples:
        calls = "\n".join(
            _to_call(tool, example, is_async=is_async) for example in definition.schema.examples
        )
        parts.append("Examples:\n" + textwrap.indent(calls, "    "))
    text = "\n\n".join(parts).replace('"""', "'''").replace("\\", "\\\\")
    return f'"""{text}\n"""' if "\n" in text or text.endswith('"') else f'"""{text}"""'


def _to_returned(tool: Tool) -> str:
    said, schema = tool.definition.returns.description, tool.definition.result_schema
    if schema is None:
        return said
    promised = f"What fits this JSON Schema: {schema.text}"
    return f"{said.rstrip('.')}. {promised}" if said else promised


def _to_argument(parameter: Parameter, *, is_final: bool) -> str:
    hints = parameter.hint_schema
    own = "" if LIVE in hints.schema else " ".join(str(hints.schema.get("description", "")).split())
    text = parameter.description or own
    if is_final:
        text = _ANSWER if parameter.hint is MISSING or not hints.schema else _TYPED_ANSWER
    meant = hints.definitions.get(str(hints.schema.get("$ref", "")).rpartition("/")[2], hints.schema)
    notes = list(_to_notes(meant, is_listed=has_choices(parameter.hint), is_own=hints.is_of_adapter))
    if not text and not notes:
        return ""
    return f"{parameter.name}: {'; '.join([text.rstrip('.') if notes else text, *notes] if text else notes)}"


def _to_notes(node: Value, *, is_listed: bool, is_own: bool, lead: str = "") -> Iterator[str]:
    """What the hint does not say of the values that may be given: choices, bounds, fields."""
    if not isinstance(node, dict):
        return
    schema = cast("dict[str, Value]", node)
    if LIVE in schema:
        return
    for member in schema.get("anyOf") or schema.get("oneOf") or ():
        yield from _to_notes(member, is_listed=is_listed, is_own=is_own, lead=lead)
    if "enum" in schema and not is_listed:
        yield f"{lead}{PYTHON.to_expected(schema)}"
    if schema.get("type") == "object" and schema.get("properties"):
        yield f"{lead}as a dict: {to_python_shape(schema)}"
    is_fixed = "prefixItems" in schema
    if is_fixed and any(map(name_item, schema["prefixItems"])):
        yield f"{lead}as a tuple: {to_python_shape(schema)}"
    for key, limited in LIMITS.items():
        is_said = key == "items" or (is_fixed and key in ("minItems", "maxItems"))
        if key in schema and not is_said and not (is_own and key == "uniqueItems"):
            yield lead + limited.format(schema[key])
    yield from _to_notes(schema.get("items"), is_listed=is_listed, is_own=is_own, lead="each item ")
    values = schema.get("additionalProperties")
    yield from _to_notes(values, is_listed=is_listed, is_own=is_own, lead="each value ")


def _to_call(tool: Tool, example: ToolExample, *, is_async: bool) -> str:
    by_name = {parameter.name: parameter for parameter in tool.definition.parameters}
    values = [
        ("" if by_name[name].is_positional_only else f"{name}=") + _to_value(value, by_name[name])
        for name, value in sorted(example.arguments.items(), key=lambda pair: list(by_name).index(pair[0]))
    ]
    task = " ".join(example.task.split())
    return f"{'await ' if is_async else ''}{tool.name}({', '.join(values)})  # {task}"


def _to_value(value: Value, parameter: Parameter) -> str:
    """A value of an example; `"@df"` is the variable itself."""
    name = parse_reference(value) if isinstance(value, str) else None
    is_text = parameter.hint is str or parameter.hint_schema.schema.get("type") == "string"
    if name is not None and (parameter.is_by_reference or not is_text):
        return name
    return safe_repr(value, 200)
