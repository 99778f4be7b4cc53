"""What it costs to find what a step changed in a namespace of 2,000 names, and of 5.

Beside it stands the least that any way must do: copy the dictionary twice and compare identities.
"""

from __future__ import annotations

import json
import sys
import time
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from measuring import median, report, rounds

from agent_magic.core.changes import find_changes, take_snapshot
from agent_magic.core.state import DictState, State
from agent_magic.notebook.kernel.state import KernelState

STEP_BUDGET_MS = 5.0
BARE_BUDGET = 40.0
SMALL_BUDGET_US = 5.0
N_ROUNDS = 41


def make_names(n: int) -> dict[str, Any]:
    """Numbers, texts, containers, functions and modules in turn, and 50 frames of 20 columns."""
    make: list[Callable[[int], Any]] = [
        lambda i: i * 1_000,
        str,
        lambda i: [i] * 3,
        lambda i: {f"k{k}": i for k in range(5)},
        lambda i: lambda: i,
        lambda _i: json,
        float,
        lambda _i: np.zeros(3),
    ]
    names = {f"name_{i}": make[i % len(make)](i) for i in range(n - 50)}
    data = {f"c{k}": ["x", "y"] if k % 3 == 0 else [k, k] for k in range(20)}
    return names | {f"df_{i}": pd.DataFrame(data) for i in range(50)}


def make_kernel(names: dict[str, Any]) -> KernelState:
    """The State of a notebook with these names, 60 hidden ones and 200 of the kernel's own."""
    hidden = {f"hidden_{i}": i for i in range(60)}
    own = {f"_i{i}": "code" for i in range(200)}
    shell: Any = types.SimpleNamespace(user_ns={**hidden, **own, **names}, user_ns_hidden=hidden)
    return KernelState(shell)


def time_step(state: State | Mapping[str, Any], names: dict[str, Any]) -> float:
    """Two snapshots and their comparison in ms, around a step that changes three names."""
    began = time.perf_counter()
    before = take_snapshot(state)
    taken = time.perf_counter() - began
    names["name_2"].append(1)
    names["df_7"]["c1"] = 0.5
    names["name_0"] += 1
    began = time.perf_counter()
    changes = find_changes(before, take_snapshot(state))
    taken += time.perf_counter() - began
    assert [change.name for change in changes if change.name != "df_7"] == ["name_0", "name_2"], changes
    return taken * 1e3


def time_bare(names: dict[str, Any]) -> float:
    """Two copies and a comparison of identities, in ms."""
    began = time.perf_counter()
    before, after = dict(names), dict(names)
    changed = [name for name, value in after.items() if before.get(name) is not value]
    taken = time.perf_counter() - began
    assert not changed
    return taken * 1e3


def time_small(state: DictState, n: int = 2_000) -> float:
    """One snapshot in µs."""
    began = time.perf_counter()
    for _ in range(n):
        take_snapshot(state)
    return (time.perf_counter() - began) / n * 1e6


def main() -> int:
    """Measure and print; 1 if over a budget."""
    names = make_names(2_000)
    frameless = {name: value for name, value in names.items() if not name.startswith("df_")}
    frameless["df_7"] = names["df_7"]
    kernel = make_kernel(names)
    small = DictState(n=1, text="abc", rows=[1, 2], d={"a": 1, "b": 2}, f=len)
    table = rounds(
        N_ROUNDS,
        lambda: time_bare(names),
        lambda: time_step(names, names),
        lambda: time_step(kernel, kernel._shell.user_ns),
        lambda: time_step(frameless, frameless),
        lambda: time_small(small),
    )
    bare, plain, notebook, without, five = (median(column) for column in zip(*table, strict=True))
    fits = [
        report("2,000 names of a dictionary, ms", plain, STEP_BUDGET_MS, f"{without:.2f} ms with one frame"),
        report("2,000 names of a notebook, ms", notebook, STEP_BUDGET_MS),
        report(
            "2,000 names, in bare comparisons",
            median([r[1] / r[0] for r in table]),
            BARE_BUDGET,
            f"{bare:.3f} ms",
        ),
        report("snapshot of 5 names, µs", five, SMALL_BUDGET_US),
    ]
    return 0 if all(fits) else 1


if __name__ == "__main__":
    sys.exit(main())
