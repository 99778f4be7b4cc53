"""Kept threads and the background loop."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from agents.checking import PATIENCE_S, eventually

from agent_magic.agents.threads.side_by_side import BackgroundLoop, Carried, KeptThreads, wait_for


def _never(_wake: Callable[[], None]) -> Callable[[], None]:
    return lambda: None


@pytest.fixture
def background() -> Iterator[BackgroundLoop]:
    made = BackgroundLoop()
    yield made
    _end(made.loop())


@pytest.fixture
def loop(background: BackgroundLoop) -> asyncio.AbstractEventLoop:
    return background.loop()


def _end(loop: asyncio.AbstractEventLoop) -> None:
    assert eventually(loop.is_running)  # its thread may not have come to it yet
    loop.call_soon_threadsafe(loop.stop)
    assert eventually(lambda: not loop.is_running())
    loop.close()


# -- threads -------------------------------------------------------------------------------------


def test_job_runs_in_another_thread_that_the_next_job_takes_over() -> None:
    threads = KeptThreads()
    idents: list[int] = []
    done = threading.Semaphore(0)

    def job() -> None:
        idents.append(threading.get_ident())
        done.release()

    for _ in range(3):
        threads.start(job)
        assert done.acquire(timeout=PATIENCE_S)
        assert eventually(lambda: len(threads._idle) == 1)
    assert len(set(idents)) == 1
    assert idents[0] != threading.get_ident()


def test_job_that_hangs_does_not_keep_python_alive() -> None:
    code = (
        "import threading\n"
        "from agent_magic.agents.threads.side_by_side import THREADS, BACKGROUND_LOOP\n"
        "BACKGROUND_LOOP.loop()\n"
        "THREADS.start(threading.Event().wait)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_job_runs_inline_where_no_thread_can_start() -> None:
    code = (
        "import threading, _thread\n"
        "from agent_magic.agents.threads.side_by_side import KeptThreads\n"
        'def refuse(*args, **kwargs): raise RuntimeError("can\'t start new thread")\n'
        "_thread.start_new_thread = threading._start_new_thread = threading._start_joinable_thread = refuse\n"
        "ran = []\n"
        "KeptThreads().start(lambda: ran.append(threading.current_thread() is threading.main_thread()))\n"
        "assert ran == [True], ran\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# -- loop ----------------------------------------------------------------------------------------


def test_background_loop_is_started_once(background: BackgroundLoop) -> None:
    first = background.loop()
    assert background.loop() is first
    assert eventually(first.is_running)


def test_background_loop_that_ended_is_started_again(background: BackgroundLoop) -> None:
    first = background.loop()
    assert eventually(first.is_running)
    _end(first)
    assert eventually(lambda: background.loop() is not first)
    assert eventually(background.loop().is_running)


def test_wait_for_gives_the_value(loop: asyncio.AbstractEventLoop) -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 3

    assert wait_for(work(), loop, _never) == 3


@pytest.mark.parametrize(
    "error", [ValueError("x"), SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError()], ids=repr
)
def test_wait_for_raises_what_was_raised_and_the_loop_goes_on(
    error: BaseException, loop: asyncio.AbstractEventLoop
) -> None:
    async def work() -> None:
        raise error

    with pytest.raises(type(error)):
        wait_for(work(), loop, _never)
    assert loop.is_running()


def test_wait_for_takes_any_awaitable(loop: asyncio.AbstractEventLoop) -> None:
    class Later:
        def __await__(self) -> Any:
            yield from asyncio.sleep(0).__await__()
            return "later"

    assert wait_for(Later(), loop, _never) == "later"


def test_wait_for_shows_the_coroutine_the_callers_context(loop: asyncio.AbstractEventLoop) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")

    async def work() -> str:
        return variable.get()

    variable.set("here")
    assert wait_for(work(), loop, _never) == "here"


def test_wait_for_cancels_the_coroutine_at_an_interrupt(loop: asyncio.AbstractEventLoop) -> None:
    wakers: list[Callable[[], None]] = []
    cancelled = threading.Event()

    async def work() -> None:
        asyncio.get_running_loop().call_soon(wakers[0])
        try:
            await asyncio.sleep(PATIENCE_S)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def on_interrupt(wake: Callable[[], None]) -> Callable[[], None]:
        wakers.append(wake)
        return wakers.clear

    async def begin() -> None:
        await asyncio.sleep(0.01)
        await work()

    with pytest.raises(asyncio.CancelledError):
        wait_for(begin(), loop, on_interrupt)
    assert cancelled.is_set()
    assert wakers == []


def test_wait_for_runs_nothing_of_what_was_interrupted_before(loop: asyncio.AbstractEventLoop) -> None:
    ran: list[int] = []

    async def work() -> None:
        ran.append(1)

    def interrupted_already(wake: Callable[[], None]) -> Callable[[], None]:
        wake()
        return lambda: None

    with pytest.raises(asyncio.CancelledError):
        wait_for(work(), loop, interrupted_already)
    assert ran == []


def test_carried_that_never_began_is_closed(loop: asyncio.AbstractEventLoop) -> None:
    async def work() -> None:
        """Python warns if nobody awaits or closes it, and a warning is an error here."""

    awaitable = work()
    Carried(awaitable, loop).cancel()
    assert inspect.getcoroutinestate(awaitable) == inspect.CORO_CLOSED


def test_carried_that_is_cancelled_before_its_first_line_is_closed(loop: asyncio.AbstractEventLoop) -> None:
    async def work() -> None:
        """As above."""

    awaitable = work()
    carried = Carried(awaitable, loop)

    async def begin_and_cancel() -> None:
        carried._begin()
        carried._cancel()

    asyncio.run_coroutine_threadsafe(begin_and_cancel(), loop).result(PATIENCE_S)
    with pytest.raises(asyncio.CancelledError):
        carried.done.wait(PATIENCE_S)
    assert eventually(lambda: inspect.getcoroutinestate(awaitable) == inspect.CORO_CLOSED)


def test_forked_process_has_threads_of_its_own() -> None:
    code = """
        import asyncio, os, sys
        from agent_magic import ScriptedModel, ToolCallingAgent

        def look(place: str) -> str:
            \"\"\"Look.

            Args:
                place: where
            \"\"\"
            return place

        def runs() -> list[str]:
            both = ScriptedModel.calls(("look", {"place": "Oslo"}), ("look", {"place": "Bergen"}))
            agents = [ToolCallingAgent([look], ScriptedModel([both, ScriptedModel.final(1)])) for _ in range(2)]
            return [agents[0].run("Look.").status, asyncio.run(agents[1].arun("Look.")).status]

        print(runs(), flush=True)
        pid = os.fork()
        if pid == 0:
            print(runs(), flush=True)
            os._exit(0)
        os.waitpid(pid, 0)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.stdout, done.stderr) == ("['answered', 'answered']\n" * 2, "")
