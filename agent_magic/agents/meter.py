"""Meter: the tokens of messages and tools for one model, each counted once.

It must not know what a request is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agent_magic.core.messages import ChatMessage, ToolSchema
from agent_magic.core.values import Value
from agent_magic.models.model import Model
from agent_magic.models.provider_form import to_provider_messages, to_provider_tools
from agent_magic.models.tokens import TokenCount, count_message, count_tools


class Meter:
    """Counts tokens as long as a run lasts."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._counted: dict[int, tuple[ChatMessage, int]] = {}
        self._tools: tuple[Sequence[ToolSchema], int] = ((), 0)
        self.is_estimate = False
        """Whether anything counted so far was estimated."""

    def count(self, messages: Iterable[ChatMessage]) -> int:
        """Tokens of the messages."""
        return sum(map(self._count_one, messages))

    def count_tools(self, schemas: Sequence[ToolSchema]) -> int:
        """Tokens of the tools, where they stand in a place of their own."""
        if not self._model.capabilities.tools:
            return 0  # they are described in the system prompt
        if schemas is not self._tools[0]:
            n = self._noted(count_tools(to_provider_tools(schemas), self._model))
            self._tools = (schemas, n)
        return self._tools[1]

    def count_wire(self, message: Mapping[str, Value]) -> int:
        """Tokens of a message in the provider's form."""
        return self._noted(count_message(message, self._model))

    def count_wire_tools(self, tools: Sequence[Mapping[str, Value]]) -> int:
        """Tokens of tools in the provider's form."""
        return self._noted(count_tools(tools, self._model)) if tools else 0

    def _count_one(self, message: ChatMessage) -> int:
        known = self._counted.get(id(message))
        if known is None:
            able = self._model.capabilities
            wire = to_provider_messages((message,), native_tools=able.tools, images=able.images)
            n = sum(self._noted(count_message(part, self._model)) for part in wire)
            known = self._counted[id(message)] = (message, n)  # the message stays, so its id does
        return known[1]

    def _noted(self, count: TokenCount) -> int:
        self.is_estimate = self.is_estimate or count.is_estimate
        return count.n
