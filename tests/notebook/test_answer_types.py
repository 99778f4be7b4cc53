from __future__ import annotations

import collections
import dataclasses
import typing
from typing import Any, Literal

import pandas as pd
import pydantic
import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.core.state import DictState
from agent_magic.notebook.answer_types import parse_type, type_words


@dataclasses.dataclass
class Row:
    city: str
    price: float


class Model(pydantic.BaseModel):
    n: int


class Hostile:
    def __getitem__(self, key):
        raise AssertionError("was asked")

    def __or__(self, other):
        raise AssertionError("was asked")

    def __getattr__(self, name):
        raise AssertionError("was asked")


NAMES = DictState(
    pd=pd, Row=Row, Model=Model, hostile=Hostile(), rows=[1], collections=collections, int=float
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("float", float),
        ("list[str]", list[str]),
        ("dict[str, list[float]]", dict[str, list[float]]),
        ("tuple[str, ...]", tuple[str, ...]),
        ("str | None", str | None),
        ("Optional[str]", typing.Optional[str]),
        ('Literal["a", "b"]', Literal["a", "b"]),
        ("Literal[-1, True, None]", Literal[-1, True, None]),
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
    assert said == snapshot()


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
