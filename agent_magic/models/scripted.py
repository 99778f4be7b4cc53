"""ScriptedModel: a model that says what it was told to say, for tests and for learning.

It must not read the request to make up a reply: only a rule or a function of the person's does.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent_magic.core.errors import GenerationError, OptionError
from agent_magic.core.messages import ChatMessage, MessageDelta, RequestKind, ToolSchema
from agent_magic.core.values import Value
from agent_magic.models.model import Capabilities, Model, WireRequest
from agent_magic.models.provider_form import to_provider_messages
from agent_magic.models.script import (
    Reply,
    ScriptedRequest,
    check_reply,
    check_settings,
    to_deltas,
    to_message,
    to_tool_mappings,
)


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
        context_window: In tokens; a request that is larger is answered all the same.
        price: USD of one input token and of one output token; None for unknown.
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
        price: tuple[float, float] | None = None,
    ) -> None:
        if isinstance(replies, str | Mapping | ChatMessage):
            raise OptionError(
                f"The replies of a ScriptedModel are a list, and not {replies!r}.\nWrite ScriptedModel([…])."
            )
        if stream_pieces is not None and stream_pieces < 1:
            raise OptionError(
                f"stream_pieces is {stream_pieces!r}; give a number from 1, or None for the whole at once."
            )
        check_settings(context_window, price)
        self.model_id = model_id
        self.capabilities = capabilities or Capabilities()
        self.context_window = context_window
        self.requests: list[ScriptedRequest] = []
        """What was asked, oldest first."""
        self._replies = tuple(replies)
        self._rules: tuple[tuple[re.Pattern[str], Reply], ...] | None = None
        self._stream_pieces = stream_pieces
        self._latency_s = latency_s
        self._price = price
        self._lock = threading.Lock()
        self._last_messages: Sequence[ChatMessage] = ()
        for reply in self._replies:
            check_reply(reply)

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
            check_reply(reply)
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
        pieces = list(to_deltas(message, self._stream_pieces))
        for piece in pieces:
            if self._latency_s:
                time.sleep(self._latency_s / len(pieces))
            yield piece
        yield message

    def to_wire(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSchema] = (), kind: RequestKind = "act"
    ) -> WireRequest:
        """What `requests` shows of such a call, its tools in the same short form."""
        del kind
        able = self.capabilities
        return WireRequest(
            messages=to_provider_messages(messages, native_tools=able.tools, images=able.images),
            tools=to_tool_mappings(tools, able),
        )

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """By the `price` that it was given."""
        if self._price is None:
            return None
        return input_tokens * self._price[0] + output_tokens * self._price[1]

    def _next_message(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema],
        stop: Sequence[str],
        kind: RequestKind,
        options: Mapping[str, Value],
    ) -> ChatMessage:
        request, number = self._enter(tuple(messages), tuple(tools), tuple(stop), kind, options)
        return to_message(self._choose(request, number), request)

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
            # Tuples are compared by identity first, so this is quick for very many messages, too.
            goes_on = previous is not None and messages[: len(old)] == old
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
