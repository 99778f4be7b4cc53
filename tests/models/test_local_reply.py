from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from agent_magic.core.messages import MessageDelta, TokenUsage
from agent_magic.models.local_engine import Piece
from agent_magic.models.local_reply import CallReader, TextReader

USAGE = {"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 16}}
CALL = '{"name": "say", "arguments": {"text": "a } b}} \\" {", "deep": {"x": {}}}}'
ARGUMENTS = '{"text": "a } b}} \\" {", "deep": {"x": {}}}'


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(CALL)])
def test_call_is_passed_on_as_it_grows(size: int):
    reader = CallReader()
    pieces = [Piece(text=CALL[start : start + size]) for start in range(0, len(CALL), size)]
    deltas = [delta for piece in pieces if isinstance(delta := reader.read(piece), MessageDelta)]
    calls = [call for delta in deltas for call in delta.tool_calls]
    assert "".join(call.arguments for call in calls) == ARGUMENTS
    assert [call.name for call in calls if call.name] == ["say"]
    assert [call.id for call in calls if call.id] == [reader.message().tool_calls[0].id]


def test_call_that_is_whole_has_its_arguments_read():
    reader = CallReader()
    reader.read(Piece(text=CALL, finish_reason="stop", usage=USAGE))
    message = reader.message()
    assert message.tool_calls[0].arguments == {"text": 'a } b}} " {', "deep": {"x": {}}}
    assert (message.finish_reason, message.usage) == snapshot(
        (
            "tool_calls",
            TokenUsage(input_tokens=20, output_tokens=5, cached_tokens=16, reasoning_tokens=0, cost_usd=0.0),
        )
    )


def test_call_that_is_cut_off_stays_text():
    reader = CallReader()
    reader.read(Piece(text=CALL[:40], finish_reason="length", usage=USAGE))
    message = reader.message()
    assert (message.content, message.tool_calls, message.finish_reason) == (CALL[:40], (), "length")


def test_ids_of_calls_differ():
    ids = set()
    for _ in range(100):
        reader = CallReader()
        reader.read(Piece(text=CALL))
        ids.add(reader.message().tool_calls[0].id)
    assert len(ids) == 100


def test_text_is_passed_on_and_stripped():
    reader = TextReader()
    deltas = [reader.read(Piece(text=text)) for text in (" Oslo", "", " it is.\n")]
    assert deltas == [MessageDelta(text=" Oslo"), None, MessageDelta(text=" it is.\n")]
    assert reader.message().content == "Oslo it is."


def test_number_is_the_one_that_was_offered_whatever_its_form():
    reader = CallReader([3.0, 42])
    reader.read(Piece(text='{"name": "final_answer", "arguments": {"answer": 3}}'))
    (call,) = reader.message().tool_calls
    assert repr(call.arguments["answer"]) == "3.0"


def test_true_is_not_taken_for_one():
    reader = CallReader([1])
    reader.read(Piece(text='{"name": "final_answer", "arguments": {"answer": true}}'))
    assert reader.message().tool_calls[0].arguments == {"answer": True}
