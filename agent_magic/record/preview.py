"""What a model was sent, or would be sent next, as a `PreviewRecord`.

It must not build a request: it is given the messages and tools in the form of their provider. The
pixels of an image are never in the record, nor a secret; what was taken out is said.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

from agent_magic.core.messages import RequestKind
from agent_magic.core.values import Value
from agent_magic.record.clean import cut_arguments, cut_text, redact_plain, stored_size, to_json, to_plain
from agent_magic.record.limits import pick_ends
from agent_magic.record.preview_schema import (
    MessageRecord,
    PartRecord,
    PreviewRecord,
    SentCallRecord,
    SentToolRecord,
)
from agent_magic.record.schema import Json

MAX_BYTES = 400_000
"""The most that a record takes in a notebook file."""
TokenCount: TypeAlias = tuple[int, bool]
"""So many tokens, and whether that is an estimate."""

_MAX_ITEMS = 1_000
_REDACTED = "[redacted]"
_NAME_CHARS = 200
_OPTIONS_CHARS = 2_000
# Characters of a text in messages as in the call before, in new ones, and how many messages.
_LIMITS = (
    (20_000, 20_000, _MAX_ITEMS),
    (4_000, 20_000, _MAX_ITEMS),
    (1_000, 20_000, _MAX_ITEMS),
    (1_000, 4_000, _MAX_ITEMS),
    (300, 4_000, _MAX_ITEMS),
    (300, 1_000, _MAX_ITEMS),
    (80, 300, _MAX_ITEMS),
    (80, 300, 300),
    (80, 80, 100),
    (80, 80, 20),
)
_MAX_TOOLS = 100
_TOOLS_SHARE = 4
"""All tools take at most this part of the record."""
_SECRET_OPTION = re.compile(
    r"(?:^|[_-])(?:(?:api)?key|token|secret|password|auth|authorization|credentials?|cookie)$", re.IGNORECASE
)
_PNG_BEGIN = b"\x89PNG\r\n\x1a\n"


def to_preview_record(
    *,
    kind: RequestKind,
    step_number: int,
    is_past: bool,
    model_id: str,
    messages: Sequence[Mapping[str, Value]],
    tools: Sequence[Mapping[str, Value]] = (),
    is_exact: bool | None = None,
    is_other_view: bool = False,
    is_new_run: bool = False,
    summary_mode: bool = False,
    tokens: Sequence[TokenCount | None] = (),
    tools_tokens: TokenCount | None = None,
    window: int | None = None,
    n_kept: int = 0,
    n_before: int | None = None,
    options: Mapping[str, Value] | None = None,
) -> PreviewRecord:
    """A request as plain JSON of at most 400 kB in a notebook file.

    Args:
        is_past: It was sent; else it would be sent next.
        messages: In the provider's form, as are the tools.
        is_exact: Whether what was rebuilt is known to be what was sent; None if it was not sent.
        is_other_view: What is, or was, sent at this moment is the other view.
        is_new_run: It would begin a run.
        summary_mode: The summary view of the history instead of the normal one.
        tokens: Of each message.
        tools_tokens: Of all tools together.
        window: The model's, in tokens.
        n_kept: Leading messages that are the same as in the call before of this kind.
        n_before: How many messages that call had; None if there was none.
        options: What else goes to the provider.
    """
    counts = [tokens[i] if i < len(tokens) else None for i in range(len(messages))]
    # Without a call before, all would be new, which tells nothing.
    n_old = len(messages) if n_before is None else n_kept
    whole = [
        _to_message(i + 1, messages[i], counts[i], is_new=i >= n_old)
        for i in pick_ends(range(len(messages)), _MAX_ITEMS)
    ]
    all_counts = [*counts, tools_tokens] if tools else counts
    known = [count for count in all_counts if count is not None]
    record: PreviewRecord = {
        "kind": kind,
        "step_number": step_number,
        "is_past": is_past,
        "is_exact": is_exact,
        "is_other_view": is_other_view,
        "is_new_run": is_new_run,
        "summary_mode": summary_mode,
        "model": cut_text(redact_plain(model_id), _NAME_CHARS),
        "messages": whole,
        "messages_left_out": 0,
        "tools": _fit_tools([_to_tool(tool) for tool in tools[:_MAX_TOOLS]]),
        "tools_left_out": max(len(tools) - _MAX_TOOLS, 0),
        "tools_tokens": tools_tokens[0] if tools_tokens and tools else None,
        "is_tools_estimate": bool(tools_tokens and tools and tools_tokens[1]),
        "tokens": sum(n for n, _ in known) if len(known) == len(all_counts) else None,
        "is_estimate": any(is_estimate for _, is_estimate in known),
        "window": window,
        "n_messages": len(messages),
        "n_kept": n_kept,
        "n_before": n_before,
        "options": _to_options(options or {}),
    }
    return _fit(record)


def _to_message(
    number: int, message: Mapping[str, Value], count: TokenCount | None, *, is_new: bool
) -> MessageRecord:
    parts = _to_parts(message.get("content"))
    record = MessageRecord(number=number, role=str(message.get("role", "")), parts=parts)
    calls = cast("Sequence[Mapping[str, Value]]", message.get("tool_calls") or ())
    if calls:
        record["calls"] = [_to_call(call) for call in calls]
    if call_id := message.get("tool_call_id"):
        record["call_id"] = str(call_id)
    cleaned = _redacted(record)
    if count is not None:
        cleaned["tokens"], is_estimate = count
        if is_estimate:
            cleaned["is_estimate"] = True
    if is_new:
        cleaned["is_new"] = True
    return cleaned


def _to_parts(content: Value) -> list[PartRecord]:
    if not content:
        return []
    if isinstance(content, str):
        return [{"text": content}]
    return [_to_part(part) for part in cast("Sequence[Value]", content)]


def _to_part(part: Value) -> PartRecord:
    if isinstance(part, str):
        return {"text": part}
    part = cast("Mapping[str, Value]", part)
    if isinstance(text := part.get("text"), str):
        return {"text": text}
    if part.get("type") == "image_url":
        image = part.get("image_url")
        url = cast("Mapping[str, Value]", image).get("url", "") if isinstance(image, Mapping) else image
        return {"text": _to_image_note(str(url)), "is_image": True}
    return {"text": _to_exact_json(part)}


def _to_image_note(url: str) -> str:
    """Form and size of an image; the address of one that is elsewhere."""
    head, comma, data = url.partition(",")
    if not head.startswith("data:") or not comma:
        return f"image at {url}"
    n_bytes = len(data) * 3 // 4 - data[-2:].count("=")
    form = head.removeprefix("data:").partition(";")[0] or "image"
    return ", ".join([form, *_to_pixels(data), f"{n_bytes:,} bytes"])


def _to_pixels(data: str) -> list[str]:
    """Width and height stand in the first bytes of a PNG; of other forms they are not read."""
    try:
        begin = base64.b64decode(data[:32])
    except (binascii.Error, ValueError):
        return []
    if not begin.startswith(_PNG_BEGIN) or len(begin) < 24:
        return []
    width, height = struct.unpack(">II", begin[16:24])
    return [f"{width:,} × {height:,} pixels"]


def _to_call(call: Mapping[str, Value]) -> SentCallRecord:
    function = cast("Mapping[str, Value]", call.get("function") or {})
    arguments = function.get("arguments", "")
    return {
        "id": str(call.get("id", "")),
        "name": str(function.get("name", "")),
        "arguments": arguments if isinstance(arguments, str) else _to_exact_json(arguments),
    }


def _to_tool(tool: Mapping[str, Value]) -> SentToolRecord:
    function = cast("Mapping[str, Value]", tool.get("function") or tool)
    return _redacted(
        SentToolRecord(
            name=str(function.get("name", "")),
            description=str(function.get("description", "")),
            parameters=_to_exact_json(function.get("parameters", {})),
        )
    )


def _to_exact_json(value: Value) -> str:
    """All of a value as JSON; of one that JSON cannot hold what `to_plain` makes of it."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return to_json(to_plain(value))


def _to_options(options: Mapping[str, Value]) -> dict[str, Json]:
    plain = _without_secret_options(redact_plain(to_plain(options), with_keys=True))
    return cast("dict[str, Json]", cut_arguments(plain, _OPTIONS_CHARS))


def _without_secret_options(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_secret_options(item) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {
            key: _REDACTED
            if item is not None and _SECRET_OPTION.search(key)
            else _without_secret_options(item)
            for key, item in cast("dict[str, Json]", value).items()
        }
    return value


_Record = TypeVar("_Record", MessageRecord, SentToolRecord)


def _redacted(record: _Record) -> _Record:
    cleaned = cast("_Record", redact_plain(record))
    if to_json(cleaned).count(_REDACTED) > to_json(record).count(_REDACTED):
        cleaned["is_redacted"] = True
    return cleaned


def _fit(whole: PreviewRecord) -> PreviewRecord:
    record = whole
    for n_old_chars, n_new_chars, n_messages in _LIMITS:
        record = whole.copy()
        record["messages"] = [
            _cut_message(message, n_new_chars if "is_new" in message else n_old_chars)
            for message in pick_ends(whole["messages"], n_messages)
        ]
        record["messages_left_out"] = whole["n_messages"] - len(record["messages"])
        if stored_size(record) <= MAX_BYTES:
            break
    return record


def _fit_tools(tools: list[SentToolRecord]) -> list[SentToolRecord]:
    cut = tools
    for max_chars in (20_000, 4_000, 1_000, 300, 80):
        cut = [_cut_tool(tool, max_chars) for tool in tools]
        if stored_size(cut) <= MAX_BYTES // _TOOLS_SHARE:
            break
    return cut


def _cut_message(message: MessageRecord, max_chars: int) -> MessageRecord:
    cut = message.copy()
    cut["role"] = cut_text(message["role"], 80)
    cut["parts"] = [part.copy() for part in message["parts"][:_MAX_TOOLS]]
    for part in cut["parts"]:
        part["text"] = cut_text(part["text"], max_chars)
    if "calls" in message:
        cut["calls"] = [
            {
                "id": cut_text(call["id"], 80),
                "name": cut_text(call["name"], 80),
                "arguments": cut_text(call["arguments"], max_chars),
            }
            for call in message["calls"][:_MAX_TOOLS]
        ]
    if "call_id" in message:
        cut["call_id"] = cut_text(message["call_id"], 80)
    return cut


def _cut_tool(tool: SentToolRecord, max_chars: int) -> SentToolRecord:
    cut = tool.copy()
    cut["name"] = cut_text(tool["name"], 80)
    cut["description"] = cut_text(tool["description"], max_chars)
    cut["parameters"] = cut_text(tool["parameters"], max_chars)
    return cut
