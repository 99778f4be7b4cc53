from __future__ import annotations

import json
import os
import signal
import stat
import time
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from page import Page, need_built_view

import agent_magic
from agent_magic.core.steps import ActionStep

pytestmark = pytest.mark.kernel

SET_UP = """
%load_ext agent_magic
import os, time
from agent_magic import ScriptedModel
call, final = ScriptedModel.calls, ScriptedModel.final

def wait(seconds: float) -> str:
    "Wait.\\n\\nArgs:\\n    seconds: how long"
    time.sleep(seconds)
    return f"waited {seconds}"

m = ScriptedModel([call(("wait", {"seconds": 0.2 + n / 100})) for n in range(9)] + [final("done")])
"""
CELL = "%%agent bot --model @m --tools wait\nWait for it."


@pytest.fixture
def beside(kernel, tmp_path):
    """A kernel that was told that its notebook stands in a folder; gives the folder."""
    kernel.execute(f"import os\nos.environ['JPY_SESSION_NAME'] = {str(tmp_path / 'work.ipynb')!r}")
    assert kernel.execute(SET_UP).error is None
    yield tmp_path
    kernel.execute("os.environ.pop('JPY_SESSION_NAME', None)")


def journals(folder: Path) -> list[Path]:
    return sorted((folder / ".agent_magic").glob("*.jsonl"))


def kinds(file: Path) -> list[str]:
    return [json.loads(line).get("kind", "head") for line in file.read_text().splitlines()]


def test_run_is_kept_beside_the_notebook_in_a_folder_that_git_ignores(kernel, beside):
    kernel.execute("m = ScriptedModel([call(('wait', {'seconds': 0})), final('done')])")
    kernel.execute(CELL)
    (file,) = journals(beside)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert (file.parent / ".gitignore").read_text().split() == ["*"]
    assert kinds(file) == snapshot(
        [
            "head",
            "run_start",
            "step_start",
            "model_reply",
            "call_start",
            "call_end",
            "step_end",
            "step_start",
            "model_reply",
            "step_end",
            "step_end",
            "run_end",
        ]
    )


def test_next_run_of_the_agent_goes_on_in_the_same_file(kernel, beside):
    kernel.execute("m = ScriptedModel([call(('wait', {'seconds': 0})), final('one'), final('two')])")
    kernel.execute(CELL)
    kernel.execute("%%agent bot\nAnd then?")
    (file,) = journals(beside)
    saved = agent_magic.load(file)
    assert [run.value for run in saved.runs] == ["one", "two"]


def test_edit_after_the_run_is_on_disk_with_the_next_cell(kernel, beside):
    kernel.execute("m = ScriptedModel([call(('wait', {'seconds': 0})), final('one')])")
    kernel.execute(CELL)
    (file,) = journals(beside)
    kernel.execute("1 + 1")
    before = kinds(file)
    assert before[-1] == "run_end"  # a cell that changed nothing leaves no line
    kernel.execute("bot.memory.set_view(1, 'hidden')")
    assert kinds(file) == [*before, "change"]
    assert agent_magic.load(file).memory.view_of(1) == "hidden"
    kernel.execute("%unload_ext agent_magic\nbot.memory.set_view(1, None)")
    assert kinds(file) == [*before, "change"]


def test_journal_can_be_turned_off(kernel, beside):
    kernel.execute("%config AgentMagics.journal = False\nm = ScriptedModel([final('done')])")
    assert kernel.execute(CELL).error is None
    assert journals(beside) == []
    kernel.execute("%config AgentMagics.journal = True")


def test_folder_that_cannot_be_written_is_said_once_and_the_run_goes_on(kernel, beside):
    (beside / ".agent_magic").write_text("a file of this name")
    kernel.execute("m = ScriptedModel([final('done')])")
    done = kernel.execute(CELL)
    assert done.error is None
    assert "done" in done.displays[0]["text/plain"]


def test_kernel_killed_in_the_middle_of_a_run_leaves_every_finished_step(kernel, beside):
    need_built_view()
    kernel.execute("open('pid', 'w').write(str(os.getpid()))")
    pid = int(kernel.execute("print(os.getpid())").stdout)
    page = Page(kernel, CELL)
    page.wait_for(lambda: page.state and len(page.steps) >= 3)
    os.kill(pid, signal.SIGKILL)
    shown = len(page.steps)
    while kernel.is_alive():
        time.sleep(0.05)
    (file,) = journals(beside)
    saved = agent_magic.load(file)
    (run,) = saved.runs
    assert run.status == "interrupted"
    assert run.error is not None
    assert run.error.message == snapshot("The kernel ended during this run.")
    finished = [step for step in run.steps if isinstance(step, ActionStep) and step.fault is None]
    assert len(finished) >= shown
    assert [step.observations for step in finished] == [
        f"waited {0.2 + n / 100}" for n in range(len(finished))
    ]
    kernel.restart()
    kernel.execute(SET_UP)
    went_on = kernel.execute(
        f"import agent_magic\nsaved = agent_magic.load({str(file)!r})\n"
        "bot = agent_magic.ToolCallingAgent(name='bot', tools=[wait], model=ScriptedModel([final('went on')]))\n"
        "bot.memory = saved.memory\n"
        "print(len(bot.memory.steps), all(bot.memory.is_rebuilt_exactly(r) for r in bot.memory.requests))"
    )
    assert went_on.error is None
    n_before, is_exact = went_on.stdout.split()
    assert int(n_before) >= shown + 1
    assert is_exact == "True"
    done = kernel.execute("%%agent bot --as said\nGo on.")
    assert done.error is None
    assert kernel.execute("said, len(bot.memory.steps) > " + n_before).result == "('went on', True)"
    assert "waited 0.2" in kernel.execute("print(bot.preview(1).messages)").stdout
