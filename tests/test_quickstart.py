from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from palmerpenguins import load_penguins

from agent_magic.quickstart import copy_notebook, run_quickstart

SOURCE = Path(__file__).resolve().parent.parent / "notebooks/quickstart.ipynb"


@pytest.fixture
def here(tmp_path):
    """The test runs in an empty folder."""
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


@pytest.mark.embedded
@pytest.mark.kernel
def test_quickstart_tells_question_tool_call_and_answer(here):
    lines: list[str] = []
    assert run_quickstart(lines.append) == 0
    penguins = load_penguins()
    gentoo = round(penguins[penguins.species == "Gentoo"].flipper_length_mm.mean(), 1)
    told = lines[-6:]
    assert told[:-1] == [
        "",
        "Question   How long are the flippers of Gentoo penguins?",
        f"Tool call  flipper_length(species='Gentoo') → {gentoo}",
        f"Answer     {gentoo}",
        "",
    ]
    assert told[-1].startswith("Open it: ")
    assert told[-1].endswith(" quickstart.ipynb")
    saved = nbformat.read(here / "quickstart.ipynb", as_version=4)
    assert all(
        cell.outputs or not cell.source.startswith("%%agent")
        for cell in saved.cells
        if cell.cell_type == "code"
    )


def test_copy_keeps_a_file_of_the_person(here):
    mine = here / "quickstart.ipynb"
    mine.write_text("mine", encoding="utf-8")
    other = here / "quickstart-2.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), other)
    kept = other.read_bytes()
    assert copy_notebook(here) == here / "quickstart-3.ipynb"
    assert (mine.read_text(encoding="utf-8"), other.read_bytes()) == ("mine", kept)


def test_copy_takes_its_own_notebook_again_when_it_was_executed(here):
    target = copy_notebook(here)
    assert target.read_bytes() == SOURCE.read_bytes()
    notebook = nbformat.read(target, as_version=4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="later")]
    nbformat.write(notebook, target)
    assert copy_notebook(here) == target
    assert "later" in target.read_text(encoding="utf-8")
