"""A model that says what it was told to say."""

from __future__ import annotations

import threading
import time
import tracemalloc
from typing import Any

import pytest
from inline_snapshot import snapshot
from threads import join

from agent_magic.core.errors import GenerationError, OptionError
from agent_magic.core.messages import ChatMessage, MessageDelta, TokenUsage, ToolCall, ToolExample, ToolSchema
from agent_magic.models.deltas import MessageBuilder
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel

ASK = [ChatMessage(role="user", content="hi")]


def test_a_text_is_the_assistants_text() -> None:
    reply = ScriptedModel(["Hello."]).generate(ASK)
    assert reply == ChatMessage(role="assistant", content="Hello.", finish_reason="stop")


def test_a_mapping_is_a_whole_message() -> None:
    reply = {
        "content": "I add.",
        "reasoning": "hm",
        "tool_calls": [{"name": "add", "arguments": {"a": 1}, "id": "x"}, {"name": "now", "arguments": ""}],
        "usage": {"input_tokens": 9, "output_tokens": 2},
    }
    assert ScriptedModel([reply]).generate(ASK) == ChatMessage(
        role="assistant",
        content="I add.",
        reasoning="hm",
        tool_calls=(
            ToolCall(id="x", name="add", arguments={"a": 1}),
            ToolCall(id="call_1", name="now", arguments=""),
        ),
        usage=TokenUsage(input_tokens=9, output_tokens=2),
        finish_reason="tool_calls",
    )


def test_calls_are_plain_mappings_to_which_text_can_be_added() -> None:
    reply = ScriptedModel.calls(("add", {"a": 1}), ("now", {})) | {"content": "Both."}
    assert reply == {
        "tool_calls": [{"name": "add", "arguments": {"a": 1}}, {"name": "now", "arguments": {}}],
        "content": "Both.",
    }


def test_final_calls_final_answer() -> None:
    assert ScriptedModel.final(3) == ScriptedModel.calls(("final_answer", {"answer": 3}))


def test_a_value_keeps_its_identity_in_a_call() -> None:
    value = object()
    [call] = ScriptedModel([ScriptedModel.final(value)]).generate(ASK).tool_calls
    assert isinstance(call.arguments, dict)
    assert call.arguments["answer"] is value


@pytest.mark.parametrize("reply", [TimeoutError("slow"), TimeoutError])
def test_an_exception_is_raised(reply: object) -> None:
    model = ScriptedModel([reply, "after"])  # type: ignore[list-item]
    with pytest.raises(TimeoutError):
        model.generate(ASK)
    assert model.generate(ASK).content == "after"


def test_a_function_is_given_the_request() -> None:
    model = ScriptedModel([lambda request: f"{request.kind}: {request.messages[-1]['content']}"])
    assert model.generate(ASK, kind="final").content == "final: hi"


def test_past_the_end_says_so() -> None:
    model = ScriptedModel(["one"])
    model.generate(ASK)
    with pytest.raises(GenerationError) as caught:
        model.generate(ASK)
    assert caught.value.message == snapshot(
        "The script of 'scripted' has 1 reply, and this is call 2. Add a reply for it."
    )
    assert not model.diagnose(caught.value).is_passing


@pytest.mark.parametrize(
    ("replies", "fault"),
    [
        (
            [{"tool_call": []}],
            snapshot(
                "A reply has the key 'tool_call'; known are content, tool_calls, reasoning, usage, finish_reason. Did you mean 'tool_calls'?"
            ),
        ),
        (
            [{"tool_calls": [{"arguments": {}}]}],
            snapshot("""\
A tool call of a reply is {'arguments': {}}, without a name.
Write {"name": "tool", "arguments": {}}.\
"""),
        ),
        (
            [{"tool_calls": [{"nme": "add"}]}],
            snapshot(
                "A tool call of a reply has the key 'nme'; known are name, arguments, id. Did you mean 'name'?"
            ),
        ),
        (
            [{"usage": {"tokens": 3}}],
            snapshot(
                "The usage of a reply has the key 'tokens'; known are input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd. Did you mean 'input_tokens'?"
            ),
        ),
        (
            [3],
            snapshot("""\
A reply is 3; it can be a text, a mapping, a ChatMessage, an exception or a function of the request.
Write a final answer as ScriptedModel.final(value).\
"""),
        ),
        (
            "text",
            snapshot("""\
The replies of a ScriptedModel are a list, and not 'text'.
Write ScriptedModel([…]).\
"""),
        ),
    ],
)
def test_a_reply_of_no_kind_is_refused_at_once(replies: object, fault: str) -> None:
    with pytest.raises(OptionError) as caught:
        ScriptedModel(replies)  # type: ignore[arg-type]
    assert caught.value.message == fault


@pytest.mark.parametrize(
    ("usage", "fault"),
    [
        (
            {"input_tokens": "10"},
            snapshot("""\
The usage of a reply has input_tokens='10'; it is a whole number from 0, such as 10.
Write None, or leave it out, for what is not reported.\
"""),
        ),
        (
            {"output_tokens": -5},
            snapshot("""\
The usage of a reply has output_tokens=-5; it is a whole number from 0, such as 10.
Write None, or leave it out, for what is not reported.\
"""),
        ),
        (
            {"cached_tokens": 1.5},
            snapshot("""\
The usage of a reply has cached_tokens=1.5; it is a whole number from 0, such as 10.
Write None, or leave it out, for what is not reported.\
"""),
        ),
        (
            {"reasoning_tokens": True},
            snapshot("""\
The usage of a reply has reasoning_tokens=True; it is a whole number from 0, such as 10.
Write None, or leave it out, for what is not reported.\
"""),
        ),
        (
            {"cost_usd": float("nan")},
            snapshot("""\
The usage of a reply has cost_usd=nan; it is USD, a number from 0 such as 0.002.
Write None, or leave it out, for what is not reported.\
"""),
        ),
        (
            {"cost_usd": "0.1"},
            snapshot("""\
The usage of a reply has cost_usd='0.1'; it is USD, a number from 0 such as 0.002.
Write None, or leave it out, for what is not reported.\
"""),
        ),
        (
            TokenUsage(input_tokens=-1),
            snapshot("""\
The usage of a reply has input_tokens=-1; it is a whole number from 0, such as 10.
Write None, or leave it out, for what is not reported.\
"""),
        ),
        (
            12,
            snapshot("""\
The usage of a reply is 12.
Write a mapping with input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd.\
"""),
        ),
    ],
)
def test_a_usage_that_is_no_number_from_0_is_refused_at_once(usage: object, fault: str) -> None:
    with pytest.raises(OptionError) as caught:
        ScriptedModel([{"content": "x", "usage": usage}])
    assert caught.value.message == fault


def test_a_usage_of_a_message_or_of_a_rule_is_refused_too() -> None:
    wrong = ChatMessage(role="assistant", content="x", usage=TokenUsage(cost_usd=float("inf")))
    with pytest.raises(OptionError, match="cost_usd=inf"):
        ScriptedModel([wrong])
    with pytest.raises(OptionError, match="input_tokens=-2"):
        ScriptedModel.rules({"x": {"usage": {"input_tokens": -2}}})


@pytest.mark.parametrize(
    "usage", [None, {}, {"input_tokens": None, "output_tokens": 0, "cost_usd": 0}, {"cost_usd": 0.5}]
)
def test_a_usage_may_leave_figures_out(usage: dict[str, float] | None) -> None:
    reply = ScriptedModel([{"content": "x", "usage": usage}]).generate(ASK)
    assert reply.usage == (None if usage is None else TokenUsage(**usage))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (
            {"context_window": "8000"},
            snapshot("""\
context_window='8000' is no number of tokens.
Give a whole number from 1, such as context_window=8000, or leave it out for none.\
"""),
        ),
        (
            {"context_window": -5},
            snapshot("""\
context_window=-5 is no number of tokens.
Give a whole number from 1, such as context_window=8000, or leave it out for none.\
"""),
        ),
        (
            {"context_window": True},
            snapshot("""\
context_window=True is no number of tokens.
Give a whole number from 1, such as context_window=8000, or leave it out for none.\
"""),
        ),
        (
            {"price": 0.1},
            snapshot("""\
price=0.1 is no price of tokens.
Give USD of one input token and of one output token, such as price=(0.000002, 0.00001), or leave it out for unknown.\
"""),
        ),
        (
            {"price": (0.1,)},
            snapshot("""\
price=(0.1,) is no price of tokens.
Give USD of one input token and of one output token, such as price=(0.000002, 0.00001), or leave it out for unknown.\
"""),
        ),
        (
            {"price": ("0.1", "0.2")},
            snapshot("""\
price=('0.1', '0.2') is no price of tokens.
Give USD of one input token and of one output token, such as price=(0.000002, 0.00001), or leave it out for unknown.\
"""),
        ),
        (
            {"price": (0.1, -0.2)},
            snapshot("""\
price=(0.1, -0.2) is no price of tokens.
Give USD of one input token and of one output token, such as price=(0.000002, 0.00001), or leave it out for unknown.\
"""),
        ),
    ],
)
def test_a_window_or_price_that_is_none_is_refused_at_once(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(OptionError) as caught:
        ScriptedModel([], **settings)
    assert caught.value.message == fault


def test_no_pieces_are_refused() -> None:
    with pytest.raises(OptionError, match="stream_pieces is 0"):
        ScriptedModel([], stream_pieces=0)


def test_a_request_holds_what_was_asked() -> None:
    schema = ToolSchema(
        name="add",
        description="Add.",
        parameters={"type": "object"},
        examples=(ToolExample(task="1 and 2?", arguments={"a": 1}),),
    )
    model = ScriptedModel(["x"])
    model.generate(ASK, tools=[schema], stop=["Observation:"], temperature=0)
    [request] = model.requests
    assert (request.messages, request.tools, request.kind, request.stop, request.options) == snapshot(
        (
            [{"role": "user", "content": "hi"}],
            [
                {
                    "name": "add",
                    "description": "Add.",
                    "parameters": {"type": "object"},
                    "examples": [{"task": "1 and 2?", "arguments": {"a": 1}}],
                }
            ],
            "act",
            ("Observation:",),
            {"temperature": 0},
        )
    )


def test_requests_are_in_text_form_for_a_model_without_native_calls() -> None:
    model = ScriptedModel(["x"], capabilities=Capabilities(tools=False))
    model.generate([*ASK, ChatMessage(role="tool", content="3", tool_call_id="c")])
    assert model.requests[0].messages == [{"role": "user", "content": "hi\n\nObservation:\n3"}]


def test_a_model_without_native_calls_is_sent_no_tools() -> None:
    model = ScriptedModel(["x"], capabilities=Capabilities(tools=False))
    model.generate(ASK, tools=[ToolSchema(name="add", description="Add.", parameters={})])
    assert model.requests[0].tools == []


@pytest.mark.parametrize("tools", [True, False])
def test_a_request_is_what_to_wire_says(tools: bool) -> None:
    schema = ToolSchema(name="add", description="Add.", parameters={"type": "object"})
    history = [
        *ASK,
        ChatMessage(role="assistant", tool_calls=(ToolCall(id="c", name="add", arguments={"a": 1}),)),
        ChatMessage(role="tool", content="3", tool_call_id="c"),
    ]
    model = ScriptedModel(["x"], capabilities=Capabilities(tools=tools))
    wire = model.to_wire(history, [schema], "act")
    model.generate(history, tools=[schema])
    assert (model.requests[0].messages, model.requests[0].tools) == (wire.messages, wire.tools)


def test_a_request_for_a_plan_says_so() -> None:
    model = ScriptedModel([lambda request: f"1. {request.kind}"])
    assert model.generate(ASK, kind="plan").content == "1. plan"
    assert model.requests[0].kind == "plan"


def test_a_price_is_known_if_it_was_given() -> None:
    assert ScriptedModel().price_usd(1_000, 10) is None
    assert ScriptedModel(price=(0.001, 0.01)).price_usd(1_000, 10) == 1.1


def test_each_request_shows_its_own_messages() -> None:
    history = list(ASK)
    model = ScriptedModel(["a", "b", "c"])
    model.generate(history)
    history.append(ChatMessage(role="assistant", content="a"))
    model.generate(history)
    model.generate([ChatMessage(role="user", content="other")])
    assert [[message["content"] for message in request.messages] for request in model.requests] == [
        ["hi"],
        ["hi", "a"],
        ["other"],
    ]


def test_requests_of_a_growing_history_take_linear_memory() -> None:
    messages = [ChatMessage(role="user", content=str(number)) for number in range(2_000)]
    model = ScriptedModel(["x"] * 1_000)
    tracemalloc.start()
    for number in range(1_000):
        model.generate(messages[: 2 * number])
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 1_000_000
    assert len(model.requests[999].messages) == 1_998


@pytest.mark.parametrize("stream_pieces", [None, 1, 3, 1_000])
def test_a_stream_gives_the_same_message_as_asking(stream_pieces: int | None) -> None:
    reply = {
        "content": "Some words.",
        "reasoning": "hm",
        "tool_calls": [{"name": "add", "arguments": {"a": [1, 2]}}],
    }
    builder = MessageBuilder()
    for piece in ScriptedModel([reply], stream_pieces=stream_pieces).stream(ASK):
        builder.add(piece)
    assert builder.build() == ScriptedModel([reply]).generate(ASK)


def test_the_pieces_alone_make_the_message_too() -> None:
    reply = {"content": "Some words.", "tool_calls": [{"name": "add", "arguments": '{"a": 1}'}]}
    builder = MessageBuilder()
    texts: list[str] = []
    for piece in ScriptedModel([reply], stream_pieces=3).stream(ASK):
        if isinstance(piece, MessageDelta):
            builder.add(piece)
            texts.extend([piece.text] if piece.text else [])
    assert texts == ["Some", " wor", "ds."]
    assert builder.build() == ScriptedModel([reply]).generate(ASK)


@pytest.mark.parametrize("stream_pieces", [None, 4])
def test_a_reply_takes_its_latency(stream_pieces: int | None) -> None:
    model = ScriptedModel(["words words"], latency_s=0.1, stream_pieces=stream_pieces)
    begin = time.monotonic()
    list(model.stream(ASK))
    assert 0.09 < time.monotonic() - begin < 10


def test_rules_answer_what_was_read_last() -> None:
    model = ScriptedModel.rules(
        {r"mean of (\w+)": ScriptedModel.calls(("mean", {"column": "x"})), r"^\d+$": "Done."}
    )
    asked = [ChatMessage(role="user", content="The mean of x?")]
    assert model.generate(asked).tool_calls[0].name == "mean"
    asked += [
        ChatMessage(role="assistant", content="mean of y"),
        ChatMessage(role="tool", content="3", tool_call_id="c"),
    ]
    assert model.generate(asked).content == "Done."


def test_no_rule_that_fits_says_so() -> None:
    with pytest.raises(GenerationError) as caught:
        ScriptedModel.rules({"a+": "x", "b": "y"}, model_id="rules").generate(ASK)
    assert caught.value.message == snapshot(
        "No rule of 'rules' fits 'hi'. Its patterns are 'a+', 'b'. Add one that fits."
    )


def test_threads_get_a_reply_each() -> None:
    model = ScriptedModel([str(number) for number in range(200)])
    got: list[str | None] = []

    def ask() -> None:
        got.extend(model.generate(ASK).content for _ in range(25))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert sorted(got, key=str) == sorted(map(str, range(200)))
    assert len(model.requests) == 200


def test_thinking_in_a_text_is_reasoning() -> None:
    reply = ScriptedModel(["<think>hm</think>Yes."]).generate(ASK)
    assert (reply.reasoning, reply.content) == ("hm", "Yes.")
