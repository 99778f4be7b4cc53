"""Entry and View: a step with what was laid upon it, and the messages of one projection so far.

It must not know the memory that they stand in.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_magic.core.digest import Digest, new_digest
from agent_magic.core.edits import Field, StepView
from agent_magic.core.messages import ChatMessage
from agent_magic.core.short_form import Form, to_short_messages
from agent_magic.core.steps import RunStep
from agent_magic.core.values import Value


class Entry:
    """A step with all that a person or the window laid upon it."""

    __slots__ = ("_rendered", "form", "is_dropped", "is_pinned", "kept", "step", "view")

    def __init__(self, step: RunStep) -> None:
        self.step = step
        self.view: StepView | None = None
        """None: as `summary_mode` says."""
        self.is_pinned = False
        """Shortened last."""
        self.is_dropped = False
        self.form: Form = "whole"
        self.kept: Mapping[str, str] = {}
        """See `short_form.to_short_messages`."""
        self._rendered: dict[bool, tuple[ChatMessage, ...]] = {}

    def put(self, field: Field, value: Value) -> None:
        """Change one thing; what was rendered is rendered anew."""
        setattr(self, field, value)
        self._rendered = {}

    def copy(self) -> Entry:
        """A copy that can be changed alone; it shares what is rendered already."""
        entry = Entry(self.step)
        for name in Entry.__slots__[1:]:
            setattr(entry, name, getattr(self, name))
        entry._rendered = dict(self._rendered)
        return entry

    def to_messages(self, *, summary_mode: bool) -> tuple[ChatMessage, ...]:
        """The step's messages in its form, the same objects each time."""
        rendered = self._rendered.get(summary_mode)
        if rendered is None:
            if self.form == "whole":
                rendered = self.step.to_messages(summary_mode=summary_mode)
            else:
                rendered = to_short_messages(self.step, self.form, self.kept, summary_mode=summary_mode)
            self._rendered[summary_mode] = rendered
        return rendered


class View:
    """The messages of one projection as far as they are rendered."""

    __slots__ = ("digest", "messages", "n_bytes", "n_entries", "n_left_out", "plan", "revision")

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self.messages: list[ChatMessage] = []
        self.digest: Digest = new_digest()
        self.n_bytes = 0
        self.n_entries = 0
        self.n_left_out = 0
        self.plan: Entry | None = None
        """The newest plan, where it is shown for that alone."""
