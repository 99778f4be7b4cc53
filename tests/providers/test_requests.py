"""What each provider is sent back of a run: calls, results, thinking, images, in its own form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from inline_snapshot import snapshot
from PIL import Image

from agent_magic import ToolCallingAgent
from tests.providers.anthropic_form import Anthropic
from tests.providers.bedrock_form import Bedrock
from tests.providers.dialect import Dialect
from tests.providers.gemini_form import Gemini
from tests.providers.ollama_form import Ollama
from tests.providers.openai_form import (
    MLX,
    VLLM,
    Azure,
    Compatible,
    Groq,
    HuggingFace,
    OpenAIForm,
    OpenRouter,
)
from tests.providers.said import Call, Said
from tests.providers.seen import model_at
from tests.providers.server import ProviderServer, Received, serving

_ID = re.compile(r"\b(?:call_)?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{8,12}\b")
REPLIES = (
    Said(
        text="I look first.",
        thinking="Adding is easy.",
        signature="c2lnbmVk",
        calls=(Call(id="call_a", name="add", arguments={"a": 1, "b": 2}, signature="c2lnbmVkIGNhbGw="),),
    ),
    Said(
        calls=(
            Call(id="call_b", name="add", arguments={"a": 3}, signature="YWdhaW4="),
            Call(id="call_c", name="draw"),
        )
    ),
    Said(calls=(Call(id="call_z", name="final_answer", arguments={"answer": 3}),)),
)
"""A call with a thought; two calls side by side, one of them wrong, one that gives an image; the answer."""


@pytest.fixture(scope="module")
def server() -> Iterator[ProviderServer]:
    with serving() as running:
        yield running


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


def draw() -> Image.Image:
    """Draw a dot."""
    return Image.new("RGB", (2, 2), "red")


def last_request(server: ProviderServer, dialect: Dialect, **options: Any) -> Received:
    """The third request of a run, with all that came before."""
    line = server.open_line([dialect.say(said) for said in REPLIES])
    model = model_at(server, line, dialect, images=True, **options)
    agent = ToolCallingAgent(model=model, tools=[add, draw])
    result = agent.run("How much are 1 and 2?")
    assert (result.status, result.value, len(line.received)) == ("answered", 3, 3)
    return line.received[2]


def shown(body: Any) -> Any:
    """A body without what is long or differs from run to run."""
    ids: dict[str, str] = {}
    text = _ID.sub(lambda found: ids.setdefault(found[0], f"id{len(ids) + 1}"), json.dumps(body))
    return _shorten(json.loads(text))


def _shorten(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shorten(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shorten(inner) for inner in value]
    if isinstance(value, str) and len(value) > 60:
        return re.sub(r"(?s)^(.{30}).*$", r"\1…", value)
    return value


def without_tools(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "tools"}


def test_history_in_openais_form(server: ProviderServer) -> None:
    received = last_request(server, OpenAIForm())
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == "Bearer test-key-0123456789"
    assert shown(without_tools(received.body)) == snapshot(
        {
            "model": "gpt-4.1",
            "messages": [
                {"role": "system", "content": "You are an agent inside a Pyth…"},
                {"role": "user", "content": "How much are 1 and 2?"},
                {
                    "role": "assistant",
                    "content": "I look first.",
                    "tool_calls": [
                        {
                            "id": "call_a",
                            "type": "function",
                            "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "call_a", "content": "3"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_b",
                            "type": "function",
                            "function": {"name": "add", "arguments": '{"a": 3}'},
                        },
                        {"id": "call_c", "type": "function", "function": {"name": "draw", "arguments": "{}"}},
                    ],
                },
                {"role": "tool", "tool_call_id": "call_b", "content": "add: argument 'b' is missing. …"},
                {"role": "tool", "tool_call_id": "call_c", "content": "The result is in the variable …"},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Image @draw_1, from draw (call_c):"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K…"}},
                    ],
                },
            ],
            "stop": ["Observation:", "Calling tools:"],
            "tool_choice": "auto",
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    )


@pytest.mark.parametrize(
    "dialect", [Compatible(), Azure(), HuggingFace(), Groq(), VLLM(), MLX()], ids=lambda one: one.name
)
def test_history_of_servers_that_speak_openais_form_is_the_same(
    server: ProviderServer, dialect: Dialect
) -> None:
    body, openais = last_request(server, dialect).body, last_request(server, OpenAIForm()).body
    assert body["messages"] == openais["messages"]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["add", "draw", "final_answer"]
    assert body["stream_options"] == {"include_usage": True}


def test_history_in_openrouters_form_has_the_details_of_reasoning(server: ProviderServer) -> None:
    received = last_request(server, OpenRouter())
    assert received.path == "/api/v1/chat/completions"
    assert shown(without_tools(received.body)) == snapshot(
        {
            "model": "anthropic/claude-sonnet-4.5",
            "messages": [
                {
                    "role": "system",
                    "content": [
                        {
                            "type": "text",
                            "text": "You are an agent inside a Pyth…",
                            "cache_control": {"type": "ephemeral"},
                        }
                    ],
                },
                {"role": "user", "content": "How much are 1 and 2?"},
                {
                    "role": "assistant",
                    "content": "I look first.",
                    "tool_calls": [
                        {
                            "id": "call_a",
                            "type": "function",
                            "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'},
                        }
                    ],
                    "reasoning_details": [
                        {
                            "type": "reasoning.text",
                            "text": "Adding is easy.",
                            "format": "anthropic-claude-v1",
                            "index": 0,
                            "signature": "c2lnbmVk",
                        }
                    ],
                },
                {
                    "role": "tool",
                    "tool_call_id": "call_a",
                    "content": [{"type": "text", "text": "3", "cache_control": {"type": "ephemeral"}}],
                },
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_b",
                            "type": "function",
                            "function": {"name": "add", "arguments": '{"a": 3}'},
                        },
                        {"id": "call_c", "type": "function", "function": {"name": "draw", "arguments": "{}"}},
                    ],
                },
                {"role": "tool", "tool_call_id": "call_b", "content": "add: argument 'b' is missing. …"},
                {"role": "tool", "tool_call_id": "call_c", "content": "The result is in the variable …"},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Image @draw_1, from draw (call_c):"},
                        {
                            "type": "image_url",
                            "image_url": {"url": "data:image/png;base64,iVBORw0K…"},
                            "cache_control": {"type": "ephemeral"},
                        },
                    ],
                },
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "stop": ["Observation:", "Calling tools:"],
            "tool_choice": "auto",
            "usage": {"include": True},
        }
    )


def test_history_in_anthropics_form(server: ProviderServer) -> None:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    received = last_request(server, Anthropic(), thinking=thinking, max_tokens=2048)
    assert (received.path, received.headers["x-api-key"]) == ("/v1/messages", "test-key-0123456789")
    assert shown(received.body) == snapshot(
        {
            "model": "claude-sonnet-4-5",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "How much are 1 and 2?"}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Adding is easy.", "signature": "c2lnbmVk"},
                        {"type": "text", "text": "I look first."},
                        {"type": "tool_use", "id": "call_a", "name": "add", "input": {"a": 1, "b": 2}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "call_a",
                            "content": "3",
                            "cache_control": {"type": "ephemeral"},
                        }
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "call_b", "name": "add", "input": {"a": 3}},
                        {"type": "tool_use", "id": "call_c", "name": "draw", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "call_b",
                            "content": "add: argument 'b' is missing. …",
                        },
                        {
                            "type": "tool_result",
                            "tool_use_id": "call_c",
                            "content": "The result is in the variable …",
                        },
                        {"type": "text", "text": "Image @draw_1, from draw (call_c):"},
                        {
                            "type": "image",
                            "source": {
                                "type": "base64",
                                "media_type": "image/png",
                                "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAA…",
                            },
                            "cache_control": {"type": "ephemeral"},
                        },
                    ],
                },
            ],
            "stop_sequences": ["Observation:", "Calling tools:"],
            "max_tokens": 2048,
            "tools": [
                {
                    "name": "add",
                    "input_schema": {
                        "type": "object",
                        "properties": {
                            "a": {"type": "integer", "description": "The first."},
                            "b": {"type": "integer", "description": "The second."},
                        },
                        "required": ["a", "b"],
                        "additionalProperties": False,
                    },
                    "type": "custom",
                    "description": "Add two numbers.",
                },
                {
                    "name": "draw",
                    "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
                    "type": "custom",
                    "description": "Draw a dot.",
                },
                {
                    "name": "final_answer",
                    "input_schema": {
                        "type": "object",
                        "properties": {"answer": {"description": "The answer itself: text, a num…"}},
                        "required": ["answer"],
                        "additionalProperties": False,
                    },
                    "type": "custom",
                    "description": "Give the answer to the task and end. Call it once, alone.",
                    "cache_control": {"type": "ephemeral"},
                },
            ],
            "tool_choice": {"type": "auto"},
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "system": [
                {
                    "type": "text",
                    "text": "You are an agent inside a Pyth…",
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            "stream": True,
        }
    )


def test_history_in_bedrocks_form(server: ProviderServer) -> None:
    received = last_request(server, Bedrock())
    assert received.path.endswith("/converse-stream")
    assert shown(received.body) == snapshot(
        {
            "messages": [
                {"role": "user", "content": [{"text": "How much are 1 and 2?"}]},
                {
                    "role": "assistant",
                    "content": [
                        {
                            "reasoningContent": {
                                "reasoningText": {"text": "Adding is easy.", "signature": "c2lnbmVk"}
                            }
                        },
                        {"text": "I look first."},
                        {"toolUse": {"input": {"a": 1, "b": 2}, "name": "add", "toolUseId": "call_a"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"toolResult": {"content": [{"text": "3"}], "toolUseId": "call_a"}},
                        {"cachePoint": {"type": "default"}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"toolUse": {"input": {"a": 3}, "name": "add", "toolUseId": "call_b"}},
                        {"toolUse": {"input": {}, "name": "draw", "toolUseId": "call_c"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "toolResult": {
                                "content": [{"text": "add: argument 'b' is missing. …"}],
                                "toolUseId": "call_b",
                            }
                        },
                        {
                            "toolResult": {
                                "content": [{"text": "The result is in the variable …"}],
                                "toolUseId": "call_c",
                            }
                        },
                        {"text": "Image @draw_1, from draw (call_c):"},
                        {"image": {"source": {"bytes": "iVBORw0KGgoAAAANSUhEUgAAAAIAAA…"}, "format": "png"}},
                        {"cachePoint": {"type": "default"}},
                    ],
                },
            ],
            "inferenceConfig": {"stopSequences": ["Observation:", "Calling tools:"]},
            "system": [{"text": "You are an agent inside a Pyth…"}, {"cachePoint": {"type": "default"}}],
            "toolConfig": {
                "tools": [
                    {
                        "toolSpec": {
                            "inputSchema": {
                                "json": {
                                    "type": "object",
                                    "properties": {
                                        "a": {"type": "integer", "description": "The first."},
                                        "b": {"type": "integer", "description": "The second."},
                                    },
                                    "required": ["a", "b"],
                                    "additionalProperties": False,
                                }
                            },
                            "name": "add",
                            "description": "Add two numbers.",
                        }
                    },
                    {
                        "toolSpec": {
                            "inputSchema": {
                                "json": {
                                    "type": "object",
                                    "properties": {},
                                    "required": [],
                                    "additionalProperties": False,
                                }
                            },
                            "name": "draw",
                            "description": "Draw a dot.",
                        }
                    },
                    {
                        "toolSpec": {
                            "inputSchema": {
                                "json": {
                                    "type": "object",
                                    "properties": {
                                        "answer": {"description": "The answer itself: text, a num…"}
                                    },
                                    "required": ["answer"],
                                    "additionalProperties": False,
                                }
                            },
                            "name": "final_answer",
                            "description": "Give the answer to the task and end. Call it once, alone.",
                        }
                    },
                    {"cachePoint": {"type": "default"}},
                ],
                "toolChoice": {"auto": {}},
            },
        }
    )


def test_history_in_geminis_form(server: ProviderServer) -> None:
    received = last_request(server, Gemini())
    assert received.headers["x-goog-api-key"] == "test-key-0123456789"
    assert shown(received.body) == snapshot(
        {
            "contents": [
                {"role": "user", "parts": [{"text": "How much are 1 and 2?"}]},
                {
                    "role": "model",
                    "parts": [
                        {"text": "I look first."},
                        {
                            "function_call": {"name": "add", "args": {"a": 1, "b": 2}, "id": "id1"},
                            "thoughtSignature": "c2lnbmVkIGNhbGw=",
                        },
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {"function_response": {"name": "add", "response": {"content": "3"}, "id": "id1"}}
                    ],
                },
                {
                    "role": "model",
                    "parts": [
                        {
                            "function_call": {"name": "add", "args": {"a": 3}, "id": "id2"},
                            "thoughtSignature": "YWdhaW4=",
                        },
                        {"function_call": {"name": "draw", "args": {}, "id": "id3"}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {
                            "function_response": {
                                "name": "add",
                                "response": {"content": "add: argument 'b' is missing. …"},
                                "id": "id2",
                            }
                        },
                        {
                            "function_response": {
                                "name": "draw",
                                "response": {"content": "The result is in the variable …"},
                                "id": "id3",
                            }
                        },
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {"text": "Image @draw_1, from draw (id3):"},
                        {
                            "inline_data": {
                                "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAA…",
                                "mime_type": "image/png",
                            }
                        },
                    ],
                },
            ],
            "system_instruction": {"parts": [{"text": "You are an agent inside a Pyth…"}]},
            "tools": [
                {
                    "function_declarations": [
                        {
                            "name": "add",
                            "description": "Add two numbers.",
                            "parameters": {
                                "type": "object",
                                "properties": {
                                    "a": {"type": "integer", "description": "The first."},
                                    "b": {"type": "integer", "description": "The second."},
                                },
                                "required": ["a", "b"],
                            },
                        },
                        {"name": "draw", "description": "Draw a dot.", "parameters": {"type": "object"}},
                        {
                            "name": "final_answer",
                            "description": "Give the answer to the task and end. Call it once, alone.",
                            "parameters": {
                                "type": "object",
                                "properties": {
                                    "answer": {
                                        "anyOf": [
                                            {
                                                "type": "string",
                                                "description": "The answer itself: text, a num…",
                                            },
                                            {"type": "number"},
                                            {"type": "boolean"},
                                            {"type": "object"},
                                            {
                                                "type": "array",
                                                "items": {
                                                    "anyOf": [
                                                        {"type": "string"},
                                                        {"type": "number"},
                                                        {"type": "boolean"},
                                                        {"type": "object"},
                                                    ]
                                                },
                                            },
                                        ]
                                    }
                                },
                                "required": ["answer"],
                            },
                        },
                    ]
                }
            ],
            "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
            "generationConfig": {"stop_sequences": ["Observation:", "Calling tools:"]},
        }
    )


def test_history_in_ollamas_form(server: ProviderServer) -> None:
    received = last_request(server, Ollama())
    assert received.path == "/api/chat"
    assert shown(received.body) == snapshot(
        {
            "model": "tiny",
            "messages": [
                {"role": "system", "content": "You are an agent inside a Pyth…", "images": []},
                {"role": "user", "content": "How much are 1 and 2?", "images": []},
                {
                    "role": "assistant",
                    "content": "I look first.",
                    "images": [],
                    "tool_calls": [{"id": "id1", "function": {"name": "add", "arguments": {"a": 1, "b": 2}}}],
                },
                {"role": "tool", "content": "3", "images": [], "tool_call_id": "id1"},
                {
                    "role": "assistant",
                    "content": "",
                    "images": [],
                    "tool_calls": [
                        {"id": "id2", "function": {"name": "add", "arguments": {"a": 3}}},
                        {"id": "call_1", "function": {"name": "draw", "arguments": {}}},
                    ],
                },
                {
                    "role": "tool",
                    "content": "add: argument 'b' is missing. …",
                    "images": [],
                    "tool_call_id": "id2",
                },
                {
                    "role": "tool",
                    "content": "The result is in the variable …",
                    "images": [],
                    "tool_call_id": "call_1",
                },
                {
                    "role": "user",
                    "content": "Image @draw_1, from draw (call_1):",
                    "images": ["iVBORw0KGgoAAAANSUhEUgAAAAIAAA…"],
                },
            ],
            "options": {"stop": ["Observation:", "Calling tools:"]},
            "stream": True,
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "add",
                        "description": "Add two numbers.",
                        "parameters": {
                            "type": "object",
                            "properties": {
                                "a": {"type": "integer", "description": "The first."},
                                "b": {"type": "integer", "description": "The second."},
                            },
                            "required": ["a", "b"],
                            "additionalProperties": False,
                        },
                    },
                },
                {
                    "type": "function",
                    "function": {
                        "name": "draw",
                        "description": "Draw a dot.",
                        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
                    },
                },
                {
                    "type": "function",
                    "function": {
                        "name": "final_answer",
                        "description": "Give the answer to the task and end. Call it once, alone.",
                        "parameters": {
                            "type": "object",
                            "properties": {"answer": {"description": "The answer itself: text, a num…"}},
                            "required": ["answer"],
                            "additionalProperties": False,
                        },
                    },
                },
            ],
        }
    )


def test_what_one_provider_signed_is_not_sent_to_another(server: ProviderServer) -> None:
    first = server.open_line([Anthropic().say(said) for said in REPLIES])
    agent = ToolCallingAgent(model=model_at(server, first, Anthropic()), tools=[add, draw])
    agent.run("How much are 1 and 2?")
    second = server.open_line([OpenRouter().say(REPLIES[-1])])
    agent.model = model_at(server, second, OpenRouter())
    assert agent.run("And once more?", reset=False).value == 3
    text = json.dumps(second.received[0].body)
    assert "I look first." in text
    assert "c2lnbmVk" not in text
    assert "Adding is easy." not in text


@pytest.mark.parametrize("dialect", [Anthropic(), Gemini(), OpenRouter()], ids=lambda one: one.name)
def test_signed_thinking_outlives_a_memory_that_is_saved(server: ProviderServer, dialect: Dialect) -> None:
    line = server.open_line([dialect.say(said) for said in (*REPLIES, REPLIES[-1])])
    model = model_at(server, line, dialect)
    agent = ToolCallingAgent(model=model, tools=[add, draw])
    agent.run("How much are 1 and 2?")
    again = ToolCallingAgent(model=model, tools=[add, draw])
    again.memory = type(agent.memory).from_dict(json.loads(json.dumps(agent.memory.to_dict())))
    again.run("And once more?", reset=False)
    assert "c2lnbmVk" in json.dumps(line.received[3].body)
