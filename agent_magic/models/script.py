"""What a `ScriptedModel` is asked and what it replies: requests, and the forms of a reply.

It must not choose a reply: that is the model's business.
"""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, NoReturn, TypeAlias, cast

from agent_magic.core.errors import OptionError
from agent_magic.core.messages import (
    ChatMessage,
    MessageDelta,
    RequestKind,
    TokenUsage,
    ToolCall,
    ToolCallDelta,
    ToolSchema,
)
from agent_magic.core.values import Value
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.model import Capabilities
from agent_magic.models.provider_form import ProviderMessage, to_arguments_json, to_provider_messages

_REPLY_KEYS = ("content", "tool_calls", "reasoning", "usage", "finish_reason")
_CALL_KEYS = ("name", "arguments", "id")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScriptedRequest:
    """What a `ScriptedModel` was asked in one call."""

    kind: RequestKind
    """`act` for the next action, `plan` for a plan, `final` for the last answer after the step limit."""
    stop: tuple[str, ...]
    options: Mapping[str, Value]
    _schemas: tuple[ToolSchema, ...]
    _previous: ScriptedRequest | None
    """The call before, if this one's messages begin with all of that one's."""
    _tail: tuple[ChatMessage, ...]
    _capabilities: Capabilities

    @property
    def messages(self) -> list[ProviderMessage]:
        """The messages as plain mappings in OpenAI's chat form, made when asked for."""
        return to_provider_messages(
            self.chat_messages, native_tools=self._capabilities.tools, images=self._capabilities.images
        )

    @property
    def tools(self) -> list[dict[str, Value]]:
        """The schemas of the tools as plain mappings: name, description, parameters, examples.

        Empty for a model without native calls: it is told of the tools in the messages.
        """
        return to_tool_mappings(self._schemas, self._capabilities)

    @property
    def chat_messages(self) -> list[ChatMessage]:
        """The very message objects of the request."""
        tails: list[tuple[ChatMessage, ...]] = []
        request: ScriptedRequest | None = self
        while request is not None:
            tails.append(request._tail)
            request = request._previous
        return [message for tail in reversed(tails) for message in tail]


def to_tool_mappings(schemas: Sequence[ToolSchema], capabilities: Capabilities) -> list[dict[str, Value]]:
    """The schemas as a `ScriptedRequest` shows them."""
    if not capabilities.tools:
        return []
    return [
        {
            "name": schema.name,
            "description": schema.description,
            "parameters": dict(schema.parameters),
            "examples": [{"task": one.task, "arguments": dict(one.arguments)} for one in schema.examples],
        }
        for schema in schemas
    ]


Reply: TypeAlias = "str | Mapping[str, Any] | ChatMessage | BaseException | type[BaseException] | Callable[[ScriptedRequest], Any]"
"""A text, a mapping, a message, an exception to raise, or a function of the request that gives one of these."""


def to_message(reply: Reply, request: ScriptedRequest) -> ChatMessage:
    """The message that a reply means; raises what it says to raise."""
    if isinstance(reply, BaseException):
        raise reply.with_traceback(None)
    if inspect.isclass(reply) and issubclass(reply, BaseException):
        raise reply
    builder = MessageBuilder()
    if isinstance(reply, ChatMessage):
        builder.add(reply)
    elif isinstance(reply, str):
        builder.add(ChatMessage(role="assistant", content=reply, finish_reason="stop"))
    elif isinstance(reply, Mapping):
        builder.add(_from_mapping(reply))
    else:
        made = cast("Callable[[ScriptedRequest], Any]", reply)(request)
        check_reply(made)
        return to_message(made, request)
    return builder.build()


def _from_mapping(reply: Mapping[str, Value]) -> ChatMessage:
    calls = tuple(
        ToolCall(id=call.get("id") or "", name=call["name"], arguments=call.get("arguments"))
        for call in reply.get("tool_calls") or ()
    )
    usage: Value = reply.get("usage")
    return ChatMessage(
        role="assistant",
        content=reply.get("content"),
        reasoning=reply.get("reasoning"),
        tool_calls=calls,
        usage=usage if usage is None or isinstance(usage, TokenUsage) else TokenUsage(**usage),
        finish_reason=reply.get("finish_reason") or ("tool_calls" if calls else "stop"),
    )


def check_reply(reply: Value) -> None:
    """Raise an OptionError if a reply is of no kind that a script can hold."""
    if isinstance(reply, ChatMessage):
        _check_usage(reply.usage)
        return
    if isinstance(reply, str | BaseException) or callable(reply):
        return
    if not isinstance(reply, Mapping):
        raise OptionError(
            f"A reply is {reply!r}; it can be a text, a mapping, a ChatMessage, an exception or a function of the request.\n"
            "Write a final answer as ScriptedModel.final(value)."
        )
    mapping = cast("Mapping[str, Value]", reply)
    _check_keys(mapping, _REPLY_KEYS, "A reply")
    for call in mapping.get("tool_calls") or ():
        _check_keys(call, _CALL_KEYS, "A tool call of a reply")
        if not isinstance(call.get("name"), str):
            raise OptionError(
                f'A tool call of a reply is {call!r}, without a name.\nWrite {{"name": "tool", "arguments": {{}}}}.'
            )
    _check_usage(mapping.get("usage"))


def _check_usage(usage: Value) -> None:
    if usage is None:
        return
    if isinstance(usage, TokenUsage):
        usage = usage.to_dict()
    _check_keys(usage, tuple(field.name for field in fields(TokenUsage)), "The usage of a reply")
    for name, figure in cast("Mapping[str, Value]", usage).items():
        if name == "cost_usd":
            is_good, expected = _is_amount(figure), "USD, a number from 0 such as 0.002"
        else:
            is_good, expected = _is_whole(figure) and figure >= 0, "a whole number from 0, such as 10"
        if figure is not None and not is_good:
            raise OptionError(
                f"The usage of a reply has {name}={figure!r}; it is {expected}.\n"
                "Write None, or leave it out, for what is not reported."
            )


def check_settings(context_window: Value, price: Value) -> None:
    """Raise an OptionError if a `ScriptedModel` cannot have such a window or price."""
    if context_window is not None and not (_is_whole(context_window) and context_window > 0):
        raise OptionError(
            f"context_window={context_window!r} is no number of tokens.\n"
            "Give a whole number from 1, such as context_window=8000, or leave it out for none."
        )
    if price is None:
        return
    if not isinstance(price, tuple | list) or len(price) != 2 or not all(map(_is_amount, price)):
        raise OptionError(
            f"price={price!r} is no price of tokens.\n"
            "Give USD of one input token and of one output token, such as price=(0.000002, 0.00001), "
            "or leave it out for unknown."
        )


def _is_whole(value: Value) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral)


def _is_amount(value: Value) -> bool:
    """Whether a value is a number from 0 that is not infinite."""
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value < math.inf


def _check_keys(mapping: Value, known: Sequence[str], what: str) -> None:
    if not isinstance(mapping, Mapping):
        raise OptionError(f"{what} is {mapping!r}.\nWrite a mapping with {', '.join(known)}.")
    for key in cast("Mapping[str, Value]", mapping):
        if key not in known:
            _refuse_key(key, known, what)


def _refuse_key(key: str, known: Sequence[str], what: str) -> NoReturn:
    near = difflib.get_close_matches(key, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise OptionError(f"{what} has the key {key!r}; known are {', '.join(known)}.{hint}")


def to_deltas(message: ChatMessage, n_pieces: int) -> Iterator[MessageDelta]:
    """The pieces in which a message streams."""
    for text in _cut(message.reasoning or "", n_pieces):
        yield MessageDelta(reasoning=text)
    for text in _cut(message.content or "", n_pieces):
        yield MessageDelta(text=text)
    for index, call in enumerate(message.tool_calls):
        arguments = call.arguments if isinstance(call.arguments, str) else to_arguments_json(call.arguments)
        yield MessageDelta(tool_calls=(ToolCallDelta(index=index, id=call.id, name=call.name),))
        for text in _cut(arguments, n_pieces):
            yield MessageDelta(tool_calls=(ToolCallDelta(index=index, arguments=text),))
    yield MessageDelta(usage=message.usage, finish_reason=message.finish_reason)


def _cut(text: str, n_pieces: int) -> Iterator[str]:
    size = max(1, -(-len(text) // n_pieces))
    return (text[start : start + size] for start in range(0, len(text), size))
