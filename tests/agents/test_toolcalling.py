"""How a tool-calling agent acts: replies read, calls checked, answers taken, observations told."""

from __future__ import annotations

import itertools
import json
import sys
from typing import Any

import pandas as pd
import pytest
from agents.checking import AS_TEXT, add, agent_of, assert_usable, assert_valid, model_of, told
from inline_snapshot import snapshot

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import ToolCallError, ToolError, ToolExecutionError
from agent_magic.core.events import StepEnded
from agent_magic.core.messages import ChatMessage
from agent_magic.core.state import AgentState, DictState
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.toolbox import LiveTool

calls, final = ScriptedModel.calls, ScriptedModel.final


def _names(request: Any) -> list[str]:
    return [tool["name"] for tool in request.tools]


# -- what is sent --------------------------------------------------------------------------------


def test_request_has_the_tools_and_then_final_answer_and_the_stop_texts() -> None:
    agent = agent_of([final(3)])
    agent.run("1 + 2")
    (request,) = model_of(agent).requests
    assert _names(request) == ["add", "final_answer"]
    assert request.stop == ("Observation:", "Calling tools:")
    assert request.kind == "act"


@pytest.mark.parametrize("capabilities", [Capabilities(), AS_TEXT], ids=["native", "text"])
def test_each_request_of_a_long_run_begins_with_the_one_before_byte_for_byte(
    capabilities: Capabilities,
) -> None:
    replies = [calls(("add", {"a": n, "b": n})) | {"content": f"Thought {n}."} for n in range(30)]
    agent = agent_of([*replies, final(0)], capabilities=capabilities, max_steps=31)
    assert agent.run("add often").status == "answered"
    sent = [[json.dumps(message) for message in request.messages] for request in model_of(agent).requests]
    assert len(sent) == 31
    for before, now in itertools.pairwise(sent):
        assert now[: len(before)] == before
        assert len(now) == len(before) + 2
    schemas = {json.dumps(request.tools) for request in model_of(agent).requests}
    assert len(schemas) == 1


def test_requests_share_the_very_message_objects() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2}))] * 3 + [final(0)])
    agent.run("add")
    first, *_, last = (request.chat_messages for request in model_of(agent).requests)
    assert all(a is b for a, b in zip(first[1:], last[1:], strict=False))


# -- native calls --------------------------------------------------------------------------------


def test_native_call_is_run_and_its_result_told_with_its_id() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})) | {"content": "I add."}, final(3)])
    agent.run("1 + 2")
    assert model_of(agent).requests[1].messages[-2:] == snapshot(
        [
            {
                "role": "assistant",
                "content": "I add.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "3"},
        ]
    )


@pytest.mark.parametrize("arguments", ['{"a": 1, "b": 2}', '"{\\"a\\": 1, \\"b\\": 2}"', "{'a': 1, 'b': 2,}"])
def test_native_arguments_are_read_whatever_form_they_come_in(arguments: str) -> None:
    reply = {"tool_calls": [{"name": "add", "arguments": arguments}]}
    assert told(agent_of([reply, final(3)]).run("1 + 2"))[0] == "3"


def test_native_arguments_that_cannot_be_read_are_told() -> None:
    reply = {
        "tool_calls": [
            {"name": "add", "arguments": '{"a": 1, "b"'},
            {"name": "add", "arguments": {"a": 1, "b": 2}},
        ]
    }
    agent = agent_of([reply, final(3)])
    assert told(agent.run("1 + 2"))[0] == snapshot("""\
The JSON '{"a": 1, "b"' is incomplete: it was cut off, or a closing bracket or quote is missing.
Write the whole JSON again; if it is long, make it shorter.

3\
""")
    assert_usable(agent)


def test_duplicate_and_missing_ids_are_made_unique() -> None:
    same = {"tool_calls": [{"id": "x", "name": "add", "arguments": {"a": n, "b": 0}} for n in (1, 2)]}
    none = {"tool_calls": [{"id": "", "name": "add", "arguments": {"a": n, "b": 0}} for n in (3, 4)]}
    agent = agent_of([same, none, same, final(0)])
    result = agent.run("add")
    assert [[call.id for call in step.tool_calls] for step in result.actions] == snapshot(
        [["x", "call_1"], ["call_1_2", "call_2"], ["x_2", "call_1_3"], ["call_1_4"]]
    )
    assert [step.observations for step in result.actions[:3]] == ["1\n\n2", "3\n\n4", "1\n\n2"]
    assert_valid(agent.memory)


def test_blanks_around_a_tools_name_are_no_fault() -> None:
    agent = agent_of([calls((" add\n", {"a": 1, "b": 2})), calls((" final_answer ", {"answer": 3}))])
    result = agent.run("1 + 2")
    assert (result.status, result.value) == ("answered", 3)
    assert told(result)[0] == "3"


# -- calls as text -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ('{"name": "add", "arguments": {"a": 1, "b": 2}}', None),
        ('I add.\n```json\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n```', "I add."),
        ('I add. <tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>', "I add."),
        ('Thought: add\nAction: {"function": "add", "parameters": {"a": 1, "b": 2}}', "Thought: add"),
    ],
)
@pytest.mark.parametrize("capabilities", [Capabilities(), AS_TEXT], ids=["native", "text"])
def test_call_in_a_text_is_run_and_the_text_before_it_is_the_thought(
    text: str, thought: str | None, capabilities: Capabilities
) -> None:
    agent = agent_of([text, final(3)], capabilities=capabilities)
    result = agent.run("1 + 2")
    assert told(result)[0] == "3"
    assert result.actions[0].model_output == text
    asked = model_of(agent).requests[1].chat_messages[-2]
    assert (asked.content, [call.name for call in asked.tool_calls]) == (thought, ["add"])


def test_several_calls_in_a_text_are_run_in_order() -> None:
    text = "\n".join(json.dumps({"name": "add", "arguments": {"a": n, "b": 1}}) for n in (1, 2))
    agent = agent_of([text, final(0)], capabilities=AS_TEXT)
    assert told(agent.run("add"))[0] == "2\n\n3"
    assert [m["content"] for m in model_of(agent).requests[1].messages[-2:]] == snapshot(
        [
            """\
{"name": "add", "arguments": {"a": 1, "b": 1}}
{"name": "add", "arguments": {"a": 2, "b": 1}}\
""",
            """\
Observation:
2

Observation:
3\
""",
        ]
    )


def test_thinking_is_no_call_and_no_answer() -> None:
    text = '<think>{"name": "add", "arguments": {"a": 9, "b": 9}}</think>{"name": "add", "arguments": {"a": 1, "b": 2}}'
    agent = agent_of([text, final(3)], capabilities=AS_TEXT)
    result = agent.run("1 + 2")
    assert told(result)[0] == "3"
    assert "9" in result.actions[0].reasoning
    assert "9" not in json.dumps(model_of(agent).requests[1].messages[2:])


# -- replies without a call ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("", id="empty"),
        pytest.param({"content": None, "finish_reason": "content_filter"}, id="empty with a reason"),
        pytest.param({"content": None, "reasoning": "Let me think."}, id="reasoning alone"),
        pytest.param({"content": "First I will look at", "finish_reason": "length"}, id="cut off"),
        pytest.param("The sum is three.", id="prose"),
        pytest.param('```json\n{"name": "add", "arguments": {"a": 1,\n```', id="broken JSON"),
        pytest.param('{"name": "add", "arguments": {"a": 1, "a": 2}}', id="key twice"),
        pytest.param('{"name": "add", "arguments": {"a": NaN, "b": 2}}', id="NaN"),
    ],
)
def test_reply_without_a_call_that_can_be_read_is_told_what_to_do(
    reply: Any, request: pytest.FixtureRequest
) -> None:
    agent = agent_of([reply, final(3)])
    result = agent.run("1 + 2")
    assert result.value == 3
    assert result.actions[0].fault is not None
    assert result.actions[0].fault.kind == "ParsingError"
    assert (
        told(result)[0]
        == snapshot(
            {
                "empty": "The reply was empty (finish_reason 'stop'). Call one of: add, final_answer.",
                "empty with a reason": "The reply was empty (finish_reason 'content_filter'). Call one of: add, final_answer.",
                "reasoning alone": "The reply was empty (finish_reason 'stop'). Call one of: add, final_answer.",
                "cut off": "The reply was cut off by its length limit before a tool call was whole. Write the tool call first, with less text before it.",
                "prose": 'There is no tool call in the reply. Tools: add, final_answer. To go on, call one; if the text is the answer, call final_answer with {"answer": <the answer>}.',
                "broken JSON": """\
The JSON '{"name": "add", "arguments": {"a": 1,\\n```' is incomplete: it was cut off, or a closing bracket or quote is missing.
Write the whole JSON again; if it is long, make it shorter.\
""",
                "key twice": """\
The key 'a' stands twice in one JSON object.
Give each argument once.\
""",
                "NaN": """\
NaN is no number that JSON can hold.
Give a finite number, or null if the tool takes it.\
""",
            }
        )[request.node.callspec.id]
    )
    assert_usable(agent)


def test_prose_is_nudged_once_and_then_taken_as_answer_from_a_model_without_native_calls() -> None:
    agent = agent_of(["I think it is three.", " It is three.\n"], capabilities=AS_TEXT)
    result = agent.run("1 + 2")
    assert (result.status, result.value) == ("answered", "It is three.")
    assert [bool(step.fault) for step in result.actions] == [True, False]
    assert result.actions[1].is_final_answer
    assert agent.memory.to_messages()[-1] == ChatMessage(role="assistant", content=" It is three.")
    assert_usable(agent)


def test_prose_of_a_model_with_native_calls_is_never_an_answer() -> None:
    result = agent_of(["It is three.", "It is 3.", "Three.", "3."]).run("1 + 2")
    assert (result.status, result.value) == ("failed", None)
    assert [bool(step.fault) for step in result.actions] == [True] * 4


def test_nudge_is_given_once_in_each_run() -> None:
    agent = agent_of(["One.", "One.", "Two.", "Two."], capabilities=AS_TEXT)
    assert agent.run("first").value == "One."
    second = agent.run("second", reset=False)
    assert (second.value, len(second.actions)) == ("Two.", 2)


# -- calls that cannot be made ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(("ad", {"a": 1, "b": 2}), id="near name"),
        pytest.param(("weather", {}), id="far name"),
        pytest.param(("", {}), id="no name"),
        pytest.param(("add", {"a": 1}), id="missing"),
        pytest.param(("add", {"a": 1, "b": "two"}), id="wrong type"),
        pytest.param(("add", {"a": True, "b": 2}), id="bool for int"),
        pytest.param(("add", {"a": 1, "b": 2, "c": 3}), id="unknown argument"),
        pytest.param(("add", {"a": "@x", "b": 2}), id="unknown reference"),
    ],
)
def test_wrong_call_is_told_what_to_write_and_no_body_is_entered(
    call: tuple[str, dict[str, Any]], request: pytest.FixtureRequest
) -> None:
    entered: list[int] = []

    def add(a: int, b: int) -> int:
        """Add two numbers.

        Args:
            a: first number
            b: second number
        """
        entered.append(a)
        return a + b

    agent = agent_of([calls(call), final(3)], add)
    result = agent.run("1 + 2")
    assert entered == []
    assert result.actions[0].faults[0].kind == "ToolCallError"
    assert result.actions[0].tool_results[0].timing is None
    assert (
        told(result)[0]
        == snapshot(
            {
                "near name": 'No tool \'ad\'. Tools: add, final_answer. Call add with {"a": <integer>, "b": <integer>}.',
                "far name": "No tool 'weather'. Tools: add, final_answer. Call one of these.",
                "no name": "No tool ''. Tools: add, final_answer. Call one of these.",
                "missing": 'add: argument \'b\' is missing. Call add with {"a": <integer>, "b": <integer>}.',
                "wrong type": "add: argument 'b' is 'two'; expected an integer. Call add with {\"a\": <integer>, \"b\": <integer>}.",
                "bool for int": 'add: argument \'a\' is True; expected an integer. Call add with {"a": <integer>, "b": <integer>}.',
                "unknown argument": 'add: there is no argument \'c\'. Call add with {"a": <integer>, "b": <integer>}.',
                "unknown reference": "add: argument 'a' is '@x'; no open variable has that name. Call add with {\"a\": <integer>, \"b\": <integer>}.",
            }
        )[request.node.callspec.id]
    )
    assert_usable(agent)


def test_notes_tell_how_arguments_were_read() -> None:
    result = agent_of([calls(("add", {"a": "1", "b": 2.0})), final(3)]).run("1 + 2")
    assert told(result)[0] == snapshot("""\
(a: text '1' read as 1)
3\
""")


def test_very_long_unknown_name_is_told_shortly() -> None:
    result = agent_of([calls(("x" * 100_000, {})), final(3)]).run("1 + 2")
    assert len(told(result)[0]) < 500


# -- tools that fail -------------------------------------------------------------------------------


class _Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def _raising(error: BaseException) -> Any:
    def fail() -> None:
        """Fail."""
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            ValueError("no city 'Olso'"),
            snapshot("""\
fail raised ValueError: no city 'Olso'
Call it with other arguments, or use another tool.\
"""),
        ),
        (
            KeyError("Olso"),
            snapshot("""\
fail raised KeyError: 'Olso'
Call it with other arguments, or use another tool.\
"""),
        ),
        (
            ValueError(),
            snapshot("""\
fail raised ValueError.
Call it with other arguments, or use another tool.\
"""),
        ),
        (
            ToolError("There is no city 'Olso'; the nearest is 'Oslo'.\n  Ask for that."),
            snapshot("""\
There is no city 'Olso'; the nearest is 'Oslo'.
  Ask for that.\
"""),
        ),
        (
            SystemExit(3),
            snapshot("""\
fail tried to end the Python process (SystemExit: 3), which a tool cannot do.
Call it with other arguments, or use another tool.\
"""),
        ),
        (
            _Unspeakable(),
            snapshot("""\
fail raised _Unspeakable: <its text raised RuntimeError>
Call it with other arguments, or use another tool.\
"""),
        ),
        (
            GeneratorExit("odd"),
            snapshot("""\
fail raised GeneratorExit: odd
Call it with other arguments, or use another tool.\
"""),
        ),
        (
            StopIteration("odd"),
            snapshot("""\
fail raised StopIteration: odd
Call it with other arguments, or use another tool.\
"""),
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_tool_that_raises_is_told_and_the_run_goes_on(error: BaseException, text: str) -> None:
    agent = agent_of([calls(("fail", {})), final("went on")], _raising(error))
    result = agent.run("fail")
    assert told(result)[0] == text
    assert result.value == "went on"
    assert_usable(agent)


def test_tool_that_exits_does_not_end_the_process() -> None:
    def leave() -> None:
        """Leave."""
        sys.exit("bye")

    result = agent_of([calls(("leave", {})), final(1)], leave).run("leave")
    assert told(result)[0] == snapshot("""\
leave tried to end the Python process (SystemExit: bye), which a tool cannot do.
Call it with other arguments, or use another tool.\
""")


def test_error_text_is_bounded_with_head_tail_and_advice() -> None:
    error = ValueError("begin " + "x" * 5_000_000 + " end")
    (text, _) = told(agent_of([calls(("fail", {})), final(1)], _raising(error)).run("fail"))
    assert len(text) <= 4_000
    assert text.startswith("fail raised ValueError: begin xxx")
    assert text.endswith("xxx end\nCall it with other arguments, or use another tool.")
    assert "characters cut" in text


def test_tool_error_text_is_bounded_too() -> None:
    (text, _) = told(agent_of([calls(("fail", {})), final(1)], _raising(ToolError("x" * 9_000))).run("fail"))
    assert len(text) <= 4_000


def test_error_text_holds_no_secret_and_no_control_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "correct-horse")
    error = ValueError("\x1b[31mdenied\x1b[0m for correct-horse")
    (text, _) = told(agent_of([calls(("fail", {})), final(1)], _raising(error)).run("fail"))
    assert text.startswith("fail raised ValueError: denied for [redacted]\n")


# -- final answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, 0, "", [], False, {}, {"a": [1, None]}, "text", 1.5, "total"])
def test_final_answer_takes_any_value(value: Any) -> None:
    agent = agent_of([final(value)], state={"total": 7})
    result = agent.run("answer")
    assert result.status == "answered"
    assert result.value == value
    assert type(result.value) is type(value)
    assert told(result) == ["accepted"]
    assert_usable(agent)


@pytest.mark.parametrize("text", ["@df", "df"])
def test_final_answer_by_name_gives_the_object_itself(text: str) -> None:
    frame = pd.DataFrame({"a": [1, 2]})
    result = agent_of([final(text)], state={"df": frame}).run("answer")
    assert result.value is frame
    assert told(result) == ["(answer read as @df)\naccepted"]


def test_final_answer_by_at_name_gives_a_number_itself() -> None:
    assert agent_of([final("@total")], state={"total": 7}).run("answer").value == 7


def test_final_answer_follows_exact_references() -> None:
    state = AgentState(DictState(total=7), scope="all", references="exact")
    assert agent_of([final("total")], state=state).run("answer").value == 7


def test_final_answer_with_an_unknown_reference_is_refused() -> None:
    agent = agent_of([final("@sails"), final("@sales")], state={"sales": [1]})
    result = agent.run("answer")
    assert result.value == [1]
    assert told(result)[0] == snapshot(
        "final_answer: argument 'answer' is '@sails'; no open variable has that name. Nearest: sales. Write \"@sales\", or give text without \"@\"."
    )


def test_final_answer_without_an_answer_is_refused() -> None:
    agent = agent_of([calls(("final_answer", {})), final(1)])
    assert told(agent.run("answer"))[0] == snapshot(
        "final_answer: argument 'answer' is missing. Call final_answer with {\"answer\": <any>}."
    )
    assert_usable(agent)


def test_final_answer_beside_other_calls_is_refused_before_any_body_runs() -> None:
    entered: list[int] = []

    def note(n: int) -> None:
        """Note a number.

        Args:
            n: the number
        """
        entered.append(n)

    both = calls(("note", {"n": 1}), ("final_answer", {"answer": 1}), ("note", {"n": 2}))
    agent = agent_of([both, calls(("note", {"n": 3})), final(1)], note)
    result = agent.run("note")
    assert entered == [3]
    assert result.status == "answered"
    assert [r.to_text() for r in result.actions[0].tool_results] == snapshot(
        [
            "note was not run, because final_answer stood in the same turn. Call note again, and final_answer later, alone.",
            "final_answer must be called alone, after the results of other calls are known; no call of this turn was run. Make the other calls first.",
            "note was not run, because final_answer stood in the same turn. Call note again, and final_answer later, alone.",
        ]
    )
    assert_usable(agent)


def test_several_final_answers_are_refused() -> None:
    agent = agent_of([calls(("final_answer", {"answer": 1}), ("final_answer", {"answer": 1})), final(1)])
    result = agent.run("answer")
    assert [r.to_text() for r in result.actions[0].tool_results] == snapshot(
        [
            'final_answer was called 2 times in one turn; it must be called once and alone. Call final_answer with {"answer": <the answer>} once.',
            'final_answer was called 2 times in one turn; it must be called once and alone. Call final_answer with {"answer": <the answer>} once.',
        ]
    )
    assert result.value == 1
    assert_usable(agent)


# -- objects ---------------------------------------------------------------------------------------


def test_object_result_is_bound_and_described() -> None:
    def top_rows(n: int) -> pd.DataFrame:
        """The first rows.

        Args:
            n: how many
        """
        return pd.DataFrame({"price": range(n)})

    agent = agent_of([calls(("top_rows", {"n": 2})), final("@top_rows_1")], top_rows, state={})
    result = agent.run("top")
    assert told(result)[0] == snapshot("""\
The result is in the variable top_rows_1; refer to it as "@top_rows_1".
DataFrame, 2 rows × 1 column
columns price: int64
   price
0      0
1      1\
""")
    assert result.actions[0].tool_results[0].bound_to == "top_rows_1"
    assert result.value is agent.state["top_rows_1"] is result.actions[0].action_output


def test_object_result_goes_on_into_the_next_call_by_name() -> None:
    def load() -> pd.DataFrame:
        """Load."""
        return pd.DataFrame({"price": [1, 2]})

    def total(table: pd.DataFrame) -> int:
        """Sum of the prices.

        Args:
            table: prices
        """
        return int(table["price"].sum())

    agent = agent_of([calls(("load", {})), calls(("total", {"table": "@load_1"})), final(3)], load, total)
    assert told(agent.run("sum"))[1] == snapshot("""\
(table read as @load_1)
3\
""")


def test_object_result_never_takes_a_name_that_exists() -> None:
    state = DictState(load_1="the person's")

    def load() -> object:
        """Load."""
        return object()

    agent = agent_of([calls(("load", {}), ("load", {})), final(1)], load, state=state)
    result = agent.run("load")
    # Each is bound when its call ends, and parallel calls end in any order.
    assert {r.bound_to for r in result.actions[0].tool_results} == {"load_2", "load_3"}
    assert all(r.output is state[r.bound_to or ""] for r in result.actions[0].tool_results)
    assert state["load_1"] == "the person's"


def test_object_result_stays_open_in_the_next_run() -> None:
    def load() -> object:
        """Load."""
        return object()

    agent = ToolCallingAgent(
        [load], ScriptedModel([calls(("load", {})), final(1), final("@load_1")]), state=AgentState()
    )
    agent.run("load")
    assert agent.run("give it", reset=False).value is agent.state["load_1"]


# -- observations over the budget ------------------------------------------------------------------


def _lines() -> str:
    """Many lines."""
    return "\n".join(f"line {n}" for n in range(5_000))


def test_long_observation_is_cut_and_kept_whole_and_peek_reads_on() -> None:
    agent = agent_of(
        [calls(("_lines", {})), calls(("peek", {"name": "obs_1", "start": 20_000, "length": 30})), final(1)],
        _lines,
    )
    result = agent.run("read")
    first, second, _ = told(result)
    assert len(first) <= 8_000
    assert first.startswith("line 0\nline 1\n")
    assert first.endswith("line 4999")
    assert '; the whole is obs_1: peek(name="obs_1", start=0) …' in first
    assert agent.state["obs_1"] == _lines()
    assert second == snapshot("""\
obs_1: characters 20000 to 20030 of 48889. Read on with {"name": "obs_1", "start": 20030}.
line 2111
line 2112
line 2113
""")
    assert second.endswith(_lines()[20_000:20_030])


def test_peek_is_offered_last_from_then_on() -> None:
    agent = agent_of(
        [calls(("add", {"a": 1, "b": 2})), calls(("_lines", {})), calls(("add", {"a": 1, "b": 2})), final(1)],
        add,
        _lines,
    )
    agent.run("read")
    offered = [_names(request) for request in model_of(agent).requests]
    plain = ["add", "_lines", "final_answer"]
    assert offered == [plain, plain, [*plain, "peek"], [*plain, "peek"]]


def test_budget_follows_the_models_window() -> None:
    agent = agent_of([calls(("_lines", {})), final(1)], _lines, context_window=1_000)
    text = told(agent.run("read"))[0]
    assert len(text) == 500
    assert agent.state["obs_1"] == _lines()


def test_description_of_an_object_keeps_to_the_budget() -> None:
    def load() -> dict[int, str]:
        """Load."""
        return dict.fromkeys(range(100), "x" * 100)

    agent = agent_of([calls(("load", {})), final(1)], load, context_window=440)
    text = told(agent.run("read"))[0]
    assert len(text) <= 220
    assert text.startswith('The result is in the variable load_1; refer to it as "@load_1".')


# -- live tools ------------------------------------------------------------------------------------


def test_tool_that_is_redefined_between_steps_is_used_anew_and_its_schema_follows() -> None:
    state = DictState()

    def old(city: str) -> str:
        """The old one.

        Args:
            city: a city
        """
        return f"old {city}"

    def new(city: str, year: int) -> str:
        """The new one.

        Args:
            city: a city
            year: a year
        """
        return f"new {city} {year}"

    state["price"] = old
    agent = ToolCallingAgent(
        [LiveTool(name="price", state=state)],
        ScriptedModel(
            [
                calls(("price", {"city": "Oslo"})),
                calls(("price", {"city": "Oslo", "year": 2024})),
                calls(("price", {"city": "Oslo"})),
                final(1),
            ]
        ),
    )
    for event in agent.stream("prices"):
        if isinstance(event, StepEnded) and getattr(event.step, "step_number", 0) == 1:
            state["price"] = new
    texts = told(agent.result)
    assert texts[:2] == ["old Oslo", "new Oslo 2024"]
    assert texts[2] == snapshot(
        'price: argument \'year\' is missing. Call price with {"city": <string>, "year": <integer>}.'
    )
    schemas = [request.tools[0] for request in model_of(agent).requests]
    assert [schema["description"] for schema in schemas] == ["The old one."] + ["The new one."] * 3
    assert list(schemas[1]["parameters"]["properties"]) == ["city", "year"]
    assert_usable(agent)


def test_tool_that_is_gone_is_offered_no_more_and_told_as_unknown() -> None:
    state = DictState(add=add, sub=add)

    def drop(_request: Any) -> Any:
        del state["sub"]
        return calls(("add", {"a": 1, "b": 2}))

    agent = ToolCallingAgent(
        [LiveTool(name="add", state=state), LiveTool(name="sub", state=state)],
        ScriptedModel([drop, calls(("sub", {"a": 1, "b": 2})), final(1)]),
    )
    result = agent.run("go")
    assert [_names(request) for request in model_of(agent).requests[:2]] == [
        ["add", "sub", "final_answer"],
        ["add", "final_answer"],
    ]
    assert told(result)[1] == snapshot("No tool 'sub'. Tools: add, final_answer. Call one of these.")


def test_tools_of_a_model_without_native_calls_follow_in_its_prompt() -> None:
    state = DictState(add=add)

    def sub(a: int, b: int) -> int:
        """Subtract.

        Args:
            a: first number
            b: second number
        """
        return a - b

    def swap(_request: Any) -> Any:
        state["add"] = sub
        return calls(("add", {"a": 1, "b": 2}))

    agent = ToolCallingAgent(
        [LiveTool(name="add", state=state)], ScriptedModel([swap, final(1)], capabilities=AS_TEXT)
    )
    agent.run("go")
    first, second = (request.messages[0]["content"] for request in model_of(agent).requests)
    assert "- add: Add two numbers." in first
    assert "- add: Subtract." in second


# -- summary view ----------------------------------------------------------------------------------


def test_memory_of_a_run_in_both_views() -> None:
    agent = agent_of(["Hm, three?", calls(("add", {"a": 1})) | {"content": "I add."}, final(3)])
    agent.run("1 + 2")
    assert _shown(agent.memory.to_messages()[1:]) == snapshot(
        [
            "user: 1 + 2",
            "assistant: Hm, three?",
            'user: There is no tool call in the reply. Tools: add, final_answer. To go on, call one; if the text is the answer, call final_answer with {"answer": <the answer>}.',
            "assistant: I add. [call_1 add]",
            'tool: add: argument \'b\' is missing. Call add with {"a": <integer>, "b": <integer>}. [call_1]',
            "assistant:  [call_1_2 final_answer]",
            "tool: accepted [call_1_2]",
        ]
    )
    assert _shown(agent.memory.to_messages(summary_mode=True)) == snapshot(
        [
            "user: 1 + 2",
            'user: There is no tool call in the reply. Tools: add, final_answer. To go on, call one; if the text is the answer, call final_answer with {"answer": <the answer>}.',
            "assistant:  [call_1 add]",
            'tool: add: argument \'b\' is missing. Call add with {"a": <integer>, "b": <integer>}. [call_1]',
            "assistant:  [call_1_2 final_answer]",
            "tool: accepted [call_1_2]",
        ]
    )


def _shown(messages: list[ChatMessage]) -> list[str]:
    return [
        f"{m.role}: {m.content or ''}{''.join(f' [{call.id} {call.name}]' for call in m.tool_calls)}{f' [{m.tool_call_id}]' if m.tool_call_id else ''}"
        for m in messages
    ]


def test_long_list_is_kept_as_the_list_that_it_is() -> None:
    seen: list[object] = []

    def ids() -> list[int]:
        """Give ids."""
        return list(range(20_000))

    def total(numbers: list[int]) -> int:
        """Add up.

        Args:
            numbers: what to add
        """
        seen.append(numbers)
        return sum(numbers)

    model = ScriptedModel(
        [
            ScriptedModel.calls(("ids", {})),
            ScriptedModel.calls(("total", {"numbers": "@obs_1"})),
            ScriptedModel.calls(("peek", {"name": "obs_1", "start": 0, "length": 20})),
            ScriptedModel.final("@obs_1"),
        ]
    )
    agent = ToolCallingAgent([ids, total], model)
    result = agent.run("Add them up.")
    assert seen == [agent.state["obs_1"]]
    assert result.value is agent.state["obs_1"]
    assert result.actions[1].observations.endswith(str(sum(range(20_000))))
    assert "[0, 1, 2, 3" in result.actions[2].observations


def test_name_and_id_that_cannot_be_encoded_are_mended_before_they_are_kept() -> None:
    broken = {"tool_calls": [{"id": "c\ud83d", "name": "a\udc00dd" + "x" * 5_000, "arguments": {}}]}
    agent = agent_of([broken, final(3)])
    agent.run("1 + 2")
    (call,) = agent.memory.steps[1].tool_calls
    assert call.id == "c\ufffd"
    assert call.name == "a\ufffddd" + "x" * 196
    json.dumps(model_of(agent).requests[1].messages, ensure_ascii=False).encode("utf-8")
    assert_usable(agent)


@pytest.mark.parametrize("raw", [{"a": 10**5_000, "b": 1}, 10**5_000], ids=["inside", "alone"])
def test_native_arguments_with_a_number_that_python_cannot_write_are_told(raw: object) -> None:
    agent = agent_of([{"tool_calls": [{"name": "add", "arguments": raw}]}, final(3)])
    result = agent.run("1 + 2")
    assert result.status == "answered"
    assert [fault.kind for fault in result.actions[0].faults] == ["ParsingError"]
    assert_usable(agent)


def test_deep_native_arguments_are_told() -> None:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    agent = agent_of([{"tool_calls": [{"name": "add", "arguments": {"a": deep}}]}, final(3)])
    assert told(agent.run("1 + 2"))[0] == snapshot("""\
The JSON is nested deeper than 64 levels.
Give flatter arguments.\
""")
    assert_usable(agent)


@pytest.mark.parametrize("kind", [ToolError, ToolCallError, ToolExecutionError, ValueError])
def test_error_text_is_at_most_four_thousand_characters_whoever_wrote_it(kind: type[Exception]) -> None:
    def fail() -> None:
        """Fail."""
        raise kind("x" * 9_000)

    result = agent_of([calls(("fail", {}))] * 3 + [final(0)], fail).run("fail")
    texts = [fault.message for step in result.actions for fault in step.faults]
    assert len(texts) == 3
    assert max(map(len, texts)) <= 4_000
    # what is added to the text of a repeated failure stands there all the same
    assert texts[1].endswith("\nThe same call failed before: do something else now.")
