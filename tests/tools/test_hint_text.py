"""Hints as a person writes them."""

from __future__ import annotations

import datetime as dt
import enum
import typing
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, Optional, TypeVar, Union

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from pydantic import Field

from agent_magic.tools.hint_text import has_choices, to_hint_text

T = TypeVar("T")
Bound = TypeVar("Bound", bound=int)
Name = typing.NewType("Name", str)


class Mode(enum.Enum):
    FAST = 1


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (int, "int"),
        (None, "None"),
        (Any, "Any"),
        (object, "object"),
        (list, "list"),
        (list[int], "list[int]"),
        (typing.List[int], "list[int]"),  # noqa: UP006 - as people write it
        (dict[str, list[float]], "dict[str, list[float]]"),
        (tuple[int, ...], "tuple[int, ...]"),
        (Optional[int], "int | None"),  # noqa: UP045 - as people write it
        (Union[None, int, str], "int | str | None"),  # noqa: UP007 - as people write it
        (int | None, "int | None"),
        (Literal["a", 1, True], "Literal['a', 1, True]"),
        (Literal[Mode.FAST], "Literal[Mode.FAST]"),
        (Annotated[int, Field(ge=1)], "int"),
        (Mode, "Mode"),
        (dt.date, "date"),
        (pd.DataFrame, "DataFrame"),
        (np.ndarray, "ndarray"),
        (npt.NDArray[np.float64], "ndarray[tuple[Any, ...], dtype[float64]]"),
        (Callable[[int, str], bool], "Callable[[int, str], bool]"),
        (Callable[..., Any], "Callable[..., Any]"),
        (Callable, "Callable"),
        (Iterable[T], "Iterable[Any]"),
        (Bound, "int"),
        (Name, "str"),
        (type[int], "type[int]"),
        ("Missing", "Missing"),
        (typing.ForwardRef("Missing"), "Missing"),
    ],
)
def test_hint_text(hint: Any, text: str) -> None:
    assert to_hint_text(hint) == text


def test_hint_text_of_a_class_in_a_function_is_its_name() -> None:
    class Inner:
        class Part: ...

    assert [to_hint_text(hint) for hint in (Inner, Inner.Part)] == ["Inner", "Inner.Part"]


def test_hint_text_is_bounded() -> None:
    assert to_hint_text(Literal[tuple("x" * n for n in range(50))]) == "Any"  # pyright: ignore[reportArgumentType] - made at run time


def test_choices_are_seen_at_any_depth() -> None:
    assert [has_choices(hint) for hint in (Literal["a"], list[Literal["a"]], Mode, int | None)] == [
        True,
        True,
        False,
        False,
    ]
