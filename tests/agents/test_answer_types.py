"""Runs whose answer has a declared type: schema in the request, a wrong answer mended, the last answer read."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import pandas as pd
import pytest
from agents.checking import AS_TEXT, add, agent_of, model_of, told
from inline_snapshot import snapshot
from pydantic import BaseModel

from agent_magic.core.errors import OptionError
from agent_magic.core.result import RunResult
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final
FRAME = pd.DataFrame({"city": ["Oslo", "Bergen"], "price": [2.0, 3.0]})


@dataclasses.dataclass
class City:
    """A city and its mean price."""

    name: str
    price: float


class Survey(BaseModel):
    cities: list[str]
    n: int = 0


def answer_property(agent: Any, n_request: int = 0) -> Any:
    (tool,) = [tool for tool in model_of(agent).requests[n_request].tools if tool["name"] == "final_answer"]
    return tool["parameters"]["properties"]["answer"]


@pytest.mark.parametrize(
    ("answer_type", "given", "value", "schema"),
    [
        (
            float,
            "2.5",
            2.5,
            snapshot(
                {
                    "type": "number",
                    "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
                }
            ),
        ),
        (
            Literal["red", "blue"],
            "red",
            "red",
            snapshot(
                {
                    "type": "string",
                    "enum": ["red", "blue"],
                    "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
                }
            ),
        ),
        (
            City,
            {"name": "Oslo", "price": 2},
            City("Oslo", 2.0),
            snapshot(
                {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
                    "required": ["name", "price"],
                    "description": 'The answer itself, in this form; or "@name" for a variable that holds it. A city and its mean price.',
                }
            ),
        ),
        (
            Survey,
            {"cities": ["Oslo"], "n": 3},
            Survey(cities=["Oslo"], n=3),
            snapshot(
                {
                    "type": "object",
                    "properties": {
                        "cities": {"type": "array", "items": {"type": "string"}},
                        "n": {"type": "integer", "default": 0},
                    },
                    "required": ["cities"],
                    "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
                }
            ),
        ),
        (
            list[int],
            [1, 2],
            [1, 2],
            snapshot(
                {
                    "type": "array",
                    "items": {"type": "integer"},
                    "description": 'The answer itself, in this form; or "@name" for a variable that holds it.',
                }
            ),
        ),
    ],
)
def test_answer_type_is_told_by_its_schema_and_the_value_is_of_it(
    answer_type: Any, given: Any, value: Any, schema: Any
) -> None:
    agent = agent_of([final(given)], answer_type=answer_type)
    result = agent.run("Tell me.")
    assert (result.status, result.value) == ("answered", value)
    assert type(result.value) is type(value)
    assert answer_property(agent) == schema


def test_frame_is_given_by_reference() -> None:
    agent = agent_of([final("@frame")], answer_type=pd.DataFrame, state={"frame": FRAME})
    assert agent.run("Give me the frame.").value is FRAME
    assert answer_property(agent) == snapshot(
        {"type": "string", "description": "The answer itself. The name of a state variable, e.g. @df"}
    )


def test_wrong_answer_is_told_and_mended() -> None:
    agent = agent_of([final("about three"), final("3.5")], answer_type=float)
    result = agent.run("1 + 2.5")
    assert (result.status, result.value) == ("answered", 3.5)
    assert told(result) == snapshot(
        [
            "final_answer: argument 'answer' is 'about three'; expected a number. Call final_answer with {\"answer\": <number>}.",
            """\
(answer: text '3.5' read as 3.5)
accepted\
""",
        ]
    )


def last_answer(text: Any, answer_type: Any, **settings: Any) -> RunResult:
    script = [calls(("add", {"a": 1, "b": 2})), text]
    return agent_of(
        script, add, max_steps=1, answer_type=answer_type, state={"frame": FRAME}, **settings
    ).run("Do.")


@pytest.mark.parametrize(
    ("text", "answer_type", "value"),
    [
        ("3.5", float, 3.5),
        ("blue", Literal["red", "blue"], "blue"),
        ('```json\n{"name": "Oslo", "price": 2.0}\n```', City, City("Oslo", 2.0)),
        ('{"cities": ["Oslo"], "n": 1}', Survey, Survey(cities=["Oslo"], n=1)),
        ("[1, 2]", list[int], [1, 2]),
        (final(4), float, 4.0),
        ('{"name": "final_answer", "arguments": {"answer": [5]}}', list[int], [5]),
        ("About three.", None, "About three."),
        (final("three"), None, "three"),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"capabilities": AS_TEXT}], ids=["native", "text"])
def test_last_answer_at_the_limit_is_read_as_its_type(
    text: Any, answer_type: Any, value: Any, settings: dict[str, Any]
) -> None:
    result = last_answer(text, answer_type, **settings)
    assert (result.status, result.value, result.error) == ("max_steps", value, None)
    assert type(result.value) is type(value)


@pytest.mark.parametrize("text", ["@frame", final("@frame")])
@pytest.mark.parametrize("answer_type", [pd.DataFrame, None])
def test_last_answer_at_the_limit_may_be_a_reference(text: Any, answer_type: Any) -> None:
    assert last_answer(text, answer_type).value is FRAME


@pytest.mark.parametrize(
    ("text", "answer_type", "error"),
    [
        (
            "about three",
            float,
            snapshot(
                "The last answer is not of the type that was asked for: 'answer' is 'about three'; expected a number. Resume the run to give the model more steps."
            ),
        ),
        (
            "maybe green",
            Literal["red", "blue"],
            snapshot(
                "The last answer is not of the type that was asked for: 'answer' is 'maybe green'; expected one of 'red', 'blue'. Resume the run to give the model more steps."
            ),
        ),
        (
            '{"name": "Oslo"}',
            City,
            snapshot(
                "The last answer is not of the type that was asked for: 'answer' lacks 'price'. Resume the run to give the model more steps."
            ),
        ),
        (
            '{"cities": 3}',
            Survey,
            snapshot(
                "The last answer is not of the type that was asked for: 'answer.cities' is 3; expected a list of string. Resume the run to give the model more steps."
            ),
        ),
        (
            "the frame",
            pd.DataFrame,
            snapshot(
                "The last answer is not of the type that was asked for: 'answer' is 'the frame'; no open variable has that name. Nearest: frame. Resume the run to give the model more steps."
            ),
        ),
        (
            final("three"),
            float,
            snapshot(
                "The last answer is not of the type that was asked for: 'answer' is 'three'; expected a number. Resume the run to give the model more steps."
            ),
        ),
    ],
)
def test_last_answer_of_another_type_is_refused_in_words_for_a_person(
    text: Any, answer_type: Any, error: str
) -> None:
    result = last_answer(text, answer_type, final_answer_checks=[lambda answer: True])
    assert (result.status, result.value, result.verified) == ("max_steps", None, "unchecked")
    assert result.error is not None
    assert result.error.message == error


def test_empty_last_answer_is_none() -> None:
    result = last_answer({"content": "  "}, None)
    assert (result.status, result.value, result.error) == ("max_steps", None, None)


def test_request_for_a_typed_last_answer_tells_its_schema() -> None:
    script = [calls(("add", {"a": 1, "b": 2})), "3"]
    agent = agent_of(script, add, max_steps=1, answer_type=City)
    agent.run("Do.")
    assert model_of(agent).requests[-1].messages[-1]["content"] == snapshot(
        'You have used the only step of this run and can call no tool any more. Give the best answer that what you know allows, as JSON alone, with no text before or after it. It must fit this JSON Schema: {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}, "required": ["name", "price"]}'
    )


def test_refused_last_answer_can_be_resumed_to_a_right_one() -> None:
    agent = agent_of(
        [calls(("add", {"a": 1, "b": 2})), "about three", final(3)], max_steps=1, answer_type=float
    )
    assert agent.run("1 + 2").value is None
    result = agent.resume()
    assert (result.status, result.value) == ("answered", 3.0)


@pytest.mark.parametrize(
    ("answer_type", "text"),
    [
        (
            3,
            snapshot("""\
answer_type=3 cannot be described to a model: 3 is of type int and is no type itself.
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
"""),
        ),
        (
            "float",
            snapshot("""\
answer_type='float' cannot be described to a model: 'float' is text; a type is written without quotes.
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
"""),
        ),
        (
            dict[tuple[int, ...], int],
            snapshot("""\
answer_type=dict[tuple[int, ...], int] cannot be described to a model: JSON cannot hold keys of type tuple[int, ...].
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
"""),
        ),
    ],
)
def test_answer_type_that_cannot_be_described_is_refused(answer_type: Any, text: str) -> None:
    with pytest.raises(OptionError) as caught:
        agent_of([], answer_type=answer_type)
    assert caught.value.message == text
