"""A whole memory as plain JSON and back: steps, what is laid upon them, changes and requests.

Steps, messages, schemas and images stand once each in tables and are named by their places, so the
size grows with the steps and not with the requests. It must not know how a memory works: it takes
and gives a `MemoryRecord`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast, get_args

from agent_magic.core.edits import STEP_VIEWS, Field, MemoryChange, StepView
from agent_magic.core.errors import OptionError
from agent_magic.core.image_form import read_image
from agent_magic.core.message_form import (
    check_keys,
    need_text,
    read_choice,
    read_count,
    read_each,
    read_flag,
    read_message,
    read_number,
    read_part,
    read_schema,
    read_text,
    write_message,
    write_schema,
)
from agent_magic.core.messages import ChatMessage, RequestKind, ToolSchema
from agent_magic.core.request import Projection, SentRequest
from agent_magic.core.short_form import FORMS, Form
from agent_magic.core.step_form import read_step, write_step
from agent_magic.core.steps import RunStep, SystemPromptStep
from agent_magic.core.value_form import UnreadableError, ValueReader, ValueWriter, write_text
from agent_magic.core.values import Value, safe_repr

FORMAT = "agent_magic.memory"
VERSION = 1

_Json = dict[str, Value]
_T = TypeVar("_T")
_FIELDS: dict[Value, Field] = {name: name for name in get_args(Field)}
_KINDS: dict[Value, RequestKind] = {kind: kind for kind in get_args(RequestKind)}
_VIEWS: dict[Value, StepView] = {view: view for view in STEP_VIEWS}
_FORMS: dict[Value, Form] = {form: form for form in FORMS}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRecord:
    """A step and what is laid upon it, see `core.memory.Entry`."""

    step: RunStep
    view: StepView | None = None
    is_pinned: bool = False
    is_dropped: bool = False
    form: Form = "whole"
    kept: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """All that a memory holds, as it stood at one moment."""

    system_prompts: Sequence[tuple[int, SystemPromptStep]]
    """Each with the revision from which it holds; the first from 0."""
    entries: Sequence[EntryRecord]
    changes: Sequence[MemoryChange]
    undoable: Sequence[int]
    requests: Sequence[SentRequest]
    revision: int


def write_memory(record: MemoryRecord) -> _Json:
    """The memory as a dict that `json.dumps` takes as it is."""
    values = ValueWriter()
    steps: _Table[RunStep] = _Table(lambda step: write_step(step, values), joins_equal=False)
    messages: _Table[ChatMessage] = _Table(lambda message: write_message(message, values))
    schemas: _Table[ToolSchema] = _Table(lambda schema: write_schema(schema, values))
    tools: _Table[tuple[ToolSchema, ...]] = _Table(lambda group: [schemas.place(schema) for schema in group])
    entries = [_write_entry(entry, steps) for entry in record.entries]
    changes = [_write_change(change, steps, values) for change in record.changes]
    requests = [_write_request(request, messages, tools) for request in record.requests]
    return {
        "format": FORMAT,
        "version": VERSION,
        "revision": record.revision,
        "system_prompts": _write_system_prompts(record.system_prompts),
        "steps": steps.forms,
        "entries": entries,
        "changes": changes,
        "undoable": list(record.undoable),
        "requests": requests,
        "messages": messages.forms,
        "schemas": schemas.forms,
        "tools": tools.forms,
        "images": values.images,
    }


def read_memory(form: Value) -> MemoryRecord:
    """The memory that `write_memory` wrote.

    Raises:
        OptionError: Nobody wrote this form, or only a newer version reads it.
    """
    _check_head(form)
    try:
        return _read_memory(form)
    except UnreadableError as error:
        where = error.path or "a part of it"
        raise OptionError(
            f"This memory cannot be read: {where} is {safe_repr(error.found, 80)}, and not {error.expected}.\n"
            "Give AgentMemory.from_dict what to_dict made, unchanged."
        ) from error
    except RecursionError as error:
        raise OptionError(
            "This memory cannot be read: something in it is nested too deeply.\n"
            "Give AgentMemory.from_dict what to_dict made, unchanged."
        ) from error


class _Table(Generic[_T]):
    """Forms of objects, each object once; equal forms once too, if they are joined."""

    def __init__(self, write: Callable[[_T], Value], *, joins_equal: bool = True) -> None:
        self.forms: list[Value] = []
        self._write = write
        self._joins_equal = joins_equal
        self._places: dict[int, int] = {}
        self._places_of_texts: dict[str, int] = {}

    def place(self, thing: _T) -> int:
        """Where the form of `thing` stands; the record keeps `thing` alive, so its id is its own."""
        place = self._places.get(id(thing))
        if place is None:
            place = self._places[id(thing)] = self._add(self._write(thing))
        return place

    def _add(self, form: Value) -> int:
        if self._joins_equal:
            place = self._places_of_texts.setdefault(json.dumps(form), len(self.forms))
            if place < len(self.forms):
                return place
        self.forms.append(form)
        return len(self.forms) - 1


def _check_head(form: Value) -> None:
    if not isinstance(form, dict):
        raise OptionError(
            f"A memory is read from a dict, and not from {safe_repr(form, 80)}.\n"
            "Give AgentMemory.from_dict what to_dict made; a JSON text goes through json.loads first."
        )
    head = cast("_Json", form)
    if head.get("format") != FORMAT:
        raise OptionError(
            f"This dict holds no memory: its key 'format' is {safe_repr(head.get('format'), 80)}, and not {FORMAT!r}.\n"
            "Give AgentMemory.from_dict what to_dict made."
        )
    version = head.get("version")
    if type(version) is int and version > VERSION:
        raise OptionError(
            f"This memory was written by a newer agent_magic: its key 'version' is {version}, "
            f"and this one reads up to {VERSION}.\nUpgrade: pip install -U agent-magic"
        )
    if type(version) is not int or version != VERSION:
        raise OptionError(
            f"This memory cannot be read: its key 'version' is {safe_repr(version, 80)}, and not {VERSION}.\n"
            "Give AgentMemory.from_dict what to_dict made, unchanged."
        )


def _read_memory(form: _Json) -> MemoryRecord:
    check_keys(form, _MEMORY)
    missing = sorted(_MEMORY - form.keys())
    if missing:
        raise UnreadableError(None, "there", missing[0])
    values = ValueReader(read_each(form, "images", _read_image))
    steps = read_each(form, "steps", lambda step: read_step(step, values))
    messages = read_each(form, "messages", lambda message: read_message(message, values))
    schemas = read_each(form, "schemas", lambda schema: read_schema(schema, values))
    tools = read_each(form, "tools", lambda group: _read_group(group, schemas))
    entries = read_each(form, "entries", lambda entry: _read_entry(entry, steps))
    n_steps = len(entries)
    return MemoryRecord(
        revision=read_count(form, "revision"),
        system_prompts=_read_system_prompts(form),
        entries=entries,
        changes=read_each(form, "changes", lambda change: _read_change(change, steps, n_steps)),
        undoable=read_each(form, "undoable", _read_revision),
        requests=read_each(form, "requests", lambda sent: _read_request(sent, messages, tools, n_steps)),
    )


def _read_image(form: Value) -> Value:
    try:
        return read_image(form)
    except Exception as error:
        raise UnreadableError(form, "an image") from error


# -- the parts -------------------------------------------------------------------------------


def _write_system_prompts(prompts: Sequence[tuple[int, SystemPromptStep]]) -> list[_Json]:
    """Each with its text, unless it is that of the one before."""
    forms: list[_Json] = []
    before: str | None = None
    for revision, prompt in prompts:
        form: _Json = {"revision": revision}
        if prompt.text != before:
            form["text"] = write_text(prompt.text)
        forms.append(form)
        before = prompt.text
    return forms


def _read_system_prompts(form: _Json) -> tuple[tuple[int, SystemPromptStep], ...]:
    newest: list[SystemPromptStep] = []

    def read(prompt: Value) -> tuple[int, SystemPromptStep]:
        check_keys(prompt, _SYSTEM_PROMPT)
        if "text" in prompt or not newest:
            newest.append(SystemPromptStep(text=need_text(prompt, "text")))
        return read_count(prompt, "revision"), newest[-1]

    prompts = read_each(form, "system_prompts", read)
    if not prompts or prompts[0][0] != 0:
        raise UnreadableError(form["system_prompts"], "a list that begins with revision 0", "system_prompts")
    return prompts


def _write_entry(entry: EntryRecord, steps: _Table[RunStep]) -> Value:
    """The place of its step alone, or with what is laid upon it."""
    place = steps.place(entry.step)
    form: _Json = {}
    if entry.view is not None:
        form["view"] = entry.view
    if entry.is_pinned:
        form["is_pinned"] = True
    if entry.is_dropped:
        form["is_dropped"] = True
    if entry.form != "whole":
        form["form"] = entry.form
    if entry.kept:
        form["kept"] = dict(entry.kept)
    return {"step": place, **form} if form else place


def _read_entry(form: Value, steps: Sequence[RunStep]) -> EntryRecord:
    if type(form) is int:
        form = {"step": form}
    check_keys(form, _ENTRY)
    return EntryRecord(
        step=steps[_read_place(form, "step", len(steps))],
        view=read_choice(form, "view", _VIEWS) if "view" in form else None,
        is_pinned=read_flag(form, "is_pinned"),
        is_dropped=read_flag(form, "is_dropped"),
        form=read_choice(form, "form", _FORMS) if "form" in form else "whole",
        kept=read_part(form, "kept", _read_kept) or {},
    )


def _read_kept(form: Value) -> dict[str, str]:
    if type(form) is dict and all(
        type(call_id) is str and type(name) is str for call_id, name in form.items()
    ):
        return dict(form)
    raise UnreadableError(form, "the names of whole observations by the ids of their calls")


def _write_change(change: MemoryChange, steps: _Table[RunStep], values: ValueWriter) -> _Json:
    old, new = change.old, change.new
    if change.field == "step":
        old, new = steps.place(old), steps.place(new)
    elif change.field == "kept":
        old, new = dict(old), dict(new)
    return {
        "revision": change.revision,
        "index": change.index,
        "field": change.field,
        "old": old,
        "new": new,
        "by": write_text(change.by),
        "at": values.write(change.at),
    }


def _read_change(form: Value, steps: Sequence[RunStep], n_entries: int) -> MemoryChange:
    check_keys(form, _CHANGE)
    part = read_choice(form, "field", _FIELDS)
    return MemoryChange(
        revision=read_count(form, "revision"),
        index=_read_place(form, "index", n_entries),
        field=part,
        old=_read_side(form, "old", part, steps),
        new=_read_side(form, "new", part, steps),
        by=need_text(form, "by"),
        at=read_number(form, "at"),
    )


def _read_side(form: _Json, key: str, part: Field, steps: Sequence[RunStep]) -> Value:
    match part:
        case "step":
            return steps[_read_place(form, key, len(steps))]
        case "view":
            return None if form.get(key) is None else read_choice(form, key, _VIEWS)
        case "form":
            return read_choice(form, key, _FORMS)
        case "kept":
            return read_part(form, key, _read_kept) or {}
        case "is_pinned" | "is_dropped":
            return read_flag(form, key)


def _write_request(
    request: SentRequest, messages: _Table[ChatMessage], tools: _Table[tuple[ToolSchema, ...]]
) -> _Json:
    projection = request.projection
    form: _Json = {
        "run_id": write_text(request.run_id),
        "step_number": request.step_number,
        "kind": request.kind,
        "projection": {
            "summary_mode": projection.summary_mode,
            "system": projection.system,
            "newest_plan": projection.newest_plan,
        },
        "revision": request.revision,
        "n_steps": request.n_steps,
        "tools": tools.place(request.schemas),
        "digest": request.digest,
    }
    if request.head:
        form["head"] = [messages.place(message) for message in request.head]
    if request.tail:
        form["tail"] = [messages.place(message) for message in request.tail]
    return form


def _read_request(
    form: Value,
    messages: Sequence[ChatMessage],
    tools: Sequence[tuple[ToolSchema, ...]],
    n_entries: int,
) -> SentRequest:
    check_keys(form, _REQUEST)
    projection = read_part(form, "projection", _read_projection)
    if projection is None:
        raise UnreadableError(None, "a dict", "projection")
    return SentRequest(
        run_id=need_text(form, "run_id"),
        step_number=read_count(form, "step_number"),
        kind=read_choice(form, "kind", _KINDS),
        projection=projection,
        revision=read_count(form, "revision"),
        n_steps=_read_place(form, "n_steps", n_entries + 1),
        head=read_each(form, "head", lambda place: messages[_check_place(place, len(messages))]),
        tail=read_each(form, "tail", lambda place: messages[_check_place(place, len(messages))]),
        schemas=tools[_read_place(form, "tools", len(tools))],
        digest=read_text(form, "digest"),
    )


def _read_projection(form: Value) -> Projection:
    check_keys(form, _PROJECTION)
    return Projection(
        summary_mode=read_flag(form, "summary_mode"),
        system=read_flag(form, "system", default=True),
        newest_plan=read_flag(form, "newest_plan", default=True),
    )


def _read_group(form: Value, schemas: Sequence[ToolSchema]) -> tuple[ToolSchema, ...]:
    if type(form) is not list:
        raise UnreadableError(form, "a list")
    return tuple(schemas[_check_place(place, len(schemas))] for place in cast("list[Value]", form))


def _read_place(form: _Json, key: str, n: int) -> int:
    try:
        return _check_place(form.get(key), n)
    except UnreadableError as error:
        raise error.within(key) from None


def _check_place(place: Value, n: int) -> int:
    if type(place) is int and 0 <= place < n:
        return place
    raise UnreadableError(place, f"a whole number from 0 to {n - 1}" if n else "empty")


def _read_revision(form: Value) -> int:
    return read_count({"revision": form}, "revision")


_MEMORY = frozenset(
    {
        *("format", "version", "revision", "system_prompts", "steps", "entries", "changes", "undoable"),
        *("requests", "messages", "schemas", "tools", "images"),
    }
)
_SYSTEM_PROMPT = frozenset({"revision", "text"})
_ENTRY = frozenset(EntryRecord.__dataclass_fields__)
_CHANGE = frozenset(MemoryChange.__dataclass_fields__)
_PROJECTION = frozenset(Projection.__dataclass_fields__)
_REQUEST = frozenset({"tools", *SentRequest.__dataclass_fields__} - {"schemas"})
