"""Prints what a code agent's guard does with each case, and what it does not stop: `python -m tests.cases.outcomes`.

Ends with exit code 1 if an outcome is not the wanted one. It must not judge otherwise than the tests.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

_TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_TESTS))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_TESTS.parent), os.environ.get("PYTHONPATH")]))

from cases.escaping import Case, Seen, kernel_of_cases, read, run_case  # noqa: E402 - only now it is found

_WIDTH = 160


def main(ids: Sequence[str] = ()) -> int:
    """Run the cases, all or these; 1 if one is wrong."""
    with TemporaryDirectory() as folder:  # what runs keep on disk is not the person's
        os.environ.update(XDG_STATE_HOME=folder, IPYTHONDIR=folder, MPLBACKEND="agg")
        return _run(ids)


def _run(ids: Sequence[str]) -> int:
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    limits: list[str] = []
    print(f"{'id':<5} {'category':<14} {'wanted':<26} {'seen':<13} {'seconds':>7}  what the model was told")
    with kernel_of_cases() as kernel:
        for case in (*read("escapes.yaml"), *read("limits.yaml")):
            if ids and case.id not in ids:
                continue
            seen = run_case(kernel, case)
            print(_row(case, seen), flush=True)
            counts[seen.outcome] += 1
            wrong += [f"{case.id}: {clause}" for clause in seen.wrong]
            if seen.outcome == "limit" or case.guard == "limit":
                limits.append(f"{case.id:<5} {case.says or case.note}")
    print("\n" + ", ".join(f"{outcome}: {n}" for outcome, n in counts.most_common()))
    print(
        f"\nWhat the guard does not stop: it is no security boundary ({len(limits)} of them are tried here)"
    )
    print("\n".join(limits))
    print(f"\n{len(wrong)} wrong" + "".join(f"\n{clause}" for clause in wrong))
    return 1 if wrong else 0


def _row(case: Case, seen: Seen) -> str:
    told = " ".join([*seen.told.removeprefix("Observation:").split()])
    mark = "" if not seen.wrong else "WRONG "
    row = f"{case.id:<5} {case.category:<14} {' or '.join(case.wanted):<26} {mark + seen.outcome:<13} {seen.seconds:>7.2f}  {told}"
    return row if len(row) <= _WIDTH else row[: _WIDTH - 1] + "…"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
