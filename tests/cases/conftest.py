"""The field cases: each test is named after one, and reads it by the fixture `case`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from cells import Cells
from nbclient import NotebookClient

FILE = Path(__file__).with_name("field_cases.yaml")
_CODE_ENDS = re.compile(r"^(script|ns also|agent made|%%agent)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case as the file has it."""

    id: str
    given: str

    @property
    def code(self) -> str:
        """The Python part of what is given: all before its prose."""
        end = _CODE_ENDS.search(self.given)
        return self.given[: end.start()] if end else self.given


def read_cases() -> dict[str, Case]:
    """All cases by id."""
    cases = yaml.safe_load(FILE.read_text(encoding="utf-8"))["cases"]
    return {case["id"]: Case(id=case["id"], given=case["given"]) for case in cases}


def case_id(test_name: str) -> str:
    """The id of the case that a test is about."""
    return test_name.removeprefix("test_").replace("_", "-")


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Case:
    """The case that the test is named after."""
    return read_cases()[case_id(request.function.__name__)]


@pytest.fixture
def cells(shell, capsys) -> Cells:
    """A shell with our magics."""
    return Cells(shell, capsys)


@pytest.fixture
def execute_notebook(tmp_path):
    """Runs cells as a notebook through nbclient, saves it, and gives it as the file holds it."""

    def execute(*sources: str, **settings: Any) -> nbformat.NotebookNode:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        settings = {"timeout": 120, "kernel_name": "python3", **settings}
        NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}, **settings).execute()
        file = tmp_path / "saved.ipynb"
        nbformat.write(notebook, file)
        return nbformat.read(file, as_version=4)

    return execute
