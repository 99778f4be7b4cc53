"""Counts the handed cases and their tests per area: `python -m tests.cases.counts`.

Ends with exit code 1 if a case has no test, or a test no case. It must not run any of them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_TESTS))

from cases.bad_replies import cases_of, forms_of  # noqa: E402 - only now it is found
from cases.conftest import case_id, read_cases  # noqa: E402
from cases.escaping import read  # noqa: E402

FOLDER = _TESTS / "cases"
# These have files of data of their own, or are cases of ours.
_OTHERS = {
    "test_every_case.py",
    "test_escapes.py",
    "test_bad_model_outputs.py",
    "test_bad_tool_replies.py",
    "test_bad_tool_providers.py",
    "test_beyond.py",
    "test_stopped_at_random.py",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Of one area."""

    file: str
    area: str
    n_cases: int
    n_tests: int
    """With parameters of our own counted once; each form of a bad reply is a test."""
    without: tuple[str, ...] = ()
    """Cases that have none."""


def ids_in(pattern: str) -> list[str]:
    """The cases that the tests of these files are named after."""
    return [
        case_id(node.name)
        for file in sorted(FOLDER.glob(pattern))
        if file.name not in _OTHERS
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def count() -> Iterator[Count]:
    """All areas."""
    cases, tested = read_cases(), ids_in("test_*.py")
    for area in dict.fromkeys(case.area for case in cases.values()):
        ids = [name for name, case in cases.items() if case.area == area]
        n_tests = sum(name in ids for name in tested)
        without = tuple(name for name in ids if name not in tested)
        yield Count(file="field_cases", area=area, n_cases=len(ids), n_tests=n_tests, without=without)
    # The tests of these are made of the data itself.
    for kind in ("code", "tool"):
        replies = cases_of(kind, is_provider=False)
        n_tests = len(replies) if kind == "code" else sum(len(forms_of(case)) for case in replies)
        yield Count(file="bad_model_outputs", area=f"{kind}: replies", n_cases=len(replies), n_tests=n_tests)
        n = len(cases_of(kind, is_provider=True))
        yield Count(file="bad_model_outputs", area=f"{kind}: providers", n_cases=n, n_tests=n)
    for name in ("escapes", "limits"):
        categories = [case.category for case in read(f"{name}.yaml")]
        for category in dict.fromkeys(categories):
            n = categories.count(category)
            yield Count(file=name, area=category, n_cases=n, n_tests=n)


def main(arguments: Sequence[str] = ()) -> int:
    """Print a line for each area; 1 if a case has no test."""
    del arguments
    counts = list(count())
    print(f"{'file':<18} {'area':<24} {'cases':>5} {'tests':>5}  without a test")
    for one in counts:
        print(f"{one.file:<18} {one.area:<24} {one.n_cases:>5} {one.n_tests:>5}  {', '.join(one.without)}")
    strange = sorted(set(ids_in("test_*.py")) - set(read_cases()))
    n_without = sum(len(one.without) for one in counts)
    print(
        f"\n{sum(one.n_cases for one in counts)} cases, {sum(one.n_tests for one in counts)} tests, {n_without} cases without a test"
    )
    if strange:
        print(f"tests of no case: {', '.join(strange)}")
    return 1 if n_without or strange else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
