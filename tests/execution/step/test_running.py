"""Running: answers that nothing swallows, a person's code inside a step, threads of the code."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from inline_snapshot import snapshot

from agent_magic.execution.request import CodeOutcome
from agent_magic.execution.step.running import (
    current_step,
    give_answer,
    is_called_by_code,
    persons_code,
)

ANSWERS = {
    "plain": "final_answer(7)",
    "bare except": "try:\n    final_answer(7)\nexcept:\n    pass\nAFTER.append(1)",
    "except BaseException": "try:\n    final_answer(7)\nexcept BaseException as e:\n    kept = e\nAFTER.append(1)",
    "except a name": "B = BaseException\ntry:\n    final_answer(7)\nexcept (ValueError, B):\n    pass\nAFTER.append(1)",
    "finally: return": "def f():\n    try:\n        final_answer(7)\n    finally:\n        return 1\nf()\nAFTER.append(1)",
    "finally: continue": "for i in range(3):\n    try:\n        final_answer(7)\n    finally:\n        continue\nAFTER.append(1)",
    "finally: raise": "try:\n    final_answer(7)\nfinally:\n    raise ValueError('hides it')",
    "suppress": "import contextlib\nwith contextlib.suppress(BaseException):\n    final_answer(7)\nAFTER.append(1)",
    "own context manager": (
        "class S:\n    def __enter__(self): pass\n    def __exit__(self, *a): return True\nwith S():\n    final_answer(7)\nAFTER.append(1)"
    ),
    "generator": (
        "def g():\n    try:\n        yield final_answer(7)\n    except:\n        yield 2\nx = list(g())\nAFTER.append(1)"
    ),
    "decorator": (
        "def quiet(f):\n    def inner(*a):\n        try:\n            return f(*a)\n        except:\n            return None\n    return inner\n"
        "@quiet\ndef give(): final_answer(7)\ngive()\nAFTER.append(1)"
    ),
    "joined thread": "import threading\nt = threading.Thread(target=final_answer, args=(7,))\nt.start()\nt.join()\nwhile True: pass",
    "thread pool": (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as ex:\n    list(ex.map(final_answer, [7, 7]))"
    ),
    "thread pool, nobody asks": (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as ex:\n    f = ex.submit(final_answer, 7)\nwhile True: pass"
    ),
    "__del__": "class D:\n    def __del__(self): final_answer(7)\nd = D()\ndel d\nwhile True: pass",
    "sort key": "try:\n    sorted([7, 8], key=final_answer)\nexcept:\n    pass\nAFTER.append(1)",
    "twice": "try:\n    final_answer(7)\nexcept:\n    final_answer(8)",
    "one after the other": "final_answer(7)\nfinal_answer(8)",
    "async": "import asyncio\nasync def f(): final_answer(7)\nawait f()\nAFTER.append(1)",
    "gather": "import asyncio\nasync def f(): final_answer(7)\nr = await asyncio.gather(f(), f(), return_exceptions=True)\nAFTER.append(1)",
    "task": "import asyncio\nasync def f(): final_answer(7)\nt = asyncio.create_task(f())\nawait asyncio.sleep(5)\nAFTER.append(1)",
    "asyncio.run": "import asyncio\nasync def f(): final_answer(7)\nasyncio.run(f())\nAFTER.append(1)",
    "exit of a class": "class A:\n    try:\n        final_answer(7)\n    except:\n        pass\nAFTER.append(1)",
    "comprehension": "try:\n    [final_answer(i) for i in [7]]\nexcept:\n    pass\nAFTER.append(1)",
    "except group": "try:\n    final_answer(7)\nexcept* ValueError:\n    pass\nAFTER.append(1)",
    "value of the step": "final_answer(7) or 3",
}


@pytest.mark.parametrize("how", ANSWERS)
def test_answer_ends_the_step_whatever_the_code_does(room, how):
    after = []
    start = time.monotonic()
    outcome = room.run(ANSWERS[how], lent={"AFTER": after})
    assert (outcome.is_answered, outcome.answer, outcome.error) == (True, 7, None)
    assert after == []
    assert time.monotonic() - start < 10


def test_answer_that_a_library_swallows_ends_the_step_after_a_while(room):
    # Of another file, so that nothing in it is looked at by us.
    hidden = {}
    exec("def call(f):\n    try:\n        f()\n    except BaseException:\n        pass", hidden)
    room.functions["call"] = hidden["call"]
    outcome = room.run("def f():\n    call(lambda: final_answer(7))\n    while True: pass\nf()")
    assert (outcome.is_answered, outcome.answer) == (True, 7)


def test_answer_in_a_pool_of_the_persons_counts(room):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        room.ns["pool"] = pool
        assert room.run("pool.submit(final_answer, 7).result()").answer == 7


def test_answer_lets_finally_blocks_run(room):
    trace = []
    outcome = room.run(
        "try:\n    final_answer(7)\nfinally:\n    TRACE.append('cleanup')", lent={"TRACE": trace}
    )
    assert (outcome.answer, trace) == (7, ["cleanup"])


def test_answer_may_be_none(room):
    outcome = room.run("final_answer(None)")
    assert (outcome.is_answered, outcome.answer) == (True, None)


def test_answer_is_the_object_itself(room):
    room.write("mine = [1, 2]")
    assert room.run("final_answer(mine)").answer is room.ns["mine"]


def test_answer_is_not_taken_outside_of_a_step():
    with pytest.raises(RuntimeError) as raised:
        give_answer(7)
    assert str(raised.value) == snapshot(
        "final_answer was called when its step was over, so the answer was not taken."
    )


def test_step_is_known_in_code_and_its_threads_alone(room):
    seen = []
    room.functions["look"] = lambda: seen.append(current_step() is not None)
    code = "import threading\nlook()\nt = threading.Thread(target=look)\nt.start()\nt.join()"
    room.run(code)
    room.functions["look"]()
    thread = threading.Thread(target=room.functions["look"])
    thread.start()
    thread.join()
    assert seen == [True, True, False, False]


def test_persons_code_is_outside_of_the_guard_and_the_limit(room, tmp_path):
    path = tmp_path / "written.txt"

    def save():
        with persons_code():
            assert current_step() is None
            path.write_text("kept")
            time.sleep(0.4)
        return "saved"

    room.functions["save"] = save
    assert room.run("save()", timeout_s=0.3) == CodeOutcome(value="saved", has_value=True)
    assert path.read_text() == "kept"


def test_persons_code_keeps_the_codes_own_time(room):
    def wait():
        with persons_code():
            time.sleep(0.1)

    room.functions["wait"] = wait
    start = time.monotonic()
    outcome = room.run("import time\nwhile True:\n    wait()\n    time.sleep(0.1)", timeout_s=0.3)
    assert 0.5 < time.monotonic() - start < 10
    assert outcome.error is not None
    assert "0.3 s" in outcome.error.message


def test_persons_code_sees_the_names_that_lent_ones_hide(room):
    room.write("data = 'mine'\ndef read(): return data, 'tool' in globals()")

    def tool():
        with persons_code():
            return room.ns["read"]()

    room.functions["tool"] = tool
    assert room.run("[tool(), data]", lent={"data": 4}).value == [("mine", False), 4]


def test_persons_code_may_change_the_persons_variables(room):
    room.write("rows = [1]\ncount = 0")

    def tool():
        with persons_code():
            room.write("rows.append(2)\ncount += 1\nfresh = 5")

    room.functions["tool"] = tool
    outcome = room.run("tool()\ntool()\nrows.append(9)\nfor fresh in [1]: pass")
    assert (room.ns["rows"], room.ns["count"], room.ns["fresh"]) == ([1, 2, 2], 2, 5)
    assert len(outcome.notes) == 2


def test_persons_code_finds_the_variables_as_they_were(room):
    room.write("rows = [1]\nrow = 0")
    seen = []

    def tool():
        with persons_code():
            seen.append((list(room.ns["rows"]), room.ns["row"]))

    room.functions["tool"] = tool
    room.run("rows.append(2)\nfor row in [5]: pass\ntool()")
    assert seen == [([1], 0)]


def test_persons_code_prints_to_where_it_is_told(room, capsys):
    def tool():
        with persons_code():
            print("of the tool")
        print("of the code")

    room.functions["tool"] = tool
    assert room.run("tool()").printed == "of the code\n"
    assert capsys.readouterr().out == "of the tool\n"


def test_persons_code_sees_the_event_loop_that_ran_before(room):
    loops = []

    def tool():
        loops.append(asyncio._get_running_loop())
        with persons_code():
            loops.append(asyncio.get_running_loop())
        loops.append(asyncio._get_running_loop())

    room.functions["tool"] = tool

    async def cell():
        room.run("tool()")
        return asyncio.get_running_loop()

    loop = asyncio.run(cell())
    assert loops == [None, loop, None]


def test_persons_code_may_raise_into_the_code(room):
    def tool():
        with persons_code():
            raise ValueError("of the tool")

    room.functions["tool"] = tool
    assert (
        room.run("try:\n    tool()\nexcept ValueError as e:\n    said = str(e)\nsaid").value == "of the tool"
    )


def test_persons_code_in_threads_of_the_code(room):
    room.write("rows = []")
    seen = []

    def tool(n):
        with persons_code():
            seen.append(current_step())
            time.sleep(0.05)
            room.ns["rows"].append(n)
            return n

    room.functions["tool"] = tool
    code = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as ex:\n    r = list(ex.map(tool, range(8)))\nr"
    assert room.run(code).value == list(range(8))
    assert seen == [None] * 8
    assert sorted(room.ns["rows"]) == list(range(8))


def test_interrupt_in_a_persons_code_ends_the_step_after_it(room):
    flag = []

    def tool():
        with persons_code():
            flag.append(1)
            return 5

    room.functions["tool"] = tool
    wakers = []

    def on_interrupt(wake):
        wakers.append(wake)
        return lambda: None

    def stop():
        with persons_code():
            wakers[0]()

    room.functions["stop"] = stop
    outcome = room.run("tool()\ntry:\n    stop()\nexcept:\n    pass\ntool()", on_interrupt=on_interrupt)
    assert (outcome.is_stopped, flag) == (True, [1])


def test_caller_is_told_apart_by_the_nearest_frame_of_the_namespace(room):
    seen = []
    room.functions["look"] = lambda: seen.append(is_called_by_code())
    room.write("def mine(): look()")
    room.run("look()\nmine()\ndef own(): look()\nown()\nlist(map(lambda _: look(), [1]))")
    assert seen == [True, False, True, True]
    room.run("own()")
    assert seen[4:] == [True]


def test_threads_left_are_named(room):
    outcome = room.run(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(0.5,), name='left').start()"
    )
    assert outcome.notes == snapshot(("1 thread goes on: left. Join threads before the code ends.",))


def test_threads_left_may_not_write_later(room, tmp_path):
    path = tmp_path / "late.txt"
    code = (
        "import threading, time\ndef late():\n    time.sleep(0.2)\n    try:\n        open(PATH, 'w')\n"
        "    except Exception as e:\n        told.append(str(e))\ntold = []\nt = threading.Thread(target=late)\nt.start()"
    )
    room.ns["PATH"] = str(path)
    room.run(code)
    room.ns["t"].join()
    assert not path.exists()
    assert "write files" in room.ns["told"][0]


def test_threads_of_stopped_code_are_stopped(room):
    code = "import threading\ndef spin():\n    while True:\n        try:\n            pass\n        except ValueError:\n            pass\n"
    room.run(
        code + "t = threading.Thread(target=spin, daemon=True)\nt.start()\nwhile True: pass", timeout_s=0.1
    )
    room.ns["t"].join(1)
    assert not room.ns["t"].is_alive()


def test_functions_of_code_work_in_the_persons_cells_when_the_step_is_over(room):
    room.run("def f(n):\n    try:\n        return 1 / n\n    except:\n        return 'none'\nfinal_answer(1)")
    room.write("result = f(0)")
    assert room.ns["result"] == "none"
    assert inspect.getsource(room.ns["f"]).startswith("def f(n):")


def test_memory_watch_stops_code_that_takes_too_much(room, monkeypatch):
    from agent_magic.execution.stop import watching

    # The machine of a test has no memory to spare for it: what is free is set low instead.
    monkeypatch.setattr(watching, "MEMORY_SHARE", 100_000_000 / max(1, watching.available_bytes()))
    outcome = room.run(
        "import time\nkept = []\nwhile True:\n    kept.append(bytearray(b'x' * 10_000_000))\n    time.sleep(0.02)"
    )
    assert outcome.error is not None
    assert (
        outcome.error.message.splitlines()[-1] == "Work on a part of the data at a time, or keep less of it."
    )


def test_steps_use_no_thread_of_ours_while_they_are_short(room):
    before = set(sys._current_frames())
    for _ in range(20):
        room.run("x = 1")
    assert set(sys._current_frames()) == before
