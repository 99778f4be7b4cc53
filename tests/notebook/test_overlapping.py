"""A run of an agent that a tool starts while another run of it goes on: neither gets what is the other's."""

from __future__ import annotations

import pytest
from page import Page, need_built_view

import agent_magic

pytestmark = pytest.mark.kernel

SET_UP = """
%load_ext agent_magic
import threading, time
from agent_magic import ScriptedModel
call, final = ScriptedModel.calls, ScriptedModel.final
go_on = threading.Event()

def first() -> str:
    "Begin."
    return "begun"

def nest() -> str:
    "Have another run of this agent do something."
    return str(bot.run("Do the inner task.", reset=False).value)

def wait() -> str:
    "Wait until it goes on."
    return str(go_on.wait(3))

def reply(request):
    told = str(request.messages)
    if "inner task" in str(request.messages[-1]["content"]):
        return final("inner answer")
    for name in ("first", "nest", "wait"):
        if f"'{name}'" not in told:
            return call((name, {}))
    return final("outer answer")

m = ScriptedModel([reply] * 9)
"""
CELL = "%%agent bot --model @m --tools first,nest,wait\nDo the outer task."


@pytest.fixture
def page(kernel, tmp_path):
    """The outer run, after the inner one."""
    need_built_view()
    kernel.execute(f"import os\nos.environ['JPY_SESSION_NAME'] = {str(tmp_path / 'work.ipynb')!r}")
    assert kernel.execute(SET_UP).error is None
    page = Page(kernel, CELL)
    page.wait_for(lambda: page.state and len(page.steps) >= 2 and page.now.get("running"))
    yield page
    kernel.execute("os.environ.pop('JPY_SESSION_NAME', None)")


def test_what_a_page_lays_upon_a_step_goes_into_the_run_that_it_shows(kernel, page, tmp_path):
    assert page.ask("set_view", place=0, view="summary")["ok"]
    lens = page.ask("lens", place=1)
    assert lens["ok"]
    assert "outer task" in str(lens["data"]["normal"])
    assert "inner task" not in str(lens["data"]["normal"])
    assert page.ask("edit_step", place=0, changes={"observations": "seen by hand"})["ok"]
    page.finish(60)
    steps = page.record["steps"]
    assert steps[0]["laid_on"]["view"] == "summary"
    assert steps[0]["calls"][0]["observation"] == "seen by hand"
    assert page.record["answer"]["text"] == "outer answer"


def test_journal_has_the_outer_run_whole(kernel, page, tmp_path):
    page.finish(60)
    (file,) = (tmp_path / ".agent_magic").glob("*.jsonl")
    saved = agent_magic.load(file)
    assert [(run.value, len(run.actions)) for run in saved.runs] == [("outer answer", 4)]
    assert len(saved.memory.requests) == 4
    assert all(saved.memory.is_rebuilt_exactly(request) for request in saved.memory.requests)
    assert saved.records == [{k: v for k, v in page.record.items() if k not in ("memory", "journal")}]
