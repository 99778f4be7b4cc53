"""Entry and View: a step with what was laid upon it, and the messages of one projection so far.

It must not know the memory that they stand in.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_magic.core.edits import Field, StepView
from agent_magic.core.messages import ChatMessage
from agent_magic.core.short_form import Form, to_short_messages
from agent_magic.core.steps import RunStep
from agent_magic.core.values import Value

NOTHING_KEPT: Mapping[str, str] = {}


class Entry:
    """A step with all that a person or the window laid upon it."""

    __slots__ = ("_messages", "_summary", "form", "is_dropped", "is_pinned", "kept", "step", "view")

    def __init__(self, step: RunStep) -> None:
        self.step = step
        self.view: StepView | None = None
        """None: as `summary_mode` says."""
        self.is_pinned = False
        """Shortened last."""
        self.is_dropped = False
        self.form: Form = "whole"
        self.kept = NOTHING_KEPT
        """See `short_form.to_short_messages`."""
        # No dict of both: there are as many as steps.
        self._messages: tuple[ChatMessage, ...] | None = None
        self._summary: tuple[ChatMessage, ...] | None = None

    def put(self, field: Field, value: Value) -> None:
        """Change one thing; what was rendered is rendered anew."""
        setattr(self, field, value)
        self._messages = self._summary = None

    def copy(self) -> Entry:
        """A copy that can be changed alone; it shares what is rendered already."""
        entry = Entry(self.step)
        for name in Entry.__slots__:
            setattr(entry, name, getattr(self, name))
        return entry

    def to_messages(self, *, summary_mode: bool) -> tuple[ChatMessage, ...]:
        """The step's messages in its form, the same objects each time."""
        messages = self._summary if summary_mode else self._messages
        if messages is not None:
            return messages
        if self.form == "whole":
            messages = self.step.to_messages(summary_mode=summary_mode)
        else:
            messages = to_short_messages(self.step, self.form, self.kept, summary_mode=summary_mode)
        if summary_mode:
            self._summary = messages
        else:
            self._messages = messages
        return messages
