"""What a tool of another library says of itself, as ours are made from it, and how such an object is looked at.

It must not know any library.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent_magic.core.values import Value
from agent_magic.tools.parameter import Parameter, Returns

_NOTHING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignForm:
    """A foreign tool, as ours is made from it."""

    description: str
    parameters: tuple[Parameter, ...]
    returns: Returns
    is_async: bool
    call: Callable[[dict[str, Value]], Value]
    """Calls it with arguments by name."""
    output_schema: Mapping[str, Value] | None = None


def look(value: Value, name: str) -> Value:
    """An attribute, None if there is none; looking at it may run code of the tool's library."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a property may raise anything
        return None


def has(value: Value, name: str) -> bool:
    """Whether there is such an attribute, without looking at it."""
    return inspect.getattr_static(value, name, _NOTHING) is not _NOTHING
