"""What a model is by default, with `generate` alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import GenerationError
from agent_magic.core.messages import ChatMessage, ToolCall, ToolSchema
from agent_magic.models.model import Capabilities, Model, WireRequest

ADD = ToolSchema(name="add", description="Add.", parameters={"type": "object"})
HISTORY = [
    ChatMessage(role="user", content="1 and 2?"),
    ChatMessage(role="assistant", content="1. Add."),
    ChatMessage(role="user", content="Go on.", is_ours=True),
    ChatMessage(role="assistant", tool_calls=(ToolCall(id="c", name="add", arguments={"a": 1}),)),
    ChatMessage(role="tool", content="3", tool_call_id="c"),
]


class Mine(Model):
    """As a user writes it."""

    def generate(self, messages: Sequence[ChatMessage], **asked: Any) -> ChatMessage:
        return ChatMessage(role="assistant", content="Yes")


class Plain(Mine):
    capabilities = Capabilities(tools=False)


def test_wire_of_a_model_that_calls_natively() -> None:
    assert Mine().to_wire(HISTORY, [ADD]) == snapshot(
        WireRequest(
            messages=[
                {"role": "user", "content": "1 and 2?"},
                {"role": "assistant", "content": "1. Add."},
                {"role": "user", "content": "Go on."},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
                    ],
                },
                {"role": "tool", "tool_call_id": "c", "content": "3"},
            ],
            tools=[
                {
                    "type": "function",
                    "function": {"name": "add", "description": "Add.", "parameters": {"type": "object"}},
                }
            ],
        )
    )


def test_wire_of_a_model_that_writes_its_calls_as_text() -> None:
    assert Plain().to_wire(HISTORY, [ADD], "act") == snapshot(
        WireRequest(
            messages=[
                {"role": "user", "content": "1 and 2?"},
                {"role": "assistant", "content": "1. Add."},
                {"role": "user", "content": "Go on."},
                {"role": "assistant", "content": '{"name": "add", "arguments": {"a": 1}}'},
                {
                    "role": "user",
                    "content": """\
Observation:
3\
""",
                },
            ],
            tools=[],
        )
    )


def test_wire_is_the_callers_to_change() -> None:
    model = Mine()
    changed = model.to_wire(HISTORY)
    changed.messages.clear()
    assert len(model.to_wire(HISTORY).messages) == 5
    assert changed == WireRequest(messages=[], tools=[])


def test_wire_of_a_longer_history_begins_with_that_of_a_shorter() -> None:
    model = Mine()
    for n in range(1, len(HISTORY)):
        assert model.to_wire(HISTORY).messages[:n] == model.to_wire(HISTORY[:n]).messages


def test_tokens_and_price_are_unknown() -> None:
    assert (Mine().count_tokens("x"), Mine().price_usd(1, 1), Mine().context_window) == (None, None, None)


@pytest.mark.parametrize("reply", [None, "Yes"])
def test_reply_that_is_no_message_is_told_to_the_models_author(reply: Any) -> None:
    class Wrong(Mine):
        def generate(self, messages: Sequence[ChatMessage], **asked: Any) -> Any:
            return reply

    with pytest.raises(GenerationError) as caught:
        list(Wrong().stream(HISTORY))
    assert caught.value.message == (
        f"Wrong.generate returned {None if reply is None else 'str'}, and no ChatMessage. "
        "Let it return ChatMessage(role='assistant', content=...)."
    )
