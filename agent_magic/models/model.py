"""Model: the one interface that agents ask, whatever stands behind it.

It must not know a provider, a tool's function or an agent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_magic.core.messages import ChatMessage, MessageDelta, RequestKind, ToolSchema
from agent_magic.core.values import Value
from agent_magic.models.retry import Failure, diagnose


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a model can take."""

    tools: bool = True
    """Native tool calls; without them calls are asked for, and read, as text."""
    images: bool = False


class Model(ABC):
    """A language model. Subclasses need `generate` alone; `stream` may do better than the default.

    One object may be asked from several threads at once.
    """

    model_id: str = "model"
    """As LiteLLM spells it, `provider/name`, or a name of its own."""
    capabilities: Capabilities = Capabilities()
    context_window: int | None = None
    """In tokens, request and reply together; None if unknown."""

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
            stop: Texts at which the reply ends; they are not part of it.
            kind: What the request is for.
            options: Go to the provider as they are, over the model's own.
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
        yield self.generate(messages, tools=tools, stop=stop, kind=kind, **options)

    def diagnose(self, error: Exception) -> Failure:
        """Say what an exception out of `generate` or `stream` means: try again, or tell the person."""
        return diagnose(error, self.model_id)
