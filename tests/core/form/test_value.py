"""Values to JSON and back: nothing that JSON cannot hold is taken for something else."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import json
import math
import pathlib
import uuid
import zoneinfo
from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.core.form.image import read_image
from agent_magic.core.form.value import MAX_DEPTH, RecordedValue, UnreadableError, ValueReader, ValueWriter


def _to_json(value: Any, name: str | None = None) -> tuple[Any, list[Any]]:
    """The form of a value after JSON, and the images in it."""
    writer = ValueWriter()
    form = json.loads(json.dumps(writer.write(value, name), allow_nan=False))
    images = [read_image(image) for image in writer.images]
    assert json.loads(json.dumps(ValueWriter().write(ValueReader(images).read(form)))) == form
    return form, images


def _there_and_back(value: Any) -> Any:
    form, images = _to_json(value)
    return ValueReader(images).read(form)


def _is_same(a: Any, b: Any) -> bool:
    """Equal, of one type all the way down, NaN like NaN and -0.0 unlike 0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(a, dict):
        return _is_same(list(a.items()), list(b.items()))
    return repr(a) == repr(b) if isinstance(a, float | complex) else a == b


class _Color(enum.Enum):
    RED = "red"


class _Word(enum.StrEnum):
    YES = "yes"


class _Level(enum.IntEnum):
    LOW = 1


class _Point(NamedTuple):
    x: int
    y: str


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, 1, -7, 2**53 + 1, -(2**64), 1.0, -0.0, 1e-320, 1e308, 0.1),
        *("", "text", "Tromsø ☀ 😀", "a\x00b\x7f\u2028", [], {}, [1, [2, [3]]], {"a": {"b": [None, "c"]}}),
    ],
)
def test_plain_json_is_written_as_itself(value: Any) -> None:
    assert _is_same(ValueWriter().write(value), value)
    assert _is_same(_there_and_back(value), value)


@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, math.inf, -math.inf, 10**5_000, -(7**9_000)),
        *("\ud800", "a\udfffb", "\ud83d\ude00", ["\ud83d\ude00"], {"\ud83d\ude00": 1}),
        *(b"", b"\x00\xff", bytearray(b"ab"), 1 + 2j, complex(-0.0, math.inf)),
        *((), (1, (2, "x")), [(1,), [1]], {1, 2, 3}, set(), frozenset({"a", ("b", 2)}), {frozenset({1}), 5}),
        *(
            {1: "a", "1": "b"},
            {None: 0},
            {(1, 2): [3]},
            {"$": "float", "text": "nan"},
            {"$": 1, "b": {"$": 2}},
        ),
        *({True: 1, "true": 2}, {1.5: 2}, {b"k": (1,)}),
        *(dt.date(2026, 1, 31), dt.time(23, 59, 1, 5), dt.datetime(2026, 1, 31, 12, 0, 0, 7)),  # noqa: DTZ001
        dt.datetime(2026, 1, 31, tzinfo=dt.UTC),
        dt.datetime(2026, 1, 31, tzinfo=dt.timezone(dt.timedelta(hours=-3, seconds=7))),
        *(dt.timedelta(days=-2, microseconds=3), decimal.Decimal("1.50"), decimal.Decimal("sNaN").copy_abs()),
        *(uuid.UUID(int=7), pathlib.Path("a/b.txt")),
    ],
    ids=lambda value: type(value).__name__,  # some have no text that a terminal can show
)
def test_what_json_has_no_word_for_comes_back_as_it_was(value: Any) -> None:
    again = _there_and_back(value)
    if isinstance(value, decimal.Decimal):
        assert (type(again), str(again)) == (type(value), str(value))
    else:
        assert _is_same(again, value)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (_Word.YES, "yes"),
        (_Level.LOW, 1),
        (np.float64(1.5), 1.5),
        (np.float64("nan"), math.nan),
        (np.str_("text"), "text"),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, a=[_Level.LOW]), {"a": [1]}),
        (_Point(1, _Word.YES), (1, "yes")),
    ],
)
def test_member_of_a_subclass_becomes_what_a_model_was_told_of_it(value: Any, plain: Any) -> None:
    assert _is_same(_there_and_back(value), plain)


def test_subclass_is_read_by_the_methods_of_its_base() -> None:
    class Loud(dict):  # type: ignore[type-arg]  # what is in it is not the point
        def items(self) -> Any:
            raise RuntimeError("asked")

        __iter__ = keys = items

    assert _there_and_back(Loud(a=1)) == {"a": 1}


@pytest.mark.parametrize(
    ("value", "type_name", "preview", "shape"),
    [
        (_Color.RED, "_Color", "<_Color.RED: 'red'>", ""),
        (np.int64(3), "int64", "np.int64(3)", "() int64"),
        (np.bool_(True), "bool", "np.True_", "() bool"),
        (np.arange(3), "ndarray", "array([0, 1, 2])", "(3,) int64"),
        (pd.DataFrame({"a": [1]}), "DataFrame", "   a\n0  1", "1 row × 1 column"),
        (range(3), "range", "range(0, 3)", ""),
        (len, "builtin_function_or_method", "<built-in function len>", ""),
    ],
)
def test_object_is_written_by_type_shape_and_repr(
    value: Any, type_name: str, preview: str, shape: str
) -> None:
    assert _there_and_back(value) == RecordedValue(type_name=type_name, preview=preview, shape=shape)


def test_output_that_is_too_large_is_written_by_its_repr() -> None:
    writer = ValueWriter(largest=1_000)
    large = [list(range(200)), "x" * 2_000, {"a": b"x" * 2_000}]
    assert [writer.write_output(value)["$"] for value in large] == ["object"] * 3
    assert writer.write_output(large[0])["shape"] == "200 items"
    assert writer.write_output([1, "two"], "pair") == [1, "two"]
    assert writer.write(large[0]) == large[0]  # what a model was told is written whole


def test_object_is_written_with_the_variable_that_holds_it() -> None:
    form, _ = _to_json(range(3), "numbers")
    assert form == snapshot({"$": "object", "type": "range", "preview": "range(0, 3)", "name": "numbers"})


def test_recorded_value_shows_itself_as_the_object_did() -> None:
    value = RecordedValue(type_name="range", preview="range(0, 3)", name="numbers")
    assert repr(value) == str(value) == "range(0, 3)"
    assert _there_and_back(value) == value
    assert _there_and_back([value, {"a": value}]) == [value, {"a": value}]


def test_moment_whose_text_does_not_say_all_is_written_by_its_repr() -> None:
    oslo = dt.datetime(2026, 1, 31, tzinfo=zoneinfo.ZoneInfo("UTC"))
    named = dt.datetime(2026, 1, 31, tzinfo=dt.timezone(dt.timedelta(hours=1), "Home"))
    second = dt.datetime(2026, 10, 25, 2, 30, fold=1)  # noqa: DTZ001 - the second half past two of that night
    for value in (oslo, named, second):
        again = _there_and_back(value)
        assert (again.type_name, again.preview) == ("datetime", repr(value))


def test_object_whose_class_has_code_of_its_own_is_written_all_the_same() -> None:
    class Meta(type):
        def __eq__(cls, other: object) -> bool:
            raise RuntimeError("asked")

        __hash__ = None  # type: ignore[assignment]  # a class that cannot be looked up

    class Odd(metaclass=Meta):
        def __repr__(self) -> str:
            raise ValueError("no words")

    again = _there_and_back([Odd()])
    assert (again.type_name, again.preview) == snapshot(("list", "[<Odd whose repr raised ValueError>]"))


def test_value_that_holds_itself_is_written_by_its_repr() -> None:
    one: list[Any] = [1]
    one.append(one)
    other: dict[str, Any] = {"a": [1]}
    other["self"] = [other, other]
    again = _there_and_back(one)
    assert again == snapshot(
        RecordedValue(type_name="list", preview="[1, [1, [1, [1, [1, [1, [...]]]]]]]", shape="2 items")
    )
    assert _there_and_back(other).type_name == "dict"


def test_value_is_written_down_to_the_depth_that_is_allowed() -> None:
    value: list[Any] = []
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert _is_same(_there_and_back(value), value)
    assert _there_and_back([value]).type_name == "list"
    pairs: Any = ()
    for _ in range(MAX_DEPTH - 1):
        pairs = {1: pairs}
    assert _there_and_back(pairs) == pairs
    assert _there_and_back({1: pairs}).type_name == "dict"


def test_lists_that_share_sublists_end() -> None:
    value: list[Any] = []
    for _ in range(60):
        value = [value, value]
    assert _there_and_back(value).type_name == "list"


def test_set_has_one_form_whatever_its_order() -> None:
    a, b = {0, 8, 16, "x", (1,)}, {(1,), "x", 16, 8, 0}
    assert ValueWriter().write(a) == ValueWriter().write(b)


@pytest.mark.parametrize(
    "make",
    [
        lambda: {_Twin(), _Twin()},
        lambda: {_Twin(): 1, _Twin(): 2},
        lambda: {float("nan"), float("nan")},
    ],
)
def test_keys_that_would_come_back_as_one_are_written_by_the_repr_of_the_whole(make: Any) -> None:
    value = make()
    again = _there_and_back(value)
    assert (type(again), again.type_name) == (RecordedValue, type(value).__name__)


class _Twin:
    def __repr__(self) -> str:
        return "<a twin>"


def test_image_comes_back_the_same_object_wherever_it_stood() -> None:
    image = Image.new("RGBA", (3, 2), (1, 2, 3, 4))
    first, second, third = _there_and_back([image, {"again": image}, image.copy()])
    assert first is second["again"]
    assert third is not first
    assert (first.size, first.mode, first.tobytes()) == ((3, 2), "RGBA", image.tobytes())


def test_image_whose_file_is_broken_is_written_by_its_repr(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "photo.png"
    Image.effect_noise((40, 40), 50).save(path)
    path.write_bytes(path.read_bytes()[:300])
    with Image.open(path) as image:
        assert _there_and_back(image).type_name == "PngImageFile"


def test_form_shares_no_container_with_the_value() -> None:
    value: dict[str, Any] = {"a": [1, {"b": 2}]}
    form = ValueWriter().write(value)
    value["a"][1]["b"] = 3
    assert form == {"a": [1, {"b": 2}]}
    again = ValueReader().read(form)
    form["a"][1]["b"] = 4
    assert again == {"a": [1, {"b": 2}]}


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ((1, 2), "(1, 2), and not plain JSON"),
        (
            {"$": "module", "name": "os"},
            "'module', and not one of the kinds of value that this version knows",
        ),
        ({"$": ["list"]}, "{'$': ['list']}, and not the form of ['list']"),
        ({"$": "date", "text": "soon"}, "{'$': 'date', 'text': 'soon'}, and not the form of 'date'"),
        ({"$": "date"}, "{'$': 'date'}, and not the form of 'date'"),
        ({"$": "tuple", "items": 3}, "{'$': 'tuple', 'items': 3}, and not the form of 'tuple'"),
        ({"$": "set", "items": [[1]]}, "{'$': 'set', 'items': [[1]]}, and not the form of 'set'"),
        ({"$": "dict", "items": [[1]]}, "{'$': 'dict', 'items': [[1]]}, and not the form of 'dict'"),
        ({"$": "image", "index": 0}, "{'$': 'image', 'index': 0}, and not the form of 'image'"),
        ({"$": "image", "index": -1}, "-1, and not a place, counted from 0"),
        ({"$": "object", "type": 1, "preview": ""}, "1, and not text"),
        ({"$": "bytes", "text": "?"}, "{'$': 'bytes', 'text': '?'}, and not the form of 'bytes'"),
    ],
)
def test_reading_refuses_what_nobody_wrote(form: Any, found: str) -> None:
    with pytest.raises(UnreadableError) as refusal:
        ValueReader().read(form)
    assert f"{refusal.value.found!r}, and not {refusal.value.expected}" == found
