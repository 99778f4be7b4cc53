"""All that is weak about a tool, each with the fix: what its author is told with each cell, and more for its card.

It must not refuse anything.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Iterable, Sequence
from typing import cast

from agent_magic.core.values import Value
from agent_magic.tools.adapt import ForeignTool
from agent_magic.tools.callable_tool import CallableTool
from agent_magic.tools.origin import library_of
from agent_magic.tools.parameter import MISSING, Parameter
from agent_magic.tools.tool import Tool

_LONGEST_DESCRIPTION = 1_000
_MOST_PARAMETERS = 12
_MUTABLE = (list, dict, set, bytearray)
_COLLECTIONS = (list, dict, set, frozenset, collections.abc.Sequence, collections.abc.Mapping)
_ITERATORS = (
    collections.abc.Iterator,
    collections.abc.Generator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncGenerator,
)
_BOUNDS = frozenset(
    [
        *("limit", "n", "k", "top", "max", "maximum", "num", "number", "count", "size", "length", "depth"),
        *("page", "head", "tail", "first", "last", "rows", "items", "stop", "end"),
    ]
)
"""Words in a parameter's name that say how much is returned."""
_NAMES_OF_ANYTHING = frozenset(
    [
        *("func", "function", "foo", "bar", "baz", "test", "tmp", "temp", "tool", "thing"),
        *("run", "main", "do", "process", "execute", "get", "call"),
    ]
)


def weaknesses(tool: Tool) -> tuple[str, ...]:
    """A sentence for each; of what a library wrote only what is told anyway, for the author cannot better it."""
    definition = tool.definition
    is_others = isinstance(tool, ForeignTool) or (
        isinstance(tool, CallableTool) and bool(library_of(tool.function))
    )
    if is_others:
        return tool.warnings
    points = _points(tool.name, tool.description, definition.parameters, definition.returns.hint)
    return (*tool.warnings, *points)


def _points(name: str, text: str, parameters: Sequence[Parameter], returned: Value) -> list[str]:
    points: list[str] = []
    if len(name) < 3 or name.strip("_").lower() in _NAMES_OF_ANYTHING:
        points.append(f"Tool {name!r}: the name says little. Call it by what it gives, e.g.  mean_price")
    if len(text) > _LONGEST_DESCRIPTION:
        points.append(
            f"Tool {name!r}: the description has {len(text):,} characters, which go with each request. "
            f"Say in a few lines what it returns and when to use it"
        )
    if len(parameters) > _MOST_PARAMETERS:
        points.append(
            f"Tool {name!r} takes {len(parameters)} arguments. Take what belongs together as one dataclass, or make two tools"
        )
    for parameter in parameters:
        points += _parameter_points(name, parameter)
    return points + _result_points(name, parameters, returned)


def _parameter_points(name: str, parameter: Parameter) -> list[str]:
    points: list[str] = []
    default, key = parameter.default, parameter.name
    if isinstance(default, _MUTABLE):
        kind = type(cast("Value", default)).__name__
        points.append(
            f"Tool {name!r}: the default of {key!r} is a {kind} that all calls share, so what one call puts in the next one finds. "
            f"Write  {key}: {kind} | None = None  and make it in the body"
        )
    schema = parameter.hint_schema.schema
    if schema.get("type") == "object" and not schema.get("properties"):
        more: Value = schema.get("additionalProperties", True)
        if more in (True, {}):
            points.append(
                f"Tool {name!r}: {key!r} is a dict of anything, so a model has to guess its keys. "
                f"Give it a TypedDict or a dataclass, or  dict[str, float]"
            )
    if schema.get("type") == "array" and not (schema.get("items") or schema.get("prefixItems")):
        points.append(f"Tool {name!r}: {key!r} is a list of anything. Say of what, e.g.  list[str]")
    return points


def _result_points(name: str, parameters: Iterable[Parameter], returned: Value) -> list[str]:
    origin: Value = typing.get_origin(returned) or returned
    is_open = origin in _COLLECTIONS or (origin is tuple and Ellipsis in typing.get_args(returned))
    words = {word for parameter in parameters for word in parameter.name.lower().split("_")}
    if returned is MISSING:
        point = f"Tool {name!r}: what it returns has no type hint, so code cannot go by it. Add one, e.g.  -> float"
    elif returned is None or returned is types.NoneType:
        point = (
            f"Tool {name!r} returns nothing, so a model is not told what came of a call. "
            f"Return a few words about what was done"
        )
    elif origin in _ITERATORS:
        point = f"Tool {name!r} returns an iterator, of which a model is shown no item. Return a list of a bounded length"
    elif is_open and not words & _BOUNDS:
        point = (
            f"Tool {name!r} may return any number of items, and what is too long is cut for a model. "
            f"Give it a parameter such as  limit: int = 20,  or return a summary"
        )
    else:
        return []
    return [point]
