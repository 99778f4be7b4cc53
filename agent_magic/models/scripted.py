"""ScriptedModel: a model that says what it was told to say, for tests and for learning.

It must not read the request to make up a reply: only a rule or a function of the person's does.
"""

from __future__ import annotations

import difflib
import inspect
import operator
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NoReturn, TypeAlias, cast

from agent_magic.core.errors import GenerationError, OptionError
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
from agent_magic.models.model import Capabilities, Model
from agent_magic.models.provider_form import ProviderMessage, to_arguments_json, to_provider_messages

_REPLY_KEYS = ("content", "tool_calls", "reasoning", "usage", "finish_reason")
_CALL_KEYS = ("name", "arguments", "id")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScriptedRequest:
    """What a `ScriptedModel` was asked in one call."""

    kind: RequestKind
    """`act` for the next action, `final` for the last answer after the step limit."""
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
        """The schemas of the tools as plain mappings: name, description, parameters, examples."""
        return [
            {
                "name": schema.name,
                "description": schema.description,
                "parameters": dict(schema.parameters),
                "examples": [{"task": one.task, "arguments": dict(one.arguments)} for one in schema.examples],
            }
            for schema in self._schemas
        ]

    @property
    def chat_messages(self) -> list[ChatMessage]:
        """The very message objects of the request."""
        tails: list[tuple[ChatMessage, ...]] = []
        request: ScriptedRequest | None = self
        while request is not None:
            tails.append(request._tail)
            request = request._previous
        return [message for tail in reversed(tails) for message in tail]


Reply: TypeAlias = (
    "str | Mapping[str, Any] | ChatMessage | BaseException | type[BaseException] | Callable[[ScriptedRequest], Any]"
)
"""A text, a mapping, a message, an exception to raise, or a function of the request that gives one of these."""


class ScriptedModel(Model):
    """A model that gives the replies of a script, in order, and keeps what it was asked.

    ```python
    model = ScriptedModel([ScriptedModel.calls(("add", {"a": 1, "b": 2})), ScriptedModel.final(3)])
    ```

    Args:
        replies: One for each call. A text is the assistant's text; a mapping has any of
            `content`, `tool_calls` (each `name`, `arguments`, `id`), `reasoning`, `usage`,
            `finish_reason`; an exception is raised; a function is called with the request.
        stream_pieces: In how many pieces a reply is streamed; None for the whole at once.
        latency_s: How long a reply takes.
    """

    def __init__(
        self,
        replies: Sequence[Reply] = (),
        *,
        stream_pieces: int | None = None,
        latency_s: float = 0.0,
        model_id: str = "scripted",
        capabilities: Capabilities | None = None,
        context_window: int | None = None,
    ) -> None:
        if isinstance(replies, str | Mapping | ChatMessage):
            raise OptionError(f"The replies of a ScriptedModel are a list, and not {replies!r}.\nWrite ScriptedModel([…]).")
        if stream_pieces is not None and stream_pieces < 1:
            raise OptionError(f"stream_pieces is {stream_pieces!r}; give a number from 1, or None for the whole at once.")
        self.model_id = model_id
        self.capabilities = capabilities or Capabilities()
        self.context_window = context_window
        self.requests: list[ScriptedRequest] = []
        """What was asked, oldest first."""
        self._replies = tuple(replies)
        self._rules: tuple[tuple[re.Pattern[str], Reply], ...] | None = None
        self._stream_pieces = stream_pieces
        self._latency_s = latency_s
        self._lock = threading.Lock()
        self._last_messages: Sequence[ChatMessage] = ()
        for reply in self._replies:
            _check(reply)

    @classmethod
    def rules(cls, rules: Mapping[str, Reply], **settings: Any) -> ScriptedModel:
        """A model that answers by what it reads, as often as it is asked.

        Args:
            rules: Regular expressions, searched for in the text of the last user or tool message;
                the first that is found gives the reply.
            settings: As for `ScriptedModel`, all but the replies.
        """
        model = cls((), **settings)
        model._rules = tuple((re.compile(pattern), reply) for pattern, reply in rules.items())
        for _, reply in model._rules:
            _check(reply)
        return model

    @staticmethod
    def calls(*calls: tuple[str, Mapping[str, Value]]) -> dict[str, Value]:
        """A reply of tool calls, each given as `("tool", {"argument": value})`."""
        return {"tool_calls": [{"name": name, "arguments": dict(arguments)} for name, arguments in calls]}

    @staticmethod
    def final(value: Value) -> dict[str, Value]:
        """A reply that gives `value` as the final answer."""
        return ScriptedModel.calls(("final_answer", {"answer": value}))

    def generate(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSchema] = (),
        stop: Sequence[str] = (),
        kind: RequestKind = "act",
        **options: Value,
    ) -> ChatMessage:
        """The next reply of the script.

        Raises:
            GenerationError: The script has no reply for this call.
        """
        message = self._next_message(messages, tools, stop, kind, options)
        if self._latency_s:
            time.sleep(self._latency_s)
        return message

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSchema] = (),
        stop: Sequence[str] = (),
        kind: RequestKind = "act",
        **options: Value,
    ) -> Iterator[MessageDelta | ChatMessage]:
        """The next reply of the script, in pieces if it was made so."""
        if self._stream_pieces is None:
            yield self.generate(messages, tools=tools, stop=stop, kind=kind, **options)
            return
        message = self._next_message(messages, tools, stop, kind, options)
        pieces = list(_to_deltas(message, self._stream_pieces))
        for piece in pieces:
            if self._latency_s:
                time.sleep(self._latency_s / len(pieces))
            yield piece
        yield message

    def _next_message(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema],
        stop: Sequence[str],
        kind: RequestKind,
        options: Mapping[str, Value],
    ) -> ChatMessage:
        request, number = self._enter(tuple(messages), tuple(tools), tuple(stop), kind, options)
        return _to_message(self._choose(request, number), request)

    def _enter(
        self,
        messages: tuple[ChatMessage, ...],
        schemas: tuple[ToolSchema, ...],
        stop: tuple[str, ...],
        kind: RequestKind,
        options: Mapping[str, Value],
    ) -> tuple[ScriptedRequest, int]:
        with self._lock:
            previous = self.requests[-1] if self.requests else None
            old = self._last_messages
            goes_on = previous is not None and len(messages) >= len(old) and all(map(operator.is_, old, messages))
            if previous is not None and schemas == previous._schemas:
                schemas = previous._schemas
            request = ScriptedRequest(
                kind=kind,
                stop=stop,
                options=options,
                _schemas=schemas,
                _previous=previous if goes_on else None,
                _tail=messages[len(old) :] if goes_on else messages,
                _capabilities=self.capabilities,
            )
            self.requests.append(request)
            self._last_messages = messages
            return request, len(self.requests)

    def _choose(self, request: ScriptedRequest, number: int) -> Reply:
        if self._rules is None:
            if number > len(self._replies):
                n_replies = len(self._replies)
                raise GenerationError(
                    f"The script of {self.model_id!r} has {n_replies} {'reply' if n_replies == 1 else 'replies'}, "
                    f"and this is call {number}. Add a reply for it.",
                    model_id=self.model_id,
                )
            return self._replies[number - 1]
        asked = (message for message in reversed(request.chat_messages) if message.role in ("user", "tool"))
        last = next(asked, None)
        text = (last.content if last else None) or ""
        reply = next((reply for pattern, reply in self._rules if pattern.search(text)), None)
        if reply is None:
            patterns = ", ".join(repr(pattern.pattern) for pattern, _ in self._rules)
            raise GenerationError(
                f"No rule of {self.model_id!r} fits {text[:200]!r}. Its patterns are {patterns}. Add one that fits.",
                model_id=self.model_id,
            )
        return reply


def _to_message(reply: Reply, request: ScriptedRequest) -> ChatMessage:
    if isinstance(reply, BaseException):
        raise reply.with_traceback(None)
    if inspect.isclass(reply) and issubclass(reply, BaseException):
        raise reply
    if callable(reply):
        made = reply(request)
        _check(made)
        return _to_message(made, request)
    builder = MessageBuilder()
    if isinstance(reply, ChatMessage):
        builder.add(reply)
    elif isinstance(reply, str):
        builder.add(ChatMessage(role="assistant", content=reply, finish_reason="stop"))
    else:
        builder.add(_from_mapping(cast("Mapping[str, Value]", reply)))
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


def _check(reply: Value) -> None:
    """Raise an OptionError if a reply is of no kind that a script can hold."""
    if isinstance(reply, str | ChatMessage | BaseException) or callable(reply):
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
            raise OptionError(f'A tool call of a reply is {call!r}, without a name.\nWrite {{"name": "tool", "arguments": {{}}}}.')
    if isinstance(mapping.get("usage"), Mapping):
        _check_keys(mapping["usage"], tuple(field.name for field in fields(TokenUsage)), "The usage of a reply")


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


def _to_deltas(message: ChatMessage, n_pieces: int) -> Iterator[MessageDelta]:
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
