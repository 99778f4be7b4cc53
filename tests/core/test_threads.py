"""Threads that are started where Ctrl-C may come."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from agent_magic.core.flag import Flag
from agent_magic.core.threads import start_thread

PATIENCE_S = 60.0


def test_job_runs_in_a_daemon_thread_of_that_name() -> None:
    seen: list[tuple[str, bool]] = []
    done = Flag()

    def job() -> None:
        thread = threading.current_thread()
        seen.append((thread.name, thread.daemon))
        done.set()

    start_thread(job, "agent_magic_x")
    assert done.wait(PATIENCE_S)
    assert seen == [("agent_magic_x", True)]


REFUSED = """
import _thread, threading
start = _thread.start_new_thread
n_left = {room}
def refuse(*args, **kwargs):
    global n_left
    n_left -= 1
    if n_left < 0:
        raise RuntimeError("can't start new thread")
    return start(*args, **kwargs)
_thread.start_new_thread = threading._start_new_thread = threading._start_joinable_thread = refuse
from agent_magic.core.threads import start_thread
done = threading.Event()
try:
    start_thread(done.set, "x")
except RuntimeError as error:
    print(error)
else:
    print(done.wait(20))
"""


@pytest.mark.parametrize(("room", "said"), [(0, "can't start new thread\n"), (1, "True\n"), (2, "True\n")])
def test_job_is_done_in_the_one_thread_that_there_is_room_for(room: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSED.format(room=room)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.stdout, done.stderr) == (said, "")


STOPPED = """
import signal, sys, threading, time
from agent_magic.core.threads import start_thread

ran, begun, n_stopped, is_reached = [], [], 0, True
while is_reached:  # Ctrl-C at the n-th call, or return, of what is called to start a thread
    n = n_left = n_stopped + 1
    is_inside = is_reached = False

    def look(frame, event, _):
        global n_left, is_inside, is_reached
        if frame.f_code.co_name == "start_thread" and event in ("call", "return"):
            is_inside = event == "call"
        n_left -= is_inside
        if is_inside and n_left == 0:
            is_reached = True
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    sys.setprofile(look)
    try:
        start_thread(lambda n=n: ran.append(n), "x")
        begun.append(n)
    except KeyboardInterrupt:
        n_stopped += 1
    finally:
        sys.setprofile(None)
end = time.monotonic() + 20
while (len(threading.enumerate()) > 1 or not set(begun) <= set(ran)) and time.monotonic() < end:
    time.sleep(0.001)
print(n_stopped > 5, set(begun) <= set(ran), len(set(ran)) == len(ran), len(threading.enumerate()))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signal ends a wait there")
def test_ctrl_c_at_any_moment_of_a_start_leaves_no_thread_that_never_begins() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.stdout, done.stderr) == ("True True True 1\n", "")
