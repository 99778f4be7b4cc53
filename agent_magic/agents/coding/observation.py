"""What the model is told of code that ran: what it printed, its last value, its answer; without secrets.

It must not change a value, nor hang on one: whoever wrote a `repr` may have written it without an end.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from agent_magic.agents.run.sounds import listen_to, tell_sound
from agent_magic.core.redact import redact
from agent_magic.core.sound import Sound
from agent_magic.core.state import AgentState
from agent_magic.core.steps import ANSWER_GIVEN, NOTHING_TOLD
from agent_magic.core.text import strip_control, truncate
from agent_magic.core.values import Value, describe, is_text_like, note_endless, safe_repr
from agent_magic.execution.request import CodeOutcome
from agent_magic.execution.stop.stopping import TimeLimitReached, limited

_VALUE_CHARS = 4_000
_ANSWER_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCode:
    """What is told of code, and where the whole of it is kept."""

    text: str
    kept_as: str | None = None
    """The `obs_N` that holds the whole, if the text is cut."""
    whole: str = ""
    """The whole, if the text is cut."""
    sounds: tuple[Sound, ...] = ()
    """The value that it ended in, if it is a sound."""


def observe_code(outcome: CodeOutcome, state: AgentState, budget: int, timeout_s: float | None) -> SeenCode:
    """What code printed, showed and ended in.

    Args:
        outcome: Of the code.
        state: Keeps the whole of what is cut.
        budget: Characters.
        timeout_s: So long the value's own `repr` may take.
    """
    parts = [outcome.printed.rstrip("\n")] if outcome.printed.strip() else []
    if outcome.pictures:
        n = len(outcome.pictures)
        parts.append("(1 picture is shown.)" if n == 1 else f"({n} pictures are shown.)")
    if outcome.has_value:
        parts.append(f"Value of the last line: {show_value(outcome.value, _VALUE_CHARS, timeout_s)}")
    sound = listen_to(outcome.value) if outcome.has_value else None
    sounds = () if sound is None else (sound,)
    parts += map(tell_sound, sounds)
    is_over = outcome.is_answered or outcome.is_stopped or outcome.error is not None
    text = redact("\n".join(parts)) or ("" if is_over else NOTHING_TOLD)
    if len(text) <= budget:
        return SeenCode(text=text, sounds=sounds)
    name = state.keep(text)
    hint = f"; the whole is in the variable {name}: print({name}[:5000])"
    return SeenCode(text=truncate(text, budget, hint=hint), kept_as=name, whole=text, sounds=sounds)


def observe_answer(answer: Value, told: str, budget: int, timeout_s: float | None) -> str:
    """What stands in the record of code that gave an answer."""
    line = redact(f"{ANSWER_GIVEN}{show_value(answer, min(_ANSWER_CHARS, budget), timeout_s)}")
    return f"{told}\n{line}" if told else line


def show_value(value: Value, max_chars: int, timeout_s: float | None) -> str:
    """A value as Python would show it, bounded in length and time."""
    try:
        with limited(timeout_s):
            if isinstance(value, enum.Enum) or not is_text_like(value):
                return str(describe(value, max_chars))
            return truncate(strip_control(safe_repr(value, max_chars), is_screen=False), max_chars)
    except TimeLimitReached:
        note_endless(type(value))
        return safe_repr(value)
