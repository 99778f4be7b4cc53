from __future__ import annotations

import ast
from pathlib import Path

from cases.conftest import case_id, read_cases

FOLDER = Path(__file__).parent
# These have files of data of their own, or are cases of ours.
OTHERS = {
    "test_every_case.py",
    "test_escapes.py",
    "test_bad_model_outputs.py",
    "test_beyond.py",
    "test_stopped_at_random.py",
}


def ids_in(pattern: str) -> list[str]:
    """The cases that the tests of these files are named after."""
    return [
        case_id(node.name)
        for file in FOLDER.glob(pattern)
        if file.name not in OTHERS
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def test_every_case_of_the_file_has_its_test_and_every_test_its_case():
    assert set(ids_in("test_*.py")) == set(read_cases())


def test_every_case_that_speaks_of_code_has_its_test_with_an_agent_that_writes_code():
    speaking = [name for name, case in read_cases().items() if case.speaks_of_code]
    assert sorted(ids_in("test_in_code_*.py")) == sorted(speaking)


def test_no_case_has_two_tests_of_one_kind():
    others = [name for name in ids_in("test_*.py") if name not in ids_in("test_in_code_*.py")]
    assert len(set(others)) == len(others)
