"""Stopping: time limits in and off the main thread, of anything that can be interrupted; nothing stays behind."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import CodeExecutionError
from agent_magic.execution.executor import DictExecutor
from agent_magic.execution.request import CodeStep, Guard
from agent_magic.execution.stop.stopping import TimeLimitReached, limited

ENDLESS = {
    "bare except": "while True:\n    try:\n        pass\n    except:\n        pass",
    "except BaseException": (
        "import time\nwhile True:\n    try:\n        time.sleep(0.01)\n    except BaseException as e:\n        x = e"
    ),
    "finally: continue": (
        "import time\nwhile True:\n    try:\n        time.sleep(0.01)\n    finally:\n        continue"
    ),
    "finally: return": (
        "def f():\n    while True:\n        try:\n            while True: pass\n        finally:\n            return 1\nwhile True: f()"
    ),
    "suppress": (
        "import contextlib, time\nwhile True:\n    with contextlib.suppress(BaseException):\n        time.sleep(0.01)"
    ),
    "own context manager": (
        "class S:\n    def __enter__(self): pass\n    def __exit__(self, *a): return True\n"
        "while True:\n    with S():\n        while True: pass"
    ),
    "sleep": "import time\ntime.sleep(60)",
    "lock": "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    "queue": "import queue\nqueue.Queue().get()",
    "comprehension": "x = [0 for i in range(10**10) if i < 0]",
    "genexpr": "any(map(lambda i: False, iter(int, 1)))",
    "thread pool": (
        "import time\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(1) as pool:\n    pool.submit(time.sleep, 1.5)"
    ),
    "joined thread": "import threading, time\nt = threading.Thread(target=time.sleep, args=(1.5,))\nt.start()\nt.join()",
    "asyncio.run": "import asyncio\nasync def main():\n    await asyncio.sleep(60)\nasyncio.run(main())",
    "top-level await": "import asyncio\nawait asyncio.sleep(60)",
    "async loop": "import asyncio\nwhile True:\n    await asyncio.sleep(0)",
    "recursive generator": "def g():\n    while True:\n        try:\n            yield 1\n        except:\n            pass\nfor _ in g(): pass",
    "__del__": (
        "class D:\n    def __del__(self):\n        while True: pass\nd = D()\ndel d\nwhile True: pass"
    ),
    "recursion with retry": (
        "def fetch(n):\n    while True:\n        try:\n            return fetch(n + 1)\n"
        "        except Exception:\n            pass\nfetch(0)"
    ),
    "recursion with second try": "def f():\n    try:\n        f()\n    except Exception:\n        f()\nf()",
    "sort key": "sorted(range(10**4), key=lambda n: [0 for _ in range(10**7)])",
}
"""Each is stopped by the limit alone."""


@pytest.mark.parametrize("what", ENDLESS)
def test_limit_stops_code_that_does_not_end(room, what):
    alarm = signal.getsignal(signal.SIGALRM)
    interrupt = signal.getsignal(signal.SIGINT)
    start = time.monotonic()
    outcome = room.run(ENDLESS[what], timeout_s=0.3)
    assert time.monotonic() - start < 10
    assert isinstance(outcome.error, CodeExecutionError)
    assert outcome.error.message.startswith("The code was stopped by its time limit of 0.3 s")
    assert (signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT)) == (alarm, interrupt)
    assert room.run("1 + 1").value == 2


@pytest.mark.parametrize("depth", range(8))
def test_limit_stops_recursion_with_retry_whatever_depth_it_begins_at(room, depth):
    def run_at(depth):
        return run_at(depth - 1) if depth else room.run(ENDLESS["recursion with retry"], timeout_s=0.2)

    start = time.monotonic()
    outcome = run_at(depth)
    assert time.monotonic() - start < 10
    assert outcome.error.message.startswith("The code was stopped by its time limit of 0.2 s")


IN_A_THREAD = ("recursion with retry", "top-level await", "async loop", "comprehension")


@pytest.mark.parametrize("what", IN_A_THREAD)
def test_limit_stops_code_in_a_thread_that_does_not_end(room, what):
    start = time.monotonic()
    with ThreadPoolExecutor(1) as threads:
        outcome = threads.submit(room.run, ENDLESS[what], timeout_s=0.3).result(30)
    assert time.monotonic() - start < 10
    assert outcome.error.message.startswith("The code was stopped by its time limit of 0.3 s")
    assert room.run("1 + 1").value == 2


def test_limit_ends_code_that_waits_for_a_lock_in_a_thread_when_it_has_that(room):
    room.ns["gate"] = gate = threading.Lock()
    gate.acquire()
    with ThreadPoolExecutor(1) as threads:
        coming = threads.submit(room.run, "gate.acquire()\nx = 1", timeout_s=0.1)
        time.sleep(1)
        assert not coming.done()
        gate.release()
        outcome = coming.result(30)
    assert "a call into native code could not be stopped sooner" in outcome.error.message
    assert "x" not in room.ns


def test_limit_names_itself_the_line_and_what_to_do(room):
    outcome = room.run(
        "import time\nprint('before')\nfor n in range(100):\n    time.sleep(1)\n", timeout_s=0.2
    )
    assert outcome.error is not None
    assert outcome.error.message == snapshot("""\
The code was stopped by its time limit of 0.2 s at line 4: `time.sleep(1)`.
Do less in one step: a part of the data, a faster way, or an end to the loop.\
""")
    assert outcome.printed == "before\n"


def test_limit_says_how_long_a_native_call_really_took(room):
    outcome = room.run("n = sum(range(10**8))", timeout_s=0.1)
    assert outcome.error is not None
    assert "It took" in outcome.error.message
    assert outcome.error.message.splitlines()[0].endswith("could not be stopped sooner.")


def test_limit_leaves_the_timer_of_others_as_it_was(room):
    fired = []
    before = signal.signal(signal.SIGALRM, lambda *_: fired.append(1))
    timer = signal.setitimer(signal.ITIMER_REAL, 5, 7)
    try:
        room.run("x = 1")
        left, interval = signal.setitimer(signal.ITIMER_REAL, 0.3, 0)
        assert 4 < left <= 5
        assert interval == 7
        # What was due meanwhile comes as soon as the code is over.
        room.run("import time\ntime.sleep(0.5)\nassert not FIRED", lent={"FIRED": fired})
        time.sleep(0.05)
        assert fired == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)


def test_no_limit_lets_code_run(room):
    assert room.run("import time\ntime.sleep(0.4)\n3", timeout_s=None).value == 3


def test_limit_does_not_outlive_the_code(room):
    assert room.run("1", timeout_s=0.1).value == 1
    time.sleep(0.2)


@pytest.mark.parametrize(
    "what", ["bare except", "suppress", "comprehension", "genexpr", "own context manager"]
)
def test_limit_stops_python_code_off_the_main_thread(room, what):
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(room.run(ENDLESS[what], timeout_s=0.3)))
    start = time.monotonic()
    thread.start()
    thread.join(5)
    assert time.monotonic() - start < 10
    assert outcomes[0].error.message.startswith("The code was stopped by its time limit of 0.3 s")


def test_limit_off_the_main_thread_leaves_nothing_to_raise_later(room):
    seen = []

    def work():
        for _ in range(20):
            room.run("while True: pass", timeout_s=0.02)
            seen.append(sum(range(1000)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert len(seen) == 20


def test_interrupt_from_another_thread_wakes_code_that_sleeps(room):
    wakers = []

    def on_interrupt(wake):
        wakers.append(wake)
        return lambda: wakers.remove(wake)

    threading.Timer(0.2, lambda: wakers[0]()).start()  # noqa: PLW0108 - there is none yet
    start = time.monotonic()
    outcome = room.run("import time\nprint('a')\ntime.sleep(60)", on_interrupt=on_interrupt)
    assert time.monotonic() - start < 10
    assert (outcome.is_stopped, outcome.error, outcome.printed) == (True, None, "a\n")
    assert wakers == []


def test_interrupt_wakes_code_that_swallows_it(room):
    wakers = []

    def on_interrupt(wake):
        wakers.append(wake)
        return lambda: None

    threading.Timer(0.2, lambda: wakers[0]()).start()  # noqa: PLW0108 - there is none yet
    outcome = room.run(ENDLESS["bare except"], on_interrupt=on_interrupt)
    assert outcome.is_stopped


def test_interrupt_wake_that_comes_late_does_nothing(room):
    wakers = []

    def on_interrupt(wake):
        wakers.append(wake)
        return lambda: None

    room.run("1", on_interrupt=on_interrupt)
    wakers[0]()
    time.sleep(0.1)


def test_ctrl_c_stops_code_and_is_told_to_the_handler_before(room):
    told = []

    def before(number, frame):
        told.append(number)
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGINT, before)
    try:
        main = threading.main_thread().ident
        threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        start = time.monotonic()
        outcome = room.run(ENDLESS["bare except"])
        assert time.monotonic() - start < 10
        assert (outcome.is_stopped, outcome.error, told) == (True, None, [signal.SIGINT])
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        signal.signal(signal.SIGINT, handler)


def test_keyboard_interrupt_of_the_code_is_its_own_error(room):
    outcome = room.run("raise KeyboardInterrupt")
    assert not outcome.is_stopped
    assert isinstance(outcome.error, CodeExecutionError)


def test_limited_stops_its_body():
    start = time.monotonic()
    with pytest.raises(TimeLimitReached, match=r"took longer than 0\.2 s"), limited(0.2):
        time.sleep(5)
    assert time.monotonic() - start < 10


def test_limited_stops_a_body_that_swallows_it():
    class Slow:
        def __repr__(self):
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    if time.monotonic() > end:
                        raise

    end = time.monotonic() + 0.3
    with pytest.raises(TimeLimitReached), limited(0.1):
        repr(Slow())


def test_limited_lets_a_short_body_be():
    with limited(0.1):
        pass
    time.sleep(0.15)


def test_limited_raises_what_its_body_raises():
    with pytest.raises(ValueError, match="own"), limited(1):
        raise ValueError("own")


def test_limited_ends_when_the_person_does_not_want_to_wait():
    start = time.monotonic()
    with (
        pytest.raises(TimeLimitReached) as raised,
        limited(None, is_interrupted=lambda: time.monotonic() > start + 0.15),
    ):
        time.sleep(5)
    assert raised.value.is_interrupt
    assert time.monotonic() - start < 10


def test_limited_works_off_the_main_thread():
    seen = []

    def work():
        try:
            with limited(0.2):
                while True:
                    pass
        except TimeLimitReached as reached:
            seen.append(str(reached))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(5)
    assert seen == ["took longer than 0.2 s"]


def test_recursion_that_begins_anew_in_each_finally_is_stopped() -> None:
    code = "def g():\n    try:\n        g()\n    finally:\n        g()\ng()"
    start = time.monotonic()
    outcome = DictExecutor({}).execute(CodeStep(code=code, label="step 1", guard=Guard(timeout_s=0.5)))
    assert time.monotonic() - start < 20  # it would go on for ever
    assert outcome.error is not None
    assert "time limit of 0.5 s" in outcome.error.message
