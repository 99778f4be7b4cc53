from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from embedded import wordings
from embedded.penguin_tools import count_on, mean_mass

from agent_magic.core.messages import ToolCall

ROOT = Path(__file__).resolve().parent.parent.parent


def test_wordings_are_sixteen_and_the_tools_are_asked_for_alike():
    tools = [wording["tool"] for wording in wordings.WORDINGS["fitting"]]
    assert (len(tools), tools.count("mean_mass"), len(wordings.WORDINGS["unfitting"])) == (16, 8, 4)


def test_wordings_stand_nowhere_else():
    tasks = [wording["task"] for wording in wordings.WORDINGS["fitting"]] + wordings.WORDINGS["unfitting"]
    own = Path(wordings.__file__).with_name("wordings.json")
    texts = {
        path: path.read_text(encoding="utf-8")
        for folder in ("agent_magic", "notebooks", "tests", "README.md")
        for path in ([ROOT / folder] if (ROOT / folder).is_file() else (ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".md", ".ipynb", ".yaml", ".json"} and path != own
    }
    assert [(path, task) for path, text in texts.items() for task in tasks if task in text] == []


def test_examples_share_no_value_with_the_wordings():
    values = {value for wording in wordings.WORDINGS["fitting"] for value in wording["arguments"].values()}
    examples = f"{mean_mass.__doc__} {count_on.__doc__}"
    assert [value for value in values if re.search(rf"\b{value}\b", examples, re.IGNORECASE)] == []


@pytest.mark.embedded
@pytest.mark.parametrize("value", [4444.5, 17.25])
def test_answer_is_what_the_tool_returned(value: float):
    assert wordings.ask_with_value(value).value == value


@pytest.mark.embedded
def test_task_that_no_tool_fits_gets_a_call_all_the_same():
    (first, *_) = wordings.ask(wordings.WORDINGS["unfitting"][0]).actions
    (call,) = first.tool_calls
    assert isinstance(call, ToolCall)
    assert call.name in ("mean_mass", "count_on")


@pytest.mark.embedded
def test_model_gets_twelve_of_sixteen_wordings_right_and_the_command_prints_each():
    done = subprocess.run(
        [sys.executable, "-m", "tests.embedded.wordings"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert [w["task"] for w in wordings.WORDINGS["fitting"] if w["task"] not in done.stdout] == []
    (count,) = re.findall(r"^(\d+) of 16 right", done.stdout, re.MULTILINE)
    assert int(count) >= 12
    assert done.stdout.count("(answered)") == 20
