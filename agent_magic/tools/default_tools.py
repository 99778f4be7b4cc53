"""Default tools: those that come with the package, by the name that hands them over.

It must stay light: the libraries that read the web are imported when such a tool is made.
"""

from __future__ import annotations

import difflib
import importlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.values import Value

if TYPE_CHECKING:  # the completion needs the names alone, and loads with the extension
    from agent_magic.tools.tool import Tool

_HOMES = {
    "user_input": ("user_input", "UserInput"),
    "visit_webpage": ("visit_webpage", "VisitWebpage"),
    "web_search": ("web_search", "WebSearch"),
    "wikipedia_search": ("wikipedia_search", "WikipediaSearch"),
}
DEFAULT_TOOLS: tuple[str, ...] = tuple(_HOMES)
"""Their names."""


def make_default_tool(name: str) -> Tool:
    """A new one of the tools that come with the package, with its default settings.

    Raises:
        ToolDefinitionError: There is none of that name.
    """
    if name not in _HOMES:
        near = difflib.get_close_matches(name, DEFAULT_TOOLS, n=1)
        raise ToolDefinitionError(
            f"{name!r} is the name of no tool that comes with agent_magic. Those are {', '.join(DEFAULT_TOOLS)}.\n"
            + (f"Write {near[0]!r}" if near else "Write one of them, or give the function itself")
        )
    module, kind = _HOMES[name]
    home = importlib.import_module(f"agent_magic.tools.{module}")
    return cast("type[Tool]", getattr(home, kind))()


class DefaultTools:
    """The default tools as a State, so that a name can stand for one; each is made once.

    What a run may read of the web is counted by run, so agents may share them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[str, Tool] = {}

    def __contains__(self, name: object) -> bool:
        return name in _HOMES

    def __getitem__(self, name: str) -> Value:
        if name not in _HOMES:
            raise KeyError(name)
        with self._lock:
            if name not in self._made:
                self._made[name] = make_default_tool(name)
            return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(DEFAULT_TOOLS)

    def bind(self, name: str, value: Value) -> None:
        """Refused: they are the package's."""
        del value
        raise KeyError(name)

    def unbind(self, name: str) -> None:
        """Refused: they are the package's."""
        raise KeyError(name)
