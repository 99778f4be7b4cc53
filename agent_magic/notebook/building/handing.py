"""What a cell hands to its agent: names sorted into live tools, state variables and pictures.

It must not change the agent, nor any variable.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.run.pictures import to_image
from agent_magic.core.errors import OptionError
from agent_magic.core.messages import ImagePart
from agent_magic.core.picture import why_broken
from agent_magic.core.values import Value
from agent_magic.notebook.kernel.state import KernelState
from agent_magic.tools.adapt import is_foreign_tool
from agent_magic.tools.builtin import FINAL_ANSWER
from agent_magic.tools.default_tools import DefaultTools
from agent_magic.tools.toolbox import LiveTool

_DEFAULT_TOOLS = DefaultTools()
"""Those that come with the package: a variable of such a name goes before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """Names of the notebook as an agent takes them."""

    tools: Mapping[str, LiveTool] = field(default_factory=dict[str, LiveTool])
    """Callables and agents, by the variable that holds each; looked up anew when called. Default tools by their name."""
    variables: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """Everything else, objects too that can be called and say not how, such as a database connection."""


def hand_over(state: KernelState, names: Iterable[str], *, source: str) -> Handed:
    """Sort names into tools and state variables.

    Args:
        state: The notebook's names.
        names: Those that the cell hands over, without `@`.
        source: Where they stand, at the head of an error: `%%agent --tools`, say.

    Raises:
        OptionError: A name does not exist, or is the agents' own.
    """
    tools: dict[str, LiveTool] = {}
    variables: dict[str, Value] = {}
    for name in names:
        if name not in state and name in _DEFAULT_TOOLS:
            tools[name] = LiveTool(name=name, state=_DEFAULT_TOOLS)
            continue
        if name not in state:
            near = difflib.get_close_matches(name, [*state, *_DEFAULT_TOOLS], n=3)
            fix = f"Nearest: {', '.join(near)}." if near else "Run the cell that defines it first."
            raise OptionError(f"{source}: there is no variable {name!r}. {fix}")
        value = state[name]
        if isinstance(value, MultiStepAgent):
            tools[name] = LiveTool(name=name, state=state)
        elif not is_foreign_tool(value) and (not callable(value) or _is_object_without_signature(value)):
            variables[name] = value
        elif name == FINAL_ANSWER.name:
            raise OptionError(
                f"{source}: {name} is the tool by which every agent answers. Give your function another name."
            )
        else:
            tools[name] = LiveTool(name=name, state=state)
    return Handed(tools=tools, variables=variables)


def _is_object_without_signature(value: Value) -> bool:
    """Whether a value happens to be callable, as a database connection is, but is there to be used otherwise."""
    if inspect.isroutine(value) or isinstance(value, type | functools.partial):
        return False
    try:
        inspect.signature(value)
    except (TypeError, ValueError):
        return True
    return False


def pictures(variables: Mapping[str, Value]) -> list[ImagePart]:
    """The variables that are pictures, as a model that sees gets them."""
    parts: list[ImagePart] = []
    for name, value in variables.items():
        try:
            image = to_image(value)
        except Exception:  # noqa: BLE001 - a broken picture may raise anything; it is told of as any variable is
            image = None
        if image is not None and not why_broken(image):
            parts.append(ImagePart(image=image, name=name))
    return parts
