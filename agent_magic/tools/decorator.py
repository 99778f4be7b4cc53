"""`@tool`: a function marked and checked as a tool where it is defined; it stays the function it was.

It must not wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, overload

from agent_magic.core.errors import ToolDefinitionError
from agent_magic.core.messages import ToolExample
from agent_magic.core.state import is_usable_name
from agent_magic.core.values import Value
from agent_magic.tools.call_rules import fault_of_rules
from agent_magic.tools.callable_tool import ToolOptions, tool_from
from agent_magic.tools.fingerprint import OPTIONS

_Function = TypeVar("_Function", bound=Callable[..., Value])


@overload
def tool(function: _Function, /) -> _Function: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    sequential: bool = False,
    main_thread: bool = False,
    timeout_s: float | None = None,
    approve: bool = False,
    output_schema: Mapping[str, Value] | None = None,
    requires: Callable[..., Value] | None = None,
    examples: Sequence[str | ToolExample] = (),
) -> Callable[[_Function], _Function]: ...
def tool(
    function: _Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    sequential: bool = False,
    main_thread: bool = False,
    timeout_s: float | None = None,
    approve: bool = False,
    output_schema: Mapping[str, Value] | None = None,
    requires: Callable[..., Value] | None = None,
    examples: Sequence[str | ToolExample] = (),
) -> _Function | Callable[[_Function], _Function]:
    """The function itself, checked now, with what is said here kept for when it is a tool.

    Any function can be a tool without this; it is for what hints and docstring cannot say.

    Args:
        function: The function, where `@tool` has no brackets.
        name: What models call it; by default the name of the variable that holds it.
        description: Instead of the docstring's.
        sequential: Never run it at the same time as another call of the same reply, nor as another
            call of this tool, whichever agents make it, in threads and tasks of code too.
        main_thread: Run it in the main thread even where tools run in others. That is the thread that
            called `run`, or the event loop's under `arun`: it makes calls of managed agents, and of
            agents that tools run, while it waits for them. Where it does not wait, because the code
            that it runs calls the tool in a thread of its own, the call is refused, and the text says
            so. What an async tool awaits runs on an event loop, which under `arun` is the caller's.
        timeout_s: A call that takes longer is given up, and the model is told so; what is not async
            cannot be stopped and goes on in a thread of its own, its result unused.
        approve: Every call waits for the person's word, whatever the agent's `approve` says.
        output_schema: A JSON Schema of what it returns: the model is told it, and each result is
            checked against it.
        requires: Asked right before each call, with those of its arguments that it has parameters
            for: what is falsy, `(False, "why")` or an exception refuses the call, and the body is
            not entered. Python's own calls of the function are not asked about.
        examples: Worked examples, as `"task -> call(arg=value)"` or whole.

    Raises:
        ToolDefinitionError: No right call could be made of it.
    """
    if name is not None and not (isinstance(name, str) and is_usable_name(name)):  # pyright: ignore[reportUnnecessaryIsInstance] - people's code may give anything
        raise ToolDefinitionError(
            f"@tool: name is {name!r}, which is no Python name.\nWrite letters, digits and _ only"
        )
    if not isinstance(description, str | None):  # pyright: ignore[reportUnnecessaryIsInstance] - people's code may give anything
        raise ToolDefinitionError(
            f"@tool: 'description' is {description!r}, expected text.\n"
            f'Write:  description = "What it returns and when to use it."'
        )
    fault = fault_of_rules(
        timeout_s=timeout_s,
        approve=approve,
        sequential=sequential,
        main_thread=main_thread,
        output_schema=output_schema,
        examples=examples,
    )
    if fault is not None:
        raise ToolDefinitionError(f"@tool: {fault[0]}.\nWrite:  {fault[1]}")
    options = ToolOptions(
        name=name,
        description=description,
        sequential=sequential,
        main_thread=main_thread,
        timeout_s=timeout_s,
        approve=approve,
        output_schema=output_schema,
        requires=requires,
        examples=examples,
    )

    def mark(marked: _Function) -> _Function:
        try:
            setattr(marked, OPTIONS, options)
        except AttributeError:
            raise ToolDefinitionError(
                f"@tool cannot mark a {type(marked).__name__}: it takes no attributes.\nWrite a function with def around it"
            ) from None
        own = str(getattr(marked, "__name__", ""))
        made = tool_from(marked, name=name or (own if is_usable_name(own) else "unnamed"))
        if requires is not None:
            made.to_schema()  # now, so that a fault of it is known early
        return marked

    return mark if function is None else mark(function)
