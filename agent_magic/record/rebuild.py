"""A memory from its written form, as much of it as can be read.

It must not raise for what somebody did to the form: what cannot be read is told in a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from agent_magic.core.errors import OptionError
from agent_magic.core.form.image import LazyImages
from agent_magic.core.form.memory import FORMAT, VERSION
from agent_magic.core.form.part import find_steps
from agent_magic.core.form.step import read_step
from agent_magic.core.form.value import UnreadableError, ValueReader
from agent_magic.core.memory import AgentMemory
from agent_magic.core.steps import RunStep
from agent_magic.record.schema import Json

Find = Callable[[int], RunStep | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """A memory, and its steps by their places in the form."""

    memory: AgentMemory
    find_step: Find
    is_whole: bool = True
    """Entries stand where they stood when the form was written."""
    warnings: tuple[str, ...] = ()


def rebuild(form: Json) -> Rebuilt:
    """The memory in a form, which may lack its first two keys; else without what cannot be read in it."""
    whole = {**form, "format": FORMAT, "version": VERSION}
    try:
        return _rebuild(whole, ())
    except OptionError as error:
        why = _shorten(error)
    lost = f"What the models were sent cannot be shown again: {why}"
    for left_out in ({"requests": []}, {"requests": [], "changes": [], "undoable": []}):
        try:
            return _rebuild({**whole, **left_out}, (lost,))
        except OptionError as error:
            lost = f"What the models were sent, and what was edited, cannot be shown again: {_shorten(error)}"
    return _rebuild_steps(whole)


def _rebuild(form: Json, warnings: tuple[str, ...]) -> Rebuilt:
    memory = AgentMemory.from_dict(form)
    find = find_steps(form, memory.entries, memory.edits)
    return Rebuilt(memory=memory, find_step=find, warnings=warnings)


def _rebuild_steps(form: Json) -> Rebuilt:
    """The steps that can be read, one by one; nothing of what was laid upon them."""
    reader = ValueReader(LazyImages(_list(form, "images")))
    steps: dict[int, RunStep] = {}
    n_steps = 0
    for place, written in enumerate(_list(form, "steps")):
        n_steps += 1
        try:
            steps[place] = read_step(written, reader)
        except (UnreadableError, RecursionError):
            continue
    places = [entry.get("step") if type(entry) is dict else entry for entry in _list(form, "entries")]
    entered = [steps[place] for place in places if type(place) is int and place in steps]
    lost = len(places) - len(entered)
    warning = (
        f"The memory is damaged: {lost} of its {len(places)} steps could not be read. What the models were "
        "sent, and what was edited, cannot be shown again."
    )
    memory = AgentMemory(_find_prompt(form), entered)
    return Rebuilt(memory=memory, find_step=steps.get, is_whole=False, warnings=(warning,))


def _find_prompt(form: Json) -> str:
    texts = [
        prompt["text"]
        for prompt in _list(form, "system_prompts")
        if type(prompt) is dict and type(prompt.get("text")) is str
    ]
    return texts[-1] if texts else ""


def _list(form: Json, key: str) -> list[Json]:
    part = form.get(key)
    return cast("list[Json]", part) if type(part) is list else []


def _shorten(error: OptionError) -> str:
    return error.message.partition("\n")[0].removeprefix("This memory cannot be read: ")
