"""How fast model-written code runs: plain `exec`, an IPython cell, this package's executor, and its peers.

Each system runs each snippet in a process of its own, for a while, in turn with the others; a figure is the
median over the rounds of its CPU time over that of plain `exec` in the same round. A peer that is not
installed is left out, and said so: `pip install smolagents pydantic-monty RestrictedPython` brings them.

    python tests/benchmarks/bench_code_peers.py [--rounds 3] [--seconds 1.0] [--python PATH]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil

Run = Callable[[str, dict[str, Any]], Any]

SNIPPETS: dict[str, str] = {
    "one call": "result = f(1)",
    "fib(20)": (
        "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\nresult = fib(20)"
    ),
    "primes": (
        "result = 0\nfor n in range(2, 3000):\n    p = True\n    for d in range(2, n):\n        if d * d > n:\n"
        "            break\n        if n % d == 0:\n            p = False\n            break\n    if p:\n"
        "        result += 1"
    ),
    "strings": (
        "out = []\nfor i in range(20000):\n    out.append('item ' + str(i) + ':' + 'x' * (i % 7))\n"
        "result = len(','.join(out))"
    ),
    "comprehension": (
        "d = {i: i * i for i in range(40000)}\nl = [k + v for k, v in d.items() if v % 3]\nresult = sum(l)"
    ),
    "try in a loop": (
        "result = 0\nfor i in range(100000):\n    try:\n        result += i\n    except ValueError:\n        pass"
    ),
    "groupby 1e6": "result = float(df.groupby('k')['v'].mean().sum())",
    "matrix product": "result = float((a @ a).sum())",
}
_TARGETS = {"one call": 15.0, "groupby 1e6": 1.05, "matrix product": 1.05}
_LOOPS = 1.3


def with_exec() -> Run:
    """The least that any way must do."""

    def run(code: str, variables: dict[str, Any]) -> Any:
        namespace = dict(variables)
        exec(compile(code, "<cell>", "exec"), namespace)
        return namespace["result"]

    return run


def with_ipython() -> Run:
    """A cell that IPython runs."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)

    def run(code: str, variables: dict[str, Any]) -> Any:
        shell.user_ns.update(variables)
        shell.run_cell(code, store_history=False, silent=True).raise_error()
        return shell.user_ns["result"]

    return run


def with_agent_magic() -> Run:
    """The executor of a code agent, its guard on."""
    from agent_magic.execution.executor import DictExecutor
    from agent_magic.execution.request import CodeStep

    namespace: dict[str, Any] = {}
    executor = DictExecutor(namespace)

    def run(code: str, variables: dict[str, Any]) -> Any:
        namespace.update(variables)
        outcome = executor.execute(CodeStep(code=code, label="step 1"))
        if outcome.error is not None:
            raise outcome.error
        return namespace["result"]

    return run


def with_smolagents() -> Run:
    """Its interpreter of the syntax tree, its limits off."""
    from smolagents.local_python_executor import LocalPythonExecutor

    def run(code: str, variables: dict[str, Any]) -> Any:
        executor = LocalPythonExecutor(additional_authorized_imports=[], timeout_seconds=None)
        executor.send_tools({})
        executor.send_variables(variables)
        executor(code)
        return executor.state["result"]

    return run


def with_monty() -> Run:
    """Its interpreter in Rust; it knows no objects of the notebook."""
    import pydantic_monty

    session = pydantic_monty.Monty().__enter__().checkout().__enter__()

    def run(code: str, variables: dict[str, Any]) -> Any:
        return session.feed_run(f"{code}\nresult", inputs=variables or None)

    return run


def with_restrictedpython() -> Run:
    """Its compiler, with the guards that its documentation names."""
    from RestrictedPython import compile_restricted, safe_builtins
    from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter
    from RestrictedPython.Guards import guarded_iter_unpack_sequence, safer_getattr

    def run(code: str, variables: dict[str, Any]) -> Any:
        names = {
            "__builtins__": {**safe_builtins, "sum": sum, "dict": dict, "list": list},
            "_getattr_": safer_getattr,
            "_getitem_": default_guarded_getitem,
            "_getiter_": default_guarded_getiter,
            "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
            "_write_": lambda value: value,
            "_inplacevar_": lambda operator, x, y: x + y if operator == "+=" else NotImplemented,
            **variables,
        }
        exec(compile_restricted(code, "<cell>", "exec"), names)
        return names["result"]

    return run


SYSTEMS: dict[str, tuple[str, Callable[[], Run]]] = {
    "exec": ("sys", with_exec),
    "ipython": ("IPython", with_ipython),
    "agent_magic": ("agent_magic", with_agent_magic),
    "smolagents": ("smolagents", with_smolagents),
    "monty": ("pydantic_monty", with_monty),
    "RestrictedPython": ("RestrictedPython", with_restrictedpython),
}


def make_variables(code: str) -> dict[str, Any]:
    """What a snippet works on."""
    if "df." in code:
        import numpy as np
        import pandas as pd

        random = np.random.default_rng(0)
        return {"df": pd.DataFrame({"k": random.integers(0, 1000, 10**6), "v": random.random(10**6)})}
    if "@" in code:
        import numpy as np

        return {"a": np.random.default_rng(0).random((800, 800))}
    return {"f": _plus_one} if "f(1)" in code else {}


def _plus_one(x: int) -> int:
    return x + 1


def work(system: str, snippet: str, seconds: float) -> dict[str, Any]:
    """CPU seconds of one run, of many over a while; in the process that measures."""
    code = SNIPPETS[snippet]
    variables = make_variables(code)
    wanted = with_exec()(code, variables)
    run = SYSTEMS[system][1]()
    got = run(code, variables)
    assert got == wanted, (got, wanted)
    n, began, cpu = 0, time.perf_counter(), _cpu_s()
    while n < 3 or time.perf_counter() - began < seconds:
        run(code, variables)
        n += 1
    return {"cpu": (_cpu_s() - cpu) / n}


def _cpu_s() -> float:
    """Of this process and of those that work for it."""
    children = psutil.Process().children(recursive=True)
    return time.process_time() + sum(sum(child.cpu_times()[:2]) for child in children)


def measure(python: str, system: str, snippet: str, seconds: float) -> dict[str, Any]:
    """`work` in a process of its own."""
    command = [python, __file__, "--work", system, snippet, str(seconds)]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads}, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["?"])[-1][:70]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> int:
    """Print the table; 1 if one of our figures is over its target."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--python", default=sys.executable, help="of an environment that has the peers")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        system, snippet, seconds = asked.work
        print(json.dumps(work(system, snippet, float(seconds))))
        return 0
    found = [name for name, (module, _) in SYSTEMS.items() if _is_there(asked.python, module)]
    if missing := [name for name in SYSTEMS if name not in found]:
        print(f"Not installed, so left out: {', '.join(missing)}.")
    print(f"CPU time over that of plain exec; median of {asked.rounds} rounds.\n")
    print(f"{'':16}" + "".join(f"{name:>18}" for name in found) + f"{'target':>10}")
    over: list[str] = []
    for snippet in SNIPPETS:
        rounds: list[dict[str, dict[str, Any]]] = []
        for number in range(asked.rounds):
            turn = found[number % len(found) :] + found[: number % len(found)]
            rounds.append({name: measure(asked.python, name, snippet, asked.seconds) for name in turn})
        cells, target = "", _TARGETS.get(snippet, _LOOPS)
        for name in found:
            if any("error" in each[name] for each in rounds):
                cells += f"{'cannot':>18}"
                continue
            ratio = statistics.median(each[name]["cpu"] / each["exec"]["cpu"] for each in rounds)
            if name == "agent_magic" and ratio > target:
                over.append(snippet)
            cells += f"{ratio:>17.2f}×"
        print(f"{snippet:16}{cells}{target:>9.2f}×", flush=True)
    print(f"\nOver the target: {', '.join(over)}." if over else "\nAll of ours are within their targets.")
    return int(bool(over))


def _is_there(python: str, module: str) -> bool:
    if python == sys.executable:
        return importlib.util.find_spec(module) is not None
    return (
        subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    )


if __name__ == "__main__":
    sys.exit(main())
