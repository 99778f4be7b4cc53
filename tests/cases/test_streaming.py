"""Streams as providers send them, over the wire, and how they are shown while they come."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from models.conftest import no_connection_is_left_open  # noqa: F401 - a fixture
from models.openai_server import OpenAIServer, Turn, call_delta, delta, reply, serve

from agent_magic import LiteLLMModel, ToolCallingAgent

RECORD = "application/vnd.agent-magic.run.v1+json"
FINAL = Turn(chunks=[call_delta(0, "z", "final_answer", '{"answer": "done"}'), delta("tool_calls")])


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def model_at(server, *turns, **options):
    server.play(*turns)
    return LiteLLMModel("openai/tiny", api_base=server.api_base, api_key="none", timeout_s=20, **options)


def streamed(*chunks, end="done"):
    return Turn(chunks=[*chunks, delta("tool_calls")] if end == "done" else chunks, end=end)


def wiki(q: str) -> str:
    """Look up.

    Args:
        q: what
    """
    return f"about {q}"


def date() -> str:
    """The date of today."""
    return "2026-11-29"


@pytest.mark.parametrize("variant", [1, 2, 3])
def test_stream_parallel_calls_share_an_index(case, server, variant):
    first, second = re.findall(r"arguments '(\{\"q\": \"\w+\"\})'", case.given)
    assert "same, ids both null" in case.given
    assert 'names "wiki" and "date", ids null, second arguments' in case.given
    chunks = {
        1: [call_delta(0, "a", "wiki", first), call_delta(0, "b", "wiki", second)],
        2: [call_delta(0, None, "wiki", first), call_delta(0, None, "wiki", second)],
        3: [call_delta(0, None, "wiki", first), call_delta(0, None, "date", "")],
    }[variant]
    agent = ToolCallingAgent(model=model_at(server, streamed(*chunks), FINAL), tools=[wiki, date])
    result = agent.run("Tin and zinc?")
    assert (result.status, result.value) == ("answered", "done")
    calls = result.actions[0].tool_calls
    # two calls each time with these arguments
    wanted = [("wiki", json.loads(first)), ("date", {}) if variant == 3 else ("wiki", json.loads(second))]
    assert [(call.name, call.arguments) for call in calls] == wanted
    # two distinct ids
    assert len({call.id for call in calls}) == 2
    # two tool replies in sent(2)
    told = [message for message in server.received[1].body["messages"] if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in told] == [call.id for call in calls]
    assert [message["content"] for message in told] == [
        "about tin",
        "2026-11-29" if variant == 3 else "about zinc",
    ]


def test_stream_interleaved_fragments(case, server):
    pieces = re.findall(r"args ''?(.+?)''?(?:;|$)", case.given.replace("\n", " "))
    assert [piece.strip("' ") for piece in pieces][:2] == ['{"a": 1', '{"a": 2']
    chunks = [
        call_delta(0, "x", "add", '{"a": 1'),
        call_delta(1, "y", "mul", '{"a": 2'),
        call_delta(0, None, None, ', "b": 3}'),
        call_delta(1, None, None, ', "b": 4}'),
        call_delta(1, "y", None, None),
    ]
    made: list[tuple[str, int, int]] = []

    def add(a: int, b: int) -> int:
        "Add.\n\nArgs:\n    a: one\n    b: other"
        made.append(("add", a, b))
        return a + b

    def mul(a: int, b: int) -> int:
        "Multiply.\n\nArgs:\n    a: one\n    b: other"
        made.append(("mul", a, b))
        return a * b

    agent = ToolCallingAgent(model=model_at(server, streamed(*chunks), FINAL), tools=[add, mul])
    result = agent.run("Both.")
    # add(a=1, b=3) and mul(a=2, b=4), once each
    assert sorted(made) == [("add", 1, 3), ("mul", 2, 4)]
    # record and replies in that order
    results = result.actions[0].tool_results
    assert [(one.call.name, one.observation) for one in results] == [("add", "4"), ("mul", "8")]
    told = [message for message in server.received[1].body["messages"] if message["role"] == "tool"]
    assert [(message["tool_call_id"], message["content"]) for message in told] == [("x", "4"), ("y", "8")]


def test_stream_usage_not_summed(case, server):
    assert "50 chunks that each carry the running usage (input 900 always; output 1, 2, ... 50)" in case.given
    usages = [{"prompt_tokens": 900, "completion_tokens": n, "total_tokens": 900 + n} for n in range(1, 51)]
    calls = [call_delta(0, "z", "final_answer", '{"answer": "do'), call_delta(0, None, None, 'ne"}')]
    calls += [delta(content="") for _ in range(48)]
    chunks = [{**chunk, "usage": usage} for chunk, usage in zip(calls, usages, strict=True)]
    whole = reply(
        tool_calls=[
            {
                "id": "z",
                "type": "function",
                "function": {"name": "final_answer", "arguments": '{"answer": "done"}'},
            }
        ],
        usage=usages[-1],
        finish_reason="tool_calls",
    )
    for turn, stream in ((streamed(*chunks), True), (whole, False)):
        result = ToolCallingAgent(model=model_at(server, turn, stream=stream)).run("Go.")
        assert result.value == "done"
        # both report 900 input and 50 output for the step
        usage = result.actions[0].token_usage
        assert (usage.input_tokens, usage.output_tokens) == (900, 50)
        assert (result.usage.input_tokens, result.usage.output_tokens) == (900, 50)


def test_stream_tools_wait_for_the_end(case, server):
    assert "raises a connection error after the first call is whole" in case.given
    count = 0

    def tick(n: int) -> int:
        "Count.\n\nArgs:\n    n: any"
        nonlocal count
        count += 1
        return n

    half = [call_delta(0, "x", "tick", '{"n": 1}'), call_delta(1, "y", "tick", '{"n"')]
    agent = ToolCallingAgent(model=model_at(server, streamed(*half, end="reset"), FINAL), tools=[tick])
    events = list(agent.stream("Tick."))
    # no tool runs on a reply that never finished
    assert count == 0
    assert not [
        event for event in events if type(event).__name__ == "ToolCallStarted" and event.call.name == "tick"
    ]
    # the failure is shown, and the reply is asked for again
    [wait] = [event for event in events if type(event).__name__ == "Waiting"]
    assert "the connection failed or broke off" in wait.reason
    assert len(server.received) == 2
    assert server.received[0].body["messages"] == server.received[1].body["messages"]
    assert (agent.result.status, agent.result.value) == ("answered", "done")


@pytest.mark.kernel
def test_stream_display_rate(case, kernel):
    assert "20 000 one-character deltas" in case.given
    ready = kernel.execute(
        """
%load_ext agent_magic
import json
from agent_magic import Model
from agent_magic.core.messages import MessageDelta, ToolCallDelta
text = "".join("abcdefghij\\n"[n % 11] for n in range(19_999)) + "."

class Fast(Model):
    model_id = "fast"
    def generate(self, messages, **settings):
        raise NotImplementedError
    def stream(self, messages, **settings):
        for character in text:
            yield MessageDelta(text=character)
        arguments = json.dumps({"answer": text})
        for index, character in enumerate(arguments):
            name = "final_answer" if index == 0 else None
            yield MessageDelta(tool_calls=(ToolCallDelta(index=0, id="z", name=name, arguments=character),))
        yield MessageDelta(finish_reason="tool_calls")

m = Fast()
"""
    )
    assert ready.error is None
    done = kernel.execute("%%agent bot --model @m\nTalk.", timeout_s=200)
    assert done.error is None
    # under 1000 messages
    assert done.n_messages < 1_000
    # the final text shown and stored equals the whole reply
    text = "".join("abcdefghij\n"[n % 11] for n in range(19_999)) + "."
    assert done.result == repr(text)
    stored = kernel.execute(
        "print([text == one for one in (bot.result.value, bot.result.actions[0].model_output,"
        " type(bot.memory).from_dict(bot.memory.to_dict()).steps[1].model_output)])"
    )
    assert stored.stdout == "[True, True, True]\n"
    # as the thought of the step it is shown with both ends, and how much is between them
    [shown] = [bundle for bundle in done.displays if RECORD in bundle]
    thought = shown[RECORD]["steps"][0]["thought"]
    head, n_cut, tail = re.fullmatch(
        r"(.*)\n… ([\d,]+) characters cut.*?…\n(.*)", thought, re.DOTALL
    ).groups()
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(n_cut.replace(",", "")) + len(tail) == len(text)
