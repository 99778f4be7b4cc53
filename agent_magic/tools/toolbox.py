"""Toolbox: an agent's tools by name, looked up afresh each time, as the notebook's functions change.

It must not decide what is told of a tool that is gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.state import State, is_usable_name
from agent_magic.core.values import Value
from agent_magic.tools.adapt import ForeignTool, adapt, is_foreign_tool
from agent_magic.tools.callable_tool import CallableTool, tool_from
from agent_magic.tools.default_tools import DEFAULT_TOOLS
from agent_magic.tools.offering import OffersTool
from agent_magic.tools.tool import Tool
from agent_magic.tools.wording import to_short, with_article


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTool:
    """A tool that is whatever a variable holds when it is looked up."""

    name: str
    """The variable."""
    state: State
    alias: str | None = None
    """What models call it, if not by the variable's name."""


Source = Tool | Callable[..., Value] | OffersTool | LiveTool | str
"""A text is the name of a tool that comes with the package."""


def is_tool_source(value: Value) -> bool:
    """Whether a tool can be made of it, as far as can be told from outside: it can be called, or is a foreign tool."""
    return callable(value) or isinstance(value, OffersTool) or is_foreign_tool(value)


class Toolbox:
    """Tools in the order given; safe to use from several threads."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._lock = threading.RLock()
        self._entries: list[_Entry] = []
        self._missing: list[str] = []
        for source in _checked(sources):
            self.add(source)

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the tools are made from, in order."""
        return tuple(entry.source for entry in self._entries)

    def add(self, source: Source) -> None:
        """Add a tool at the end; a live name that is there already stays as it is.

        Raises:
            ToolDefinitionError: No right call could be made of it, or its name is taken.
        """
        with self._lock:
            if isinstance(source, LiveTool) and any(entry.is_same_name(source) for entry in self._entries):
                return
            entry = _Entry(source)
            self._by_name([*self._entries, entry])
            self._entries.append(entry)

    def current(self) -> dict[str, Tool]:
        """The tools as they are now, by name; a schema is made anew only if its callable changed.

        Raises:
            ToolDefinitionError: Two have the same name by now.
        """
        with self._lock:
            tools = self._by_name(self._entries)
            self._missing = [entry.name for entry in self._entries if entry.tool is None]
            return tools

    def missing(self) -> list[str]:
        """The live names that are gone, or hold nothing that can be called, now."""
        with self._lock:
            self.current()
            return list(self._missing)

    @staticmethod
    def _by_name(entries: Iterable[_Entry]) -> dict[str, Tool]:
        tools: dict[str, Tool] = {}
        sources: dict[str, Source] = {}
        for entry in entries:
            tool = entry.refresh()
            if tool is None:
                continue
            if tool.name in tools:
                is_agent = any(isinstance(one, OffersTool) for one in (entry.source, sources[tool.name]))
                other = (
                    f'give the agent  name="{tool.name}_2"'
                    if is_agent
                    else f'mark it  @tool(name="{tool.name}_2")'
                )
                raise ToolDefinitionError(
                    f"Two tools have the name {tool.name!r}.\n"
                    f"Give one of them another: put it in a variable of another name, or {other}"
                )
            sources[tool.name] = entry.source
            tools[tool.name] = tool
        return tools


def _checked(sources: Value) -> Iterable[Source]:
    """The sources, if they are several: one alone, or its name, is what people write first."""
    if isinstance(sources, str):
        is_ours = sources in DEFAULT_TOOLS
        fix = (
            f"Write  [{sources!r}]"
            if is_ours
            else f"Write the function itself, in a list:  [{_named(sources)}]"
        )
        raise ToolDefinitionError(
            f"The tools are the text {to_short(sources)}, expected a list of functions.\n{fix}"
        )
    if isinstance(sources, LiveTool) or is_tool_source(sources):
        name: Value = getattr(sources, "__name__", None) or getattr(sources, "name", None)
        raise ToolDefinitionError(
            f"The tools are {with_article(sources)} on its own, expected a list of functions.\nWrite  [{_named(name)}]"
        )
    if not isinstance(sources, Iterable):
        raise ToolDefinitionError(
            f"The tools are {to_short(sources)}, expected a list of functions.\nWrite  [fn], or [] for none"
        )
    return cast("Iterable[Source]", sources)


def _named(name: Value) -> str:
    return name if isinstance(name, str) and is_usable_name(name) else "fn"


class _Entry:
    """One source and the tool that was last made of it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tool: Tool | None = None
        self._made_from: Value = None
        self.name = source.name if isinstance(source, LiveTool) else ""

    def is_same_name(self, other: LiveTool) -> bool:
        """Whether both stand for the same variable."""
        mine = self.source
        return isinstance(mine, LiveTool) and mine.name == other.name and mine.state is other.state

    def refresh(self) -> Tool | None:
        """The tool as it is now; None if the name is gone or holds nothing that can be called."""
        source = self.source
        value: Value = source
        if isinstance(source, LiveTool):
            value = source.state[source.name] if source.name in source.state else None  # noqa: SIM401 - a State has no `get`
            if not is_tool_source(value):
                self.tool = None
                return None
        if isinstance(value, OffersTool):
            value = value.to_tool(source.alias or source.name if isinstance(source, LiveTool) else None)
        if not self._is_current(value):
            self.tool = self._make(value)
            self.tool.to_schema()  # now, so that faults and warnings of a definition are known early
            self._made_from = value
        return self.tool

    def _is_current(self, value: Value) -> bool:
        if isinstance(self.tool, CallableTool):
            return self.tool.is_made_from(value.function if isinstance(value, CallableTool) else value)
        if isinstance(self.tool, ForeignTool) and not isinstance(value, type):
            return self.tool.is_made_from(value)
        return self.tool is not None and self._made_from is value

    def _make(self, value: Value) -> Tool:
        source = self.source
        alias = source.alias if isinstance(source, LiveTool) else None
        if isinstance(value, CallableTool):
            if alias or not value.is_made_from(value.function):
                return type(value)(value.function, alias or value.name)
            return value
        variable = (alias or source.name) if isinstance(source, LiveTool) else None
        if is_foreign_tool(value):
            tool = adapt(value, name=variable)
            return tool if alias is None or tool.name == alias else tool.renamed(alias)
        tool = tool_from(value, name=variable)
        return (
            tool.renamed(alias)
            if alias and tool.name != alias and not isinstance(tool, CallableTool)
            else tool
        )
