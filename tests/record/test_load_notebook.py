"""Runs out of a saved notebook: from what its records keep, from journals, from the records alone."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from record.journals import CALLS, FINAL, make_agent, run_journaled

import agent_magic
from agent_magic.core.errors import OptionError
from agent_magic.core.result import RunResult
from agent_magic.record.clean import stored_size
from agent_magic.record.keeping import MAX_MEMORY_BYTES, with_memory
from agent_magic.record.run import MAX_BYTES, to_record
from agent_magic.record.schema import RUN_MIME, RunRecord

KEY = "sk-proj-abcdefghijklmnop1234"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _record(agent: Any, task: str, *, beside: Path | None = None) -> RunRecord:
    """One more run, and the record that it leaves in the notebook."""
    if beside is None:
        result, name = agent.run(task, reset=False), None
    else:
        journal, result = run_journaled(agent, task, beside)
        assert journal.path is not None
        name = journal.path.name
    return with_memory(to_record(result), agent.memory, result, journal=name)


def _save(folder: Path, *records: Any, name: str = "analysis.ipynb") -> Path:
    outputs = [
        {"output_type": "display_data", "metadata": {}, "data": {RUN_MIME: record, "text/plain": "a run"}}
        for record in records
    ]
    cells = [
        {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "", "outputs": [output]}
        for output in outputs
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = folder / name
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False), encoding="utf-8")
    return path


def _agent(n_runs: int = 1, **options: Any) -> Any:
    replies: list[Any] = []
    for number in range(n_runs):
        replies += [CALLS(("look", {"place": f"place {number}"})), FINAL(f"answer {number}")]
    return make_agent(*replies, **options)


# -- from what the records keep --------------------------------------------------------------------


def test_runs_and_memory_come_back_whole(tmp_path: Path) -> None:
    agent = _agent(3)
    records: list[RunRecord] = []
    for number in range(3):
        records.append(_record(agent, f"Task {number}"))
        if number < 2:
            agent.memory.edit(1, observations=f"seen {number}")
    saved = agent_magic.load(_save(tmp_path, *records))
    assert (saved.runs, saved.warnings) == (tuple(agent.runs), ())
    assert [to_record(run) for run in saved.runs] == [to_record(run) for run in agent.runs]
    assert saved.memory.requests == agent.memory.requests
    assert [entry.step for entry in saved.memory.entries] == list(agent.memory.steps)
    assert all(saved.memory.is_rebuilt_exactly(request) for request in saved.memory.requests)
    again = make_agent()
    again.memory = saved.memory
    for number in (1, 2):
        assert again.preview(number) == agent.preview(number)


def test_steps_of_a_run_are_those_of_the_memory(tmp_path: Path) -> None:
    agent = _agent(2)
    saved = agent_magic.load(_save(tmp_path, _record(agent, "One"), _record(agent, "Two")))
    entries = [entry.step for entry in saved.memory.entries]
    assert all(any(step is entry for entry in entries) for run in saved.runs for step in run.steps)
    assert [run.value for run in saved.runs] == ["answer 0", "answer 1"]


def test_cells_may_stand_in_any_order_and_runs_in_several(tmp_path: Path) -> None:
    agent = _agent(3)
    one, two, three = (_record(agent, f"Task {number}") for number in range(3))
    for number, record in enumerate((one, two, three)):
        record["started"] = f"2027-01-15T08:00:0{number}.000+00:00"
    saved = agent_magic.load(_save(tmp_path, three, one, two, one))
    assert (saved.runs, saved.warnings) == (tuple(agent.runs), ())


def test_each_agent_has_its_memory(tmp_path: Path) -> None:
    one, other = _agent(1, name="analyst"), _agent(1, name="writer")
    saved = agent_magic.load(_save(tmp_path, _record(one, "Look."), _record(other, "Write.")))
    assert saved.agents == ["analyst", "writer"]
    assert saved.memory is saved.memory_of("writer")
    assert saved.memory_of("analyst").steps == one.memory.steps


def test_record_that_is_made_twice_has_the_same_bytes(tmp_path: Path) -> None:
    agent = _agent(2)
    agent.run("First", reset=False)
    result = agent.run("Second", reset=False)
    made = [json.dumps(with_memory(to_record(result), agent.memory, result)) for _ in range(2)]
    assert made[0] == made[1]
    saved = agent_magic.load(_save(tmp_path, json.loads(made[0])))
    assert saved.runs == (result,)


def test_secrets_are_not_in_what_a_record_keeps() -> None:
    agent = make_agent(FINAL(KEY), instructions=f"Use {KEY}.")
    record = _record(agent, f"Use {KEY}.")
    assert "memory" in record
    assert "abcdefghijklmnop" not in json.dumps(record)


def test_signs_that_are_no_text_are_escaped_in_what_a_record_keeps(tmp_path: Path) -> None:
    text = "a\x00\x1b[31m\x7f\x9b5A\u202ertl\u2028 é ☀"
    agent = make_agent(FINAL(text))
    record = _record(agent, text)
    assert not set(record["memory"]) & set("\x00\x1b\x7f\x9b\u202e\u2028")  # type: ignore[typeddict-item]  # it fits
    saved = agent_magic.load(_save(tmp_path, record))
    assert (saved.runs[0].task, saved.runs[0].value) == (text, text)


def test_record_stays_within_its_bytes() -> None:
    def tell(n: int) -> str:
        """Tell much.

        Args:
            n: which.
        """
        return f"{n:06}" * 900

    agent = make_agent(
        *[CALLS(("tell", {"n": n})) for n in range(24)], FINAL("x" * 200_000), tools=[tell], max_steps=30
    )
    result = agent.run("Tell.")
    record = with_memory(to_record(result), agent.memory, result, journal="a.jsonl")
    assert "memory" not in record  # the answer alone is larger than that
    assert record.get("journal") == "a.jsonl"
    agent = make_agent(*[CALLS(("tell", {"n": n})) for n in range(20)], FINAL(1), tools=[tell], max_steps=30)
    result = agent.run("Tell.")
    record = with_memory(to_record(result), agent.memory, result)
    assert stored_size(record["memory"]) <= MAX_MEMORY_BYTES
    assert stored_size(record) <= MAX_BYTES


# -- what is not there -----------------------------------------------------------------------------


def _large(agent_name: str = "analyst") -> Any:
    def tell(n: int) -> str:
        """Tell much.

        Args:
            n: which.
        """
        return f"{n:06}" * 900

    replies = [CALLS(("tell", {"n": n})) for n in range(40)]
    return make_agent(*replies, FINAL(1), FINAL(2), FINAL(3), tools=[tell], max_steps=50, name=agent_name)


def test_memory_that_is_too_large_is_found_in_its_journal(tmp_path: Path) -> None:
    agent = _large()
    records = [_record(agent, f"Task {n}", beside=tmp_path) for n in range(3)]
    assert ["memory" in record for record in records] == [False, True, True]
    saved = agent_magic.load(_save(tmp_path, *records))
    assert (saved.runs, saved.warnings) == (tuple(agent.runs), ())
    assert saved.memory.requests == agent.memory.requests
    assert all(saved.memory.is_rebuilt_exactly(request) for request in saved.memory.requests)


def test_journal_is_found_in_the_persons_own_folder(tmp_path: Path) -> None:
    agent = _large()
    record = _record(agent, "Task", beside=tmp_path / "nowhere")
    saved = agent_magic.load(_save(tmp_path, record))
    assert (saved.runs, saved.warnings) == (tuple(agent.runs), ())


def test_run_is_read_from_its_record_where_there_is_no_more(tmp_path: Path) -> None:
    agent = _large()
    records = [_record(agent, f"Task {n}", beside=tmp_path / "elsewhere") for n in range(2)]
    saved = agent_magic.load(_save(tmp_path, *records, name="b.ipynb"))
    assert saved.runs == tuple(agent.runs)
    for path in (tmp_path / "state" / "agent_magic" / "runs").glob("*.jsonl"):
        path.unlink()
    saved = agent_magic.load(_save(tmp_path, *records))
    assert [_without_ids(text, records) for text in saved.warnings] == snapshot(
        [
            "The journal 0.jsonl of run run_0 was not found.",
            "Run run_0 of analyst: its texts are those of the notebook, which are cut; what the models were sent in it cannot be shown again.",
            "Run run_1 of analyst: a run before it is not in the notebook; what the models were sent up to it cannot be shown again.",
        ]
    )
    assert [run.status for run in saved.runs] == ["answered", "answered"]
    assert [run.value for run in saved.runs] == [1, 2]
    assert len(saved.memory) == len(agent.memory.steps)
    record = to_record(saved.runs[0])
    assert [step["calls"] for step in record["steps"][:3]] == [
        step["calls"] for step in records[0]["steps"][:3]
    ]  # type: ignore[typeddict-item]  # they are actions


def _without_ids(text: str, records: list[RunRecord]) -> str:
    for number, record in enumerate(records):
        text = text.replace(record.get("journal", "?"), f"{number}.jsonl").replace(
            record["run_id"], f"run_{number}"
        )
    return text


def test_run_before_that_is_not_in_the_notebook_is_told(tmp_path: Path) -> None:
    agent = _agent(3)
    records = [_record(agent, f"Task {n}") for n in range(3)]
    saved = agent_magic.load(_save(tmp_path, records[0], records[2]))
    assert saved.runs == (agent.runs[0], agent.runs[2])
    assert [_without_ids(text, records) for text in saved.warnings] == snapshot(
        [
            "Run run_2 of analyst: a run before it is not in the notebook; what the models were sent up to it cannot be shown again."
        ]
    )
    assert saved.memory.steps == (*agent.runs[0].steps, *agent.runs[2].steps)


def test_run_that_was_journaled_elsewhere_is_not_taken_for_this_one(tmp_path: Path) -> None:
    agent = _large()
    record = _record(agent, "Task", beside=tmp_path)
    for name in ("../../etc/passwd", "/etc/passwd", "a/b.jsonl", "b.txt", 3):
        record["journal"] = name  # type: ignore[typeddict-item]  # somebody wrote it so
        saved = agent_magic.load(_save(tmp_path, record))
        assert len(saved.warnings) in (1, 2)
        assert saved.runs[0].value == 1


def test_linked_journal_is_not_followed(tmp_path: Path) -> None:
    agent = _large()
    record = _record(agent, "Task", beside=tmp_path)
    path = tmp_path / ".agent_magic" / record["journal"]
    path.rename(tmp_path / "outside.jsonl")
    path.symlink_to(tmp_path / "outside.jsonl")
    saved = agent_magic.load(_save(tmp_path, record))
    assert len(saved.warnings) == 2


# -- files that somebody touched -------------------------------------------------------------------


def _refusal(path: Path) -> str:
    with pytest.raises(OptionError) as caught:
        agent_magic.load(path)
    return caught.value.message


def test_notebooks_without_a_run_are_refused(tmp_path: Path) -> None:
    newer = {**_record(_agent(), "Task"), "version": 2}
    assert [
        _refusal(_save(tmp_path)),
        _refusal(_save(tmp_path, {"version": 1.0}, 3, {"a": 1})),
        _refusal(_save(tmp_path, newer)),
    ] == snapshot(
        [
            """\
analysis.ipynb holds no run of agent_magic in its outputs.
Give a notebook that was saved after a %%agent cell, or a journal (.jsonl) out of the folder .agent_magic beside it.\
""",
            """\
analysis.ipynb holds no run of agent_magic in its outputs.
Give a notebook that was saved after a %%agent cell, or a journal (.jsonl) out of the folder .agent_magic beside it.\
""",
            """\
The runs in analysis.ipynb were made by a newer agent_magic: they have version 2, and this one reads up to 1.
Upgrade: pip install -U agent-magic\
""",
        ]
    )
    (tmp_path / "half.ipynb").write_text('{"cells": [')
    assert _refusal(tmp_path / "half.ipynb") == snapshot("""\
half.ipynb cannot be read as a notebook: it is no JSON, or only a part of it (Expecting value: line 1 column 12 (char 11)).
Give a saved notebook (.ipynb), or a journal (.jsonl) out of the folder .agent_magic beside it.\
""")


def test_runs_of_a_newer_version_are_left_out(tmp_path: Path) -> None:
    agent = _agent(2)
    one, two = _record(agent, "One"), _record(agent, "Two")
    two["version"] = 2
    saved = agent_magic.load(_save(tmp_path, one, two))
    assert saved.runs == (agent.runs[0],)
    assert saved.warnings == snapshot(
        ("analysis.ipynb has 1 run of a newer agent_magic. Upgrade: pip install -U agent-magic",)
    )


def test_half_of_a_notebook_gives_the_runs_that_are_whole(tmp_path: Path) -> None:
    agent = _agent(3)
    path = _save(tmp_path, *(_record(agent, f"Task {n}") for n in range(3)))
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex(RUN_MIME) + 500], encoding="utf-8")
    saved = agent_magic.load(path)
    assert saved.runs == tuple(agent.runs[:2])
    assert saved.warnings == snapshot(
        ("analysis.ipynb is damaged, or only a part of it; it has 2 runs that can be read.",)
    )


def test_memory_that_was_edited_by_hand_is_told(tmp_path: Path) -> None:
    record = _record(_agent(), "Task")
    for text in ("", "{", "[]", json.dumps({"format": "agent_magic.run"}), 3, "[" * 50_000):
        record["memory"] = text  # type: ignore[typeddict-item]  # somebody wrote it so
        saved = agent_magic.load(_save(tmp_path, record))
        assert saved.runs[0].value == "answer 0"
        assert len(saved.warnings) == 2


def _mutate(value: Any, chance: random.Random) -> Any:
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        return [*value[:place], _mutate(value[place], chance), *value[place + 1 :]]
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        if chance.random() < 0.2:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: _mutate(value[key], chance)}
    return chance.choice([None, True, -1, 0, 3, 10**30, 1e300, "", "text", [], [1], {}, {"version": 1}])


@pytest.fixture(scope="module")
def two_records() -> list[Any]:
    agent = _agent(2)
    return [json.loads(json.dumps(_record(agent, f"Task {n}"))) for n in range(2)]


@pytest.mark.parametrize("seed", range(150))
def test_record_with_anything_in_it_raises_nothing_but_our_refusal(
    tmp_path: Path, two_records: list[Any], seed: int
) -> None:
    chance = random.Random(seed)
    records = list(two_records)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(2)
        record = _mutate(records[place], chance)
        if isinstance(record, dict) and isinstance(record.get("memory"), str) and chance.random() < 0.6:
            with contextlib.suppress(ValueError):
                record["memory"] = json.dumps(_mutate(json.loads(record["memory"]), chance))
        elif isinstance(record, dict) and chance.random() < 0.3:
            record.pop("memory", None)
        records[place] = record
    try:
        saved = agent_magic.load(_save(tmp_path, *records))
    except OptionError:
        return
    assert repr(saved)
    for run in saved.runs:
        assert isinstance(run, RunResult)
        json.dumps(to_record(run), allow_nan=False)
    for memory in saved.memories.values():
        agent = make_agent()
        agent.memory = memory
        agent.preview(task="And now?")
