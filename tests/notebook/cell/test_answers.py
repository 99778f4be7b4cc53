from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace

import nbformat
import papermill
import pytest
from cells import final
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from papermill.exceptions import PapermillExecutionError

from agent_magic.notebook.cell.answers import MAX_SHOWN, takes_input

RECORD = "application/vnd.agent-magic.run.v1+json"


# -- the value of a cell ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", ["x" * 50_000, ["y"] * 2_000, {"k": "z" * 5_000}], ids=["text", "list", "dict"]
)
def test_answer_that_fits_is_shown_whole(cells, value):
    cells.model(final(value))
    done = cells.run("%%agent bot --model @m --quiet\nGive it.")
    assert done.value == value
    assert "characters cut" not in done.text.partition("Out[")[2]


@pytest.mark.parametrize(
    "value", ["x" * 1_000_000, ["y" * 30_000] * 40, {"k": "z" * 1_000_000}], ids=["text", "list", "dict"]
)
def test_huge_answer_is_whole_in_out_and_shortened_on_the_page(cells, value):
    cells.model(final(value))
    done = cells.run("%%agent bot --model @m --quiet --as answer\nGive it.")
    number = max(cells["Out"])
    assert cells["Out"][number] == cells["_"] == cells[f"_{number}"] == cells["answer"] == value
    shown = done.text.partition("Out[")[2]
    assert 1_000 < len(shown) < MAX_SHOWN
    assert "the value itself is whole" in shown


@pytest.mark.parametrize("wrap", ["{}", "['{}']"])
def test_secret_in_an_answer_is_whole_in_out_and_redacted_on_the_page(cells, wrap, monkeypatch):
    monkeypatch.setenv("SHOP_API_KEY", "sk-abcdefgh12345678")
    value = wrap.format("the key is sk-abcdefgh12345678")
    value = eval(value) if wrap != "{}" else value
    cells.model(final(value))
    done = cells.run("%%agent bot --model @m --as answer\nGive it.")
    assert cells["answer"] == cells["_"] == value
    assert "the key is" in done.text.partition("Out[")[2]
    assert "sk-abcdefgh12345678" not in done.text


def test_huge_object_shows_itself_as_it_likes(cells):
    cells.define("class Long:\n    def __repr__(self): return 'a' * 200\nlong = Long()")
    cells.model(final("@long"))
    done = cells.run("%%agent bot --model @m --quiet\nGive @long.")
    assert done.text.rstrip().endswith("a" * 200)


def test_takes_input_asks_the_kernel_or_the_terminal(monkeypatch):
    assert takes_input(SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=True)))
    assert not takes_input(SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=False)))
    assert not takes_input(SimpleNamespace())
    leader, follower = os.openpty()
    with os.fdopen(follower, "r") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert takes_input(SimpleNamespace())
        monkeypatch.setattr(sys, "stdin", None)
        assert not takes_input(SimpleNamespace())
        monkeypatch.undo()
    os.close(leader)


# -- whole notebooks ----------------------------------------------------------------------------

SET_UP = (
    "%load_ext agent_magic\nfrom agent_magic import ScriptedModel\n"
    "m = ScriptedModel(['no call', 'no call either', 'a guess', ScriptedModel.final('x')])"
)
UNANSWERED = "%%agent bot --model @m --max-steps 2 --as answer {}\nDo it."
AFTER = "print('after', answer, bot.result.status)"


def notebook(option=""):
    sources = [SET_UP, UNANSWERED.format(option), AFTER]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


@pytest.mark.kernel
def test_nbclient_stops_at_a_run_without_an_answer(tmp_path):
    made = notebook()
    with pytest.raises(CellExecutionError) as raised:
        NotebookClient(made, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert raised.value.ename == "RunNotAnswered"
    shown, error = made.cells[1].outputs
    # the record is there, and the error is one line after it
    assert shown.data[RECORD]["status"] == "max_steps"
    assert error.traceback == [
        "RunNotAnswered: bot gave no answer, its step limit was reached (bot.result has every step; %agent resume bot goes on)"
    ]
    assert made.cells[2].outputs == []


@pytest.mark.kernel
def test_nbclient_goes_on_with_no_raise(tmp_path):
    made = notebook("--no-raise")
    NotebookClient(made, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [output.output_type for output in made.cells[1].outputs] == ["display_data"]
    assert made.cells[2].outputs[0].text == "after None max_steps\n"
    json.dumps(made)


@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore::DeprecationWarning:papermill")
@pytest.mark.parametrize("option", ["", "--no-raise"])
def test_papermill_stops_at_a_run_without_an_answer_but_with_no_raise(tmp_path, option):
    source, target = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    nbformat.write(notebook(option), source)
    settings = {"cwd": str(tmp_path), "progress_bar": False, "kernel_name": "python3"}
    if option:
        papermill.execute_notebook(source, target, **settings)
    else:
        with pytest.raises(PapermillExecutionError) as raised:
            papermill.execute_notebook(source, target, **settings)
        assert raised.value.ename == "RunNotAnswered"
    code = [cell for cell in nbformat.read(target, as_version=4).cells if cell.cell_type == "code"]
    assert code[1].outputs[0].data[RECORD]["status"] == "max_steps"
    last = [output.text for output in code[2].outputs]
    assert last == (["after None max_steps\n"] if option else [])
