"""The field cases: each test is named after one, and reads it by the fixture `case`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from cells import Cells
from kernels import Kernel
from nbclient import NotebookClient

from .escaping import kernel_of_cases

FILE = Path(__file__).with_name("field_cases.yaml")
_SPEAKS_OF_CODE = re.compile(r"<code>|code agent|no code")
_NUMBER = re.compile(r"(?:^|; )\d+(?: \([^)\n]*\))?: ", re.MULTILINE)
_CODE_ENDS = re.compile(r"^(script|ns also|agent made|%%agent)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case as the file has it."""

    id: str
    area: str
    given: str
    speaks_of_code: bool
    """Whether some of it is about an agent that writes code."""

    @property
    def code(self) -> str:
        """The Python part of what is given: all before its prose."""
        end = _CODE_ENDS.search(self.given)
        return self.given[: end.start()] if end else self.given

    @property
    def script(self) -> str:
        """What follows `script:`."""
        _, _, script = self.given.partition("script: ")
        return textwrap.dedent(script.removeprefix("|\n"))

    @property
    def replies(self) -> list[str]:
        """The replies of its script, without their numbers."""
        parts = [part for part in _NUMBER.split(self.script) if part.strip()]
        return [_outdent(part) for part in parts]


def _outdent(text: str) -> str:
    """Let the lines after the first begin where the first one does."""
    first, line_end, rest = text.partition("\n")
    return first + line_end + textwrap.dedent(rest).rstrip() if rest.strip() else first.rstrip()


def read_cases() -> dict[str, Case]:
    """All cases by id."""
    cases = yaml.safe_load(FILE.read_text(encoding="utf-8"))["cases"]
    return {case["id"]: _case(case) for case in cases}


def _case(raw: dict[str, Any]) -> Case:
    said = raw["given"] + raw["do"] + raw["right"]
    return Case(
        id=raw["id"], area=raw["area"], given=raw["given"], speaks_of_code=bool(_SPEAKS_OF_CODE.search(said))
    )


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


@pytest.fixture(scope="module")
def kept_kernel() -> Iterator[Kernel]:
    """A kernel for a module whose tests empty the namespace by themselves, which takes less time."""
    with kernel_of_cases() as running:
        yield running


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
