"""What models were sent, as plain JSON and back.

It must not write messages or schemas: they stand in tables, and are named by their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from agent_magic.core.form.keys import (
    check_keys,
    need_text,
    read_choice,
    read_count,
    read_each,
    read_flag,
    read_part,
)
from agent_magic.core.form.tables import Json, Table, check_place, read_place
from agent_magic.core.form.value import UnreadableError, write_text
from agent_magic.core.messages import ChatMessage, RequestKind, ToolSchema
from agent_magic.core.request import ACT, Projection, SentRequest
from agent_magic.core.settings import SUMMARY_MODES, SummaryMode
from agent_magic.core.values import Value


def write_request(
    request: SentRequest, messages: Table[ChatMessage], tools: Table[tuple[ToolSchema, ...]]
) -> list[Value]:
    """The request as a row of `COLUMNS`, and a dict of the rest if there is any; messages by their places."""
    row: list[Value] = [
        write_text(request.run_id),
        request.step_number,
        request.kind,
        request.revision,
        request.n_steps,
        tools.place(request.schemas),
        request.digest,
    ]
    rest: Json = {}
    projection = request.projection
    if projection is not ACT and projection != ACT:
        rest["projection"] = {
            "summary_mode": projection.summary_mode,
            "system": projection.system,
            "newest_plan": projection.newest_plan,
        }
    if request.summary_mode != "plan":
        rest["summary_mode"] = request.summary_mode
    if request.head:
        rest["head"] = [messages.place(message) for message in request.head]
    if request.tail:
        rest["tail"] = [messages.place(message) for message in request.tail]
    if rest:
        row.append(rest)
    return row


def check_columns(names: Value) -> None:
    """Refuse other columns than those of this version."""
    if names != list(COLUMNS):
        raise UnreadableError(names, f"the list of {', '.join(COLUMNS)}")


def read_request(
    row: Value,
    messages: Sequence[ChatMessage],
    tools: Sequence[tuple[ToolSchema, ...]],
    n_entries: int,
) -> SentRequest:
    """The request, of a memory of `n_entries` steps."""
    # A look at the whole row, as nearly all are right; else each column alone, to say which is not.
    if type(row) is list and tuple(map(type, cast("list[Value]", row))) == _TYPES:
        run_id, step_number, kind, revision, n_steps, place, digest = cast("list[Value]", row)
        if (
            step_number >= 0 <= revision
            and 0 <= n_steps <= n_entries
            and 0 <= place < len(tools)
            and kind in _KINDS
        ):
            return SentRequest(
                run_id=run_id,
                step_number=step_number,
                kind=kind,
                projection=ACT,
                revision=revision,
                n_steps=n_steps,
                schemas=tools[place],
                digest=digest,
            )
    return _read_columns(row, messages, tools, n_entries)


def _read_columns(
    row: Value,
    messages: Sequence[ChatMessage],
    tools: Sequence[tuple[ToolSchema, ...]],
    n_entries: int,
) -> SentRequest:
    if type(row) is not list:
        raise UnreadableError(row, "a list")
    cells = cast("list[Value]", row)
    n_columns = len(COLUMNS)
    if not n_columns <= len(cells) <= n_columns + 1:
        raise UnreadableError(cells, f"a list of {', '.join(COLUMNS)}, and a dict of the rest")
    columns: Json = dict(zip(COLUMNS, cells, strict=False))
    rest: Value = cells[n_columns] if len(cells) > n_columns else {}
    check_keys(rest, _REST)
    return SentRequest(
        run_id=need_text(columns, "run_id"),
        step_number=read_count(columns, "step_number"),
        kind=read_choice(columns, "kind", _KINDS),
        revision=read_count(columns, "revision"),
        n_steps=read_place(columns, "n_steps", n_entries + 1),
        schemas=tools[read_place(columns, "tools", len(tools))],
        digest=need_text(columns, "digest"),
        projection=read_part(rest, "projection", _read_projection) or ACT,
        head=read_each(rest, "head", lambda place: messages[check_place(place, len(messages))]),
        tail=read_each(rest, "tail", lambda place: messages[check_place(place, len(messages))]),
        summary_mode=read_choice(rest, "summary_mode", _MODES) if "summary_mode" in rest else "plan",
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


_KINDS: dict[Value, RequestKind] = {kind: kind for kind in get_args(RequestKind)}
_MODES: dict[Value, SummaryMode] = {mode: mode for mode in SUMMARY_MODES}
COLUMNS: tuple[str, ...] = ("run_id", "step_number", "kind", "revision", "n_steps", "tools", "digest")
"""What stands in a row: there are as many requests as steps, and their keys would be half of them."""
_TYPES = (str, int, str, int, int, int, str)
_REST = frozenset({"projection", "summary_mode", "head", "tail"})
_PROJECTION = frozenset(Projection.__dataclass_fields__)
