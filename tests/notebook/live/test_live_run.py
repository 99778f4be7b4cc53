from __future__ import annotations

import time

import pytest
from inline_snapshot import snapshot
from page import RECORD, WIDGET, Page, need_built_view

pytestmark = pytest.mark.kernel

SET_UP = """
%load_ext agent_magic
import time
from agent_magic import ScriptedModel
call, final = ScriptedModel.calls, ScriptedModel.final

def wait(seconds: float) -> str:
    "Wait.\\n\\nArgs:\\n    seconds: how long"
    time.sleep(seconds)
    return f"waited {seconds}"

def slow(n: int, seconds: float = 0.3) -> ScriptedModel:
    return ScriptedModel([call(("wait", {"seconds": seconds}))] * n + [final("done")])
"""
CELL = "%%agent bot --model @m --tools wait\nWait."


@pytest.fixture
def ready(kernel):
    """A kernel with our magics, a model's parts and a tool that takes its time."""
    need_built_view()
    assert kernel.execute(SET_UP).error is None
    return kernel


def n_steps(page: Page) -> int:
    return len(page.steps) if page.state else 0


def test_run_is_a_widget_while_it_goes_on_and_a_record_from_its_end_on(ready):
    ready.execute("m = slow(2)")
    page = Page(ready, CELL).finish()
    first = next(content["data"] for kind, content in page.sent if kind == "display_data")
    assert set(first) == {WIDGET, RECORD, "text/html", "text/plain"}
    assert first[WIDGET]["model_id"] == page.comm_id
    assert first[RECORD]["status"] == "running"
    assert first[RECORD]["steps"] == []
    assert first[RECORD]["run_id"] == page.record["run_id"]
    assert first[RECORD]["journal"].endswith(".jsonl")
    assert [set(bundle) for bundle in page.outputs] == [{RECORD, "text/html", "text/markdown", "text/plain"}]
    assert page.record["status"] == "answered"
    assert page.is_closed
    assert page.sent_after_close == []
    assert page.steps == dict(enumerate(page.record["steps"]))


def test_messages_add_and_are_numbered_without_a_gap(ready):
    ready.execute("m = slow(3)")
    page = Page(ready, CELL).finish()
    n_first = page.messages[0]["n"]
    assert [message["n"] for message in page.messages] == list(range(n_first, n_first + len(page.messages)))
    assert page.messages[-1]["kind"] == "end"
    assert page.messages[-1]["head"]["answer"] == {"type": "str", "text": "done"}


def test_toggles_in_a_running_cell_hold_from_where_they_say(ready):
    ready.execute(
        "act = [call(('wait', {'seconds': 1.5}))]\n"
        "m = ScriptedModel(act * 2 + ['1. Wait.', *act, '1. Wait on.', *act * 2, final('done')])"
    )
    page = Page(ready, CELL)
    page.wait_for(lambda: page.now.get("doing") == "calling" and n_steps(page) == 1)
    asked_at = time.monotonic()
    planning = page.ask("set", name="planning_interval", value=1)
    summary = page.ask("set", name="summary_mode", value="all")
    assert time.monotonic() - asked_at < 1.4, "answered while the tool still runs"
    assert planning == {"v": 1, "ok": True, "effective": "from step 3"}
    assert summary == {"v": 1, "ok": True, "effective": "from the next call"}
    page.wait_for(lambda: len(page.settings["pending"]) == 2)
    assert page.settings["pending"] == {
        "planning_interval": "from step 3",
        "summary_mode": "from the next call",
    }
    page.wait_for(lambda: n_steps(page) == 5 and page.now.get("doing") == "calling")
    off = page.ask("set", name="planning_interval", value=None)
    assert off["effective"] == "from step 5"
    page.finish()
    kinds = ["plan" if "plan" in step else "act" for step in page.record["steps"]]
    assert kinds == ["act", "act", "plan", "act", "plan", "act", "act", "act"]
    assert page.settings["pending"] == {}
    views = ready.execute(
        "[(r.step_number, r.kind, r.projection.summary_mode) for r in bot.memory.requests]"
    ).result
    assert views == snapshot("""\
[(1, 'act', False),
 (2, 'act', False),
 (3, 'plan', True),
 (3, 'act', True),
 (4, 'plan', True),
 (4, 'act', True),
 (5, 'act', True),
 (6, 'act', True)]\
""")


def test_stop_ends_the_run_inside_a_tool(ready):
    ready.execute("m = slow(2, 30)")
    page = Page(ready, CELL)
    page.wait_for(lambda: page.now.get("doing") == "calling")
    asked_at = time.monotonic()
    assert page.ask("stop") == {"v": 1, "ok": True, "effective": "now"}
    page.finish(timeout_s=10)
    assert time.monotonic() - asked_at < 10
    assert page.error == "KeyboardInterrupt"
    assert page.record["status"] == "interrupted"
    assert ready.execute("m = slow(0)\nbot.model = m").error is None
    assert Page(ready, "%%agent bot\nGo on.").finish().record["status"] == "answered"


def test_stop_ends_the_wait_for_another_try(ready):
    ready.execute(
        "class Busy(ConnectionError): headers = {'Retry-After': '60'}\n"
        "m = ScriptedModel([Busy('busy'), final('never')])"
    )
    page = Page(ready, "%%agent bot --model @m\nWait.")
    page.wait_for(lambda: page.now.get("doing") == "waiting")
    assert 50 < page.now["waiting"]["delay_s"] <= 60
    assert page.ask("stop")["ok"]
    page.finish(timeout_s=10)
    assert page.record["status"] == "interrupted"


def test_view_pin_and_edit_of_a_step_are_shown_at_once_and_kept_in_the_record(ready):
    ready.execute("m = slow(5)")
    page = Page(ready, CELL)
    page.wait_for(lambda: n_steps(page) == 2)
    assert page.ask("set_view", place=0, view="hidden") == {
        "v": 1,
        "ok": True,
        "effective": "from the next call",
    }
    assert page.ask("set_pinned", place=1, value=True)["ok"]
    assert page.ask("edit_step", place=1, changes={"observations": "waited for ever"})["ok"]
    page.wait_for(lambda: "laid_on" in page.steps[0] and "edited_by" in page.steps[1].get("laid_on", {}))
    assert page.steps[0]["laid_on"] == {"view": "hidden"}
    assert page.steps[1]["calls"][0]["observation"] == "waited for ever"
    page.finish()
    assert page.record["steps"][0]["laid_on"] == {"view": "hidden"}
    assert page.record["steps"][1]["laid_on"]["is_pinned"] is True
    assert page.record["steps"][1]["laid_on"]["edited_by"] == "person"
    assert page.record["steps"][1]["calls"][0]["observation"] == "waited for ever"
    sent = ready.execute("[m['content'] for m in bot.preview(5).messages if m['role'] == 'tool']").result
    assert sent == snapshot("['waited for ever', 'waited 0.3', 'waited 0.3']")


def test_pause_holds_the_run_until_it_may_go_on(ready):
    ready.execute("m = slow(4, 0.2)")
    page = Page(ready, CELL)
    page.wait_for(lambda: n_steps(page) == 1)
    assert page.ask("pause")["effective"] == "before the next call"
    page.wait_for(lambda: page.now.get("doing") == "paused")
    assert page.settings["is_paused"] is True
    assert page.ask("replan_now") == snapshot({"v": 1, "ok": True, "effective": "from step 3"})
    assert page.ask("go_on")["effective"] == "now"
    page.finish()
    assert page.record["status"] in ("answered", "failed")
    assert any("plan" in step for step in page.record["steps"])


def test_lens_shows_both_views_of_a_past_call_and_of_the_next(ready):
    ready.execute("m = slow(3)")
    page = Page(ready, CELL)
    page.wait_for(lambda: n_steps(page) == 2)
    past, following = page.ask("lens", place=1)["data"], page.ask("lens", place=None)["data"]
    page.finish()
    assert past["normal"]["step_number"] == 2
    assert past["normal"]["is_exact"] is True
    assert past["summary"]["summary_mode"] is True
    assert following["normal"]["is_past"] is False
    assert len(following["normal"]["messages"]) > len(past["normal"]["messages"])


def test_run_is_asked_about_after_its_end_too(ready):
    ready.execute("m = slow(2)")
    page = Page(ready, CELL).finish()
    hello = page.ask("hello")
    assert hello["data"]["is_running"] is False
    assert hello["data"]["steps"] == [None, None, None]
    page.state["nonce"] = hello["data"]["nonce"]
    assert page.ask("stop") == snapshot({"v": 1, "ok": False, "error": "The run has ended."})
    assert page.ask("set", name="summary_mode", value="off")["effective"] == "from the next run"
    assert page.ask("set_view", place=0, view="summary")["effective"] == "from the next run"
    assert page.ask("hello")["data"]["steps"][0] == {"view": "summary"}
    assert ready.execute("bot.settings.summary_mode, bot.memory.view_of(1)").result == "('off', 'summary')"


def test_page_that_was_closed_in_the_middle_gets_what_stands_in_the_cell(ready):
    ready.execute("m = slow(3)")
    page = Page(ready, CELL)
    page.wait_for(lambda: n_steps(page) == 1)
    assert "bundle" not in page.ask("hello", snapshot=True, bundle=True)["data"]
    page.ask("set_view", place=0, view="summary")
    page.finish()
    data = page.ask("hello", snapshot=True, bundle=True)["data"]
    assert "snapshot" not in data
    assert data["bundle"] == page.outputs[-1]
    assert data["bundle"][RECORD]["steps"][0]["laid_on"] == {"view": "summary"}
    assert "memory" in data["bundle"][RECORD]
    assert "bundle" not in page.ask("hello")["data"]


def test_page_that_asks_while_the_end_is_drawn_puts_nothing_in_the_place_of_the_record(ready):
    # What the control thread holds as it waits for its turn.
    ready.execute(
        "from agent_magic.notebook.live.live_run import LiveRun\n"
        "def hold() -> str:\n    'Hold.'\n    global ask\n    ask = LiveRun.of(bot)._take_snapshot\n    return ''\n"
        "m = ScriptedModel([call(('hold', {})), final('done')])"
    )
    page = Page(ready, "%%agent bot --model @m --tools hold\nHold.").finish()
    assert len(page.record["steps"]) == 2
    late = ready.execute("ask()")
    assert (late.displays, late.result, late.error) == ([], None, None)


def test_run_of_a_deleted_agent_says_so(ready):
    ready.execute("m = slow(1)")
    page = Page(ready, CELL).finish()
    ready.execute("del bot\nimport gc\nget_ipython().displayhook.flush()\n_ = gc.collect()")
    assert page.ask("set_view", place=0, view="summary") == snapshot(
        {
            "v": 1,
            "ok": False,
            "error": "The agent of this run is gone: its variable was deleted or bound anew.",
        }
    )


def asked_of(page: Page) -> dict:
    page.wait_for(lambda: page.now.get("doing") == "asking")
    return page.now["asked"]


def test_call_is_made_once_it_is_approved_on_the_page(ready):
    ready.execute(
        "m = ScriptedModel([call(('wait', {'seconds': 0.1}), ('wait', {'seconds': 0.2})), final('done')])"
    )
    page = Page(ready, f"{CELL[:-6]} --approve tools\nWait.")
    page.wait_for(lambda: page.state)
    assert page.ask("hello")["ok"]
    one, two = asked_of(page)["items"]
    assert (one["kind"], one["name"], one["arguments"]) == ("call", "wait", {"seconds": 0.1})
    assert page.ask("approve", item=one["id"], digest=two["digest"])["error"] == snapshot(
        "The arguments of wait changed since they were shown, so this answer does not hold. Look at what is asked now, and answer that."
    )
    assert page.ask("approve", item=one["id"], digest=one["digest"]) == snapshot(
        {"v": 1, "ok": True, "effective": "when the other one is decided"}
    )
    assert page.ask("reject", item=one["id"], digest=one["digest"])["error"] == snapshot(
        "wait was approved already, by the person. Nothing was changed."
    )
    assert page.ask("approve", item="no such", digest="x")["error"].startswith(
        "Nothing with the id 'no such'"
    )
    assert page.ask("edit", item=two["id"], digest=two["digest"], arguments={"seconds": "long"})[
        "error"
    ] == snapshot(
        "wait: argument 'seconds' is 'long'; expected a number. Call wait with {\"seconds\": <number>}."
    )
    assert (
        page.ask("edit", item=two["id"], digest=two["digest"], arguments={"seconds": 0.3})["effective"]
        == "now"
    )
    page.finish()
    first, second = page.record["steps"][0]["calls"]
    assert first["observation"] == "waited 0.1"
    assert second["observation"] == "waited 0.3"
    assert second["notes"] == ['the person changed the arguments to {"seconds": 0.3}']
    assert page.record["status"] == "answered"


def test_stop_while_an_approval_is_waited_for_makes_no_call(ready):
    ready.execute("m = slow(1)")
    page = Page(ready, f"{CELL[:-6]} --approve tools\nWait.")
    page.wait_for(lambda: page.state)
    page.ask("hello")
    (item,) = asked_of(page)["items"]
    assert page.ask("stop")["ok"]
    page.finish()
    assert page.error == "KeyboardInterrupt"
    (call,) = page.record["steps"][0]["calls"]
    assert call["error"]["message"] == snapshot("The call was not run: the run was interrupted before it.")
    assert page.ask("approve", item=item["id"], digest=item["digest"])["error"] == snapshot(
        "The run no longer waits for a word on wait: it went on or ended. Nothing was changed."
    )


def test_managed_agent_asks_on_the_page_of_its_manager(ready):
    ready.execute(
        "from agent_magic import ToolCallingAgent\n"
        "replies = [call(('wait', {'seconds': 0.1})), final('waited')]\n"
        "helper = ToolCallingAgent(tools=[wait], model=ScriptedModel(replies), name='helper', description='Waits.',"
        " approve='tools')\n"
        "m = ScriptedModel([call(('helper', {'task': 'Wait.'})), final('done')])"
    )
    page = Page(ready, "%%agent bot --model @m --tools helper\nWait.")
    page.wait_for(lambda: page.state)
    assert page.ask("hello")["ok"]
    (item,) = asked_of(page)["items"]
    assert (item["agent"], item["name"], item["arguments"]) == ("helper", "wait", {"seconds": 0.1})
    assert page.ask("approve", item=item["id"], digest=item["digest"])["ok"]
    page.finish()
    (asked,) = page.record["steps"][0]["calls"]
    assert asked["run"]["steps"][0]["calls"][0]["observation"] == "waited 0.1"
    notes = [note["text"] for note in page.record["steps"][0]["notes"]]
    assert notes == snapshot(["helper: wait was approved by the person"])


def test_approval_is_refused_where_nobody_can_answer(ready):
    ready.execute("m = slow(1)")
    done = ready.execute(f"{CELL[:-6]} --approve tools\nWait.")
    assert done.stderr == snapshot(
        'UsageError: %%agent bot: --approve tools waits for a person\'s word, and nobody can give it in this front end. Nothing was run. Write --approve never, or %config AgentMagics.unattended = "approve" to let all be done where nobody can answer.\n'
    )
    assert done.displays == []
    ready.execute("%config AgentMagics.unattended = 'approve'")
    done = ready.execute(f"{CELL[:-6]} --approve tools\nWait.")
    ready.execute("%config AgentMagics.unattended = 'refuse'")
    assert done.error is None
    notes = [note["text"] for note in done.displays[0][RECORD]["steps"][0]["notes"]]
    assert notes == snapshot(["wait was approved by AgentMagics.unattended = 'approve'"])


def test_text_is_streamed_at_most_twenty_times_a_second_and_only_what_was_added(ready):
    ready.execute(
        "text = ''.join(f'word{n:03} ' for n in range(300))\n"
        "m = ScriptedModel([call(('wait', {'seconds': 0})) | {'content': text}, final('x')], stream_pieces=300, latency_s=2)"
    )
    page = Page(ready, CELL).finish()
    told = [
        message for message in page.messages if message["kind"] == "text" and message["field"] == "thought"
    ]
    seconds = page.record["steps"][0]["duration_s"]
    assert 5 < len(told) <= 20 * seconds + 5
    whole = ""
    for message in told:
        assert message["at"] == len(whole)
        whole += message["add"]
    assert page.record["steps"][0]["thought"].startswith(whole.strip())
    assert len(whole) > 2_000
