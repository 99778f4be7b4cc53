"""The embedded model behind a real HTTP server: what a plain client sees, and what LiteLLM makes of it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from embedded.weights import need_weights
from inline_snapshot import snapshot
from models.local_server import LocalServer, read_message, read_tool

from agent_magic.core.messages import ChatMessage, ToolCall, ToolExample

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
    with urllib.request.urlopen(f"{server.url}/models") as reply:
        assert [model["id"] for model in json.load(reply)["data"]] == ["local"]


def test_completion_is_a_tool_call(server: LocalServer):
    with urllib.request.urlopen(post(server, ASK)) as reply:
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
    with urllib.request.urlopen(post(server, body)) as reply:
        (choice,) = json.load(reply)["choices"]
    assert choice == snapshot(
        {
            "index": 0,
            "message": {"role": "assistant", "content": "The capital of France is Paris"},
            "finish_reason": "stop",
        }
    )


def test_tool_choice_none_is_kept_to(server: LocalServer):
    with urllib.request.urlopen(post(server, {**ASK, "tool_choice": "none"})) as reply:
        (choice,) = json.load(reply)["choices"]
    assert "tool_calls" not in choice["message"]


def test_stream_ends_with_usage_and_done(server: LocalServer):
    body = {**ASK, "stream": True, "stream_options": {"include_usage": True}}
    with urllib.request.urlopen(post(server, body)) as reply:
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
        urllib.request.urlopen(post(server, body))
    with caught.value as reply:
        assert (reply.code, "cannot be read" in json.load(reply)["error"]["message"]) == (400, True)


def test_request_that_is_too_long_is_refused(server: LocalServer):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(
            post(server, {**ASK, "messages": [{"role": "user", "content": "fox " * 9_000}]})
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
