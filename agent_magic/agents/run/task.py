"""The task of a run as the model is told of it: the text, its images, and the variables it can use.

It must not change a value, nor decide which names are open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from agent_magic.core.errors import OptionError
from agent_magic.core.picture import to_parts
from agent_magic.core.state import AgentState
from agent_magic.core.steps import StateVariable, TaskStep
from agent_magic.core.values import Value, describe

_MOST_OTHERS = 50
_PREVIEW = 600
_MOST_PREVIEWS = 20_000
"""Characters of all previews together; what is mentioned beyond is told by type and shape."""
_OWN = __name__.partition(".")[0]


def build_task(
    task: str, images: Sequence[Value] | None, variables: Mapping[str, Value], state: AgentState
) -> TaskStep:
    """The step that begins a run.

    Args:
        task: What is asked.
        images: Pillow images, or `ImagePart`s.
        variables: Told with a preview, as far as there is room for previews.
        state: If all of it is open, its other data are told by name, type and shape.

    Raises:
        OptionError: Something among the images is no image.
    """
    others = _other_names(state, variables) if state.scope == "all" else []
    told: list[StateVariable] = []
    room = _MOST_PREVIEWS
    for name, value in variables.items():
        variable = StateVariable(name=name, description=describe(value, _PREVIEW if room > 0 else 0))
        room -= len(variable.description.preview)
        told.append(variable)
    return TaskStep(
        task=task,
        images=to_parts(images),
        variables=tuple(told),
        others=tuple(
            StateVariable(name=name, description=describe(state[name], 0)) for name in others[:_MOST_OTHERS]
        ),
        n_others_left_out=max(0, len(others) - _MOST_OTHERS),
    )


def _other_names(state: AgentState, told: Mapping[str, Value]) -> list[str]:
    return [
        name
        for name in state.open_names()
        if name not in told and not name.startswith("_") and _is_data(state[name])
    ]


def _is_data(value: Value) -> bool:
    """Whether a variable holds something to work on: no function, module, agent or model."""
    return (
        not callable(value)
        and not isinstance(value, ModuleType)
        and type(value).__module__.partition(".")[0] != _OWN
    )


def check_task(task: Value) -> None:
    """See that something can be done.

    Raises:
        OptionError: It is no text, or a blank one.
    """
    if not isinstance(task, str):
        raise OptionError(f"The task is of type {type(task).__name__}. Give it as text.")
    if not task.strip():
        raise OptionError("The task is empty. Say what the agent is to find out or do.")
