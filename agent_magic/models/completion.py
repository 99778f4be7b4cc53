"""One request to LiteLLM: the reply as it reads it, or as we do where it cannot, or hides something.

It must not import LiteLLM, which it is handed.
"""

from __future__ import annotations

import contextlib
from typing import Any

from agent_magic.core.values import Value
from agent_magic.models.litellm_stream import ProviderStream
from agent_magic.models.raw_reply import ReplyBody


def complete(litellm: Any, request: dict[str, Value], *, patience_s: float) -> Any:
    """Ask; gives a `ProviderStream`, or a whole reply in LiteLLM's form.

    Args:
        litellm: The library.
        request: What it is given.
        patience_s: See `ProviderStream`.
    """
    if request["stream"]:
        return ProviderStream(litellm.completion(**request), patience_s)
    body = ReplyBody()
    try:
        response = litellm.completion(**{"logger_fn": body.keep, **request})
    except Exception:  # raised again, but for a reply that came and can be read
        response = _read_body(litellm, body)
        if response is None:
            raise
        return response
    if body.holds_parts:  # some of its routes keep but one of several
        return _read_body(litellm, body) or response
    if body.reports_no_usage:
        response.usage = None
    return response


def _read_body(litellm: Any, body: ReplyBody) -> Any:
    """The reply in LiteLLM's form; None if it is no reply."""
    readable = body.read()
    if readable is not None and readable["choices"]:
        with contextlib.suppress(Exception):  # a body that is no reply is told in LiteLLM's own words
            return litellm.ModelResponse(**readable)
    return None
