"""What goes over the wire for the provider's cache, and what comes back of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.messages import ChatMessage, ToolCall, ToolSchema
from agent_magic.models.litellm import LiteLLMModel
from tests.models.openai_server import OpenAIServer, Turn, fault, reply, serve

ADD, SUB = (
    ToolSchema(name=name, description=f"{name}.", parameters={"type": "object", "properties": {}})
    for name in ("add", "sub")
)
ASK = [ChatMessage(role="system", content="You add."), ChatMessage(role="user", content="1 and 2?")]
CALLS = tuple(ToolCall(id=f"c{n}", name="add", arguments={}) for n in (1, 2))
STEP = [
    ChatMessage(role="assistant", content="I add.", tool_calls=CALLS),
    ChatMessage(role="tool", content="3", tool_call_id="c1"),
    ChatMessage(role="tool", content="4", tool_call_id="c2"),
]
ANTHROPIC = "anthropic/claude-sonnet-4-5"
BEDROCK = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "bedrock/us.amazon.nova-pro-v1:0"
OPENROUTER = "openrouter/anthropic/claude-sonnet-4.5"


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def model_at(server: OpenAIServer, model_id: str, *turns: Turn, **options: Any) -> LiteLLMModel:
    server.play(*turns or (reply_in(model_id),))
    address = server.api_base if "open" in model_id else server.api_base.removesuffix("/v1")
    if model_id.startswith("bedrock"):
        options |= {
            "aws_bedrock_runtime_endpoint": address,
            "aws_region_name": "us-east-1",
            "aws_access_key_id": "test",
            "aws_secret_access_key": "test",
        }
        return LiteLLMModel(model_id, **options)
    return LiteLLMModel(model_id, api_base=address, api_key="test-key-0123456789", **options)


def reply_in(model_id: str, usage: Any = None) -> Turn:
    """A whole reply in the form of a provider."""
    if model_id.startswith("anthropic"):
        usage = usage or {"input_tokens": 10, "output_tokens": 1}
        return Turn(
            body={
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "tiny",
                "content": [{"type": "text", "text": "3"}],
                "stop_reason": "end_turn",
                "usage": usage,
            }
        )
    if model_id.startswith("bedrock"):
        usage = usage or {"inputTokens": 10, "outputTokens": 1, "totalTokens": 11}
        message = {"role": "assistant", "content": [{"text": "3"}]}
        return Turn(
            body={
                "output": {"message": message},
                "stopReason": "end_turn",
                "metrics": {"latencyMs": 1},
                "usage": usage,
            }
        )
    if model_id.startswith("gemini"):
        content = {"role": "model", "parts": [{"text": "3"}]}
        candidate = {"index": 0, "content": content, "finishReason": "STOP"}
        return Turn(body={"candidates": [candidate], "usageMetadata": usage, "modelVersion": "tiny"})
    return reply("3", usage=usage)


def sent(server: OpenAIServer) -> Any:
    return server.received[-1].body


def without_markers(body: Any) -> Any:
    if isinstance(body, dict):
        return {name: without_markers(item) for name, item in body.items() if name != "cache_control"}
    if isinstance(body, list):
        return [
            without_markers(item) for item in body if not (isinstance(item, dict) and "cachePoint" in item)
        ]
    return body


def marked_places(body: Any, path: str = "") -> list[str]:
    """Where the marks stand."""
    if isinstance(body, dict):
        here = [path] if "cache_control" in body or "cachePoint" in body else []
        return here + [
            place for name, item in body.items() for place in marked_places(item, f"{path}.{name}")
        ]
    if isinstance(body, list):
        return [place for n, item in enumerate(body) for place in marked_places(item, f"{path}[{n}]")]
    return []


# -- where they stand --------------------------------------------------------------------------


def test_anthropic_gets_marks_after_tools_system_and_last_messages(server: OpenAIServer) -> None:
    model_at(server, ANTHROPIC).generate([*ASK, *STEP], tools=[ADD, SUB])
    body = sent(server)
    assert {name: body[name] for name in ("system", "messages", "tools")} == snapshot(
        {
            "system": [{"type": "text", "text": "You add.", "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "1 and 2?", "cache_control": {"type": "ephemeral"}}],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I add."},
                        {"type": "tool_use", "id": "c1", "name": "add", "input": {}},
                        {"type": "tool_use", "id": "c2", "name": "add", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": "3"},
                        {
                            "type": "tool_result",
                            "tool_use_id": "c2",
                            "content": "4",
                            "cache_control": {"type": "ephemeral"},
                        },
                    ],
                },
            ],
            "tools": [
                {
                    "name": "add",
                    "input_schema": {"type": "object", "properties": {}},
                    "type": "custom",
                    "description": "add.",
                },
                {
                    "name": "sub",
                    "input_schema": {"type": "object", "properties": {}},
                    "type": "custom",
                    "description": "sub.",
                    "cache_control": {"type": "ephemeral"},
                },
            ],
        }
    )


def test_bedrock_gets_its_cache_points(server: OpenAIServer) -> None:
    model_at(server, BEDROCK).generate([*ASK, *STEP], tools=[ADD, SUB])
    body = sent(server)
    assert {name: body[name] for name in ("system", "messages", "toolConfig")} == snapshot(
        {
            "system": [{"text": "You add."}, {"cachePoint": {"type": "default"}}],
            "messages": [
                {"role": "user", "content": [{"text": "1 and 2?"}, {"cachePoint": {"type": "default"}}]},
                {
                    "role": "assistant",
                    "content": [
                        {"text": "I add."},
                        {"toolUse": {"input": {}, "name": "add", "toolUseId": "c1"}},
                        {"toolUse": {"input": {}, "name": "add", "toolUseId": "c2"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"toolResult": {"content": [{"text": "3"}], "toolUseId": "c1"}},
                        {"toolResult": {"content": [{"text": "4"}], "toolUseId": "c2"}},
                        {"cachePoint": {"type": "default"}},
                    ],
                },
            ],
            "toolConfig": {
                "tools": [
                    {
                        "toolSpec": {
                            "inputSchema": {"json": {"type": "object", "properties": {}, "required": []}},
                            "name": "add",
                            "description": "add.",
                        }
                    },
                    {
                        "toolSpec": {
                            "inputSchema": {"json": {"type": "object", "properties": {}, "required": []}},
                            "name": "sub",
                            "description": "sub.",
                        }
                    },
                    {"cachePoint": {"type": "default"}},
                ],
                "toolChoice": {"auto": {}},
            },
        }
    )


def test_amazons_own_models_get_none_among_the_tools(server: OpenAIServer) -> None:
    model_at(server, NOVA).generate([*ASK, *STEP], tools=[ADD, SUB])
    assert marked_places(sent(server)) == snapshot(
        [".messages[0].content[1]", ".messages[2].content[2]", ".system[1]"]
    )


def test_openrouter_gets_them_for_anthropics_models_alone(server: OpenAIServer) -> None:
    model_at(server, OPENROUTER).generate([*ASK, *STEP], tools=[ADD, SUB])
    assert marked_places(sent(server)) == snapshot(
        [".messages[0].content[0]", ".messages[1].content[0]", ".messages[4].content[0]", ".tools[1]"]
    )
    model_at(server, "openrouter/openai/gpt-4o").generate([*ASK, *STEP], tools=[ADD, SUB])
    assert marked_places(sent(server)) == []


@pytest.mark.parametrize("model_id", ["openai/gpt-4.1", "openai/tiny", "gemini/gemini-2.5-flash"])
def test_a_provider_that_keeps_things_unasked_gets_none(server: OpenAIServer, model_id: str) -> None:
    model_at(server, model_id, reply_in(model_id, {"promptTokenCount": 1, "totalTokenCount": 2})).generate(
        [*ASK, *STEP], tools=[ADD]
    )
    assert marked_places(sent(server)) == []


@pytest.mark.parametrize("kind", ["plan", "final"])
def test_what_no_request_goes_on_from_gets_none(server: OpenAIServer, kind: Any) -> None:
    model_at(server, ANTHROPIC).generate(ASK, kind=kind)
    assert marked_places(sent(server)) == []


# -- what stays --------------------------------------------------------------------------------


@pytest.mark.parametrize("model_id", [ANTHROPIC, BEDROCK])
def test_without_its_marks_a_request_is_the_same(server: OpenAIServer, model_id: str) -> None:
    model_at(server, model_id).generate([*ASK, *STEP], tools=[ADD, SUB])
    marked = sent(server)
    model_at(server, model_id, cache_markers=False).generate([*ASK, *STEP], tools=[ADD, SUB])
    plain = sent(server)
    assert marked_places(plain) == []
    assert json.dumps(without_markers(marked)) == json.dumps(plain)


@pytest.mark.parametrize("model_id", [ANTHROPIC, BEDROCK])
def test_each_request_of_a_run_begins_with_the_one_before(server: OpenAIServer, model_id: str) -> None:
    model = model_at(server, model_id)
    more = [
        ChatMessage(role="assistant", tool_calls=(ToolCall(id="c3", name="sub", arguments={}),)),
        ChatMessage(role="tool", content="0", tool_call_id="c3"),
    ]
    for history in (ASK, [*ASK, *STEP], [*ASK, *STEP, *more]):
        model.generate(history, tools=[ADD, SUB])
    bodies = [without_markers(received.body) for received in server.received]
    for before, after in itertools.pairwise(bodies):
        n = len(before["messages"])
        assert json.dumps(after["messages"][:n]) == json.dumps(before["messages"])
        for name in ("system", "tools", "toolConfig"):
            assert json.dumps(after.get(name)) == json.dumps(before.get(name))
    # The end of each request is marked in the next one too, so what was kept is found again.
    ends = [marked_places(received.body["messages"])[-1] for received in server.received]
    assert [
        end in marked_places(received.body["messages"])
        for end, received in zip(ends, server.received[1:], strict=False)
    ] == [True, True]


def test_what_the_lens_shows_has_no_marks(server: OpenAIServer) -> None:
    wire = model_at(server, ANTHROPIC).to_wire([*ASK, *STEP], [ADD])
    assert marked_places([wire.messages, wire.tools]) == []


def test_the_persons_own_marks_go_before_ours(server: OpenAIServer) -> None:
    points = [{"location": "message", "role": "system"}]
    model_at(server, ANTHROPIC, cache_control_injection_points=points).generate(ASK, tools=[ADD])
    assert marked_places(sent(server)) == snapshot([".system[0]"])


SILENT_STEP = [
    ChatMessage(role="assistant", tool_calls=CALLS[:1]),
    ChatMessage(role="tool", content="3", tool_call_id="c1"),
]
"""A call without a word beside it, for which some servers want a null content."""


def test_the_persons_own_marks_reach_a_history_of_calls_without_text(server: OpenAIServer) -> None:
    points = [{"location": "message", "role": "system"}]
    model = model_at(server, OPENROUTER, cache_control_injection_points=points)
    model.generate([*ASK, *SILENT_STEP], tools=[ADD])
    assert marked_places(sent(server)) == snapshot([".messages[0].content[0]"])


@pytest.mark.parametrize("options", [{}, {"reasoning_effort": "low"}, {"cache_markers": False}], ids=str)
def test_calls_without_text_have_a_null_content_beside_marks(
    server: OpenAIServer, options: dict[str, Any]
) -> None:
    model_at(server, OPENROUTER, **options).generate([*ASK, *SILENT_STEP], tools=[ADD])
    silent = sent(server)["messages"][2]
    assert (silent["role"], "content" in silent, silent.get("content")) == ("assistant", True, None)
    assert ("cache_control" in json.dumps(sent(server)["messages"])) is options.get("cache_markers", True)


def test_a_provider_that_refuses_them_is_asked_without_from_then_on(server: OpenAIServer) -> None:
    refusal = fault(400, "cache_control: Extra inputs are not permitted")
    model = model_at(server, ANTHROPIC, refusal, reply_in(ANTHROPIC))
    assert model.generate(ASK, tools=[ADD]).content == "3"
    model.generate(ASK, tools=[ADD])
    assert [bool(marked_places(received.body)) for received in server.received] == [True, False, False]


def test_a_run_is_marked_by_itself(server: OpenAIServer) -> None:
    def call(name: str, arguments: dict[str, Any]) -> Turn:
        turn = reply_in(ANTHROPIC)
        turn.body["content"] = [{"type": "tool_use", "id": f"id_{name}", "name": name, "input": arguments}]
        turn.body["stop_reason"] = "tool_use"
        return turn

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    model = model_at(
        server,
        ANTHROPIC,
        call("add", {"a": 1, "b": 2}),
        call("final_answer", {"answer": 3}),
        stream=False,
    )
    assert ToolCallingAgent(tools=[add], model=model).run("1 and 2?").value == 3
    assert [marked_places(received.body) for received in server.received] == snapshot(
        [
            [".messages[0].content[0]", ".tools[1]", ".system[0]"],
            [".messages[0].content[0]", ".messages[2].content[0]", ".tools[1]", ".system[0]"],
        ]
    )


# -- what comes back ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model_id", "usage", "told"),
    [
        (
            ANTHROPIC,
            {
                "input_tokens": 50,
                "cache_read_input_tokens": 900,
                "cache_creation_input_tokens": 50,
                "output_tokens": 4,
            },
            (1_000, 4, 900),
        ),
        (
            BEDROCK,
            {
                "inputTokens": 50,
                "cacheReadInputTokens": 900,
                "cacheWriteInputTokens": 50,
                "outputTokens": 4,
                "totalTokens": 1_004,
            },
            (1_000, 4, 900),
        ),
        (
            "openai/gpt-4.1",
            {
                "prompt_tokens": 1_000,
                "completion_tokens": 4,
                "total_tokens": 1_004,
                "prompt_tokens_details": {"cached_tokens": 900},
            },
            (1_000, 4, 900),
        ),
        (
            "deepseek/deepseek-chat",
            {
                "prompt_tokens": 1_000,
                "completion_tokens": 4,
                "total_tokens": 1_004,
                "prompt_cache_hit_tokens": 900,
                "prompt_cache_miss_tokens": 100,
            },
            (1_000, 4, 900),
        ),
        (
            "moonshot/kimi-k2",
            {"prompt_tokens": 1_000, "completion_tokens": 4, "total_tokens": 1_004, "cached_tokens": 900},
            (1_000, 4, 900),
        ),
        (
            "gemini/gemini-2.5-flash",
            {
                "promptTokenCount": 1_000,
                "candidatesTokenCount": 4,
                "totalTokenCount": 1_004,
                "cachedContentTokenCount": 900,
            },
            (1_000, 4, 900),
        ),
        (
            "openai/served-by-vllm",
            {
                "prompt_tokens": 1_000,
                "completion_tokens": 4,
                "total_tokens": 1_004,
                "prompt_tokens_details": None,
            },
            (1_000, 4, None),
        ),
    ],
)
def test_cached_tokens_are_counted_whatever_the_form(
    server: OpenAIServer, model_id: str, usage: Any, told: tuple[int, int, int | None]
) -> None:
    found = model_at(server, model_id, reply_in(model_id, usage)).generate(ASK).usage
    assert found is not None
    assert (found.input_tokens, found.output_tokens, found.cached_tokens) == told
