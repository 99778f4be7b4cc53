"""What LiteLLM hands back, as messages and deltas of our own, and which parameter a refusal is about.

It must not import LiteLLM: its objects are read by their attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from agent_magic.core.messages import ChatMessage, MessageDelta, TokenUsage, ToolCall, ToolCallDelta
from agent_magic.core.values import Value
from agent_magic.models.content_parts import split_content
from agent_magic.models.litellm_stream import ProviderStream
from agent_magic.models.provider_form import to_arguments_json
from agent_magic.models.retry import BrokenReplyError
from agent_magic.models.signed import plain_id

_DROPPABLE = {
    "tools": r"(?:tools|tool[ _]choice|tool (?:use|calls|calling)|function calling)",
    "stop": "stop",
    "stream_options": "stream_options",
    "response_format": r"(?:response[ _]format|json[ _]schema|structured[ _]outputs?)",
}
"""Parameters that some providers refuse, as they name them; a request is made once more without."""
_REFUSAL = (
    r"(?:not support\w*|unsupported|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|requires)"
)


class NotStreamedError(Exception):
    """The provider gives no stream; the same request without one may be answered."""


def to_delta(chunk: Any) -> MessageDelta | None:
    """The piece that a chunk of a stream holds; None if it holds no choice."""
    if not chunk.choices:
        return None
    choice = chunk.choices[0]
    text, thinking = split_content(choice.delta.content)
    return MessageDelta(
        text=text or "",
        reasoning=reasoning_of(choice.delta) or thinking,
        tool_calls=tuple(_to_call_delta(call) for call in choice.delta.tool_calls or ()),
        finish_reason=choice.finish_reason,
    )


def to_message(choice: Any) -> ChatMessage:
    """A whole reply, without its usage."""
    message = choice.message
    text, thinking = split_content(message.content)
    return ChatMessage(
        role="assistant",
        content=text,
        reasoning=reasoning_of(message) or thinking or None,
        tool_calls=tuple(to_call(call) for call in message.tool_calls or ()),
        finish_reason=choice.finish_reason,
    )


def reasoning_of(part: Any) -> str | None:
    """The thinking in a message or delta, whichever of the usual names it has."""
    for name in ("reasoning_content", "reasoning"):
        text = getattr(part, name, None)
        if isinstance(text, str) and text:
            return text
    return None


def _to_call_delta(call: Any) -> ToolCallDelta:
    arguments = call.function.arguments
    if isinstance(arguments, Mapping):
        arguments = to_arguments_json(cast("Mapping[str, Value]", arguments))
    call_id = call.id and plain_id(call.id)
    return ToolCallDelta(index=call.index, id=call_id, name=call.function.name, arguments=arguments or "")


def to_call(call: Any) -> ToolCall:
    """A call of a whole reply, its arguments as the provider wrote them."""
    return ToolCall(
        id=plain_id(call.id or ""), name=call.function.name or "", arguments=call.function.arguments
    )


def holds_anything(message: ChatMessage) -> bool:
    """Whether a reply has come at all, be it text, reasoning or a call."""
    return bool(message.content or message.reasoning or message.tool_calls)


def check_end(stream: ProviderStream, message: ChatMessage) -> None:
    """Judge a stream that has come to its end.

    Args:
        message: All that came of it.

    Raises:
        NotStreamedError: Nothing came, for the provider answered with one JSON text.
        BrokenReplyError: The provider gave nothing, or no ending, and LiteLLM made one up.
    """
    if not holds_anything(message):
        if stream.is_json:
            raise NotStreamedError
        if not stream.has_choice:
            raise BrokenReplyError("The provider's reply holds no choice.")
    if not stream.has_ended:
        raise BrokenReplyError("The stream ended before the reply was whole.")


def to_usage(usage: Any, cost_usd: float | None, *, made_up: int | None = None) -> TokenUsage | None:
    """A usage as LiteLLM puts it, whatever the provider's form; None where nothing was reported.

    Args:
        cost_usd: By LiteLLM's prices; what the provider itself reports goes before it.
        made_up: The reasoning tokens that LiteLLM writes where this provider reported none.
    """
    if not usage.prompt_tokens:  # LiteLLM writes 0 there
        return None
    reported: Any = getattr(usage, "cost", None)
    if isinstance(reported, int | float) and not isinstance(reported, bool):
        cost_usd = float(reported)
    read, written = (
        getattr(usage, name, None) for name in ("prompt_tokens_details", "completion_tokens_details")
    )
    # Moonshot's stand beside the details, which LiteLLM does not read.
    cached: Any = getattr(read, "cached_tokens", None)
    cached = getattr(usage, "cached_tokens", None) if cached is None else cached
    reasoning: int | None = getattr(written, "reasoning_tokens", None)
    return TokenUsage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_tokens=cached if isinstance(cached, int) else None,
        reasoning_tokens=None if reasoning == made_up else reasoning,
        cost_usd=cost_usd,
    )


def find_refused_parameter(error: Exception, request: Mapping[str, Value]) -> str | None:
    """The parameter that a provider's refusal names as one it does not take; see `refuses_stream`."""
    if getattr(error, "status_code", None) not in (400, 404, 422):
        return None
    for name, pattern in _DROPPABLE.items():
        # `tools[0].function…` is a fault inside the parameter, not a refusal of it.
        named = rf"\b{pattern}\b(?![\[.])"
        if name in request and re.search(
            rf"{_REFUSAL}[^.\n]{{0,60}}{named}|{named}[^.\n]{{0,60}}{_REFUSAL}", str(error), re.IGNORECASE
        ):
            return name
    return None


def misses_reasoning(error: Exception, request: Mapping[str, Value], messages: Sequence[ChatMessage]) -> bool:
    """Whether a provider refuses a request for want of the thinking beside its calls, and there is some."""
    if getattr(error, "status_code", None) not in (400, 422) or "reasoning_content" not in str(error):
        return False
    if any("reasoning_content" in message for message in request["messages"]):
        return False
    return any(message.tool_calls and message.reasoning for message in messages)


def refuses_stream(error: Exception) -> bool:
    """Whether a provider's refusal speaks of streaming.

    To ask without a stream changes nothing of the reply, so any mention is enough.
    """
    if getattr(error, "status_code", None) not in (400, 404, 405, 422, 501):
        return False
    return re.search(r"\bstream(?:ing|ed)?\b", str(error), re.IGNORECASE) is not None
