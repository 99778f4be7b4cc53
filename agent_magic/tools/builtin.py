"""The tools every agent may have: `final_answer`, and `peek` into what was too long to tell.

It must not end a run: what a final answer means is the agent's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from agent_magic.core.errors import ToolError
from agent_magic.core.state import AgentState
from agent_magic.core.text import truncate
from agent_magic.core.values import Value, describe, is_json, is_text_like, to_text
from agent_magic.tools.answer_type import check_answer_type
from agent_magic.tools.arguments import PreparedCall
from agent_magic.tools.callable_tool import CallableTool, tool_from
from agent_magic.tools.hints import LIVE, build_hint_schema
from agent_magic.tools.places import Place
from agent_magic.tools.tool import Tool
from agent_magic.tools.wording import to_short

MOST_CHARS = 8_000
"""The longest text that `peek` gives, its note included."""
_LONGEST_NOTE = 400
_SHORTEST_PIECE = 80
_LONGEST_OWN_TEXT = 400
"""Of the docstring of an answer's type."""
_MOST_NAMES = 8


def _final_answer(answer: Any) -> Any:
    """Give the answer to the task and end. Call it once, alone.

    Args:
        answer: The answer itself: text, a number or other JSON, or "@name" for a variable.
    """
    return answer


FINAL_ANSWER: Tool = tool_from(_final_answer, name="final_answer")
"""Takes any value; its result is that value."""


class _TypedFinalAnswer(CallableTool, is_abstract=True):
    """`final_answer` whose answer has a declared type; a bare name is read as the variable that it means."""

    def prepare(self, arguments: Mapping[str, Value], state: AgentState | None) -> PreparedCall:
        """The arguments checked; `df` is read as `@df` where the type takes that frame, be it beside text."""
        answer = arguments.get("answer")
        if state is not None and isinstance(answer, str) and state.is_open(answer):
            value = state.lookup(answer)
            if not is_json(value) and self._place.may_take(value):
                arguments = {**arguments, "answer": f"@{answer}"}
        return super().prepare(arguments, state)

    @cached_property
    def _place(self) -> Place:
        hints = self.definition.parameters[0].hint_schema
        return Place(hints.schema, hints.definitions, hints.adapter)


def make_final_answer(answer_type: Value) -> Tool:
    """A `final_answer` that takes an answer of this type only; its result is of that type.

    Args:
        answer_type: A type hint; what JSON cannot hold is given by reference.

    Raises:
        OptionError: No model could be told what the type is.
    """
    check_answer_type(answer_type)
    schema = build_hint_schema(answer_type).schema
    if not schema:
        return FINAL_ANSWER

    def final_answer(answer: Any) -> Any:
        return answer

    text = "The answer itself"
    if LIVE not in schema:  # else the schema says how to name one
        text += ', in this form; or "@name" for a variable that holds it.'
        text += f" {truncate(' '.join(str(schema.get('description', '')).split()), _LONGEST_OWN_TEXT)}"
    final_answer.__doc__ = f"{FINAL_ANSWER.description}\n\nArgs:\n    answer: {text.strip()}\n"
    final_answer.__annotations__ = {"answer": answer_type}
    return _TypedFinalAnswer(final_answer, FINAL_ANSWER.name)


def is_final_answer(tool: Tool) -> bool:
    """Whether a tool is `final_answer` as it is made here, with a type or without."""
    return tool is FINAL_ANSWER or isinstance(tool, _TypedFinalAnswer)


class _Peek(CallableTool, is_abstract=True):
    """`peek` takes names as names: `@obs_1` means the name here, not the text behind it."""

    def prepare(self, arguments: Mapping[str, Value], state: AgentState | None) -> PreparedCall:
        """The arguments checked, with no reference replaced."""
        name = arguments.get("name")
        if isinstance(name, str):
            arguments = {**arguments, "name": name.removeprefix("@")}
        return super().prepare(arguments, None if state is None else AgentState())


def make_peek(state: AgentState, most_chars: int = MOST_CHARS) -> Tool:
    """A tool that reads on in the text of what `state` has open.

    Args:
        most_chars: The longest text that it gives, its note included; one that is longer than an
            observation may be would be cut itself.
    """
    longest = max(min(most_chars, MOST_CHARS) - _LONGEST_NOTE, _SHORTEST_PIECE)

    def peek(name: str, start: int = 0, length: int = 4_000) -> str:
        """Read a part of a variable as text, such as an observation that was cut.

        Args:
            name: obs_1, or another open name.
            start: First character to read; 0 is the beginning.
            length: How many characters to read, at most {longest}.
        """
        try:
            value = state.lookup(name)
        except KeyError:
            raise ToolError(_unknown_name(name, state)) from None
        text = to_text(value) if is_text_like(value) else str(describe(value, 200_000))
        start = min(max(start if start >= 0 else len(text) + start, 0), len(text))
        end = min(len(text), start + max(length, 1), start + longest)
        note = f"{name}: characters {start} to {end} of {len(text)}."
        if end < len(text):
            note += f' Read on with {{"name": "{name}", "start": {end}}}.'
        return f"{note}\n{text[start:end]}"

    peek.__doc__ = (peek.__doc__ or "").format(longest=longest)
    return _Peek(peek, "peek")


def _unknown_name(name: str, state: AgentState) -> str:
    if state.is_lost(name):
        return f"peek: {to_short(name)} is gone: the kernel that held it has ended. If it is needed, make the call again that gave it."
    near = state.nearest(name)
    names = near or state.open_names()[:_MOST_NAMES]
    if not names:
        return f"peek: no open variable has the name {to_short(name)}; none is open. Go on without it."
    return f'peek: no open variable has the name {to_short(name)}. {"Nearest" if near else "Open"}: {", ".join(names)}. Call peek with {{"name": "{names[0]}"}}.'
