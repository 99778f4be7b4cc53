"""The pieces of a reply, folded into one message."""

from __future__ import annotations

import time

import pytest

from agent_magic.core.messages import ChatMessage, MessageDelta, TokenUsage, ToolCall, ToolCallDelta
from agent_magic.models.deltas import CallPiece, MessageBuilder


def fold(*fragments: ToolCallDelta) -> list[tuple[str, str, object]]:
    builder = MessageBuilder()
    for fragment in fragments:
        builder.add(MessageDelta(tool_calls=(fragment,)))
    return [(call.id, call.name, call.arguments) for call in builder.build().tool_calls]


def piece(index: int | None, call_id: str | None, name: str | None, arguments: str = "") -> ToolCallDelta:
    return ToolCallDelta(index=index, id=call_id, name=name, arguments=arguments)


TWO_WIKI = [("a", "wiki", '{"q": "tin"}'), ("b", "wiki", '{"q": "zinc"}')]


def test_a_call_streamed_as_usual_is_one_call() -> None:
    assert (
        fold(piece(0, "a", "wiki"), piece(0, None, None, '{"q": '), piece(0, None, None, '"tin"}'))
        == TWO_WIKI[:1]
    )


def test_calls_with_ids_that_share_an_index_stay_apart() -> None:
    assert fold(piece(0, "a", "wiki", '{"q": "tin"}'), piece(0, "b", "wiki", '{"q": "zinc"}')) == TWO_WIKI


def test_calls_without_ids_that_share_an_index_stay_apart() -> None:
    calls = fold(piece(0, None, "wiki", '{"q": "tin"}'), piece(0, None, "wiki", '{"q": "zinc"}'))
    assert calls == [("call_1", "wiki", '{"q": "tin"}'), ("call_2", "wiki", '{"q": "zinc"}')]


def test_a_call_without_arguments_that_shares_an_index_stays_apart() -> None:
    calls = fold(piece(0, None, "wiki", '{"q": "tin"}'), piece(0, None, "date"))
    assert calls == [("call_1", "wiki", '{"q": "tin"}'), ("call_2", "date", "")]


def test_interleaved_fragments_are_joined_by_call() -> None:
    calls = fold(
        piece(0, "x", "add", '{"a": 1'),
        piece(1, "y", "mul", '{"a": 2'),
        piece(0, None, None, ', "b": 3}'),
        piece(1, None, None, ', "b": 4}'),
        piece(1, "y", None),
    )
    assert calls == [("x", "add", '{"a": 1, "b": 3}'), ("y", "mul", '{"a": 2, "b": 4}')]


@pytest.mark.parametrize(
    "fragments",
    [
        pytest.param(
            [piece(0, "a", "wiki"), piece(0, "a", "wiki", '{"q": '), piece(0, "a", "wiki", '"tin"}')],
            id="id and name each time",
        ),
        pytest.param([piece(0, None, "wiki"), piece(0, "a", None, '{"q": "tin"}')], id="the id comes late"),
        pytest.param([piece(None, "a", "wiki"), piece(None, None, None, '{"q": "tin"}')], id="no index"),
        pytest.param(
            [piece(0, "a", "wiki", '{"q": "tin"}'), piece(0, "a", "wiki", '{"q": "tin"}')],
            id="the whole once more",
        ),
        pytest.param([piece(0, "a", "wiki", '{"q": "tin"}'), piece(0, "a", "wiki")], id="the name once more"),
    ],
)
def test_fragments_of_one_call_are_one_call(fragments: list[ToolCallDelta]) -> None:
    assert fold(*fragments) == TWO_WIKI[:1]


def test_two_calls_with_one_id_get_ids_of_their_own() -> None:
    calls = fold(
        piece(0, "c1", "add", '{"a": 1}'), piece(1, "c1", "echo"), piece(1, None, None, '{"text": "hi"}')
    )
    assert calls == [("c1", "add", '{"a": 1}'), ("call_1", "echo", '{"text": "hi"}')]


def test_a_made_up_id_is_none_that_is_taken() -> None:
    calls = (ToolCall(id="", name="f"), ToolCall(id="call_1", name="g"))
    builder = MessageBuilder()
    builder.add(ChatMessage(role="assistant", tool_calls=calls))
    assert [call.id for call in builder.build().tool_calls] == ["call_2", "call_1"]


def test_usage_is_the_last_one_and_no_sum() -> None:
    builder = MessageBuilder()
    for n_tokens in range(1, 51):
        builder.add(MessageDelta(text="x", usage=TokenUsage(input_tokens=900, output_tokens=n_tokens)))
    assert builder.build().usage == TokenUsage(input_tokens=900, output_tokens=50)


def test_text_reasoning_and_finish_reason_are_kept_apart() -> None:
    builder = MessageBuilder()
    builder.add(MessageDelta(reasoning="hm"))
    builder.add(MessageDelta(text="Ye"))
    assert builder.text_so_far == "Ye"
    builder.add(MessageDelta(text="s", finish_reason="stop"))
    builder.add(MessageDelta())
    assert builder.text_so_far == "Yes"
    assert builder.build() == ChatMessage(
        role="assistant", content="Yes", reasoning="hm", finish_reason="stop"
    )


def test_thinking_inside_the_text_becomes_reasoning() -> None:
    builder = MessageBuilder()
    builder.add(MessageDelta(text="<think>hm</th"))
    builder.add(MessageDelta(text="ink>Yes"))
    message = builder.build()
    assert (message.reasoning, message.content) == ("hm", "Yes")


def test_a_whole_message_counts_instead_of_the_pieces() -> None:
    builder = MessageBuilder()
    builder.add(MessageDelta(text="half"))
    builder.add(ChatMessage(role="assistant", content="whole"))
    assert builder.text_so_far == "whole"
    assert builder.build().content == "whole"


def test_halves_of_a_character_are_joined_and_a_lone_half_is_replaced() -> None:
    builder = MessageBuilder()
    builder.add(MessageDelta(text="\ud83d"))
    builder.add(MessageDelta(text="\ude00 \ud83d"))
    assert builder.build().content == "😀 \ufffd"


def test_nothing_is_a_message_with_nothing_in_it() -> None:
    assert MessageBuilder().build() == ChatMessage(role="assistant")


def test_many_fragments_take_linear_time() -> None:
    begin = time.process_time()
    pieces = [
        piece(0, "a", "f", '{"x": "'),
        *(piece(0, "a", "f", "x" * 10) for _ in range(50_000)),
        piece(0, "a", "f", '"}'),
    ]
    assert len(str(fold(*pieces)[0][2])) == 500_009
    assert time.process_time() - begin < 10


def test_builder_tells_which_call_each_fragment_belongs_to() -> None:
    builder = MessageBuilder()
    fragments = [
        piece(0, "x", "add"),
        piece(0, None, None, '{"a": 1'),
        piece(1, "y", "mul", '{"a": 2}'),
        piece(0, None, None, "}"),
        piece(1, "y", "mul", '{"a": 2}'),  # once more, whole
    ]
    told = [added for fragment in fragments for added in builder.add(MessageDelta(tool_calls=(fragment,)))]
    assert told == [
        CallPiece(place=0, name="add", arguments=""),
        CallPiece(place=0, name="add", arguments='{"a": 1'),
        CallPiece(place=1, name="mul", arguments='{"a": 2}'),
        CallPiece(place=0, name="add", arguments="}"),
        CallPiece(place=1, name="mul", arguments=""),
    ]
    by_place = ["".join(one.arguments for one in told if one.place == place) for place in (0, 1)]
    assert by_place == [call.arguments for call in builder.build().tool_calls]


def test_builder_tells_of_no_call_in_text_and_whole_replies() -> None:
    builder = MessageBuilder()
    assert not builder.add(MessageDelta(text="Hm"))
    assert not builder.add(ChatMessage(role="assistant", tool_calls=(ToolCall(id="x", name="add"),)))
