from __future__ import annotations

import collections
import dataclasses
import enum
from typing import Any, Literal

import pandas as pd
import pydantic
import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.core.state import DictState
from agent_magic.notebook.options.answer_types import parse_type, type_words


@dataclasses.dataclass
class Row:
    city: str
    price: float


class Model(pydantic.BaseModel):
    n: int


class Color(enum.Enum):
    RED = 1


class Hostile:
    def __getitem__(self, key):
        raise AssertionError("was asked")

    def __or__(self, other):
        raise AssertionError("was asked")

    def __getattr__(self, name):
        raise AssertionError("was asked")


NAMES = DictState(
    pd=pd,
    Row=Row,
    Model=Model,
    Color=Color,
    secret="sk-proj-0123456789abcdef0123",
    hostile=Hostile(),
    rows=[1],
    collections=collections,
    int=float,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("float", float),
        ("list[str]", list[str]),
        ("dict[str, list[float]]", dict[str, list[float]]),
        ("tuple[str, ...]", tuple[str, ...]),
        ("str | None", str | None),
        ("Optional[str]", str | None),
        ('Literal["a", "b"]', Literal["a", "b"]),
        ("Literal[-1, True, b'x']", Literal[-1, True, b"x"]),
        ("Literal[Color.RED]", Literal[Color.RED]),
        ("list[Literal['a']]", list[Literal["a"]]),
        ("Row", Row),
        ("list[Row]", list[Row]),
        ("Model", Model),
        ("pd.DataFrame", pd.DataFrame),
        ("Any", Any),
        ("None", type(None)),
        (" bool ", bool),
    ],
)
def test_type_is_read_as_python_writes_it(text, found):
    assert parse_type(text, NAMES) == found


def test_type_of_the_notebook_goes_before_those_of_python():
    assert parse_type("int", NAMES) is float


def test_text_that_is_no_type_is_told():
    texts = [
        "flot",
        "Rows",
        "rows",
        "list[rows]",
        "secret",
        "Literal[secret]",
        "pd.DataFram",
        "rows.x",
        "hostile.x",
        "hostile[0]",
        "hostile | int",
        "float(",
        "print('x')",
        "lambda: 1",
        "[int]",
        "'Row'",
        "list['Row']",
        "int + str",
        "3",
        "dict[list, str]",
        "float[3]",
        "api_key='sk-proj-0123456789abcdef0123'",
        "(" * 5_000,
        "",
    ]
    said = {}
    for text in texts:
        with pytest.raises(OptionError) as caught:
            parse_type(text, NAMES)
        said[text[:40]] = caught.value.message
    assert said == snapshot(
        {
            "flot": "%%agent --answer-type: there is no type 'flot'. Nearest: float, filter. Types of the notebook must be there: run the cell that defines or imports it first.",
            "Rows": "%%agent --answer-type: there is no type 'Rows'. Nearest: Row. Types of the notebook must be there: run the cell that defines or imports it first.",
            "rows": "%%agent --answer-type: 'rows' has 'rows', which is your list and no type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "list[rows]": "%%agent --answer-type: 'list[rows]' has 'rows', which is your list and no type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "secret": "%%agent --answer-type: 'secret' has 'secret', which is your str and no type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "Literal[secret]": "%%agent --answer-type: 'Literal[secret]' has 'secret', which is your str and no type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "pd.DataFram": "%%agent --answer-type: there is no 'DataFram' in pd. Nearest: DataFrame. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "rows.x": "%%agent --answer-type: 'rows.x' has 'rows', which is your list and holds no types. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "hostile.x": "%%agent --answer-type: 'hostile.x' has 'hostile', which is your Hostile and holds no types. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "hostile[0]": "%%agent --answer-type: 'hostile[0]' has 'hostile', which is your Hostile and takes no types. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "hostile | int": "%%agent --answer-type: 'hostile | int' has 'hostile', which is your Hostile and no type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "float(": "%%agent --answer-type: 'float(' is no type as Python writes it. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "print('x')": "%%agent --answer-type: \"print('x')\" has \"print('x')\", which is no part of a type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "lambda: 1": "%%agent --answer-type: 'lambda: 1' has 'lambda: 1', which is no part of a type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "[int]": "%%agent --answer-type: '[int]' has '[int]', which is no part of a type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "'Row'": "%%agent --answer-type: \"'Row'\" has \"'Row'\", which is no part of a type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "list['Row']": """\
answer_type=list['Row'] cannot be described to a model: 'Row' is text; a type is written without quotes.
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
""",
            "int + str": "%%agent --answer-type: 'int + str' has 'int + str', which is no part of a type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "3": "%%agent --answer-type: '3' has '3', which is no part of a type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "dict[list, str]": """\
answer_type=dict[list, str] cannot be described to a model: JSON cannot hold keys of type list.
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
""",
            "float[3]": "%%agent --answer-type: 'float[3]' cannot be built (TypeError: type 'float' is not subscriptable). Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "api_key='sk-proj-0123456789abcdef0123'": "%%agent --answer-type: \"api_key='[redacted]'\" is no type as Python writes it. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "((((((((((((((((((((((((((((((((((((((((": "%%agent --answer-type: '((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((' is no type as Python writes it. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "": "%%agent --answer-type: '' is no type as Python writes it. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
        }
    )


@pytest.mark.parametrize(
    ("answer_type", "words"),
    [
        (float, "float"),
        (list[str], "list[str]"),
        (Literal["a"], "Literal['a']"),
        (str | None, "str | None"),
        (Row, "Row"),
        (pd.DataFrame, "DataFrame"),
    ],
)
def test_type_is_shown_as_a_person_writes_it(answer_type, words):
    assert type_words(answer_type) == words
