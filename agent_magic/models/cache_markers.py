"""Marks up to which a provider is to keep what it has read of a request, where it does so only when told.

Anthropic's models want them, wherever they are served; all others keep what they want unasked. It
must not change anything else of a request: without its marks it is the same, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from agent_magic.core.messages import RequestKind
from agent_magic.core.values import Value
from agent_magic.models.provider_form import ProviderMessage

MARKERS = "cache_markers"
"""How a provider's refusal of them is remembered."""

_MARK = {"cache_control": {"type": "ephemeral"}}
"""As Anthropic writes it; LiteLLM makes Bedrock's `cachePoint` of it."""
_CLOUDS = frozenset({"vertex_ai", "azure_ai", "openrouter"})
"""Providers that serve Anthropic's models beside others."""
_OWN_WAYS = ("cache_control", "cache_control_injection_points")
"""Options by which a person sets the marks."""
_REFUSED = re.compile(r"cache_control|cachePoint|prompt[ _-]?cach", re.IGNORECASE)


def wants_markers(model_id: str, info: Mapping[str, Value]) -> bool:
    """Whether the provider keeps nothing without them.

    Args:
        info: What LiteLLM knows of the model.
    """
    provider = model_id.partition("/")[0]
    if provider == "anthropic":  # a model that LiteLLM does not know yet too
        return True
    is_known = info.get("supports_prompt_caching") is True
    return is_known and (provider == "bedrock" or (provider in _CLOUDS and _is_claude(model_id)))


def with_markers(request: Mapping[str, Value], model_id: str, kind: RequestKind) -> dict[str, Value]:
    """The request with marks after the tools, after the system prompt and after its last messages.

    The next request of the run has all of this at its beginning. The mark before the last is where
    the request before this one had its own: after many parallel calls it would not be found from
    the last alone. A plan and a last answer get none: no request goes on from there.
    """
    marked = dict(request)
    if kind != "act" or any(name in request for name in _OWN_WAYS):
        return marked
    messages = list(cast("Sequence[ProviderMessage]", request["messages"]))
    if request.get("tools") and _is_claude(model_id):  # Amazon's own models take none there
        *others, last = request["tools"]
        marked["tools"] = [*others, {**last, **_MARK}]
    for place in _places(messages):
        messages[place] = _mark(messages[place])
    marked["messages"] = messages
    return marked


def refuses_markers(error: Exception, request: Mapping[str, Value]) -> bool:
    """Whether a provider refuses a request for its marks."""
    if getattr(error, "status_code", None) not in (400, 403, 422) or not _REFUSED.search(str(error)):
        return False
    return any(_is_marked(message) for message in request["messages"])


def _places(messages: Sequence[ProviderMessage]) -> list[int]:
    """Of the messages that get a mark; there may be three beside that of the tools."""
    system = max((place for place, one in enumerate(messages) if one["role"] == "system"), default=-1)
    last_reply = max((place for place, one in enumerate(messages) if one["role"] == "assistant"), default=0)
    found = [system, last_reply - 1, len(messages) - 1]
    return sorted({place for place in found if place >= 0 and messages[place]["content"]})


def _mark(message: ProviderMessage) -> ProviderMessage:
    content = message["content"]
    if isinstance(content, str):
        return {**message, **_MARK}
    *others, last = cast("Sequence[ProviderMessage]", content)
    return {**message, "content": [*others, {**last, **_MARK}]}


def _is_marked(message: ProviderMessage) -> bool:
    content = message["content"]
    parts = [message, *(cast("Sequence[ProviderMessage]", content) if isinstance(content, list) else ())]
    return any("cache_control" in part for part in parts)


def _is_claude(model_id: str) -> bool:
    return "claude" in model_id.lower()
