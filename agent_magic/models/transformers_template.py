"""A request as a chat template takes it, and whether the template has a place for tools.

It must not load a tokenizer, which it is given, nor read what the model writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import TemplateError

from agent_magic.core.errors import GenerationError
from agent_magic.core.values import Value
from agent_magic.models.provider_form import ProviderMessage

_TOOL = {
    "type": "function",
    "function": {
        "name": "look_up_tide",
        "description": "Tide.",
        "parameters": {"type": "object", "properties": {}},
    },
}
_WORD_JOINER = "\u2060"
"""Has no width and breaks no line."""


class ChatTemplate:
    """The chat template of a tokenizer.

    Args:
        options: What the template is given beside messages and tools, such as `enable_thinking`.
    """

    def __init__(self, tokenizer: Any, model_id: str, options: Mapping[str, Value]) -> None:
        self._tokenizer = tokenizer
        self._model_id = model_id
        self._options = dict(options)
        self._folds_system = False
        special = sorted({mark for mark in tokenizer.all_special_tokens if mark}, key=len, reverse=True)
        self._marks = re.compile("|".join(map(re.escape, special))) if special else None

    def takes_tools(self) -> bool:
        """Whether tools given to the template change what it writes."""
        messages = [{"role": "user", "content": "Tide?"}]
        try:
            return self._apply(messages, [_TOOL]) != self._apply(messages, [])
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError):
            return False

    def render(self, messages: Sequence[ProviderMessage], tools: Sequence[ProviderMessage]) -> str:
        """The text that the model goes on with.

        Marks of the template that stand in a text are broken by a sign without width, so that no
        text can pass for a turn of its own. A template without a place for a system message, or that
        wants user and assistant to take turns, gets the system text in the first user message.

        Raises:
            GenerationError: The template refuses the messages.
        """
        prepared = [self._prepare(message) for message in messages]
        if not self._folds_system:
            try:
                return self._apply(prepared, tools)
            except (TemplateError, TypeError, ValueError, LookupError, AttributeError) as error:
                first = error
            folded = _fold(prepared)
            try:
                text = self._apply(folded, tools)
            except (TemplateError, TypeError, ValueError, LookupError, AttributeError):
                raise GenerationError(
                    f"{self._model_id}: its chat template refuses the messages: {first}\n"
                    "Give one that takes them by the model option chat_template, or use another model.",
                    model_id=self._model_id,
                ) from first
            self._folds_system = True
            return text
        return self._apply(_fold(prepared), tools)

    def _apply(self, messages: Sequence[ProviderMessage], tools: Sequence[ProviderMessage]) -> str:
        # Templates write into what they are given less than libraries do, but some do.
        return self._tokenizer.apply_chat_template(
            [dict(message) for message in messages],
            tools=list(tools) or None,
            add_generation_prompt=True,
            tokenize=False,
            **self._options,
        )

    def _prepare(self, message: ProviderMessage) -> ProviderMessage:
        prepared: ProviderMessage = self._break_marks({**message, "content": message["content"] or ""})
        if calls := message.get("tool_calls"):
            # Templates write the arguments themselves, so they want the mapping and not its JSON.
            prepared["tool_calls"] = [
                {
                    **call,
                    "function": {
                        "name": call["function"]["name"],
                        "arguments": self._break_marks(json.loads(call["function"]["arguments"])),
                    },
                }
                for call in calls
            ]
        return prepared

    def _break_marks(self, value: Value) -> Value:
        if isinstance(value, str):
            if self._marks is None:
                return value
            return self._marks.sub(lambda mark: mark[0][:1] + _WORD_JOINER + mark[0][1:], value)
        if isinstance(value, Mapping):
            return {key: self._break_marks(item) for key, item in value.items()}
        return [self._break_marks(item) for item in value] if isinstance(value, list) else value


def _fold(messages: Sequence[ProviderMessage]) -> list[ProviderMessage]:
    """The messages without a system role, and with neighbours of one role joined."""
    folded: list[ProviderMessage] = []
    for message in messages:
        one = {**message, "role": "user"} if message["role"] == "system" else message
        last = folded[-1] if folded else None
        is_plain = last is not None and not (last.get("tool_calls") or one.get("tool_calls"))
        if last is not None and is_plain and last["role"] == one["role"] != "tool":
            folded[-1] = {**last, "content": f"{last['content']}\n\n{one['content']}"}
        else:
            folded.append(one)
    return folded
