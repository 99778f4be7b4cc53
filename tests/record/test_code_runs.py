"""Runs of code that outlived their kernel: from records, from journals, and what was not finished."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from view.code_samples import CODE_1, code_call, code_events, code_run, code_step
from view.samples import START, call, run

import agent_magic
from agent_magic.core.events import (
    Event,
    ModelReplied,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    ToolCallEnded,
    ToolCallStarted,
)
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage
from agent_magic.core.result import RunResult
from agent_magic.core.steps import TaskStep, ToolResult
from agent_magic.record.from_record import from_record
from agent_magic.record.journal import Journal
from agent_magic.record.keeping import with_memory
from agent_magic.record.run import to_record

KEY = "sk-proj-abcdefghijklmnop0123456789"
CODE = code_call("look(1)\nlook(2)")
REPLY = ChatMessage(role="assistant", content="I look.\n<code>\nlook(1)\nlook(2)\n")
STEP_1: list[Event] = [
    StepStarted(step_number=1),
    ModelReplied(step_number=1, message=REPLY),
    ToolCallStarted(step_number=1, call=CODE.call),
]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def inner(n: int, **fields: Any) -> ToolResult:
    return call("look", {"n": n}, f"inner_{n}", **({"observation": f"seen {n}"} | fields))


def started(result: ToolResult) -> ToolCallStarted:
    return ToolCallStarted(step_number=1, call=result.call, inside="code_1")


def ended(result: ToolResult) -> ToolCallEnded:
    return ToolCallEnded(step_number=1, result=result, inside="code_1")


def journal_of(folder: Path, *events: Event, result: RunResult | None = None) -> tuple[Path, Journal]:
    """The journal of a run of code, which ends if there is a result."""
    result = result or code_run()
    memory = AgentMemory("You write code.", [result.steps[0]])
    task = result.steps[0]
    assert isinstance(task, TaskStep)
    journal = Journal.open(agent_name="analyst", run_id=result.run_id, beside=folder)
    begin = RunStarted(
        run_id=result.run_id, agent_name="analyst", model_id="m", max_steps=20, task=task, mode="code"
    )
    for event in (begin, *events):
        if isinstance(event, StepEnded):
            memory.append(event.step)
        journal.add(event, memory)
    assert journal.warning is None
    assert journal.path is not None
    return journal.path, journal


def unfinished(folder: Path, *events: Event) -> Any:
    path, journal = journal_of(folder, *STEP_1, *events)
    del journal  # so that nobody writes on
    (result,) = agent_magic.load(path).runs
    return result


# -- from a record -------------------------------------------------------------------------------


def test_run_that_is_read_from_its_record_writes_code_again() -> None:
    was, back = code_run(), from_record(to_record(code_run()))
    assert back.mode == "code"
    assert [step.is_code for step in back.actions] == [True] * 4
    assert [step.code_action for step in back.actions] == [step.code_action for step in was.actions]
    assert [step.to_messages() for step in back.actions[1:]] == [
        step.to_messages() for step in was.actions[1:]
    ]
    assert [step.to_messages(summary_mode=True) for step in back.actions[1:]] == [
        step.to_messages(summary_mode=True) for step in was.actions[1:]
    ]


def test_calls_that_code_made_are_read_from_a_record() -> None:
    (code,) = from_record(to_record(code_run())).actions[0].tool_results
    assert [
        (one.call.name, one.call.arguments, one.observation, one.notes) for one in code.calls
    ] == snapshot(
        [
            ("mean_price", {"city": "Oslo", "listings": "<Table, 3 rows × 2 columns>"}, "4321.5", ()),
            (
                "mean_price",
                {"city": "Bergen", "listings": "<Table, 3 rows × 2 columns>"},
                "3900.0",
                ("city read as Bergen",),
            ),
        ]
    )


def test_record_of_a_run_from_its_record_is_the_same() -> None:
    record = to_record(code_run())
    again = to_record(from_record(record))
    for step in record["steps"]:
        for one in step.get("calls", []):  # type: ignore[union-attr] # no plans
            one.pop("images", None)  # of these a record alone has a thumbnail only
        step.pop("changes", None)  # type: ignore[typeddict-item] # as in a run of tools
    assert again["steps"] == record["steps"]


def test_count_of_calls_that_a_record_leaves_out_is_read() -> None:
    code = code_call("look()", observation="done", calls=tuple(inner(n) for n in range(70)))
    record = to_record(run(code_step(1, code), mode="code"))
    assert to_record(from_record(record))["steps"] == record["steps"]


HOSTILE: list[Any] = [None, 3, "x", [], {}, [[]], [None, 3], {"calls": [{"calls": [{}]}]}, True]


@pytest.mark.parametrize("what", HOSTILE, ids=str)
@pytest.mark.parametrize("key", ["code", "calls", "calls_left_out", "arguments", "name", "notes", "output"])
def test_record_with_anything_in_its_code_is_read(key: str, what: Any) -> None:
    record = json.loads(json.dumps(to_record(code_run())))
    for step in record["steps"]:
        for one in step.get("calls", []):
            one[key] = what
            for deeper in one["calls"] if isinstance(one.get("calls"), list) else []:
                if isinstance(deeper, dict):
                    deeper[key] = what
    result = from_record(record)
    assert result.mode == "code"
    assert to_record(result)["mode"] == "code"
    assert all(step.to_messages() or True for step in result.actions)


# -- from a journal ------------------------------------------------------------------------------


def test_run_of_code_comes_back_from_its_journal_as_it_was(tmp_path: Path) -> None:
    was = code_run()
    path, _ = journal_of(tmp_path, *code_events()[1:], result=was)
    (back,) = agent_magic.load(path).runs
    assert to_record(back) == to_record(was)
    assert (back.mode, back.actions[0].code_action) == ("code", CODE_1)
    assert [step.to_messages() for step in back.actions[1:]] == [
        step.to_messages() for step in was.actions[1:]
    ]


def test_lines_of_calls_say_which_code_made_them(tmp_path: Path) -> None:
    path, _ = journal_of(tmp_path, *STEP_1, started(inner(1)), ended(inner(1)))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [
        (line["kind"], line.get("inside")) for line in lines if line.get("kind", "").startswith("call")
    ] == [("call_start", None), ("call_start", "code_1"), ("call_end", "code_1")]
    assert next(line for line in lines if line.get("kind") == "run_start")["mode"] == "code"


def test_code_that_the_kernel_did_not_outlive_is_unknown_and_so_is_the_call_that_it_made(
    tmp_path: Path,
) -> None:
    (step,) = unfinished(tmp_path, started(inner(1)), ended(inner(1)), started(inner(2))).actions
    assert (step.is_code, step.code_action) == (True, "look(1)\nlook(2)")
    assert step.model_output == "I look.\n<code>\nlook(1)\nlook(2)\n</code>"
    assert step.model_output[: step.calls_start] == "I look.\n"
    (code,) = step.tool_results
    assert code.fault.message == snapshot(
        "The kernel ended while this code ran: what it had done by then is not known, and it was not run again."
    )
    assert [
        (one.call.id, one.fault and one.fault.message, one.observation) for one in code.calls
    ] == snapshot(
        [
            ("inner_1", None, "seen 1"),
            (
                "inner_2",
                "The kernel ended before this call did: it may have run, what it did is not known, and it was not repeated.",
                "",
            ),
        ]
    )


def test_code_that_had_ended_keeps_its_result_and_its_calls(tmp_path: Path) -> None:
    whole = code_call("look(1)\nlook(2)", observation="done", calls=(inner(1), inner(2)))
    told = [started(inner(1)), ended(inner(1)), started(inner(2)), ended(inner(2))]
    (step,) = unfinished(tmp_path, *told, ToolCallEnded(step_number=1, result=whole)).actions
    (code,) = step.tool_results
    assert (code.observation, code.fault) == ("done", None)
    assert [one.observation for one in code.calls] == ["seen 1", "seen 2"]


def test_code_that_was_not_begun_is_a_reply_alone(tmp_path: Path) -> None:
    path, journal = journal_of(tmp_path, *STEP_1[:2])
    del journal
    (result,) = agent_magic.load(path).runs
    (step,) = result.actions
    assert (step.is_code, step.tool_results, step.calls_start) == (True, (), None)
    assert step.to_messages()[0].content == "I look.\n<code>\nlook(1)\nlook(2)"


def test_lines_of_very_many_calls_are_few_and_short(tmp_path: Path) -> None:
    told: list[Event] = []
    for n in range(3_000):
        result = inner(n, observation="x" * 50_000, output=["y" * 50_000], printed="z" * 50_000)
        told += [started(result), ended(result)]
    path, _ = journal_of(tmp_path, *STEP_1, *told)
    assert path.stat().st_size < 3_000_000
    assert path.read_bytes().count(b'"kind":"call_start"') == 1_001


def test_secrets_are_in_no_line_of_a_call_that_code_made(tmp_path: Path) -> None:
    result = call(KEY, {"key": KEY, KEY: [KEY]}, "i", output={KEY: KEY}, observation=KEY, printed=KEY)
    path, _ = journal_of(tmp_path, *STEP_1, started(result), ended(result))
    assert KEY not in path.read_text(encoding="utf-8")


# -- what a record keeps to go on from -----------------------------------------------------------


def kept(n_calls: int) -> Any:
    step = code_step(
        1, code_call("look()", observation="done", calls=tuple(inner(n) for n in range(n_calls)))
    )
    result = run(step, mode="code")
    memory = AgentMemory("You write code.", [*result.steps])
    return with_memory(to_record(result), memory, result, journal="a.jsonl")


def test_memory_of_code_with_some_calls_is_kept_in_the_record() -> None:
    assert "memory" in kept(100)


def test_memory_of_code_with_very_many_calls_stands_in_the_journal_alone() -> None:
    record = kept(5_000)
    assert "memory" not in record
    assert record["journal"] == "a.jsonl"


def test_events_of_the_samples_end_in_the_run_of_the_samples() -> None:
    last = code_events()[-1]
    assert isinstance(last, RunEnded)
    assert last.result.timing.start == START
