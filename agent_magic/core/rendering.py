"""Rendering: the messages of a memory's steps in each projection, made once, and the digests of requests.

It must not change an entry, nor decide which projection a request takes.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_magic.core.digest import Digest, add_messages, digest_schemas, new_digest
from agent_magic.core.entry import Entry
from agent_magic.core.messages import ChatMessage, ToolSchema
from agent_magic.core.request import Projection
from agent_magic.core.short_form import left_out_note
from agent_magic.core.steps import PlanningStep, SystemPromptStep, TaskStep


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


class Rendering:
    """Views that grow with the entries of one memory; its lock is held by who asks."""

    def __init__(self) -> None:
        self._views: dict[Projection, View] = {}
        self._schemas: tuple[tuple[ToolSchema, ...], bytes] = ((), digest_schemas(()))
        self._prompt: tuple[SystemPromptStep | None, tuple[ChatMessage, ...], bytes] = (None, (), b"")

    def view(self, projection: Projection, entries: Sequence[Entry], revision: int) -> View:
        """The view of all entries as they stand in this revision of the memory."""
        view = self._views.get(projection)
        if (
            view is None
            or view.revision != revision
            or (view.plan and any(_ends_plan(entry) for entry in entries[view.n_entries :]))
        ):
            view = self._views[projection] = View(revision)
        if view.n_entries < len(entries):
            _extend(view, projection, entries)
        return view

    def keep(self, revision: int) -> None:
        """The entries are in this revision as they were in the one before."""
        for view in self._views.values():
            if view.revision == revision - 1:
                view.revision = revision

    def forget(self) -> None:
        """Render everything anew."""
        self._views.clear()

    def system_messages(self, prompt: SystemPromptStep) -> tuple[ChatMessage, ...]:
        """The system prompt's message, the same object as long as it stays; its digest is kept beside it."""
        if prompt is not self._prompt[0]:
            messages, digest = prompt.to_messages(), new_digest()
            add_messages(digest, messages)
            self._prompt = (prompt, messages, digest.digest())
        return self._prompt[1]

    def digest(
        self,
        view: View,
        prompt: SystemPromptStep | None,
        around: Sequence[ChatMessage],
        schemas: tuple[ToolSchema, ...],
    ) -> str:
        """The digest of a request.

        Args:
            view: Its history.
            prompt: The system prompt, if it is in the request.
            around: Its messages before and after those.
            schemas: Its tools.
        """
        if schemas is not self._schemas[0]:
            self._schemas = (schemas, digest_schemas(schemas))
        digest = view.digest.copy()
        if around:
            add_messages(digest, around)
        digest.update(self._schemas[1])
        if prompt is not None:
            self.system_messages(prompt)
            digest.update(self._prompt[2])
        return digest.hexdigest()


def _extend(view: View, projection: Projection, entries: Sequence[Entry]) -> None:
    shows_plan = projection.summary_mode and projection.newest_plan
    plan = _newest_plan(entries) if shows_plan else None
    new: list[ChatMessage] = []
    revision, view.revision = view.revision, -1  # Ctrl-C in here leaves a view that is made anew
    for entry in entries[view.n_entries :]:
        if entry.is_dropped or entry.view == "hidden":
            continue
        if entry.form == "left_out":
            view.n_left_out += 1
            continue
        if view.n_left_out:
            new.append(left_out_note(view.n_left_out))
            view.n_left_out = 0
        is_summary = projection.summary_mode if entry.view is None else entry.view == "summary"
        if entry is plan and entry.view is None:
            is_summary, view.plan = False, entry
        new.extend(entry.to_messages(summary_mode=is_summary))
    view.n_entries = len(entries)
    view.messages.extend(new)
    view.n_bytes += add_messages(view.digest, new)
    view.revision = revision


def _ends_plan(entry: Entry) -> bool:
    """Whether the plan before this step counts no more."""
    step = entry.step
    if isinstance(step, PlanningStep):
        return step.fault is None and bool(step.plan)
    return isinstance(step, TaskStep) and step.resumes is None


def _newest_plan(entries: Sequence[Entry]) -> Entry | None:
    for entry in reversed(entries):
        if not entry.is_dropped and _ends_plan(entry):
            return entry if isinstance(entry.step, PlanningStep) else None
    return None
