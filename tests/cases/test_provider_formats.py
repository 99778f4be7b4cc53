"""What providers write in forms of their own, over the wire, and what goes back to them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from models.conftest import no_connection_is_left_open  # noqa: F401 - a fixture
from models.openai_server import OpenAIServer, Turn, fault, reply, serve

from agent_magic import LiteLLMModel, ToolCallingAgent
from agent_magic.record.run import to_record
from agent_magic.view.html import to_html


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def model_at(server, *turns, **options):
    server.play(*turns)
    given = {"api_base": server.api_base, "api_key": "none", "timeout_s": 10, "stream": False, **options}
    return LiteLLMModel("openai/tiny", **given)


def calling(name: str, arguments: Any, call_id: str = "c1", **message: Any) -> Turn:
    """A reply with one call; without `arguments` for `...`."""
    function = {"name": name} if arguments is ... else {"name": name, "arguments": arguments}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return reply(message.pop("content", None), tool_calls=calls, finish_reason="tool_calls", **message)


def answering(value: Any, call_id: str = "c9") -> Turn:
    return calling("final_answer", json.dumps({"answer": value}), call_id)


def sent(server, number):
    """The messages of a request, counted from 1, as they came to the server."""
    return server.received[number - 1].body["messages"]


def replayed(messages):
    """All calls in messages: their ids, and their arguments as they are written."""
    return [
        (call["id"], call["function"]["arguments"])
        for message in messages
        for call in message.get("tool_calls") or ()
    ]


class Adder:
    """`add`, and each time that its body was entered."""

    def __init__(self) -> None:
        self.made: list[tuple[int, int]] = []

    def tool(self):
        def add(a: int, b: int) -> int:
            """Add.

            Args:
                a: one
                b: other
            """
            self.made.append((a, b))
            return a + b

        return add


def test_provider_empty_argument_string(case, server):
    spellings = ast.literal_eval(
        re.search(r'four runs: (""), (" \\n"), null', case.given)[0].split(": ")[1].replace("null", "None")
    )
    assert spellings == ("", " \n", None)
    entered: list[str] = []

    def version() -> str:
        "Version."
        entered.append("version")
        return "1.2"

    for arguments in (*spellings, ...):
        entered.clear()
        agent = ToolCallingAgent(
            model=model_at(server, calling("version", arguments), answering("x")), tools=[version]
        )
        result = agent.run("Which version?")
        # each runs the tool once, observation "1.2"
        assert entered == ["version"]
        assert result.actions[0].tool_results[0].observation == "1.2"
        assert (result.status, result.value) == ("answered", "x")
        # in sent(2) the replayed call has arguments "{}" (a string that parses)
        assert replayed(sent(server, 2)) == [("c1", "{}")]


def test_provider_arguments_as_dict(case, server):
    first = json.loads(re.search(r'\{"a": 1, "b": 2\}', case.given)[0])
    for arguments in (first, json.dumps(first), json.dumps(json.dumps(first))):
        adder = Adder()
        agent = ToolCallingAgent(
            model=model_at(server, calling("add", arguments), answering(3)), tools=[adder.tool()]
        )
        result = agent.run("1 and 2?")
        # all observe 3
        assert adder.made == [(1, 2)]
        assert result.actions[0].tool_results[0].observation == "3"
        # in sent(2) the arguments are a JSON string
        [(_, text)] = replayed(sent(server, 2))
        assert isinstance(text, str)
        assert json.loads(text) == first


def test_provider_arguments_not_an_object(case, server):
    listed = case.given.removeprefix("arguments in turn: ").strip()
    spellings = ast.literal_eval(f"[{listed.replace(' (Python quotes)', '')}]")
    assert len(spellings) == 6
    good = {"{'a': 1, 'b': 2}", '{"a": 1, "b": 2,}'}
    assert good <= set(spellings)
    for arguments in spellings:
        adder = Adder()
        turns = (calling("add", arguments), calling("add", '{"a": 1, "b": 2}', "c2"), answering("done"))
        agent = ToolCallingAgent(model=model_at(server, *turns), tools=[adder.tool()])
        result = agent.run("1 and 2?")
        # no crash
        assert (result.status, result.value) == ("answered", "done")
        first, second, _ = result.actions
        if arguments in good:
            # these are read
            assert adder.made == [(1, 2), (1, 2)]
            assert first.tool_results[0].observation == "3"
            assert first.faults == ()
        else:
            # the others are error steps, body not run
            assert adder.made == [(1, 2)]
            assert len(first.faults) == 1
            assert first.faults[0].kind in ("ParsingError", "ToolCallError")
        assert second.tool_results[0].observation == "3"
        # each call id gets one tool reply
        messages = sent(server, 3)
        told = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert told == ["c1", "c2"]
        # and the replayed arguments are valid JSON
        assert all(isinstance(json.loads(text), dict) for _, text in replayed(messages))


def test_provider_null_content_kept_in_history(case, server):
    assert 'content null with one tool call; reply 2: content "" with one tool call' in case.given
    adder = Adder()
    turns = (
        calling("add", '{"a": 1, "b": 2}'),
        calling("add", '{"a": 3, "b": 4}', "c2", content=""),
        answering("x"),
    )
    agent = ToolCallingAgent(model=model_at(server, *turns), tools=[adder.tool()])
    assert agent.run("Add.").value == "x"
    messages = sent(server, 3)
    replies = [message for message in messages if message["role"] == "assistant"]
    assert len(replies) == 2
    for message in replies:
        # each has a content key, null or a non-empty string, never [] and never an empty text block
        assert "content" in message
        assert message["content"] is None
        # tool_calls are there
        assert len(message["tool_calls"]) == 1
    # nothing concatenates None
    assert "None" not in json.dumps([message for message in messages if message["role"] != "system"])
    assert agent.result.actions[0].model_output == ""


ADD = repr("Add.\n\nArgs:\n    a: one\n    b: other")
REFUSAL = "Missing `reasoning_content` field in the assistant message at message index 2"


@pytest.mark.parametrize("setting", [True, False, None])
def test_provider_reasoning_goes_back(case, cells, server, setting):
    assert 'reasoning_content "because", tool call add' in case.given
    cells.define(f"def add(a: int, b: int) -> int:\n    {ADD}\n    return a + b")
    first = calling("add", '{"a": 1, "b": 2}', reasoning_content="because")
    # the first request with the field is answered, those without it are refused
    turns = (first, answering("x")) if setting else (first, fault(400, REFUSAL), answering("x"))
    cells.shell.user_ns["m"] = model_at(server, *turns, reasoning_back=setting)
    shown = cells.run("%%agent bot --model @m --tools add --no-raise\nAdd.")
    result = cells.agent().result
    fields = [
        message.get("reasoning_content")
        for received in server.received[1:]
        for message in received.body["messages"]
        if message.get("tool_calls")
    ]
    if setting is True:
        # with it on, sent(2)'s assistant message has the field and the run answers
        assert fields == ["because"]
        assert (result.status, result.value) == ("answered", "x")
    elif setting is False:
        # with it off the field is absent and the 400 is shown as the provider wrote it
        assert fields == [None]
        assert result.status == "failed"
        assert REFUSAL in result.error.message
        assert REFUSAL in " ".join(shown.text.split())
    else:
        # left alone, it learns from the 400 and asks again with the field
        assert fields == [None, "because"]
        assert (result.status, result.value) == ("answered", "x")
        # and remembers it
        server.play(calling("add", '{"a": 1, "b": 2}', reasoning_content="because"), answering("y"))
        assert cells.run("%%agent other --model @m --tools add\nAgain.").value == "y"
        assert len(server.received) == 2
    # in all, "because" is in the step's display, not in the answer
    step = result.actions[0]
    assert (step.reasoning, step.model_output) == ("because", "")
    assert "because" in to_html(to_record(result))
    assert "because" not in str(result.value)


def test_provider_text_beside_tool_calls(case, cells, server):
    assert 'content "Let me add first." with a call add(a=1, b=2)' in case.given
    cells.define(f"def add(a: int, b: int) -> int:\n    {ADD}\n    return a + b")
    turns = (calling("add", '{"a": 1, "b": 2}', content="Let me add first."), answering(3))
    cells.shell.user_ns["m"] = model_at(server, *turns)
    answered = cells.run("%%agent bot --model @m --tools add\n1 and 2?")
    assert answered.value == 3
    # the text is shown as the step's thought
    assert "Let me add first." in answered.text
    assert cells.agent().result.actions[0].model_output == "Let me add first."
    # and kept in the assistant message beside tool_calls, in one message, followed directly by the tool reply
    *_, assistant, told = sent(server, 2)
    assert (assistant["role"], assistant["content"]) == ("assistant", "Let me add first.")
    assert [call["function"]["name"] for call in assistant["tool_calls"]] == ["add"]
    assert (told["role"], told["tool_call_id"], told["content"]) == ("tool", "c1", "3")
