from __future__ import annotations

import json
import random
import re
import time

import pytest
from page import RECORD, Page, need_built_view

pytestmark = pytest.mark.kernel

SET_UP = """
%load_ext agent_magic
import threading, time
from agent_magic import ScriptedModel, ToolCallingAgent
call, final = ScriptedModel.calls, ScriptedModel.final

def wait(seconds: float) -> str:
    "Wait.\\n\\nArgs:\\n    seconds: how long"
    time.sleep(seconds)
    return f"waited {seconds}"

def echo(text: str) -> str:
    "Echo.\\n\\nArgs:\\n    text: words"
    print(text)
    return text

def fail(text: str) -> str:
    "Fail.\\n\\nArgs:\\n    text: words"
    raise ValueError(text)
"""
MEGABYTE = 1_000_000
BAD_SIGNS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Bidi overrides are text: a view makes them visible."""
FULL_OF_TEXT = """
everywhere = [
    call(("echo", {"text": text}), ("fail", {"text": text}), (text[:200], {text[:200]: text})) | {"content": text, "reasoning": text},
    final(text),
]
m = ScriptedModel(everywhere, stream_pieces=10, latency_s=0.2)
"""


@pytest.fixture
def ready(kernel):
    """A kernel with our magics, a model's parts and three tools."""
    need_built_view()
    assert kernel.execute(SET_UP).error is None
    return kernel


def sizes(page):
    """The bytes of each message that the kernel sent; the drawing code that opens a widget counts as none."""
    return [0 if has_drawing_code(content) else len(json.dumps(content)) for _, content in page.sent]


def has_drawing_code(content):
    """Whether a message brings the view itself."""
    state = content.get("data", {}).get("state", {}) if isinstance(content, dict) else {}
    return isinstance(state, dict) and "_esm" in state


def texts(value):
    """All strings inside a JSON value, keys too."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *texts(item))]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


def works(kernel):
    """Whether the next cell is an ordinary one."""
    kernel.execute("m = ScriptedModel([final('next')])")
    page = Page(kernel, "%%agent following --model @m\nAnd?").finish()
    return page.record["status"] == "answered" and page.is_closed and page.error is None


def test_run_in_a_thread_does_not_show_in_the_run_of_the_cell(ready):
    ready.execute(
        "m = ScriptedModel([*[call(('wait', {'seconds': 0.2}))] * 4, final('of the cell')])\n"
        "beside = ToolCallingAgent([echo], model=ScriptedModel([*[call(('echo', {'text': 'beside'}))] * 8, final('of the thread')], latency_s=0.1), name='beside')\n"
        "thread = threading.Thread(target=beside.run, args=('Go.',))\n"
        "thread.start()"
    )
    page = Page(ready, "%%agent bot --model @m --tools wait\nWait.").finish()
    assert "beside" not in json.dumps(page.messages)
    assert page.record["answer"]["text"] == "of the cell"
    assert page.record["n_steps"] == 5
    assert page.is_closed
    told = ready.execute(
        "thread.join()\n(beside.result.status, beside.result.value, len(beside.result.actions))"
    )
    assert told.result == "('answered', 'of the thread', 9)"
    assert told.stdout == ""


def test_run_that_is_shown_in_three_cells_is_one_run_with_three_views(ready):
    ready.execute("m = ScriptedModel([call(('wait', {'seconds': 0.05})), final('done')])")
    first = Page(ready, "%%agent bot --model @m --tools wait\nWait.").finish()
    shown = [ready.execute("bot.runs[-1]").outputs[0]["data"] for _ in range(2)]
    for bundle in shown:
        assert bundle[RECORD]["run_id"] == first.record["run_id"]
        assert bundle[RECORD]["steps"] == first.record["steps"]
    pages = [
        Page(ready, "from agent_magic.view import widget\nwidget(bot.runs[-1])").finish() for _ in range(3)
    ]
    assert len({page.comm_id for page in pages}) == 3
    assert len({page.state["nonce"] for page in pages}) == 3
    for place, page in enumerate(pages):
        view = ("full", "summary", "hidden")[place]
        assert page.ask("set_view", place=0, view=view)["ok"]
        assert ready.execute("bot.memory.view_of(1)").result == repr(view)
    assert {page.run_id for page in pages} == {first.record["run_id"]}


@pytest.mark.parametrize("where", ["everywhere", "one line", "many lines"])
def test_texts_of_ten_megabytes_stay_bounded_on_the_wire_and_in_the_notebook(ready, where):
    text = {
        "everywhere": "'words and more ' * 700_000",
        "one line": "'x' * 10_000_000",
        "many lines": "'line\\n' * 2_000_000",
    }[where]
    ready.execute(f"text = {text}\n{FULL_OF_TEXT.replace('stream_pieces=10', 'stream_pieces=2_000')}")
    page = Page(ready, "%%agent bot --model @m --tools echo, fail\nSay @text.").finish(timeout_s=120)
    assert page.record["status"] == "answered"
    result = [
        size for (kind, _), size in zip(page.sent, sizes(page), strict=True) if kind != "execute_result"
    ]
    assert max(result) < MEGABYTE
    assert sum(result) < 5 * MEGABYTE
    assert len(json.dumps(page.outputs[0])) < MEGABYTE
    assert page.is_closed


@pytest.mark.parametrize(
    "text",
    ["a\ud800b\udfffc", "\x1b[2J\x1b[31mred\x1b]0;t\x07\x9b5A", "\x00\x08\rb\x7f"],
    ids=["surrogates", "ansi", "controls"],
)
def test_signs_that_are_no_text_are_not_on_the_wire(ready, text):
    ready.execute(f"text = {text!r}\n{FULL_OF_TEXT}")
    page = Page(ready, "%%agent bot --model @m --tools echo, fail\nSay it.").finish()
    assert page.record["status"] == "answered"
    assert page.is_closed
    # The answer itself is the person's value: it is `Out`, as it is.
    ours = [content for kind, content in page.sent if kind not in ("execute_result", "stream")]
    assert [found for found in texts(ours) if BAD_SIGNS.search(found)] == []
    json.dumps(ours, ensure_ascii=False).encode("utf-8")


def test_five_thousand_steps_are_shown_within_bounds(ready):
    ready.execute("m = ScriptedModel([*[call(('wait', {'seconds': 0}))] * 5_000, final('done')])")
    page = Page(ready, "%%agent bot --model @m --tools wait --max-steps 5001\nWait.")
    began = time.monotonic()
    page.finish(timeout_s=280)
    took_s = time.monotonic() - began
    total = sum(sizes(page))
    print(f"5,001 steps: {took_s:.1f} s, {len(page.sent):,} messages, {total / 1e6:.1f} MB")
    assert page.record["n_steps"] == 5_001
    told = [message["place"] for message in page.messages if message["kind"] == "step"]
    assert sorted(set(told)) == list(range(5_001))
    assert took_s < 100
    assert max(sizes(page)) < MEGABYTE
    assert total < 6 * MEGABYTE
    assert len(json.dumps(page.outputs[0])) < MEGABYTE


def test_two_hundred_calls_side_by_side_are_shown_within_bounds(ready):
    ready.execute(
        "m = ScriptedModel([call(*[('wait', {'seconds': n / 500}) for n in range(200)]), final('done')])"
    )
    page = Page(ready, "%%agent bot --model @m --tools wait\nWait.").finish()
    assert len(page.steps[0]["calls"]) + page.steps[0].get("calls_left_out", 0) == 200
    assert max(sizes(page)) < 200_000
    assert sum(sizes(page)) < 4 * MEGABYTE
    assert page.record["status"] == "answered"


def test_output_that_is_cleared_during_the_run_costs_nothing_but_the_output(ready):
    ready.execute(
        "from IPython.display import clear_output\n"
        "def wipe(word: str) -> str:\n    'Wipe.\\n\\nArgs:\\n    word: any'\n    clear_output()\n    return 'wiped'\n"
        "m = ScriptedModel([call(('wipe', {'word': 'x'})), call(('wait', {'seconds': 0.2})), final('done')])"
    )
    page = Page(ready, "%%agent bot --model @m --tools wipe, wait\nWait.").finish()
    assert page.error is None
    assert page.is_closed
    assert page.record["n_steps"] == 3
    assert ready.execute("bot.runs[-1].status").result == "'answered'"
    assert works(ready)


NESTED = {"a": None}
for _ in range(900):
    NESTED = {"a": NESTED}


@pytest.mark.parametrize(
    "forged",
    [
        {"verb": "shutdown"},
        {"verb": ["stop"]},
        {"verb": None},
        {"verb": "stop", "nonce": "forged"},
        {"verb": "stop", "nonce": ""},
        {"verb": "stop", "nonce": None},
        {"verb": "stop", "nonce": "x" * MEGABYTE},
        {"verb": "stop", "run_id": "run_of_nobody"},
        {"verb": "stop", "run_id": {"a": 1}},
        {"verb": "stop", "v": 2},
        {"verb": "stop", "v": True, "nonce": "forged"},
        {"verb": "set_view", "place": -1, "view": "hidden"},
        {"verb": "set_view", "place": True, "view": "hidden"},
        {"verb": "set_view", "place": 10**30, "view": "hidden"},
        {"verb": "set_view", "place": 0, "view": "gone"},
        {"verb": "set_view", "place": 0.0, "view": "hidden"},
        {"verb": "set_pinned", "place": 0, "value": 1},
        {"verb": "set", "name": "model", "value": "x"},
        {"verb": "set", "name": "__class__", "value": "x"},
        {"verb": "set", "name": "max_steps", "value": True},
        {"verb": "set", "name": "max_steps", "value": -3},
        {"verb": "set", "name": "planning_interval", "value": "2"},
        {"verb": "set", "name": "approve", "value": "always"},
        {"verb": "edit_step", "place": 0, "changes": {"token_usage": 1}},
        {"verb": "edit_step", "place": 0, "changes": NESTED},
        {"verb": "edit_step", "place": 0, "changes": [1]},
        {"verb": "approve", "item": "x", "digest": "y"},
        {"verb": "approve", "item": 1, "digest": None},
        {"verb": "lens", "place": 99},
        {"verb": "lens", "place": None, "kind": "evil"},
        NESTED,
    ],
    ids=lambda forged: json.dumps(forged)[:40],
)
def test_forged_request_is_refused_and_the_run_goes_on(ready, forged):
    ready.execute("m = ScriptedModel([*[call(('wait', {'seconds': 0.1}))] * 4, final('done')])")
    page = Page(ready, "%%agent bot --model @m --tools wait\nWait.")
    page.wait_for(lambda: bool(page.state) and 0 in page.steps)
    request = {"v": 1, "id": "1", "nonce": page.state["nonce"], "run_id": page.run_id} | forged
    reply = ready.ask(request)
    assert reply["ok"] is False
    assert 0 < len(reply["error"]) <= 700
    page.finish()
    assert page.record["status"] == "answered"
    assert page.record["n_steps"] == 5
    assert not any("laid_on" in step for step in page.record["steps"])
    assert ready.execute("bot.max_steps").result == "20"


@pytest.mark.parametrize("depth", [50, 900, 5_000])
def test_edit_to_deeply_nested_arguments_does_not_end_the_run(ready, depth):
    ready.execute("m = ScriptedModel([*[call(('wait', {'seconds': 0.1}))] * 4, final('done')])")
    page = Page(ready, "%%agent bot --model @m --tools wait\nWait.")
    page.wait_for(lambda: bool(page.state) and 0 in page.steps)
    request = {"v": 1, "id": "1", "nonce": page.state["nonce"], "run_id": page.run_id, "verb": "edit_step"}
    text = json.dumps({**request, "place": 0, "changes": {"arguments": "HERE"}})
    nested = '{"a": ' * depth + "1" + "}" * depth
    session, channel = ready.client.session, ready.client.control_channel
    channel.send(session.msg("agent_magic_request", text.replace('"HERE"', nested).encode()))
    page.finish()
    assert page.record["status"] == "answered"
    assert page.record["n_steps"] == 5
    assert page.is_closed
    assert works(ready)


def test_nonce_of_another_run_opens_nothing(ready):
    ready.execute("m = ScriptedModel([final('one')])")
    other = Page(ready, "%%agent other --model @m\nAsk.").finish()
    ready.execute("m = ScriptedModel([*[call(('wait', {'seconds': 0.1}))] * 4, final('done')])")
    page = Page(ready, "%%agent bot --model @m --tools wait\nWait.")
    page.wait_for(lambda: bool(page.state) and 0 in page.steps)
    reply = ready.ask({"v": 1, "verb": "stop", "nonce": other.state["nonce"], "run_id": page.run_id})
    assert reply == {"v": 1, "ok": False, "error": "The kernel does not know this view. Reload the page."}
    assert page.finish().record["status"] == "answered"


@pytest.mark.parametrize("content", [b"[1, 2]", b'"stop"', b"null", b"7", b"[" * 50_000 + b"]" * 50_000])
def test_request_that_is_no_object_leaves_the_control_channel_working(ready, content):
    ready.execute("m = ScriptedModel([final('one')])")
    page = Page(ready, "%%agent bot --model @m\nAsk.").finish()
    session, channel = ready.client.session, ready.client.control_channel
    channel.send(session.msg("agent_magic_request", content))
    assert page.ask("hello")["ok"] is True
    assert works(ready)


@pytest.mark.parametrize("seed", range(12))
def test_interrupt_at_any_moment_leaves_an_interrupted_run_and_a_working_kernel(ready, seed):
    delay_s = random.Random(seed).uniform(0, 0.6)
    ready.execute(
        "said = 'word ' * 200\n"
        "m = ScriptedModel([call(('wait', {'seconds': 0.002})) | {'content': said}] * 400, stream_pieces=100)"
    )
    page = Page(ready, "%%agent bot --model @m --tools wait --max-steps 500\nWait.")
    page.wait_for(lambda: bool(page.state))
    end = time.monotonic() + delay_s
    while time.monotonic() < end:
        page.read()
    ready.interrupt()
    page.finish(timeout_s=20)
    assert page.error == "KeyboardInterrupt"
    assert page.record["status"] == "interrupted"
    assert page.is_closed
    assert page.sent_after_close == []
    assert page.messages[-1]["kind"] == "end"
    assert len(page.outputs) == 1
    assert works(ready)
