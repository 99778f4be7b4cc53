from __future__ import annotations

import itertools
import json

import pytest
from PIL import Image

from agent_magic.core.messages import ChatMessage, ImagePart, ToolCall
from agent_magic.models import wire_json
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel

CALL = ToolCall(id="c1", name="look", arguments={"place": "Tromsø", "n": float("inf")})
PICTURE = ImagePart(image=Image.new("RGB", (2, 2)), name="photo")
HISTORY = (
    ChatMessage(role="system", content="Be kind."),
    ChatMessage(role="user", content="Look: \ud800 “é” 日本"),
    ChatMessage(role="assistant", content=None, tool_calls=(CALL,)),
    ChatMessage(role="tool", content="dark", tool_call_id="c1"),
    ChatMessage(role="user", content="Go on."),
    ChatMessage(role="user", content="Now."),
)
WITH_IMAGES = (
    *HISTORY[:3],
    ChatMessage(role="tool", content="dark", tool_call_id="c1", images=(PICTURE,)),
)


@pytest.mark.parametrize("history", [HISTORY, WITH_IMAGES, ()])
@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("images", [True, False])
def test_json_is_what_is_sent(history: tuple[ChatMessage, ...], tools: bool, images: bool) -> None:
    model = ScriptedModel([], capabilities=Capabilities(tools=tools, images=images))
    for _ in range(2):
        assert json.loads(model.to_json(history)) == model.to_wire(history).messages


def test_longer_history_begins_with_the_bytes_of_the_shorter_one() -> None:
    model = ScriptedModel([])
    sent = [model.to_json(HISTORY[:n]) for n in range(1, len(HISTORY) + 1)]
    for shorter, longer in itertools.pairwise(sent):
        assert longer.startswith(shorter[:-1] + b",")


def test_message_that_was_replaced_is_encoded_anew() -> None:
    model = ScriptedModel([])
    model.to_json(HISTORY)
    edited = (*HISTORY[:3], ChatMessage(role="tool", content="light", tool_call_id="c1"), *HISTORY[4:])
    assert json.loads(model.to_json(edited))[3]["content"] == "light"


def test_no_more_messages_are_kept_than_the_newest() -> None:
    model = ScriptedModel([])
    n = wire_json._MAX_KEPT + 100
    sent = json.loads(model.to_json([ChatMessage(role="user", content=str(i)) for i in range(n)]))
    assert [message["content"] for message in sent] == [str(i) for i in range(n)]
    assert len(wire_json._ENCODED._kept) == wire_json._MAX_KEPT
