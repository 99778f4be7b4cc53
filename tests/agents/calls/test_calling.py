"""Calls of one turn: where each runs, in what order they come, and what one's failure leaves of the others."""

from __future__ import annotations

import contextvars
import os
import threading
import time
from typing import Any

import pytest
from agents.checking import PATIENCE_S, add, agent_of, assert_usable, eventually, told
from inline_snapshot import snapshot

from agent_magic.core.events import ToolCallEnded, ToolCallStarted
from agent_magic.execution.prints.sinks import CURRENT_SINK, open_sinks
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.decorator import tool

calls, final = ScriptedModel.calls, ScriptedModel.final
_VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


def _where() -> tuple[list[tuple[str, int]], Any]:
    """A log of threads, and a tool that writes into it."""
    log: list[tuple[str, int]] = []

    def where(name: str) -> str:
        """Note the thread.

        Args:
            name: who asks
        """
        log.append((name, threading.get_ident()))
        return name

    return log, where


# -- one call ------------------------------------------------------------------------------------


def test_single_call_runs_in_the_callers_thread() -> None:
    log, where = _where()
    agent_of([calls(("where", {"name": "alone"})), final(1)], where).run("go")
    assert log == [("alone", threading.get_ident())]


def test_call_left_alone_by_a_faulty_sibling_runs_in_the_callers_thread() -> None:
    log, where = _where()
    agent_of([calls(("where", {"name": "alone"}), ("where", {})), final(1)], where).run("go")
    assert log == [("alone", threading.get_ident())]


# -- several calls -------------------------------------------------------------------------------


def test_record_keeps_the_order_asked_and_events_the_order_of_completion() -> None:
    gate = threading.Event()

    def slow() -> str:
        """Wait for the other."""
        assert gate.wait(PATIENCE_S)
        return "slow"

    def fast() -> str:
        """Do not wait."""
        return "fast"

    agent = agent_of([calls(("slow", {}), ("fast", {})), final(1)], slow, fast)
    started: list[str] = []
    ended: list[str] = []
    for event in agent.stream("go"):
        if isinstance(event, ToolCallStarted):
            started.append(event.call.name)
        if isinstance(event, ToolCallEnded):
            ended.append(event.result.observation)
            gate.set()
    assert started == ["slow", "fast"]
    assert ended == ["fast", "slow"]
    assert told(agent.result)[0] == "slow\n\nfast"


def test_one_failure_loses_no_sibling() -> None:
    def fail() -> None:
        """Fail."""
        raise ValueError("broken")

    agent = agent_of(
        [
            calls(("add", {"a": 1, "b": 2}), ("fail", {}), ("nothing", {}), ("add", {"a": 3, "b": 4})),
            final(1),
        ],
        add,
        fail,
    )
    result = agent.run("go")
    assert [r.to_text() for r in result.actions[0].tool_results] == snapshot(
        [
            "3",
            """\
fail raised ValueError: broken
Call it with other arguments, or use another tool.\
""",
            "No tool 'nothing'. Tools: add, fail, final_answer. Call one of these.",
            "7",
        ]
    )
    assert_usable(agent)


@pytest.mark.parametrize(
    "error", [SystemExit(1), KeyboardInterrupt(), GeneratorExit()], ids=lambda e: type(e).__name__
)
def test_whatever_is_raised_beside_others_is_the_failure_of_its_call_alone(error: BaseException) -> None:
    def fail() -> None:
        """Fail."""
        raise error

    agent = agent_of([calls(("fail", {}), ("add", {"a": 1, "b": 2})), final(1)], add, fail)
    result = agent.run("go")
    assert result.status == "answered"
    failed, added = result.actions[0].tool_results
    assert failed.fault is not None
    assert type(error).__name__ in failed.fault.message
    assert added.observation == "3"


@pytest.mark.parametrize("max_tool_threads", [1, 3])
def test_no_more_calls_run_at_once_than_threads_are_allowed(max_tool_threads: int) -> None:
    # The barrier opens only if so many calls are inside at once; with more, the count would show it.
    barrier = threading.Barrier(max_tool_threads)
    inside: list[int] = []
    most: list[int] = []

    def meet(n: int) -> None:
        """Wait for the others.

        Args:
            n: any number
        """
        inside.append(n)
        most.append(len(inside))
        barrier.wait(PATIENCE_S)
        inside.remove(n)

    agent = agent_of(
        [calls(*(("meet", {"n": n}) for n in range(6))), final(1)], meet, max_tool_threads=max_tool_threads
    )
    result = agent.run("go")
    assert not result.actions[0].faults
    assert max(most) == max_tool_threads


def test_many_calls_run_side_by_side() -> None:
    barrier = threading.Barrier(64)

    def meet(n: int) -> int:
        """Wait for the others.

        Args:
            n: any number
        """
        barrier.wait(PATIENCE_S)
        return n

    result = agent_of([calls(*(("meet", {"n": n}) for n in range(64))), final(1)], meet).run("go")
    assert [r.output for r in result.actions[0].tool_results] == list(range(64))


@pytest.mark.parametrize("mark", ["sequential", "main_thread"])
def test_marked_call_runs_alone_in_the_callers_thread_in_its_place(mark: str) -> None:
    log: list[tuple[str, str, bool]] = []
    both = threading.Barrier(2)

    def note(name: str, what: str) -> None:
        log.append((name, what, threading.current_thread() is threading.main_thread()))

    def pair(name: str) -> None:
        """Run beside another.

        Args:
            name: who
        """
        note(name, "in")
        both.wait(PATIENCE_S)
        note(name, "out")

    @tool(**{mark: True})
    def single(name: str) -> None:
        """Run alone.

        Args:
            name: who
        """
        note(name, "in")
        note(name, "out")

    order = [("pair", "a"), ("pair", "b"), ("single", "c"), ("single", "d"), ("pair", "e"), ("pair", "f")]
    agent = agent_of([calls(*((name, {"name": who}) for name, who in order)), final(1)], pair, single)
    result = agent.run("go")
    assert not result.actions[0].faults
    assert {name for name, _, _ in log[:4]} == {"a", "b"}
    assert log[4:8] == [("c", "in", True), ("c", "out", True), ("d", "in", True), ("d", "out", True)]
    assert {name for name, _, _ in log[8:]} == {"e", "f"}
    assert not any(is_main for name, _, is_main in log if name in "abef")


def test_context_variables_reach_parallel_bodies_and_do_not_come_back() -> None:
    seen: list[str] = []

    def look(n: int) -> None:
        """Look at the variable.

        Args:
            n: any number
        """
        seen.append(_VARIABLE.get())
        _VARIABLE.set(f"tool {n}")

    token = _VARIABLE.set("the caller's")
    try:
        agent_of([calls(("look", {"n": 1}), ("look", {"n": 2})), final(1)], look).run("go")
        assert seen == ["the caller's"] * 2
        assert _VARIABLE.get() == "the caller's"
    finally:
        _VARIABLE.reset(token)


# -- prints --------------------------------------------------------------------------------------


def _printing(text: str) -> None:
    sink = CURRENT_SINK.get()
    assert sink is not None
    sink.write(text)


def say(text: str) -> int:
    """Say something.

    Args:
        text: what
    """
    _printing(f"{text}\n")
    time.sleep(0.01)
    _printing(f"{text} again\n")
    return len(open_sinks())


def test_what_a_body_prints_is_kept_with_its_call_and_not_told() -> None:
    result = agent_of([calls(("say", {"text": "hello"})), final(1)], say).run("go")
    (call,) = result.actions[0].tool_results
    assert call.printed == "hello\nhello again\n"
    assert call.to_text() == "1"
    assert CURRENT_SINK.get() is None
    assert open_sinks() == []


def test_prints_of_parallel_bodies_are_kept_apart() -> None:
    result = agent_of([calls(*(("say", {"text": f"t{n}"}) for n in range(5))), final(1)], say).run("go")
    assert [r.printed for r in result.actions[0].tool_results] == [f"t{n}\nt{n} again\n" for n in range(5)]
    assert open_sinks() == []


def test_prints_before_a_failure_are_kept() -> None:
    def fail() -> None:
        """Fail."""
        _printing("so far so good\n")
        raise ValueError("broken")

    result = agent_of([calls(("fail", {})), final(1)], fail).run("go")
    assert result.actions[0].tool_results[0].printed == "so far so good\n"


def test_prints_of_an_async_body_are_kept() -> None:
    async def fetch(text: str) -> None:
        """Fetch.

        Args:
            text: what
        """
        _printing(text)

    result = agent_of([calls(("fetch", {"text": "a"}), ("fetch", {"text": "b"})), final(1)], fetch).run("go")
    assert [r.printed for r in result.actions[0].tool_results] == ["a", "b"]


# -- async tools from synchronous code -------------------------------------------------------------


def test_async_tool_works_from_synchronous_code() -> None:
    log: list[int] = []

    async def fetch(n: int) -> int:
        """Fetch.

        Args:
            n: what
        """
        log.append(threading.get_ident())
        return n * 2

    result = agent_of(
        [calls(("fetch", {"n": 1})), calls(("fetch", {"n": 2}), ("fetch", {"n": 3})), final(1)], fetch
    ).run("go")
    assert told(result)[:2] == ["2", "4\n\n6"]
    assert len(set(log)) == 1, "one background loop serves all"
    assert log[0] != threading.get_ident()


def test_async_tool_that_exits_leaves_the_background_loop_running() -> None:
    async def leave() -> None:
        """Leave."""
        raise SystemExit(3)

    agent = agent_of([calls(("leave", {})), calls(("leave", {}), ("leave", {})), final(1)], leave)
    result = agent.run("go")
    assert result.status == "answered"
    assert told(result)[0] == snapshot("""\
leave tried to end the Python process (SystemExit: 3), which a tool cannot do.
Call it with other arguments, or use another tool.\
""")
    assert sum(thread.name == "agent_magic_loop" for thread in threading.enumerate()) == 1


def test_async_tool_that_raises_is_told() -> None:
    async def fail() -> None:
        """Fail."""
        raise ValueError("broken")

    assert told(agent_of([calls(("fail", {})), final(1)], fail).run("go"))[0] == snapshot("""\
fail raised ValueError: broken
Call it with other arguments, or use another tool.\
""")


def test_timing_is_that_of_the_body() -> None:
    def sleep() -> None:
        """Sleep."""
        time.sleep(0.05)

    (call,) = agent_of([calls(("sleep", {})), final(1)], sleep).run("go").actions[0].tool_results
    assert call.timing is not None
    assert 0.04 < call.timing.duration_s < 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_are_reused_and_end_as_daemons() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), final(1)] * 5, add)
    agent.run("go")

    def kept() -> set[int]:
        return {t.ident or 0 for t in threading.enumerate() if t.name == "agent_magic"}

    assert eventually(lambda: len(kept()) > 0)
    before = kept()
    for _ in range(4):
        time.sleep(0.01)
        agent.run("go")
    assert kept() <= before
    assert all(t.daemon for t in threading.enumerate() if t.name.startswith("agent_magic"))
