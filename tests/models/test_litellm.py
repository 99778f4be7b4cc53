"""Any provider, over real HTTP against a server that plays replies and faults."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from inline_snapshot import snapshot
from threads import join

from agent_magic.core.errors import OptionError
from agent_magic.core.messages import ChatMessage, MessageDelta, TokenUsage, ToolCall, ToolSchema
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.parsing import read_arguments
from agent_magic.models.retry import Failure
from tests.models.openai_server import OpenAIServer, Turn, call_delta, delta, fault, reply, serve, usage_chunk

ASK = [ChatMessage(role="system", content="You add."), ChatMessage(role="user", content="1 and 2?")]
ADD = ToolSchema(
    name="add",
    description="Add.",
    parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)
KEY = "my-own-key-0123456789"
REFUSED = Turn(chunks=[delta(content="Yes"), delta("stop")])


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def model_at(
    server: OpenAIServer, *turns: Turn, model_id: str = "openai/tiny", **options: Any
) -> LiteLLMModel:
    server.play(*turns)
    return LiteLLMModel(model_id, **{"api_base": server.api_base, "api_key": KEY, "timeout_s": 10, **options})


USAGE = {
    "input_tokens": 100,
    "cache_read_input_tokens": 900,
    "cache_creation_input_tokens": 50,
    "output_tokens": 40,
}
ANTHROPIC: dict[str, Any] = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "tiny",
    "content": [{"type": "text", "text": "Yes"}],
    "stop_reason": "end_turn",
    "usage": USAGE,
}
"""A whole reply in Anthropic's form."""
ANTHROPIC_STREAM: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {**ANTHROPIC, "content": [], "usage": {**USAGE, "output_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 40}},
    {"type": "message_stop"},
]


def anthropic_at(server: OpenAIServer, *turns: Turn) -> LiteLLMModel:
    address = server.api_base.removesuffix("/v1")
    return model_at(server, *turns, model_id="anthropic/claude-sonnet-4-5", api_base=address)


def streamed(model: LiteLLMModel, **asked: Any) -> ChatMessage:
    builder = MessageBuilder()
    for piece in model.stream(ASK, **asked):
        builder.add(piece)
    return builder.build()


def calls_of(message: ChatMessage) -> list[tuple[str, str, object]]:
    return [(call.id, call.name, read_arguments(call.arguments)) for call in message.tool_calls]


def failure_of(model: LiteLLMModel, *, is_stream: bool = True) -> Failure:
    with pytest.raises(Exception) as caught:
        streamed(model) if is_stream else model.generate(ASK)
    assert isinstance(caught.value, Exception)
    return model.diagnose(caught.value)


# -- what is sent ------------------------------------------------------------------------------


def test_the_request_of_a_stream(server: OpenAIServer) -> None:
    model = model_at(server, REFUSED, temperature=0.5, max_tokens=9)
    streamed(model, tools=[ADD], stop=("Observation:",), temperature=0.25)
    [received] = server.received
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == snapshot(
        {
            "model": "tiny",
            "messages": [{"role": "system", "content": "You add."}, {"role": "user", "content": "1 and 2?"}],
            "temperature": 0.25,
            "stop": ["Observation:"],
            "max_tokens": 9,
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "add",
                        "description": "Add.",
                        "parameters": {
                            "type": "object",
                            "properties": {"a": {"type": "integer"}},
                            "required": ["a"],
                        },
                    },
                }
            ],
            "tool_choice": "auto",
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    )


def test_the_request_of_a_whole_reply_has_no_stream_and_no_tools(server: OpenAIServer) -> None:
    model_at(server, reply("Yes")).generate(ASK)
    assert server.received[0].body == snapshot(
        {
            "model": "tiny",
            "messages": [{"role": "system", "content": "You add."}, {"role": "user", "content": "1 and 2?"}],
        }
    )


def test_history_goes_with_calls_and_results(server: OpenAIServer) -> None:
    model = model_at(server, reply("3"))
    calls = (
        ToolCall(id="c1", name="add", arguments={"a": 1}),
        ToolCall(id="c2", name="add", arguments="{'a': 2}"),
    )
    model.generate(
        [
            *ASK,
            ChatMessage(role="assistant", tool_calls=calls),
            ChatMessage(role="tool", content="3", tool_call_id="c1"),
            ChatMessage(role="tool", content="4", tool_call_id="c2"),
        ],
        tools=[ADD],
    )
    assert server.received[0].body["messages"][2:] == snapshot(
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}},
                    {"id": "c2", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "3"},
            {"role": "tool", "tool_call_id": "c2", "content": "4"},
        ]
    )


def test_a_null_content_is_sent_beside_the_persons_own_extra_body(server: OpenAIServer) -> None:
    model = model_at(server, reply("3"), extra_body={"top_k": 5})
    calls = (ToolCall(id="c1", name="add", arguments={"a": 1}),)
    model.generate([*ASK, ChatMessage(role="assistant", tool_calls=calls)])
    body = server.received[0].body
    assert body["top_k"] == 5
    assert [message["content"] for message in body["messages"]] == ["You add.", "1 and 2?", None]


def test_a_model_without_native_calls_is_sent_no_tools(server: OpenAIServer) -> None:
    model = model_at(server, reply("3"), native_tools=False)
    calls = (ToolCall(id="c1", name="add", arguments={"a": 1}),)
    history = [
        *ASK,
        ChatMessage(role="assistant", tool_calls=calls),
        ChatMessage(role="tool", content="3", tool_call_id="c1"),
    ]
    model.generate(history, tools=[ADD])
    body = server.received[0].body
    assert "tools" not in body
    assert body["messages"][2:] == [
        {"role": "assistant", "content": '{"name": "add", "arguments": {"a": 1}}'},
        {"role": "user", "content": "Observation:\n3"},
    ]


PLANNED = [
    *ASK,
    ChatMessage(role="assistant", content="1. Add."),
    ChatMessage(role="user", content="Now carry it out.", is_ours=True),
    ChatMessage(role="assistant", tool_calls=(ToolCall(id="c1", name="add", arguments={"a": 1}),)),
    ChatMessage(role="tool", content="3", tool_call_id="c1"),
    ChatMessage(role="user", content="Plan the rest.", is_ours=True),
]


@pytest.mark.parametrize("native_tools", [True, False])
@pytest.mark.parametrize("is_stream", [True, False])
def test_what_is_sent_is_what_to_wire_says(server: OpenAIServer, native_tools: bool, is_stream: bool) -> None:
    model = model_at(server, REFUSED if is_stream else reply("Yes"), native_tools=native_tools)
    wire = model.to_wire(PLANNED, [ADD], "act")
    list(model.stream(PLANNED, tools=[ADD])) if is_stream else model.generate(PLANNED, tools=[ADD])
    body = server.received[0].body
    assert (body["messages"], body.get("tools", [])) == (wire.messages, wire.tools)
    assert bool(wire.tools) is native_tools


def test_a_plan_is_asked_for_without_tools(server: OpenAIServer) -> None:
    model = model_at(server, reply("1. Say it."))
    assert model.generate(PLANNED, kind="plan").content == "1. Say it."
    assert "tools" not in server.received[0].body


def test_a_history_with_a_plan_takes_turns_in_text_form(server: OpenAIServer) -> None:
    model_at(server, reply("Yes"), native_tools=False).generate(PLANNED, kind="plan")
    assert [(one["role"], one["content"]) for one in server.received[0].body["messages"]] == snapshot(
        [
            ("system", "You add."),
            ("user", "1 and 2?"),
            ("assistant", "1. Add."),
            ("user", "Now carry it out."),
            ("assistant", '{"name": "add", "arguments": {"a": 1}}'),
            (
                "user",
                """\
Observation:
3

Plan the rest.\
""",
            ),
        ]
    )


def test_a_history_with_a_plan_goes_to_anthropic_in_turns(server: OpenAIServer) -> None:
    anthropic_at(server, Turn(body=ANTHROPIC)).generate(PLANNED, tools=[ADD])
    messages = server.received[0].body["messages"]
    assert [(one["role"], [part["type"] for part in one["content"]]) for one in messages] == snapshot(
        [
            ("user", ["text"]),
            ("assistant", ["text"]),
            ("user", ["text"]),
            ("assistant", ["tool_use"]),
            ("user", ["tool_result", "text"]),
        ]
    )


# -- what comes back ---------------------------------------------------------------------------


def test_a_whole_reply_with_calls(server: OpenAIServer) -> None:
    calls = [{"id": "x", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}]
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "total_tokens": 14,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    turn = reply("I add.", tool_calls=calls, usage=usage, finish_reason="tool_calls", reasoning_content="hm")
    assert model_at(server, turn).generate(ASK, tools=[ADD]) == ChatMessage(
        role="assistant",
        content="I add.",
        reasoning="hm",
        tool_calls=(ToolCall(id="x", name="add", arguments='{"a": 1}'),),
        usage=TokenUsage(input_tokens=10, output_tokens=4, cached_tokens=3, reasoning_tokens=2),
        finish_reason="tool_calls",
    )


@pytest.mark.parametrize("arguments", ["", " \n", None, {}, "absent"])
def test_a_call_without_arguments_in_every_spelling(server: OpenAIServer, arguments: Any) -> None:
    function = {"name": "version"} if arguments == "absent" else {"name": "version", "arguments": arguments}
    turn = reply(
        None, tool_calls=[{"id": "x", "type": "function", "function": function}], finish_reason="tool_calls"
    )
    assert calls_of(model_at(server, turn).generate(ASK)) == [("x", "version", {})]


@pytest.mark.parametrize("arguments", [{"a": 1, "b": 2}, '{"a": 1, "b": 2}', '"{\\"a\\": 1, \\"b\\": 2}"'])
def test_arguments_in_every_spelling(server: OpenAIServer, arguments: Any) -> None:
    function = {"name": "add", "arguments": arguments}
    turn = reply(
        None, tool_calls=[{"id": "x", "type": "function", "function": function}], finish_reason="tool_calls"
    )
    assert calls_of(model_at(server, turn).generate(ASK)) == [("x", "add", {"a": 1, "b": 2})]


def test_a_stream_comes_in_pieces_and_ends_with_the_whole(server: OpenAIServer) -> None:
    chunks = [
        {**delta(), "choices": []},
        delta(reasoning_content="hm"),
        delta(content="I "),
        delta(content="add."),
        call_delta(0, "x", "add", '{"a"'),
        call_delta(0, None, None, ": 1}"),
        delta("tool_calls"),
        usage_chunk(prompt_tokens=10, completion_tokens=4, total_tokens=14),
    ]
    *pieces, whole = model_at(server, Turn(chunks=chunks)).stream(ASK, tools=[ADD])
    assert all(isinstance(piece, MessageDelta) for piece in pieces)
    told = [
        (piece.text, piece.reasoning)
        for piece in pieces
        if isinstance(piece, MessageDelta) and not piece.tool_calls
    ]
    assert told == [("", "hm"), ("I ", ""), ("add.", "")]
    assert whole == ChatMessage(
        role="assistant",
        content="I add.",
        reasoning="hm",
        tool_calls=(ToolCall(id="x", name="add", arguments='{"a": 1}'),),
        usage=TokenUsage(input_tokens=10, output_tokens=4),
        finish_reason="tool_calls",
    )


@pytest.mark.parametrize(
    ("chunks", "calls"),
    [
        pytest.param(
            [call_delta(0, "a", "wiki", '{"q": "tin"}'), call_delta(0, "b", "wiki", '{"q": "zinc"}')],
            [("a", "wiki", {"q": "tin"}), ("b", "wiki", {"q": "zinc"})],
            id="two ids at one index",
        ),
        pytest.param(
            [call_delta(0, None, "wiki", '{"q": "tin"}'), call_delta(0, None, "wiki", '{"q": "zinc"}')],
            [("call_1", "wiki", {"q": "tin"}), ("call_2", "wiki", {"q": "zinc"})],
            id="no ids at one index",
        ),
        pytest.param(
            [call_delta(0, None, "wiki", '{"q": "tin"}'), call_delta(0, None, "date", "")],
            [("call_1", "wiki", {"q": "tin"}), ("call_2", "date", {})],
            id="no ids and no arguments",
        ),
        pytest.param(
            [
                call_delta(0, "x", "add", '{"a": 1'),
                call_delta(1, "y", "mul", '{"a": 2'),
                call_delta(0, None, None, ', "b": 3}'),
                call_delta(1, None, None, ', "b": 4}'),
                call_delta(1, "y", None, None),
            ],
            [("x", "add", {"a": 1, "b": 3}), ("y", "mul", {"a": 2, "b": 4})],
            id="interleaved",
        ),
    ],
)
def test_streamed_calls_are_joined_by_call(server: OpenAIServer, chunks: list[Any], calls: list[Any]) -> None:
    message = streamed(model_at(server, Turn(chunks=[*chunks, delta("tool_calls")])), tools=[ADD])
    assert calls_of(message) == calls


def test_running_usage_is_not_summed(server: OpenAIServer) -> None:
    chunks = [
        {
            **delta(content="x"),
            "usage": {"prompt_tokens": 900, "completion_tokens": n, "total_tokens": 900 + n},
        }
        for n in range(1, 51)
    ]
    message = streamed(model_at(server, Turn(chunks=[*chunks, delta("stop")])))
    assert message.content == "x" * 50
    assert message.usage == TokenUsage(input_tokens=900, output_tokens=50)


@pytest.mark.parametrize("is_stream", [True, False])
def test_usage_that_was_not_reported_is_unknown(server: OpenAIServer, is_stream: bool) -> None:
    model = model_at(
        server, Turn(chunks=[delta(content="Yes"), delta("stop")]) if is_stream else reply("Yes")
    )
    assert (streamed(model) if is_stream else model.generate(ASK)).usage is None


def test_the_cost_of_a_known_model_is_known(server: OpenAIServer) -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}
    message = model_at(server, reply("Yes", usage=usage), model_id="openai/gpt-4.1").generate(ASK)
    assert message.usage is not None
    assert message.usage.cost_usd == 2.0


@pytest.mark.parametrize("is_stream", [True, False])
def test_cached_and_reasoning_tokens_and_their_cost_in_openais_form(
    server: OpenAIServer, is_stream: bool
) -> None:
    usage = {
        "prompt_tokens": 1_000_000,
        "completion_tokens": 1_000,
        "total_tokens": 1_001_000,
        "prompt_tokens_details": {"cached_tokens": 800_000},
        "completion_tokens_details": {"reasoning_tokens": 600},
    }
    turn = (
        Turn(chunks=[delta(content="Yes"), delta("stop"), usage_chunk(**usage)])
        if is_stream
        else reply("Yes", usage=usage)
    )
    model = model_at(server, turn, model_id="openai/gpt-4.1")
    told = (streamed(model) if is_stream else model.generate(ASK)).usage
    assert told is not None
    assert told.to_dict() == {
        "input_tokens": 1_000_000,
        "output_tokens": 1_000,
        "cached_tokens": 800_000,
        "reasoning_tokens": 600,
        # USD 2 for a million, 0.50 from the cache, 8 for a million of output
        "cost_usd": pytest.approx(0.4 + 0.4 + 0.008),
    }


@pytest.mark.parametrize("is_stream", [True, False])
def test_cached_tokens_and_their_cost_in_anthropics_form(server: OpenAIServer, is_stream: bool) -> None:
    model = anthropic_at(server, Turn(chunks=ANTHROPIC_STREAM) if is_stream else Turn(body=ANTHROPIC))
    told = (streamed(model) if is_stream else model.generate(ASK)).usage
    assert told is not None
    # USD 3 for a million, 0.30 from the cache, 3.75 into it, 15 for output
    cost = (100 * 3 + 900 * 0.3 + 50 * 3.75 + 40 * 15) / 1e6
    assert (told.input_tokens, told.output_tokens, told.cached_tokens) == (1_050, 40, 900)
    assert told.cost_usd == pytest.approx(cost)


def test_thinking_in_the_text_is_reasoning(server: OpenAIServer) -> None:
    chunks = [*(delta(content=text) for text in ["<thi", "nk>h", "m</think", ">Yes"]), delta("stop")]
    *pieces, whole = model_at(server, Turn(chunks=chunks)).stream(ASK)
    assert [(piece.reasoning, piece.text) for piece in pieces if isinstance(piece, MessageDelta)] == [
        ("h", ""),
        ("m", ""),
        ("", "Yes"),
    ]
    assert isinstance(whole, ChatMessage)
    assert (whole.reasoning, whole.content) == ("hm", "Yes")


def test_a_reply_of_nothing_but_reasoning(server: OpenAIServer) -> None:
    message = model_at(server, reply(None, reasoning_content="hm")).generate(ASK)
    assert (message.content, message.reasoning, message.tool_calls) == (None, "hm", ())


@pytest.mark.parametrize("is_stream", [True, False])
def test_a_provider_that_ignores_stop_is_cut_here(server: OpenAIServer, is_stream: bool) -> None:
    texts = ["I look.\nObser", "vation: 3\nmore"]
    turn = (
        Turn(chunks=[*(delta(content=text) for text in texts), delta("stop")])
        if is_stream
        else reply("".join(texts))
    )
    model = model_at(server, turn)
    asked: dict[str, Any] = {"stop": ("Observation:",), "tools": [ADD]}
    message = streamed(model, **asked) if is_stream else model.generate(ASK, **asked)
    assert message.content == "I look.\n"


def test_calls_after_a_stop_text_are_kept(server: OpenAIServer) -> None:
    chunks = [delta(content="Observation: 99"), call_delta(0, "x", "add", '{"a": 1}'), delta("tool_calls")]
    message = streamed(model_at(server, Turn(chunks=chunks)), tools=[ADD], stop=("Observation:",))
    assert (message.content, calls_of(message)) == (None, [("x", "add", {"a": 1})])


@pytest.mark.parametrize("tools", [[], [ADD]])
def test_a_stream_of_text_alone_is_ended_at_the_stop(server: OpenAIServer, tools: list[ToolSchema]) -> None:
    chunks = [
        delta(content="Yes. Observation: "),
        *(delta(content="more ") for _ in range(400)),
        delta("stop"),
    ]
    model = model_at(server, Turn(chunks=chunks, pause_s=0.005), native_tools=False)
    begin = time.monotonic()
    assert streamed(model, tools=tools, stop=("Observation:",)).content == "Yes. "
    assert time.monotonic() - begin < 1.9  # all of it takes 2


@pytest.mark.parametrize("is_stream", [True, False])
def test_a_closing_tag_is_asked_of_the_provider_only(server: OpenAIServer, is_stream: bool) -> None:
    texts = ['<code>\nx = "</co', 'de>"\n', "</code>\nObser", "vation: 3\n<code>"]
    turn = (
        Turn(chunks=[*(delta(content=text) for text in texts), delta("stop")])
        if is_stream
        else reply("".join(texts))
    )
    model = model_at(server, turn)
    asked: dict[str, Any] = {"stop": ("</code>", "Observation:")}
    message = streamed(model, **asked) if is_stream else model.generate(ASK, **asked)
    assert message.content == '<code>\nx = "</code>"\n</code>\n'
    assert server.received[0].body["stop"] == ["</code>", "Observation:"]


def test_a_stream_is_not_ended_at_a_stop_inside_code(server: OpenAIServer) -> None:
    chunks = [
        delta(content='<code>\nx = """\nObservation: '),
        delta(content='3\n"""\n</code>'),
        delta("stop"),
    ]
    message = streamed(model_at(server, Turn(chunks=chunks)), stop=("</code>", "Observation:"))
    assert message.content == '<code>\nx = """\nObservation: 3\n"""\n</code>'


def test_closing_the_iterator_hangs_up(server: OpenAIServer) -> None:
    server.broken_pipe.clear()
    model = model_at(
        server, Turn(chunks=[*(delta(content="more ") for _ in range(400)), delta("stop")], pause_s=0.01)
    )
    pieces = model.stream(ASK)
    assert next(pieces) == MessageDelta(text="more ")
    pieces.close()
    assert server.broken_pipe.wait(5)


def test_one_model_is_asked_from_several_threads(server: OpenAIServer) -> None:
    model = model_at(
        server, Turn(chunks=[delta(content="Y"), delta(content="es"), delta("stop")], pause_s=0.01)
    )
    got: list[str | None] = []
    threads = [threading.Thread(target=lambda: got.append(streamed(model).content)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert got == ["Yes"] * 6


# -- providers that do not stream --------------------------------------------------------------


def streams_asked(server: OpenAIServer) -> list[bool]:
    """For each request, whether a stream was asked for."""
    return [received.body.get("stream", False) for received in server.received]


def test_a_model_that_is_told_not_to_stream_yields_the_whole_alone(server: OpenAIServer) -> None:
    calls = [{"id": "x", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}]
    turn = reply("I add.", tool_calls=calls, finish_reason="tool_calls")
    pieces = list(model_at(server, turn, stream=False).stream(ASK, tools=[ADD]))
    assert pieces == [
        ChatMessage(
            role="assistant",
            content="I add.",
            tool_calls=(ToolCall(id="x", name="add", arguments='{"a": 1}'),),
            finish_reason="tool_calls",
        )
    ]
    assert [set(received.body) & {"stream", "stream_options"} for received in server.received] == [set()]


@pytest.mark.parametrize("model_id", ["openai/tiny", "hosted_vllm/tiny", "mistral/tiny"])
def test_a_server_that_ignores_stream_is_asked_once_more_and_remembered(
    server: OpenAIServer, model_id: str
) -> None:
    model = model_at(server, reply("Yes"), model_id=model_id)
    assert [streamed(model).content for _ in range(2)] == ["Yes", "Yes"]
    assert streams_asked(server) == [True, False, False]


@pytest.mark.parametrize(
    "refusal",
    [
        fault(400, "Unsupported value: 'stream' does not support true with this model.", param="stream"),
        fault(400, "Your organization must be verified to stream this model."),
        fault(400, "Cannot use tools with stream"),
        fault(400, "tools are not supported in streaming mode"),
        fault(422, "stream: Input should be False"),
        fault(501, "streaming is not implemented"),
    ],
)
def test_a_server_that_refuses_to_stream_is_asked_once_more_and_remembered(
    server: OpenAIServer, refusal: Turn
) -> None:
    model = model_at(server, refusal, reply("Yes"))
    assert [streamed(model, tools=[ADD]).content for _ in range(2)] == ["Yes", "Yes"]
    assert streams_asked(server) == [True, False, False]
    assert all("tools" in received.body for received in server.received)


def test_a_refusal_that_only_mentions_streams_is_told_and_not_remembered(server: OpenAIServer) -> None:
    refusal = fault(400, "Invalid schema for function 'stream': no parameters")
    model = model_at(server, refusal, refusal, REFUSED)
    failure = failure_of(model)
    assert failure == snapshot(
        Failure(
            is_passing=False,
            message="openai/tiny refused the request (400). Look at the model options and the tools' schemas. It says: Invalid schema for function 'stream': no parameters",
        )
    )
    assert streamed(model).content == "Yes"
    assert streams_asked(server) == [True, False, True]


def test_an_error_in_place_of_a_stream_is_told(server: OpenAIServer) -> None:
    model = model_at(server, Turn(body={"error": {"message": "loading"}}), fault(503, "loading"))
    assert failure_of(model).message == snapshot("openai/tiny: its server failed (503). It says: loading")


def test_a_stream_of_nothing_is_a_broken_reply_and_not_asked_again(server: OpenAIServer) -> None:
    assert failure_of(model_at(server, Turn(chunks=[]))).is_passing
    assert streams_asked(server) == [True]


@pytest.mark.parametrize("ask", [model_at, anthropic_at])
def test_a_stream_that_is_only_kept_open_is_given_up(server: OpenAIServer, ask: Any) -> None:
    server.broken_pipe.clear()
    turn = Turn(chunks=[": keep-alive"] * 2_000, pause_s=0.005)
    model = ask(server, turn)
    model._timeout_s = 0.05  # from now on: its first request may take longer
    failure = failure_of(model)
    assert failure.is_passing
    assert failure.message.startswith(f"{model.model_id} did not answer in time.")
    assert server.broken_pipe.wait(10)


def test_a_stream_that_is_kept_open_goes_on_with_the_next_piece(server: OpenAIServer) -> None:
    chunks = [*[": thinking"] * 40, delta(content="Yes"), delta(finish_reason="stop")]
    model = model_at(server, Turn(chunks=chunks, pause_s=0.005), timeout_s=3)
    assert streamed(model).content == "Yes"


# -- what goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize(
    ("turn", "is_passing"),
    [
        (fault(429), True),
        (fault(500), True),
        (fault(502), True),
        (fault(503), True),
        (fault(400, "bad schema"), False),
        (fault(401), False),
        (fault(403), False),
        (fault(404), False),
        (Turn(body="<html><body>gateway</body></html>"), True),
        (Turn(body="<html><body>gateway</body></html>", status=502), True),
    ],
)
def test_passing_and_final_failures_are_told_apart(
    server: OpenAIServer, turn: Turn, is_passing: bool, is_stream: bool
) -> None:
    model = model_at(server, turn)
    assert failure_of(model, is_stream=is_stream).is_passing is is_passing
    assert len(server.received) == 1  # nobody below us tries again


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        (
            fault(401, f"Incorrect API key provided: {KEY}"),
            snapshot(
                "openai/tiny refused the key (401). Look at the environment variable OPENAI_API_KEY, or at the model option `api_key`. It says: Incorrect API key provided: [redacted]"
            ),
        ),
        (
            fault(401, "Incorrect API key provided: sk-test-000000000000000000000000"),
            snapshot(
                "openai/tiny refused the key (401). Look at the environment variable OPENAI_API_KEY, or at the model option `api_key`. It says: Incorrect API key provided: [redacted]"
            ),
        ),
        (
            fault(404, "The model `tiny` does not exist", code="model_not_found"),
            snapshot(
                "openai/tiny was not found (404). Look at the model id, which is provider/name, such as openai/gpt-4.1, and at the model option `api_base`. It says: The model `tiny` does not exist"
            ),
        ),
        (
            fault(400, "Please shorten it", code="context_length_exceeded"),
            snapshot(
                "openai/tiny: the request is longer than the model's context window. Begin afresh, or give the task less to read. It says: Please shorten it"
            ),
        ),
        (fault(503, "overloaded"), snapshot("openai/tiny: its server failed (503). It says: overloaded")),
        (
            Turn(chunks=[delta(content="he")], end="eof"),
            snapshot(
                "openai/tiny: the connection failed or broke off. Look at the network, or at the model's server. It says: Stream ended before a finish_reason was received"
            ),
        ),
        (
            Turn(body="<html><body>gateway</body></html>"),
            snapshot("openai/tiny gave no whole reply. It says: The provider's reply holds no choice."),
        ),
    ],
)
def test_the_failure_in_words(server: OpenAIServer, turn: Turn, message: str) -> None:
    assert failure_of(model_at(server, turn)).message == message


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        (
            ["{not json"],
            snapshot(
                "openai/tiny gave a reply that could not be read. Look at the model's server, or at what stands before it. The fault: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
            ),
        ),
        (
            [delta(content="he"), "[1, 2]"],
            snapshot(
                "openai/tiny gave a reply that could not be read. Look at the model's server, or at what stands before it. The fault: 'list' object has no attribute 'choices'"
            ),
        ),
        (
            ['{"error": {"message": "out of memory"}}'],
            snapshot("openai/tiny: its server broke the reply off with an error. It says: out of memory"),
        ),
    ],
)
def test_a_stream_that_cannot_be_read_has_no_status(
    server: OpenAIServer, chunks: list[Any], message: str
) -> None:
    failure = failure_of(model_at(server, Turn(chunks=chunks)))
    assert failure == Failure(is_passing=True, message=message)


@pytest.mark.parametrize(
    ("model_id", "message"),
    [
        (
            "openai/tiny",
            snapshot(
                "openai/tiny gave a reply that could not be read. Look at the model's server, or at what stands before it. The fault: Empty or invalid response from LLM endpoint. Received: '{not json'. Check the reverse proxy or model server configuration."
            ),
        ),
        (
            "hosted_vllm/tiny",
            snapshot(
                "hosted_vllm/tiny gave a reply that could not be read. Look at the model's server, or at what stands before it. The fault: Unable to get json response - Expecting property name enclosed in double quotes: line 1 column 2 (char 1), Original Response: {not json"
            ),
        ),
        (
            "mistral/tiny",
            snapshot(
                "mistral/tiny gave a reply that could not be read. Look at the model's server, or at what stands before it. The fault: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
            ),
        ),
    ],
)
def test_a_whole_reply_that_cannot_be_read_has_no_status(
    server: OpenAIServer, model_id: str, message: str
) -> None:
    model = model_at(server, Turn(body="{not json"), model_id=model_id)
    assert failure_of(model, is_stream=False) == Failure(is_passing=True, message=message)


@pytest.mark.parametrize("model_id", ["openai/tiny", "mistral/tiny"])
def test_a_stream_that_is_reset_is_a_failure_of_the_line(server: OpenAIServer, model_id: str) -> None:
    model = model_at(server, Turn(chunks=[delta(content="he")], end="reset"), model_id=model_id)
    assert failure_of(model).message.startswith(f"{model_id}: the connection failed or broke off.")


def test_retry_after_is_handed_on(server: OpenAIServer) -> None:
    assert failure_of(model_at(server, fault(429, headers={"Retry-After": "7"}))).retry_after_s == 7.0


@pytest.mark.parametrize("end", ["eof", "reset"])
def test_a_stream_that_breaks_off_is_a_passing_failure_and_no_message(server: OpenAIServer, end: Any) -> None:
    chunks = [call_delta(0, "x", "add", '{"a": 1}'), call_delta(1, "y", "add", '{"a"')]
    model = model_at(server, Turn(chunks=chunks, end=end))
    pieces: list[object] = []
    with pytest.raises(Exception) as caught:
        pieces.extend(model.stream(ASK, tools=[ADD]))
    assert isinstance(caught.value, Exception)
    assert model.diagnose(caught.value).is_passing
    assert not [piece for piece in pieces if isinstance(piece, ChatMessage)]


def test_a_reply_without_a_choice_is_a_passing_failure(server: OpenAIServer) -> None:
    turn = Turn(body={"id": "c", "object": "chat.completion", "created": 1, "model": "t", "choices": []})
    failure = failure_of(model_at(server, turn), is_stream=False)
    assert failure == snapshot(
        Failure(
            is_passing=True,
            message="openai/tiny gave no whole reply. It says: The provider's reply holds no choice.",
        )
    )


TOO_LONG = "the request exceeds the available context size (4096 tokens), try increasing it"


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize("model_id", ["openai/tiny", "mistral/tiny"])
@pytest.mark.parametrize(
    "turn",
    [
        fault(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        fault(400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
        fault(400, TOO_LONG, type="exceed_context_size_error"),
        fault(500, "input length exceeds the context length"),
    ],
)
def test_a_request_over_the_window_is_an_overflow(
    server: OpenAIServer, turn: Turn, model_id: str, is_stream: bool
) -> None:
    failure = failure_of(model_at(server, turn, model_id=model_id), is_stream=is_stream)
    assert (failure.is_overflow, failure.is_passing) == (True, False)
    assert failure.message.startswith(f"{model_id}: the request is longer than the model's context window.")


def test_an_overflow_told_amid_a_stream_is_one(server: OpenAIServer) -> None:
    turn = Turn(chunks=[{"error": {"message": TOO_LONG, "code": 400, "type": "exceed_context_size_error"}}])
    assert failure_of(model_at(server, turn)).is_overflow


def test_an_overflow_at_anthropic_is_one(server: OpenAIServer) -> None:
    inner = {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"}
    failure = failure_of(anthropic_at(server, Turn(status=400, body={"type": "error", "error": inner})))
    assert (failure.is_overflow, failure.is_passing) == (True, False)


def test_a_rate_limit_in_tokens_is_no_overflow(server: OpenAIServer) -> None:
    words = "Request too large for `tiny` on tokens per minute (TPM): Limit 6000, Requested 8000"
    failure = failure_of(model_at(server, fault(429, words, code="rate_limit_exceeded")))
    assert (failure.is_overflow, failure.is_passing) == (False, True)


def test_silence_is_a_passing_failure_after_the_timeout(server: OpenAIServer) -> None:
    begin = time.monotonic()
    failure = failure_of(model_at(server, Turn(body={}, pause_s=3), timeout_s=0.5))
    assert time.monotonic() - begin < 2.9
    assert failure == snapshot(
        Failure(
            is_passing=True,
            message="openai/tiny did not answer in time. Allow it more with the model option `timeout_s`, or look at its server. It says: Request timed out.",
        )
    )


def test_no_server_is_a_passing_failure_of_the_line() -> None:
    with serve() as gone:
        address = gone.api_base
    failure = failure_of(LiteLLMModel("openai/tiny", api_base=address, api_key=KEY))
    assert failure == snapshot(
        Failure(
            is_passing=True,
            message="openai/tiny: the connection failed or broke off. Look at the network, or at the model's server. It says: Connection error.",
        )
    )


def test_no_key_names_the_variable(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    failure = failure_of(model_at(server, reply("x"), api_key=None), is_stream=False)
    assert failure == snapshot(
        Failure(
            is_passing=False,
            message="openai/tiny has no key. Set the environment variable OPENAI_API_KEY before Jupyter starts, or with getpass: os.environ['OPENAI_API_KEY'] = getpass.getpass()",
        )
    )


def test_an_unknown_provider_says_what_an_id_looks_like() -> None:
    failure = failure_of(LiteLLMModel("opnai/gpt-4.1", api_key=KEY))
    assert failure == snapshot(
        Failure(
            is_passing=False,
            message="opnai/gpt-4.1 names no provider that LiteLLM knows. Write provider/name, such as openai/gpt-4.1, or local for the embedded model.",
        )
    )


@pytest.mark.parametrize(
    ("parameter", "refusal"),
    [
        ("stop", "Unsupported parameter: 'stop' is not supported with this model."),
        ("stream_options", "Unrecognized request argument supplied: stream_options"),
        ("tools", "this model does not support tools"),
        ("tools", '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    ],
)
def test_a_parameter_that_is_refused_is_left_out_and_remembered(
    server: OpenAIServer, parameter: str, refusal: str
) -> None:
    model = model_at(server, fault(400, refusal), REFUSED)
    asked: dict[str, Any] = {"tools": [ADD], "stop": ("Observation:",)}
    assert streamed(model, **asked).content == "Yes"
    assert streamed(model, **asked).content == "Yes"
    assert [parameter in received.body for received in server.received] == [True, False, False]
    assert model.capabilities.tools is (parameter != "tools")


def test_a_parameter_that_is_refused_to_several_threads_at_once_is_left_out_by_each(
    server: OpenAIServer,
) -> None:
    refusal = fault(400, "Unsupported parameter: 'stop' is not supported with this model.")
    refusal.pause_s = 0.3
    model = model_at(server, refusal, refusal, REFUSED)
    got: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: got.append(streamed(model, stop=("Observation:",)).content))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert got == ["Yes", "Yes"]


def test_a_refused_option_of_the_persons_own_is_told(server: OpenAIServer) -> None:
    refusal = fault(400, "Unsupported parameter: 'stop' is not supported with this model.")
    model = model_at(server, refusal, stop=["END"])
    assert failure_of(model).message == snapshot(
        "openai/tiny refused the request (400). Look at the model options and the tools' schemas. It says: Unsupported parameter: 'stop' is not supported with this model."
    )
    assert len(server.received) == 2


FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "step", "schema": {"type": "object", "properties": {"code": {"type": "string"}}}},
}


def test_a_response_format_goes_to_the_provider_as_it_is(server: OpenAIServer) -> None:
    model = model_at(server, REFUSED)
    streamed(model, response_format=FORMAT)
    assert server.received[0].body["response_format"] == FORMAT


@pytest.mark.parametrize(
    "refusal",
    [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "Unsupported: structured outputs",
        "Unrecognized request argument supplied: response_format",
    ],
)
def test_a_response_format_that_is_refused_is_left_out_and_remembered(
    server: OpenAIServer, refusal: str
) -> None:
    model = model_at(server, fault(400, refusal), REFUSED, model_id="openai/gpt-4.1")
    assert model.capabilities.response_format
    assert streamed(model, response_format=FORMAT).content == "Yes"
    assert streamed(model, response_format=FORMAT).content == "Yes"
    assert ["response_format" in received.body for received in server.received] == [True, False, False]
    assert not model.capabilities.response_format


def test_a_response_format_of_the_persons_own_that_is_refused_is_told(server: OpenAIServer) -> None:
    refusal = fault(400, "Invalid parameter: 'response_format' is not supported with this model.")
    model = model_at(server, refusal, response_format=FORMAT)
    assert failure_of(model).message == snapshot(
        "openai/tiny refused the request (400). Look at the model options and the tools' schemas. It says: Invalid parameter: 'response_format' is not supported with this model."
    )
    assert len(server.received) == 2


def test_a_fault_inside_a_response_format_is_no_refusal_of_it(server: OpenAIServer) -> None:
    fault_inside = (
        "Invalid schema for response_format 'step': 'additionalProperties' is required to be false."
    )
    model = model_at(server, fault(400, fault_inside))
    with pytest.raises(Exception, match="Invalid schema"):
        streamed(model, response_format=FORMAT)
    assert len(server.received) == 1


def test_a_parameter_that_litellm_knows_to_be_refused_is_left_out(server: OpenAIServer) -> None:
    model = model_at(server, REFUSED, model_id="openai/gpt-5")
    assert streamed(model, stop=("Observation:",)).content == "Yes"
    assert "stop" not in server.received[0].body


def test_a_fault_inside_a_tool_is_no_refusal_of_tools(server: OpenAIServer) -> None:
    model = model_at(server, fault(400, "Unknown type 'frame' in tools[0].function.parameters"))
    with pytest.raises(Exception, match="Unknown type"):
        streamed(model, tools=[ADD])
    assert len(server.received) == 1


# -- what it says of itself --------------------------------------------------------------------


def test_a_known_model_says_what_it_can() -> None:
    model = LiteLLMModel("openai/gpt-4.1")
    assert (model.capabilities.tools, model.capabilities.images, model.context_window) == (
        True,
        True,
        1_047_576,
    )


def test_an_unknown_model_is_taken_to_call_tools() -> None:
    model = LiteLLMModel("openai/tiny")
    assert (model.capabilities.tools, model.capabilities.images, model.context_window) == (True, False, None)


def test_a_response_format_is_taken_by_models_that_are_known_to() -> None:
    ids = ("openai/gpt-4.1", "openai/gpt-4", "openai/tiny")
    assert [LiteLLMModel(one).capabilities.response_format for one in ids] == [True, False, False]


def test_any_model_is_taken_to_write_code() -> None:
    assert LiteLLMModel("openai/tiny").capabilities.code


def test_the_key_is_not_in_its_repr() -> None:
    assert repr(LiteLLMModel("openai/tiny", api_key=KEY)) == "LiteLLMModel('openai/tiny')"


def test_a_window_that_is_given_counts_over_what_litellm_knows() -> None:
    assert LiteLLMModel("openai/gpt-4.1", context_window=8_000).context_window == 8_000
    assert LiteLLMModel("openai/tiny", context_window=8_000).context_window == 8_000


@pytest.mark.parametrize("window", [0, -1, "8k", True, 1.5])
def test_a_window_that_is_no_number_of_tokens_is_refused(window: Any) -> None:
    with pytest.raises(OptionError) as caught:
        LiteLLMModel("openai/tiny", context_window=window)
    assert caught.value.message == (
        f"context_window={window!r} is no number of tokens.\n"
        "Give a whole number from 1, such as context_window=8000, or leave it out to ask LiteLLM."
    )


def test_a_price_is_known_of_a_known_model() -> None:
    assert LiteLLMModel("openai/gpt-4.1").price_usd(1_000_000, 1_000) == pytest.approx(2.008)
    assert LiteLLMModel("openai/tiny").price_usd(1_000_000, 1_000) is None


# -- what goes back ----------------------------------------------------------------------------

THOUGHT = [
    *ASK,
    ChatMessage(
        role="assistant", reasoning="hm", tool_calls=(ToolCall(id="c1", name="add", arguments={"a": 1}),)
    ),
    ChatMessage(role="tool", content="3", tool_call_id="c1"),
]
NO_REASONING = fault(400, "Missing `reasoning_content` field in the assistant message at message index 2")


def reasoning_sent(server: OpenAIServer) -> list[str | None]:
    return [received.body["messages"][2].get("reasoning_content") for received in server.received]


def test_thinking_goes_back_once_the_provider_wants_it_and_to_several_threads_at_once(
    server: OpenAIServer,
) -> None:
    refusal = Turn(status=400, body=NO_REASONING.body, pause_s=0.2)
    model = model_at(server, refusal, refusal, reply("Yes"), stream=False)
    got: list[str | None] = []
    threads = [threading.Thread(target=lambda: got.append(model.generate(THOUGHT).content)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert got == ["Yes", "Yes"]
    assert reasoning_sent(server) == [None, None, "hm", "hm"]
    assert model.to_wire(THOUGHT).messages[2]["reasoning_content"] == "hm"


def test_thinking_that_is_refused_all_the_same_is_told(server: OpenAIServer) -> None:
    model = model_at(server, NO_REASONING, stream=False)
    with pytest.raises(Exception, match="Missing `reasoning_content`"):
        model.generate(THOUGHT)
    assert reasoning_sent(server) == [None, "hm"]


def test_what_a_person_says_of_images_goes_before_what_litellm_knows() -> None:
    assert LiteLLMModel("openai/tiny", images=True).capabilities.images
    assert not LiteLLMModel("openai/gpt-4.1", images=False).capabilities.images


def test_a_price_of_nothing_is_known_at_home_alone() -> None:
    # LiteLLM knows this model, but not what it costs
    assert LiteLLMModel("huggingface/o/m").price_usd(1_000, 10) is None
    assert LiteLLMModel("openrouter/anthropic/claude-sonnet-4.5").price_usd(1_000, 10) is None


# -- options that cannot be, or must not be seen -------------------------------------------------


@pytest.mark.parametrize("timeout_s", [0, -1, math.nan, math.inf, "x", True])
def test_time_that_nobody_can_wait_is_refused(timeout_s: Any) -> None:
    with pytest.raises(OptionError, match="is no time to wait"):
        LiteLLMModel("openai/tiny", timeout_s=timeout_s)


def test_headers_are_shown_by_their_names_and_never_told_in_an_error(server: OpenAIServer) -> None:
    secret = "a-word-that-opens-doors"
    server.play(fault(400, f"no such header value {secret}"))
    model = LiteLLMModel(
        "openai/tiny", api_base=server.api_base, api_key="k", extra_headers={"X-Auth": secret}
    )
    assert model.shown_options == {"extra_headers": {"X-Auth": "[redacted]"}}
    failure = failure_of(model)
    assert secret not in failure.message
    assert "[redacted]" in failure.message
    assert {name.lower(): value for name, value in server.received[0].headers.items()}["x-auth"] == secret
