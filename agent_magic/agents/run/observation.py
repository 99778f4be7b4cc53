"""A tool's output as what the model is told of it, within a budget, with nothing lost.

It must not change the output.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, replace

from agent_magic.agents.run.pictures import to_image
from agent_magic.agents.run.sounds import listen_to, tell_sound
from agent_magic.core.messages import ImagePart
from agent_magic.core.picture import is_picture, why_broken
from agent_magic.core.sound import Sound
from agent_magic.core.state import AgentState
from agent_magic.core.text import SHORTEST_CUT, strip_ends, truncate
from agent_magic.core.values import Value, describe, is_text_like, to_text

DEFAULT_BUDGET = 8_000
"""Characters of one observation."""
MAX_ERROR = 4_000
"""Characters of an error's text to the model."""


def observation_budget(context_window: int | None) -> int:
    """How many characters one observation may have, by the model's window in tokens."""
    return (
        DEFAULT_BUDGET
        if context_window is None
        else max(SHORTEST_CUT, min(DEFAULT_BUDGET, context_window // 2))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What a model is told of an output, and where the output is kept."""

    text: str
    bound_to: str | None = None
    """The variable that an object was bound to."""
    kept_as: str | None = None
    """The `obs_N` that holds the whole, if the text is cut."""
    images: tuple[ImagePart, ...] = ()
    """The output itself, if it is a pillow image; a figure or an array as it looks now."""
    sounds: tuple[Sound, ...] = ()
    """The output, if it is a sound."""


def observe(
    output: Value, tool_name: str, state: AgentState, budget: int, *, is_image: bool = False
) -> Observed:
    """What the model is told of an output.

    Args:
        output: What the tool returned.
        tool_name: The variable is named after it.
        state: Takes the variable.
        budget: Characters.
        is_image: The tool's author says that it returns images.

    A text-like output is told as text; one whose text is over the budget stays whole, as the value
    that it is, as `obs_N` in the agent's own layer of the State. Any other object is bound in the
    namespace and described; a picture is shown too, and a sound can be played by the person.
    """
    if is_text_like(output):
        text = strip_ends(to_text(output), budget)
        if isinstance(output, pathlib.PurePath) and (sound := listen_to(output)):
            told = f"{text}\n{tell_sound(sound)}"
            return replace(_within(told, output, state, budget), sounds=(sound,))
        return _within(text, output, state, budget)
    name = state.bind_result(tool_name, output)
    where = f'The result is in the variable {name}; refer to it as "@{name}".'
    if sound := listen_to(output, name):  # a preview would be a long row of figures
        told = f"{where}\n{type(output).__name__}. {tell_sound(sound)}"
        return replace(_within(told, told, state, budget), bound_to=name, sounds=(sound,))
    told = f"{where}\n{describe(output, 1_500)}"
    image = _look_at(output, is_image=is_image)
    if image is not None and (why := why_broken(image)):
        told, image = f"{told}\nIts pixels cannot be read: {why}", None
    images = () if image is None else (ImagePart(image=image, name=name),)
    return replace(_within(told, told, state, budget), bound_to=name, images=images)


def _look_at(output: Value, *, is_image: bool) -> Value:
    """The output as an image; None if it is no picture, or a broken one."""
    if is_picture(output):
        return output
    try:
        return to_image(output, is_sure=is_image)
    except Exception:  # noqa: BLE001 - the person's own objects may raise anything
        return None


def _within(text: str, whole: Value, state: AgentState, budget: int) -> Observed:
    """`text`, or its head and tail; then `whole`, the value that it tells of, is kept."""
    if len(text) <= budget:
        return Observed(text=text)
    name = state.keep(whole)
    cut = truncate(text, budget, hint=f'; the whole is {name}: peek(name="{name}", start=0)')
    return Observed(text=cut, kept_as=name)
