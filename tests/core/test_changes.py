"""What changed between two snapshots of a namespace, told in lines; no code of the person's runs."""

from __future__ import annotations

import gc
import json
import random
import threading
import weakref
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.core.changes import (
    find_changes,
    take_snapshot,
)
from agent_magic.core.state import AgentState, DictState


def _changes(names: dict[str, Any], step: Callable[[dict[str, Any]], Any]) -> list[str]:
    before = take_snapshot(names)
    step(names)
    return [str(change) for change in find_changes(before, take_snapshot(names))]


def _run(code: str, **names: Any) -> list[str]:
    return _changes(names, lambda names: exec(code, {"pd": pd, "np": np}, names))


_ARMED = threading.Event()


@pytest.fixture
def _armed() -> Iterator[None]:
    """Only during a test: whoever walks the garbage collector's objects later asks each for its class."""
    _ARMED.set()
    yield
    _ARMED.clear()


class _Tripwire:
    """Every way into its instances is an error."""

    def __getattribute__(self, name: str) -> Any:
        if _ARMED.is_set():
            raise AssertionError(name)
        return super().__getattribute__(name)

    def __len__(self) -> int:
        raise AssertionError("__len__")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("__eq__")

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        raise AssertionError("__repr__")


def test_find_changes_tells_each_kind_in_the_order_of_the_names_with_deleted_last() -> None:
    names: dict[str, Any] = {"old": [1, 2, 3], "rows": [1, 2, 3], "n": 1, "gone": "abc", "same": {}}
    code = "rows.append(4)\nn = 'five!'\ndel old, gone\ntop = pd.DataFrame({'a': [1, 2, 3], 'b': 0})"
    assert _run(code, **names) == snapshot(
        [
            "changed in place rows: list, 3 → 4 items",
            "rebound n: int → str, 5 characters",
            "added top: DataFrame, 3 rows × 2 columns",
            "deleted old: list, 3 items",
            "deleted gone: str, 3 characters",
        ]
    )


def test_find_changes_is_empty_when_nothing_happened() -> None:
    names = {"df": pd.DataFrame({"a": [1]}), "a": np.zeros(3), "d": {"k": 1}, "f": len, "m": json, "n": 1.5}
    assert _changes(names, lambda _names: None) == []


@pytest.mark.parametrize("value", ["1000", "1.5", "float('nan')", "'abc'", "b'abc'", "True", "None"])
def test_find_changes_passes_over_a_scalar_bound_again_to_an_equal_value(value: str) -> None:
    assert _run(f"x = {value}", x=eval(value)) == []


def test_find_changes_tells_an_equal_value_of_another_type() -> None:
    assert _run("x = True\ny = 1.0", x=1, y=1) == snapshot(
        ["rebound x: int → bool", "rebound y: int → float"]
    )


def test_find_changes_tells_another_object_of_one_type() -> None:
    code = "n = 2\nrows = [3, 4]\nmore = [1, 2, 3]\ntext = 'y' * 200\ndef f(): pass"
    assert _run(code, n=1, rows=[1, 2], more=[1], text="x" * 200, f=len) == snapshot(
        [
            "rebound n: another int",
            "rebound rows: another list, 2 items",
            "rebound more: another list, 1 → 3 items",
            "rebound text: another str, 200 characters",
            "rebound f: builtin_function_or_method → function",
        ]
    )


def test_find_changes_tells_lengths_of_containers_changed_in_place() -> None:
    names = {
        "a": [1],
        "b": {1, 2},
        "c": bytearray(b"ab"),
        "d": deque([1]),
        "e": array("i", [1, 2]),
        "f": OrderedDict(x=1),
    }
    code = "a *= 2\nb.clear()\nc.append(1)\nd.append(2)\ne.pop()\nf['y'] = 2"
    assert _run(code, **names) == snapshot(
        [
            "changed in place a: list, 1 → 2 items",
            "changed in place b: set, 2 → 0 items",
            "changed in place c: bytearray, 2 → 3 bytes",
            "changed in place d: deque, 1 → 2 items",
            "changed in place e: array, 2 → 1 item",
            "changed in place f: OrderedDict, 1 → 2 items; keys + y",
        ]
    )


def test_find_changes_asks_the_builtin_for_the_length_of_a_subclass() -> None:
    class Liar(list[int]):
        def __len__(self) -> int:
            raise AssertionError

        def __iter__(self) -> Iterator[int]:
            raise AssertionError

    assert _run("x.append(1)", x=Liar()) == snapshot(["changed in place x: Liar, 0 → 1 item"])


def test_find_changes_tells_keys_that_came_and_went() -> None:
    assert _run("d['c'] = 3\ndel d['a']\nd[(1, 'x')] = d[None] = 0", d={"a": 1, "b": 2}) == snapshot(
        ["changed in place d: dict, 2 → 4 items; keys + c, (1, x), None, − a"]
    )


def test_find_changes_passes_over_keys_in_another_order_and_values_replaced() -> None:
    assert _run("d['b'] = d.pop('b')\nd['a'] = 5", d={"b": 1, "a": 2}) == []


def test_find_changes_compares_no_keys_of_a_large_dictionary() -> None:
    d = dict.fromkeys(range(51))
    assert _run("d[0.5] = d.pop(0)\ne[51] = 0", d=d, e=dict(d)) == snapshot(
        ["changed in place e: dict, 51 → 52 items"]
    )


@pytest.mark.usefixtures("_armed")
def test_find_changes_tells_keys_of_the_persons_classes_by_class() -> None:
    assert _changes({"d": {}}, lambda names: names["d"].update({_Tripwire(): 1})) == snapshot(
        ["changed in place d: dict, 0 → 1 item; keys + <_Tripwire>"]
    )


def test_find_changes_lists_ten_keys_and_counts_the_rest() -> None:
    assert _run("d.update(dict.fromkeys('abcdefghijklm'))", d={}) == snapshot(
        ["changed in place d: dict, 0 → 13 items; keys + a, b, c, d, e, f, g, h, i, j and 3 more"]
    )


def test_find_changes_quotes_odd_labels() -> None:
    labels = ["", "a, b", "line\nend", "x" * 50, "\u202eevil", "\ud800", 10**200]
    changes = _changes({"d": {}}, lambda names: names["d"].update(dict.fromkeys(labels)))
    assert changes == snapshot(
        [
            "changed in place d: dict, 0 → 7 items; keys + '', 'a, b', 'line\\nend', xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…, '\\u202eevil', '\\ud800', <int>"
        ]
    )


def test_find_changes_tells_what_changed_inside_a_frame() -> None:
    df = pd.DataFrame({"n": range(10), "old": 0.5})
    code = "df['price_eur'] = 1.0\ndel df['old']\ndf['n'] = df['n'].astype(float)\ndf.loc[10] = 0\ndf.loc[11] = 0"
    assert _run(code, df=df) == snapshot(
        [
            "changed in place df: DataFrame, columns + price_eur, − old; dtype of n int64 → float64; 10 → 12 rows"
        ]
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "df['a'] = df['a'].astype(str)",
            snapshot(["changed in place df: DataFrame, dtype of a int64 → str"]),
        ),
        (
            "df['a'] = df['a'].astype('category'); df['b'] = df['b'] > 1",
            snapshot(["changed in place df: DataFrame, dtypes of a int64 → category, b float64 → bool"]),
        ),
        ("df.columns = ['a', 'c']", snapshot(["changed in place df: DataFrame, columns + c, − b"])),
        (
            "df.columns = ['b', 'a']",
            snapshot(
                [
                    "changed in place df: DataFrame, columns in another order; dtypes of b float64 → int64, a int64 → float64"
                ]
            ),
        ),
        ("df.columns = ['a', 'b']", snapshot([])),
        ("df.columns = ['a', 'a']", snapshot(["changed in place df: DataFrame, columns + a, − b"])),
        (
            "df.columns = pd.to_datetime(['2024-01-01', '2024-02-01'])",
            snapshot(
                ["changed in place df: DataFrame, columns + 2024-01-01 00:00:00, 2024-02-01 00:00:00, − a, b"]
            ),
        ),
        (
            "df.columns = pd.MultiIndex.from_tuples([('a', 1), ('a', 2)])",
            snapshot(["changed in place df: DataFrame, columns + (a, 1), (a, 2), − a, b"]),
        ),
        ("df.index = list('xyz')", snapshot([])),
        ("df.iloc[0, 0] = 99", snapshot([])),
        ("df = df.assign(c=1)", snapshot(["rebound df: another DataFrame, columns + c"])),
        ("df = df.copy()", snapshot(["rebound df: another DataFrame, 3 rows × 2 columns"])),
        ("df = df['a']", snapshot(["rebound df: DataFrame, 3 rows × 2 columns → Series, (3,) int64"])),
    ],
)
def test_find_changes_tells_a_change_of_a_frame(code: str, expected: list[str]) -> None:
    assert _run(code, df=pd.DataFrame({"a": [1, 2, 3], "b": [1.5, 2.5, 3.5]})) == expected


def test_find_changes_counts_the_columns_of_a_wide_frame() -> None:
    df = pd.DataFrame(np.zeros((2, 300)))
    assert _run("df.insert(0, 'x', 1)", df=df) == snapshot(
        ["changed in place df: DataFrame, 300 → 301 columns"]
    )


def test_find_changes_tells_dtypes_of_a_wide_frames_first_columns() -> None:
    df = pd.DataFrame(np.zeros((2, 300)))
    assert _run("df[5] = df[5].astype(int)\ndf[250] = df[250].astype(int)", df=df) == snapshot(
        ["changed in place df: DataFrame, dtype of 5 float64 → int64"]
    )


def test_find_changes_tells_shape_and_dtype_of_series_and_arrays() -> None:
    names = {"s": pd.Series([1, 2]), "a": np.zeros(6), "b": np.zeros(2, dtype="int64"), "i": pd.Index([1])}
    code = "s.loc[2] = 3\na.resize((2, 4), refcheck=False)\nb = b.astype('float32')\ni = pd.Index(['a', 'b'])"
    assert _run(code, **names) == snapshot(
        [
            "changed in place s: Series, shape (2,) → (3,)",
            "changed in place a: ndarray, shape (6,) → (2, 4)",
            "rebound b: another ndarray, dtype int64 → float32",
            "rebound i: another Index, shape (1,) → (2,); dtype int64 → str",
        ]
    )


def test_find_changes_tells_size_and_mode_of_images() -> None:
    image = Image.new("RGB", (800, 600))
    changes = _changes(
        {"p": image, "q": image}, lambda names: names.update(p=image.convert("L").resize((80, 60)))
    )
    assert changes == snapshot(["rebound p: another Image, 800 × 600 pixels → 80 × 60 pixels; mode RGB → L"])


def test_find_changes_reads_subclasses_of_frames_and_arrays() -> None:
    class MyFrame(pd.DataFrame):
        pass

    class MyArray(np.ndarray):
        pass

    names = {"f": MyFrame({"a": [1]}), "a": MyArray((4,))}
    assert _run("f['b'] = 'x'\nf['a'] = 0.5\na.resize((2, 4), refcheck=False)", **names) == snapshot(
        [
            "changed in place f: MyFrame, columns + b; dtype of a int64 → float64",
            "changed in place a: MyArray, shape (4,) → (2, 4)",
        ]
    )


def test_find_changes_runs_no_property_of_a_frames_subclass() -> None:
    class Tripwire(pd.DataFrame):
        is_armed = False

        @property
        def columns(self) -> Any:
            assert not Tripwire.is_armed
            return pd.DataFrame.columns.__get__(self)  # type: ignore[attr-defined]

    class Sliced(pd.DataFrame):
        @property
        def _constructor_sliced(self) -> Any:
            assert not Tripwire.is_armed
            return pd.Series

    names = {"f": Tripwire({"a": [1]}), "g": Sliced({"a": [1]})}
    before = take_snapshot(names)
    names["g"]["b"] = 2
    names["new"] = names["f"]
    Tripwire.is_armed = True
    assert [str(change) for change in find_changes(before, take_snapshot(names))] == snapshot(
        ["changed in place g: Sliced, columns + b", "added new: Tripwire"]
    )


def test_find_changes_takes_a_frame_that_raises_as_opaque() -> None:
    broken = pd.DataFrame.__new__(pd.DataFrame)
    with pytest.raises(AttributeError):
        broken.columns  # noqa: B018 - that it raises is the case
    assert _changes({}, lambda names: names.update(b=broken)) == snapshot(["added b: DataFrame"])


def test_find_changes_passes_over_a_frame_that_broke_or_was_mended_meanwhile() -> None:
    names = {"b": pd.DataFrame({"a": [1]})}
    whole = take_snapshot(names)
    manager = names["b"].__dict__.pop("_mgr")
    broken = take_snapshot(names)
    names["b"].__dict__["_mgr"] = manager
    assert find_changes(whole, broken) == find_changes(broken, take_snapshot(names)) == ()


@pytest.mark.usefixtures("_armed")
def test_find_changes_runs_no_code_of_the_persons_classes() -> None:
    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            if _ARMED.is_set():
                raise AssertionError(name)
            return super().__getattribute__(name)

        def __eq__(cls, other: object) -> bool:
            raise AssertionError("__eq__")

        __hash__ = None  # type: ignore[assignment]

    class Unfriendly(metaclass=Meta):
        pass

    names = {"a": _Tripwire(), "b": Unfriendly, "c": type.__call__(Unfriendly), "d": _Tripwire(), "e": 0}
    before = take_snapshot(names)
    names |= {"a": _Tripwire(), "b": 1, "e": _Tripwire(), "f": type.__call__(Unfriendly)}
    del names["d"]
    assert [str(change) for change in find_changes(before, take_snapshot(names))] == snapshot(
        [
            "rebound a: another _Tripwire",
            "rebound b: Meta → int",
            "rebound e: int → _Tripwire",
            "added f: Unfriendly",
            "deleted d: _Tripwire",
        ]
    )


def test_find_changes_believes_no_class_that_says_it_is_another() -> None:
    class Liar:
        @property
        def __class__(self) -> Any:  # type: ignore[override]
            raise AssertionError

        @property
        def shape(self) -> Any:
            raise AssertionError

    frame = type("DataFrame", (Liar,), {"__module__": "pandas"})
    assert _changes({}, lambda names: names.update(x=Liar(), y=frame())) == snapshot(
        ["added x: Liar", "added y: DataFrame"]
    )


def test_find_changes_tells_a_class_assigned_to_the_object() -> None:
    class Point:
        pass

    class Point3D(Point):
        pass

    class Rows(list[int]):
        pass

    class Rows2(Rows):
        pass

    def step(names: dict[str, Any]) -> None:
        names["p"].__class__ = Point3D
        names["r"].__class__ = Rows2
        names["r"].append(1)

    assert _changes({"p": Point(), "r": Rows()}, step) == snapshot(
        ["changed in place p: Point → Point3D", "changed in place r: Rows, 0 items → Rows2, 1 item"]
    )


def test_take_snapshot_reads_any_state() -> None:
    base = DictState(a=1, b=[1])
    state = AgentState(base, layer={"obs_1": "x"})
    before, before_base = take_snapshot(state), take_snapshot(base)
    base["b"].append(2)
    base["c"] = None
    told = ["changed in place b: list, 1 → 2 items", "added c: NoneType"]
    assert [str(change) for change in find_changes(before, take_snapshot(state))] == told
    assert [str(change) for change in find_changes(before_base, take_snapshot(base))] == told


class _Moving:
    """A State that another thread changes while it is read: `n_raises` times, and one name is gone."""

    def __init__(self, n_raises: int) -> None:
        self.n_left = n_raises

    def __contains__(self, name: object) -> bool:
        return name in ("a", "b")

    def __iter__(self) -> Iterator[str]:
        yield "a"
        yield "gone"
        if self.n_left:
            self.n_left -= 1
            raise RuntimeError("dictionary changed size during iteration")
        yield "b"

    def __getitem__(self, name: str) -> Any:
        return {"a": 1, "b": 2}[name]

    def bind(self, name: str, value: Any) -> None:
        raise NotImplementedError


def test_take_snapshot_tries_again_when_the_state_changes_while_it_is_read() -> None:
    assert [str(change) for change in find_changes(take_snapshot({}), take_snapshot(_Moving(3)))] == snapshot(
        ["added a: int", "added b: int"]
    )


def test_take_snapshot_never_raises_for_a_state_that_never_stands_still() -> None:
    changes = find_changes(take_snapshot({}), take_snapshot(_Moving(10**6)))
    assert [str(change) for change in changes] == snapshot(["added a: int"])


def test_take_snapshot_stands_a_thread_that_binds_and_deletes() -> None:
    names: dict[str, Any] = {f"n{i}": {i: i} for i in range(200)}
    done = threading.Event()

    def churn() -> None:
        number = 0
        while not done.is_set():
            number += 1
            names[f"x{number}"] = number
            names["n0"][number] = 0
            names.pop(f"x{number - 5}", None)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        taken = [take_snapshot(names) for _ in range(300)]
    finally:
        done.set()
        thread.join()
    for before, after in pairwise(taken):
        assert all(change.name[0] == "x" or change.name == "n0" for change in find_changes(before, after))


def test_snapshot_holds_a_value_while_it_lives_and_no_longer() -> None:
    class Thing:
        pass

    names: dict[str, Any] = {"x": Thing()}
    watch = weakref.ref(names["x"])
    before = take_snapshot(names)
    names["x"] = Thing()
    assert watch() is not None
    assert [str(change) for change in find_changes(before, take_snapshot(names))] == snapshot(
        ["rebound x: another Thing"]
    )
    del before
    assert watch() is None


def test_take_snapshot_keeps_no_class_alive() -> None:
    thing = type("Thing", (), {})
    watch = weakref.ref(thing)
    take_snapshot({"x": thing()})
    del thing
    gc.collect()
    assert watch() is None


def test_find_changes_tells_what_random_steps_did() -> None:
    dice = random.Random(3)
    make: list[Callable[[], Any]] = [
        dice.random,
        lambda: [0] * dice.randrange(3),
        lambda: {"k": 1},
        lambda: pd.DataFrame({"a": [1]}),
        lambda: np.zeros(2),
        object,
    ]
    for _ in range(300):
        names: dict[str, Any] = {f"n{i}": dice.choice(make)() for i in range(dice.randrange(8))}
        before, was = take_snapshot(names), dict(names)
        mutated: set[str] = set()
        for name in dice.sample(list(names), k=min(len(names), 3)):
            match dice.randrange(3):
                case 0:
                    del names[name]
                case 1:
                    names[name] = dice.choice(make)()
                case _ if type(names[name]) is list:
                    names[name].append(1)
                    mutated.add(name)
                case _ if type(names[name]) is pd.DataFrame:
                    names[name]["b"] = 1
                    mutated.add(name)
        names[f"m{dice.randrange(2)}"] = 0
        expected = {
            **{name: "added" for name in names if name not in was},
            **{name: "rebound" for name in names if name in was and names[name] is not was[name]},
            **dict.fromkeys(mutated, "mutated"),
            **{name: "deleted" for name in was if name not in names},
        }
        changes = find_changes(before, take_snapshot(names))
        assert {change.name: change.kind for change in changes} == expected
        assert [change.name for change in changes if change.kind != "deleted"] == [
            n for n in names if n in expected
        ]
        assert all("\n" not in str(change) for change in changes)
