from __future__ import annotations

import re
import time
from typing import Any

import pytest
from inline_snapshot import snapshot

pytestmark = pytest.mark.kernel

RECORD = "application/vnd.agent-magic.run.v1+json"
FORMS = {RECORD, "text/html", "text/markdown", "text/plain"}
SET_UP = """
%load_ext agent_magic
import threading, time
from agent_magic import ScriptedModel
call, final = ScriptedModel.calls, ScriptedModel.final

def add(a: int, b: int) -> int:
    "Add.\\n\\nArgs:\\n    a: one\\n    b: other"
    return a + b

def wait(seconds: float) -> str:
    "Wait.\\n\\nArgs:\\n    seconds: how long"
    time.sleep(seconds)
    return f"waited-{seconds}"
"""


@pytest.fixture
def ready(kernel):
    """A kernel with our magics, a model's parts and two tools."""
    assert kernel.execute(SET_UP).error is None
    return kernel


def messages_of(kernel, code) -> list[tuple[str, dict[str, Any], float]]:
    """Kind, content and time of all output messages of a cell."""
    request = kernel.client.execute(code, allow_stdin=False)
    sent = []
    while True:
        message = kernel.client.get_iopub_msg(timeout=120)
        if message["parent_header"].get("msg_id") != request:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            kernel.client.get_shell_msg(timeout=60)
            return sent
        if kind not in ("status", "execute_input"):
            sent.append((kind, content, time.monotonic()))


def test_run_is_one_output_that_is_updated_under_one_id(ready):
    ready.execute("m = ScriptedModel([call(('add', {'a': 1, 'b': 2})), final(3)], latency_s=0.3)")
    sent = messages_of(ready, "%%agent bot --model @m --tools add\nAdd.")
    kinds = [kind for kind, _, _ in sent]
    assert kinds[0] == "display_data"
    assert set(kinds[1:-1]) == {"update_display_data"}
    assert kinds[-1] == "execute_result"
    assert len({content["transient"]["display_id"] for kind, content, _ in sent if "display" in kind}) == 1


def test_run_ends_as_record_html_markdown_and_text(ready):
    ready.execute("m = ScriptedModel([call(('add', {'a': 1, 'b': 2})), final(3)])")
    sent = messages_of(ready, "%%agent bot --model @m --tools add\nAdd.")
    last = [content["data"] for kind, content, _ in sent if kind == "update_display_data"][-1]
    assert set(last) == FORMS
    assert last[RECORD]["status"] == "answered"
    assert "<details" in last["text/html"]
    assert "**answered**" in last["text/markdown"]
    assert "bot · answered" in last["text/plain"]
    assert next(set(c["data"]) for k, c, _ in sent if "display" in k) == {"text/html", "text/plain"}


def test_long_stream_is_coalesced_and_its_text_is_whole_in_the_end(ready):
    ready.execute(
        "text = ''.join(chr(97 + n % 26) for n in range(20_000))\n"
        "m = ScriptedModel([call(('add', {'a': 1, 'b': 2})) | {'content': text}, final('x')], stream_pieces=20_000)"
    )
    sent = messages_of(ready, "%%agent bot --model @m --tools add\nTalk.")
    assert len(sent) < 1_000
    assert ready.execute("bot.result.actions[0].model_output == text").result == "True"
    last = [content["data"] for kind, content, _ in sent if kind == "update_display_data"][-1]
    thought = last[RECORD]["steps"][0]["thought"]
    # the record is bounded: head and tail of the text, and a note
    assert thought.startswith("abcdefghijklmnopqrstuvwxyz")
    assert "characters cut" in thought
    assert len(thought) <= 8_000


def test_stream_that_fits_is_stored_whole(ready):
    ready.execute(
        "text = ''.join(chr(97 + n % 26) for n in range(4_000))\n"
        "m = ScriptedModel([call(('add', {'a': 1, 'b': 2})) | {'content': text}, final('x')], stream_pieces=4_000)"
    )
    done = ready.execute("%%agent bot --model @m --tools add\nTalk.")
    text = ready.execute("print(text)").stdout.strip()
    assert done.n_messages < 200
    assert done.displays[0][RECORD]["steps"][0]["thought"] == text
    for form in ("text/html", "text/markdown", "text/plain"):
        assert text in done.displays[0][form]


def test_text_is_shown_while_the_model_writes_about_ten_times_a_second(ready):
    ready.execute(
        "text = ''.join(f'word{n:03} ' for n in range(200))\n"
        "m = ScriptedModel([text, final('x')], stream_pieces=200, latency_s=2)"
    )
    sent = messages_of(ready, "%%agent bot --model @m\nTalk.")
    shown = [
        (max(map(int, words)), at)
        for kind, content, at in sent
        if kind == "update_display_data"
        and content["data"]["text/plain"].endswith(" 1  thinking …")
        and (words := re.findall(r"word(\d{3})", content["data"]["text/html"]))
    ]
    growing = [(word, at) for word, at in shown if word < 190]
    assert len(growing) >= 5
    assert [word for word, _ in growing] == sorted({word for word, _ in growing})
    seconds = growing[-1][1] - growing[0][1]
    assert len(growing) / seconds < 15


def test_call_is_shown_as_running_before_it_ends(ready):
    ready.execute("m = ScriptedModel([call(('wait', {'seconds': 1.5})), final('x')])")
    running = ready.begin("%%agent bot --model @m --tools wait\nWait.")
    so_far = ready.wait_for_output(running, "calling wait")
    assert "waited-1.5" not in so_far.displays[0]["text/html"]
    assert "waited-1.5" in ready.finish(running).displays[0]["text/html"]


def test_parallel_call_that_ended_is_shown_while_another_runs(ready):
    ready.execute(
        "m = ScriptedModel([call(('wait', {'seconds': 0.05}), ('wait', {'seconds': 2.0})), final('x')])"
    )
    running = ready.begin("%%agent bot --model @m --tools wait\nWait.")
    so_far = ready.wait_for_output(running, "waited-0.05")
    assert "waited-2.0" not in so_far.displays[0]["text/html"]
    assert "calling wait" in so_far.displays[0]["text/plain"]
    ready.finish(running)


def test_nothing_is_drawn_after_the_end(ready):
    ready.execute(
        "m = ScriptedModel([call(('wait', {'seconds': 0.05}), ('wait', {'seconds': 0.06})), final('x')])"
    )
    ready.execute("%%agent bot --model @m --tools wait\nWait.")
    sent = messages_of(
        ready, "time.sleep(0.5)\nprint([t.name for t in threading.enumerate() if 'display' in t.name])"
    )
    assert [content["text"] for _, content, _ in sent] == ["[]\n"]


def test_quiet_shows_header_progress_and_answer_alone(ready):
    ready.execute("m = ScriptedModel([call(('add', {'a': 1, 'b': 2})), final(3)])")
    done = ready.execute("%%agent bot --model @m --tools add --quiet\nAdd.")
    assert "Add." not in done.displays[0]["text/plain"]
    assert "add(" not in done.displays[0]["text/html"]
    assert done.displays[0]["text/plain"].endswith("Answer (int)\n    3")


def test_waiting_for_another_try_is_shown(ready):
    ready.execute("m = ScriptedModel([ConnectionError('refused'), final('x')])")
    running = ready.begin("%%agent bot --model @m\nAsk.")
    so_far = ready.wait_for_output(running, "waiting")
    assert "the connection failed" in so_far.displays[0]["text/plain"]
    assert ready.finish(running).result == "'x'"


def test_agents_runs_steps_and_tools_have_looks_of_their_own(ready):
    ready.execute("m = ScriptedModel([call(('add', {'a': 1, 'b': 2})), final(3)])")
    ready.execute("%%agent bot --model @m --tools add\nAdd.")
    for expression, text, forms in (
        ("bot", "bot · last run answered", {"text/html", "text/plain"}),
        ("bot.result", "bot · answered", FORMS),
        ("bot.result.actions[0]", "add(a=1, b=2) → 3", FORMS - {RECORD}),
        ("bot.tools['add']", "add · tool", {"text/html", "text/plain"}),
        ("bot.result.steps[0]", "TaskStep(task='Add.'", {"text/plain"}),
    ):
        done = ready.execute(expression)
        (out,) = done.outputs
        assert out["output_type"] == "execute_result"
        assert (expression, set(out["data"])) == (expression, forms)
        assert text in out["data"]["text/plain"]
        assert "object at 0x" not in out["data"]["text/plain"]


def test_defined_agent_is_shown_as_its_card(ready):
    done = ready.execute("%%agent bot --define --tools add --description 'Adds.'\nAdd carefully.")
    (bundle,) = done.displays
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == snapshot("""\
bot · not run yet · chosen at the first run
0 runs, 0 steps in memory · max_steps 20 · max_tool_threads 128 · state "named" · description "Adds." · instructions "Add carefully."
Tools
    add  Add.\
""")


def test_run_inside_a_function_of_the_notebook_shows_in_its_cell(ready):
    ready.execute(
        "m = ScriptedModel([final('one'), final('two')])\ndef ask():\n    get_ipython().run_cell_magic('agent', 'bot --model @m', 'Which?')"
    )
    done = ready.execute("ask()\nask()")
    assert [bundle["text/plain"].splitlines()[-1].strip() for bundle in done.displays] == ["one", "two"]


def test_paused_run_says_so_until_it_goes_on(ready):
    ready.execute(
        "m = ScriptedModel([call(('add', {'a': 1, 'b': 2})), final(3)], latency_s=0.3)\n"
        "def pause_and_go_on():\n"
        "    time.sleep(0.15)\n"
        "    bot.pause()\n"
        "    time.sleep(1.5)\n"
        "    bot.unpause()"
    )
    ready.execute("%%agent bot --define --model @m --tools add\nBe brief.")
    ready.execute("threading.Thread(target=pause_and_go_on).start()")
    running = ready.begin("%%agent bot\nAdd.")
    so_far = ready.wait_for_output(running, "paused (The person paused the run.)")
    assert so_far.displays[0]["text/plain"].endswith(" …")
    assert ready.finish(running).result == "3"


def test_plan_is_shown_while_it_is_written(ready):
    ready.execute("m = ScriptedModel(['1. ' + 'word ' * 40, final('x')], stream_pieces=40, latency_s=1.0)")
    running = ready.begin("%%agent bot --model @m --plan 1\nTalk.")
    so_far = ready.wait_for_output(running, "word word")
    assert so_far.displays[0]["text/plain"].endswith("planning …")
    done = ready.finish(running)
    assert "Plan: 1 step" in done.displays[0]["text/plain"]


def test_settings_changed_from_another_thread_take_effect_while_the_cell_runs(ready):
    ready.execute(
        "m = ScriptedModel(['1. Wait.', *[call(('wait', {'seconds': 0.2}))] * 3, '1. Answer.', final('x')])\n"
        "def change():\n"
        "    while not bot.runs and len(bot.memory.steps) < 2:\n"
        "        time.sleep(0.01)\n"
        "    changed.append(bot.settings.update(planning_interval=None, summary_mode='all'))\n"
        "    while not bot.runs and len(bot.memory.steps) < 3:\n"
        "        time.sleep(0.01)\n"
        "    time.sleep(0.05)\n"  # the next step is on its way then
        "    bot.settings.update(planning_interval=3)\n"
        "changed = []"
    )
    ready.execute("%%agent bot --define --model @m --tools wait --plan 1\nBe brief.")
    ready.execute("thread = threading.Thread(target=change)\nthread.start()")
    done = ready.execute("%%agent bot\nWait.")
    assert done.error is None
    steps = done.displays[0][RECORD]["steps"]
    assert [("plan" if "plan" in step else "act", step["step_number"]) for step in steps] == snapshot(
        [("plan", 1), ("act", 1), ("act", 2), ("act", 3), ("plan", 4), ("act", 4)]
    )
    notes = [note["text"] for step in steps for note in step.get("notes", [])]
    assert notes == snapshot(
        [
            "planning_interval is None from step 2",
            "summary_mode is 'all' from the next call",
            "planning_interval is 3 from step 3",
        ]
    )
    assert ready.execute("len(changed[0]), bot.settings.summary_mode").result == "(2, 'all')"
