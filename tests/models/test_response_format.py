"""Replies held to a JSON Schema: what each provider is asked, and what is done where it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.agents.code import CodeAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.messages import ChatMessage
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.local import LocalModel
from agent_magic.models.response_format import read_schema
from tests.models.openai_server import OpenAIServer, Turn, delta, fault, reply, serve

ASK = [ChatMessage(role="user", content="1 and 2?")]
SCHEMA = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}
REFUSAL = fault(400, "response_format is not supported by this model")


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def model_at(server: OpenAIServer, model_id: str, *turns: Turn, **options: Any) -> LiteLLMModel:
    server.play(*turns)
    address = server.api_base if not model_id.startswith("anthropic") else server.api_base.removesuffix("/v1")
    return LiteLLMModel(model_id, api_base=address, api_key="test-key-0123456789", **options)


@pytest.mark.parametrize(
    ("model_id", "options", "can"),
    [
        ("openai/gpt-4.1", {}, True),
        ("anthropic/claude-sonnet-4-5", {}, True),
        ("gemini/gemini-2.5-flash", {}, True),
        ("hosted_vllm/any", {}, True),
        ("lm_studio/any", {}, True),
        ("openai/any", {}, False),
        ("openai/any", {"structured": True}, True),
        ("openai/gpt-4.1", {"structured": False}, False),
    ],
)
def test_who_can_is_known_or_said(
    server: OpenAIServer, model_id: str, options: dict[str, Any], can: bool
) -> None:
    assert model_at(server, model_id, **options).capabilities.response_format is can


def test_openai_gets_the_format_as_it_is(server: OpenAIServer) -> None:
    model_at(server, "openai/gpt-4.1", reply('{"sum": 3}')).generate(ASK, response_format=FORMAT)
    assert server.received[0].body["response_format"] == FORMAT


def test_anthropic_gets_the_schema_and_the_reply_is_its_json(server: OpenAIServer) -> None:
    body = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "tiny",
        "content": [{"type": "text", "text": '{"sum": 3}'}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    model = model_at(server, "anthropic/claude-sonnet-4-5", Turn(body=body))
    assert json.loads(model.generate(ASK, response_format=FORMAT).content or "") == {"sum": 3}
    assert server.received[0].body["output_format"] == {"type": "json_schema", "schema": SCHEMA}


def test_gemini_gets_the_schema_in_its_own_field(server: OpenAIServer) -> None:
    content = {"role": "model", "parts": [{"text": '{"sum": 3}'}]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    body = {
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": usage,
    }
    model = model_at(server, "gemini/gemini-2.5-flash", Turn(body=body))
    assert json.loads(model.generate(ASK, response_format=FORMAT).content or "") == {"sum": 3}
    assert server.received[0].body["generationConfig"] == snapshot(
        {
            "response_mime_type": "application/json",
            "response_json_schema": {
                "type": "object",
                "properties": {"sum": {"type": "integer"}},
                "required": ["sum"],
                "additionalProperties": False,
            },
        }
    )


def test_a_refused_format_is_left_out_from_then_on(server: OpenAIServer) -> None:
    model = model_at(server, "openai/any", REFUSAL, reply("3"), structured=True)
    assert model.generate(ASK, response_format=FORMAT).content == "3"
    assert not model.capabilities.response_format
    model.generate(ASK, response_format=FORMAT)
    assert ["response_format" in received.body for received in server.received] == [True, False, False]


CODE = '{"thought": "I add.", "code": "final_answer(1 + 2)"}'


def test_a_code_run_asks_for_json_in_a_stream(server: OpenAIServer) -> None:
    chunks = [delta(content=CODE[:20]), delta(content=CODE[20:]), delta("stop")]
    model = model_at(server, "openai/any", Turn(chunks=chunks), structured=True)
    assert CodeAgent(model=model, structured=True).run("1 and 2?").value == 3
    body = server.received[0].body
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["thought", "code"]
    assert "stop" not in body


def test_a_code_run_goes_on_as_text_where_the_format_is_refused(server: OpenAIServer) -> None:
    text = "I add.\n<code>\nfinal_answer(1 + 2)\n</code>"
    turns = (REFUSAL, reply("I think."), reply(text))
    model = model_at(server, "openai/any", *turns, structured=True, stream=False)
    result = CodeAgent(model=model, structured=True).run("1 and 2?")
    assert (result.status, result.value) == ("answered", 3)
    assert ["response_format" in received.body for received in server.received] == [True, False, False]
    prompts = [received.body["messages"][0]["content"] for received in server.received]
    assert ["one JSON object" in prompt for prompt in prompts] == [True, True, False]


@pytest.mark.embedded
def test_the_embedded_model_writes_json_by_the_schema() -> None:
    if not LocalModel.is_installed():
        pytest.skip("the embedded model is not installed")
    model = LocalModel()
    assert model.capabilities.response_format
    whole = model.generate(
        [ChatMessage(role="user", content="What is 1 plus 2?")], response_format=FORMAT, max_tokens=40
    )
    written = json.loads(whole.content or "")
    assert list(written) == ["sum"]
    assert isinstance(written["sum"], int)


@pytest.mark.parametrize(
    ("response_format", "schema"),
    [
        (None, None),
        ({"type": "text"}, None),
        ({"type": "json_object"}, {"type": "object"}),
        (FORMAT, SCHEMA),
    ],
)
def test_the_schema_of_a_format(response_format: Any, schema: Any) -> None:
    assert read_schema(response_format) == schema


@pytest.mark.parametrize("response_format", ["json", {"type": "json_schema"}, {"type": "xml"}])
def test_a_format_without_a_schema_is_refused(response_format: Any) -> None:
    with pytest.raises(OptionError, match="holds no JSON Schema"):
        read_schema(response_format)


def test_the_refusal_says_how_to_write_it() -> None:
    with pytest.raises(OptionError) as caught:
        read_schema("json")
    assert caught.value.message == snapshot("""\
response_format='json' holds no JSON Schema.
Write {"type": "json_schema", "json_schema": {"name": "reply", "schema": {…}}}.\
""")
