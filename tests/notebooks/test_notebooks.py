from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from palmerpenguins import load_penguins

pytestmark = [pytest.mark.kernel, pytest.mark.embedded]

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
RECORD = "application/vnd.agent-magic.run.v1+json"
_RUN_ID = re.compile(r"\(run [0-9a-f]{12}\)")


NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def execute(tmp_path_factory):
    """Gives a notebook after its execution, in a folder of its own and without a key."""

    @functools.cache
    def execute(file: Path) -> Any:
        assert not [name for name in os.environ if name.endswith("_API_KEY")]
        notebook = nbformat.read(file, as_version=4)
        for cell in _code(notebook):
            cell.outputs, cell.execution_count = [], None
        # No kernel specs of the person: the kernel is the Python that runs the tests.
        manager = AsyncKernelManager(
            kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[])
        )
        folder = {"metadata": {"path": str(tmp_path_factory.mktemp(file.stem))}}
        NotebookClient(notebook, km=manager, timeout=240, resources=folder).execute(cleanup_kc=True)
        return notebook

    return execute


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook_runs_without_an_error(execute, file):
    cells = _code(execute(file))
    kinds = [output.output_type for cell in cells for output in cell.outputs]
    assert kinds
    assert "error" not in kinds
    assert [output.text for cell in cells for output in cell.outputs if output.get("name") == "stderr"] == []


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebook_is_stored_with_the_outputs_of_a_real_execution(execute, file):
    stored = _code(nbformat.read(file, as_version=4))
    assert [cell.execution_count for cell in stored] == list(range(1, len(stored) + 1))
    assert [_said(cell) for cell in stored] == [_said(cell) for cell in _code(execute(file))]


def test_quickstart_answers_come_from_tool_calls_on_its_data(execute):
    cells = _code(execute(FOLDER / "quickstart.ipynb"))
    penguins = load_penguins()
    flipper = penguins.groupby("species").flipper_length_mm.mean()
    expected = [
        ("flipper_length", {"species": "Gentoo"}, round(flipper["Gentoo"], 1)),
        ("penguins_in_year", {"year": 2008}, int((penguins.year == 2008).sum())),
        ("flipper_length", {"species": "Chinstrap"}, round(flipper["Chinstrap"] / 25.4, 1)),
    ]
    records = [record for cell in cells if cell.source.startswith("%%agent") for record in _records(cell)]
    for record, (tool, arguments, value) in zip(records, expected, strict=False):
        call = record["steps"][0]["calls"][0]
        assert (call["name"], call["arguments"], call["observation"]) == (tool, arguments, str(value))
        assert record["status"] == "answered"
        assert record["answer"]["text"] == str(value)
    assert len(records) == len(expected) + 1
    assert f"{expected[0][2] / 10:.2f} cm" in str(cells[4].outputs)


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _records(cell: Any) -> list[dict[str, Any]]:
    return [output.data[RECORD] for output in cell.outputs if RECORD in output.get("data", {})]


def _said(cell: Any) -> list[str]:
    """What does not depend on the machine: values, printed text, tasks and answers; no times."""
    said = [_RUN_ID.sub("(a run)", o.text) for o in cell.outputs if o.output_type == "stream"]
    said += [output.data["text/plain"] for output in cell.outputs if output.output_type == "execute_result"]
    return said + [f"{r['task']} {r['status']} {r['answer'] and r['answer']['text']}" for r in _records(cell)]
