"""The short forms of steps, for when a request would not fit into a model's window.

Each form is a pure choice of what a step's own messages say; the record is not changed. A step's
calls and their results are shortened together, so no tool message is ever left without its call.
It must not decide which step takes which form.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal, get_args

from agent_magic.core.messages import ChatMessage, ToolCall
from agent_magic.core.steps import (
    CLOSING_TAG,
    OPENING_TAG,
    ActionStep,
    FinalAnswerStep,
    PlanningStep,
    RunStep,
    TaskStep,
)
from agent_magic.core.text import truncate
from agent_magic.core.values import Value, safe_repr

Form = Literal["whole", "no_images", "short_observations", "line", "left_out"]
"""How much of a step is told, from all of it to nothing but that it is left out."""
FORMS: tuple[Form, ...] = get_args(Form)

_OBSERVATION_CHARS = 240
_LINE_CHARS = 160
WHOLE_UP_TO: Mapping[Form, int] = {"short_observations": 400, "line": _LINE_CHARS}
"""Characters of an observation that is told whole in a form, in the forms that cut any."""
_TEXT_CHARS = 400
_ARGUMENT_CHARS = 80
_MOST_ARGUMENTS = 8


def to_short_messages(
    step: RunStep, form: Form, kept: Mapping[str, str], *, summary_mode: bool
) -> tuple[ChatMessage, ...]:
    """The messages of a step in one of its forms.

    Args:
        kept: The `obs_N` that holds the whole of an observation, by the id of its call.
        summary_mode: Of the view that is shortened.
    """
    match form:
        case "whole":
            return step.to_messages(summary_mode=summary_mode)
        case "no_images":
            return tuple(_without_images(message) for message in step.to_messages(summary_mode=summary_mode))
        case "short_observations":
            return _with_short_observations(step, kept, summary_mode=summary_mode)
        case "line":
            return _as_line(step, kept, summary_mode=summary_mode)
        case "left_out":
            return ()


def left_out_note(n_steps: int) -> ChatMessage:
    """The message that stands where steps are left out."""
    what = "One earlier step is" if n_steps == 1 else f"{n_steps} earlier steps are"
    return ChatMessage(role="user", content=f"({what} left out here to save room.)", is_ours=True)


def _without_images(message: ChatMessage) -> ChatMessage:
    if not message.images:
        return message
    names = [f"@{part.name}" if part.name else "image" for part in message.images]
    note = f"({', '.join(names)}: no longer shown, to save room)"
    content = f"{message.content}\n{note}" if message.content else note
    return dataclasses.replace(message, content=content, images=())


def _with_short_observations(
    step: RunStep, kept: Mapping[str, str], *, summary_mode: bool
) -> tuple[ChatMessage, ...]:
    messages = [_without_images(message) for message in step.to_messages(summary_mode=summary_mode)]
    if not isinstance(step, ActionStep):
        return tuple(messages)
    return tuple(
        dataclasses.replace(
            message,
            content=_shortened(message.content or "", _kept_of(step, message, kept), is_code=step.is_code),
        )
        if _is_observation(step, message)
        else message
        for message in messages
    )


def _is_observation(step: ActionStep, message: ChatMessage) -> bool:
    """Whether a message tells what came of a call; of code the assistant's own is the only other one."""
    return message.role != "assistant" if step.is_code else message.role == "tool"


def _kept_of(step: RunStep, message: ChatMessage, kept: Mapping[str, str]) -> str | None:
    """The name that holds the whole of what a message tells."""
    call_id = message.tool_call_id
    if isinstance(step, ActionStep) and step.is_code and step.tool_results and message.role != "assistant":
        call_id = step.tool_results[0].call.id
    return kept.get(call_id or "")


def _shortened(text: str, name: str | None, *, is_code: bool) -> str:
    if len(text) <= WHOLE_UP_TO["short_observations"]:
        return text
    look = f"print({name})" if is_code else f'peek(name="{name}", start=0)'
    hint = f"; the whole is {name}: {look}" if name else ""
    return truncate(text, _OBSERVATION_CHARS, hint=hint)


def _as_line(step: RunStep, kept: Mapping[str, str], *, summary_mode: bool) -> tuple[ChatMessage, ...]:
    match step:
        case ActionStep():
            # Results stay the tools' own messages: what a tool said must never come as the person's word.
            calls = tuple(
                dataclasses.replace(call, arguments=_cut_arguments(call)) for call in step.tool_calls
            )
            return tuple(
                dataclasses.replace(
                    _without_images(message),
                    content=_code_line(step, message, kept)
                    if step.is_code
                    else _line_of(message, kept.get(message.tool_call_id or ""), has_calls=bool(calls)),
                    tool_calls=calls if message.tool_calls else (),
                    reasoning=None,
                    signed=None,
                )
                for message in step.to_messages(summary_mode=summary_mode)
            )
        case PlanningStep():
            return ()
        case TaskStep() | FinalAnswerStep():
            return tuple(
                dataclasses.replace(message, content=truncate(message.content or "", _TEXT_CHARS))
                for message in map(_without_images, step.to_messages(summary_mode=summary_mode))
            )


def _code_line(step: ActionStep, message: ChatMessage, kept: Mapping[str, str]) -> str | None:
    """Of a reply its code alone, and as much of that as of any text."""
    if message.role == "assistant" and step.code_action is not None:
        return f"{OPENING_TAG}\n{_cut_lines(step.code_action)}\n{CLOSING_TAG}"
    return _line_of(message, _kept_of(step, message, kept), has_calls=False)


def _line_of(message: ChatMessage, name: str | None, *, has_calls: bool) -> str | None:
    """The message's text on one line; beside calls the model's own words go."""
    if message.role == "assistant" and has_calls:
        return None
    line = _cut(message.content or "")
    return f"{line} (the whole is {name})" if name else line


def _cut_arguments(call: ToolCall) -> Mapping[str, Value] | str | None:
    if not isinstance(call.arguments, Mapping):
        return call.arguments if call.arguments is None else _cut(call.arguments)
    cut = {name: _cut_argument(value) for name, value in list(call.arguments.items())[:_MOST_ARGUMENTS]}
    n_more = len(call.arguments) - len(cut)
    return {**cut, "…": f"{n_more} more"} if n_more else cut


def _cut_argument(value: Value) -> Value:
    if isinstance(value, str):
        return value if len(value) <= _ARGUMENT_CHARS else f"{value[:_ARGUMENT_CHARS]} …"
    shown = safe_repr(value, 4 * _ARGUMENT_CHARS)
    return value if len(shown) <= _ARGUMENT_CHARS else f"{shown[:_ARGUMENT_CHARS]} …"


def _cut_lines(code: str) -> str:
    """The first lines of code, as far as there is room."""
    if len(code) <= _LINE_CHARS:
        return code
    lines, _, cut = code[:_LINE_CHARS].rpartition("\n")
    return f"{lines or cut}\n# …"


def _cut(text: str) -> str:
    line = " ".join(text[: 4 * _LINE_CHARS].split())
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]} …"
