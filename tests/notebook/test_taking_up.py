"""A notebook goes on after its kernel was killed in the middle of a run."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from page import Page, need_built_view

import agent_magic

pytestmark = pytest.mark.kernel

SET_UP = """
%load_ext agent_magic
import os, time
import agent_magic
from agent_magic import ScriptedModel
call, final = ScriptedModel.calls, ScriptedModel.final

def wait(seconds: float) -> str:
    "Wait.\\n\\nArgs:\\n    seconds: how long"
    time.sleep(seconds)
    return f"waited {seconds}"

m = ScriptedModel(["1. wait"] + [call(("wait", {"seconds": 0.2 + n / 100})) for n in range(9)] + [final("done")])
"""
CELL = "%%agent bot --model @m --tools wait --plan 20\nWait for it."


@pytest.fixture
def beside(kernel, tmp_path):
    """A kernel that was told that its notebook stands in a folder; gives the folder."""
    os.environ["JPY_SESSION_NAME"] = str(tmp_path / "work.ipynb")  # of kernels that are started from now on
    kernel.execute(f"import os\nos.environ['JPY_SESSION_NAME'] = {str(tmp_path / 'work.ipynb')!r}")
    assert kernel.execute(SET_UP).error is None
    yield tmp_path
    del os.environ["JPY_SESSION_NAME"]
    kernel.execute("os.environ.pop('JPY_SESSION_NAME', None)")


def journals(folder: Path) -> list[Path]:
    return sorted((folder / ".agent_magic").glob("*.jsonl"), key=lambda file: file.stat().st_mtime)


def kill_in_the_middle(kernel, folder: Path) -> int:
    """Run the cell, kill the kernel after some steps, start another; gives the number of whole steps."""
    pid = int(kernel.execute("print(os.getpid())").stdout)
    page = Page(kernel, CELL)
    page.wait_for(lambda: page.state and len(page.steps) >= 4)
    os.kill(pid, signal.SIGKILL)
    time.sleep(0.5)
    kernel.restart()
    kernel.execute(f"import os\nos.environ['JPY_SESSION_NAME'] = {str(folder / 'work.ipynb')!r}")
    assert kernel.execute(SET_UP).error is None
    (run,) = agent_magic.load(journals(folder)[-1]).runs
    return sum(step.fault is None for step in run.actions)


@pytest.mark.parametrize(
    "resume", ["%agent resume bot", "%%agent bot --resume", "%%agent bot --resume\nBe quick."]
)
def test_run_that_was_killed_is_resumed_to_an_answer(kernel, beside, resume):
    need_built_view()
    n_whole = kill_in_the_middle(kernel, beside)
    kernel.execute("m = ScriptedModel([call(('wait', {'seconds': 0})), final('went on')])")
    assert kernel.execute("%%agent bot --define --model @m --tools wait\n").error is None
    taken = kernel.execute(f"bot.take_up(agent_magic.load({str(beside / '.agent_magic')!r}))")
    assert taken.result == "()"
    assert "interrupted" in kernel.execute("bot.runs").result
    assert kernel.execute("bot.preview(1).is_exact").result == "True"
    done = kernel.execute(resume)
    assert done.error is None
    assert done.result == "'went on'"
    told = kernel.execute(
        "import json\nfirst, last = bot.runs\nprint(json.dumps([first.run_id == last.resumed_from, last.task, "
        "[s.step_number for r in bot.runs for s in r.actions], m.requests[0].messages[-1]['content']]))"
    )
    is_resumed, task, numbers, said = json.loads(told.stdout)
    assert (is_resumed, task) == (True, "Wait for it.")
    assert numbers == list(range(1, n_whole + 4))  # one was being made
    assert said.startswith("Be quick." if "quick" in resume else "The run was interrupted.")
    # The new journal stands by itself.
    saved = agent_magic.load(journals(beside)[-1])
    assert [run.status for run in saved.runs] == ["interrupted", "answered"]
    assert [step.step_number for run in saved.runs for step in run.actions] == numbers
