"""The journal: what stands in it, what it costs, and what becomes of a run when it cannot be written."""

from __future__ import annotations

import gc
import json
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from PIL import Image
from record.journals import CALLS, FINAL, make_agent, run_journaled

import agent_magic
from agent_magic.core.events import RunStarted, StepEnded
from agent_magic.record.journal import Journal
from agent_magic.record.journal_file import JournalFile
from agent_magic.record.run import to_record

KEY = "sk-proj-abcdefghijklmnop1234"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _lines(journal: Journal) -> list[dict[str, Any]]:
    assert journal.path is not None
    return [json.loads(line) for line in journal.path.read_bytes().splitlines()]


def _kinds(journal: Journal) -> list[str]:
    return [line.get("kind", "head") for line in _lines(journal)]


# -- what stands in it -------------------------------------------------------------------------


def test_journal_of_a_run_in_its_lines(tmp_path: Path) -> None:
    agent = make_agent(CALLS(("look", {"place": "Oslo"}), ("count", {"place": "Oslo"})), FINAL(4))
    journal, result = run_journaled(agent, "Count Oslo.", tmp_path)
    assert journal.warning is None
    assert result.status == "answered"
    assert _kinds(journal) == snapshot(
        [
            "head",
            "run_start",
            "step_start",
            "model_reply",
            "call_start",
            "call_start",
            "call_end",
            "call_end",
            "step_end",
            "step_start",
            "model_reply",
            "step_end",
            "step_end",
            "run_end",
        ]
    )


def test_head_and_first_lines(tmp_path: Path) -> None:
    agent = make_agent(FINAL(4))
    journal, result = run_journaled(agent, "Count Oslo.", tmp_path)
    head, start, step = _lines(journal)[:3]
    assert head == snapshot(
        {"format": "agent_magic.journal", "version": 1, "agent_magic": "0.1.0", "agent": "analyst"}
    )
    assert start.pop("at") > 1.7e9
    assert start.pop("run_id") == result.run_id
    assert start == snapshot(
        {
            "kind": "run_start",
            "agent_name": "analyst",
            "model_id": "scripted",
            "max_steps": 20,
            "n_before": 0,
            "is_new_memory": True,
            "rows": {
                "system_prompts": [0, [{"revision": 0, "text": ""}]],
                "entries": [0, [0]],
                "revision": 0,
                "steps": [0, [{"kind": "task", "task": "Count Oslo."}]],
            },
        }
    )
    del step["at"]
    assert step == snapshot({"kind": "step_start", "step_number": 1, "step_kind": "act"})


def test_calls_are_on_disk_before_their_bodies_are_entered(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    found: list[Journal] = []

    def peek_at_journal() -> str:
        """Look at the journal."""
        seen.append(_kinds(found[0]))
        return "done"

    agent = make_agent(CALLS(("peek_at_journal", {})), FINAL(1), tools=[peek_at_journal])
    for event in agent.stream("Look."):
        if isinstance(event, RunStarted):
            found.append(Journal.open(agent_name="a", run_id=event.run_id, beside=tmp_path))
        found[0].add(event, agent.memory)
    assert seen == snapshot([["head", "run_start", "step_start", "model_reply", "call_start"]])


def test_run_of_the_same_agent_goes_on_in_the_file_with_what_is_new_alone(tmp_path: Path) -> None:
    agent = make_agent(CALLS(("look", {"place": "Oslo"})), FINAL(1), FINAL(2), FINAL(3))
    first, _ = run_journaled(agent, "First", tmp_path)
    agent.memory.edit(1, observations="nothing")
    second, _ = run_journaled(agent, "Second", tmp_path, after=first)
    third, _ = run_journaled(agent, "Third", tmp_path, after=second)
    assert first is second is third
    assert sum("is_new_memory" in line for line in _lines(first)) == 1
    saved = agent_magic.load(first.path or "")
    assert saved.runs == tuple(agent.runs)
    assert saved.memory.to_messages() == agent.memory.to_messages()
    assert saved.memory.edits == agent.memory.edits


def test_memory_that_was_forgotten_begins_anew_in_the_same_file(tmp_path: Path) -> None:
    agent = make_agent(FINAL(1), FINAL(2))
    first, _ = run_journaled(agent, "First", tmp_path)
    earlier = list(agent.runs)
    agent.reset()
    second, _ = run_journaled(agent, "Second", tmp_path, after=first)
    assert first is second
    saved = agent_magic.load(first.path or "")
    assert saved.runs == (*earlier, *agent.runs)
    assert saved.memory.steps == agent.memory.steps


def test_run_beside_another_gets_a_file_of_its_own(tmp_path: Path) -> None:
    agent = make_agent(FINAL(1), FINAL(2))
    events = agent.stream("First")
    first = next(events)
    assert isinstance(first, RunStarted)
    busy = Journal.open(agent_name="a", run_id=first.run_id, beside=tmp_path)
    busy.add(first, agent.memory)
    other = Journal.open(agent_name="a", run_id="run_2", beside=tmp_path, after=busy)
    assert other is not busy
    assert other.path != busy.path
    events.close()


def test_edit_between_runs_is_kept_at_once(tmp_path: Path) -> None:
    agent = make_agent(CALLS(("look", {"place": "Oslo"})), FINAL(1))
    journal, _ = run_journaled(agent, "First", tmp_path)
    agent.memory.set_view(1, "hidden")
    journal.keep_up(agent.memory)
    assert agent_magic.load(journal.path or "").memory.view_of(1) == "hidden"


def test_journal_does_not_keep_values_alive(tmp_path: Path) -> None:
    class Large:
        pass

    def make() -> Large:
        """Make one."""
        return Large()

    agent = make_agent(CALLS(("make", {})), FINAL(1), tools=[make])
    journal, result = run_journaled(agent, "Make one.", tmp_path)
    made = weakref.ref(result.actions[0].action_output)
    assert made() is not None
    del result, agent
    gc.collect()
    assert made() is None
    assert journal.warning is None


def test_output_that_is_very_large_is_told_by_its_repr(tmp_path: Path) -> None:
    def numbers() -> list[int]:
        """Many numbers."""
        return list(range(300_000))

    agent = make_agent(CALLS(("numbers", {})), FINAL(1), tools=[numbers])
    journal, _ = run_journaled(agent, "Count.", tmp_path)
    assert journal.path is not None
    assert journal.path.stat().st_size < 100_000
    saved = agent_magic.load(journal.path)
    assert saved.runs[0].actions[0].action_output.shape == "300,000 items"


def test_image_of_a_call_that_had_ended_is_in_it(tmp_path: Path) -> None:
    def photo() -> Image.Image:
        """Take a photo."""
        return Image.new("RGB", (3, 2), 7)

    agent = make_agent(CALLS(("photo", {})), FINAL(1), tools=[photo])
    journal, _ = run_journaled(agent, "Take one.", tmp_path)
    saved = agent_magic.load(journal.path or "")
    assert saved.runs[0].actions[0].action_output.tobytes() == Image.new("RGB", (3, 2), 7).tobytes()


# -- secrets -----------------------------------------------------------------------------------


def test_secrets_are_nowhere_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITY_PASSWORD", "swordfish 12")

    def leak(place: str) -> Any:
        """Leak.

        Args:
            place: where.
        """
        return {f"{KEY}": ["swordfish 12", KEY.encode(), f"\x1b[1m{KEY[:9]}\x1b[0m{KEY[9:]}"]}

    agent = make_agent(
        CALLS(("leak", {"place": f"a\n{KEY}"})),
        FINAL(f"it is \ud800{KEY}"),
        tools=[leak],
        instructions=f"Use {KEY}.",
    )
    journal, _ = run_journaled(agent, f"Find swordfish 12 and {KEY}.", tmp_path)
    assert journal.path is not None
    text = journal.path.read_text(encoding="utf-8")
    assert "abcdefghijklmnop" not in text
    assert "swordfish" not in text
    assert "c2stcHJvai1" not in text  # the key in base64
    saved = agent_magic.load(journal.path)
    assert saved.warnings == ()
    assert saved.runs[0].task == "Find [redacted] and [redacted]."
    assert not saved.memory.is_rebuilt_exactly(saved.memory.requests[-1])


def test_secret_that_is_a_word_of_the_form_does_not_break_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, word in enumerate(
        ["assistant", "revision", "run_start", "answered", '","steps":', 'entries":[']
    ):
        monkeypatch.setenv(f"WORD_{number}_TOKEN", word)
    agent = make_agent(CALLS(("look", {"place": "Oslo"})), FINAL(1))
    journal, _ = run_journaled(agent, "Look.", tmp_path)
    saved = agent_magic.load(journal.path or "")
    assert (saved.warnings, saved.runs[0].status) == ((), "answered")


# -- when it cannot be written -------------------------------------------------------------------


def test_disk_that_is_full_is_told_once_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    import signal

    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    agent = make_agent(*[CALLS(("look", {"place": "x" * 300}))] * 10, FINAL(1))
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, limits[1]))
        journal, result = run_journaled(agent, "Look.", tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    assert result.status == "answered"
    assert (journal.warning or "").replace(str(tmp_path), "…").replace(
        (journal.path or tmp_path).name, "….jsonl"
    ) == snapshot(
        "The run is not kept on disk: …/.agent_magic/….jsonl: No space left on device. It goes on, and stands in this output. Free some space, and the next run is kept."
    )
    saved = agent_magic.load(journal.path or "")
    assert saved.runs[0].status == "interrupted"
    assert len(saved.runs[0].actions) > 1


def test_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    agent = make_agent(CALLS(("look", {"place": "Oslo"})), FINAL(1))
    warning = ""
    journal: Journal | None = None
    for event in agent.stream("Look."):
        if isinstance(event, RunStarted):
            journal = Journal.open(agent_name="a", run_id=event.run_id, beside=tmp_path)
        assert journal is not None
        journal.add(event, agent.memory)
        if isinstance(event, StepEnded) and journal.path and journal.path.exists():
            assert journal.warning is None
            journal.path.unlink()
        warning = journal.warning or ""
    assert agent.result is not None
    assert agent.result.status == "answered"
    assert "No such file" in warning


def test_no_folder_that_can_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("a file")
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / ".agent_magic").write_text("a file")
    agent = make_agent(FINAL(1))
    journal, result = run_journaled(agent, "Look.", beside)
    assert result.status == "answered"
    assert journal.path is None
    assert (journal.warning or "").replace(str(tmp_path), "…") == snapshot(
        "The run is not kept on disk: …/state/agent_magic/runs: Not a directory. It goes on, and stands in this output. Make it writable, and the next run is kept."
    )


def test_folder_that_cannot_be_written_gives_way_to_the_persons_own(tmp_path: Path) -> None:
    agent = make_agent(FINAL(1))
    journal, _ = run_journaled(agent, "Look.", tmp_path / "nowhere")
    assert journal.warning is None
    assert journal.path is not None
    assert journal.path.parent == tmp_path / "state" / "agent_magic" / "runs"


def test_file_stops_at_its_cap_and_says_so(tmp_path: Path) -> None:
    agent = make_agent(*[CALLS(("look", {"place": "x" * 300}))] * 10, FINAL(1))
    journal: Journal | None = None
    for event in agent.stream("Look."):
        if isinstance(event, RunStarted):
            folder = tmp_path / "folder"
            folder.mkdir()
            journal = Journal(JournalFile(folder, "a", event.run_id, max_bytes=9_000))
        assert journal is not None
        journal.add(event, agent.memory)
    assert journal is not None
    assert agent.result is not None
    journal.close(agent.result, agent.memory)
    assert journal.path is not None
    assert journal.path.stat().st_size < 10_000
    assert _kinds(journal)[-2:] == ["capped", "run_end"]
    assert (journal.warning or "").replace(journal.path.name, "….jsonl") == snapshot(
        "The journal ….jsonl is full, so the rest of this run is not in it. The run goes on; its steps stand in the output."
    )
    assert Journal.open(agent_name="a", run_id="next", beside=tmp_path, after=journal) is not journal


def test_value_whose_class_does_anything_does_not_fail_a_run(tmp_path: Path) -> None:
    class Odd(dict):  # type: ignore[type-arg]  # what is in it is not the point
        def __len__(self) -> int:
            raise RuntimeError("asked")

        def __repr__(self) -> str:
            raise RuntimeError("asked")

    def odd() -> Any:
        """Make an odd one."""
        return Odd(a=threading.Lock())

    agent = make_agent(CALLS(("odd", {})), FINAL(1), tools=[odd])
    journal, result = run_journaled(agent, "Make one.", tmp_path)
    assert (journal.warning, result.status) == (None, "answered")
    assert agent_magic.load(journal.path or "").runs[0].status == "answered"


# -- Ctrl-C between any two bytecodes --------------------------------------------------------------


class _Interrupting:
    """Raises KeyboardInterrupt at the n-th bytecode of the journal's own code."""

    def __init__(self, n: int) -> None:
        self.n_left = n
        self._files = ("/record/journal", "/core/form/", "/record/redact_form")

    def trace(self, frame: Any, _event: str, _argument: Any) -> Any:
        if not any(part in frame.f_code.co_filename for part in self._files):
            return None
        frame.f_trace_opcodes = True
        return self.trace_inside

    def trace_inside(self, _frame: Any, event: str, _argument: Any) -> Any:
        if event == "opcode":
            self.n_left -= 1
            if self.n_left == 0:
                raise KeyboardInterrupt
        return self.trace_inside


def _interrupted(place: Path, n: int) -> bool:
    """A run with Ctrl-C at the n-th bytecode of the journal; whether it came."""
    agent = make_agent(
        CALLS(("look", {"place": "Oslo"}), ("count", {"place": "Oslo"})), FINAL(1), name=f"a{n}"
    )
    journal: Journal | None = None
    interrupting = _Interrupting(n)
    events = agent.stream("Look.")
    before = sys.gettrace()
    try:
        for event in events:
            if isinstance(event, RunStarted):
                journal = Journal.open(agent_name=event.agent_name, run_id=event.run_id, beside=place)
            assert journal is not None
            sys.settrace(interrupting.trace)
            try:
                journal.add(event, agent.memory)
            finally:
                sys.settrace(before)
    except KeyboardInterrupt:
        pass
    finally:
        events.close()
    assert journal is not None
    assert agent.result is not None
    journal.close(agent.result, agent.memory)
    assert journal.warning is None
    saved = agent_magic.load(journal.path or "")
    assert saved.warnings == ()
    assert saved.runs == (agent.result,)
    assert to_record(saved.runs[0]) == to_record(agent.result)
    assert saved.memory.to_messages() == agent.memory.to_messages()
    assert saved.memory.requests == agent.memory.requests
    assert all(saved.memory.is_rebuilt_exactly(request) for request in saved.memory.requests)
    return interrupting.n_left <= 0


def test_interrupt_at_any_bytecode_leaves_a_journal_that_is_whole(tmp_path: Path) -> None:
    n, n_came = 1, 0
    while _interrupted(tmp_path, n):
        n_came += 1
        n += 1 + n // 40
    assert n_came > 100


def test_line_that_was_begun_is_skipped(tmp_path: Path) -> None:
    agent = make_agent(CALLS(("look", {"place": "Oslo"})), FINAL(1))
    journal, result = run_journaled(agent, "Look.", tmp_path)
    assert journal.path is not None
    lines = journal.path.read_bytes().splitlines(keepends=True)
    lines.insert(4, lines[4][:40] + b"\n")  # as after a write that was cut, and made again
    journal.path.write_bytes(b"".join(lines))
    saved = agent_magic.load(journal.path)
    assert saved.runs == (result,)
    assert [text.replace(journal.path.name, "….jsonl") for text in saved.warnings] == snapshot(
        ["Line 5 of ….jsonl could not be read, and was left out."]
    )
