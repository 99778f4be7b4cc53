"""TaskStep: a task as the person gave it, with the variables that it mentions.

It must not look for a variable: its description comes with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_magic.core.memory_step import MemoryStep, frozen
from agent_magic.core.messages import ChatMessage, ImagePart
from agent_magic.core.values import Description


@dataclass(frozen=True, slots=True, kw_only=True)
class StateVariable:
    """A variable that a task mentions, as the model is told of it."""

    name: str
    description: Description

    def __str__(self) -> str:
        return f"@{self.name}: {self.description}"


@frozen
@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep(MemoryStep):
    """A task as the person gave it."""

    task: str
    """The text, byte for byte (a mention `\\@name` stands here as `@name`)."""
    images: tuple[ImagePart, ...] = ()
    variables: tuple[StateVariable, ...] = ()
    """Those that it mentions, with a preview of each."""
    others: tuple[StateVariable, ...] = ()
    """Others that are open to it, without previews."""
    n_others_left_out: int = 0
    resumes: str | None = None
    """The id of the run that this one goes on with; `task` is then the correction, or a word to go on."""
    is_ours: bool = False
    """The text is the runtime's: the run was resumed without a correction."""
    undone: tuple[str, ...] = ()
    """What the person took back of earlier steps' changes before this task, a line each."""

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        """One user message: the task, the variables it mentions, its images; alike in both views."""
        del summary_mode
        text = self.task
        if self.variables:
            text += "\n\nState variables:\n" + "\n".join(f"- {variable}" for variable in self.variables)
        if self.others:
            text += "\n\nOther variables:\n" + "\n".join(f"- {variable}" for variable in self.others)
            if self.n_others_left_out:
                text += f"\n- and {self.n_others_left_out:,} more"
        if self.undone:
            text += "\n\nThe person has taken back what earlier steps made:\n" + "\n".join(
                f"- {line}" for line in self.undone
            )
        return (ChatMessage(role="user", content=text, images=self.images, is_ours=self.is_ours),)
