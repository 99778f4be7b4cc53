"""A real SIGINT at 50 random moments of code steps in a real kernel: what is left is valid, and the agent goes on."""

from __future__ import annotations

import random
import time

import pytest
from cases.code_cells import CodeCells, block
from kernels import ReplyLost

N_POINTS = 50
MOST_TRIES = 100
AT_MOST_S = 1.0
"""From the signal to the end of the cell; the machine may be busy."""
DEFINE = '''
import time
def work(n: int) -> int:
    """Do piece n.

    Args:
        n: which piece
    """
    print("piece", n)
    time.sleep(0.002)
    return n * 2
'''
REPLIES = [
    block("total = 0\nfor i in range(400_000):\n    total += i"),
    block("for _ in range(25):\n    try:\n        time.sleep(0.002)\n    except:\n        pass"),
    block("rows = [work(n) for n in range(12)]\nrows"),
    block("names = sorted(str(i) for i in range(60_000))\nprint(names[:3])"),
    block(
        "import contextlib\nfor _ in range(20):\n    with contextlib.suppress(BaseException):\n        time.sleep(0.002)"
    ),
    block("final_answer(total)"),
]
# What another agent's code made is the person's to the next one.
FORGET = "for _each in ('total', 'i', 'rows', 'names', 'contextlib', 'bot'): globals().pop(_each, None)"
TOTAL = sum(range(400_000))


@pytest.mark.kernel
def test_code_stopped_by_sigint_at_random_moments_leaves_a_valid_memory(kernel) -> None:
    rng = random.Random("moments")
    cells = CodeCells(kernel)
    cells.define(DEFINE)
    ask = "%%agent bot --new --mode code --model @m --tools work --step-timeout none\nAdd."
    cells.script(REPLIES)
    assert kernel.execute(ask).result == str(TOTAL)  # warm
    cells.inside_quietly("keep_process()")
    cells.script(REPLIES, before=FORGET)
    run_s = kernel.execute(ask).duration_s
    stopped: list[tuple[int, float]] = []
    for _ in range(MOST_TRIES):
        cells.script(REPLIES, before=FORGET)
        running = kernel.begin(ask)
        kernel.wait_for_output(running, "running")
        time.sleep(rng.uniform(0, 0.85 * run_s))
        kernel.interrupt()
        sent_at = time.monotonic()
        try:
            done = kernel.finish(running, timeout_s=30)
        except ReplyLost:  # outside of the run a signal is the kernel's own
            assert {run.status for run in cells.runs()} <= {"answered"}
            continue
        took_s = time.monotonic() - sent_at
        # the kernel lives, and is set as before
        assert kernel.is_alive()
        cells.inside_quietly("check_process(globals())")
        runs = cells.runs()
        if not runs:
            continue  # before the run began
        (run,) = runs
        if run.status == "answered":
            assert run.answer["value"] == TOTAL
            run_s = min(run_s, done.duration_s)  # the machine has more time now
            continue
        assert (run.status, done.error and done.error.ename) == ("interrupted", "KeyboardInterrupt")
        # memory can be saved and loaded, one result for each code
        cells.check_memory()
        stopped.append((len(run.steps), took_s))
        # a step that ended before is whole: no fault but that of the one that was stopped
        assert [step.faults for step in run.steps[:-1]] == [[]] * (len(run.steps) - 1)
        # the agent is usable again
        cells.script([block("final_answer('back')")])
        again = kernel.execute("%%agent bot --model @m\nGo on.")
        assert again.result == "'back'"
        assert cells.runs()[1].status == "answered"
        cells.check_memory()
        if len(stopped) == N_POINTS:
            break
    assert len(stopped) == N_POINTS
    assert len({n_steps for n_steps, _ in stopped}) > 3
    slowest = max(took_s for _, took_s in stopped)
    print(f"slowest end after {slowest:.3f} s")
    assert slowest <= AT_MOST_S
