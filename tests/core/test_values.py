"""Live values in words: what is JSON, what is text, and descriptions that cannot fail."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions
import pathlib
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.core.values import MAX_DEPTH, describe, is_json, is_text_like, safe_repr, to_text


class _Colour(enum.Enum):
    RED = "red"


class _Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no repr for you")


class _Hostile:
    """Every attribute raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


class _Text(str):
    __slots__ = ()


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def _cyclic() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def _knot(width: int) -> list[Any]:
    value: list[Any] = []
    value.extend([value] * width)
    return value


# -- is_json, is_text_like -------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [None, True, 0, 1.5, float("nan"), "", "a", [], {}, [1, [2, {"a": None}]], _nested(MAX_DEPTH)]
)
def test_is_json_takes_what_json_holds(value: Any) -> None:
    assert is_json(value)


@pytest.mark.parametrize(
    "value",
    [
        (),
        {1: 2},
        {"a": {1}},
        b"x",
        object(),
        _Text("a"),
        OrderedDict(a=1),
        _Colour.RED,
        decimal.Decimal(1),
        _nested(MAX_DEPTH + 1),
        _cyclic(),
        {_Text("a"): 1},
        [{"a": [1, (2,)]}, 3],
        [[], {"a": [{1: 2}]}],
        {"a": [1, 10**4_301]},
        _knot(30),
    ],
)
def test_is_json_refuses_what_json_would_lose(value: Any) -> None:
    assert not is_json(value)


def test_is_json_takes_one_list_in_two_places() -> None:
    shared = [1]
    assert is_json([shared, shared])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, "None"),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (1.5, "1.5"),
        (float("nan"), "nan"),
        (2 + 1j, "(2+1j)"),
        ([1, "zwei", None, True], '[1, "zwei", null, true]'),
        ({"größe": 1}, '{"größe": 1}'),
        ((1, "a"), '[1, "a"]'),
        ((), "[]"),
        (decimal.Decimal("1.10"), "1.10"),
        (fractions.Fraction(1, 3), "1/3"),
        (dt.date(2024, 2, 29), "2024-02-29"),
        (dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC), "2024-02-29 12:00:00+00:00"),
        (dt.timedelta(hours=1), "1:00:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (_Colour.RED, "red"),
        ((dt.date(2024, 2, 29), _Colour.RED), '["2024-02-29", "red"]'),
        ("a\ud800b", "a�b"),
        (["a\ud800b"], '["a�b"]'),
    ],
)
def test_text_like_value_is_told_as_text(value: Any, text: str) -> None:
    assert is_text_like(value)
    assert to_text(value) == text


def test_text_like_takes_numpy_scalars() -> None:
    assert [to_text(v) for v in (np.int64(3), np.float32(0.5))] == ["3", "0.5"]
    assert is_text_like(np.int64(3))
    assert to_text((np.int64(3), np.float64(0.5))) == "[3, 0.5]"


@pytest.mark.parametrize("value", [object(), {1}, b"x", (object(),), [decimal.Decimal(1)], _cyclic()])
def test_text_like_leaves_objects_to_be_bound(value: Any) -> None:
    assert not is_text_like(value)


def test_number_too_long_to_print_is_an_object() -> None:
    huge = 10**5_000
    assert not is_text_like(huge)
    assert not is_text_like([huge])
    assert str(describe(huge)) == snapshot("int: <int of about 5,000 digits>")


def test_to_text_cannot_fail() -> None:
    for value in (10**5_000, [10**5_000], _cyclic(), {"a": object()}):
        assert to_text(value)


# -- safe_repr -------------------------------------------------------------------------------


def test_safe_repr_tells_of_a_repr_that_raises() -> None:
    assert safe_repr(_Broken()) == snapshot("<_Broken whose repr raised RuntimeError>")
    assert safe_repr([1, _Broken()]) == snapshot("[1, <_Broken whose repr raised RuntimeError>]")


def test_safe_repr_is_bounded() -> None:
    assert len(safe_repr("x" * 10_000, 100)) <= 100
    assert len(safe_repr([["x" * 1_000] * 1_000] * 1_000)) <= 2_000


def test_safe_repr_keeps_the_order_of_a_dictionary() -> None:
    assert safe_repr({"b": 1, "a": 2}) == "{'b': 1, 'a': 2}"


def test_safe_repr_drops_control_characters() -> None:
    class Coloured:
        def __repr__(self) -> str:
            return "\x1b[31mred\x1b[0m"

    assert safe_repr(Coloured()) == "red"


# -- describe --------------------------------------------------------------------------------


def test_describe_data_frame() -> None:
    frame = pd.DataFrame({"city": pd.Categorical(["Oslo", "Bergen"] * 4), "price": [1.5, 2.5] * 4})
    before = frame.copy()
    assert str(describe(frame)) == snapshot("""\
DataFrame, 8 rows × 2 columns
columns city: category, price: float64
     city  price
0    Oslo    1.5
1  Bergen    2.5
2    Oslo    1.5
3  Bergen    2.5
4    Oslo    1.5\
""")
    assert frame.equals(before)


def test_describe_series() -> None:
    assert str(describe(pd.Series([1, 2, 3], name="n"))) == snapshot("""\
Series, (3,) int64
0    1
1    2
2    3\
""")


def test_describe_wide_frame_within_its_length() -> None:
    frame = pd.DataFrame({f"column_{n}": range(1_000) for n in range(500)})
    description = describe(frame, 600)
    assert description.shape == "1,000 rows × 500 columns"
    assert len(description.preview) <= 600


def test_describe_array() -> None:
    assert str(describe(np.zeros((2, 3), dtype="uint8"))) == snapshot("""\
ndarray, (2, 3) uint8
array([[0, 0, 0],
       [0, 0, 0]], dtype=uint8)\
""")


def test_describe_image() -> None:
    assert str(describe(Image.new("RGB", (30, 20)))) == snapshot("Image, 30 × 20 pixels, mode RGB")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, 2], "list, 2 items: [1, 2]"),
        ([1], "list, 1 item: [1]"),
        ({"a": 1}, "dict, 1 item: {'a': 1}"),
        (set(), "set, 0 items: set()"),
        ("Oslo", "str, 4 characters: 'Oslo'"),
        (b"ab", "bytes, 2 bytes: b'ab'"),
        (3, "int: 3"),
        (None, "NoneType: None"),
    ],
)
def test_describe_plain_value(value: Any, text: str) -> None:
    assert str(describe(value)) == text


def test_describe_object_over_several_lines_begins_on_a_line_of_its_own() -> None:
    class Model:
        def __repr__(self) -> str:
            return "Model(\n  layers=2\n)"

    assert str(describe(Model())) == "Model\nModel(\n  layers=2\n)"


def test_describe_dataclass() -> None:
    @dataclass
    class Point:
        x: int

    assert str(describe(Point(1))) == snapshot("Point: test_describe_dataclass.<locals>.Point(x=1)")


def test_describe_object_whose_repr_raises() -> None:
    assert str(describe(_Broken())) == snapshot("_Broken: <_Broken whose repr raised RuntimeError>")


def test_describe_object_whose_every_attribute_raises() -> None:
    assert describe(_Hostile()).type_name == "_Hostile"


def test_describe_object_whose_shape_raises() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "Odd()"

        @property
        def shape(self) -> tuple[int, ...]:
            raise RuntimeError("not ready")

    assert describe(Odd()).shape == ""
    assert describe(Odd()).preview == snapshot("<no preview: RuntimeError>")


def test_describe_cyclic_list() -> None:
    assert str(describe(_cyclic())) == snapshot("list, 2 items: [1, [1, [1, [1, [1, [1, [...]]]]]]]")


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: list(range(3_000_000)), id="list"),
        pytest.param(lambda: dict.fromkeys(range(1_000_000)), id="dict"),
        pytest.param(lambda: "x" * 50_000_000, id="str"),
        pytest.param(lambda: _knot(30), id="knot"),
    ],
)
def test_describe_huge_value_is_fast_and_short(make: Callable[[], Any]) -> None:
    value = make()
    start = time.perf_counter()
    description = describe(value)
    assert time.perf_counter() - start < 5
    assert len(description.preview) <= 600


def test_describe_refuses_a_preview_too_short_for_a_note() -> None:
    with pytest.raises(ValueError, match="at least 80"):
        describe("x" * 500, 10)
