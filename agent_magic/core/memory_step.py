"""What every step of a memory is, and the one of the system prompt.

It must not know the other kinds of steps.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from agent_magic.core.messages import ChatMessage

_Class = TypeVar("_Class", bound=type)


def frozen(cls: _Class) -> _Class:
    """Let an assignment to a step say how a step is changed."""

    def refuse(self: object, name: str, value: object = None) -> NoReturn:
        del value
        raise dataclasses.FrozenInstanceError(
            f"{type(self).__name__}.{name} cannot be assigned: a step is a record of what happened. "
            f"Write agent.memory.edit(step, {name}=…): the original is kept, and agent.memory.undo() brings it back."
        )

    cls.__setattr__ = refuse  # pyright: ignore[reportAttributeAccessIssue] - over the one that dataclass made
    return cls


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStep:
    """The root of all steps: a callback registered for it hears of every kind."""

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """What a model is shown of this step, in the normal or the summary view."""
        raise NotImplementedError  # each kind of step says it


@frozen
@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPromptStep(MemoryStep):
    """The system prompt of a memory."""

    text: str

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """One system message; nothing in the summary view."""
        return () if summary_mode else (ChatMessage(role="system", content=self.text),)
