"""A whole memory as plain JSON and back: steps, what is laid upon them, changes and requests.

```
{"format": "agent_magic.memory", "version": 2, "revision": 1,
 "system_prompts": [{"revision": 0, "text": "You are …"}],
 "steps": [{"kind": "task", "task": "Look."},
           {"kind": "action", "step_number": 1, "timing": [1796056857.75, 1796056857.95],
            "tool_results": [{"id": "c1", "name": "look", "arguments": {"n": 1}, "observation": "seen",
                              "is_told": true, "timing": [1796056857.8, 1796056857.9]}],
            "model_input_digest": "75700e3bcb31f401"}],
 "entries": [0, {"step": 1, "view": "hidden"}], "changes": […], "undoable": [1],
 "request_columns": ["run_id", "step_number", "kind", "revision", "n_steps", "tools", "digest"],
 "requests": [["4351f854e2c2", 1, "act", 0, 1, 0, "75700e3bcb31f401"]],
 "messages": [], "schemas": [{"name": "look", …}], "tools": [[0]], "images": []}
```

A timing is a start and an end, in seconds since 1970; what has its default is not written. Steps,
messages, schemas and images stand once each in tables and are named by their places, so the size grows
with the steps and not with the requests. It must not know how a memory works: it takes and gives a
`MemoryRecord`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from agent_magic.core.edits import MemoryChange
from agent_magic.core.errors import OptionError
from agent_magic.core.form.entry import EntryRecord, read_change, read_entry, write_change, write_entry
from agent_magic.core.form.image import read_image
from agent_magic.core.form.keys import check_keys, need_part, need_text, read_count, read_each, to_count
from agent_magic.core.form.message import read_message, read_schema, write_message, write_schema
from agent_magic.core.form.request import COLUMNS, check_columns, read_request, read_tools, write_request
from agent_magic.core.form.step import read_step, write_step
from agent_magic.core.form.tables import Json, Table
from agent_magic.core.form.value import UnreadableError, ValueReader, ValueWriter, write_text
from agent_magic.core.messages import ChatMessage, ToolSchema
from agent_magic.core.request import SentRequest
from agent_magic.core.steps import RunStep, SystemPromptStep
from agent_magic.core.values import Value, safe_repr

FORMAT = "agent_magic.memory"
VERSION = 2


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


class MemoryTables:
    """What stands once in a written memory, and is named by its place there.

    Args:
        largest: See `ValueWriter`.
    """

    def __init__(self, *, largest: int | None = None) -> None:
        values = self.values = ValueWriter(largest=largest)
        self.steps: Table[RunStep] = Table(lambda step: write_step(step, values), joins_equal=False)
        self.messages: Table[ChatMessage] = Table(lambda message: write_message(message, values))
        schemas = self.schemas = Table[ToolSchema](lambda schema: write_schema(schema, values))
        self.tools: Table[tuple[ToolSchema, ...]] = Table(
            lambda group: [schemas.place(schema) for schema in group]
        )

    def to_rows(self) -> dict[str, list[Value]]:
        """The tables by their names in a written memory; they grow while more is written."""
        return {
            "steps": self.steps.forms,
            "messages": self.messages.forms,
            "schemas": self.schemas.forms,
            "tools": self.tools.forms,
            "images": cast("list[Value]", self.values.images),
        }


def write_memory(record: MemoryRecord, tables: MemoryTables | None = None) -> Json:
    """The memory as a dict that `json.dumps` takes as it is.

    Args:
        tables: Of the caller's, who writes more into them.
    """
    tables = tables or MemoryTables()
    entries = [write_entry(entry, tables.steps) for entry in record.entries]
    changes = [write_change(change, tables.steps, tables.values) for change in record.changes]
    requests = [write_request(request, tables.messages, tables.tools) for request in record.requests]
    rows = tables.to_rows()
    return {
        "format": FORMAT,
        "version": VERSION,
        "revision": record.revision,
        "system_prompts": write_system_prompts(record.system_prompts),
        "steps": rows["steps"],
        "entries": entries,
        "changes": changes,
        "undoable": list(record.undoable),
        "request_columns": list(COLUMNS),
        "requests": requests,
        **{name: rows[name] for name in ("messages", "schemas", "tools", "images")},
    }


def read_memory(form: Value, *, n_before: int = 0) -> MemoryRecord:
    """The memory that `write_memory` wrote.

    Args:
        n_before: How many entries stand before those in the form, of a memory that is written in parts.

    Raises:
        OptionError: Nobody wrote this form, or only a newer version reads it.
    """
    _check_head(form)
    try:
        return _read_memory(form, n_before)
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


def _check_head(form: Value) -> None:
    if not isinstance(form, dict):
        raise OptionError(
            f"A memory is read from a dict, and not from {safe_repr(form, 80)}.\n"
            "Give AgentMemory.from_dict what to_dict made; a JSON text goes through json.loads first."
        )
    head = cast("Json", form)
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


def _read_memory(form: Json, n_before: int) -> MemoryRecord:
    check_keys(form, _MEMORY)
    missing = sorted(_MEMORY - form.keys())
    if missing:
        raise OptionError(
            f"This memory cannot be read: its key {missing[0]!r} is missing.\n"
            "Give AgentMemory.from_dict what to_dict made, unchanged."
        )
    need_part(form, "request_columns", check_columns)
    values = ValueReader(read_each(form, "images", _read_image))
    steps = read_each(form, "steps", lambda step: read_step(step, values))
    messages = read_each(form, "messages", lambda message: read_message(message, values))
    schemas = read_each(form, "schemas", lambda schema: read_schema(schema, values))
    tools = read_each(form, "tools", lambda group: read_tools(group, schemas))
    entries = read_each(form, "entries", lambda entry: read_entry(entry, steps))
    n_steps = n_before + len(entries)
    return MemoryRecord(
        revision=read_count(form, "revision"),
        system_prompts=_read_system_prompts(form, is_first=n_before == 0),
        entries=entries,
        changes=read_each(form, "changes", lambda change: read_change(change, steps, n_steps)),
        undoable=read_each(form, "undoable", to_count),
        requests=read_each(form, "requests", lambda sent: read_request(sent, messages, tools, n_steps)),
    )


def _read_image(form: Value) -> Value:
    try:
        return read_image(form)
    except Exception as error:  # pillow and base64 raise many kinds; all mean the same here
        raise UnreadableError(form, "an image") from error


def write_system_prompts(
    prompts: Sequence[tuple[int, SystemPromptStep]], before: str | None = None
) -> list[Json]:
    """Each with its text, unless it is that of the one before."""
    forms: list[Json] = []
    for revision, prompt in prompts:
        form: Json = {"revision": revision}
        if prompt.text != before:
            form["text"] = write_text(prompt.text)
        forms.append(form)
        before = prompt.text
    return forms


def _read_system_prompts(form: Json, *, is_first: bool) -> tuple[tuple[int, SystemPromptStep], ...]:
    newest: list[SystemPromptStep] = []

    def read(prompt: Value) -> tuple[int, SystemPromptStep]:
        check_keys(prompt, _SYSTEM_PROMPT)
        if "text" in prompt or not newest:
            newest.append(SystemPromptStep(text=need_text(prompt, "text")))
        return read_count(prompt, "revision"), newest[-1]

    prompts = read_each(form, "system_prompts", read)
    if not prompts or (is_first and prompts[0][0] != 0):
        raise UnreadableError(form["system_prompts"], "a list that begins with revision 0", "system_prompts")
    return prompts


_MEMORY = frozenset(
    {
        *("format", "version", "revision", "system_prompts", "steps", "entries", "changes", "undoable"),
        *("request_columns", "requests", "messages", "schemas", "tools", "images"),
    }
)
_SYSTEM_PROMPT = frozenset({"revision", "text"})
