"""Tokens of messages and tools, each counted once."""

from __future__ import annotations

from typing import Any

from PIL import Image

from agent_magic.agents.run.meter import Meter
from agent_magic.core.messages import ChatMessage, ImagePart, ToolCall, ToolSchema
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel
from agent_magic.models.tokens import TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE, estimate_tokens

SCHEMA = ToolSchema(name="add", description="Add.", parameters={"type": "object", "properties": {}})


class Counting(ScriptedModel):
    """A script with a tokenizer: each word is a token; it notes what it is asked."""

    def __init__(self, **settings: Any) -> None:
        super().__init__([], **settings)
        self.asked: list[str] = []

    def count_tokens(self, text: str) -> int:
        self.asked.append(text)
        return len(text.split())


def test_each_message_is_counted_once() -> None:
    model = Counting()
    meter = Meter(model)
    messages = [
        ChatMessage(role="user", content="one two three"),
        ChatMessage(role="assistant", content="four"),
    ]
    assert meter.count(messages) == meter.count(messages) == 4 + 2 * TOKENS_PER_MESSAGE
    assert model.asked == ["one two three", "four"]
    assert not meter.is_estimate


def test_messages_counted_once_only_are_not_kept() -> None:
    model = Counting()
    meter = Meter(model)
    message = ChatMessage(role="user", content="one two three")
    assert meter.count_once([message]) == meter.count_once([message]) == 3 + TOKENS_PER_MESSAGE
    assert len(model.asked) == 2


def test_calls_and_their_arguments_are_counted() -> None:
    message = ChatMessage(
        role="assistant", tool_calls=(ToolCall(id="c", name="add", arguments={"a": 1, "b": "x y z"}),)
    )
    model = Counting()
    Meter(model).count([message])
    assert model.asked == ["add", '{"a": 1, "b": "x y z"}']
    as_text = Counting(capabilities=Capabilities(tools=False))
    Meter(as_text).count([message])
    assert as_text.asked == ['{"name": "add", "arguments": {"a": 1, "b": "x y z"}}']


def test_unknown_tokenizer_makes_an_estimate_that_is_called_one() -> None:
    meter = Meter(ScriptedModel([]))
    text = "The penguins of Dream island are 3 years old."
    assert meter.count([ChatMessage(role="user", content=text)]) == estimate_tokens(text) + TOKENS_PER_MESSAGE
    assert meter.is_estimate


def test_images_are_counted_where_the_model_sees_them() -> None:
    picture = ImagePart(image=Image.new("RGB", (4, 4)))
    message = ChatMessage(role="tool", content="seen", tool_call_id="c", images=(picture, picture))
    assert Meter(Counting(capabilities=Capabilities(images=True))).count([message]) > 2 * TOKENS_PER_IMAGE
    assert Meter(Counting()).count([message]) < 20


def test_tools_are_counted_once_though_their_sequence_is_made_anew() -> None:
    model = Counting()
    meter = Meter(model)
    assert meter.count_tools((SCHEMA,)) == meter.count_tools((SCHEMA,)) > 0
    assert len(model.asked) == 1
    other = ToolSchema(name="add", description="Add two.", parameters={})
    assert meter.count_tools((other,)) != meter.count_tools((SCHEMA,))


def test_tools_of_a_model_without_native_calls_stand_in_the_prompt() -> None:
    meter = Meter(Counting(capabilities=Capabilities(tools=False)))
    assert (meter.count_tools((SCHEMA,)), meter.size_of_tools((SCHEMA,))) == (0, 0)


def test_size_of_tools_is_no_less_than_their_tokens() -> None:
    meter = Meter(ScriptedModel([]))
    wide = ToolSchema(name="add", description="合計を計算する。" * 50, parameters={"type": "object"})
    for schemas in ((SCHEMA,), (wide,), (SCHEMA, wide)):
        assert meter.size_of_tools(schemas) >= meter.count_tools(schemas)
