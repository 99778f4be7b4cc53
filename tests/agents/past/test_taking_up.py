"""An agent that goes on from runs that were loaded: after the end of a kernel, or from a saved notebook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agents.checking import assert_valid, model_of
from inline_snapshot import snapshot
from record.journals import CALLS, FINAL, journaled, look, make_agent, run_journaled

import agent_magic
from agent_magic.core.errors import OptionError
from agent_magic.core.state import AgentState, DictState
from agent_magic.core.steps import ActionStep, TaskStep
from agent_magic.models.scripted import ScriptedModel
from agent_magic.record.journal import Journal
from agent_magic.record.keeping import with_memory
from agent_magic.record.run import to_record
from agent_magic.record.saved import SavedRuns
from agent_magic.record.schema import RUN_MIME

OSLO = CALLS(("look", {"place": "Oslo"}))


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Table:
    """What JSON cannot hold."""

    def __repr__(self) -> str:
        return "Table of 3 rows"


def tabulate(place: str) -> Any:
    """Make a table.

    Args:
        place: where.
    """
    return Table()


def show(table: Any) -> str:
    """Show a table.

    Args:
        table: which.
    """
    return repr(table)


def tell(n: int) -> str:
    """Tell much.

    Args:
        n: how much.
    """
    return "word " * n


def killed(journal: Journal, folder: Path, before: bytes = b'"kind":"run_end"', n: int = 0) -> SavedRuns:
    """What is loaded of a journal whose kernel ended before it wrote the n-th of these lines."""
    assert journal.path is not None
    lines = journal.path.read_bytes().splitlines(keepends=True)
    ends = [i for i, line in enumerate(lines) if before in line]
    path = folder / "killed.jsonl"
    path.write_bytes(b"".join(lines[: ends[n]]))
    return agent_magic.load(path)


def kept(agent: Any) -> Any:
    """The record that the last run leaves in the notebook."""
    return with_memory(to_record(agent.result), agent.memory, agent.result)


def load_notebook(folder: Path, *records: Any) -> SavedRuns:
    """What is loaded of a notebook with these records in its outputs."""
    outputs = [{"output_type": "display_data", "data": {RUN_MIME: record}} for record in records]
    path = folder / "analysis.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "outputs": outputs}]}), encoding="utf-8")
    return agent_magic.load(path)


def planned() -> Any:
    return make_agent("1. look\n2. answer", OSLO, OSLO, "1. answer", OSLO, FINAL(1), planning_interval=2)


# -- the run that a kernel's end interrupted -----------------------------------------------------------


def test_run_that_the_kernels_end_interrupted_goes_on_to_an_answer(tmp_path: Path) -> None:
    journal, whole = run_journaled(planned(), "Look at Oslo.", tmp_path)
    saved = killed(journal, tmp_path, b'"kind":"step_end"', 4)
    agent = make_agent(OSLO, "1. end", FINAL(3), planning_interval=2)
    assert agent.take_up(saved) == ()
    assert agent.runs == list(saved.runs)
    assert agent.result is saved.runs[-1]
    done = agent.resume()
    assert (done.status, done.value, done.task) == ("answered", 3, "Look at Oslo.")
    assert done.resumed_from == whole.run_id
    numbers = [step.step_number for run in agent.runs for step in run.actions]
    assert numbers == [1, 2, 3, 4, 5]
    assert [plan.plan for run in agent.runs for plan in run.plans] == [
        "1. look\n2. answer",
        "1. answer",
        "1. end",
    ]
    assert_valid(agent.memory)
    sent = model_of(agent).requests[0].messages
    assert sent[-1]["content"] == snapshot(
        "The run was interrupted. It goes on now, with 20 more steps. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer."
    )
    with pytest.raises(OptionError):
        agent.resume()


def test_correction_goes_with_it(tmp_path: Path) -> None:
    journal, _ = run_journaled(planned(), "Look at Oslo.", tmp_path)
    agent = make_agent(FINAL(3))
    agent.take_up(killed(journal, tmp_path, b'"kind":"call_end"', 1))
    done = agent.resume("Say three.")
    task = done.steps[0]
    assert isinstance(task, TaskStep)
    assert (task.task, task.resumes, task.is_ours) == ("Say three.", agent.runs[0].run_id, False)


def test_ids_of_calls_stay_unique(tmp_path: Path) -> None:
    agent = make_agent(OSLO, OSLO, FINAL(1))
    journal, _ = run_journaled(agent, "Look.", tmp_path)
    agent.memory.drop(2)
    journal.keep_up(agent.memory)
    again = make_agent(OSLO, OSLO, FINAL(1))
    again.take_up(agent_magic.load(journal.path or ""))
    again.run("Again.", reset=False)
    again.memory.undo()
    ids = [call.id for s in again.memory.steps if isinstance(s, ActionStep) for call in s.tool_calls]
    assert len(ids) == len(set(ids)) == 6


@pytest.mark.parametrize("source", ["journal", "notebook"])
def test_past_requests_are_shown_exactly_those_of_the_run_before_too(tmp_path: Path, source: str) -> None:
    agent = make_agent(OSLO, max_steps=1)
    first, _ = run_journaled(agent, "Look at Oslo.", tmp_path)
    records = [kept(agent)]
    agent.model = ScriptedModel([OSLO, FINAL(1)])
    journaled(agent, agent.stream_resume(max_steps=3), tmp_path, after=first)
    records.append(kept(agent))
    saved = agent_magic.load(first.path or "") if source == "journal" else load_notebook(tmp_path, *records)
    again = make_agent()
    again.take_up(saved)
    for number in (1, 2, 3):
        assert again.preview(number) == agent.preview(number)
        assert again.preview(number).is_exact
    assert again.preview(task="And?") == agent.preview(task="And?")


def test_journal_of_the_run_that_goes_on_tells_of_the_one_before(tmp_path: Path) -> None:
    journal, whole = run_journaled(planned(), "Look at Oslo.", tmp_path)
    agent = make_agent(OSLO, FINAL(3))
    agent.take_up(killed(journal, tmp_path, b'"kind":"step_end"', 4))
    second = Journal.open(agent_name="analyst", run_id="x", beside=tmp_path, earlier=agent.runs)
    for event in agent.stream_resume():
        second.add(event, agent.memory)
    loaded = agent_magic.load(second.path or "")
    assert loaded.runs == tuple(agent.runs)
    cut = killed(second, tmp_path, b'"kind":"step_end"', 0)
    assert [(run.task, run.resumed_from, run.status) for run in cut.runs] == [
        ("Look at Oslo.", None, "interrupted"),
        ("Look at Oslo.", whole.run_id, "interrupted"),
    ]
    third = make_agent(FINAL(4))
    third.take_up(cut)
    assert [step.step_number for step in third.resume().actions] == [5]


def test_saved_notebook_is_taken_up_and_goes_on(tmp_path: Path) -> None:
    agent = make_agent(OSLO, FINAL(1), OSLO, FINAL(2))
    records: list[Any] = []
    for task in ("One", "Two"):
        agent.run(task, reset=False)
        records.append(kept(agent))
    again = make_agent(FINAL(3))
    assert again.take_up(load_notebook(tmp_path, *records)) == ()
    assert again.runs == agent.runs
    again.run("Three", reset=False)
    assert [run.value for run in again.runs] == [1, 2, 3]
    assert [m["content"] for m in model_of(again).requests[0].messages if m["role"] == "user"] == [
        "One",
        "Two",
        "Three",
    ]


def test_retry_after_loading_drops_the_whole_task(tmp_path: Path) -> None:
    journal, _ = run_journaled(planned(), "Look at Oslo.", tmp_path)
    agent = make_agent(FINAL(3))
    agent.take_up(killed(journal, tmp_path, b'"kind":"step_end"', 2))
    done = agent.retry()
    assert (done.value, done.task) == (3, "Look at Oslo.")
    assert agent.memory.steps == done.steps


# -- what is missing -----------------------------------------------------------------------------------


def test_values_that_ended_with_their_kernel_are_told_to_person_and_model(tmp_path: Path) -> None:
    state = AgentState(DictState(df=Table()))
    agent = make_agent(
        CALLS(("tabulate", {"place": "Oslo"})),
        CALLS(("tell", {"n": 400_000})),
        FINAL(1),
        tools=[tabulate, show, tell],
        state=state,
    )
    events = agent.stream("Look at @df.", variables={"df": state["df"]})
    journal, _ = journaled(agent, events, tmp_path)
    again = make_agent(
        CALLS(("show", {"table": "@tabulate_1"}), ("show", {"table": "@df"}), ("peek", {"name": "obs_1"})),
        CALLS(("tabulate", {"place": "Rome"}), ("tell", {"n": 2_000})),
        FINAL(2),
        tools=[tabulate, show, tell],
        state=AgentState(DictState()),
    )
    missing = again.take_up(agent_magic.load(journal.path or ""))
    assert [text.replace(journal.path.name, "….jsonl") for text in missing] == snapshot(
        [
            "obs_1: too large for ….jsonl, which has the beginning and the end of it. The agent is told so when it looks there; it can make the call again.",
            "df, tabulate_1: no such variable here now. Run the cells that made what is yours; what a tool gave is made anew by another call.",
        ]
    )  # type: ignore[union-attr]  # it has one
    done = again.run("Show it.", reset=False)
    assert [r.to_text() for r in done.actions[0].tool_results] == snapshot(
        [
            "show: argument 'table' is '@tabulate_1'; that value is gone: the kernel that held it has ended. If a call gave tabulate_1, make it again; else do without it.",
            "show: argument 'table' is '@df'; that value is gone: the kernel that held it has ended. If a call gave df, make it again; else do without it.",
            "peek: 'obs_1' is gone: the kernel that held it has ended. If it is needed, make the call again that gave it.",
        ]
    )
    bound, kept = done.actions[1].tool_results
    assert (bound.bound_to, kept.kept_as) == ("tabulate_2", "obs_2")


def test_variable_that_is_there_again_can_be_referred_to(tmp_path: Path) -> None:
    state = AgentState(DictState(df=Table()))
    agent = make_agent(FINAL(1), tools=[show], state=state)
    journal, _ = journaled(agent, agent.stream("Look at @df.", variables={"df": state["df"]}), tmp_path)
    names = DictState()
    again = make_agent(CALLS(("show", {"table": "@df"})), FINAL(2), tools=[show], state=AgentState(names))
    assert len(again.take_up(agent_magic.load(journal.path or ""))) == 1
    names.bind("df", Table())
    done = again.run("Show it.", reset=False)
    assert done.actions[0].observations == "(table read as @df)\nTable of 3 rows"


def test_what_was_kept_is_read_on_and_numbered_on(tmp_path: Path) -> None:
    agent = make_agent(CALLS(("tell", {"n": 3_000})), CALLS(("tell", {"n": 4_000})), FINAL(1), tools=[tell])
    journal, _ = run_journaled(agent, "Tell.", tmp_path)
    again = make_agent(
        CALLS(("peek", {"name": "obs_2", "start": 19_000}), ("tell", {"n": 2_000})), FINAL(1), tools=[tell]
    )
    again.run("Tell something else.")  # what it kept itself is gone with its memory
    again.model = ScriptedModel(
        [CALLS(("peek", {"name": "obs_2", "start": 19_990}), ("tell", {"n": 2_000})), FINAL(1)]
    )
    assert again.take_up(agent_magic.load(journal.path or "")) == ()
    done = again.run("Tell on.", reset=False)
    peeked, told = done.actions[0].tool_results
    assert peeked.observation.startswith("obs_2: characters 19990 to 20000 of 20000.")
    assert told.kept_as == "obs_3"


def test_name_in_a_file_hides_no_variable(tmp_path: Path) -> None:
    agent = make_agent(CALLS(("tell", {"n": 3_000})), FINAL(1), tools=[tell])
    journal, _ = run_journaled(agent, "Tell.", tmp_path)
    assert journal.path is not None
    text = journal.path.read_text().replace('"kept_as":"obs_1"', '"kept_as":"df"')
    journal.path.write_text(text)
    again = make_agent(state=AgentState(DictState(df="mine")))
    again.take_up(agent_magic.load(journal.path))
    assert again.state["df"] == "mine"


# -- which, and when -------------------------------------------------------------------------------------


def _refusal(agent: Any, *given: Any) -> str:
    with pytest.raises(OptionError) as caught:
        agent.take_up(*given)
    return caught.value.message


def test_agent_takes_up_the_runs_of_its_own_name_or_of_the_one_that_is_said(tmp_path: Path) -> None:
    one, other = make_agent(FINAL(1), name="one"), make_agent(FINAL(2), name="other")
    for agent in (one, other):
        agent.run("Count.")
    saved = load_notebook(tmp_path, kept(one), kept(other))
    again = make_agent(name="one")
    again.take_up(saved)
    assert [run.value for run in again.runs] == [1]
    again.take_up(saved, "other")
    assert [run.value for run in again.runs] == [2]
    assert [
        _refusal(make_agent(name="third"), saved),
        _refusal(again, saved, "otter"),
        _refusal(again, "a.ipynb"),
    ] == snapshot(
        [
            "analysis.ipynb holds several agents and none is named 'third': 'one', 'other'. Say which: third.take_up(saved, 'other').",
            "analysis.ipynb holds no agent 'otter'. Its agents: 'one', 'other'. Write memory_of('other').",
            "What is taken up are the runs of a file, and not 'a.ipynb'. Write one.take_up(agent_magic.load(path)).",
        ]
    )


def test_run_that_goes_on_is_not_disturbed(tmp_path: Path) -> None:
    journal, _ = run_journaled(make_agent(FINAL(1)), "Count.", tmp_path)
    saved = agent_magic.load(journal.path or "")
    refused: list[str] = []

    def ask(_request: Any) -> Any:
        refused.append(_refusal(agent, saved))
        return FINAL(2)

    agent = make_agent(ask, tools=[look])
    assert agent.run("Count.").value == 2
    assert refused == snapshot(["A run of analyst goes on. Wait for its end, or interrupt it."])
