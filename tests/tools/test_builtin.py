"""`final_answer` and `peek`."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from typing import Any, Literal, TypedDict

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from agent_magic.core.errors import OptionError, ToolCallError, ToolError
from agent_magic.core.messages import ToolSchema
from agent_magic.core.state import AgentState, DictState
from agent_magic.tools.builtin import FINAL_ANSWER, make_final_answer, make_peek


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


class Colour(enum.Enum):
    TEAL = "teal"
    OCHRE = "ochre"


@dataclasses.dataclass
class City:
    """A city and
    its mean price."""

    name: str
    price: float


class Rise(BaseModel):
    percent: float = Field(ge=0)
    cities: list[City] = []


class Row(TypedDict):
    city: str
    n: int


FRAME = pd.DataFrame({"a": [1, 2]})
OSLO = City("Oslo", 2.5)


def answer_state() -> AgentState:
    return AgentState(
        DictState(frame=FRAME, city=OSLO, word="teal", words=["a"], count=np.int64(4), pair=(1, "a")),
        scope="all",
    )


def give(answer_type: Any, answer: Any) -> Any:
    tool = make_final_answer(answer_type)
    return tool.invoke(tool.prepare({"answer": answer}, answer_state()))


def refused(answer_type: Any, answer: Any) -> str:
    with pytest.raises(ToolCallError) as caught:
        give(answer_type, answer)
    return caught.value.message


def test_typed_final_answer_is_told_as_a_tool():
    assert make_final_answer(City).to_schema() == snapshot(
        ToolSchema(
            name="final_answer",
            description="Give the answer to the task and end. Call it once, alone.",
            parameters={
                "type": "object",
                "properties": {
                    "answer": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
                        "required": ["name", "price"],
                        "description": 'The answer itself, in this form; or "@name" for a variable that holds it. A city and its mean price.',
                    }
                },
                "required": ["answer"],
                "additionalProperties": False,
            },
        )
    )


@pytest.mark.parametrize("answer_type", [float, int | None, Colour, City, pd.DataFrame, list[pd.DataFrame]])
def test_typed_final_answer_has_no_warnings(answer_type):
    assert make_final_answer(answer_type).warnings == ()


def test_typed_final_answer_tells_the_schema_of_each_type():
    types = {
        "int": int,
        "optional": float | None,
        "union": int | str,
        "list": list[str],
        "mapping": dict[str, int],
        "tuple": tuple[int, str],
        "literal": Literal["a", "b"],
        "enum": Colour,
        "typed dict": Row,
        "model": Rise,
        "date": dt.date,
        "frame": pd.DataFrame,
        "frames": list[pd.DataFrame],
    }
    told = {
        name: make_final_answer(kind).to_schema().parameters["properties"]["answer"]
        for name, kind in types.items()
    }
    assert told == snapshot(
        {
            "int": {
                "type": "integer",
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "optional": {
                "anyOf": [{"type": "number"}, {"type": "null"}],
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "union": {
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "list": {
                "type": "array",
                "items": {"type": "string"},
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "mapping": {
                "type": "object",
                "additionalProperties": {"type": "integer"},
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "tuple": {
                "type": "array",
                "maxItems": 2,
                "minItems": 2,
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "literal": {
                "type": "string",
                "enum": ["a", "b"],
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "enum": {
                "type": "string",
                "enum": ["teal", "ochre"],
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "typed dict": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
                "required": ["city", "n"],
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "model": {
                "type": "object",
                "properties": {
                    "percent": {"type": "number", "minimum": 0},
                    "cities": {
                        "type": "array",
                        "default": [],
                        "items": {
                            "type": "object",
                            "description": """\
A city and
its mean price.\
""",
                            "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
                            "required": ["name", "price"],
                        },
                    },
                },
                "required": ["percent"],
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "date": {
                "type": "string",
                "format": "date",
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
            "frame": {
                "type": "string",
                "description": "The answer itself. The name of a state variable, e.g. @df",
            },
            "frames": {
                "type": "array",
                "items": {"type": "string", "description": "The name of a state variable, e.g. @df"},
                "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
            },
        }
    )


@pytest.mark.parametrize(
    ("answer_type", "answer", "value"),
    [
        (int, 5, 5),
        (int, "5", 5),
        (int, 5.0, 5),
        (int, "@count", 4),
        (float, 2, 2.0),
        (bool, "true", True),
        (str, "5", "5"),
        (str, "@word", "teal"),
        (str, "frame", "frame"),
        (type(None), None, None),
        (int | None, None, None),
        (int | str, "x", "x"),
        (list[str], ["a", "b"], ["a", "b"]),
        (list[str], '["a", "b"]', ["a", "b"]),
        (list[str], "@words", ["a"]),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, str], "@pair", (1, "a")),
        (Literal["a", "b"], "a", "a"),
        (Literal[1, 2], "2", 2),
        (Colour, "teal", Colour.TEAL),
        (Colour, "@word", Colour.TEAL),
        (City, {"name": "Oslo", "price": "2.5"}, OSLO),
        (Row, {"city": "Oslo", "n": 2}, {"city": "Oslo", "n": 2}),
        (Rise, {"percent": 3, "cities": [{"name": "Oslo", "price": 2.5}]}, Rise(percent=3, cities=[OSLO])),
        (dt.date, "2024-01-02", dt.date(2024, 1, 2)),
        (np.float64, 2, np.float64(2.0)),
    ],
)
def test_typed_final_answer_gives_the_declared_type(answer_type, answer, value):
    got = give(answer_type, answer)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize("answer", ["@frame", "frame"])
@pytest.mark.parametrize("answer_type", [pd.DataFrame, pd.DataFrame | None, pd.DataFrame | str])
def test_typed_final_answer_gives_the_frame_that_is_named(answer_type, answer):
    assert give(answer_type, answer) is FRAME


@pytest.mark.parametrize("answer", ["@city", "city"])
def test_typed_final_answer_gives_the_object_that_is_named(answer):
    assert give(City, answer) is OSLO


def test_typed_final_answer_notes_what_was_read_as_a_variable():
    tool = make_final_answer(pd.DataFrame | str)
    assert tool.prepare({"answer": "frame"}, answer_state()).notes == snapshot(("answer read as @frame",))


def test_typed_final_answer_gives_frames_inside_a_list():
    got = give(list[pd.DataFrame], ["@frame", "frame"])
    assert got[0] is FRAME
    assert got[1] is FRAME


def test_typed_final_answer_reads_a_closed_name_as_text():
    tool = make_final_answer(pd.DataFrame | str)
    closed = AgentState(DictState(frame=FRAME))
    assert tool.prepare({"answer": "frame"}, closed).kwargs["answer"] == "frame"


@pytest.mark.parametrize(("answer_type", "answer"), [(int, True), (str, 5), (list[str], "a"), (bool, "yes")])
def test_typed_final_answer_takes_nothing_for_what_it_is_not(answer_type, answer):
    with pytest.raises(ToolCallError):
        give(answer_type, answer)


def test_typed_final_answer_refuses_another_type():
    assert [
        refused(int, "many"),
        refused(float | None, "many"),
        refused(list[str], ["a", 1]),
        refused(dict[str, int], {"a": "x"}),
        refused(tuple[int, str], [1]),
        refused(Literal["a", "b"], "c"),
        refused(Colour, "red"),
        refused(dt.date, "soon"),
        refused(pd.DataFrame, 5),
    ] == snapshot(
        [
            "final_answer: argument 'answer' is 'many'; expected an integer. Call final_answer with {\"answer\": <integer>}.",
            "final_answer: argument 'answer' is 'many'; expected a number or null. Call final_answer with {\"answer\": <number or null>}.",
            "final_answer: argument 'answer[1]' is 1; expected text. Call final_answer with {\"answer\": <list of string>}.",
            "final_answer: argument 'answer.a' is 'x'; expected an integer. Call final_answer with {\"answer\": <{\"…\": <integer>}>}.",
            "final_answer: argument 'answer' is [1]; expected exactly 2 items. Call final_answer with {\"answer\": <[integer, string]>}.",
            "final_answer: argument 'answer' is 'c'; expected one of 'a', 'b'. Call final_answer with {\"answer\": <\"a\" | \"b\">}.",
            "final_answer: argument 'answer' is 'red'; expected one of 'teal', 'ochre'. Call final_answer with {\"answer\": <\"teal\" | \"ochre\">}.",
            "final_answer: argument 'answer' is 'soon'; expected a date such as '2024-05-01'. Call final_answer with {\"answer\": <date>}.",
            'final_answer: argument \'answer\' is 5; expected "@name" of a DataFrame. Call final_answer with {"answer": <"@name" of a DataFrame>}.',
        ]
    )


def test_typed_final_answer_names_the_field_that_is_wrong():
    assert [
        refused(City, {"name": "Oslo", "price": "dear"}),
        refused(City, {"name": "Oslo"}),
        refused(Rise, {"percent": -1}),
        refused(Rise, {"percent": 1, "cities": [{"name": "Oslo", "price": None}]}),
        refused(Row, {"city": "Oslo", "n": 2.5}),
    ] == snapshot(
        [
            'final_answer: argument \'answer.price\' is \'dear\'; expected a number. Call final_answer with {"answer": <{"name": <string>, "price": <number>}>}.',
            'final_answer: argument \'answer\' lacks \'price\'. Call final_answer with {"answer": <{"name": <string>, "price": <number>}>}.',
            'final_answer: argument \'answer.percent\' is -1; expected at least 0. Call final_answer with {"answer": <{"percent": <number>, "cities": <list of {"name": <string>, "price": <number>}, optional>}>}.',
            'final_answer: argument \'answer.cities[0].price\' is None; expected a number. Call final_answer with {"answer": <{"percent": <number>, "cities": <list of {"name": <string>, "price": <number>}, optional>}>}.',
            'final_answer: argument \'answer.n\' is 2.5; expected an integer. Call final_answer with {"answer": <{"city": <string>, "n": <integer>}>}.',
        ]
    )


def test_typed_final_answer_checks_what_a_reference_means():
    assert [
        refused(int, "@frame"),
        refused(list[int], "@words"),
        refused(pd.DataFrame, "@words"),
        refused(pd.DataFrame, "@farme"),
        refused(City, "@frame"),
        refused(list[pd.DataFrame], ["@frame", "@words"]),
    ] == snapshot(
        [
            "final_answer: argument 'answer' is @frame, a DataFrame; expected an integer. Open: count. Write one of them as \"@name\".",
            "final_answer: argument 'answer' is @words, a list; expected a list of integer. Open: pair. Write one of them as \"@name\".",
            'final_answer: argument \'answer\' is @words, a list; expected "@name" of a DataFrame. Open: frame. Write one of them as "@name".',
            "final_answer: argument 'answer' is '@farme'; no open variable has that name. Nearest: frame. Write \"@frame\".",
            "final_answer: argument 'answer' is @frame, a DataFrame; expected an object. Open: city. Write one of them as \"@name\".",
            'final_answer: argument \'answer[1]\' is @words, a list; expected "@name" of a DataFrame. Open: frame. Write one of them as "@name".',
        ]
    )


@pytest.mark.parametrize("answer_type", [Any, object])
def test_final_answer_of_any_type_is_the_untyped_one(answer_type):
    assert make_final_answer(answer_type) is FINAL_ANSWER


def test_final_answer_of_what_is_no_type_is_refused():
    with pytest.raises(OptionError) as caught:
        make_final_answer("flaot")
    assert caught.value.message == snapshot("""\
answer_type='flaot' cannot be described to a model: 'flaot' is text; a type is written without quotes.
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
""")


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
