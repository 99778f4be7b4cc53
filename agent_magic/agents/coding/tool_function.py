"""ToolFunction: a tool as a name in the namespace of code.

It must not make a call: the step that lends it does.
"""

from __future__ import annotations

import functools
from typing import Any, Protocol, cast

from agent_magic.core.values import Value
from agent_magic.execution.step.running import is_called_by_code
from agent_magic.tools.tool import Tool


class Calling(Protocol):
    """The step whose code calls tools."""

    @property
    def is_open(self) -> bool:
        """Whether it still goes on."""
        ...

    def call(self, tool: Tool, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """Make one call."""
        ...


class ToolFunction:
    """A tool as a name in the namespace of code: called by the code it is recorded, else it is the person's own.

    The person's functions use their neighbours under the same names while code runs; and a function
    that the code made may be called in a later cell.
    """

    def __init__(self, tool: Tool, calls: Calling) -> None:
        self._agent_magic = (tool, calls)
        original = getattr(tool, "function", tool)
        functools.update_wrapper(self, original, updated=())
        self.__wrapped__ = original

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the tool, or the person's own function."""
        tool, calls = self._agent_magic
        if calls.is_open and is_called_by_code():
            return calls.call(tool, args, kwargs)
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["__wrapped__"], name)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, cast("type", self.__wrapped__))

    def __repr__(self) -> str:
        return repr(self.__wrapped__)
