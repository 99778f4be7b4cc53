from __future__ import annotations

import json
import time
from typing import Any

import pytest
from inline_snapshot import snapshot
from page import need_built_view

pytestmark = pytest.mark.kernel

WIDGET = "application/vnd.jupyter.widget-view+json"
SET_UP = """
%load_ext agent_magic
import gc, threading, time, weakref, agent_magic.view, ipywidgets
from agent_magic import ScriptedModel, ToolCallingAgent
call, final = ScriptedModel.calls, ScriptedModel.final

def add(a: int, b: int) -> int:
    "Add.\\n\\nArgs:\\n    a: one\\n    b: other"
    return a + b

def wait(seconds) -> str:
    "Wait."
    time.sleep(seconds)
    return f"waited-{seconds}"

def until(met, timeout_s=10):
    end = time.monotonic() + timeout_s
    while not met() and time.monotonic() < end:
        time.sleep(0.01)
    return met()

steps = [call(("add", {"a": 1, "b": 2})), final(3)]
bot = ToolCallingAgent([add, wait], ScriptedModel(steps * 5), name="bot")
"""


@pytest.fixture
def ready(kernel):
    """A kernel with our magics and an agent, `bot`, with two tools."""
    assert kernel.execute(SET_UP).error is None
    return kernel


def value_of(kernel, code: str) -> Any:
    """The JSON of an expression's value."""
    done = kernel.execute(f"import json; print(json.dumps({code}))")
    assert done.error is None, done.error
    return json.loads(done.stdout)


class Page:
    """A page that shows the panel `w`, and asks on the control channel."""

    def __init__(self, kernel) -> None:
        self.kernel = kernel
        self.id = value_of(kernel, "w.snapshot['id']")
        self.nonce = self.ask("hello")["data"]["nonce"]

    def ask(self, verb: str, **what: Any) -> dict[str, Any]:
        request = {"v": 1, "id": "r", "verb": verb, "run_id": self.id, "nonce": getattr(self, "nonce", "")}
        return self.kernel.ask(request | what)


@pytest.fixture
def page(ready):
    """The panel of `bot`, which has two runs, in a page."""
    assert ready.execute("bot.run('One'); bot.run('Two', reset=False)").error is None
    assert ready.execute("w = agent_magic.view.widget(bot); seen = []").error is None
    assert ready.execute("w.observe(lambda change: seen.append(change.new), 'snapshot')").error is None
    return Page(ready)


def output_of(kernel, code: str, *, takes_input: bool) -> dict[str, Any]:
    done = kernel.finish(kernel.begin(code, takes_input=takes_input))
    assert done.error is None
    return next(o["data"] for o in done.outputs if o["output_type"] == "execute_result")


def test_agent_as_a_value_is_its_panel_beside_the_static_forms(ready):
    need_built_view()
    data = output_of(ready, "bot", takes_input=True)
    assert set(data) == {WIDGET, "text/html", "text/plain"}
    assert value_of(ready, f"ipywidgets.Widget.widgets[{data[WIDGET]['model_id']!r}].kind") == "agent"


def test_agent_as_a_value_is_static_where_nobody_looks(ready):
    ready.execute("bot.run('Add')")
    data = output_of(ready, "bot", takes_input=False)
    assert set(data) == {"text/html", "text/plain"}
    assert data["text/plain"] == snapshot("""\
bot · last run answered · scripted
1 run, 2 steps in memory · max_steps 20 · max_tool_threads 128 · state "named"
Tools
    add   Add.
    wait  Wait.
! Tool 'wait': parameter 'seconds' has no type hint, so any value is taken. Add one to its signature, e.g. seconds: str
! Tool 'wait': parameter 'seconds' has no description. Add to its docstring: seconds: what it means
Memory
    Add · answered · 2 steps
        1. add(a=1, b=2) → 3
        2. final_answer(answer=3)
        Answer: 3\
""")
    assert value_of(ready, "len(bot.settings._observers)") == 0


def test_panel_shows_memory_settings_state_and_tools(page):
    shown = value_of(page.kernel, "w.snapshot")
    assert {key: shown[key] for key in ("settings", "runs", "is_running", "names")} == snapshot(
        {
            "settings": {
                "summary_mode": "plan",
                "planning_interval": None,
                "is_paused": False,
                "max_steps": 20,
                "approve": "never",
                "pending": {},
            },
            "runs": [
                {
                    "task": "One",
                    "status": "answered",
                    "steps": [
                        {"place": 0, "kind": "task", "title": "One"},
                        {"place": 1, "kind": "action", "title": "add(a=1, b=2) → 3", "step_number": 1},
                        {"place": 2, "kind": "action", "title": "final_answer(answer=3)", "step_number": 2},
                        {"place": 3, "kind": "answer", "title": "3"},
                    ],
                },
                {
                    "task": "Two",
                    "status": "answered",
                    "steps": [
                        {"place": 4, "kind": "task", "title": "Two"},
                        {"place": 5, "kind": "action", "title": "add(a=1, b=2) → 3", "step_number": 1},
                        {"place": 6, "kind": "action", "title": "final_answer(answer=3)", "step_number": 2},
                        {"place": 7, "kind": "answer", "title": "3"},
                    ],
                },
            ],
            "is_running": False,
            "names": [],
        }
    )
    assert [tool["name"] for tool in shown["tools"]] == ["add", "wait"]
    assert shown["tools"][1]["weaknesses"] == snapshot(
        [
            "Tool 'wait': parameter 'seconds' has no type hint, so any value is taken. Add one to its signature, e.g.  seconds: str",
            "Tool 'wait': parameter 'seconds' has no description. Add to its docstring:  seconds: what it means",
        ]
    )


def test_page_sets_a_setting_while_a_cell_runs_and_the_panel_shows_it(page):
    cell = page.kernel.begin(
        "print('begun', flush=True)\nprint(until(lambda: w.snapshot['settings']['max_steps'] == 7))"
    )
    page.kernel.wait_for_output(cell, "begun")
    assert page.ask("set", name="max_steps", value=7) == {
        "v": 1,
        "ok": True,
        "effective": "from the next run",
    }
    assert page.kernel.finish(cell).stdout == "begun\nTrue\n"


def test_page_sets_a_setting_while_a_cell_runs_and_a_linked_slider_moves(page):
    page.kernel.execute(
        "slider = ipywidgets.IntSlider(min=1, max=50)\n"
        "link = ipywidgets.link((agent_magic.view.traits(bot), 'max_steps'), (slider, 'value'))"
    )
    slider = value_of(page.kernel, "slider.model_id")
    cell = page.kernel.begin(
        "print('begun', flush=True)\nprint(until(lambda: slider.value == 9)); time.sleep(0.5)"
    )
    page.kernel.wait_for_output(cell, "begun")
    page.ask("set", name="max_steps", value=9)
    sent = []
    while not sent:
        message = page.kernel.client.get_iopub_msg(timeout=20)
        assert (
            message["content"].get("execution_state") != "idle" or message["parent_header"]["msg_id"] != cell
        )
        if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == slider:
            sent.append(message["content"]["data"]["state"])
    assert sent == [{"value": 9}]
    page.kernel.finish(cell)


def test_slider_of_the_person_turns_the_setting(page):
    page.kernel.execute(
        "slider = ipywidgets.IntSlider(min=1, max=50)\n"
        "link = ipywidgets.link((agent_magic.view.traits(bot), 'max_steps'), (slider, 'value'))"
    )
    session, channel = page.kernel.client.session, page.kernel.client.shell_channel
    data = {"method": "update", "state": {"value": 31}, "buffer_paths": []}
    comm_id = value_of(page.kernel, "slider.model_id")
    channel.send(session.msg("comm_msg", {"comm_id": comm_id, "data": data}))
    assert value_of(page.kernel, "until(lambda: bot.max_steps == 31)") is True
    assert value_of(page.kernel, "w.snapshot['settings']['max_steps']") == 31


def test_page_hides_and_pins_steps_of_an_earlier_run(page):
    runs = value_of(page.kernel, "w.snapshot['runs']")
    first, second = (run["steps"][1]["place"] for run in runs)
    assert page.ask("set_view", place=first, view="hidden")["ok"] is True
    assert page.ask("set_pinned", place=second, value=True)["ok"] is True
    code = "[[entry.view, entry.is_pinned] for entry in bot.memory.entries]"
    expected = [[None, False], ["hidden", False], *[[None, False]] * 3, [None, True], *[[None, False]] * 2]
    assert value_of(page.kernel, code) == expected
    page.kernel.execute("pass")
    shown = value_of(page.kernel, "w.snapshot['runs']")
    assert [run["steps"][1].get("laid_on") for run in shown] == [{"view": "hidden"}, {"is_pinned": True}]


def test_place_of_a_forgotten_step_is_never_that_of_another(page):
    place = value_of(page.kernel, "w.snapshot['runs'][0]['steps'][1]['place']")
    page.kernel.execute("bot.run('Three')")
    refused = page.ask("set_view", place=place, view="hidden")
    assert refused["error"] == snapshot("The agent remembers this step no more. Show the agent again.")
    assert value_of(page.kernel, "[entry.view for entry in bot.memory.entries]") == [None] * 4


def test_edited_step_keeps_its_place(page):
    place = value_of(page.kernel, "w.snapshot['runs'][0]['steps'][1]['place']")
    assert page.ask("edit_step", place=place, changes={"observations": "4"})["ok"] is True
    page.kernel.execute("pass")
    step = value_of(page.kernel, "w.snapshot['runs'][0]['steps'][1]")
    assert (step["place"], step["title"]) == (place, "add(a=1, b=2) → 4")
    assert step["laid_on"]["edited_by"] == "person"
    assert page.ask("undo")["ok"] is True
    page.kernel.execute("pass")
    assert value_of(page.kernel, "w.snapshot['runs'][0]['steps'][1]['title']") == "add(a=1, b=2) → 3"


def test_lens_looks_at_the_run_of_the_step(page):
    runs = value_of(page.kernel, "w.snapshot['runs']")
    told = []
    for run in runs:
        data = page.ask("lens", place=run["steps"][1]["place"])["data"]
        parts = [part["text"] for message in data["normal"]["messages"] for part in message["parts"]]
        told.append([text for text in parts if text in ("One", "Two")])
    assert told == [["One"], ["One", "Two"]]
    ahead = page.ask("lens", place=None, kind="act")["data"]
    assert (ahead["normal"]["is_past"], ahead["summary"]["summary_mode"]) == (False, True)
    refused = page.ask("lens", place=runs[0]["steps"][0]["place"])
    assert refused["error"] == snapshot("No call of a model made the task. Look at a step or a plan.")


def test_panel_follows_a_run_in_a_later_cell(page):
    page.kernel.execute(
        "bot.model = ScriptedModel([call(('wait', {'seconds': 0.6})), *steps], latency_s=0.3)"
    )
    cell = page.kernel.begin("%%agent bot\nWait and add.")
    page.kernel.finish(cell)
    titles = [
        [step["title"] for step in shown["runs"][-1]["steps"]] for shown in value_of(page.kernel, "seen")
    ]
    assert ["Wait and add.", "wait(seconds=0.6) → waited-0.6"] in titles
    assert titles[-1] == snapshot(
        [
            "Wait and add.",
            "wait(seconds=0.6) → waited-0.6",
            "add(a=1, b=2) → 3",
            "final_answer(answer=3)",
            "3",
        ]
    )
    assert {shown["is_running"] for shown in value_of(page.kernel, "seen")} == {True, False}
    assert value_of(page.kernel, "[run['status'] for run in w.snapshot['runs']]") == ["answered"] * 3


def test_settings_say_from_which_step_they_hold(page):
    page.kernel.execute("bot.model = ScriptedModel([call(('wait', {'seconds': 1.5})), *steps])")
    cell = page.kernel.begin("%%agent bot\nWait and add.")
    page.kernel.wait_for_output(cell, "calling wait")
    assert page.ask("set", name="planning_interval", value=4)["effective"] == "from step 2"
    assert page.ask("set", name="summary_mode", value="all")["effective"] == "from the next call"
    page.kernel.finish(cell)
    pending = [shown["settings"]["pending"] for shown in value_of(page.kernel, "seen")]
    assert {"planning_interval": "from step 2", "summary_mode": "from the next call"} in pending
    assert pending[-1] == {}


def test_page_stops_a_run_of_a_later_cell(page):
    page.kernel.execute("bot.model = ScriptedModel([call(('wait', {'seconds': 30}))])")
    assert page.ask("stop")["error"] == "No run of bot goes on."
    cell = page.kernel.begin("%%agent bot\nWait long.")
    page.kernel.wait_for_output(cell, "calling wait")
    began = time.monotonic()
    assert page.ask("stop")["effective"] == "now"
    page.kernel.finish(cell)
    assert time.monotonic() - began < 10
    assert value_of(page.kernel, "w.snapshot['runs'][-1]['status']") == "interrupted"


def test_names_are_shown_when_the_cell_ends_bounded_and_without_secrets(page):
    page.kernel.execute("import os; os.environ['MY_API_KEY'] = 'correct-horse-battery'")
    page.kernel.execute(
        "box = {'big': list(range(10_000)), 'key': 'correct-horse-battery'}\n"
        "bot = agent_magic.ToolCallingAgent([], ScriptedModel([]), state={'box': box})\n"
        "w = agent_magic.view.widget(bot)"
    )
    (name,) = value_of(page.kernel, "w.snapshot['names']")
    assert name == snapshot(
        {
            "name": "box",
            "type": "dict",
            "shape": "2 items",
            "preview": "{'big': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, ...], 'key': '[redacted]'}",
        }
    )
    page.kernel.execute("box.clear()")
    assert value_of(page.kernel, "w.snapshot['names'][0]['preview']") == "{}"


def test_panel_keeps_no_value_alive(page):
    page.kernel.execute("class Big: pass\nbig = Big(); gone = weakref.ref(big)")
    page.kernel.execute("bot.state.base.bind('big', big); bot.state.open('big')")
    assert value_of(page.kernel, "[name['name'] for name in w.snapshot['names']]") == ["big"]
    page.kernel.execute("del bot.state.base['big'], big; gc.collect()")
    assert value_of(page.kernel, "gone() is None") is True


def test_tool_that_was_defined_anew_or_deleted_is_shown_so(ready):
    ready.execute("%%agent helper --define --tools add,wait\nHelp.")
    ready.execute("w = agent_magic.view.widget(helper)")
    ready.execute("def add(a: int) -> int:\n    'Add one.'\n    return a + 1\ndel wait")
    shown = value_of(ready, "w.snapshot")
    assert [tool["description"] for tool in shown["tools"]] == ["Add one."]
    assert shown["tools_missing"] == ["wait"]


def test_panel_of_an_agent_that_is_gone_ends(page):
    page.kernel.execute("gone = weakref.ref(bot); del bot; gc.collect()")
    assert value_of(page.kernel, "[gone() is None, w.is_live]") == [True, False]
    assert page.ask("set", name="max_steps", value=3)["error"] == snapshot(
        "This kernel does not know the run: it was restarted since, or another one ran it."
    )


def test_closed_panels_leave_nothing_behind(page):
    count = "[len(bot.settings._observers), len(bot.callbacks)]"
    page.kernel.execute("other = agent_magic.view.widget(bot)")
    assert value_of(page.kernel, count) == [1, 1]
    page.kernel.execute("w.close()")
    assert value_of(page.kernel, count) == [1, 1]
    page.kernel.execute("other.close()")
    assert value_of(page.kernel, count) == [0, 0]
    assert page.ask("hello")["ok"] is False


def test_oldest_of_many_panels_of_one_agent_stands_still(page):
    page.kernel.execute("more = [agent_magic.view.widget(bot) for _ in range(8)]; bot.max_steps = 3")
    live = value_of(page.kernel, "[[p.is_live, p.snapshot['settings']['max_steps']] for p in [w, *more]]")
    assert live == [[False, 20], *[[True, 3]] * 8]


def test_unloading_ends_all_panels(page):
    assert page.kernel.execute("%unload_ext agent_magic").error is None
    assert value_of(page.kernel, "[w.is_live, len(bot.settings._observers)]") == [False, 0]


def test_widget_of_a_run_keeps_its_controls_and_what_was_edited(ready):
    need_built_view()
    ready.finish(ready.begin("%%agent bot\nAdd.", takes_input=True))
    ready.execute("w = agent_magic.view.widget(bot.runs[-1], step=1)")
    run = value_of(ready, "{'run_id': w.snapshot['run']['run_id'], 'nonce': w.nonce}")
    asked = {"v": 1, "id": "r", **run, "place": 0}
    assert ready.ask(asked | {"verb": "set_pinned", "value": True})["ok"] is True
    assert ready.ask(asked | {"verb": "edit_step", "changes": {"observations": "5"}})["ok"] is True
    shown = value_of(ready, "agent_magic.view.widget(bot.runs[-1]).snapshot")
    assert shown["run"]["steps"][0]["calls"][0]["observation"] == "5"
    assert shown["run"]["steps"][0]["laid_on"]["is_pinned"] is True
    assert shown["settings"]["max_steps"] == 20
