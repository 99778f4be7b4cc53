"""Worked examples of a tool: lines `task -> call(arg=value)` read into data.

It must not run anything: values are literals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from agent_magic.core.messages import ToolExample
from agent_magic.core.values import Value

_ARROW = re.compile(r"\s*(?:->|→|=>)\s*")


def read_examples(
    examples: Iterable[str | ToolExample], tool_name: str, parameters: Sequence[str]
) -> tuple[tuple[ToolExample, ...], tuple[str, ...]]:
    """The examples that can be used, and for each of the others a warning to the author."""
    found: list[ToolExample] = []
    warnings: list[str] = []
    for example in examples:
        try:
            found.append(
                _checked(
                    example if isinstance(example, ToolExample) else parse_example(example, parameters),
                    parameters,
                )
            )
        except ValueError as error:
            text = example if isinstance(example, str) else example.task
            warnings.append(
                f"Tool {tool_name!r}: example {text!r} is left out: {error}. "
                f"Write: task in words -> {tool_name}({', '.join(f'{name}=…' for name in parameters)})"
            )
    return tuple(found), tuple(warnings)


def parse_example(line: str, parameters: Sequence[str] = ()) -> ToolExample:
    """One line `task -> call(arg=value)`; values without a name go to `parameters` in order.

    Raises:
        ValueError: No arrow is followed by a call whose values are literals.
    """
    arrows = list(_ARROW.finditer(line))
    if not arrows:
        raise ValueError("it has no '->'")
    for arrow in arrows:
        try:
            call = ast.parse(line[arrow.end() :].strip().strip("`"), mode="eval").body
        except (SyntaxError, ValueError):
            continue
        if isinstance(call, ast.Call):
            return ToolExample(
                task=_unquoted(line[: arrow.start()].strip()), arguments=_arguments(call, parameters)
            )
    raise ValueError("what follows '->' is no call")


def has_arrow(line: str) -> bool:
    """Whether a line looks like an example of a call, be it right or not."""
    return bool(_ARROW.search(line))


def _arguments(call: ast.Call, parameters: Sequence[str]) -> dict[str, Value]:
    if len(call.args) > len(parameters):
        raise ValueError("it has more values than there are parameters")
    given = [
        *zip(parameters, call.args, strict=False),
        *((keyword.arg, keyword.value) for keyword in call.keywords),
    ]
    arguments: dict[str, Value] = {}
    for name, node in given:
        if name is None:
            raise ValueError("** has no place in it")
        try:
            arguments[name] = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError):
            raise ValueError(f"{ast.unparse(node)!r} is no literal") from None
    return arguments


def _checked(example: ToolExample, parameters: Sequence[str]) -> ToolExample:
    unknown = next((name for name in example.arguments if name not in parameters), None)
    if unknown is not None:
        raise ValueError(f"there is no parameter {unknown!r}")
    if not example.task:
        raise ValueError("it has no task in words")
    return example


def _unquoted(text: str) -> str:
    for quote in ('"', "'"):
        if len(text) > 1 and text[0] == text[-1] == quote:
            return text[1:-1]
    return text
