"""`final_answer` and `peek`."""

from __future__ import annotations

import pandas as pd
import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ToolCallError, ToolError
from agent_magic.core.messages import ToolSchema
from agent_magic.core.state import AgentState, DictState
from agent_magic.tools.builtin import FINAL_ANSWER, make_peek


def peek(state: AgentState, **arguments):
    made = make_peek(state)
    return made.invoke(made.prepare(arguments, state))


def make_state() -> AgentState:
    state = AgentState(
        DictState(text="abcdefghij", rows=[1, {"a": "é"}], frame=pd.DataFrame({"a": [1, 2]}), secret="no"),
        opened=["text", "rows", "frame"],
    )
    state.keep("x" * 9_000 + "END")
    return state


def test_final_answer_is_told_as_a_tool():
    assert FINAL_ANSWER.to_schema() == snapshot(
        ToolSchema(
            name="final_answer",
            description="Give the answer to the task and end. Call it once, alone.",
            parameters={
                "type": "object",
                "properties": {
                    "answer": {
                        "description": 'The answer itself: text, a number or other JSON, or "@name" for a variable.'
                    }
                },
                "required": ["answer"],
                "additionalProperties": False,
            },
        )
    )
    assert FINAL_ANSWER.warnings == ()


@pytest.mark.parametrize("answer", [None, 0, "", [], False, {"x": [1]}, "Paris"])
def test_final_answer_gives_the_value_itself(answer):
    got = FINAL_ANSWER.invoke(FINAL_ANSWER.prepare({"answer": answer}, AgentState()))
    assert got == answer
    assert type(got) is type(answer)


def test_final_answer_names_its_argument_when_it_is_missing():
    with pytest.raises(ToolCallError) as caught:
        FINAL_ANSWER.prepare({"result": "Paris"}, AgentState())
    assert caught.value.message == snapshot(
        "final_answer: argument 'answer' is missing; there is no argument 'result'. Call final_answer with {\"answer\": <any>}."
    )


def test_peek_is_told_as_a_tool():
    assert make_peek(AgentState()).to_schema() == snapshot(
        ToolSchema(
            name="peek",
            description="Read a part of a variable as text, such as an observation that was cut.",
            parameters={
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "obs_1, or another open name."},
                    "start": {
                        "type": "integer",
                        "description": "First character to read; 0 is the beginning.",
                        "default": 0,
                    },
                    "length": {
                        "type": "integer",
                        "description": "How many characters to read, at most 7600.",
                        "default": 4000,
                    },
                },
                "required": ["name"],
                "additionalProperties": False,
            },
        )
    )
    assert make_peek(AgentState()).warnings == ()


def test_peek_reads_a_part_and_says_how_to_read_on():
    state = make_state()
    assert peek(state, name="text", start=2, length=3) == snapshot("""\
text: characters 2 to 5 of 10. Read on with {"name": "text", "start": 5}.
cde\
""")
    assert peek(state, name="text", start=5) == snapshot("""\
text: characters 5 to 10 of 10.
fghij\
""")
    assert peek(state, name="text", start=50) == snapshot("text: characters 10 to 10 of 10.\n")
    assert peek(state, name="text", start=-2, length=0) == snapshot("""\
text: characters 8 to 9 of 10. Read on with {"name": "text", "start": 9}.
i\
""")


@pytest.mark.parametrize("name", ["obs_1", "@obs_1"])
def test_peek_reads_a_kept_observation_by_its_name(name):
    text = peek(make_state(), name=name, start=8_999)
    assert text == snapshot("""\
obs_1: characters 8999 to 9003 of 9003.
xEND\
""")


@pytest.mark.parametrize("references", ["typed", "exact"])
def test_peek_takes_names_as_names(references):
    state = AgentState(DictState(text="abc"), opened=["text"], references=references)
    assert peek(state, name="@text") == "text: characters 0 to 3 of 3.\nabc"


def test_peek_never_gives_more_than_fits():
    text = peek(make_state(), name="obs_1", length=1_000_000)
    assert 7_000 < len(text) <= 8_000
    assert text.startswith(
        'obs_1: characters 0 to 7600 of 9003. Read on with {"name": "obs_1", "start": 7600}.\n'
    )


def test_peek_shows_other_values_in_words():
    state = make_state()
    assert peek(state, name="rows") == snapshot("""\
rows: characters 0 to 15 of 15.
[1, {"a": "é"}]\
""")
    assert peek(state, name="frame") == snapshot("""\
frame: characters 0 to 60 of 60.
DataFrame, 2 rows × 1 column
columns a: int64
   a
0  1
1  2\
""")


def test_peek_refuses_closed_and_unknown_names():
    with pytest.raises(ToolError) as caught:
        peek(make_state(), name="texd")
    assert caught.value.message == snapshot(
        'peek: no open variable has the name \'texd\'. Nearest: text. Call peek with {"name": "text"}.'
    )
    with pytest.raises(ToolError) as caught:
        peek(make_state(), name="secret")
    assert caught.value.message == snapshot(
        'peek: no open variable has the name \'secret\'. Open: text, rows, frame, obs_1. Call peek with {"name": "text"}.'
    )
    with pytest.raises(ToolError) as caught:
        peek(AgentState(), name="x")
    assert caught.value.message == snapshot(
        "peek: no open variable has the name 'x'; none is open. Go on without it."
    )
