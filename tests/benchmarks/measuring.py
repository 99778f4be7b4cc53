"""CPU and memory of fresh processes, for the benchmarks beside this file.

Machines are noisy, so all variants of one comparison run one after the other in each round, a ratio
is taken inside the round, and the median of the ratios counts.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def child_cpu_s(command: Sequence[str], env: dict[str, str] | None = None) -> float:
    """User and system CPU of one child process, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run_python(*arguments: str) -> list[str]:
    """The command line of this very Python."""
    return [sys.executable, *arguments]


def rounds(n: int, *measures: Callable[[], float]) -> list[tuple[float, ...]]:
    """`n` rounds of all measures, the order turned round by one place each time."""
    table: list[tuple[float, ...]] = []
    for turn in range(n):
        order = [(turn + k) % len(measures) for k in range(len(measures))]
        taken = {place: measures[place]() for place in order}
        table.append(tuple(taken[place] for place in range(len(measures))))
    return table


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def resident_mb() -> float:
    """Memory of this process that is in RAM, in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def report(name: str, figure: float, budget: float, detail: str = "", *, at_least: bool = False) -> bool:
    """Print one line; whether the figure is within its budget, at most it or at least."""
    fits = figure >= budget if at_least else figure <= budget
    digits = ".4f" if at_least else ".2f"
    bound = "at least" if at_least else "budget"
    print(f"{'ok  ' if fits else 'OVER'} {name}: {figure:{digits}} ({bound} {budget:g}) {detail}".rstrip())
    return fits
