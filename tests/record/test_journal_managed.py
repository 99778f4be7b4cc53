"""Runs inside a run on disk: after each line of a journal, what was finished by then is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from record.journals import run_journaled
from record.managed import make_boss

import agent_magic
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep
from agent_magic.record.from_record import from_record
from agent_magic.record.run import to_record


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Those of a whole run."""
    journal, _ = run_journaled(make_boss(max_tool_threads=1), "Go.", tmp_path_factory.mktemp("journal"))
    assert journal.warning is None
    assert journal.path is not None
    return journal.path.read_bytes().splitlines(keepends=True)


def load_first(lines: list[bytes], n: int, folder: Path) -> RunResult:
    file = folder / "cut.jsonl"
    file.write_bytes(b"".join(lines[:n]))
    saved = agent_magic.load(file)
    assert saved.warnings == ()
    (run,) = saved.runs
    return run


def told(line: bytes) -> tuple[str, str]:
    """Of which run a line tells, by the ids of the calls that it is in, and what it is."""
    form: dict[str, Any] = json.loads(line)
    path = ""
    while form.get("kind") == "managed":
        path, form = f"{path}/{form['call_id']}", form["line"]
    return path, form.get("kind", "head")


def runs_in(run: RunResult, path: str = "") -> dict[str, RunResult]:
    """The run and those inside it, by the ids of the calls that they were made for."""
    found = {path: run}
    for step in run.actions:
        for result in step.tool_results:
            if result.run is not None:
                found |= runs_in(result.run, f"{path}/{result.call.id}")
    return found


def test_loaded_run_is_the_run_that_was_made(tmp_path: Path) -> None:
    journal, result = run_journaled(make_boss(), "Go.", tmp_path)
    assert journal.path is not None
    saved = agent_magic.load(journal.path)
    assert saved.runs[0].steps == result.steps
    assert saved.records[0]["steps"][0]["calls"][0]["run"]["agent"] == "looker"  # type: ignore[typeddict-item] # an action


def test_no_finished_step_of_a_managed_agent_is_lost_wherever_the_journal_ends(
    lines: list[bytes], tmp_path: Path
) -> None:
    n_made: dict[str, int] = {}
    n_seen = 0
    for n, line in enumerate(lines, 1):
        path, kind = told(line)
        n_made[path] = n_made.get(path, 0) + (kind == "step_end")
        if kind == "head":
            continue
        runs = runs_in(load_first(lines, n, tmp_path))
        for inner, n_steps in n_made.items():
            finished = [
                step
                for step in runs[inner].steps[1:]
                if not isinstance(step, ActionStep) or not step.is_interrupted
            ]
            # A row of the run itself may come before the line that tells of its step.
            assert len(finished) == n_steps or (inner == "" and len(finished) > n_steps), (n, inner)
            n_seen += inner.count("/") == 2
    assert set(n_made) == {"", "/call_1", "/call_2", "/call_2/call_1"}
    assert n_seen > 10


def test_run_of_a_managed_agent_that_nobody_saw_the_end_of_was_interrupted(
    lines: list[bytes], tmp_path: Path
) -> None:
    at = next(n for n, line in enumerate(lines) if told(line) == ("/call_2/call_1", "call_end"))
    run = load_first(lines, at, tmp_path)
    looker, chief = run.actions[0].tool_results
    assert looker.fault is None
    assert looker.run is not None
    assert (looker.run.status, looker.run.value) == ("answered", "Oslo is there")
    assert chief.run is not None
    assert chief.run.error is not None
    assert (chief.run.status, chief.run.error.message) == (
        "interrupted",
        "The kernel ended during this run.",
    )
    (counter,) = chief.run.actions[0].tool_results
    assert counter.run is not None
    (asked,) = counter.run.actions[0].tool_results
    assert asked.call.name == "count"
    assert asked.fault is not None
    assert asked.fault.message.startswith("The kernel ended before this call did: it may have run")


def test_line_of_a_managed_agent_that_somebody_edited_is_told_and_left_out(
    lines: list[bytes], tmp_path: Path
) -> None:
    at = next(n for n, line in enumerate(lines) if told(line) == ("/call_1", "step_end"))
    form = json.loads(lines[at])
    form["line"]["step"] = {"kind": "nothing"}
    file = tmp_path / "edited.jsonl"
    file.write_bytes(b"".join([*lines[:at], json.dumps(form).encode() + b"\n", *lines[at + 1 : at + 3]]))
    saved = agent_magic.load(file)
    assert len(saved.warnings) == 1
    assert f"Line {at + 1} of edited.jsonl could not be read whole: line.step" in saved.warnings[0]
    assert saved.runs[0].actions[0].tool_results[0].run is not None


def test_run_in_a_notebook_alone_has_its_lanes(tmp_path: Path) -> None:

    _, result = run_journaled(make_boss(), "Go.", tmp_path)
    record = to_record(result)
    found = from_record(record)
    inner = runs_in(found)
    assert list(inner) == list(runs_in(result))
    assert inner["/call_2/call_1"].task == "Count Bergen."
    assert (
        to_record(found)["steps"][0]["calls"][1]["run"]["steps"]
        == record["steps"][0]["calls"][1]["run"]["steps"]
    )  # type: ignore[typeddict-item] # actions
