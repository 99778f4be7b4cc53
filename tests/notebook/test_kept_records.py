"""What a cell's run leaves behind: the record in the notebook, and the same record from what is loaded."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from page import Page, need_built_view

import agent_magic
from agent_magic.record.clean import stored_size
from agent_magic.record.schema import RUN_MIME
from agent_magic.record.shown import record_of
from agent_magic.view import widget
from agent_magic.view.bundle import to_bundle

pytestmark = pytest.mark.kernel

SET_UP = """
%load_ext agent_magic
from agent_magic import ScriptedModel
call, final = ScriptedModel.calls, ScriptedModel.final

class Table:
    def __repr__(self):
        return "Table of 3 rows"

def look(place: str) -> dict:
    "Look.\\n\\nArgs:\\n    place: where"
    if place == "Rome":
        bot.summary_mode = "all"
        bot.memory.set_view(2, "summary")
        bot.memory.set_pinned(2)
        bot.memory.edit(2, observations="seen by hand")
        bot.memory.set_view(0, "full")
    if place == "Atlantis":
        raise KeyError(place)
    return {"place": place, "seen": [1, 2.5, None]}

def table() -> object:
    "Make a table."
    return Table()

city = "Oslo"
replies = [call(("look", {"place": "Oslo"})), call(("look", {"place": "Rome"}), ("table", {})),
           call(("look", {"place": "Atlantis"}), ("look", {})) | {"content": "Where is it?"}]
"""
CELL = "%%agent bot --model @m --tools look,table --plan 2 --max-steps 9\nLook at @city and @citi."


@pytest.fixture
def beside(kernel, tmp_path):
    """A kernel that was told that its notebook stands in a folder; gives the folder."""
    kernel.execute(f"import os\nos.environ['JPY_SESSION_NAME'] = {str(tmp_path / 'work.ipynb')!r}")
    assert kernel.execute(SET_UP).error is None
    yield tmp_path
    kernel.execute(
        "os.environ.pop('JPY_SESSION_NAME', None)\n"
        "%config AgentMagics.journal = True\n%config AgentMagics.after_run = 'record'"
    )


def journal_in(folder: Path) -> Path:
    (file,) = (folder / ".agent_magic").glob("*.jsonl")
    return file


def record_in(done: Any) -> Any:
    (record,) = [data[RUN_MIME] for data in done.displays if RUN_MIME in data]
    return record


def to_view(record: Any) -> Any:
    """Without what only loading needs."""
    return {key: value for key, value in record.items() if key not in ("memory", "journal")}


def save(folder: Path, *executions: Any) -> Path:
    """The notebook as a front end saves it."""
    cells = [
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "", "outputs": done.outputs}
        for done in executions
    ]
    path = folder / "work.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


@pytest.mark.parametrize("answer", ["final('Rome')", "final({'n': [1, 2]})", "final('@table_1')"])
def test_record_of_a_run_is_the_same_from_the_journal_and_from_the_notebook(kernel, beside, answer):
    kernel.execute(f"m = ScriptedModel(['1. look', *replies[:2], '1. answer', replies[2], {answer}])")
    done = kernel.execute(CELL)
    shown = record_in(done)
    assert shown["why"]
    assert shown["warnings"]
    assert any("notes" in step for step in shown["steps"])
    assert any("laid_on" in step for step in shown["steps"])
    for path in (journal_in(beside), save(beside, done)):
        saved = agent_magic.load(path)
        assert saved.records == [to_view(shown)]
        run = saved.runs[-1]
        assert record_of(run) == to_view(shown)
        assert dict(widget(run).snapshot)["run"] == to_view(shown)
        bundle = to_bundle(saved.records[-1])
        assert {mime: bundle[mime] for mime in bundle if mime != RUN_MIME} == {
            mime: data for mime, data in done.displays[0].items() if mime != RUN_MIME
        }


def test_run_as_a_value_shows_its_record_before_and_after_loading(kernel, beside):
    kernel.execute("m = ScriptedModel(['1. look', *replies[:2], '1. answer', final('Rome')])")
    shown = record_in(kernel.execute(CELL))
    as_value = kernel.execute("bot.runs[-1]")
    (data,) = [o["data"] for o in as_value.outputs if o["output_type"] == "execute_result"]
    assert data[RUN_MIME] == to_view(shown)
    loaded = kernel.execute(f"import agent_magic\nagent_magic.load({str(journal_in(beside))!r}).runs[-1]")
    (data,) = [o["data"] for o in loaded.outputs if o["output_type"] == "execute_result"]
    assert data[RUN_MIME] == to_view(shown)


def test_run_is_kept_in_the_notebook_without_a_journal_too(kernel, beside):
    kernel.execute("%config AgentMagics.journal = False\nm = ScriptedModel([replies[0], final(1), final(2)])")
    cell = "%%agent bot --model @m --tools look\nLook."
    executions = [kernel.execute(cell), kernel.execute("%%agent bot\nAnd?")]
    for done in executions:
        record = record_in(done)
        assert "memory" in record
        assert "journal" not in record
    saved = agent_magic.load(save(beside, *executions))
    assert ([run.value for run in saved.runs], saved.warnings) == ([1, 2], ())
    assert all(saved.memory.is_rebuilt_exactly(request) for request in saved.memory.requests)
    assert not (beside / ".agent_magic").exists()


def test_huge_run_stays_within_its_bytes_and_names_its_journal(kernel, beside):
    kernel.execute(
        "def tell(n: int) -> str:\n    'Tell.\\n\\nArgs:\\n    n: which'\n    return f'<b>{n} é\\n' * 1_000\n"
        "m = ScriptedModel([call(('tell', {'n': n})) for n in range(300)] + [final('é' * 300_000)])"
    )
    done = kernel.execute("%%agent bot --model @m --tools tell --max-steps 400\nTell all.")
    record = record_in(done)
    assert done.error is None
    assert record["journal"] == journal_in(beside).name
    assert stored_size(record) <= 400_000
    assert stored_size(done.displays[0]) < 800_000
    saved = agent_magic.load(save(beside, done))
    assert len(saved.runs[0].actions) == 301
    assert saved.records == [to_view(record)]


def test_notebook_that_nbclient_ran_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    cells = [
        SET_UP + "m = ScriptedModel([replies[0], final(1)])",
        "%%agent bot --model @m --tools look\nLook.",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": os.fspath(tmp_path)}}).execute()
    path = tmp_path / "ran.ipynb"
    nbformat.write(notebook, path)
    saved = agent_magic.load(path)
    assert ([run.value for run in saved.runs], saved.warnings) == ([1], ())
    before = path.read_bytes()
    nbformat.write(nbformat.read(path, as_version=4), path)
    assert path.read_bytes() == before


def test_what_is_only_for_loading_does_not_go_over_the_wire(kernel, beside):
    need_built_view()
    kernel.execute("%config AgentMagics.after_run = 'widget'\nm = ScriptedModel([replies[0], final(1)])")
    page = Page(kernel, "%%agent bot --model @m --tools look\nLook.").finish()
    assert "memory" in page.record
    assert "memory" not in page.state["snapshot"]["run"]
    heads = [message["head"] for message in page.messages if "head" in message]
    assert heads
    assert not any("memory" in head or "journal" in head for head in heads)
