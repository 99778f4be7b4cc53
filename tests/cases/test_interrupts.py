from __future__ import annotations

import time

import pytest

pytestmark = pytest.mark.kernel

RECORD = "application/vnd.agent-magic.run.v1+json"
SET_UP = """
%load_ext agent_magic
import asyncio, time
from agent_magic import Model, ScriptedModel
log = []
"""


def interrupt_after(kernel, running, seconds):
    """A real SIGINT; gives the cell's end and how long it took from there."""
    time.sleep(seconds)
    kernel.interrupt()
    began = time.monotonic()
    return kernel.finish(running, timeout_s=30), time.monotonic() - began


def test_interrupt_while_awaiting(case, kernel):
    ready = kernel.execute(
        f"{SET_UP}{case.code}\n"
        "alone = ScriptedModel([ScriptedModel.calls(('nap', {'x': 1}))])\n"
        "side_by_side = ScriptedModel([ScriptedModel.calls(('nap', {'x': 1}), ('nap', {'x': 2}))])"
    )
    assert ready.error is None
    for model in ("alone", "side_by_side"):
        running = kernel.begin(f"%%agent bot --model @{model} --tools nap\nTake a nap.")
        kernel.wait_for_output(running, "calling nap")
        done, took_s = interrupt_after(kernel, running, 1)
        # the cell ends within 3 s
        assert took_s < 3
        assert done.error.ename == "KeyboardInterrupt"
        # the other cell works at once
        other = kernel.execute("6 * 7")
        assert other.result == "42"
        assert other.duration_s < 1
    # log stays empty: the tasks were cancelled, not left running
    late = kernel.execute("time.sleep(35)\nlog", timeout_s=60)
    assert late.result == "[]"


def test_interrupt_while_the_model_streams(case, kernel):
    assert "one token per second" in case.given
    # Its text begins with a whole call, so that a reader of partial text would have something to run.
    ready = kernel.execute(
        SET_UP
        + """
from agent_magic.core.messages import MessageDelta
from agent_magic.models.model import Capabilities

class Slow(Model):
    model_id = "slow"
    capabilities = Capabilities(tools=False)
    n_read = 0
    def generate(self, messages, **settings):
        raise NotImplementedError
    def stream(self, messages, **settings):
        for n in range(60):
            self.n_read += 1
            yield MessageDelta(text='Action: {"name": "mark", "arguments": {}}\\n' if n == 0 else f"token{n} ")
            time.sleep(1)

def mark():
    "Marks."
    log.append("ran")

m = Slow()
"""
    )
    assert ready.error is None
    running = kernel.begin("%%agent bot --model @m --tools mark\nTalk.")
    kernel.wait_for_output(running, "token1")
    done, took_s = interrupt_after(kernel, running, 2)
    n_read = int(kernel.execute("m.n_read").result)
    # the cell ends within 2 s
    assert took_s < 2
    assert done.error.ename == "KeyboardInterrupt"
    # no more chunks are read from the stream afterwards
    assert 3 <= n_read < 8
    assert kernel.execute("time.sleep(3)\nm.n_read").result == str(n_read)
    # the partial text is kept in the record
    (step,) = done.displays[0][RECORD]["steps"]
    assert "token1 token2" in step["thought"]
    # and marked as partial
    assert step["error"]["kind"] == "Interrupted"
    assert done.displays[0][RECORD]["status"] == "interrupted"
    assert "Interrupted" in done.displays[0]["text/plain"]
    # nothing that it asks for runs
    assert kernel.execute("log").result == "[]"


def test_interrupt_reaches_the_manager(case, kernel, tmp_path):
    assert "30 s tool" in case.given
    entered = tmp_path / "entered"
    ready = kernel.execute(
        SET_UP
        + f"""
def dig(x: int):
    "Digs."
    with open({str(entered)!r}, "a") as file:
        file.write("x")
    time.sleep(30)
    log.append("dug")

"""
        + """
calls, final = ScriptedModel.calls, ScriptedModel.final
digs = ScriptedModel.rules({"": calls(("dig", {"x": 1}))})
one = ScriptedModel([calls(("digger", {"task": "a"})), final("late")])
two = ScriptedModel([calls(("digger", {"task": "a"}), ("digger", {"task": "b"})), final("late")])
in_code = ScriptedModel([
    "<code>try:\\n    digger('a')\\nexcept BaseException:\\n    pass\\nfinal_answer('late')</code>"
])
"""
    )
    assert ready.error is None
    kernel.execute("%%agent digger --model @digs --tools dig --define --description Digs.\nYou dig.")
    for model, mode, n_children in (("one", "tools", 1), ("two", "tools", 2), ("in_code", "code", 1)):
        entered.write_text("")
        n_asked = int(kernel.execute("len(digs.requests)").result)
        running = kernel.begin(f"%%agent boss --new --mode {mode} --model @{model} --tools digger\nDig.")
        end = time.monotonic() + 30
        while len(entered.read_text()) < n_children and time.monotonic() < end:
            time.sleep(0.02)
        done, took_s = interrupt_after(kernel, running, 1)
        assert took_s < 10
        assert done.error.ename == "KeyboardInterrupt"
        # both runs end as interrupted
        assert kernel.execute("boss.result.status").result == "'interrupted'"
        kernel.execute(
            "made = [result for step in boss.result.actions for result in step.tool_results]\n"
            "made = [call for result in made for call in result.calls or (result,)]"
        )
        statuses = kernel.execute("[call.run.status for call in made]").result
        assert statuses == repr(["interrupted"] * n_children)
        # neither the sub-agent's nor the manager's model is called again
        assert kernel.execute(f"time.sleep(1)\nlen({model}.requests)").result == "1"
        assert kernel.execute(f"len(digs.requests) - {n_asked}").result == str(n_children)
        # KeyboardInterrupt is not turned into an observation that the manager works on
        assert kernel.execute("[call.fault.kind for call in made]").result == repr(
            ["Interrupted"] * n_children
        )
