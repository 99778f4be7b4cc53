"""Feeds spoilt replies to real agents: `python -m tests.fuzz.replies --examples 10000`.

Prints how many it tried, by kind, what came of the runs, and the seed; exit code 1 with the smallest
reply that breaks something. It must not judge otherwise than the tests.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz.mutations import Case, cases
from fuzz.properties import check_run

SHARES = {"text": 0.45, "native": 0.35, "code": 0.2}
"""Of the examples, by kind of reply."""


def try_examples(kind: str, n_examples: int, *, from_seed: int | None = None) -> Counter[str]:
    """Let agents run on so many replies of a kind; how the runs ended.

    Args:
        from_seed: None for the same examples each time.

    Raises:
        BaseException: What broke, on the smallest reply that was found to break it.
    """
    ends: Counter[str] = Counter()

    @settings(
        max_examples=n_examples,
        derandomize=from_seed is None,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(cases[kind])
    def run(case: Case) -> None:
        ends[check_run(case)] += 1

    (run if from_seed is None else seed(from_seed)(run))()
    return ends


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of replies: give a whole number from 1 on")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.replies", description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=_positive, default=10_000, help="how many replies to try")
    parser.add_argument("--seed", type=int, help="of an earlier run; without it a new one")
    given_ = parser.parse_args(arguments)
    number = random.SystemRandom().randrange(2**32) if given_.seed is None else given_.seed
    warnings.simplefilter("error")
    print(f"seed {number}", flush=True)
    begun, total, n_broken = time.monotonic(), 0, 0
    for kind, share in SHARES.items():
        try:
            ends = try_examples(kind, max(1, round(given_.examples * share)), from_seed=number)
        except BaseException as broken:  # whatever it is: it is what this looks for
            if isinstance(broken, KeyboardInterrupt) and not getattr(broken, "__notes__", None):
                raise
            n_broken += 1
            print(f"{kind}: broken\n" + "\n".join(getattr(broken, "__notes__", [])), flush=True)
            sys.excepthook(type(broken), broken, broken.__traceback__)
            continue
        total += ends.total()
        told = ", ".join(f"{n:,} {status}" for status, n in ends.most_common())
        print(f"{kind:<7} {ends.total():>7,} replies: {told}", flush=True)
    seconds = time.monotonic() - begun
    print(f"{total:,} examples, {n_broken} kinds broken, seed {number}, {seconds:.0f} s")
    return 1 if n_broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
