"""`arun`, and runs inside a running event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from typing import Any

import pytest
from agents.checking import (
    PATIENCE_S,
    add,
    agent_of,
    assert_usable,
    assert_valid,
    eventually,
    last_action,
    model_of,
    told,
)
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError
from agent_magic.core.events import RunEnded, SettingChanged, StepEnded
from agent_magic.core.steps import ActionStep, TaskStep
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.decorator import tool

calls, final = ScriptedModel.calls, ScriptedModel.final


class _Places:
    """Tools that note where they run."""

    def __init__(self) -> None:
        self.loops: list[asyncio.AbstractEventLoop] = []
        self.threads: list[threading.Thread] = []

    def look(self) -> str:
        """Look, synchronously."""
        self.threads.append(threading.current_thread())
        return "looked"

    async def fetch(self) -> str:
        """Fetch, asynchronously."""
        self.loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0.001)
        return "fetched"


class _Hanging:
    """A tool that cannot be stopped."""

    def __init__(self) -> None:
        self.entered, self.let_go = threading.Event(), threading.Event()

    def hang(self) -> str:
        """Hang."""
        self.entered.set()
        self.let_go.wait(PATIENCE_S)
        return "late"


# -- run inside a running loop -----------------------------------------------------------------------


def test_run_works_inside_a_running_loop_with_async_tools() -> None:
    places = _Places()
    agent = agent_of([calls(("fetch", {})), calls(("fetch", {}), ("fetch", {})), final(1)], places.fetch)

    async def main() -> Any:
        return agent.run("go")  # blocks this loop: the tools run on another

    result = asyncio.run(main())
    assert (result.status, result.value) == ("answered", 1)
    assert told(result) == ["fetched", "fetched\n\nfetched", "accepted"]
    assert len(set(map(id, places.loops))) == 1


def test_run_inside_a_running_loop_runs_a_single_call_in_the_callers_thread() -> None:
    places = _Places()
    agent = agent_of([calls(("look", {})), final(1)], places.look)

    async def main() -> None:
        agent.run("go")

    asyncio.run(main())
    assert places.threads == [threading.main_thread()]


# -- arun ------------------------------------------------------------------------------------------


def test_arun_answers_and_leaves_the_loop_free() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3)], latency_s=0.1)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    async def main() -> Any:
        ticking = asyncio.ensure_future(tick())
        result = await agent.arun("1 + 2")
        ticking.cancel()
        return result

    result = asyncio.run(main())
    assert (result.status, result.value) == ("answered", 3)
    assert agent.result is result
    assert ticks > 5
    assert_usable(agent)


def test_arun_runs_async_tools_on_the_callers_loop() -> None:
    places = _Places()
    agent = agent_of([calls(("fetch", {})), calls(("fetch", {}), ("fetch", {})), final(1)], places.fetch)

    async def main() -> tuple[Any, asyncio.AbstractEventLoop]:
        return await agent.arun("go"), asyncio.get_running_loop()

    result, loop = asyncio.run(main())
    assert told(result)[:2] == ["fetched", "fetched\n\nfetched"]
    assert places.loops == [loop] * 3


def test_arun_runs_tools_in_a_worker_unless_marked_for_the_main_thread() -> None:
    places = _Places()

    @tool(main_thread=True)
    def plot() -> str:
        """Plot."""
        return places.look()

    @tool(main_thread=True)
    async def show() -> str:
        """Show, asynchronously."""
        return await places.fetch()

    agent = agent_of(
        [calls(("look", {})), calls(("plot", {}), ("plot", {})), calls(("show", {})), final(1)],
        places.look,
        plot,
        show,
    )

    async def main() -> asyncio.AbstractEventLoop:
        await agent.arun("go")
        return asyncio.get_running_loop()

    loop = asyncio.run(main())
    assert [thread is threading.main_thread() for thread in places.threads] == [False, True, True]
    assert places.loops == [loop]
    assert not any(step.faults for step in agent.memory.steps if isinstance(step, ActionStep))


def test_arun_tells_of_a_main_thread_tool_that_raises() -> None:
    @tool(main_thread=True)
    def fail() -> None:
        """Fail."""
        raise ValueError("broken")

    agent = agent_of([calls(("fail", {})), final(1)], fail)
    assert told(asyncio.run(agent.arun("go")))[0] == snapshot("""\
fail raised ValueError: broken
Call it with other arguments, or use another tool.\
""")


def test_arun_of_an_async_tool_that_exits_does_not_end_the_loop() -> None:
    async def leave() -> None:
        """Leave."""
        raise SystemExit(3)

    agent = agent_of([calls(("leave", {})), final("went on")], leave)
    assert asyncio.run(agent.arun("go")).value == "went on"


def test_arun_shows_tools_the_callers_context() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    def look() -> str:
        """Look."""
        return variable.get()

    async def peer() -> str:
        """Look, asynchronously."""
        return variable.get()

    agent = agent_of(
        [calls(("look", {}), ("look", {})), calls(("look", {})), calls(("peer", {})), final(1)], look, peer
    )

    async def main() -> Any:
        variable.set("the caller's")
        return await agent.arun("go")

    assert told(asyncio.run(main()))[:3] == ["the caller's\n\nthe caller's", "the caller's", "the caller's"]


def test_aruns_at_once_never_mix() -> None:
    async def meet(who: str) -> str:
        """Wait a little.

        Args:
            who: a name
        """
        await asyncio.sleep(0.01)
        return who

    def reply(request: Any) -> Any:
        (who,) = (m["content"] for m in request.messages if m["role"] == "user")
        n_told = sum(m["role"] == "tool" for m in request.messages)
        return calls(("meet", {"who": who})) if n_told < 3 else final(who)

    agent = agent_of([reply] * 99, meet)

    async def main() -> list[Any]:
        return await asyncio.gather(*(agent.arun(who, reset=False) for who in "abcd"))

    results = asyncio.run(main())
    assert [result.value for result in results] == list("abcd")
    assert [told(result)[:-1] for result in results] == [[who] * 3 for who in "abcd"]
    assert len(agent.runs) == 4
    assert_usable(agent)


def test_arun_refuses_a_blank_task_before_anything() -> None:
    with pytest.raises(OptionError):
        asyncio.run(agent_of([]).arun(" "))


class _Odd(ScriptedModel):
    def diagnose(self, error: Exception) -> Any:
        raise ZeroDivisionError("odd")


def test_arun_raises_a_fault_of_the_runtime() -> None:
    agent = agent_of([])
    agent.model = _Odd([ValueError("x")])
    with pytest.raises(ZeroDivisionError):
        asyncio.run(agent.arun("go"))
    assert agent.result is not None
    assert agent.result.status == "failed"


# -- cancelling --------------------------------------------------------------------------------------


def _cancel_when(agent: Any, is_time: threading.Event) -> None:
    async def main() -> None:
        run = asyncio.ensure_future(agent.arun("go"))
        assert await asyncio.to_thread(is_time.wait, PATIENCE_S)
        run.cancel()
        start = time.perf_counter()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert time.perf_counter() - start < 10  # the tool hangs for 20

    asyncio.run(main())
    assert agent.result is not None
    assert agent.result.status == "interrupted"
    assert agent.result.error.message == "The task that awaited the run was cancelled."
    assert last_action(agent).is_interrupted
    assert_valid(agent.memory)


def test_cancelling_arun_while_an_async_tool_waits_cancels_the_tool() -> None:
    entered, cancelled = threading.Event(), threading.Event()

    async def hang() -> None:
        """Wait long."""
        entered.set()
        try:
            await asyncio.sleep(PATIENCE_S)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    agent = agent_of([calls(("hang", {}))], hang)
    _cancel_when(agent, entered)
    assert cancelled.is_set()
    assert told(agent.result)[-1] == snapshot("""\
The call was interrupted before it ended; what it did so far is not known.

The task that awaited the run was cancelled.\
""")
    assert_usable(agent)


@pytest.mark.parametrize("n_calls", [1, 2])
def test_cancelling_arun_while_tools_run_does_not_wait_for_them(n_calls: int) -> None:
    entered, gate, left = threading.Event(), threading.Event(), threading.Semaphore(0)

    def hang() -> object:
        """Wait long."""
        entered.set()
        gate.wait(PATIENCE_S)
        left.release()
        return object()

    agent = agent_of([calls(*[("hang", {})] * n_calls), final("late")], hang, state={})
    try:
        _cancel_when(agent, entered)
        steps = agent.memory.steps
    finally:
        gate.set()
    for _ in range(n_calls):
        assert left.acquire(timeout=PATIENCE_S)
    time.sleep(0.05)
    assert agent.memory.steps == steps
    assert len(agent.runs) == 1
    assert len(model_of(agent).requests) == 1
    assert_usable(agent)


def test_cancelling_arun_while_the_model_answers_keeps_what_it_said() -> None:
    said = threading.Event()

    def reply(_request: Any) -> Any:
        said.set()
        return {"content": "word " * 100}

    agent = agent_of([reply], stream_pieces=100, latency_s=4)
    _cancel_when(agent, said)
    assert eventually(lambda: not agent._history.active)
    assert_usable(agent)


def test_cancelling_arun_before_it_began_leaves_a_valid_memory() -> None:
    agent = agent_of([final(1)], latency_s=0.05)

    async def main() -> None:
        run = asyncio.ensure_future(agent.arun("go"))
        await asyncio.sleep(0)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    assert eventually(lambda: len(agent.runs) == 1)
    assert agent.runs[0].status == "interrupted"
    assert isinstance(agent.runs[0].steps[0], TaskStep)
    assert_usable(agent)


def test_interrupt_ends_arun_without_an_exception() -> None:
    entered, cancelled = threading.Event(), threading.Event()

    async def hang() -> None:
        """Wait long."""
        entered.set()
        try:
            await asyncio.sleep(PATIENCE_S)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    agent = agent_of([calls(("hang", {}))], hang, add)

    async def main() -> Any:
        run = asyncio.ensure_future(agent.arun("go"))
        assert await asyncio.to_thread(entered.wait, PATIENCE_S)
        agent.interrupt("Enough.")
        return await run

    result = asyncio.run(main())
    assert (result.status, result.error.message) == ("interrupted", "Enough.")
    assert cancelled.is_set()
    assert_usable(agent)


def test_interrupt_of_arun_does_not_wait_for_a_tool_that_cannot_be_stopped() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("hang", {})), final(1)], hanging.hang)

    async def main() -> Any:
        run = asyncio.ensure_future(agent.arun("go"))
        await asyncio.to_thread(hanging.entered.wait, PATIENCE_S)
        agent.interrupt("enough")
        return await run

    result = asyncio.run(main())
    assert not hanging.let_go.is_set()
    hanging.let_go.set()
    assert (result.status, result.error.message) == ("interrupted", "enough")
    assert_valid(agent.memory)
    assert_usable(agent)


# -- astream ---------------------------------------------------------------------------------------


def test_astream_gives_the_events_of_stream_and_leaves_the_loop_free() -> None:
    def new() -> Any:
        return agent_of([calls(("look", {})), calls(("fetch", {}), ("look", {})), final(1)], *_tools())

    def _tools() -> tuple[Any, Any]:
        places = _Places()
        return places.look, places.fetch

    async def main() -> tuple[list[str], int]:
        n_ticks = 0

        async def tick() -> None:
            nonlocal n_ticks
            while True:
                n_ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        seen = [type(event).__name__ async for event in new().astream("go")]
        ticking.cancel()
        return seen, n_ticks

    seen, n_ticks = asyncio.run(main())
    assert seen == [type(event).__name__ for event in new().stream("go")]
    assert n_ticks > len(seen)


def test_astream_waits_until_an_event_is_asked_for() -> None:
    agent = agent_of([calls(("look", {})), calls(("look", {})), final(1)], _Places().look, max_steps=3)

    async def main() -> list[Any]:
        seen = []
        async for event in agent.astream("go"):
            seen.append(event)
            if isinstance(event, StepEnded) and agent.max_steps == 3:
                agent.max_steps = 2
        return seen

    seen = asyncio.run(main())
    assert [event.effective for event in seen if isinstance(event, SettingChanged)] == ["from step 2"]
    assert seen[-1].result.status == "max_steps"


def test_leaving_astream_early_interrupts_the_run() -> None:
    agent = agent_of([calls(("look", {})), final(1)], _Places().look)

    async def main() -> None:
        async for event in agent.astream("go"):
            if isinstance(event, StepEnded):
                break

    asyncio.run(main())
    assert agent.result is not None
    assert (agent.result.status, agent.result.error.message) == (  # type: ignore[union-attr]
        "interrupted",
        "The events of the run were closed.",
    )
    assert_valid(agent.memory)
    assert_usable(agent)


def test_cancelling_astream_while_a_tool_runs_does_not_wait_for_it() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("hang", {})), final(1)], hanging.hang)

    async def follow() -> None:
        async for _ in agent.astream("go"):
            pass

    async def main() -> None:
        task = asyncio.create_task(follow())
        await asyncio.to_thread(hanging.entered.wait, PATIENCE_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    hanging.let_go.set()
    assert agent.result is not None
    assert agent.result.status == "interrupted"
    assert_valid(agent.memory)


def test_astream_refuses_a_blank_task_before_it_is_iterated() -> None:
    with pytest.raises(OptionError, match="task is empty"):
        agent_of([final(1)]).astream(" ")


def test_astream_raises_a_fault_of_the_runtime() -> None:
    agent = agent_of([final(1)])
    agent.model = _Odd([ValueError("x")])

    async def main() -> None:
        async for _ in agent.astream("go"):
            pass

    with pytest.raises(ZeroDivisionError, match="odd"):
        asyncio.run(main())
    assert agent.result is not None
    assert agent.result.status == "failed"


def test_interrupt_of_astream_ends_it_with_the_result_though_a_tool_cannot_be_stopped() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("hang", {})), final(1)], hanging.hang)

    async def main() -> list[Any]:
        stopping = asyncio.create_task(asyncio.to_thread(hanging.entered.wait, PATIENCE_S))
        stopping.add_done_callback(lambda _: agent.interrupt("enough"))
        return [event async for event in agent.astream("go")]

    seen = asyncio.run(main())
    assert not hanging.let_go.is_set()
    hanging.let_go.set()
    assert isinstance(seen[-1], RunEnded)
    assert (seen[-1].result.status, seen[-1].result.error.message) == ("interrupted", "enough")
    assert_valid(agent.memory)
