"""Tools that have to run in the main thread, called by agents that work in other threads."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from agents.checking import PATIENCE_S, agent_of
from inline_snapshot import snapshot

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ToolResult
from agent_magic.execution.prints.streams import routed
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.decorator import tool

calls, final = ScriptedModel.calls, ScriptedModel.final


class Places:
    """A tool that notes which thread runs it."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.plot = tool(main_thread=True)(self._make())

    def _make(self) -> Callable[[int], str]:
        def plot(n: int) -> str:
            """Plot.

            Args:
                n: which
            """
            print(f"plot {n}")
            self.threads.append(threading.current_thread())
            return f"plotted {n}"

        return plot

    @property
    def are_main(self) -> list[bool]:
        return [thread is threading.main_thread() for thread in self.threads]


def child_of(name: str, *tools: Any, turn: Any = None) -> ToolCallingAgent:
    """An agent that makes one turn of calls, then answers."""
    turn = turn or calls(("plot", {"n": 1}))
    return ToolCallingAgent(tools, ScriptedModel([turn, final(name)] * 2), name=name, description="Works.")


def both(*children: Any) -> ToolCallingAgent:
    """A manager that calls all of them side by side."""
    turn = calls(*((child.name, {"task": "go"}) for child in children))
    return ToolCallingAgent(
        managed_agents=children, model=ScriptedModel([turn, final("done")]), name="boss_of_all"
    )


def inner_results(result: RunResult) -> list[ToolResult]:
    """Of the calls that the managed agents made."""
    runs = [each.run for each in result.actions[0].tool_results]
    return [each for run in runs if run is not None for each in run.actions[0].tool_results]


def test_call_of_a_managed_agent_in_another_thread_is_made_in_the_main_thread() -> None:
    places = Places()
    with routed():
        result = both(child_of("one", places.plot), child_of("two", places.plot)).run("go")
    assert places.are_main == [True, True]
    assert [(each.observation, each.printed) for each in inner_results(result)] == [
        ("plotted 1", "plot 1\n")
    ] * 2


def test_call_several_levels_down_is_made_in_the_main_thread() -> None:
    places = Places()
    middle = [
        ToolCallingAgent(
            managed_agents=[child_of("left", places.plot), child_of("right", places.plot)],
            model=ScriptedModel([calls(("left", {"task": "go"}), ("right", {"task": "go"})), final(1)]),
            name=name,
            description="Manages.",
        )
        for name in ("first", "second")
    ]
    assert both(*middle).run("go").status == "answered"
    assert places.are_main == [True] * 4


def test_call_of_an_agent_that_a_tool_runs_is_made_in_the_main_thread() -> None:
    places = Places()

    def delegate(n: int) -> str:
        """Have it done.

        Args:
            n: which
        """
        return agent_of([calls(("plot", {"n": n})), final("yes")], places.plot).run("go").value

    result = agent_of([calls(("delegate", {"n": 1}), ("delegate", {"n": 2})), final(1)], delegate).run("go")
    assert [each.output for each in result.actions[0].tool_results] == ["yes", "yes"]
    assert places.are_main == [True, True]


def test_call_of_code_of_a_managed_agent_is_made_in_the_main_thread_from_threads_too() -> None:
    places = Places()
    code = (
        "<code>from concurrent.futures import ThreadPoolExecutor\n"
        "first = plot(0)\n"
        "with ThreadPoolExecutor(2) as threads:\n"
        "    final_answer([first, *threads.map(plot, [1, 2])])</code>"
    )
    writer = CodeAgent([places.plot], ScriptedModel([code]), name="writer", description="Writes.", state={})
    result = both(writer, child_of("one", places.plot)).run("go")
    assert result.actions[0].tool_results[0].output == ["plotted 0", "plotted 1", "plotted 2"]
    assert places.are_main == [True] * 4


def test_call_in_a_thread_of_code_is_refused_where_the_code_has_the_main_thread() -> None:
    places = Places()
    code = (
        "<code>from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(2) as threads:\n"
        "    done = list(threads.map(plot, [1, 2]))</code>"
    )
    result = CodeAgent([places.plot], ScriptedModel([code, "<code>final_answer(plot(3))</code>"])).run("go")
    assert (result.value, places.are_main) == ("plotted 3", [True])
    assert result.actions[0].tool_results[0].fault is not None
    assert result.actions[0].tool_results[0].fault.message.partition("\n  line")[0] == snapshot("""\
plot has to run in the main thread, which does not wait for this call: it runs the code that made the call in a thread of its own, or has gone on.
Call it outside of threads, or use another tool.\
""")


def test_call_of_an_agent_that_a_thread_of_code_calls_is_refused() -> None:
    places = Places()
    code = (
        "<code>import threading\nthread = threading.Thread(target=one, args=('go',))\n"
        "thread.start()\nthread.join()\nfinal_answer(1)</code>"
    )
    result = CodeAgent(managed_agents=[child_of("one", places.plot)], model=ScriptedModel([code])).run("go")
    (call,) = result.actions[0].tool_results[0].calls
    assert call.run is not None
    assert call.run.actions[0].tool_results[0].fault is not None
    assert call.run.actions[0].tool_results[0].fault.message.startswith("plot has to run in the main thread,")
    assert places.threads == []


def test_call_that_raises_is_the_fault_of_that_call_alone() -> None:
    @tool(main_thread=True)
    def plot(n: int) -> None:
        """Plot.

        Args:
            n: which
        """
        raise SystemExit(n)

    result = both(child_of("one", plot), child_of("two", plot)).run("go")
    assert result.status == "answered"
    assert [each.fault.message for each in inner_results(result) if each.fault] == [
        snapshot("""\
plot tried to end the Python process (SystemExit: 1), which a tool cannot do.
Call it with other arguments, or use another tool.\
""")
    ] * 2


@pytest.mark.parametrize("is_code", [False, True])
def test_arun_makes_the_call_in_the_loops_thread(is_code: bool) -> None:
    places = Places()
    if is_code:
        code = (
            "<code>from concurrent.futures import ThreadPoolExecutor\nplot(0)\n"
            "with ThreadPoolExecutor(2) as threads:\n"
            "    final_answer(list(threads.map(plot, [1])))</code>"
        )
        agent: Any = CodeAgent([places.plot], ScriptedModel([code]))
    else:
        agent = both(child_of("one", places.plot), child_of("two", places.plot))
    assert asyncio.run(agent.arun("go")).status == "answered"
    assert places.are_main == [True, True]


def test_main_thread_is_the_one_that_called_run() -> None:
    places = Places()
    boss = both(child_of("one", places.plot), child_of("two", places.plot))
    thread = threading.Thread(target=boss.run, args=("go",))
    thread.start()
    thread.join(PATIENCE_S)
    assert places.threads == [thread, thread]


def test_call_that_waits_for_the_main_thread_is_not_made_once_the_run_is_interrupted() -> None:
    entered, let_go = threading.Event(), threading.Event()
    made: list[int] = []

    @tool(main_thread=True)
    def plot(n: int) -> None:
        """Plot.

        Args:
            n: which
        """
        made.append(n)
        entered.set()
        let_go.wait(PATIENCE_S)

    boss = both(child_of("one", plot), child_of("two", plot))

    def interrupt() -> None:
        entered.wait(PATIENCE_S)
        boss.interrupt("Enough.")
        let_go.set()

    threading.Thread(target=interrupt).start()
    result = boss.run("go")
    assert (result.status, made) == ("interrupted", [1])


@pytest.mark.skipif(sys.platform == "win32", reason="a signal there ends the wait no sooner than its end")
def test_ctrl_c_in_a_call_for_another_thread_stops_the_whole_run() -> None:
    @tool(main_thread=True)
    def plot(n: int) -> None:
        """Plot.

        Args:
            n: which
        """
        signal.raise_signal(signal.SIGINT)

    boss = both(child_of("one", plot), child_of("two", plot))
    with pytest.raises(KeyboardInterrupt):
        boss.run("go")
    assert boss.result is not None
    assert boss.result.status == "interrupted"
    runs = [each.run for each in boss.result.actions[0].tool_results if each.run]
    assert {run.status for run in runs} == {"interrupted"}
