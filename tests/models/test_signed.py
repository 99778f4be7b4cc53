"""What is signed in replies, as LiteLLM hands it over, and where it goes back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from inline_snapshot import snapshot

from agent_magic.core.messages import ChatMessage, ToolCall
from agent_magic.models.provider_form import to_provider_messages
from agent_magic.models.signed import SignedParts, plain_id

CALLS = (ToolCall(id="c1", name="add", arguments={"a": 1}), ToolCall(id="c2", name="add", arguments={}))
REPLY = ChatMessage(role="assistant", content="I add.", reasoning="hm", tool_calls=CALLS)


def signed(*parts: dict[str, Any], message: ChatMessage = REPLY) -> ChatMessage:
    gathered = SignedParts()
    for part in parts:
        gathered.add(SimpleNamespace(**part))
    return gathered.sign(message, "p/m")


def thinking(**fields: Any) -> dict[str, Any]:
    return {"thinking_blocks": [{"type": "thinking", **fields}]}


def test_blocks_in_pieces_are_joined_up_to_their_signature() -> None:
    message = signed(
        thinking(thinking="h", index=0),
        thinking(thinking="m", index=0),
        thinking(thinking="", signature="s1", index=0),
        {"thinking_blocks": [{"type": "redacted_thinking", "data": "x1", "index": 1}]},
        {"thinking_blocks": [{"type": "redacted_thinking", "data": "x2", "index": 1}]},
        thinking(thinking="more", signature="s2", index=2),
    )
    assert message.signed == snapshot(
        {
            "by": "p/m",
            "thinking_blocks": [
                {"type": "thinking", "thinking": "hm", "signature": "s1"},
                {"type": "redacted_thinking", "data": "x1"},
                {"type": "redacted_thinking", "data": "x2"},
                {"type": "thinking", "thinking": "more", "signature": "s2"},
            ],
        }
    )


def test_thinking_that_nobody_signed_is_none_of_it() -> None:
    assert signed(thinking(thinking="hm")) is REPLY


def test_details_of_reasoning_keep_their_places() -> None:
    first = {"type": "reasoning.text", "text": "h", "index": 0, "format": "f"}
    message = signed(
        {"reasoning_details": [first]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "m", "signature": "s", "index": 0}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 1}]},
    )
    assert message.signed == snapshot(
        {
            "by": "p/m",
            "reasoning_details": [
                {"type": "reasoning.text", "text": "hm", "index": 0, "format": "f", "signature": "s"},
                {"type": "reasoning.encrypted", "data": "x", "index": 1},
            ],
        }
    )
    assert first["text"] == "h"


def test_details_of_a_whole_reply_stand_among_its_providers_fields() -> None:
    fields = {"reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0}]}
    message = signed({"provider_specific_fields": fields})
    assert message.signed == {"by": "p/m", **fields}


def call(call_id: str, signature: str | None) -> Any:
    fields = None if signature is None else {"thought_signature": signature}
    return SimpleNamespace(id=call_id, provider_specific_fields=fields)


def test_signatures_of_calls_are_kept_by_place_and_not_in_their_ids() -> None:
    assert plain_id("c1__thought__sig") == "c1"
    message = signed(
        {"tool_calls": [call("c1__thought__sig", "sig")]},
        {
            "tool_calls": [call("c2", None)],
            "provider_specific_fields": {"thought_signatures": ["sig", "text"]},
        },
    )
    assert message.signed == {"by": "p/m", "calls": ["sig", None], "thought_signatures": ["text"]}


def sent(message: ChatMessage, signed_by: str = "p/m", **asked: Any) -> dict[str, Any]:
    return to_provider_messages(
        [message], **{"native_tools": True, "images": False, "signed_by": signed_by, **asked}
    )[0]


def test_what_is_signed_goes_back_to_its_model_alone() -> None:
    message = signed(
        thinking(thinking="hm", signature="s"), {"tool_calls": [call("c1", "sig")]}, thinking(thinking="x")
    )
    wire = sent(message)
    assert wire["thinking_blocks"] == [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    assert [one.get("provider_specific_fields") for one in wire["tool_calls"]] == [
        {"thought_signature": "sig"},
        None,
    ]
    plain = sent(REPLY)
    assert sent(message, signed_by="p/other") == plain
    assert sent(message) == wire  # what was kept of it is still the plain one
    assert not set(sent(message, native_tools=False)) - {"role", "content"}


def test_signatures_of_calls_that_were_edited_do_not_go_back() -> None:
    message = signed({"tool_calls": [call("c1", "sig")]})
    edited = ChatMessage(role="assistant", tool_calls=CALLS[1:], signed=message.signed)
    assert "sig" not in str(sent(edited))


def test_reasoning_goes_back_beside_calls_where_it_is_wanted() -> None:
    assert sent(REPLY, reasoning=True)["reasoning_content"] == "hm"
    assert "reasoning_content" not in sent(REPLY)
    text = ChatMessage(role="assistant", content="Yes", reasoning="hm")
    assert "reasoning_content" not in sent(text, reasoning=True)
