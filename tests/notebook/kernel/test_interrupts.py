from __future__ import annotations

import signal
import threading
import time

import pytest
from threads import join

from agent_magic.notebook.kernel.interrupts import interrupts_noted

RECORD = "application/vnd.agent-magic.run.v1+json"
SET_UP = """
%load_ext agent_magic
import time
from agent_magic import ScriptedModel as S

def spin(seconds: float) -> str:
    "Keep busy."
    end = time.time() + seconds
    while time.time() < end:
        pass
    return "spun"

def stubborn(seconds: float) -> str:
    "Wait, whatever comes."
    try:
        time.sleep(seconds)
    except:
        return "failed"
    return "waited"
"""


def status_of(done):
    """The status in the last form of the cell's first output."""
    return done.displays[-1][RECORD]["status"]


@pytest.mark.kernel
@pytest.mark.parametrize("gap_s", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("n_calls", [1, 2])
def test_two_quick_interrupts_leave_a_finished_record(kernel, gap_s, n_calls):
    calls = ", ".join(["('spin', {'seconds': 1.5})"] * n_calls)
    assert kernel.execute(f"{SET_UP}m = S([S.calls({calls}), S.final('done')] * 2)").error is None
    # So much to record that the second comes before the end: what comes after it is the kernel's own.
    running = kernel.begin("%%agent bot --model @m --tools spin\n" + "Spin <b>. " * 30_000)
    kernel.wait_for_output(running, "calling")
    time.sleep(0.3)
    kernel.interrupt()
    time.sleep(gap_s)
    kernel.interrupt()
    done = kernel.finish(running, timeout_s=30)
    assert done.error.ename == "KeyboardInterrupt"
    assert status_of(done) == "interrupted"
    assert kernel.execute("bot.result.status, 6 * 7").result == "('interrupted', 42)"


@pytest.mark.kernel
def test_interrupt_that_a_tool_swallows_ends_the_run_after_that_tool(kernel):
    ready = kernel.execute(
        f"{SET_UP}m = S([S.calls(('stubborn', {{'seconds': 2}}))] * 4 + [S.final('done')])"
    )
    assert ready.error is None
    running = kernel.begin("%%agent bot --model @m --tools stubborn\nWait.")
    kernel.wait_for_output(running, "calling")
    time.sleep(0.5)
    kernel.interrupt()
    done = kernel.finish(running, timeout_s=30)
    assert done.error.ename == "KeyboardInterrupt"
    assert status_of(done) == "interrupted"
    (step,) = done.displays[-1][RECORD]["steps"]
    assert step["calls"][0]["observation"] == "failed"
    assert kernel.execute("len(m.requests)").result == "1"


@pytest.mark.kernel
def test_interrupt_by_a_thread_of_the_notebook_does_not_wait_for_a_tool(kernel):
    ready = kernel.execute(
        f"""{SET_UP}
import threading

def hang() -> str:
    "Wait long."
    threading.Thread(target=bot.interrupt, args=["enough"]).start()
    time.sleep(30)
    return "late"

m = S([S.calls(("hang", {{}})), S.final("done")])
"""
    )
    assert ready.error is None
    done = kernel.execute("%%agent bot --model @m --tools hang\nWait.", timeout_s=20)
    assert done.error.ename == "KeyboardInterrupt"
    assert kernel.execute("bot.result.status, bot.result.error.message").result == "('interrupted', 'enough')"


def test_interrupt_is_noted_and_raised_once_while_it_is_recorded():
    noted: list[int] = []
    with interrupts_noted(lambda: noted.append(1)):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert noted == [1, 1]


def test_interrupt_is_as_before_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with interrupts_noted(lambda: None):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_handle_no_signals():
    done: list[bool] = []

    def work() -> None:
        with interrupts_noted(lambda: None):
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    join(thread)
    assert done == [True]
