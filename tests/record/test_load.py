"""Runs that outlived their kernel: from journals, from folders, and what cannot be loaded."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from memories import Walk
from record.journals import CALLS, FINAL, journaled, make_agent, run_journaled

import agent_magic
from agent_magic import SavedRuns
from agent_magic.agents.requests.preview import Preview
from agent_magic.core.errors import OptionError
from agent_magic.core.events import RunStarted
from agent_magic.core.form.increments import MemoryWriter
from agent_magic.core.steps import FinalAnswerStep
from agent_magic.record.journal import Journal
from agent_magic.record.load_journal import read_journal
from agent_magic.record.run import to_record


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _refusal(path: Any, tmp_path: Path) -> str:
    with pytest.raises(OptionError) as caught:
        agent_magic.load(path)
    return caught.value.message.replace(str(tmp_path), "…")


def _planned(**options: Any) -> Any:
    """An agent with plans, prose, several calls, faults and an edit on its way."""
    return make_agent(
        "1. look\n2. answer",
        CALLS(("look", {"place": "Oslo"}), ("count", {"place": "Oslo"}), ("serach", {})),
        {"content": "I look again.", "tool_calls": [{"name": "look", "arguments": {"place": "Tromsø ☀"}}]},
        "1. answer",
        FINAL({"n": [1, 2]}),
        planning_interval=2,
        **options,
    )


# -- with the same view and the same previews ----------------------------------------------------


def test_run_from_a_journal_is_the_run_that_was(tmp_path: Path) -> None:
    agent = _planned()
    journal, result = run_journaled(agent, "Look at Oslo.", tmp_path)
    saved = agent_magic.load(str(journal.path))
    assert saved.runs == (result,)
    assert to_record(saved.runs[0]) == to_record(result)
    assert isinstance(saved.runs[0].steps[-1], FinalAnswerStep)
    assert saved.runs[0].value is saved.runs[0].steps[-1].answer
    assert all(step in saved.memory.steps for step in saved.runs[0].steps)
    assert (saved.agents, saved.warnings) == (["analyst"], ())


def _previews(agent: Any) -> list[Preview]:
    numbers = [("plan", 1), ("act", 1), ("act", 2), ("plan", 3), ("act", 3)]
    past = [agent.preview(number, kind=kind) for kind, number in numbers]
    past += [agent.preview(number, kind=kind, summary_mode="all") for kind, number in numbers]
    return [*past, agent.preview(task="And now?"), agent.preview(task="And now?", summary_mode="all")]


def test_previews_are_identical_to_before(tmp_path: Path) -> None:
    agent = _planned()
    journal, _ = run_journaled(agent, "Look at Oslo.", tmp_path)
    agent.memory.edit(2, observations={"call_1": "nothing"})
    agent.memory.set_view(3, "summary")
    journal.keep_up(agent.memory)
    before = _previews(agent)
    assert all(preview.is_exact for preview in before[:5])
    again = make_agent(planning_interval=2)
    again.memory = agent_magic.load(journal.path or "").memory
    assert _previews(again) == before


def test_edits_that_are_loaded_can_be_undone(tmp_path: Path) -> None:
    agent = _planned()
    journal, _ = run_journaled(agent, "Look at Oslo.", tmp_path)
    before = agent.memory.to_messages()
    agent.memory.edit(0, task="Look at Rome.")
    journal.keep_up(agent.memory)
    memory = agent_magic.load(journal.path or "").memory
    assert memory.to_messages() != before
    memory.undo()
    assert memory.to_messages() == before


def test_run_that_resumed_another_comes_back_with_its_task(tmp_path: Path) -> None:
    agent = make_agent(CALLS(("look", {"place": "Oslo"})), max_steps=1, name="analyst")
    first, _ = run_journaled(agent, "Look at Oslo.", tmp_path)
    agent.model = make_agent(CALLS(("look", {"place": "Rome"})), FINAL(1)).model
    events = agent.stream_resume("Look at Rome too.", max_steps=3)
    journaled(agent, events, tmp_path, after=first)
    data = (first.path or tmp_path).read_bytes()
    assert agent_magic.load(first.path or "").runs == tuple(agent.runs)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(data[: data.rindex(b'{"kind":"step_end"')])
    runs = agent_magic.load(cut).runs
    assert [(run.task, run.resumed_from) for run in runs] == [
        ("Look at Oslo.", None),
        ("Look at Oslo.", agent.runs[0].run_id),
    ]


# -- what is not finished ------------------------------------------------------------------------


def _cut(journal: Journal, before: bytes, place: Path, n: int = 0) -> SavedRuns:
    """What is loaded of a journal that ends before the n-th line that has `before` in it."""
    assert journal.path is not None
    lines = journal.path.read_bytes().splitlines(keepends=True)
    ends = [i for i, line in enumerate(lines) if before in line]
    path = place / "cut.jsonl"
    path.write_bytes(b"".join(lines[: ends[n]]))
    return agent_magic.load(path)


def test_step_that_was_being_made_is_kept_as_far_as_it_is_known(tmp_path: Path) -> None:
    journal, _ = run_journaled(_planned(), "Look at Oslo.", tmp_path)
    saved = _cut(journal, b'"kind":"call_end"', tmp_path, 1)
    (run,) = saved.runs
    assert (run.status, run.error and run.error.message, saved.warnings) == snapshot(
        ("interrupted", "The kernel ended during this run.", ())
    )
    step = run.steps[-1]
    assert [(r.call.name, r.call.arguments, r.to_text()) for r in step.tool_results] == snapshot(
        [
            (
                "look",
                {"place": "Oslo"},
                "The kernel ended before this call did: it may have run, what it did is not known, and it was not repeated.",
            ),
            (
                "count",
                {"place": "Oslo"},
                "The kernel ended before this call did: it may have run, what it did is not known, and it was not repeated.",
            ),
            ("serach", {}, "No tool 'serach'. Tools: look, count, final_answer. Call one of these."),
        ]
    )  # type: ignore[union-attr]  # it is an action
    assert saved.memory.steps == run.steps


def test_calls_of_a_reply_whose_first_body_was_not_entered_did_not_run(tmp_path: Path) -> None:
    journal, _ = run_journaled(_planned(), "Look at Oslo.", tmp_path)
    saved = _cut(journal, b'"kind":"call_start"', tmp_path)
    assert {result.to_text() for result in saved.runs[0].actions[-1].tool_results[:2]} == snapshot(
        {"The call was not run: the kernel ended before it."}
    )


def test_plan_that_was_being_made_does_not_count(tmp_path: Path) -> None:
    journal, _ = run_journaled(_planned(), "Look at Oslo.", tmp_path)
    saved = _cut(journal, b'"kind":"step_end"', tmp_path)
    (plan,) = saved.runs[0].plans
    assert (plan.plan, plan.model_output, plan.is_interrupted) == ("", "1. look\n2. answer", True)


def test_run_whose_answer_is_in_memory_was_answered(tmp_path: Path) -> None:
    journal, result = run_journaled(_planned(), "Look at Oslo.", tmp_path)
    saved = _cut(journal, b'"kind":"run_end"', tmp_path)
    assert (saved.runs[0].status, saved.runs[0].value) == ("answered", result.value)
    assert saved.runs[0].usage == result.usage


def test_run_that_goes_on_is_told_as_one(tmp_path: Path) -> None:
    agent = _planned()
    journal: Journal | None = None
    events = agent.stream("Look at Oslo.")
    for event in events:
        if isinstance(event, RunStarted):
            journal = Journal.open(agent_name="analyst", run_id=event.run_id, beside=tmp_path)
        assert journal is not None
        journal.add(event, agent.memory)
        if len(agent.memory) == 3:
            break
    (run,) = agent_magic.load(tmp_path).runs
    events.close()
    assert run.error is not None
    assert run.error.message == snapshot("This run had not ended yet when its journal was read.")


# -- files that somebody touched -----------------------------------------------------------------


def test_paths_that_cannot_be_loaded_are_refused(tmp_path: Path) -> None:
    (tmp_path / "analysis.ipynb").write_text("{}")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "text.jsonl").write_text("hello\nworld\n")
    (tmp_path / "newer.jsonl").write_text('{"format":"agent_magic.journal","version":2}\n')
    refusals = [
        _refusal(tmp_path / name, tmp_path)
        for name in ("analysis.ipyn", "empty", "other.jsonl", "text.jsonl", "newer.jsonl", "analysis.ipynb")
    ]
    assert [*refusals, _refusal(3, tmp_path), _refusal("a\x00b", tmp_path)] == snapshot(
        [
            """\
There is no file '…/analysis.ipyn'; nearest: analysis.ipynb.
Give a saved notebook (.ipynb), a journal (.jsonl), or the folder .agent_magic that the journals are in.\
""",
            """\
There is no journal (.jsonl) in the folder '…/empty'.
Give a saved notebook (.ipynb), a journal (.jsonl), or the folder .agent_magic that the journals are in.\
""",
            """\
other.jsonl is no journal of agent_magic: its first line has format None, and not 'agent_magic.journal'.
Give a journal (.jsonl) out of a folder .agent_magic, or a saved notebook (.ipynb).\
""",
            """\
text.jsonl is no journal of agent_magic: its first line cannot be read as JSON.
Give a journal (.jsonl) out of a folder .agent_magic, or a saved notebook (.ipynb).\
""",
            """\
newer.jsonl was written by a newer agent_magic: it has version 2, and this one reads up to 1.
Upgrade: pip install -U agent-magic\
""",
            """\
analysis.ipynb holds no run of agent_magic in its outputs.
Give a notebook that was saved after a %%agent cell, or a journal (.jsonl) out of the folder .agent_magic beside it.\
""",
            """\
3 is no path of a file: expected str, bytes or os.PathLike object, not int
Give a saved notebook (.ipynb), a journal (.jsonl), or the folder .agent_magic that the journals are in.\
""",
            """\
There is no file 'a\\x00b'.
Give a saved notebook (.ipynb), a journal (.jsonl), or the folder .agent_magic that the journals are in.\
""",
        ]
    )


def test_empty_journal_holds_no_run(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")
    saved = agent_magic.load(path)
    assert (saved.runs, saved.agents, saved.warnings) == snapshot(((), [], ("a.jsonl holds no run.",)))
    with pytest.raises(OptionError) as caught:
        _ = saved.memory
    assert caught.value.message == snapshot(
        "a.jsonl holds no memory of an agent. Its warnings say why: look at .warnings."
    )


def test_folder_gives_its_newest_journal(tmp_path: Path) -> None:
    old, _ = run_journaled(make_agent(FINAL(1)), "Old", tmp_path)
    run_journaled(make_agent(FINAL(2)), "New", tmp_path)
    assert old.path is not None
    os.utime(old.path, (1, 1))
    assert agent_magic.load(tmp_path).runs[0].task == "New"
    assert agent_magic.load(tmp_path / ".agent_magic").runs[0].task == "New"


def test_agent_that_is_not_there_is_refused(tmp_path: Path) -> None:
    journal, _ = run_journaled(make_agent(FINAL(1)), "Count.", tmp_path)
    saved = agent_magic.load(journal.path or "")
    assert saved.memory_of("analyst") is saved.memory
    with pytest.raises(OptionError) as caught:
        saved.memory_of("analist")
    assert caught.value.message.replace(saved.source, "….jsonl") == snapshot(
        "….jsonl holds no agent 'analist'. Its agents: 'analyst'. Write memory_of('analyst')."
    )


def test_repr_says_what_is_in_it(tmp_path: Path) -> None:
    agent = make_agent(FINAL(1), CALLS(("look", {"place": "Oslo"})), max_steps=1)
    journal, _ = run_journaled(agent, "Count \x1b[31m all.\nThen more.", tmp_path)
    run_journaled(agent, "Look.", tmp_path, after=journal)
    saved = agent_magic.load(journal.path or "")
    assert repr(saved).replace(saved.source, "….jsonl") == snapshot("""\
<SavedRuns of ….jsonl: 2 runs
  analyst: answered, 1 step: Count  all.
  analyst: max_steps, 1 step: Look.>\
""")


@pytest.mark.parametrize("part", [0.2, 0.4, 0.6, 0.8])
def test_journal_that_was_cut_gives_what_stands_before(tmp_path: Path, part: float) -> None:
    journal, result = run_journaled(_planned(), "Look at Oslo.", tmp_path)
    assert journal.path is not None
    data = journal.path.read_bytes()
    journal.path.write_bytes(data[: int(part * len(data))])
    saved = agent_magic.load(journal.path)
    n = len(saved.runs[0].steps) - 1
    assert saved.runs[0].steps[:n] == result.steps[:n]
    assert saved.runs[0].status == "interrupted"


def test_line_that_is_missing_in_the_middle_is_told(tmp_path: Path) -> None:
    journal, result = run_journaled(_planned(), "Look at Oslo.", tmp_path)
    assert journal.path is not None
    lines = journal.path.read_bytes().splitlines(keepends=True)
    ends = [i for i, line in enumerate(lines) if b'"kind":"step_end"' in line]
    del lines[ends[1]]
    journal.path.write_bytes(b"".join(lines))
    saved = agent_magic.load(journal.path)
    assert [text.replace(journal.path.name, "….jsonl") for text in saved.warnings] == snapshot(
        [
            "2 rows of ….jsonl are missing.",
            "The memory is damaged: 1 of its 7 steps could not be read. What the models were sent, and what was edited, cannot be shown again.",
        ]
    )
    assert [step in saved.runs[0].steps for step in result.steps] == snapshot(
        [True, True, False, True, True, True, True]
    )


def _mutate(value: Any, chance: random.Random) -> Any:
    """The JSON value with one thing in it changed."""
    other = [
        None,
        True,
        -1,
        0,
        3,
        10**30,
        1.5,
        "",
        "text",
        [],
        [1],
        {},
        {"$": "object"},
        {"$": "float", "text": "inf"},
    ]
    if isinstance(value, list) and value and chance.random() < 0.8:
        place = chance.randrange(len(value))
        return [*value[:place], _mutate(value[place], chance), *value[place + 1 :]]
    if isinstance(value, dict) and value and chance.random() < 0.8:
        key = chance.choice(list(value))
        if chance.random() < 0.15:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: _mutate(value[key], chance)}
    return chance.choice(other)


@pytest.mark.parametrize("seed", range(200))
def test_journal_with_anything_in_it_raises_nothing_but_our_refusal(
    journal_lines: list[dict[str, Any]], seed: int
) -> None:
    chance = random.Random(seed)
    lines = list(journal_lines)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(lines))
        lines[place] = _mutate(lines[place], chance)
    data = [json.dumps(line).encode() + b"\n" for line in lines]
    if chance.random() < 0.3:
        chance.shuffle(data)
    try:
        content = read_journal(data, "a.jsonl")
    except OptionError:
        return
    for run in content.runs:
        json.dumps(to_record(run), allow_nan=False)
    saved = SavedRuns(source="a.jsonl", runs=content.runs, memories={}, warnings=content.warnings)
    assert repr(saved)
    if content.memory is not None:
        agent = make_agent()
        agent.memory = content.memory
        agent.preview(task="And now?")
        content.memory.to_dict()


@pytest.fixture(scope="module")
def journal_lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Of a journal with two runs, and of random memories."""
    folder = tmp_path_factory.mktemp("journal")
    agent = _planned()
    journal, _ = run_journaled(agent, "Look at Oslo.", folder)
    agent.memory.edit(0, task="Look.")
    agent.model = make_agent("1. done", FINAL(1)).model
    run_journaled(agent, "And Rome.", folder, after=journal)
    assert journal.path is not None
    lines = [json.loads(line) for line in journal.path.read_bytes().splitlines()]
    shutil.rmtree(folder)
    walk = Walk(5)
    walk.go(30)
    lines.insert(
        -1, {"kind": "note", "at": 1e9, "is_new_memory": True, "rows": MemoryWriter().take(walk.memory)}
    )
    return json.loads(json.dumps(lines))


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"kind":"run_start","at":1,"rows":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"\xff\xfe\x00",
        b'{"kind":"note","at":NaN}',
        b'{"kind":"note","at":' + b"9" * 5_000 + b"}",
        b'{"kind":"note","at":1e400}',
        b'"' + b"x" * 10_000_000 + b'"',
    ],
)
def test_line_with_anything_in_it_is_left_out(tmp_path: Path, line: bytes) -> None:
    journal, result = run_journaled(_planned(), "Look at Oslo.", tmp_path)
    assert journal.path is not None
    lines = journal.path.read_bytes().splitlines()
    lines.insert(5, line)
    journal.path.write_bytes(b"\n".join(lines) + b"\n")
    saved = agent_magic.load(journal.path)
    assert saved.runs == (result,)
    assert len(saved.warnings) == 1


def test_journal_is_read_at_a_good_rate(tmp_path: Path) -> None:
    journal, _ = run_journaled(_planned(), "Look at Oslo.", tmp_path)
    assert journal.path is not None
    lines = journal.path.read_bytes().splitlines(keepends=True)
    note = b'{"kind":"note","at":1796007347.8,"step_number":1,"text":"' + b"x" * 200_000 + b'"}\n'
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"".join([*lines[:3], *[note] * 500, *lines[3:]]))  # 100 MB
    assert agent_magic.load(path).warnings == ()
