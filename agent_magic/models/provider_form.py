"""Messages and schemas in the form that chat providers take: the one place that prepares them.

Every call of a run sends the history again, so each message is converted once and kept. It must
not change what it is given, nor hand out what it keeps: providers' libraries write into requests.
"""

from __future__ import annotations

import base64
import io
import json
import re
import threading
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from agent_magic.core.errors import ParsingError
from agent_magic.core.messages import ChatMessage, ImagePart, ToolCall, ToolSchema
from agent_magic.core.text import replace_surrogates
from agent_magic.core.values import Value, safe_repr
from agent_magic.models.parsing import read_arguments
from agent_magic.models.signed import put_back

ProviderMessage: TypeAlias = dict[str, Any]
"""A message in OpenAI's chat form, as JSON will hold it."""

_MAX_KEPT = 4_096
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME = 64
_PNG_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16"})


def to_provider_messages(
    messages: Sequence[ChatMessage],
    *,
    native_tools: bool,
    images: bool,
    signed_by: str | None = None,
    reasoning: bool = False,
) -> list[ProviderMessage]:
    """The messages in OpenAI's chat form.

    Args:
        native_tools: Send calls and results as such; else calls become JSON in the assistant's
            text, one a line, results become user messages, and neighbours of one role are joined.
        images: Send images as data URLs; else a note of their size stands for each image of a
            user's message, and those of results are left to the text of the result.
        signed_by: The model whose signed thinking goes back beside its native calls.
        reasoning: Unsigned thinking goes back beside native calls as well, as `reasoning_content`.

    Beside native calls the images of results follow in one user message after all results of
    the turn, for a result is text alone and nothing may stand between a call and its results.
    """
    prepared = [_copy(_CACHE.get(message, native_tools=native_tools, images=images)) for message in messages]
    if not native_tools:
        return _join_neighbours(prepared)
    for message, wire in zip(messages, prepared, strict=True):
        if not message.tool_calls:
            continue
        if message.signed is not None and message.signed.get("by") == signed_by:
            put_back(message.signed, wire)
        if reasoning and message.reasoning:
            wire["reasoning_content"] = replace_surrogates(message.reasoning)
    return _with_result_images(messages, prepared) if images else prepared


def to_provider_tools(schemas: Sequence[ToolSchema]) -> list[ProviderMessage]:
    """The schemas in OpenAI's function form; examples stand at the end of the description."""
    return [
        {
            "type": "function",
            "function": {
                "name": schema.name,
                "description": replace_surrogates(_describe(schema)),
                "parameters": dict(schema.parameters),
            },
        }
        for schema in schemas
    ]


def to_arguments_json(arguments: Mapping[str, Value] | str | None) -> str:
    """A call's arguments as the text of a JSON object; what cannot be read goes as `{}`."""
    if not isinstance(arguments, Mapping):
        try:
            arguments = read_arguments(arguments)
        except ParsingError:
            return "{}"  # what came is told in the error that answers the call
    try:
        text = json.dumps(dict(arguments), ensure_ascii=False, allow_nan=False, default=safe_repr)
    except ValueError:
        loose = json.dumps(dict(arguments), ensure_ascii=False, default=safe_repr)
        text = json.dumps(json.loads(loose, parse_constant=str), ensure_ascii=False)
    return replace_surrogates(text)


class _Cache:
    """Converted messages by identity; the newest are kept, and each keeps its message alive."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, bool, bool], tuple[ChatMessage, ProviderMessage]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, message: ChatMessage, *, native_tools: bool, images: bool) -> ProviderMessage:
        if message.images:  # the encoded image is kept with the image itself
            return _to_provider(message, native_tools=native_tools, images=images)
        key = (id(message), native_tools, images)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept[1]
        converted = _to_provider(message, native_tools=native_tools, images=images)
        with self._lock:
            self._kept[key] = (message, converted)
            while len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)
        return converted


class _ImageUrls:
    """Data URLs of images, each encoded once, for as long as the image lives."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[weakref.ref[Value], str]] = {}

    def get(self, image: Value) -> str:
        key = id(image)
        kept = self._kept.get(key)
        if kept is not None and kept[0]() is image:
            return kept[1]
        url = _encode(image)
        self._kept[key] = (weakref.ref(image, lambda _: self._kept.pop(key, None)), url)
        return url


_CACHE = _Cache()
_IMAGE_URLS = _ImageUrls()


def _to_provider(message: ChatMessage, *, native_tools: bool, images: bool) -> ProviderMessage:
    text = replace_surrogates(message.content or "")
    match message.role:
        case "assistant" if native_tools:
            # The key is always there: some servers refuse a message without it, others an empty text.
            converted: ProviderMessage = {
                "role": "assistant",
                "content": text or (None if message.tool_calls else ""),
            }
            if message.tool_calls:
                converted["tool_calls"] = [_to_provider_call(call) for call in message.tool_calls]
            return converted
        case "assistant":
            return {
                "role": "assistant",
                "content": "\n".join([*([text] if text else []), *map(_to_text, message.tool_calls)]),
            }
        case "tool" if native_tools:
            return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": text}
        case "tool":
            seen = message.images if images else ()
            return {"role": "user", "content": _with_images(f"Observation:\n{text}", seen, images=images)}
        case _:
            return {"role": message.role, "content": _with_images(text, message.images, images=images)}


def _to_provider_call(call: ToolCall) -> ProviderMessage:
    # A made-up name goes back too, and providers refuse a request with one that no tool could have.
    name = _NOT_IN_NAMES.sub("_", call.name)[:_MAX_NAME] or "_"
    function = {"name": name, "arguments": to_arguments_json(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _to_text(call: ToolCall) -> str:
    return f'{{"name": {json.dumps(call.name, ensure_ascii=False)}, "arguments": {to_arguments_json(call.arguments)}}}'


def _with_images(text: str, parts: Sequence[ImagePart], *, images: bool) -> str | list[ProviderMessage]:
    if not parts:
        return text
    if not images:
        return "\n".join([*([text] if text else []), *map(_note, parts)])
    seen: list[ProviderMessage] = [{"type": "text", "text": text}] if text else []
    return [*seen, *map(_to_image_part, parts)]


def _to_image_part(part: ImagePart) -> ProviderMessage:
    try:
        url = _IMAGE_URLS.get(part.image)
    except Exception:  # noqa: BLE001 - it was whole when it came; a person may have closed it since
        return {"type": "text", "text": f"{_note(part)} cannot be read any more"}
    return {"type": "image_url", "image_url": {"url": url}}


def _with_result_images(
    messages: Sequence[ChatMessage], prepared: list[ProviderMessage]
) -> list[ProviderMessage]:
    """The prepared messages, with the images of tool messages after each block of these."""
    with_images = [
        place for place, message in enumerate(messages) if message.images and message.role == "tool"
    ]
    if not with_images:
        return prepared
    sent: list[ProviderMessage] = []
    start = 0
    while with_images:
        end = next(
            (place for place in range(with_images[0], len(messages)) if messages[place].role != "tool"),
            len(messages),
        )
        block = [messages[place] for place in with_images if place < end]
        with_images = with_images[len(block) :]
        names = _names_of_calls(messages, end)
        sent += prepared[start:end]
        sent.append({"role": "user", "content": [part for one in block for part in _show(one, names)]})
        start = end
    return sent + prepared[start:]


def _names_of_calls(messages: Sequence[ChatMessage], end: int) -> dict[str, str]:
    """The tools' names by the ids of the calls whose results end before place `end`."""
    turn = next((one for one in reversed(messages[:end]) if one.role == "assistant"), None)
    return {call.id: call.name for call in turn.tool_calls} if turn else {}


def _show(result: ChatMessage, names: Mapping[str, str]) -> list[ProviderMessage]:
    """Each image of a result after a text that says which it is."""
    shown: list[ProviderMessage] = []
    call_id = result.tool_call_id or ""
    for part in result.images:
        name = f" @{part.name}" if part.name else ""
        text = f"Image{name}, from {names.get(call_id, 'the call')} ({call_id}):"
        shown += [{"type": "text", "text": replace_surrogates(text)}, _to_image_part(part)]
    return shown


def _note(part: ImagePart) -> str:
    name = f" {part.name}" if part.name else ""
    return f"[image{name}: {part.image.width} × {part.image.height} pixels]"


def _encode(image: Value) -> str:
    if image.mode not in _PNG_MODES:
        image = image.convert("RGB")
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


def _describe(schema: ToolSchema) -> str:
    if not schema.examples:
        return schema.description
    lines = [f"{example.task} -> {to_arguments_json(example.arguments)}" for example in schema.examples]
    return "\n".join([schema.description, "", "Examples:", *lines]).lstrip()


def _join_neighbours(messages: list[ProviderMessage]) -> list[ProviderMessage]:
    joined: list[ProviderMessage] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"] != "system":
            joined[-1]["content"] = _concatenate(joined[-1]["content"], message["content"])
        else:
            joined.append(message)
    return joined


def _concatenate(first: Value, second: Value) -> Value:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_to_parts(first), *_to_parts(second)]


def _to_parts(content: str | list[ProviderMessage]) -> list[ProviderMessage]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _copy(message: ProviderMessage) -> ProviderMessage:
    copied = dict(message)
    if "tool_calls" in copied:
        copied["tool_calls"] = [{**call, "function": dict(call["function"])} for call in copied["tool_calls"]]
    elif isinstance(copied["content"], list):
        copied["content"] = [dict(part) for part in cast("list[ProviderMessage]", copied["content"])]
    return copied
