"""Foreign tools: objects shaped like the tools of smolagents or LangChain, as tools of ours.

It must not import those libraries: what has the shape is such a tool, whoever wrote it.
"""

from __future__ import annotations

import inspect
import re
import unicodedata
from dataclasses import replace
from functools import cached_property
from typing import cast

from agent_magic.core.errors import ToolCallError, ToolDefinitionError, ToolError
from agent_magic.core.state import is_usable_name
from agent_magic.core.text import truncate
from agent_magic.core.values import Value, safe_repr
from agent_magic.tools.advice import described_points
from agent_magic.tools.callable_tool import to_name_for_models
from agent_magic.tools.docstring import parse_docstring
from agent_magic.tools.foreign_form import ForeignForm
from agent_magic.tools.langchain_form import is_langchain_tool, read_langchain
from agent_magic.tools.parameter import Returns
from agent_magic.tools.smolagents_form import is_smolagents_tool, read_smolagents
from agent_magic.tools.tool import Definition, Tool

_NO_WORD = re.compile(r"[^A-Za-z0-9_]+")
_LONGEST_REASON = 400


def is_foreign_tool(value: Value) -> bool:
    """Whether it is shaped like a tool of another library, or is a class of such."""
    is_none = _is_ours(value) or inspect.isroutine(value) or inspect.ismodule(value)
    return not is_none and (is_smolagents_tool(value) or is_langchain_tool(value))


def adapt(source: Value, *, name: str | None = None) -> ForeignTool:
    """A tool from a foreign one, which stays as it is and is called itself.

    Args:
        source: What `is_foreign_tool` says yes to; a class is called to make one.
        name: The variable that holds it. The tool's own name goes before it, if models can call it so.

    Raises:
        ToolDefinitionError: No call of it could be made right.
    """
    if isinstance(source, type):
        source = _instance_of(source)
    own_name, renaming = to_tool_name(source.name, name)
    read = read_smolagents if is_smolagents_tool(source) else read_langchain
    form = _with_docstring_read(read(source, own_name))
    make = AsyncForeignTool if form.is_async else ForeignTool
    return make(source, own_name, form, renaming)


def to_tool_name(own: str, variable: str | None) -> tuple[str, tuple[str, ...]]:
    """The name that models call a foreign tool by, and a warning to the author if it is not its own.

    Args:
        own: The tool's own name.
        variable: That holds it, if one does.
    """
    given, refused = to_name_for_models(own) if is_usable_name(own) else (own, ("no name",))
    if not refused:
        return given, ()
    name, _ = to_name_for_models(variable or _folded(own))
    after = ", the variable that holds it" if variable else ""
    warning = (
        f"Tool {own!r} is offered to the model as {name!r}{after}, as not every provider takes its own name. "
        f"Give it another name, or hand it over by a variable whose name you choose"
    )
    return name, (warning,)


class ForeignTool(Tool, is_abstract=True):
    """A tool whose body is another library's tool."""

    def __init__(self, source: Value, name: str, form: ForeignForm, renaming: tuple[str, ...] = ()) -> None:
        self.function = source
        """The foreign tool itself."""
        self.name = name
        self.description = form.description.strip() or f"{name.replace('_', ' ').strip().capitalize()}."
        self.output_schema = form.output_schema
        self.warnings = (*renaming, *described_points(name, form.description, form.parameters))
        self._form = form
        self._read_from = _parts_of(source)

    def is_made_from(self, source: Value) -> bool:
        """Whether `source` is that very tool and says of itself what it said."""
        return source is self.function and _parts_of(source) == self._read_from

    @cached_property
    def definition(self) -> Definition:
        """Parameters, schema and argument reader."""
        return self.build_definition(self._form.parameters, (), returns=self._form.returns)

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        """Call it from Python, by position as its parameters stand: arguments are converted and checked.

        Raises:
            ToolCallError: An argument does not fit its schema.
        """
        return self.invoke(self.prepare(self._by_name(args, kwargs), None))

    def setup(self) -> None:
        """Let it load what it needs, once, however many threads call it."""
        source = self.function
        if callable(getattr(source, "setup", None)) and getattr(source, "is_initialized", None) is False:
            source.setup()
            source.is_initialized = True

    def forward(self, *args: Value, **kwargs: Value) -> Value:
        """Call it; by position as its parameters stand."""
        return self._call(args, kwargs)

    def check_result(self, result: Value) -> None:
        """Nothing: what a foreign tool says of its result is information, for its own library too."""

    def _call(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        try:
            return self._form.call(self._by_name(args, kwargs))
        except Exception as error:  # of another library, which may raise anything
            self._raise_told(error)
            raise

    def _by_name(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[str, Value]:
        names = (parameter.name for parameter in self._form.parameters)
        return {**dict(zip(names, args, strict=False)), **kwargs}

    def _raise_told(self, error: Exception) -> None:
        """Raise what its library means for the model as such; nothing of anything else."""
        if type(error).__name__ == "ToolException":
            raise ToolError(str(error)) from error
        schema = getattr(self.function, "args_schema", None)
        if isinstance(schema, type) and getattr(error, "title", None) == schema.__name__:
            flaws = cast("Value", error).errors(include_url=False, include_context=False)
            said = "; ".join(
                f"{'.'.join(map(str, flaw['loc'])) or 'arguments'}: {flaw['msg'].removeprefix('Value error, ')}"
                for flaw in flaws
            )
            raise ToolCallError(
                f"{self.name}: {truncate(said, _LONGEST_REASON)}. {self.call_form}"
            ) from error


class AsyncForeignTool(ForeignTool, is_abstract=True):
    """One whose body is to be awaited."""

    async def forward(self, *args: Value, **kwargs: Value) -> Value:
        """Call it; by position as its parameters stand."""
        try:
            return await self._call(args, kwargs)
        except Exception as error:  # of another library, which may raise anything
            self._raise_told(error)
            raise


def _with_docstring_read(form: ForeignForm) -> ForeignForm:
    """The form; of a description that is a whole docstring, what it says of parameters is put where it belongs."""
    doc = parse_docstring(form.description, [parameter.name for parameter in form.parameters])
    if not doc.parameters:
        return form
    return replace(
        form,
        description=doc.description or form.description,
        parameters=tuple(
            replace(one, description=one.description or doc.parameters.get(one.name, ""))
            for one in form.parameters
        ),
        returns=Returns(hint=form.returns.hint, description=doc.returns),
    )


def _is_ours(value: Value) -> bool:
    return isinstance(value, Tool) or (isinstance(value, type) and issubclass(value, Tool))


def _instance_of(cls: type) -> Value:
    try:
        return cls()
    except Exception as error:  # of another library, which may raise anything
        reason = truncate(str(error).split("\n", 1)[0], _LONGEST_REASON)
        raise ToolDefinitionError(
            f"{cls.__name__} is a class of tools, and could not be made without arguments: {type(error).__name__}: {reason}.\n"
            f"Make one and hand that over:  tool = {cls.__name__}(…)"
        ) from error


def _parts_of(source: Value) -> tuple[Value, ...]:
    # Schemas are compared by identity: equality of foreign objects may be anything.
    return (
        source.name,
        source.description,
        id(getattr(source, "inputs", None)),
        id(getattr(source, "args_schema", None)),
    )


def _folded(name: str) -> str:
    """The name with `_` for what no name can have: `search_web` of `search web`."""
    text = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    text = _NO_WORD.sub("_", text).strip("_")
    if not text:
        return safe_repr(name)  # nothing readable is left: the fallback of all names takes it
    return text if is_usable_name(text) else f"tool_{text}"
