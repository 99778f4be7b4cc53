"""Top-level await: an event loop of the step's own, and nothing of it left."""

from __future__ import annotations

import asyncio

from inline_snapshot import snapshot


def test_await_gives_the_value(room):
    outcome = room.run(
        "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n\nx = await f(2)\nawait f(x + 1)"
    )
    assert (outcome.value, room.ns["x"]) == (3, 2)


def test_await_alone_gives_no_value_for_statements(room):
    assert not room.run("import asyncio\nx = await asyncio.sleep(0, 5)").has_value


def test_await_works_inside_a_loop(room):
    async def cell():
        outcome = room.run("import asyncio\nawait asyncio.sleep(0, 5)")
        return outcome, asyncio.current_task()

    outcome, task = asyncio.run(cell())
    assert outcome.value == 5
    assert task is not None


def test_await_lets_tasks_run_side_by_side(room):
    code = "import asyncio\nr = await asyncio.gather(*[asyncio.sleep(0.05, n) for n in range(5)])\nr"
    assert room.run(code, timeout_s=0.5).value == [0, 1, 2, 3, 4]


def test_await_names_tasks_that_are_left(room):
    code = "import asyncio\nasync def later():\n    await asyncio.sleep(9)\nt = asyncio.create_task(later())\nawait asyncio.sleep(0)"
    outcome = room.run(code)
    assert outcome.notes == snapshot(
        ("1 task that was not awaited was cancelled: later. Await tasks before the code ends.",)
    )
    assert room.ns["t"].cancelled()


def test_await_tells_an_error(room):
    outcome = room.run("import asyncio\nasync def f():\n    return 1 / 0\nawait f()")
    assert "ZeroDivisionError" in outcome.error.message


def test_await_ends_tasks_that_will_not_end(room):
    code = (
        "import asyncio\nasync def stubborn():\n    while True:\n        try:\n            await asyncio.sleep(0.01)\n"
        "        except asyncio.CancelledError:\n            pass\nt = asyncio.create_task(stubborn())\nawait asyncio.sleep(0)"
    )
    outcome = room.run(code, timeout_s=0.3)
    assert len(outcome.notes) == 1
