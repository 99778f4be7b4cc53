"""A call that code makes, as arguments by name: how Python binds it, with errors that teach.

It must not check the values: that is `Tool.prepare`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_magic.core.errors import ToolCallError
from agent_magic.core.values import Value
from agent_magic.tools.tool import Tool
from agent_magic.tools.words import PYTHON


def bind_call(tool: Tool, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
    """The arguments of a call in Python by name, as `tool.prepare(arguments, None)` takes them.

    An unknown or a missing one is left for it to name, so that all that is wrong is told at once.
    What goes to parameters with stars stands under `"*parts"` as a tuple, and under `"**options"`.

    Raises:
        ToolCallError: More values than can be given by position, or one argument twice.
    """
    parameters, stars = tool.definition.parameters, tool.definition.stars
    by_position = [one.name for one in parameters if not one.is_keyword_only]
    by_name = {one.name for one in parameters if "**" not in stars or not one.is_positional_only}
    arguments = dict(zip(by_position, args, strict=False))
    if rest := tuple(args[len(by_position) :]):
        if "*" not in stars:
            most = len(by_position) or "no"
            arguments_are = "argument" if most == 1 else "arguments"
            raise _error(tool, f"it takes {most} {arguments_are} by position, {len(args)} given")
        arguments[f"*{stars['*'].name}"] = rest
    options: dict[str, Value] = {}
    for name, value in kwargs.items():
        if name not in by_name and "**" in stars:
            options[name] = value
        elif name in arguments:
            raise _error(tool, f"argument {name!r} is given twice, by position and by name")
        else:
            arguments[name] = value
    if options:
        arguments[f"**{stars['**'].name}"] = options
    return arguments


def _error(tool: Tool, what: str) -> ToolCallError:
    return ToolCallError(f"{tool.name}: {what}. {tool.definition.reader.to_call_form(PYTHON)}")
