"""Tools made from the notebook's callables: functions, methods, partials, instances, classes, built-ins.

It must not copy a callable: the tool calls the very object that it was given.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.messages import ToolExample
from agent_magic.core.state import is_usable_name
from agent_magic.core.values import Value
from agent_magic.tools.arguments import PreparedCall
from agent_magic.tools.default_tools import make_default_tool
from agent_magic.tools.fingerprint import OPTIONS, Fingerprint
from agent_magic.tools.signature import read_signature
from agent_magic.tools.tool import Definition, Tool
from agent_magic.tools.turns import take_turn

_NAME_FOR_MODELS = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """What an author said of a function by `@tool`."""

    name: str | None = None
    description: str | None = None
    sequential: bool = False
    main_thread: bool = False
    timeout_s: float | None = None
    approve: bool = False
    output_schema: Mapping[str, Value] | None = None
    requires: Callable[..., Value] | None = None
    examples: Sequence[str | ToolExample] = ()


class CallableTool(Tool, is_abstract=True):
    """A tool whose body is a callable."""

    def __init__(self, function: Callable[..., Value], name: str) -> None:
        options = options_of(function)
        self.function = function
        """The callable itself."""
        self.name, renaming = to_name_for_models(name)
        signature = read_signature(
            function, self.name, description=options.description, examples=options.examples
        )
        self.description = signature.description
        self.sequential = options.sequential
        self.main_thread = options.main_thread
        self.timeout_s = options.timeout_s
        self.approve = options.approve
        self.output_schema = options.output_schema
        self.requires = options.requires
        self.warnings = (*renaming, *signature.warnings)
        self._signature = signature
        self._fingerprint = Fingerprint(function)
        self._is_set_up = True

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        """Call the function, as if it were no tool."""
        return self.function(*args, **kwargs)

    def invoke(self, prepared: PreparedCall) -> Value:
        """Call the function; the answer of an async one is to be awaited.

        Raises:
            ToolCallError: The tool's precondition does not hold; the function was not called.
        """
        if not self.sequential:
            if self.requires is not None:
                self.check_precondition(prepared)
            return self.function(*prepared.args, **prepared.kwargs)

        def enter() -> Value:
            self.check_precondition(prepared)
            return self.function(*prepared.args, **prepared.kwargs)

        return take_turn(self.function, enter)

    def is_made_from(self, function: Callable[..., Value]) -> bool:
        """Whether the schema is still right for `function`: same code, docstring, defaults, hints."""
        return self._fingerprint.matches(function)

    @property
    def definition(self) -> Definition:  # pyright: ignore[reportIncompatibleVariableOverride] - worked out from the callable
        """Parameters, schema and argument reader."""
        if "_definition" not in self.__dict__:
            own = self._signature
            self._definition = self.build_definition(
                own.parameters, own.examples, returns=own.returns, stars=own.stars
            )
        return self._definition


def tool_from(source: Tool | Callable[..., Value] | str, *, name: str | None = None) -> Tool:
    """A tool from a callable; a tool stays what it is.

    Args:
        source: A tool, a class of tools, a callable, or the name of a tool that comes with the package.
        name: The variable that holds the callable; by default its own name. What an author said by
            `@tool(name=…)`, and the name of a `Tool`, go before it.

    Raises:
        ToolDefinitionError: No right call could be made of it.
    """
    if isinstance(source, Tool):
        return source
    if isinstance(source, type) and issubclass(source, Tool):
        return source()
    if isinstance(source, str):
        return make_default_tool(source)
    if not callable(source):
        raise ToolDefinitionError(
            f"{source!r} cannot be a tool: it is of type {type(source).__name__} and cannot be called.\n"
            f"Give a function, or anything else that can be called"
        )
    # Not that of the function a partial was made from: both may stand side by side.
    own = getattr(source, OPTIONS, None)
    said = own.name if isinstance(own, ToolOptions) else None
    found = said or name or getattr(source, "__name__", "")
    if not isinstance(found, str) or not is_usable_name(found):
        shown = found or type(source).__name__
        raise ToolDefinitionError(
            f"A callable of type {type(source).__name__} has no name that a model could call it by: {shown!r}.\n"
            f"Put it in a variable and give that name, or write a function with def"
        )
    return CallableTool(source, found)


def options_of(function: Value) -> ToolOptions:
    """What `@tool` left on a callable; defaults if it is not there."""
    while True:
        found = getattr(function, OPTIONS, None)
        if isinstance(found, ToolOptions):
            return found
        if not isinstance(function, partial):
            return ToolOptions()
        function = function.func


def to_name_for_models(name: str) -> tuple[str, tuple[str, ...]]:
    """A name that every provider takes, and a warning to the author if it is not the given one."""
    if _NAME_FOR_MODELS.fullmatch(name):
        return name, ()
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()[:64]
    if not (folded and is_usable_name(folded)):
        folded = f"tool_{zlib.crc32(name.encode()):08x}"
    warning = (
        f"Tool {name!r} is offered to the model as {folded!r}, as providers take ASCII names of at most 64 characters only. "
        f"Give it such a name to choose yourself"
    )
    return folded, (warning,)
