"""Types of answers that cannot be described to a model, and some that can though they look odd."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Iterable
from typing import Annotated, Any, ClassVar, Literal, NewType, Optional, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel

from agent_magic.core.errors import OptionError
from agent_magic.tools.answer_type import check_answer_type


class Empty(enum.Enum):
    pass


class Opaque(enum.Enum):
    A = object()


@dataclasses.dataclass
class Unresolved:
    city: Nowhere  # noqa: F821 - the fault that is tested


class UnresolvedModel(BaseModel):
    city: Nowhere  # noqa: F821 - as above


class Plain:
    pass


class Row(TypedDict, total=False):
    city: str


def refused(answer_type: Any) -> str:
    with pytest.raises(OptionError) as caught:
        check_answer_type(answer_type)
    return caught.value.message


def test_answer_type_that_is_a_function_is_refused():
    assert refused(lambda answer: answer) == snapshot("""\
answer_type=<lambda> cannot be described to a model: <lambda> is of type function and is no type itself.
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
""")


def test_answer_type_that_is_text_is_refused():
    assert refused("float") == snapshot("""\
answer_type='float' cannot be described to a model: 'float' is text; a type is written without quotes.
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
""")


def test_answer_type_that_is_a_module_is_refused():
    assert refused(math) == snapshot("""\
answer_type=math cannot be described to a model: math is of type module and is no type itself.
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
""")


def test_answer_type_that_is_a_value_is_refused():
    assert [
        refused(value).partition("\n")[0] for value in (5, [int], (int, str), {"a": int}, ...)
    ] == snapshot(
        [
            "answer_type=5 cannot be described to a model: 5 is of type int and is no type itself.",
            "answer_type=[<class 'int'>] cannot be described to a model: [<class 'int'>] is of type list and is no type itself.",
            "answer_type=(<class 'int'>, <class 'str'>) cannot be described to a model: (<class 'int'>, <class 'str'>) is of type tuple and is no type itself.",
            "answer_type={'a': <class 'int'>} cannot be described to a model: {'a': <class 'int'>} is of type dict and is no type itself.",
            "answer_type=Ellipsis cannot be described to a model: Ellipsis is of type ellipsis and is no type itself.",
        ]
    )


def test_answer_type_that_is_no_whole_hint_is_refused():
    assert [refused(hint).partition("\n")[0] for hint in (Optional, Literal, ClassVar[int])] == snapshot(
        [
            "answer_type=Optional cannot be described to a model: Optional is of type _SpecialForm and is no type itself.",
            "answer_type=Literal cannot be described to a model: Literal is of type _LiteralSpecialForm and is no type itself.",
            "answer_type=typing.ClassVar[int] cannot be described to a model: typing.ClassVar[int] is of type _GenericAlias and is no type itself.",
        ]
    )


def test_answer_type_with_a_part_that_is_no_type_is_refused():
    text = "float"
    hints = (list[text], dict[str, 5], tuple[int, text], Annotated[text, "x"], list[Opaque])
    assert [refused(hint).partition("\n")[0] for hint in hints] == snapshot(
        [
            "answer_type=list['float'] cannot be described to a model: 'float' is text; a type is written without quotes.",
            "answer_type=dict[str, 5] cannot be described to a model: 5 is of type int and is no type itself.",
            "answer_type=tuple[int, 'float'] cannot be described to a model: 'float' is text; a type is written without quotes.",
            "answer_type=typing.Annotated[ForwardRef('float'), 'x'] cannot be described to a model: 'float' is text; a type is written without quotes.",
            "answer_type=list[tests.tools.test_answer_type.Opaque] cannot be described to a model: list[tests.tools.test_answer_type.Opaque] holds what cannot be read as a type.",
        ]
    )


def test_answer_type_whose_fields_cannot_be_read_is_refused():
    hints = (Unresolved, UnresolvedModel, list[Unresolved], Unresolved | None)
    assert [refused(hint).partition("\n")[0] for hint in hints] == snapshot(
        [
            "answer_type=Unresolved cannot be described to a model: the types of the fields of Unresolved cannot be read.",
            "answer_type=UnresolvedModel cannot be described to a model: the types of the fields of UnresolvedModel cannot be read.",
            "answer_type=list[tests.tools.test_answer_type.Unresolved] cannot be described to a model: the types of the fields of Unresolved cannot be read.",
            "answer_type=tests.tools.test_answer_type.Unresolved | None cannot be described to a model: the types of the fields of Unresolved cannot be read.",
        ]
    )


def test_answer_type_without_any_value_is_refused():
    assert refused(Empty) == snapshot("""\
answer_type=Empty cannot be described to a model: the Enum Empty has no members.
Give a type such as float, list[str], Literal['a', 'b'], a dataclass or a pydantic model.\
""")


def test_answer_type_with_keys_that_json_cannot_hold_is_refused():
    hints = (dict[list[int], int], dict[pd.DataFrame, int])
    assert [refused(hint).partition("\n")[0] for hint in hints] == snapshot(
        [
            "answer_type=dict[list[int], int] cannot be described to a model: JSON cannot hold keys of type list[int].",
            "answer_type=dict[pandas.DataFrame, int] cannot be described to a model: JSON cannot hold keys of type DataFrame.",
        ]
    )


@pytest.mark.parametrize(
    "answer_type",
    [
        None,
        Any,
        object,
        list,
        int | None,
        tuple[int, ...],
        tuple[()],
        Literal["a", 1],
        Annotated[int, "a number"],
        Opaque,
        Row,
        Plain,
        list[Plain],
        type[int],
        Callable[[int], str],
        Iterable[int],
        NewType("Id", int),
        np.float64,
        npt.NDArray[np.float64],
        pd.DataFrame | None,
        dict[str, pd.Series],
    ],
    ids=str,
)
def test_answer_type_that_can_be_described_is_taken(answer_type: Any):
    check_answer_type(answer_type)
