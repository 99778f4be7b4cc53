"""The embedded model behind a real HTTP server: what a plain client sees, and what LiteLLM makes of it."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from embedded.weights import need_weights
from inline_snapshot import snapshot
from models.local_server import LocalServer, read_message, read_tool

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.messages import ChatMessage, MessageDelta, ToolCall, ToolExample, ToolSchema
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.litellm import LiteLLMModel

pytestmark = pytest.mark.embedded

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": 'Get the weather in a city.\n\nExamples:\nWhat is the weather in Rome? -> get_weather(city="Rome")',
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
ASK = {
    "model": "local",
    "messages": [{"role": "user", "content": "Weather for Lima, please"}],
    "tools": [WEATHER],
}


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    need_weights()
    with LocalServer() as server:
        yield server


def post(server: LocalServer, body: object) -> urllib.request.Request:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return urllib.request.Request(f"{server.url}/chat/completions", data=data)


def test_models_are_listed(server: LocalServer):
    with urllib.request.urlopen(f"{server.url}/models", timeout=60) as reply:
        assert [model["id"] for model in json.load(reply)["data"]] == ["local"]


def test_completion_is_a_tool_call(server: LocalServer):
    with urllib.request.urlopen(post(server, ASK), timeout=60) as reply:
        completion = json.load(reply)
    (choice,) = completion["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert (choice["finish_reason"], call["function"]) == snapshot(
        ("tool_calls", {"name": "get_weather", "arguments": '{"city": "Lima"}'})
    )
    usage = completion["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_completion_is_a_text_without_tools(server: LocalServer):
    body = {"messages": [{"role": "user", "content": "What is the capital of France?"}], "stop": "."}
    with urllib.request.urlopen(post(server, body), timeout=60) as reply:
        (choice,) = json.load(reply)["choices"]
    assert choice == snapshot(
        {
            "index": 0,
            "message": {"role": "assistant", "content": "The capital of France is Paris"},
            "finish_reason": "stop",
        }
    )


def test_tool_choice_none_is_kept_to(server: LocalServer):
    with urllib.request.urlopen(post(server, {**ASK, "tool_choice": "none"}), timeout=60) as reply:
        (choice,) = json.load(reply)["choices"]
    assert "tool_calls" not in choice["message"]


def test_stream_ends_with_usage_and_done(server: LocalServer):
    body = {**ASK, "stream": True, "stream_options": {"include_usage": True}}
    with urllib.request.urlopen(post(server, body), timeout=60) as reply:
        lines = [line.decode().strip().removeprefix("data: ") for line in reply if line.strip()]
    chunks = [json.loads(line) for line in lines[:-1]]
    arguments = "".join(
        call["function"]["arguments"]
        for chunk in chunks
        for choice in chunk["choices"]
        for call in choice["delta"].get("tool_calls", ())
    )
    assert (lines[-1], arguments) == ("[DONE]", '{"city": "Lima"}')
    assert chunks[-1]["usage"]["completion_tokens"] > 0


@pytest.mark.parametrize("body", [b"{", {"messages": 3}, {}])
def test_request_that_cannot_be_read_is_refused(server: LocalServer, body: object):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(post(server, body), timeout=60)
    with caught.value as reply:
        assert (reply.code, "cannot be read" in json.load(reply)["error"]["message"]) == (400, True)


def test_request_that_is_too_long_is_refused(server: LocalServer):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(
            post(server, {**ASK, "messages": [{"role": "user", "content": "fox " * 9_000}]}), timeout=60
        )
    with caught.value as reply:
        assert (reply.code, "holds 4,096" in json.load(reply)["error"]["message"]) == (400, True)


def test_message_off_the_wire_is_read():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "2", "tool_call_id": "c1"},
    ]
    assert [read_message(message) for message in messages] == [
        ChatMessage(role="user", content="Hi"),
        ChatMessage(role="assistant", tool_calls=(ToolCall(id="c1", name="f", arguments={"a": 1}),)),
        ChatMessage(role="tool", content="2", tool_call_id="c1"),
    ]


def test_examples_are_read_out_of_a_description():
    text = 'Adds.\n\nExamples:\n- 1 and 2 -> add(a=1, b=2)\n- 3 and 4 -> {"a": 3, "b": 4}\n- no example'
    tool = read_tool({"name": "add", "description": text})
    assert (tool.description, tool.examples) == (
        "Adds.",
        (
            ToolExample(task="1 and 2", arguments={"a": 1, "b": 2}),
            ToolExample(task="3 and 4", arguments={"a": 3, "b": 4}),
        ),
    )


# -- LiteLLM over real HTTP ----------------------------------------------------------------------


@pytest.fixture
def over_http(server: LocalServer) -> LiteLLMModel:
    return LiteLLMModel("openai/local", api_base=server.url, api_key="none")


ADD = ToolSchema(
    name="add",
    description="Add two numbers.",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
    examples=(ToolExample(task="What is 3 plus 4?", arguments={"a": 3, "b": 4}),),
)
FINAL = ToolSchema(
    name="final_answer",
    description="Give the answer.",
    parameters={"type": "object", "properties": {"answer": {}}, "required": ["answer"]},
)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def read(call: ToolCall) -> tuple[str, object]:
    arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
    return call.name, arguments


def test_litellm_gets_a_tool_call(over_http: LiteLLMModel):
    reply = over_http.generate([user("Add 7 and 1.5, please")], tools=[ADD, FINAL])
    assert [read(call) for call in reply.tool_calls] == [("add", {"a": 7, "b": 1.5})]
    assert reply.usage is not None
    assert (reply.usage.input_tokens or 0) > 0


def test_litellm_streams_a_tool_call(over_http: LiteLLMModel):
    builder = MessageBuilder()
    pieces = list(over_http.stream([user("Add 7 and 1.5, please")], tools=[ADD, FINAL]))
    for piece in pieces:
        builder.add(piece)
    reply = builder.build()
    fragments = [call for piece in pieces if isinstance(piece, MessageDelta) for call in piece.tool_calls]
    assert [read(call) for call in reply.tool_calls] == [("add", {"a": 7, "b": 1.5})]
    assert len(fragments) > 3
    assert reply.usage is not None
    assert (reply.usage.output_tokens or 0) > 0


def test_litellm_streams_a_text(over_http: LiteLLMModel):
    pieces = list(over_http.stream([user("What is the capital of France?")]))
    texts = [piece.text for piece in pieces if isinstance(piece, MessageDelta) and piece.text]
    assert "".join(texts) == snapshot("The capital of France is Paris.")
    assert len(texts) > 3


def test_litellm_sends_examples_and_results(server: LocalServer, over_http: LiteLLMModel):
    call = ToolCall(id="c1", name="add", arguments={"a": 7, "b": 1.5})
    messages = [
        user("Add 7 and 1.5, please"),
        ChatMessage(role="assistant", tool_calls=(call,)),
        ChatMessage(role="tool", content="8.5", tool_call_id="c1"),
    ]
    reply = over_http.generate(messages, tools=[ADD, FINAL])
    assert [read(call) for call in reply.tool_calls] == [("final_answer", {"answer": 8.5})]
    sent = server.requests[-1]
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool"]
    assert read_tool(sent["tools"][0]["function"]).examples == ADD.examples


def test_closing_a_litellm_stream_lets_the_engine_go(over_http: LiteLLMModel):
    pieces = over_http.stream([user("Tell a long story about a fox.")], max_tokens=2_000)
    next(iter(pieces))
    pieces.close()
    start = time.monotonic()
    over_http.generate([user("Say hello.")], max_tokens=1)
    assert time.monotonic() - start < 15


def test_agent_answers_over_litellm(over_http: LiteLLMModel):
    def add(a: float, b: float) -> float:
        """Add two numbers.

        Examples:
            What is 3 plus 4? -> add(a=3, b=4)
        """
        return a + b

    result = ToolCallingAgent(tools=[add], model=over_http).run("Add 7 and 1.5, please")
    assert (result.status, result.value) == ("answered", 8.5)
