"""What a person changes in a memory: a step edited, dropped, or shown otherwise, and by whom.

It must not apply a change: the memory does. The original is always kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from agent_magic.core.errors import OptionError
from agent_magic.core.picture import to_parts
from agent_magic.core.steps import (
    CLOSING_TAG,
    OPENING_TAG,
    ActionStep,
    Fault,
    FinalAnswerStep,
    PlanningStep,
    RunStep,
    TaskStep,
    ToolResult,
)
from agent_magic.core.values import Value

StepView = Literal["full", "summary", "hidden"]
"""How one step is shown, whatever `summary_mode` says; hidden goes before all."""
STEP_VIEWS: tuple[StepView, ...] = ("full", "summary", "hidden")

Field = Literal["step", "view", "is_pinned", "form", "kept", "is_dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """One change to one step of a memory; several with the same revision are one act."""

    revision: int
    index: int
    """Place of the step in the memory, dropped ones counted."""
    field: Field
    old: Value
    new: Value
    by: str
    """`person`, `window` (to make a request fit), `undo`, or whoever was named."""
    at: float
    """Seconds since 1970 (UTC)."""


_EDITABLE: Mapping[type, tuple[str, ...]] = {
    TaskStep: ("task", "images"),
    PlanningStep: ("plan",),
    ActionStep: ("model_output", "arguments", "observations", "observations_images"),
    FinalAnswerStep: (),
}


def name_of(step: RunStep) -> str:
    """What a person calls a step: `step 3`, `the plan before step 3`."""
    match step:
        case ActionStep():
            return f"step {step.step_number}"
        case PlanningStep():
            return f"the plan before step {step.step_number}"
        case TaskStep():
            return "the task"
        case FinalAnswerStep():
            return "the answer"


def edited(step: RunStep, changes: Mapping[str, Value]) -> RunStep:
    """A copy of `step` with other texts, arguments, observations or images.

    `arguments` and `observations` are given by the id of the call, or alone where the step has one
    call. `observations_images=None` takes the images away.

    Raises:
        OptionError: The step has no such part, or the value cannot be one.
    """
    allowed = _EDITABLE[type(step)]
    if not allowed:
        raise OptionError("A final answer is not edited. Edit the arguments of the step that gave it.")
    for name in changes:
        if name not in allowed:
            raise OptionError(
                f"{type(step).__name__} has no {name!r} that can be edited. It has: {', '.join(allowed)}."
            )
    if not changes:
        raise OptionError(f"Nothing to edit was given. A {type(step).__name__} has: {', '.join(allowed)}.")
    if isinstance(step, ActionStep):
        return _edited_action(step, changes)
    for name in ("task", "plan"):
        if name in changes:
            _check_text(name, changes[name])
    if "plan" in changes:  # a plan that had failed counts from now on
        changes = {**changes, "fault": None}
    if "images" in changes:
        changes = {**changes, "images": to_parts(changes["images"])}
    return dataclasses.replace(step, **changes)


def has_images(step: RunStep) -> bool:
    """Whether a model that sees is shown images of this step."""
    match step:
        case TaskStep():
            return bool(step.images)
        case ActionStep():
            return bool(step.observations_images)
        case _:
            return False


def without_images(step: RunStep) -> RunStep:
    """A copy of a step that has images, without them."""
    return edited(step, {"images": ()} if isinstance(step, TaskStep) else {"observations_images": None})


def _edited_action(step: ActionStep, changes: Mapping[str, Value]) -> ActionStep:
    results = list(step.tool_results)
    if "arguments" in changes:
        for place, arguments in _by_call(step, "arguments", changes["arguments"]).items():
            if not isinstance(arguments, Mapping):
                raise OptionError(
                    f"The arguments of a call are a mapping, and not {arguments!r}. Give a dict."
                )
            call = dataclasses.replace(
                results[place].call, arguments=dict(cast("Mapping[str, Value]", arguments))
            )
            results[place] = dataclasses.replace(results[place], call=call)
    if "observations" in changes:
        for place, text in _by_call(step, "observations", changes["observations"]).items():
            results[place] = _with_observation(results[place], _check_text("observations", text))
    if "observations_images" in changes:
        if changes["observations_images"]:
            raise OptionError("observations_images can be taken away only: give None.")
        results = [dataclasses.replace(result, images=()) for result in results]
    before = step.code_action
    step = dataclasses.replace(step, tool_results=tuple(results))
    if step.code_action is not None and step.code_action != before:  # a model reads it in its own reply
        thought = step.model_output[: step.calls_start]
        step = dataclasses.replace(
            step, model_output=f"{thought}{OPENING_TAG}\n{step.code_action}\n{CLOSING_TAG}"
        )
    if "model_output" in changes:
        text = _check_text("model_output", changes["model_output"])
        start = text.find(OPENING_TAG) if step.is_code else -1
        step = dataclasses.replace(step, model_output=text, calls_start=start if start >= 0 else None)
    return step


def _with_observation(result: ToolResult, text: str) -> ToolResult:
    if result.fault is None:
        return dataclasses.replace(result, observation=text, notes=())
    fault = Fault(kind=result.fault.kind, message=text)  # of code that failed it is all that is told
    return dataclasses.replace(result, observation="", fault=fault, notes=())


def _by_call(step: ActionStep, what: str, given: Value) -> dict[int, Value]:
    """What was given for each call, by its place in the step."""
    places = {result.call.id: place for place, result in enumerate(step.tool_results)}
    if not places:
        raise OptionError(f"Step {step.step_number} has no tool call, so it has no {what} to edit.")
    if isinstance(given, Mapping) and given and given.keys() <= places.keys():
        return {places[call_id]: value for call_id, value in cast("Mapping[str, Value]", given).items()}
    if len(places) == 1:
        return {0: given}
    raise OptionError(
        f"Step {step.step_number} has {len(places)} calls. Give {what} by the id of the call: "
        f"{what}={{{next(iter(places))!r}: …}}. Ids: {', '.join(places)}."
    )


def _check_text(name: str, value: Value) -> str:
    if not isinstance(value, str):
        raise OptionError(f"{name} is text, and not {value!r}. Give a str.")
    return value
