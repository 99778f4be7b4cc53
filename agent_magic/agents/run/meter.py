"""Meter: the tokens of messages and tools for one model, each counted once.

It must not know what a request is made of.
"""

from __future__ import annotations

import operator
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
        self._sized_tools: tuple[Sequence[ToolSchema], int] = ((), 0)
        self.is_estimate = False
        """Whether anything counted so far was estimated."""

    def count(self, messages: Iterable[ChatMessage]) -> int:
        """Tokens of the messages."""
        return sum(map(self._count_one, messages))

    def count_once(self, messages: Iterable[ChatMessage]) -> int:
        """Tokens of messages that will not be asked for again: they are not kept."""
        return sum(map(self._count_anew, messages))

    def size_of_tools(self, schemas: Sequence[ToolSchema]) -> int:
        """Bytes that the tools do not pass: no tokenizer that works on bytes makes more tokens of them."""
        if not self._model.capabilities.tools:
            return 0
        if not _are_same(schemas, self._sized_tools[0]):
            n_bytes = sum(len(repr(schema).encode("utf-8", "surrogatepass")) + 80 for schema in schemas)
            self._sized_tools = (schemas, n_bytes)
        return self._sized_tools[1]

    def count_tools(self, schemas: Sequence[ToolSchema]) -> int:
        """Tokens of the tools, where they stand in a place of their own."""
        if not self._model.capabilities.tools:
            return 0  # they are described in the system prompt
        if not _are_same(schemas, self._tools[0]):
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
            # The message stays, so its id does.
            known = self._counted[id(message)] = (message, self._count_anew(message))
        return known[1]

    def _count_anew(self, message: ChatMessage) -> int:
        able = self._model.capabilities
        wire = to_provider_messages((message,), native_tools=able.tools, images=able.images)
        return sum(self._noted(count_message(part, self._model)) for part in wire)

    def _noted(self, count: TokenCount) -> int:
        self.is_estimate = self.is_estimate or count.is_estimate
        return count.n


def _are_same(some: Sequence[ToolSchema], others: Sequence[ToolSchema]) -> bool:
    """Whether these are the very same schemas; the sequence is made anew for each request."""
    return some is others or (len(some) == len(others) and all(map(operator.is_, some, others)))
