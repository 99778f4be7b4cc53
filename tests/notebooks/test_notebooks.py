from __future__ import annotations

import os
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


@pytest.fixture(scope="module", params=sorted(FOLDER.glob("*.ipynb")), ids=lambda file: file.stem)
def executed(request, tmp_path_factory):
    """A notebook after its execution, in a folder of its own and without a key."""
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
    notebook = nbformat.read(request.param, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # No kernel specs of the person: the kernel is the Python that runs the tests.
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    folder = {"metadata": {"path": str(tmp_path_factory.mktemp(request.param.stem))}}
    NotebookClient(notebook, km=manager, timeout=240, resources=folder).execute(cleanup_kc=True)
    return request.param.stem, notebook


def test_notebook_runs_without_an_error(executed):
    _, notebook = executed
    kinds = [output.output_type for cell in _code(notebook) for output in cell.outputs]
    assert kinds
    assert "error" not in kinds
    assert [
        output.text for cell in _code(notebook) for output in cell.outputs if output.get("name") == "stderr"
    ] == []


def test_notebook_is_stored_with_the_outputs_of_a_real_execution(executed):
    stem, notebook = executed
    stored = nbformat.read(FOLDER / f"{stem}.ipynb", as_version=4)
    assert [cell.execution_count for cell in _code(stored)] == list(range(1, len(_code(stored)) + 1))
    assert [_answers(cell) for cell in _code(stored)] == [_answers(cell) for cell in _code(notebook)]


def test_quickstart_answers_come_from_tool_calls_on_its_data(executed):
    stem, notebook = executed
    if stem != "quickstart":
        pytest.skip("another notebook")
    penguins = load_penguins()
    flipper = penguins.groupby("species").flipper_length_mm.mean()
    expected = [
        ("flipper_length", {"species": "Gentoo"}, round(flipper["Gentoo"], 1)),
        ("penguins_in_year", {"year": 2008}, int((penguins.year == 2008).sum())),
        ("flipper_length", {"species": "Chinstrap"}, round(flipper["Chinstrap"] / 25.4, 1)),
    ]
    asked = [cell for cell in _code(notebook) if cell.source.startswith("%%agent")]
    records = [record for cell in asked for record in _records(cell)]
    for record, (tool, arguments, value) in zip(records, expected, strict=False):
        call = record["steps"][0]["calls"][0]
        assert (call["name"], call["arguments"], call["observation"]) == (tool, arguments, str(value))
        assert record["status"] == "answered"
        assert record["answer"]["text"] == str(value)
    assert len(records) == len(expected) + 1
    assert f"{expected[0][2] / 10:.2f} cm" in str(_code(notebook)[4].outputs)


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _records(cell: Any) -> list[dict[str, Any]]:
    return [output.data[RECORD] for output in cell.outputs if RECORD in output.get("data", {})]


def _answers(cell: Any) -> list[tuple[str, str]]:
    return [(record["task"], record["answer"]["text"]) for record in _records(cell)]
