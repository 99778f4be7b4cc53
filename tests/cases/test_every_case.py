from __future__ import annotations

import ast
from pathlib import Path

from cases.conftest import case_id, read_cases

FOLDER = Path(__file__).parent


def test_every_case_of_the_file_has_its_test_and_every_test_its_case():
    tested = [
        case_id(node.name)
        for file in FOLDER.glob("test_*.py")
        if file != Path(__file__)
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert sorted(tested) == sorted(read_cases())
