"""Digests of messages and tool schemas: a request that was sent is known by one again.

Two requests with the same digest show a model the same. It must not be used where somebody would
forge one: it is short.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from agent_magic.core.messages import ChatMessage, ImagePart, ToolSchema
from agent_magic.core.values import Value, safe_repr

Digest: TypeAlias = "hashlib.blake2b"
BYTES_OF_IMAGE = 2_000
"""More than an image is counted as, in tokens."""
_SIZE = 8
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=safe_repr)


def new_digest() -> Digest:
    """The digest of no message; `copy` it before going on from a point that is kept."""
    return hashlib.blake2b(digest_size=_SIZE)


def add_messages(digest: Digest, messages: Iterable[ChatMessage]) -> int:
    """Go on with more messages.

    Returns:
        The bytes of their texts and calls, and for each image `BYTES_OF_IMAGE`: no tokenizer that
        works on bytes makes more tokens of them.
    """
    n_bytes = 0
    for message in messages:
        parts = [message.role, message.tool_call_id or "", message.content or ""]
        for call in message.tool_calls:
            parts += [call.id, call.name, _to_text(call.arguments)]
        text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
        digest.update(text)
        for part in message.images:
            digest.update(_of_image(part))
        digest.update(b"\x1e")
        n_bytes += len(text) + BYTES_OF_IMAGE * len(message.images)
    return n_bytes


def digest_schemas(schemas: Sequence[ToolSchema]) -> bytes:
    """The digest of the tools of a request."""
    digest = new_digest()
    for schema in schemas:
        examples = [(example.task, example.arguments) for example in schema.examples]
        digest.update(
            _to_text([schema.name, schema.description, schema.parameters, examples]).encode(
                "utf-8", "surrogatepass"
            )
        )
    return digest.digest()


def _to_text(arguments: Value) -> str:
    try:
        return _ENCODER.encode(arguments)
    except (TypeError, ValueError):  # keys that are no text, or a value inside itself: a person's edit
        return safe_repr(arguments)


def _of_image(part: ImagePart) -> bytes:
    image = part.image
    head = f"{part.name}{image.size}{image.mode}".encode()
    try:
        pixels = image.tobytes()
    except Exception:  # noqa: BLE001 - it was whole when it came; a person may have closed it since
        pixels = b""
    return head + hashlib.blake2b(pixels, digest_size=_SIZE).digest()
