"""Tools with a time limit: given up when it is over, in both kinds of agent, and left alone within it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from agents.checking import PATIENCE_S, agent_of, assert_usable, eventually, told
from inline_snapshot import snapshot

from agent_magic import CodeAgent
from agent_magic.core.steps import ToolResult
from agent_magic.execution.prints.sinks import CURRENT_SINK
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.decorator import tool
from agent_magic.tools.tool import Tool

calls, final = ScriptedModel.calls, ScriptedModel.final
LONG_S = 30
_VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Keeps bodies waiting until the test is over."""
    event = threading.Event()
    yield event
    event.set()


def _write(text: str) -> None:
    """What `print` comes to in a notebook."""
    sink = CURRENT_SINK.get()
    assert sink is not None
    sink.write(text)


def _hanging(gate: threading.Event, log: list[str] | None = None) -> Callable[[], str]:
    @tool(timeout_s=0.05)
    def hang() -> str:
        """Wait for the gate."""
        _write("begun\n")
        gate.wait(PATIENCE_S)
        if log is not None:
            log.append("went on")
        return "late"

    return hang


def _code_agent(*blocks: str, tools: list[Any]) -> CodeAgent:
    return CodeAgent(model=ScriptedModel([f"<code>\n{block}\n</code>" for block in blocks]), tools=tools)


# -- too long ------------------------------------------------------------------------------------


def test_call_that_takes_too_long_is_given_up_and_told_and_the_run_goes_on(gate: threading.Event) -> None:
    log: list[str] = []
    agent = agent_of([calls(("hang", {})), final("done")], _hanging(gate, log))
    result = agent.run("go")
    assert result.value == "done"
    assert told(result)[0] == snapshot(
        "hang took longer than 0.05 s and was given up. It cannot be stopped: it may still run in the background, and its result is not used. Call it with less to do, or use another tool."
    )
    (call,) = result.actions[0].tool_results
    assert call.fault is not None
    assert (call.fault.kind, call.output, call.printed) == ("ToolExecutionError", None, "begun\n")
    # The body was left to itself.
    assert log == []
    gate.set()
    assert eventually(lambda: log == ["went on"])
    assert_usable(agent)


def test_of_several_calls_only_the_slow_one_is_given_up(gate: threading.Event) -> None:
    def quick() -> str:
        """Be quick."""
        return "quick"

    result = agent_of([calls(("hang", {}), ("quick", {})), final(1)], _hanging(gate), quick).run("go")
    slow, fast = result.actions[0].tool_results
    assert slow.fault is not None
    assert fast.output == "quick"


def test_async_call_that_takes_too_long_is_cancelled() -> None:
    ended: list[str] = []

    @tool(timeout_s=0.05)
    async def hang() -> None:
        """Wait."""
        try:
            await asyncio.sleep(LONG_S)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    result = agent_of([calls(("hang", {})), final(1)], hang).run("go")
    assert told(result)[0] == snapshot(
        "hang took longer than 0.05 s and was given up. Call it with less to do, or use another tool."
    )
    assert eventually(lambda: ended == ["cancelled"])


def test_async_call_is_given_up_under_the_callers_own_loop() -> None:
    @tool(timeout_s=0.05)
    async def hang() -> None:
        """Wait."""
        await asyncio.sleep(LONG_S)

    result = asyncio.run(agent_of([calls(("hang", {})), final(1)], hang).arun("go"))
    assert (result.status, "was given up" in told(result)[0]) == ("answered", True)


def test_call_in_code_that_takes_too_long_raises_there(gate: threading.Event) -> None:
    agent = _code_agent(
        "try:\n    hang()\nexcept Exception as error:\n    print(type(error).__name__)\nhang()",
        "final_answer(1)",
        tools=[_hanging(gate)],
    )
    result = agent.run("go")
    assert result.value == 1
    code = result.actions[0].tool_results[0]
    assert code.observation.splitlines()[:1] == ["ToolExecutionError"]
    assert code.fault is not None
    assert "hang took longer than 0.05 s and was given up." in code.fault.message
    assert [inner.fault and inner.fault.kind for inner in code.calls] == ["ToolExecutionError"] * 2


def test_async_call_in_code_that_takes_too_long_raises_where_it_is_awaited() -> None:
    @tool(timeout_s=0.05)
    async def hang() -> None:
        """Wait."""
        await asyncio.sleep(LONG_S)

    result = _code_agent("await hang()", "final_answer(1)", tools=[hang]).run("go")
    (inner,) = result.actions[0].tool_results[0].calls
    assert inner.fault is not None
    assert inner.fault.message == snapshot(
        "hang took longer than 0.05 s and was given up. Call it with less to do, or use another tool."
    )


# -- within the limit ----------------------------------------------------------------------------


def test_call_within_its_time_is_as_any_other() -> None:
    seen: list[Any] = []

    @tool(timeout_s=PATIENCE_S)
    def ask(n: int) -> int:
        """Ask.

        Args:
            n: a number
        """
        _write("asked\n")
        seen.append((_VARIABLE.get(), threading.current_thread() is threading.main_thread()))
        return n * 2

    _VARIABLE.set("the caller's")
    (call,) = agent_of([calls(("ask", {"n": 2})), final(1)], ask).run("go").actions[0].tool_results
    assert (call.observation, call.output, call.printed) == ("4", 4, "asked\n")
    assert seen == [("the caller's", False)]


@pytest.mark.parametrize("error", [ValueError("bad"), TimeoutError("its own")], ids=["value", "timeout"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_what_the_body_raises_is_told_as_of_any_other(error: Exception, is_async: bool) -> None:
    @tool(timeout_s=PATIENCE_S)
    def fail() -> None:
        """Fail."""
        raise error

    @tool(name="fail", timeout_s=PATIENCE_S)
    async def fail_later() -> None:
        """Fail."""
        raise error

    chosen = fail_later if is_async else fail
    result = agent_of([calls(("fail", {})), final(1)], chosen).run("go")
    assert told(result)[0].startswith(f"fail raised {type(error).__name__}: {error}")


def test_setting_up_is_done_before_the_time_runs_and_in_the_callers_thread() -> None:
    here: list[bool] = []

    class Slow(Tool):
        name = "slow"
        description = "Slow at first."
        inputs: dict[str, Any] = {}  # noqa: RUF012 - as people write it
        output_type = "string"
        timeout_s = PATIENCE_S

        def setup(self) -> None:
            here.append(threading.current_thread() is threading.main_thread())

        def forward(self) -> str:
            here.append(threading.current_thread() is threading.main_thread())
            return "ready"

    assert told(agent_of([calls(("slow", {})), final(1)], Slow()).run("go"))[0] == "ready"
    assert here == [True, False]


def test_interrupt_ends_the_wait_for_a_body() -> None:
    entered, gate = threading.Event(), threading.Event()

    @tool(timeout_s=LONG_S)
    def hang() -> None:
        """Wait."""
        entered.set()
        gate.wait(PATIENCE_S)

    agent = agent_of([calls(("hang", {})), final(1)], hang)

    def stop() -> None:
        assert entered.wait(PATIENCE_S)
        agent.interrupt("Enough.")

    person = threading.Thread(target=stop)
    person.start()
    result = agent.run("go")
    person.join()
    gate.set()
    assert (result.status, result.error and result.error.message) == ("interrupted", "Enough.")
    assert_usable(agent)


def test_interrupt_ends_the_wait_for_a_body_that_code_called() -> None:
    entered, gate = threading.Event(), threading.Event()

    @tool(timeout_s=LONG_S)
    def hang() -> None:
        """Wait."""
        entered.set()
        gate.wait(PATIENCE_S)

    agent = _code_agent("try:\n    hang()\nexcept Exception:\n    print('no')", tools=[hang])

    def stop() -> None:
        assert entered.wait(PATIENCE_S)
        agent.interrupt("Enough.")

    person = threading.Thread(target=stop)
    person.start()
    result = agent.run("go")
    person.join()
    gate.set()
    assert (result.status, result.error and result.error.message) == ("interrupted", "Enough.")
    code: ToolResult = result.actions[0].tool_results[0]
    assert [inner.fault and inner.fault.kind for inner in code.calls] == ["Interrupted"]
