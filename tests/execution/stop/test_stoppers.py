"""What a stopper leaves behind in the interpreter: nothing that a debugger would meet."""

from __future__ import annotations

import subprocess
import sys

import pytest

_TRACED = """
import sys, threading
from agent_magic.execution.stop.stoppers import ThreadStopper, raise_in

def traced():
    # A debugger does it. An interpreter that stops at every call to look for what is to be raised
    # would never get on from here, and hear no signal.
    sys.settrace(lambda *_: None)
    try:
        return (lambda: "well")()
    finally:
        sys.settrace(None)

class Ended(BaseException):
    pass
"""
_OVER = """
def work():
    stopper = ThreadStopper(lambda _frame: None)
    stopper.start()
    stopper.finish()

thread = threading.Thread(target=work)
thread.start()
thread.join()
print(traced())
"""
_WAITING = """
goes_on, found = threading.Event(), []

def work():
    try:
        goes_on.wait()
        for _ in range(1_000):
            pass
    except Ended:
        found.append("ended")

thread = threading.Thread(target=work)
thread.start()
raise_in(thread.ident, Ended)
print(traced(), found)
goes_on.set()
thread.join()
print(found)
"""


@pytest.mark.parametrize(
    ("code", "printed"),
    [(_OVER, "well\n"), (_WAITING, "well []\n['ended']\n")],
    ids=["over", "not met yet"],
)
def test_stopped_thread_leaves_others_free_to_be_traced(code: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _TRACED + code], capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.stdout, done.stderr) == (printed, "")
