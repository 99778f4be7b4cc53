"""Bodies of whole replies, read without LiteLLM."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.models.raw_reply import ReplyBody
from tests.providers.anthropic_form import Anthropic
from tests.providers.bedrock_form import Bedrock
from tests.providers.dialect import Dialect
from tests.providers.gemini_form import Gemini
from tests.providers.ollama_form import Ollama
from tests.providers.openai_form import Groq
from tests.providers.said import Call, Said

SAID = Said(
    text="I add.",
    thinking="hm",
    signature="sig",
    calls=(Call(id="c1", name="add", arguments={"a": 1}, signature="csig"),),
    counted=None,
)


def kept(body: Any) -> ReplyBody:
    """A body as LiteLLM hands it over: before the request, and when it has come."""
    reply = ReplyBody()
    reply.keep({"original_response": None})
    reply.keep({"original_response": body if isinstance(body, str) else json.dumps(body)})
    return reply


@pytest.mark.parametrize("dialect", [Groq(), Anthropic(), Bedrock(), Gemini()], ids=lambda one: one.name)
def test_reply_of_each_form_is_read(dialect: Dialect) -> None:
    read = kept(dialect.body(SAID)).read()
    assert read is not None
    [choice] = read["choices"]
    message = choice["message"]
    assert choice["finish_reason"] == "tool_calls"
    assert (message["content"], message["reasoning_content"]) == ("I add.", "hm")
    [call] = message["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("add", {"a": 1})


def test_what_is_signed_is_read() -> None:
    def of(dialect: Dialect) -> Any:
        return (kept(dialect.body(SAID)).read() or {})["choices"][0]["message"]

    block = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    assert [of(one)["thinking_blocks"] for one in (Anthropic(), Bedrock())] == [[block], [block]]
    assert of(Gemini())["tool_calls"][0]["provider_specific_fields"] == {"thought_signature": "csig"}


def test_parts_of_other_kinds_are_left_out() -> None:
    blocks = [
        {"type": "server_tool_use"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "Yes"},
    ]
    read = kept({"type": "message", "content": blocks}).read()
    assert read == snapshot(
        {
            "choices": [
                {
                    "finish_reason": "stop",
                    "message": {
                        "role": "assistant",
                        "content": "Yes",
                        "tool_calls": None,
                        "reasoning_content": None,
                        "thinking_blocks": [{"type": "redacted_thinking", "data": "x"}],
                    },
                }
            ]
        }
    )
    converse = [{"citationsContent": {}}, {"reasoningContent": {"redactedContent": "x"}}]
    assert kept({"output": {"message": {"content": converse}}}).read() is not None
    parts = {"candidates": [{"content": {"parts": [{"executableCode": {}}]}}]}
    assert kept(parts).read() is not None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{not json",
        "[1]",
        '{"error": {"message": "no"}}',
        '{"choices": null}',
        '{"choices": [{"message": {"content": 3}}]}',
        '{"type": "message", "content": [{"type": "tool_use"}]}',
        '{"candidates": []}',
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_what_is_no_reply_is_not_read(body: str) -> None:
    assert kept(body).read() is None


def test_a_body_after_a_failure_is_not_taken_for_the_reply_before() -> None:
    reply = kept(Anthropic().body(SAID))
    reply.keep({"original_response": '{"type": "error", "error": {"message": "no"}}'})
    assert reply.read() is None


def test_it_is_known_when_no_tokens_were_reported() -> None:
    dialects = (Groq(), Anthropic(), Bedrock(), Gemini(), Ollama())
    assert [kept(one.body(SAID)).reports_no_usage for one in dialects] == [True] * 5
    assert [kept(one.body(Said(text="Yes"))).reports_no_usage for one in dialects] == [False] * 5
    assert not kept("no body").reports_no_usage  # then it is not known
