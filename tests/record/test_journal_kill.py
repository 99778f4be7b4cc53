"""A kernel that is killed with -9 at any moment: what the journal has then."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import agent_magic
from agent_magic import ScriptedModel, ToolCallingAgent
from agent_magic.core.steps import ActionStep, FinalAnswerStep, RunStep

_N = 100
_HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills children that it forks")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of children that were killed, each at another moment from the first event to the last."""
    folder = tmp_path_factory.mktemp("killed")
    paths = os.pathsep.join([str(_HERE.parent), os.environ["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, str(_HERE / "killing.py"), str(folder), "1", "125", str(_N)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    codes = json.loads(done.stdout)
    assert codes.count(-9) >= 0.9 * _N
    return [folder / str(k) for k, code in enumerate(codes) if code == -9]


def _told(folder: Path) -> list[str]:
    told = folder / "told"
    return told.read_text().splitlines() if told.exists() else []


def _calls(steps: tuple[RunStep, ...]) -> list[tuple[int, str]]:
    """All calls by what they asked for, and what the model is told of each."""
    return [
        (result.call.arguments["n"], result.to_text())  # type: ignore[index,call-overload]  # they are ours
        for step in steps
        if isinstance(step, ActionStep)
        for result in step.tool_results
        if result.call.name == "work"
    ]


def test_no_journal_is_torn_and_no_finished_step_is_lost(killed: list[Path]) -> None:
    n_interrupted = 0
    for folder in killed:
        if not list(folder.glob(".agent_magic/*.jsonl")):
            assert _told(folder) == []
            continue
        saved = agent_magic.load(folder)
        if not saved.runs:  # it was killed before its first line
            assert _told(folder) == []
            continue
        (run,) = saved.runs
        n_told = _told(folder).count("step")
        finished = [
            step
            for step in run.steps
            if isinstance(step, FinalAnswerStep) or (isinstance(step, ActionStep) and not step.is_interrupted)
        ]
        assert len(finished) in (n_told, n_told + 1, n_told + 2)  # it may be killed before it could tell
        assert saved.warnings == ()
        assert saved.memory.steps == run.steps
        assert all(saved.memory.is_rebuilt_exactly(request) for request in saved.memory.requests)
        if run.status == "interrupted":
            n_interrupted += 1
            assert run.error is not None
            assert run.error.message == "The kernel ended during this run."
    assert n_interrupted > 0.5 * len(killed)


def test_no_call_that_ran_is_told_as_not_run(killed: list[Path]) -> None:
    n_unknown = 0
    for folder in killed:
        ran = [int(line.split()[1]) for line in _told(folder) if line.startswith("call")]
        if not ran:
            continue
        told = dict(_calls(agent_magic.load(folder).runs[0].steps))
        for n in ran:
            assert told[n] == f"did {n}" or told[n].startswith("The kernel ended before this call did:")
            n_unknown += told[n] != f"did {n}"
        for n, text in told.items():
            if text == "The call was not run: the kernel ended before it.":
                assert n not in ran
    assert n_unknown > 0


def test_memory_of_a_killed_run_goes_on_and_repeats_no_call(killed: list[Path]) -> None:
    folder = next(
        folder for folder in killed if len([line for line in _told(folder) if line.startswith("call")]) >= 4
    )
    ran: list[int] = []

    def work(n: int) -> str:
        """Work.

        Args:
            n: how hard.
        """
        ran.append(n)
        return f"did {n}"

    saved = agent_magic.load(folder)
    model = ScriptedModel([ScriptedModel.calls(("work", {"n": 99})), ScriptedModel.final("done")])
    agent = ToolCallingAgent(tools=[work], model=model, name="analyst")
    agent.memory = saved.memory
    result = agent.run("Go on.", reset=False)
    assert (result.status, ran) == ("answered", [99])
    sent = model.requests[0].messages
    asked = [message["content"] for message in sent if message["role"] == "user"]
    assert asked[-2:] == ["The kernel ended during this run.", "Go on."]
    ids = [call["id"] for message in sent for call in message.get("tool_calls", [])]
    assert ids == [message["tool_call_id"] for message in sent if message["role"] == "tool"]
    assert len(set(ids)) == len(ids)
