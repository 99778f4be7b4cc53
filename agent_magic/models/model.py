"""Model: the one interface that agents ask, whatever stands behind it.

It must not know a provider, a tool's function or an agent.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent_magic.core.errors import GenerationError
from agent_magic.core.messages import ChatMessage, MessageDelta, RequestKind, ToolSchema
from agent_magic.core.values import Value
from agent_magic.models.provider_form import ProviderMessage, to_provider_messages, to_provider_tools
from agent_magic.models.rate import RateLimit
from agent_magic.models.retry import Failure, diagnose
from agent_magic.models.wire_json import to_wire_json

_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a model can take."""

    tools: bool = True
    """Native tool calls; without them calls are asked for, and read, as text."""
    images: bool = False
    response_format: bool = False
    """A JSON Schema that the reply must fit, as the option `response_format` of a call."""
    code: bool = True
    """It can write code; False for a model that is too small to be asked for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """What a model is really sent, as plain mappings in the form of its provider."""

    messages: list[ProviderMessage]
    tools: list[ProviderMessage]
    """Empty where nothing may be called, or where calls are asked for as text."""


class Model(ABC):
    """A language model. Subclasses need `generate` alone; `stream` may do better than the default.

    One object may be asked from several threads at once.
    """

    model_id: str = "model"
    """As LiteLLM spells it, `provider/name`, or a name of its own."""
    capabilities: Capabilities = Capabilities()
    makes_own_prompt: bool = False
    """Requests are not sent as they are but made into a prompt of its own, so their tokens say nothing
    of it: one that is too long is refused, and shortened then."""
    context_window: int | None = None
    """In tokens, request and reply together; None if unknown."""
    requests_per_minute: float | None = None
    """How many requests all runs together may make of this object in any minute; None for no limit.

    The runs wait for their turns, and say so; who calls `generate` is not made to wait.
    """
    may_be_silent: bool = False
    """Between two pieces of its replies much time may pass in which nothing can end it, as on a network."""
    _rate: RateLimit | None = None

    @abstractmethod
    def generate(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSchema] = (),
        stop: Sequence[str] = (),
        kind: RequestKind = "act",
        **options: Value,
    ) -> ChatMessage:
        """Ask once and return the whole reply, a message of role `assistant`.

        Args:
            messages: The request; neither the list nor its messages may be changed.
            tools: What may be called; empty when a text is wanted.
            stop: Texts at which the reply ends; they are not part of it. A closing tag, such as
                `</code>`, is asked of the provider only: where the code before it ends is the
                agent's to read. Beside one the others are cut on our side only where they begin a
                line outside of tags, fences and string literals.
            kind: What the request is for.
            options: Go to the provider as they are, over the model's own. `response_format` may be
                left out by a model whose provider refuses it; see `capabilities`.
        """

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSchema] = (),
        stop: Sequence[str] = (),
        kind: RequestKind = "act",
        **options: Value,
    ) -> Iterator[MessageDelta | ChatMessage]:
        """Ask once and yield the reply in pieces.

        A `ChatMessage` among the pieces is the whole reply and counts instead of them. Closing
        the iterator cancels the request.
        """
        reply: Value = self.generate(messages, tools=tools, stop=stop, kind=kind, **options)
        if not isinstance(reply, ChatMessage):
            got = None if reply is None else type(reply).__name__
            raise GenerationError(
                f"{type(self).__name__}.generate returned {got}, and no ChatMessage. "
                "Let it return ChatMessage(role='assistant', content=...).",
                model_id=self.model_id,
            )
        yield reply

    def to_wire(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSchema] = (), kind: RequestKind = "act"
    ) -> WireRequest:
        """Build what is sent for these messages and tools; nothing is asked, and the result is the caller's.

        As long as the settings stay, the messages of a longer history begin with those of a shorter one.
        """
        del kind
        able = self.capabilities
        return WireRequest(
            messages=to_provider_messages(messages, native_tools=able.tools, images=able.images),
            tools=to_provider_tools(tools) if able.tools else [],
        )

    def to_json(self, messages: Sequence[ChatMessage]) -> bytes:
        """The messages of `to_wire` as a JSON list in UTF-8, for models that post it themselves.

        Each message is encoded once, so that a call costs what is new in it.
        """
        able = self.capabilities
        return to_wire_json(messages, native_tools=able.tools, images=able.images)

    @property
    def rate_limit(self) -> RateLimit | None:
        """The line that runs stand in, by `requests_per_minute` as it is now.

        Raises:
            OptionError: That is no number above 0.
        """
        per_minute = self.requests_per_minute
        if per_minute is None:
            return None
        with _LOCK:
            if self._rate is None:
                self._rate = RateLimit(per_minute)
            elif self._rate.per_minute != per_minute:
                self._rate.change(per_minute)
            return self._rate

    @property
    def shown_options(self) -> Mapping[str, Value]:
        """What goes to the provider beside messages and tools, without keys and the like."""
        return {}

    def count_tokens(self, text: str) -> int | None:
        """Tokens of a text by this model's own tokenizer; None if that is not at hand.

        It asks no address and loads no weights.
        """
        del text
        return None

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """What so many tokens cost, none of them from the cache; None if unknown."""
        del input_tokens, output_tokens
        return None

    def diagnose(self, error: Exception) -> Failure:
        """Say what an exception out of `generate` or `stream` means: try again, or tell the person."""
        return diagnose(error, self.model_id)
