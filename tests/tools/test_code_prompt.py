"""Tools as code sees them: a signature with a docstring."""

# ruff: noqa: RUF012, PLR0917 - plain class attributes, as people write a tool; the many parameters are the cases
from __future__ import annotations

import ast
import datetime as dt
import enum
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from agent_magic.core.messages import ToolExample
from agent_magic.tools.builtin import FINAL_ANSWER, make_final_answer
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.code_prompt import is_async_tool, to_code_prompt
from agent_magic.tools.decorator import tool
from agent_magic.tools.tool import Tool


class Mode(enum.Enum):
    FAST = "fast"
    SLOW = "slow"


@dataclass
class Row:
    price: float
    city: str = "Oslo"


class Box(BaseModel):
    width: int = Field(ge=1)


def prompt_of(source: Any, name: str | None = None) -> str:
    """The projection, which is always Python that can be parsed."""
    text = to_code_prompt(tool_from(source, name=name))
    ast.parse(text)
    return text


def head_of(source: Any, name: str | None = None) -> str:
    return prompt_of(source, name).partition("\n")[0]


def mean_price(city: str, *, since: dt.date | None = None) -> float:
    """Mean price of the listings in a city.

    Sold ones count too.

    Args:
        city: name as it stands in the column `city`.
        since: first day.

    Returns:
        The mean, in
        EUR.

    Examples:
        How dear is Oslo? -> mean_price(city="Oslo")
    """
    del city, since
    return 1.0


def test_code_prompt_of_a_function() -> None:
    assert prompt_of(mean_price) == snapshot('''\
def mean_price(city: str, *, since: date | None = None) -> float:
    """Mean price of the listings in a city.

    Sold ones count too.

    Args:
        city: name as it stands in the column `city`.
        since: first day.

    Returns:
        The mean, in EUR.

    Examples:
        mean_price(city='Oslo')  # How dear is Oslo?
    """\
''')


def test_code_prompt_of_a_function_that_says_little_is_short() -> None:
    def count(table):
        """Count the rows."""

    assert prompt_of(count) == snapshot('''\
def count(table):
    """Count the rows."""\
''')
    assert prompt_of(lambda: None, "wait_for_it") == snapshot('''\
def wait_for_it():
    """Wait for it."""\
''')


def test_code_prompt_shows_how_each_parameter_may_be_given() -> None:
    def one(a: int, b: int = 2, /, c: int = 3, *, d: int, e: int = 5) -> None: ...
    def two(a: int, *more: str, d: int = 1, **others: float) -> None: ...
    def three(*more, **others): ...
    def four(*, d: int) -> None: ...
    def five(a: int, /) -> None: ...

    assert [head_of(function) for function in (one, two, three, four, five)] == snapshot(
        [
            "def one(a: int, b: int = 2, /, c: int = 3, *, d: int, e: int = 5) -> None:",
            "def two(a: int, *more: str, d: int = 1, **others: float) -> None:",
            "def three(*more, **others):",
            "def four(*, d: int) -> None:",
            "def five(a: int, /) -> None:",
        ]
    )


def test_code_prompt_shows_defaults_as_python_writes_them() -> None:
    def draw(
        title: str = 'a "quoted" one',
        mode: Mode = Mode.FAST,
        day: dt.date = dt.date(2024, 1, 2),
        frame: pd.DataFrame | None = None,
        array: np.ndarray = np.zeros(3),  # noqa: B008 - as people write it
        sizes: tuple[int, int] = (1, 2),
        ratio=0.5,
        text: str = "x" * 100,
        anything: Any = object(),  # noqa: B008 - as people write it
    ) -> None: ...

    assert head_of(draw) == snapshot(
        "def draw(title: str = 'a \"quoted\" one', mode: Mode = Mode.FAST, day: date = datetime.date(2024, 1, 2), frame: DataFrame | None = None, array: ndarray = ..., sizes: tuple[int, int] = (1, 2), ratio=0.5, text: str = ..., anything: Any = ...) -> None:"
    )


def test_code_prompt_shows_no_secret() -> None:
    def fetch(key: str = "sk-proj-abcdefghijklmnopqrstuvwxyz012345") -> str: ...

    assert "abcdefghij" not in prompt_of(fetch)


def test_code_prompt_tells_choices_bounds_and_fields() -> None:
    def find(
        mode: Mode,
        kind: Literal["a", "b"],
        n: Annotated[int, Field(ge=1, le=5)],
        rows: list[Row],
        box: Box | None = None,
        names: Annotated[list[Annotated[str, Field(min_length=2)]], Field(max_length=3)] = [],  # noqa: B006 - as people write it
        pair: tuple[int, str] = (1, "a"),
        unique: set[int] | None = None,
    ) -> list[Row]:
        """Find.

        Args:
            mode: how.
            n: how many
        """

    assert prompt_of(find) == snapshot('''\
def find(mode: Mode, kind: Literal['a', 'b'], n: int, rows: list[Row], box: Box | None = None, names: list[str] = [], pair: tuple[int, str] = (1, 'a'), unique: set[int] | None = None) -> list[Row]:
    """Find.

    Args:
        mode: how; one of 'fast', 'slow'
        n: how many; at least 1; at most 5
        rows: each item as a dict: {'price': <float>, 'city': <str, optional>}
        box: as a dict: {'width': <int>}
        names: at most 3 items; each item at least 2 characters
    """\
''')


def test_code_prompt_names_live_values_by_their_type() -> None:
    def plot(frame: pd.DataFrame, key: Callable[[int], str], later: Missing = None) -> Missing:  # noqa: F821 - it names nothing
        """Plot.

        Args:
            frame: what to plot
        """

    text = prompt_of(plot)
    assert "@" not in text
    assert text == snapshot('''\
def plot(frame: DataFrame, key: Callable[[int], str], later: Any = None) -> Missing:
    """Plot.

    Args:
        frame: what to plot
    """\
''')


def test_code_prompt_of_an_async_tool_says_to_await_it() -> None:
    async def fetch(url: str) -> str:
        """Fetch.

        Examples:
            the front page -> fetch(url="/")
        """
        return url

    class Getter:
        async def __call__(self, url: str) -> str:
            """Get."""
            return url

    assert prompt_of(fetch) == snapshot('''\
async def fetch(url: str) -> str:
    """Fetch.

    It is async: write `await fetch(...)`.

    Examples:
        await fetch(url='/')  # the front page
    """\
''')
    assert [
        is_async_tool(tool_from(one, name="t")) for one in (fetch, functools.partial(fetch), Getter())
    ] == [
        True,
        True,
        True,
    ]
    assert not is_async_tool(tool_from(mean_price))


def test_code_prompt_of_methods_partials_instances_classes_and_built_ins() -> None:
    class Store:
        """A store of things."""

        def __init__(self, size: int = 1) -> None:
            self.size = size

        def price(self, city: str) -> float:
            """Price."""
            return 1.0

        def __call__(self, n: int) -> Row:
            """Take n."""
            return Row(1.0)

    assert [
        prompt_of(Store().price),
        prompt_of(functools.partial(mean_price, since=None), "mean_now").partition("\n")[0],
        prompt_of(Store(), "take"),
        prompt_of(Store),
        prompt_of(sorted).partition("\n")[0],
        prompt_of(np.ones).partition("\n")[0],
    ] == snapshot(
        [
            '''\
def price(city: str) -> float:
    """Price."""\
''',
            "def mean_now(city: str, *, since: date | None = None) -> float:",
            '''\
def take(n: int) -> Row:
    """Take n."""\
''',
            '''\
def Store(size: int = 1) -> Store:
    """A store of things."""\
''',
            "def sorted(iterable, /, *, key=None, reverse=False):",
            "def ones(shape, dtype=None, order='C', *, device=None, like=None):",
        ]
    )


def test_code_prompt_has_the_name_that_the_tool_has() -> None:
    assert head_of(mean_price, "price_of") == snapshot(
        "def price_of(city: str, *, since: date | None = None) -> float:"
    )
    assert head_of(tool(name="mean")(lambda city: city)) == snapshot("def mean(city):")


def test_code_prompt_shows_examples_as_calls() -> None:
    def top(table: pd.DataFrame, n: int = 3, /, by: str = "price", note: Any = None) -> list[Row]:
        """Top rows."""
        return []

    examples = (
        ToolExample(task="the dearest\nthree", arguments={"by": "price", "table": "@df"}),
        "with a note -> top('@df', 2, note='@other')",
        "as text -> top('@df', by='@df')",
    )
    assert prompt_of(tool(examples=examples)(top)) == snapshot('''\
def top(table: DataFrame, n: int = 3, /, by: str = 'price', note: Any = None) -> list[Row]:
    """Top rows.

    Examples:
        top(df, by='price')  # the dearest three
        top(df, 2, note=other)  # with a note
        top(df, by='@df')  # as text
    """\
''')


def test_code_prompt_keeps_a_docstring_one_text() -> None:
    def odd() -> None: ...

    for text in ('Say """hi""".', 'End with "quotes"', "A back\\slash \\d", "Ends so \\", "Größe 👋"):
        odd.__doc__ = text
        tree = ast.parse(prompt_of(odd)).body[0]
        assert isinstance(tree, ast.FunctionDef)
        assert (ast.get_docstring(tree) or "").strip().replace("'''", '"""') == text


class Weather(Tool):
    name = "weather"
    description = "The weather of a city, in one sentence."
    inputs = {
        "unit": {"type": "string", "description": "of degrees", "enum": ["C", "F"], "nullable": True},
        "city": {"type": "string", "description": "its English name"},
        "days": {"type": "integer", "description": "how many", "minimum": 1},
        "tags": {"type": "array", "description": "any", "items": {"type": "string", "maxLength": 5}},
        "photo": {"type": "image", "description": "of the sky"},
        "sound": {"type": "audio", "description": "of the wind"},
        "more": {"type": "any", "description": "whatever"},
    }
    output_type = "string"
    examples = ("Weather in Oslo? -> weather(city='Oslo')",)

    def forward(self, city, days=1, unit="C", tags=(), photo=None, sound=None, *, more=None): ...


def test_code_prompt_of_the_class_form() -> None:
    assert prompt_of(Weather()) == snapshot('''\
def weather(city: str, days: int = 1, unit: str | None = 'C', tags: list[str] = (), photo: Image = None, sound: Any = None, *, more=None) -> str:
    """The weather of a city, in one sentence.

    Args:
        city: its English name
        days: how many; at least 1
        unit: of degrees; one of 'C', 'F'
        tags: any; each item at most 5 characters
        photo: of the sky
        sound: of the wind
        more: whatever

    Examples:
        weather(city='Oslo')  # Weather in Oslo?
    """\
''')


def test_code_prompt_of_the_class_form_with_hints() -> None:
    class Days(Tool):
        name = "days"
        description = "Days of a month."
        inputs = {"month": {"type": "string", "description": "ISO date of its first day"}}
        output_type = "array"

        async def forward(self, month: dt.date) -> list[dt.date]:
            return [month]

    assert prompt_of(Days()) == snapshot('''\
async def days(month: date) -> list[date]:
    """Days of a month.

    It is async: write `await days(...)`.

    Args:
        month: ISO date of its first day
    """\
''')


def test_code_prompt_of_final_answer() -> None:
    assert prompt_of(FINAL_ANSWER) == snapshot('''\
def final_answer(answer: Any) -> NoReturn:
    """Give the answer to the task and end it. Nothing after this call runs.

    Args:
        answer: the answer itself: any Python object, such as a number, a text or a DataFrame
    """\
''')


def test_code_prompt_of_a_typed_final_answer() -> None:
    types: list[Any] = [float, list[Row], pd.DataFrame, Literal["a", "b"], Any]
    assert [to_code_prompt(make_final_answer(one)) for one in types] == snapshot(
        [
            '''\
def final_answer(answer: float) -> NoReturn:
    """Give the answer to the task and end it. Nothing after this call runs.

    Args:
        answer: the answer itself
    """\
''',
            '''\
def final_answer(answer: list[Row]) -> NoReturn:
    """Give the answer to the task and end it. Nothing after this call runs.

    Args:
        answer: the answer itself; each item as a dict: {'price': <float>, 'city': <str, optional>}
    """\
''',
            '''\
def final_answer(answer: DataFrame) -> NoReturn:
    """Give the answer to the task and end it. Nothing after this call runs.

    Args:
        answer: the answer itself
    """\
''',
            '''\
def final_answer(answer: Literal['a', 'b']) -> NoReturn:
    """Give the answer to the task and end it. Nothing after this call runs.

    Args:
        answer: the answer itself
    """\
''',
            '''\
def final_answer(answer: Any) -> NoReturn:
    """Give the answer to the task and end it. Nothing after this call runs.

    Args:
        answer: the answer itself: any Python object, such as a number, a text or a DataFrame
    """\
''',
        ]
    )
