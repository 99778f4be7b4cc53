"""What it costs to run code of a model's, beside Python's own `exec` of the same text.

Each figure is taken with the guard on; ratios are taken in one round.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pandas as pd
from measuring import median, report, rounds

from agent_magic.execution.executor import DictExecutor
from agent_magic.execution.guard.compiling import compile_code
from agent_magic.execution.guard.imports import AuthorizedImports
from agent_magic.execution.guard.rules import Rules
from agent_magic.execution.request import CodeStep
from agent_magic.execution.step.running import give_answer
from agent_magic.execution.step.writing import Internal, Ledger, persons_names
from agent_magic.execution.values.protecting import Protection

ONE_LINER = "total = sum(values) / len(values)"
ONE_LINER_BUDGET = 15.0
MANY_NAMES_BUDGET_MS = 1.0
SNAPSHOT_BUDGET_MS = 5.0
COMPILE_BUDGET_MS = 5.0
TIGHT_BUDGET = 1.3
TYPICAL_BUDGET = 1.05
PRINTS_BUDGET_S = 1.5

TIGHT = "total = 0\nfor i in range(2_000_000):\n    total += i"
GUARDED_LOOP = (
    "total = 0\nfor i in range(300_000):\n    try:\n        total += i\n    except ValueError:\n        pass\n"
    "    finally:\n        total -= 1"
)
FUNCTION = "def walk(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\nresult = walk(2_000_000)"
PANDAS = "means = frame.groupby('key')['value'].agg(['mean', 'std', 'median']).sort_values('mean')"
PRINTS = "for i in range(20_000):\n    print('x' * 50_000)"


def make_names(n: int) -> dict[str, Any]:
    """A list of values, and numbers, texts, short lists, small dictionaries and functions in turn."""
    make: list[Callable[[int], Any]] = [
        lambda i: i * 1_000,
        str,
        lambda i: [i] * 3,
        lambda i: {"k": i},
        lambda i: lambda: i,
        float,
    ]
    return {"values": list(range(10))} | {f"name_{i}": make[i % len(make)](i) for i in range(n - 1)}


def make_code(n_lines: int) -> str:
    """Functions of five lines each, with a loop and a `try`."""
    block = (
        "def f_{0}(rows):\n    kept = [row for row in rows if row]\n    try:\n        total_{0} = sum(kept)\n"
        "    except TypeError:\n        total_{0} = 0\n    for row in kept:\n        total_{0} += row * 2\n"
        "    return {{'total': total_{0}, 'n': len(kept)}}\nresult_{0} = f_{0}([1, 2, None])\n"
    )
    return "".join(block.format(i) for i in range(n_lines // 10))


def timed(job: Callable[[], object], n: int = 1) -> float:
    """Seconds for one of `n`."""
    began = time.perf_counter()
    for _ in range(n):
        job()
    return (time.perf_counter() - began) / n


def runner(names: dict[str, Any], code: str) -> Callable[[], object]:
    """Runs the code by our executor; a failure is an error here."""
    executor = DictExecutor(names)
    step = CodeStep(code=code, label="bench step", functions={"final_answer": give_answer})

    def run() -> None:
        outcome = executor.execute(step)
        assert outcome.error is None, outcome.error

    return run


def ratio(code: str, *, names: dict[str, Any], n_rounds: int, n: int = 1) -> tuple[float, float]:
    """Ours in times of `exec`, and ours in seconds."""
    ours = runner(dict(names), code)
    plain = dict(names)
    table = rounds(
        n_rounds,
        lambda: timed(lambda: exec(code, plain), n),  # the same text
        lambda: timed(ours, n),
    )
    return median([mine / theirs for theirs, mine in table]), median([mine for _, mine in table])


def snapshot_and_diff(names: dict[str, Any]) -> float:
    """All that is done for names and values round a step, without the code, in seconds."""
    internal = Internal(lambda name: name.startswith("__"))

    def once() -> None:
        persons = persons_names(names, {}, internal)
        ledger = Ledger(names, persons=persons, lent={"final_answer": give_answer}, internal=internal)
        protection = Protection()
        protection.begin(persons)
        ledger.lend()
        ledger.take_back()
        assert protection.end() == []
        assert ledger.put_back(ledger.changed(), frozenset()) == []

    return median([timed(once) for _ in range(21)])


def print_much() -> float:
    """Seconds to print 1 GB."""
    run = runner({}, PRINTS)
    with redirect_stdout(io.StringIO()):
        return timed(run)


def main() -> int:
    """Measure and print; 1 if over a budget."""
    small, many = make_names(50), make_names(2_000)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"key": rng.integers(0, 1_000, 400_000), "value": rng.random(400_000)})
    big = {**many, "frame": pd.DataFrame({f"c{k}": np.ones(12_500_000) for k in range(10)})}
    rules = Rules(imports=AuthorizedImports.of((), {}), namespace={})
    code = make_code(100)
    one, one_s = ratio(ONE_LINER, names=small, n_rounds=41, n=100)
    _, many_s = ratio(ONE_LINER, names=many, n_rounds=21, n=10)
    tight, _ = ratio(TIGHT, names={}, n_rounds=9)
    guarded, _ = ratio(GUARDED_LOOP, names={}, n_rounds=15)
    function, _ = ratio(FUNCTION, names={}, n_rounds=9)
    typical, _ = ratio(PANDAS, names={"frame": frame}, n_rounds=15)
    compiled = median([timed(lambda: compile_code(code, filename="<bench>", rules=rules)) for _ in range(21)])
    fits = [
        report("one line, 50 names, in times of exec", one, ONE_LINER_BUDGET, f"{one_s * 1e6:.0f} µs"),
        report("one line, 2,000 names, ms", many_s * 1e3, MANY_NAMES_BUDGET_MS),
        report("guard and compile of 100 lines, ms", compiled * 1e3, COMPILE_BUDGET_MS),
        report(
            "snapshot and diff, 2,000 names, 1 GB frame, ms", snapshot_and_diff(big) * 1e3, SNAPSHOT_BUDGET_MS
        ),
        report("tight loop, in times of exec", tight, TIGHT_BUDGET),
        report("tight loop with try and finally, in times of exec", guarded, TIGHT_BUDGET),
        report("loop in a function, in times of exec", function, TYPICAL_BUDGET),
        report("pandas groupby, in times of exec", typical, TYPICAL_BUDGET),
        report("1 GB of prints, s", print_much(), PRINTS_BUDGET_S),
    ]
    return 0 if all(fits) else 1


if __name__ == "__main__":
    sys.exit(main())
