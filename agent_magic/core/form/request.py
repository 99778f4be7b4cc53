"""What models were sent, as plain JSON and back.

It must not write messages or schemas: they stand in tables, and are named by their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from agent_magic.core.form.message import (
    check_keys,
    need_text,
    read_choice,
    read_count,
    read_each,
    read_flag,
    read_part,
    read_text,
)
from agent_magic.core.form.tables import Json, Table, check_place, read_place
from agent_magic.core.form.value import UnreadableError, write_text
from agent_magic.core.messages import ChatMessage, RequestKind, ToolSchema
from agent_magic.core.request import ACT, Projection, SentRequest
from agent_magic.core.settings import SUMMARY_MODES, SummaryMode
from agent_magic.core.values import Value

_KINDS: dict[Value, RequestKind] = {kind: kind for kind in get_args(RequestKind)}


def write_request(
    request: SentRequest, messages: Table[ChatMessage], tools: Table[tuple[ToolSchema, ...]]
) -> Json:
    """The request; messages and tools by their places."""
    form: Json = {
        "run_id": write_text(request.run_id),
        "step_number": request.step_number,
        "kind": request.kind,
        "revision": request.revision,
        "n_steps": request.n_steps,
        "tools": tools.place(request.schemas),
        "digest": request.digest,
    }
    projection = request.projection
    if projection != ACT:  # there are as many requests as steps
        form["projection"] = {
            "summary_mode": projection.summary_mode,
            "system": projection.system,
            "newest_plan": projection.newest_plan,
        }
    if request.summary_mode != "plan":
        form["summary_mode"] = request.summary_mode
    if request.head:
        form["head"] = [messages.place(message) for message in request.head]
    if request.tail:
        form["tail"] = [messages.place(message) for message in request.tail]
    return form


def read_request(
    form: Value,
    messages: Sequence[ChatMessage],
    tools: Sequence[tuple[ToolSchema, ...]],
    n_entries: int,
) -> SentRequest:
    """The request, of a memory of `n_entries` steps."""
    check_keys(form, _REQUEST)
    return SentRequest(
        run_id=need_text(form, "run_id"),
        step_number=read_count(form, "step_number"),
        kind=read_choice(form, "kind", _KINDS),
        projection=read_part(form, "projection", _read_projection) or ACT,
        revision=read_count(form, "revision"),
        n_steps=read_place(form, "n_steps", n_entries + 1),
        head=read_each(form, "head", lambda place: messages[check_place(place, len(messages))]),
        tail=read_each(form, "tail", lambda place: messages[check_place(place, len(messages))]),
        schemas=tools[read_place(form, "tools", len(tools))],
        summary_mode=read_choice(form, "summary_mode", _MODES) if "summary_mode" in form else "plan",
        digest=read_text(form, "digest"),
    )


def _read_projection(form: Value) -> Projection:
    check_keys(form, _PROJECTION)
    return Projection(
        summary_mode=read_flag(form, "summary_mode"),
        system=read_flag(form, "system", default=True),
        newest_plan=read_flag(form, "newest_plan", default=True),
    )


def read_tools(form: Value, schemas: Sequence[ToolSchema]) -> tuple[ToolSchema, ...]:
    """The tools of a request, each by its place."""
    if type(form) is not list:
        raise UnreadableError(form, "a list")
    return tuple(schemas[check_place(place, len(schemas))] for place in cast("list[Value]", form))


_MODES: dict[Value, SummaryMode] = {mode: mode for mode in SUMMARY_MODES}
_PROJECTION = frozenset(Projection.__dataclass_fields__)
_REQUEST = frozenset({"tools", *SentRequest.__dataclass_fields__} - {"schemas"})
