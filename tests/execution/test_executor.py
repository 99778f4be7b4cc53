"""Executors: code in a living namespace, what comes of it, and what stands there afterwards."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import CodeExecutionError, CodeRefused, ParsingError
from agent_magic.execution.executor import DictExecutor
from agent_magic.execution.request import CodeOutcome, CodeStep
from agent_magic.execution.step.running import give_answer, persons_code

ROOT = Path(__file__).parents[2]


def test_execute_gives_prints_and_the_value_of_the_last_expression(room):
    outcome = room.run("x = 2\nprint('two')\nx * 21")
    assert outcome == CodeOutcome(printed="two\n", value=42, has_value=True)


def test_execute_gives_no_value_when_the_last_expression_is_none(room):
    assert room.run("print(1)") == CodeOutcome(printed="1\n")


def test_execute_leaves_what_code_defines_to_the_persons_cells(room):
    room.run("n = 1\ndef up():\n    global n\n    n += 1\n    return n")
    room.write("result = up()")
    assert (room.ns["n"], room.ns["result"]) == (2, 2)


def test_execute_runs_code_in_the_persons_functions_globals(room):
    room.write("factor = 3\ndef times(n): return factor * n")
    assert room.run("times(5)").value == 15


def test_execute_changes_no_builtins_of_the_namespace(room):
    room.write("1")
    builtins = room.ns["__builtins__"]
    room.run("x = 1")
    assert room.ns["__builtins__"] is builtins


def test_execute_lends_names_for_the_step_alone(room):
    def double(n: int) -> int:
        return 2 * n

    room.functions["double"] = double
    assert room.run("double(data)", lent={"data": 4}).value == 8
    assert [name for name in room.ns if not name.startswith("__")] == []


def test_execute_hides_a_variable_named_as_a_lent_one_and_brings_it_back(room):
    room.write("data = [1]\nfinal_answer = 'mine'\nmine = data")
    outcome = room.run("data, mine", lent={"data": 4})
    assert outcome.value == (4, [1])
    assert room.ns["data"] is room.ns["mine"]
    assert room.ns["final_answer"] == "mine"


def test_execute_keeps_what_code_makes_of_a_lent_name(room):
    outcome = room.run("data = data + 1", lent={"data": 4})
    assert outcome.kept == {"data": 5}
    assert "data" not in room.ns


@pytest.mark.parametrize("code", ["1 / 0", "while True: pass", "raise SystemExit(3)", "final_answer(1)"])
def test_execute_takes_lent_names_back_however_the_code_ends(room, code):
    room.write("data = 'mine'")
    room.run(code, lent={"data": 4}, timeout_s=0.1)
    assert room.ns["data"] == "mine"
    assert "final_answer" not in room.ns


def test_execute_refuses_to_rebind_a_name_of_the_persons(room):
    room.write("df = 'mine'")
    outcome = room.run("ok = 1\ndf = 2")
    assert isinstance(outcome.error, CodeRefused)
    assert "df" in outcome.error.message
    assert (room.ns["df"], "ok" in room.ns) == ("mine", False)


def test_execute_lets_code_rebind_what_code_has_made(room):
    room.run("total = 1")
    assert room.run("total = total + 1\ntotal").value == 2


def test_execute_takes_a_name_that_the_person_bound_again_for_theirs(room):
    room.run("total = 1")
    room.write("total = 10")
    assert isinstance(room.run("total = 2").error, CodeRefused)


def test_execute_puts_a_loop_variable_of_the_persons_back(room):
    room.write("row = 'mine'")
    outcome = room.run("for row in range(3):\n    pass\nlast = row")
    assert (room.ns["row"], room.ns["last"]) == ("mine", 2)
    assert outcome.notes == snapshot(("row was put back: it is the person's name. Use another one.",))


def test_execute_puts_a_name_back_that_a_function_of_the_persons_rebound(room):
    room.write("count = 1\ndef up():\n    global count\n    count += 1\n    return count")
    outcome = room.run("up()")
    assert outcome.value == 2
    assert room.ns["count"] == 1
    assert len(outcome.notes) == 1


def test_execute_lets_code_rebind_all_when_it_may(room):
    room.write("df = 'mine'\nrows = [1]")
    outcome = room.run("df = 2\nrows.append(2)\nfor rows in [3]: pass", writes="all")
    assert outcome == CodeOutcome()
    assert (room.ns["df"], room.ns["rows"]) == (2, 3)


def test_execute_protects_named_variables_even_when_code_may_write_all(room):
    room.write("df = 'mine'\nrows = [1]\nother = 1")
    assert isinstance(room.run("df = 2", writes="all", protect=("df",)).error, CodeRefused)
    outcome = room.run("rows.append(2)\nother = 2", writes="all", protect=("rows",))
    assert (room.ns["rows"], room.ns["other"], len(outcome.notes)) == ([1], 2, 1)


def test_execute_takes_new_names_out_when_it_may_write_none(room):
    room.write("mine = 1")
    outcome = room.run("x = mine + 1\ndef f(): return x\nf()", writes="none")
    assert outcome.value == 2
    assert sorted(outcome.kept) == ["f", "x"]
    assert sorted(name for name in room.ns if not name.startswith("__")) == ["mine"]
    again = room.run("x = f() + 1\nx", writes="none", lent=outcome.kept)
    assert (again.value, again.kept) == (3, {"x": 3})


def test_execute_tells_a_syntax_error_before_anything_runs(room):
    outcome = room.run("x = 1\nx = (")
    assert isinstance(outcome.error, ParsingError)
    assert "x" not in room.ns


def test_execute_keeps_what_was_printed_before_an_error(room):
    outcome = room.run("print('before')\n1 / 0")
    assert outcome.printed == "before\n"
    assert isinstance(outcome.error, CodeExecutionError)
    assert "ZeroDivisionError" in outcome.error.message


@pytest.mark.parametrize(
    "code",
    ["raise SystemExit(3)", "raise GeneratorExit", "raise KeyboardInterrupt", "raise BaseException('b')"],
)
def test_execute_takes_what_ends_a_process_for_an_error(room, code):
    outcome = room.run(code)
    assert isinstance(outcome.error, CodeExecutionError)
    assert not outcome.is_stopped


MIXED = """
import logging
from agent_magic.execution.executor import DictExecutor
from agent_magic.execution.request import CodeStep

logging.basicConfig(format="%(message)s")
code = '''
import logging, warnings
print("one")
warnings.warn("two")
logging.getLogger("mine").warning("three")
print("four")
'''
print(DictExecutor({}).execute(CodeStep(code=code, label="step")).printed, end="")
logging.getLogger("mine").warning("outside")
"""


def test_execute_gives_prints_in_order_with_warnings_and_logs():
    # In a process of its own: pytest keeps warnings and logs to itself.
    done = subprocess.run(
        [sys.executable, "-c", MIXED], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == snapshot(
        (
            """\
one
<step>:4: UserWarning: two
  warnings.warn("two")
three
four
""",
            "outside\n",
        )
    )


def test_execute_gives_prints_of_threads(room):
    code = "import threading\nt = threading.Thread(target=print, args=('there',))\nt.start()\nt.join()\nprint('here')"
    assert room.run(code).printed == "there\nhere\n"


def test_execute_collapses_a_progress_bar(room):
    outcome = room.run(
        "from tqdm import tqdm\nfor _ in tqdm(range(2_000), mininterval=0): pass\nprint('done')",
        imports=("tqdm",),
    )
    lines = outcome.printed.splitlines()
    assert (len(lines), lines[-1]) == (2, "done")
    assert "2000/2000" in lines[0]


def test_execute_keeps_head_and_tail_of_much_that_is_printed(room):
    start = time.monotonic()
    outcome = room.run(
        "print('first')\nfor i in range(2000):\n    print('x' * 50_000)\nprint('last')", max_output=1_000
    )
    assert time.monotonic() - start < 10
    assert outcome.printed.startswith("first\nxx")
    assert outcome.printed.endswith("x\nlast\n")
    assert "\n… 100,001,011 characters cut …\n" in outcome.printed
    assert len(outcome.printed) < 1_050


def test_execute_strips_control_characters(room):
    assert room.run(r'print("\x1b[2J\x1b]0;owned\x07" + "a\rb" + "c")').printed == "bc\n"


def test_execute_lets_code_run_an_event_loop_inside_one(room):
    async def cell():
        return room.run(
            "import asyncio\nasync def f():\n    return 5\nasyncio.run(f())"
        ), asyncio.get_running_loop()

    outcome, _ = asyncio.run(cell())
    assert outcome.value == 5


def test_execute_works_inside_code_that_calls_it(room):
    """An agent of the person's, called by code as any function is."""
    inner = DictExecutor(room.ns)
    room.write("")
    room.ns["ask"] = lambda code: inner.execute(
        CodeStep(code=code, label="inner", functions={"final_answer": give_answer})
    )
    outcome = room.run(
        "mine = 1\nr = ask('print(mine); final_answer(mine + 1)')\nprint('outer')\n[r.answer, r.printed]"
    )
    assert outcome.value == [2, "1\n"]
    assert outcome.printed == "outer\n"
    assert "final_answer" not in room.ns


@pytest.mark.parametrize("where", ["here", "in a thread"])
def test_execute_works_inside_a_tool_that_code_calls(room, where):
    inner = DictExecutor(room.ns)

    def ask(code):
        with persons_code():
            outcomes = []
            step = CodeStep(code=code, label="inner", functions={"final_answer": give_answer})
            if where == "here":
                return inner.execute(step).answer
            thread = threading.Thread(target=lambda: outcomes.append(inner.execute(step)))
            thread.start()
            thread.join(5)
            return outcomes[0].answer

    room.functions["ask"] = ask
    outcome = room.run("n = ask('final_answer(7)')\nfinal_answer(n + 1)")
    assert outcome.answer == 8
    assert "ask" not in room.ns


def test_execute_lets_one_block_run_at_a_time_in_a_namespace(room):
    other = DictExecutor(room.ns)
    outcomes = {}

    def work(executor, name):
        code = f"import time\n{name}_start = time.monotonic()\ntime.sleep(0.2)\n{name}_end = time.monotonic()"
        outcomes[name] = executor.execute(CodeStep(code=code, label=name))

    threads = [threading.Thread(target=work, args=pair) for pair in ((room.executor, "a"), (other, "b"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    ns = room.ns
    assert [outcome.error for outcome in outcomes.values()] == [None, None]
    assert ns["a_end"] <= ns["b_start"] or ns["b_end"] <= ns["a_start"]


def test_execute_waits_for_its_turn_no_longer_than_the_person(room):
    other = DictExecutor(room.ns)
    thread = threading.Thread(
        target=lambda: other.execute(CodeStep(code="import time\ntime.sleep(2)", label="a"))
    )
    thread.start()
    time.sleep(0.1)
    start = time.monotonic()
    outcome = room.run("x = 1", is_interrupted=lambda: time.monotonic() > start + 0.2)
    assert outcome == CodeOutcome(is_stopped=True)
    assert time.monotonic() - start < 10
    thread.join(5)


def test_execute_waits_for_no_turn_of_code_that_nothing_can_stop(room):
    class Stuck:
        name = "kid step 3"
        overdue_s = 12.3

    room.executor._turns.take(Stuck(), lambda: False)
    outcome = room.run("x = 1")
    assert outcome.error.message == snapshot("""\
The code did not run: that of kid step 3, which was to end 12 s ago, cannot be stopped. It waits in a thread for a lock, a queue, a sleep or native code.
Answer with what you have. The person can let it have what it waits for, or restart the kernel.\
""")
    assert "x" not in room.ns
    room.executor._turns.hand_on()
    assert room.run("x = 1").error is None


def test_execute_does_not_go_on_when_its_turn_is_had_by_code_that_nothing_can_stop(room):
    class Stuck:
        name = "kid step 3"
        overdue_s = 12.3

    def look():
        with persons_code():
            room.executor._turns.take(Stuck(), lambda: False)

    room.functions["look"] = look
    outcome = room.run("x = 1\nlook()\ny = 2")
    assert outcome.error.message == snapshot("""\
The code did not go on: that of kid step 3, which was to end 12 s ago, cannot be stopped. It waits in a thread for a lock, a queue, a sleep or native code.
Answer with what you have. The person can let it have what it waits for, or restart the kernel.\
""")
    assert (room.ns["x"], "y" in room.ns) == (1, False)
    room.executor._turns.hand_on()
    assert room.run("y = 2").error is None


def test_execute_keeps_prints_of_code_that_goes_on_when_other_code_has_ended(room):
    other = DictExecutor({})
    may_end, has_ended = threading.Event(), threading.Event()
    step = CodeStep(
        code="begun()\nprint('b')",
        label="b",
        functions={"begun": lambda: (may_end.set(), has_ended.wait(20))},
    )
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(other.execute(step)))
    room.functions["meanwhile"] = lambda: (thread.start(), may_end.wait(20))
    before = sys.stdout
    assert room.run("meanwhile()\nprint('a')").printed == "a\n"
    has_ended.set()
    thread.join(20)
    assert outcomes[0].printed == "b\n"
    assert sys.stdout is before


def test_execute_in_a_thread_leaves_the_streams_that_the_main_thread_has_changed(room):
    before, captured = sys.stdout, io.StringIO()
    may_end, has_begun = threading.Event(), threading.Event()
    room.functions["begun"] = lambda: (has_begun.set(), may_end.wait(20))
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(room.run("begun()\nprint('b')")))
    try:
        sys.stdout = captured
        thread.start()
        assert has_begun.wait(20)
        sys.stdout = before  # as `%%capture` does at its end
        may_end.set()
        thread.join(20)
        assert sys.stdout is before
    finally:
        sys.stdout = before
    assert outcomes[0].notes == ()


def test_execute_in_a_thread_puts_back_the_streams_that_its_code_speaks_of(room):
    room.functions["spoil"] = lambda name: setattr(sys, name, None)
    before = sys.stdout
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(room.run("spoil('stdout')")))
    thread.start()
    thread.join(20)
    assert sys.stdout is before
    assert outcomes[0].notes == ("sys.stdout put back: code may not change the interpreter.",)


def test_execute_names_its_code_in_tracebacks(room):
    room.run("def f():\n    return 1 / 0")
    with pytest.raises(ZeroDivisionError) as raised:
        room.write("f()")
    assert str(raised.traceback[-1].path).startswith("<analyst step 1")


def test_execute_leaves_no_trace_function_limit_or_stream(room):
    before = (
        sys.stdout,
        sys.stderr,
        sys.displayhook,
        sys.getrecursionlimit(),
        sys.gettrace(),
        sys.unraisablehook,
    )
    room.functions["spoil"] = lambda: (setattr(sys, "stdout", None), sys.setrecursionlimit(5_000))
    outcome = room.run("spoil()")
    assert before == (
        sys.stdout,
        sys.stderr,
        sys.displayhook,
        sys.getrecursionlimit(),
        sys.gettrace(),
        sys.unraisablehook,
    )
    assert outcome.notes == snapshot(
        ("sys.stdout, the recursion limit put back: code may not change the interpreter.",)
    )


def test_execute_puts_builtins_back(room):
    import builtins

    before = print
    room.functions["spoil"] = lambda: (setattr(builtins, "print", 3), setattr(builtins, "spoilt", 4))
    outcome = room.run("spoil()")
    assert builtins.print is before
    assert not hasattr(builtins, "spoilt")
    assert len(outcome.notes) == 1


def test_execute_does_not_wait_for_the_text_of_an_error_without_end(room):
    code = "class Endless(Exception):\n    def __str__(self):\n        while True: pass\nraise Endless"
    start = time.monotonic()
    outcome = room.run(code)
    assert time.monotonic() - start < 10
    assert outcome.error.message.startswith("Endless")


def test_execute_survives_deep_recursion(room):
    outcome = room.run("def f(n): return f(n + 1)\nf(0)")
    assert "RecursionError" in outcome.error.message


def test_execute_keeps_comparing_out_of_the_persons_hands(room):
    code = "class Slow:\n    def __eq__(self, other):\n        while True: pass\n    __hash__ = None\nkept = Slow()\nrows = [kept]"
    room.write(code)
    assert room.run("x = kept", timeout_s=0.5) == CodeOutcome()


INTERRUPTED = """
import random, signal, sys, threading, time
from agent_magic.execution.executor import DictExecutor
from agent_magic.execution.request import CodeStep
from agent_magic.execution.step.running import give_answer, persons_code

ns = {"final_answer": "mine", "rows": [1, 2, 3], "row": "mine"}
exec("def mine(): return 1", ns)
rows = ns["rows"]
executor = DictExecutor(ns)
main = threading.main_thread().ident
stdout, handler, alarm = sys.stdout, signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)

def tool():
    with persons_code():
        time.sleep(0.0005)
    return 1

code = '''
rows.append(4)
for row in range(30):
    try:
        n = tool()
        print(n)
    except:
        pass
'''
step = CodeStep(code=code, label="step", functions={"final_answer": give_answer, "tool": tool})
counts = {"stopped": 0, "outside": 0, "ended": 0}
rng = random.Random(int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    delay = rng.random() * 0.025
    gate = threading.Lock()
    gate.acquire()
    sender = threading.Thread(target=lambda: (gate.acquire(), time.sleep(delay), signal.pthread_kill(main, signal.SIGINT)))
    sender.start()  # no signal comes yet: Python's own start of a thread does not stand it
    try:
        gate.release()
        outcome = executor.execute(step)
        counts["stopped" if outcome.is_stopped else "ended"] += 1
        sender.join()
    except KeyboardInterrupt:
        counts["outside"] += 1
    sender.join()
    assert ns["final_answer"] == "mine", ns["final_answer"]
    assert "tool" not in ns
    assert ns["row"] == "mine"
    assert ns["rows"] is rows and rows == [1, 2, 3], rows
    assert sys.stdout is stdout
    assert signal.getsignal(signal.SIGINT) is handler
    assert signal.getsignal(signal.SIGALRM) is alarm
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert not executor._turns._lock.locked()
assert executor.execute(CodeStep(code="1 + 1", label="after")).value == 2
print(counts)
"""


def test_execute_leaves_all_in_order_when_ctrl_c_comes_at_any_moment():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, "7", "150"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    counts = eval(done.stdout)
    assert counts["stopped"] > 50


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="code is stopped in another way there")
@pytest.mark.parametrize("what", ["end", "ctrl_c"])
def test_signal_at_any_call_after_the_answer_never_leaves_the_step_and_is_not_lost(what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "execution.signalled_answer", what],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
    )
    assert done.stderr == ""
    assert int(done.stdout) > 8


def test_tool_that_another_thread_bound_anew_while_code_runs_is_the_new_one_afterwards() -> None:
    def rate() -> int:
        return 1

    def newer() -> int:
        return 2

    namespace: dict[str, Any] = {"rate": rate}
    other = threading.Timer(0.1, lambda: namespace.__setitem__("rate", newer))
    other.start()
    outcome = DictExecutor(namespace).execute(
        CodeStep(code="import time\ntime.sleep(0.3)", label="step 1", functions={"rate": lambda: 0})
    )
    other.join()
    assert outcome.error is None
    assert namespace["rate"] is newer


def test_namespace_has_no_builtins_that_it_had_not() -> None:
    namespace: dict[str, Any] = {}
    DictExecutor(namespace).execute(CodeStep(code="def f():\n    return len([1])", label="step 1"))
    assert list(namespace) == ["f"]
    assert namespace["f"]() == 1
