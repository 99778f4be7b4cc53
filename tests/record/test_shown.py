"""Records of runs as their cells showed them."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path
from typing import Any

import pytest
from record.journals import CALLS, FINAL, make_agent

import agent_magic
from agent_magic.core.events import RunStarted
from agent_magic.record.draft import RunDraft
from agent_magic.record.journal import Journal
from agent_magic.record.keeping import with_memory
from agent_magic.record.laid_on import as_it_counts
from agent_magic.record.run import to_record
from agent_magic.record.schema import RUN_MIME
from agent_magic.record.shown import beside_in, beside_of, put_shown, record_of

LOOK = CALLS(("look", {"place": "Oslo"}))


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _shown(tmp_path: Path, task: str = "Look.") -> tuple[Any, Journal, Any]:
    """An agent with a run on which much was laid, its journal, and the record of its cell."""

    def after(step: Any, agent: Any) -> None:
        if step.step_number == 1:
            agent.summary_mode = "all"
            agent.memory.edit(1, observations="seen by hand")
        if step.step_number == 2:
            raise ValueError("a callback that fails")

    agent = make_agent(LOOK, LOOK, FINAL({"n": [1]}), step_callbacks=[after])
    told: dict[str, Any] = {"reason": "given in Python", "warnings": ["@citi is no variable."]}
    draft = RunDraft(**told)
    journal: Journal | None = None
    for event in agent.stream(task):
        if isinstance(event, RunStarted):
            journal = Journal.open(agent_name="analyst", run_id=event.run_id, beside=tmp_path, **told)
        assert journal is not None
        journal.add(event, agent.memory)
        draft.add(event)
    assert agent.result is not None
    assert journal is not None
    draft.finish(*as_it_counts(agent.memory, agent.result))
    return agent, journal, draft.to_record()


def test_loaded_run_has_the_record_of_its_cell(tmp_path: Path) -> None:
    _, journal, record = _shown(tmp_path)
    assert [len(step.get("notes", [])) for step in record["steps"]] == [0, 3, 0]
    assert "laid_on" in record["steps"][0]
    saved = agent_magic.load(journal.path or "")
    assert saved.records == [record]
    assert record_of(saved.runs[0]) == record


def test_run_that_was_cut_off_has_what_was_told_until_then(tmp_path: Path) -> None:
    _, journal, record = _shown(tmp_path)
    assert journal.path is not None
    data = journal.path.read_bytes()
    journal.path.write_bytes(data[: data.rindex(b'{"kind":"model_reply"')])
    (loaded,) = agent_magic.load(journal.path).records
    assert (loaded["why"], loaded["warnings"]) == (record["why"], record["warnings"])
    assert loaded["steps"][:2] == record["steps"][:2]
    assert loaded["status"] == "interrupted"


def test_run_of_an_agent_that_took_it_up_shows_the_same(tmp_path: Path) -> None:
    _, journal, record = _shown(tmp_path)
    again = make_agent()
    again.take_up(agent_magic.load(journal.path or ""))
    assert record_of(again.runs[0]) == record


def test_notes_go_on_in_the_next_journal(tmp_path: Path) -> None:
    _, journal, record = _shown(tmp_path)
    again = make_agent(FINAL(2))
    again.take_up(agent_magic.load(journal.path or ""))
    second: Journal | None = None
    for event in again.stream("And?", reset=False):
        second = second or Journal.open(
            agent_name="analyst", run_id="r2", beside=tmp_path, earlier=list(again.runs)
        )
        second.add(event, again.memory)
    assert second is not None
    saved = agent_magic.load(second.path or "")
    assert [run.value for run in saved.runs] == [{"n": [1]}, 2]
    assert saved.records[0] == record


def test_result_that_no_cell_showed_has_a_record_too() -> None:
    result = make_agent(FINAL(1)).run("Count.")
    assert record_of(result) == to_record(result)
    assert beside_of(result).notes == {}


def test_record_does_not_keep_its_result_alive() -> None:
    agent = make_agent(FINAL(1))
    put_shown(agent.run("Count."), to_record(agent.result))  # type: ignore[arg-type]  # there is one
    alive = weakref.ref(agent.runs[0])
    agent.reset()
    del agent
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"why": 3, "warnings": [1, None, "a"], "steps": 3},
        {"warnings": "a", "steps": [1, {"notes": 3}, {"notes": [1, {"text": 2}, {"text": "b", "x": 1}]}]},
        {"steps": [[]] * 50},
    ],
)
def test_record_that_was_edited_by_hand_gives_what_can_be_read(found: dict[str, Any]) -> None:
    result = make_agent(LOOK, LOOK, LOOK, FINAL(1)).run("Count.")
    beside = beside_in(found, result)
    json.dumps(beside.to_record(result), allow_nan=False)
    assert all(note["text"] == "b" for notes in beside.notes.values() for note in notes)


def test_notes_of_a_record_without_its_middle_stand_at_the_same_steps(tmp_path: Path) -> None:
    result = make_agent(*[LOOK] * 8, FINAL(1)).run("Count.")
    steps = [{"notes": [{"text": str(n)}]} for n in (1, 2, 7, 8, 9, 10)]
    notes = beside_in({"steps": steps}, result).notes
    assert [(place, note["text"]) for place, (note,) in notes.items()] == [
        (1, "1"),
        (2, "2"),
        (6, "7"),
        (7, "8"),
        (8, "9"),
        (9, "10"),
    ]


def test_record_in_a_notebook_gives_it_too(tmp_path: Path) -> None:
    agent, _, record = _shown(tmp_path)
    kept = with_memory(record, agent.memory, agent.result)
    output = {"output_type": "display_data", "data": {RUN_MIME: kept}}
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "outputs": [output]}]}), encoding="utf-8")
    assert agent_magic.load(path).records == [record]
