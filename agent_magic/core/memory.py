"""AgentMemory: the system prompt and the steps, and the messages they make.

One record, several projections. Steps are never changed: an edit, a view or a short form stands
beside its step with the moment from which it holds, so every request that was sent can be rebuilt.
It must not decide when a step is made, nor which projection a request takes.
"""

from __future__ import annotations

import dataclasses
import operator
import threading
import time
from collections.abc import Iterable, Mapping, Sequence

from agent_magic.core.edits import (
    STEP_VIEWS,
    Field,
    MemoryChange,
    StepView,
    edited,
    has_images,
    without_images,
)
from agent_magic.core.entry import Entry
from agent_magic.core.errors import OptionError
from agent_magic.core.form.entry import EntryRecord
from agent_magic.core.form.memory import read_memory, write_memory
from agent_magic.core.form.part import read_record
from agent_magic.core.messages import ChatMessage, RequestKind, ToolSchema
from agent_magic.core.rendering import Rendering, View
from agent_magic.core.request import ACT, Projection, SentRequest
from agent_magic.core.settings import SummaryMode
from agent_magic.core.short_form import Form
from agent_magic.core.steps import RunStep, SystemPromptStep
from agent_magic.core.values import Value

_BY_WINDOW = "window"


class AgentMemory:
    """System prompt and steps, oldest first.

    The messages of n + 1 steps begin with the very message objects of n steps: each step is
    rendered once in each view, so the cost of a step does not grow with the history and a
    provider's prompt cache is hit.
    """

    def __init__(self, system_prompt: str = "", steps: Iterable[RunStep] = ()) -> None:
        self._system_prompts = [(0, SystemPromptStep(text=system_prompt))]
        self._entries = [Entry(step) for step in steps]
        self._rendering = Rendering()
        self._changes: list[MemoryChange] = []
        self._undoable: list[int] = []
        self._requests: list[SentRequest] = []
        self._revision = 0
        self._lock = threading.RLock()

    # -- the record --------------------------------------------------------------------------

    @property
    def system_prompt(self) -> SystemPromptStep:
        """The step that holds the system prompt."""
        return self._system_prompts[-1][1]

    @property
    def steps(self) -> tuple[RunStep, ...]:
        """All steps as they count now, oldest first, without the system prompt and dropped ones."""
        return tuple(entry.step for entry in self._entries if not entry.is_dropped)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All steps with what was laid upon them, dropped ones too."""
        return tuple(self._entries)

    @property
    def revision(self) -> int:
        """How often something that was there already has changed."""
        return self._revision

    @property
    def edits(self) -> tuple[MemoryChange, ...]:
        """Every change that was made to what was there already, oldest first, with its original."""
        return tuple(self._changes)

    @property
    def n_edits(self) -> int:
        """How many changes were made to what was there already."""
        return len(self._changes)

    def edits_since(self, n_known: int) -> list[MemoryChange]:
        """The changes after the first `n_known`."""
        return self._changes[n_known:]

    @property
    def requests(self) -> tuple[SentRequest, ...]:
        """What models were sent, oldest first."""
        return tuple(self._requests)

    def __repr__(self) -> str:
        n_requests = len(self._requests)
        return f"<AgentMemory: {len(self)} steps, {n_requests} requests, {len(self._changes)} changes>"

    def __len__(self) -> int:
        return sum(not entry.is_dropped for entry in self._entries)

    def append(self, step: RunStep) -> None:
        """Add a step at the end."""
        with self._lock:
            self._entries.append(Entry(step))

    def set_system_prompt(self, text: str) -> None:
        """Put another system prompt in front; the steps stay."""
        with self._lock:
            if text != self.system_prompt.text:
                self._revision += 1
                self._system_prompts.append((self._revision, SystemPromptStep(text=text)))
                self._rendering.keep(self._revision)

    # -- projections -------------------------------------------------------------------------

    def to_messages(self, *, summary_mode: bool = False) -> list[ChatMessage]:
        """The messages a model is sent, in the normal or the summary view (see `core.steps`)."""
        return self.project(
            Projection(summary_mode=summary_mode, system=not summary_mode, newest_plan=not summary_mode)
        )

    def project(self, projection: Projection = ACT) -> list[ChatMessage]:
        """The messages of a projection; the list is the caller's own."""
        with self._lock:
            messages = self._up_to_date(projection).messages
            return [*self._system_messages(), *messages] if projection.system else [*messages]

    def take_request(
        self,
        *,
        run_id: str,
        step_number: int,
        kind: RequestKind,
        projection: Projection,
        head: tuple[ChatMessage, ...] = (),
        tail: tuple[ChatMessage, ...] = (),
        schemas: tuple[ToolSchema, ...] = (),
        summary_mode: SummaryMode = "plan",
    ) -> tuple[list[ChatMessage], SentRequest]:
        """The messages to send now, and what is kept of them: their digest and this moment.

        Both under one lock: a change from another thread is in both or in none.
        """
        with self._lock:
            last = self._requests[-1].schemas if self._requests else ()
            if len(last) == len(schemas) and all(map(operator.is_, last, schemas)):
                schemas = last  # one tuple for all requests, and its digest is known
            view = self._up_to_date(projection)
            request = SentRequest(
                run_id=run_id,
                step_number=step_number,
                kind=kind,
                projection=projection,
                revision=self._revision,
                n_steps=len(self._entries),
                head=head,
                tail=tail,
                schemas=schemas,
                summary_mode=summary_mode,
                digest=self._digest(view, projection, (*head, *tail), schemas),
            )
            self._requests.append(request)
            system = self._system_messages() if projection.system else ()
            return [*head, *system, *view.messages, *tail], request

    def size(self, projection: Projection) -> int:
        """Bytes of the texts of a projection, without the system prompt: its tokens are no more."""
        with self._lock:
            return self._up_to_date(projection).n_bytes

    def rebuild(self, request: SentRequest, projection: Projection | None = None) -> list[ChatMessage]:
        """The messages of a request that was sent, from the record as it stood then.

        Args:
            projection: Another view of the same moment, instead of the one that was sent.
        """
        projection = projection or request.projection
        with self._lock:
            then = self._at(request)
            messages = then.project(projection)
        return [*request.head, *messages, *request.tail]

    def is_rebuilt_exactly(self, request: SentRequest) -> bool:
        """Whether what `rebuild` gives has the digest of what was sent."""
        with self._lock:
            then = self._at(request)
            view, around = then._up_to_date(request.projection), (*request.head, *request.tail)
            digest = then._digest(view, request.projection, around, request.schemas)
        return digest == request.digest

    # -- what a person changes ---------------------------------------------------------------

    def set_view(self, step: RunStep | int, view: StepView | None, *, by: str = "person") -> None:
        """Show one step in full, in summary, or not at all, in every request from the next one on.

        None: as `summary_mode` says.

        Raises:
            OptionError: There is no such view, or no such step.
        """
        if view is not None and view not in STEP_VIEWS:
            raise OptionError(
                f"A step cannot be shown as {view!r}. Give one of: {', '.join(map(repr, STEP_VIEWS))}, or None."
            )
        self._change([(self._find(step), "view", view)], by=by)

    def view_of(self, step: RunStep | int) -> StepView | None:
        """How a step is shown, None if as `summary_mode` says."""
        return self._entries[self._find(step)].view

    def set_pinned(self, step: RunStep | int, is_pinned: bool = True, *, by: str = "person") -> None:
        """Shorten this step last when a request would not fit."""
        self._change([(self._find(step), "is_pinned", is_pinned)], by=by)

    def is_pinned(self, step: RunStep | int) -> bool:
        """Whether a step is shortened last."""
        return self._entries[self._find(step)].is_pinned

    def form_of(self, step: RunStep | int) -> Form:
        """In which form a step is sent."""
        return self._entries[self._find(step)].form

    def edit(self, step: RunStep | int, *, by: str = "person", **changes: Value) -> RunStep:
        """Put other texts, arguments, observations or a plan into a step; the original is kept.

        Args:
            step: The step itself, or its place in `steps`.
            by: Who does it.
            changes: `model_output`, `arguments`, `observations`, `observations_images=None` of an
                action, `plan` of a plan, `task` and `images` of a task. `arguments` and
                `observations` by the id of the call, or alone where there is one call.

        Returns:
            The step that counts from now on.

        Raises:
            OptionError: The step has no such part.
        """
        index = self._find(step)
        new = edited(self._entries[index].step, changes)
        self._change([(index, "step", new)], by=by)
        return new

    def drop(self, *steps: RunStep | int, by: str = "person") -> None:
        """Take steps out of the memory; `undo` brings them back."""
        places = dict.fromkeys(self._find(step) for step in steps)  # a step given twice is dropped once
        self._change([(place, "is_dropped", True) for place in places], by=by)

    def forget_images(self, keep_last: int = 2, *, by: str = "person") -> int:
        """Take the images out of all but the last `keep_last` steps that have any.

        Returns:
            Of how many steps.
        """
        with self._lock:
            with_images = [
                i for i, entry in enumerate(self._entries) if not entry.is_dropped and has_images(entry.step)
            ]
            old = with_images[: max(len(with_images) - max(keep_last, 0), 0)]
            self._change([(i, "step", without_images(self._entries[i].step)) for i in old], by=by)
            return len(old)

    def undo(self) -> tuple[MemoryChange, ...]:
        """Take back the last change that a person made; nothing if there is none.

        Returns:
            The changes that were made for it.
        """
        with self._lock:
            if not self._undoable:
                return ()
            revision = self._undoable.pop()
            undone = [change for change in self._changes if change.revision == revision]
            n_before = len(self._changes)
            self._change([(change.index, change.field, change.old) for change in reversed(undone)], by="undo")
            return tuple(self._changes[n_before:])

    # -- what the window asks for ------------------------------------------------------------

    def shorten(self, forms: Mapping[int, Form], kept: Mapping[int, Mapping[str, str]]) -> None:
        """Show steps, by their place among `entries`, in other forms from the next request on."""
        changes: list[tuple[int, Field, Value]] = [(index, "form", form) for index, form in forms.items()]
        for index, names in kept.items():
            changes.append((index, "kept", names))
        self._change(changes, by=_BY_WINDOW)

    # -- copies ------------------------------------------------------------------------------

    def fork(self) -> AgentMemory:
        """A memory that begins as this one and goes its own way."""
        with self._lock:
            memory = AgentMemory()
            memory._system_prompts = list(self._system_prompts)
            memory._entries = [entry.copy() for entry in self._entries]
            memory._changes = list(self._changes)
            memory._undoable = list(self._undoable)
            memory._requests = list(self._requests)
            memory._revision = self._revision
            return memory

    def join(self, run: AgentMemory, n_start: int, *, with_edits: bool) -> None:
        """Take over the steps that another memory has from `n_start` on.

        Args:
            with_edits: What was changed there in the steps before holds here too.
        """
        with self._lock:
            if with_edits:
                fields: tuple[Field, ...] = ("step", "view", "is_pinned", "is_dropped")
                shared = enumerate(run._entries[: min(n_start, len(self._entries))])
                self._change(
                    [(i, field, getattr(theirs, field)) for i, theirs in shared for field in fields],
                    by="person",
                )
            self._revision += 1
            moved = len(self._entries) - n_start
            # What was changed in them stays on record, so that a step is found by its original.
            self._changes.extend(
                dataclasses.replace(change, revision=self._revision, index=change.index + moved)
                for change in run._changes
                if change.index >= n_start
            )
            self._entries.extend(entry.copy() for entry in run._entries[n_start:])
            self._system_prompts.append((self._revision, run.system_prompt))
            self._rendering.forget()

    def to_dict(self) -> dict[str, Value]:
        """The whole memory as plain JSON, see `core.form.memory`; `from_dict` gives it back.

        It holds what the runs held, secrets in it too: what goes into a notebook is `record`'s affair.
        Objects that JSON cannot hold are in it by their type, repr and name, as a `RecordedValue`.
        """
        return write_memory(read_record(self))

    @classmethod
    def from_dict(cls, d: Mapping[str, Value]) -> AgentMemory:
        """The memory that `to_dict` wrote. Nothing in `d` is run or imported.

        Raises:
            OptionError: `d` is no such dict, or from a newer version.
        """
        record = read_memory(d)
        memory = cls()
        memory._system_prompts = list(record.system_prompts)
        for entry_record in record.entries:
            entry = Entry(entry_record.step)
            if entry_record.is_laid_upon:
                for name in EntryRecord.__slots__:
                    setattr(entry, name, getattr(entry_record, name))
            memory._entries.append(entry)
        memory._changes = list(record.changes)
        memory._undoable = list(record.undoable)
        memory._requests = list(record.requests)
        memory._revision = record.revision
        return memory

    # -- inside ------------------------------------------------------------------------------

    def _find(self, step: RunStep | int) -> int:
        if isinstance(step, int):
            places = [i for i, entry in enumerate(self._entries) if not entry.is_dropped]
            if -len(places) <= step < len(places):
                return places[step]
            raise OptionError(
                f"There is no step at {step}; the memory has {len(places)} steps, counted from 0."
            )
        for index in range(len(self._entries) - 1, -1, -1):
            if self._entries[index].step is step:
                return index
        # An edited step is asked for by its original all the same.
        for change in reversed(self._changes):
            if change.field == "step" and change.old is step:
                return change.index
        raise OptionError("This step is not in this memory. Take one of memory.steps, or its place there.")

    def _change(self, changes: list[tuple[int, Field, Value]], *, by: str) -> None:
        with self._lock:
            changes = [c for c in changes if getattr(self._entries[c[0]], c[1]) is not c[2]]
            if not changes:
                return
            self._revision += 1
            now = time.time()
            for index, field, new in changes:
                entry = self._entries[index]
                self._changes.append(
                    MemoryChange(
                        revision=self._revision,
                        index=index,
                        field=field,
                        old=getattr(entry, field),
                        new=new,
                        by=by,
                        at=now,
                    )
                )
                entry.put(field, new)
            if by not in ("undo", _BY_WINDOW):
                self._undoable.append(self._revision)

    def _up_to_date(self, projection: Projection) -> View:
        return self._rendering.view(projection, self._entries, self._revision)

    def _system_messages(self) -> tuple[ChatMessage, ...]:
        return self._rendering.system_messages(self.system_prompt)

    def _digest(
        self,
        view: View,
        projection: Projection,
        around: Sequence[ChatMessage],
        schemas: tuple[ToolSchema, ...],
    ) -> str:
        prompt = self.system_prompt if projection.system else None
        return self._rendering.digest(view, prompt, around, schemas)

    def _at(self, request: SentRequest) -> AgentMemory:
        """This memory as it stood when the request was sent."""
        then = AgentMemory()
        then._system_prompts = [
            (revision, prompt) for revision, prompt in self._system_prompts if revision <= request.revision
        ]
        # Untouched entries are shared: they are only read, and what they rendered is the same.
        entries = self._entries[: request.n_steps]
        later = [c for c in self._changes if c.revision > request.revision and c.index < request.n_steps]
        for index in {change.index for change in later}:
            entries[index] = entries[index].copy()
        for change in reversed(later):
            entries[change.index].put(change.field, change.old)
        then._entries = entries
        return then
