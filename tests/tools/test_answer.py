"""Answers in plain text, read as the declared type."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import time
from typing import Any, Literal

import pandas as pd
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel

from agent_magic.core.errors import ToolCallError
from agent_magic.core.state import AgentState, DictState
from agent_magic.tools.answer import answer_schema, parse_answer
from agent_magic.tools.builtin import FINAL_ANSWER, make_final_answer

FRAME = pd.DataFrame({"a": [1, 2]})


class Colour(enum.Enum):
    TEAL = "teal"
    OCHRE = "ochre"


@dataclasses.dataclass
class City:
    """A city and its mean price."""

    name: str
    price: float


class Tree(BaseModel):
    value: int
    below: list[Tree] = []


def make_state() -> AgentState:
    return AgentState(DictState(frame=FRAME, city=City("Oslo", 2.0), word="teal", n=7), scope="all")


def parse(text: str, answer_type: Any) -> Any:
    return parse_answer(text, make_final_answer(answer_type), make_state())


def refused(text: str, answer_type: Any) -> str:
    with pytest.raises(ToolCallError) as caught:
        parse(text, answer_type)
    return caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "42",
        " 42 \n",
        "42.",
        "**42**",
        "`42`",
        '"42"',
        "Answer: 42",
        "**Answer:** 42",
        "The answer is 42.",
        "The first answer is 3, but the final answer is: 42",
        "I looked at 3 tables.\n\n42",
        "```\n42\n```",
        "Here it is:\n```json\n42\n```\nThat is all.",
        '{"answer": 42}',
        'So: {"answer": 42}.',
    ],
)
def test_number_is_read_out_of_its_forms(text: str):
    got = parse(text, int)
    assert got == 42
    assert type(got) is int


@pytest.mark.parametrize(
    "text", ["I saw 42 rows", "42 EUR", "about 42", "41 or 42", "1,204", "NaN", "1e999", ""]
)
def test_number_is_never_picked_out_of_a_sentence(text: str):
    assert refused(text, float).startswith("final_answer: argument 'answer' is ")


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("True", True), ("false", False), ("`False`", False)]
)
def test_boolean_is_read(text: str, value: bool):
    assert parse(text, bool) is value


@pytest.mark.parametrize("text", ["null", "None", "```json\nnull\n```"])
def test_null_is_read_where_the_type_takes_it(text: str):
    assert parse(text, int | None) is None


@pytest.mark.parametrize("text", ["teal", '"teal"', "**teal**", "teal.", "The answer is teal.", "@word"])
def test_choice_is_read_as_its_member(text: str):
    assert parse(text, Colour) is Colour.TEAL


def test_choice_in_a_sentence_is_not_guessed():
    assert refused("It is not teal", Literal["teal", "ochre"]) == snapshot(
        "final_answer: argument 'answer' is 'It is not teal'; expected one of 'teal', 'ochre'. Call final_answer with {\"answer\": <\"teal\" | \"ochre\">}."
    )


@pytest.mark.parametrize("text", ["any text", '"quoted"', '{"a": 1}', "42", "null", "**bold**"])
def test_text_stays_as_it_is_where_text_is_declared(text: str):
    assert parse(text, str) == text


def test_text_beside_a_number_is_read_as_the_number_where_it_is_one():
    assert parse("7", int | str) == 7
    assert parse("seven", int | str) == "seven"


def test_date_is_read():
    assert parse("2024-01-02", dt.date) == dt.date(2024, 1, 2)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Oslo", "price": 2}',
        '{"answer": {"name": "Oslo", "price": 2}}',
        'From the rows [1] and {2}: {"name": "Oslo", "price": 2}. I am sure.',
        '```json\n{"name": "Oslo",\n "price": "2.0"}\n```\nDone.',
        'First {"name": "Rome", "price": 1}, better:\n{"name": "Oslo", "price": 2}',
        "{'name': 'Oslo', 'price': 2,}",
        "{name: 'Oslo', price: 2}",
        "@city",
        "city",
    ],
)
def test_dataclass_is_read_as_itself(text: str):
    assert parse(text, City) == City("Oslo", 2.0)


def test_model_that_contains_itself_is_read():
    assert parse('{"value": 1, "below": [{"value": 2}]}', Tree) == Tree(value=1, below=[Tree(value=2)])


@pytest.mark.parametrize("text", ['["a", "b"]', "['a', 'b']", "The letters are ['a', 'b'] as seen in [1]."])
def test_list_is_read(text: str):
    assert parse(text, list[str]) == ["a", "b"]


@pytest.mark.parametrize("text", ["[see below]", "{not known}", "a, b", "[a, b]"])
def test_list_is_not_guessed(text: str):
    assert refused(text, list[str]).startswith("final_answer: argument 'answer'")


@pytest.mark.parametrize(
    "text", ["@frame", "frame", "`frame`", "`@frame`", '"@frame"', "The answer is @frame."]
)
def test_frame_is_named(text: str):
    assert parse(text, pd.DataFrame) is FRAME


def test_refusal_tells_of_the_json_rather_than_of_the_prose():
    assert refused('It is {"name": "Oslo", "price": "dear"}, I think.', City) == snapshot(
        'final_answer: argument \'answer.price\' is \'dear\'; expected a number. Call final_answer with {"answer": <{"name": <string>, "price": <number>}>}.'
    )


def test_refusal_tells_what_lacks():
    assert refused('{"name": "Oslo"}', City) == snapshot(
        'final_answer: argument \'answer\' lacks \'price\'. Call final_answer with {"answer": <{"name": <string>, "price": <number>}>}.'
    )


def test_refusal_tells_of_the_text_where_there_is_no_json():
    assert refused("I could not find it in 3 steps.", float) == snapshot(
        "final_answer: argument 'answer' is 'I could not find it in 3 steps.'; expected a number. Call final_answer with {\"answer\": <number>}."
    )


def test_refusal_of_a_wrong_reference():
    assert refused("@frame", int) == snapshot(
        "final_answer: argument 'answer' is @frame, a DataFrame; expected an integer. Open: n. Write one of them as \"@name\"."
    )


def test_untyped_answer_is_the_text_or_the_open_variable_that_it_names():
    state = make_state()
    assert parse_answer(" It is 42. ", FINAL_ANSWER, state) == "It is 42."
    assert parse_answer("@frame", FINAL_ANSWER, state) is FRAME
    assert parse_answer("@gone", FINAL_ANSWER, state) == "@gone"


@pytest.mark.parametrize("piece", ["```x\n", "[", '{"a": ', "answer: ", '"', "]", "[1]", "\\"])
def test_reading_costs_no_more_than_the_text_is_long(piece: str):
    start = time.perf_counter()
    with pytest.raises(ToolCallError):
        parse(piece * (200_000 // len(piece)), dict[str, int])
    assert time.perf_counter() - start < 15


def test_answer_schema_is_that_of_the_value_alone():
    assert answer_schema(make_final_answer(City)) == snapshot(
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
            "required": ["name", "price"],
        }
    )


def test_answer_schema_of_a_type_that_contains_itself_is_whole():
    assert answer_schema(make_final_answer(Tree)) == snapshot(
        {
            "$ref": "#/$defs/Tree",
            "$defs": {
                "Tree": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "integer"},
                        "below": {"type": "array", "default": [], "items": {"$ref": "#/$defs/Tree"}},
                    },
                    "required": ["value"],
                }
            },
        }
    )


def test_answer_schema_of_a_frame_asks_for_a_name():
    assert answer_schema(make_final_answer(pd.DataFrame)) == snapshot(
        {"type": "string", "description": "The answer itself. The name of a state variable, e.g. @df"}
    )


def test_answer_schema_is_none_where_plain_text_will_do():
    assert answer_schema(make_final_answer(str)) is None
    assert answer_schema(FINAL_ANSWER) is None
