"""Protection: what code does to the person's values in place is undone, by identity and by value."""

from __future__ import annotations

import collections
import gc
import weakref

import numpy as np
import pandas as pd
import pytest
from inline_snapshot import snapshot

from agent_magic.execution.values.protecting import Protection

CHANGES = {
    "list append": ("v = [1, 2, 3]", "v.append(4)"),
    "list clear": ("v = [1, 2, 3]", "v.clear()"),
    "list item": ("v = [1, 2, 3]", "v[0] = 9"),
    "list alias": ("v = [1, 2, 3]", "alias = v\nalias += [4]\n[v.append(i) for i in range(3)]"),
    "list sort": ("v = [3, 1, 2]", "v.sort()"),
    "list in a list": ("v = [[1], [2]]", "v[1].append(3)"),
    "list in a tuple": ("v = ([1], 2)", "v[0].append(3)"),
    "dict item": ("v = {'a': 1}", "v['b'] = 2"),
    "dict value": ("v = {'a': 1}", "v['a'] = 2"),
    "dict pop": ("v = {'a': 1, 'b': 2}", "v.pop('a')"),
    "dict order": ("v = {'a': 1, 'b': 2}", "v['a'] = v.pop('a')"),
    "dict in a dict": ("v = {'a': {'b': [1]}}", "v['a']['b'].clear()"),
    "defaultdict": (
        "import collections\nv = collections.defaultdict(list, a=[1])",
        "v['a'].append(2)\nv['b']",
    ),
    "OrderedDict": ("import collections\nv = collections.OrderedDict(a=1, b=2)", "v.move_to_end('a')"),
    "Counter": ("import collections\nv = collections.Counter('aab')", "v.update('b')"),
    "set": ("v = {1, 2}", "v.add(3)"),
    "bytearray": ("v = bytearray(b'abc')", "v[0] = 120"),
    "deque": ("import collections\nv = collections.deque([1, 2], maxlen=5)", "v.appendleft(0)"),
    "subclass": ("class L(list): pass\nv = L([1, 2])", "v.append(3)"),
    "holds itself": ("v = [1]\nv.append(v)", "v.append(2)"),
    "array item": ("v = np.arange(5)", "v[0] = 99"),
    "array of objects": ("v = np.array([1, 'a', None], dtype=object)", "v[0] = 99"),
    "array fill": ("v = np.ones((3, 3))", "v.fill(0)"),
    "array view": ("v = np.arange(6)", "v[2:4] += 1"),
    "array shape": ("v = np.arange(6)", "v.shape = (2, 3)"),
    "array of dates": ("v = np.array(['2020-01-01'], dtype='datetime64[D]')", "v[0] = '2021-01-01'"),
    "array in a list": ("v = [np.arange(3)]", "v[0][0] = 7"),
    "frame loc": ("v = pd.DataFrame({'a': [1, 2], 'b': [3.0, 4.0]})", "v.loc[0, 'a'] = 9"),
    "frame iloc": ("v = pd.DataFrame({'a': [1, 2], 'b': [3.0, 4.0]})", "v.iloc[0] = 9"),
    "frame at": ("v = pd.DataFrame({'a': [1, 2], 'b': [3.0, 4.0]})", "v.at[1, 'b'] = 9"),
    "frame new column": ("v = pd.DataFrame({'a': [1, 2]})", "v['c'] = 5"),
    "frame column": ("v = pd.DataFrame({'a': [1, 2]})", "v['a'] = v['a'] * 2"),
    "frame drop": ("v = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})", "v.drop(columns='b', inplace=True)"),
    "frame sort": ("v = pd.DataFrame({'a': [2, 1]})", "v.sort_values('a', inplace=True)"),
    "frame columns": ("v = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})", "v.columns = ['x', 'y']"),
    "frame index": ("v = pd.DataFrame({'a': [1, 2]})", "v.index = ['x', 'y']"),
    "frame name of index": ("v = pd.DataFrame({'a': [1, 2]})", "v.index.name = 'n'"),
    "frame del": ("v = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})", "del v['a']"),
    "frame pop": ("v = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})", "v.pop('a')"),
    "frame insert": ("v = pd.DataFrame({'a': [1, 2]})", "v.insert(0, 'z', [0, 0])"),
    "frame attrs": ("v = pd.DataFrame({'a': [1]})\nv.attrs['x'] = 1", "v.attrs['x'] = 2\nv.attrs['y'] = 3"),
    "frame flags": ("v = pd.DataFrame({'a': [1]})", "v.flags.allows_duplicate_labels = False"),
    "frame fillna": ("v = pd.DataFrame({'a': [1.0, None]})", "v.fillna(0, inplace=True)"),
    "frame of texts": ("v = pd.DataFrame({'a': ['x', 'y']})", "v.loc[0, 'a'] = 'z'"),
    "frame of categories": ("v = pd.DataFrame({'a': pd.Categorical(['x', 'y'])})", "v.loc[0, 'a'] = 'y'"),
    "frame in a dict": ("v = {'df': pd.DataFrame({'a': [1, 2]})}", "v['df']['n'] = 1"),
    "frame and more": (
        "v = pd.DataFrame({'a': range(3)}, index=list('xyz'))",
        "v['b'] = 1\nv.loc['n'] = [7, 8]\nv.rename(columns={'a': 'q'}, inplace=True)",
    ),
    "series item": ("v = pd.Series([1, 2], name='s')", "v[0] = 9"),
    "series name": ("v = pd.Series([1, 2], name='s')", "v.name = 't'"),
    "series sort": ("v = pd.Series([2, 1])", "v.sort_values(inplace=True)"),
    "index name": ("v = pd.Index([1, 2], name='n')", "v.name = 'm'"),
}


def _same(value, before):
    if isinstance(value, pd.DataFrame):
        pd.testing.assert_frame_equal(value, before)
        assert (value.attrs, value.flags) == (before.attrs, before.flags)
    elif isinstance(value, pd.Series):
        pd.testing.assert_series_equal(value, before)
    elif isinstance(value, pd.Index):
        pd.testing.assert_index_equal(value, before)
    elif isinstance(value, np.ndarray):
        np.testing.assert_array_equal(value, before)
        assert value.dtype == before.dtype
    elif isinstance(value, dict):
        assert list(value) == list(before)
        for key, item in value.items():
            _same(item, before[key])
    elif isinstance(value, list) and value and not any(item is value for item in value):
        assert len(value) == len(before)
        for item, other in zip(value, before, strict=True):
            _same(item, other)
    elif isinstance(value, list):
        assert len(value) == len(before)
    else:
        assert value == before


@pytest.mark.filterwarnings("ignore:The inplace keyword")
@pytest.mark.parametrize("what", CHANGES)
def test_protection_puts_back_what_code_changes_in_place(room, what):
    make, change = CHANGES[what]
    room.ns.update(np=np, pd=pd)
    room.write(make)
    value = room.ns["v"]
    other: dict = {"np": np, "pd": pd}
    exec(make, other)
    outcome = room.run(change)
    assert outcome.error is None
    assert room.ns["v"] is value
    _same(value, other["v"])
    assert len(outcome.notes) == 1
    assert outcome.notes[0].startswith("v was put back: code may not change the person's variables in place.")
    # What was put back can be used and changed by the person as before, and is as safe in the next step.
    assert len(room.run(change).notes) == 1
    _same(value, other["v"])
    room.write(change)


@pytest.mark.parametrize("what", CHANGES)
def test_protection_leaves_alone_what_is_only_read(room, what):
    make, _ = CHANGES[what]
    room.ns.update(np=np, pd=pd)
    room.write(make)
    outcome = room.run("n = len(v)\nt = type(v)\nfor x in v: pass\nc = v.copy() if hasattr(v, 'copy') else v")
    assert outcome.error is None
    assert outcome.notes == ()


def test_protection_says_what_to_do_instead(room):
    room.write("user_list = [1, 2, 3]\nuser_dict = {}")
    outcome = room.run("user_list.append(1)\nuser_dict['a'] = 1")
    assert outcome.notes == snapshot(
        (
            "user_list was put back: code may not change the person's variables in place. Work on a copy: list(user_list).",
            "user_dict was put back: code may not change the person's variables in place. Work on a copy: dict(user_dict).",
        )
    )


def test_protection_leaves_what_code_has_made(room):
    room.run("rows = [1]")
    assert room.run("rows.append(2)\nrows").value == [1, 2]
    assert room.run("rows.append(3)\nrows").notes == ()


def test_protection_of_named_variables_leaves_the_others(room):
    room.write("a = [1]\nb = [1]")
    room.run("a.append(2)\nb.append(2)", protect=("a",))
    assert (room.ns["a"], room.ns["b"]) == ([1], [1, 2])


def test_protection_may_be_off(room):
    room.write("a = [1]")
    assert room.run("a.append(2)", protect=()).notes == ()
    assert room.ns["a"] == [1, 2]


def test_protection_keeps_a_large_array_from_being_written_to(room):
    room.ns["big"] = big = np.zeros(3_000_000)
    room.ns["part"] = part = big[:2_500_000]
    outcome = room.run("big[0] = 1")
    assert outcome.error is not None
    assert "read-only" in outcome.error.message
    assert big.flags.writeable
    assert part.flags.writeable
    assert big[0] == 0


def test_protection_sees_that_a_large_list_has_changed(room):
    room.ns["big"] = list(range(100_000))
    outcome = room.run("big.append(1)")
    assert outcome.notes == snapshot(
        (
            "big was changed in place and could not be put back: it is not protected. Tell the person in the final answer.",
        )
    )
    assert room.run("len(big)").notes == ()


def test_protection_holds_nothing_afterwards(room):
    room.ns["v"] = pd.DataFrame({"a": [1]})
    watch = weakref.ref(room.ns["v"])
    room.run("v['b'] = 1")
    room.write("del v")
    room.run("1")
    gc.collect()
    assert watch() is None


def test_protection_asks_no_value_of_the_persons():
    class Loud:
        def __eq__(self, other):
            raise AssertionError

        def __hash__(self):
            return 1

        def __getattribute__(self, name):
            raise AssertionError(name)

        def __bool__(self):
            raise AssertionError

    class Meta(type):
        def __hash__(cls):
            raise AssertionError

        def __eq__(cls, other):
            raise AssertionError

    class Odd(metaclass=Meta):
        pass

    loud = Loud()
    values = {
        "loud": loud, "odd": Odd(), "kind": Odd, "rows": [loud, Odd()], "keys": {loud: 1}, "set": {loud},
        "deque": collections.deque([loud]),
    }  # fmt: skip
    protection = Protection()
    protection.begin(values)
    values["rows"].append(1)
    values["keys"].clear()
    assert len(protection.end()) == 2
    assert len(values["rows"]) == 2
    assert len(values["keys"]) == 1
