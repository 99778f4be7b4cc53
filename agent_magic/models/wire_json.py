"""A request's messages as JSON, for models that post it themselves: each message is encoded once.

Every call of a run sends the history again, so what is kept makes a call cost what is new. It must
not know how a message looks to a provider: that is `provider_form`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

from agent_magic.core.messages import ChatMessage
from agent_magic.models.provider_form import to_provider_messages

_MAX_KEPT = 8_192


class _Encoded:
    """Messages as JSON, by identity; the newest are kept, and each keeps its message alive."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[ChatMessage, bytes]] = {}
        self._lock = threading.Lock()

    def join(self, messages: Sequence[ChatMessage]) -> bytes:
        kept = self._kept
        parts: list[bytes] = []
        for message in messages:
            # A message that is kept lives, so its id is no other's.
            found = kept.get(id(message))
            parts.append(self._add(message) if found is None else found[1])
        return b"[" + b",".join(parts) + b"]"

    def _add(self, message: ChatMessage) -> bytes:
        (wire,) = to_provider_messages([message], native_tools=True, images=False)
        encoded = _encode(wire)
        with self._lock:
            while len(self._kept) >= _MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[id(message)] = (message, encoded)
        return encoded


_ENCODED = _Encoded()


def to_wire_json(messages: Sequence[ChatMessage], *, native_tools: bool, images: bool) -> bytes:
    """What `to_provider_messages` gives, as JSON in UTF-8."""
    # Where neighbours are joined or images follow their block, a message does not stand for itself.
    if not native_tools or any(message.images for message in messages):
        return _encode(to_provider_messages(messages, native_tools=native_tools, images=images))
    return _ENCODED.join(messages)


def _encode(wire: object) -> bytes:
    return json.dumps(wire, ensure_ascii=False, separators=(",", ":")).encode()
