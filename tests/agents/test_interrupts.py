"""Runs that are stopped: by `interrupt` from another thread, and by a real Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from agents.checking import (
    PATIENCE_S,
    Busy,
    add,
    agent_of,
    assert_usable,
    eventually,
    last_action,
    model_of,
    told,
    within,
)
from inline_snapshot import snapshot

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import RunEnded, StepEnded, TextDelta, Waiting
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final


class SlowToReturn(Busy):
    """A passing failure after which the provider asks for a long wait."""

    headers = {"Retry-After": "25"}  # noqa: RUF012 - as the provider libraries have it


class _Hanging:
    """Tools that wait until they are let go, or cancelled."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.gate = threading.Event()
        self.cancelled = threading.Event()
        self.n_entered = 0

    def hang(self) -> str:
        """Wait long."""
        self._note()
        end = time.perf_counter() + PATIENCE_S
        while not self.gate.is_set() and time.perf_counter() < end:
            time.sleep(0.01)
        return "let go"

    async def ahang(self) -> None:
        """Wait long, asynchronously."""
        self._note()
        try:
            await asyncio.sleep(PATIENCE_S)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    def reply(self, _request: Any) -> Any:
        """A model's reply that takes long."""
        self._note()
        time.sleep(PATIENCE_S)
        return final("late")

    def _note(self) -> None:
        self.n_entered += 1
        self.entered.set()


def _assert_interrupted(agent: ToolCallingAgent, reason: str) -> None:
    result = agent.result
    assert result is not None
    assert (result.status, result.value) == ("interrupted", None)
    assert result.error is not None
    assert (result.error.kind, result.error.message) == ("Interrupted", reason)
    assert last_action(agent).is_interrupted
    assert result.steps == agent.memory.steps
    assert_usable(agent)


def _stop(agent: ToolCallingAgent, hanging: _Hanging) -> None:
    assert hanging.entered.wait(PATIENCE_S)
    agent.interrupt("Enough.")


def _napping(hanging: _Hanging, seconds: float) -> Callable[[], int]:
    def nap() -> int:
        """Sleep a little."""
        hanging.entered.set()
        time.sleep(seconds)
        return 1

    return nap


def _in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


# -- interrupt from another thread -------------------------------------------------------------------


def test_interrupt_while_the_model_answers_keeps_what_it_said() -> None:
    agent = agent_of([{"content": "word " * 200}], stream_pieces=200, latency_s=20)
    said: list[str] = []
    with within(10):
        for event in agent.stream("go"):
            if isinstance(event, TextDelta):
                said.append(event.text)
                if len(said) == 3:
                    _in_thread(lambda: agent.interrupt("Enough.")).join()
    assert last_action(agent).model_output == "".join(said)
    assert len(said) == 3
    _assert_interrupted(agent, "Enough.")


def test_interrupt_ends_the_wait_for_a_retry() -> None:
    agent = agent_of([SlowToReturn("busy"), final(1)])
    with within(10):
        for event in agent.stream("go"):
            if isinstance(event, Waiting):
                assert event.delay_s == 25
                threading.Timer(0.05, agent.interrupt).start()
    assert len(model_of(agent).requests) == 1
    _assert_interrupted(agent, "The person interrupted the run.")


def test_interrupt_ends_the_wait_for_parallel_tools_that_still_run() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("hang", {}), ("hang", {}), ("add", {"a": 1, "b": 2}))], hanging.hang, add)
    try:
        _in_thread(lambda: eventually(lambda: hanging.n_entered == 2) and agent.interrupt("Enough."))
        with within(10):
            agent.run("go")
        results = last_action(agent).tool_results
        assert [result.to_text() for result in results[:2]] == snapshot(
            [
                "The call was interrupted before it ended; what it did so far is not known.",
                "The call was interrupted before it ended; what it did so far is not known.",
            ]
        )
        _assert_interrupted(agent, "Enough.")
    finally:
        hanging.gate.set()


def test_interrupt_breaks_off_a_single_tool_of_a_run_in_the_main_thread() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("hang", {})), final(1)], hanging.hang)
    _in_thread(lambda: hanging.entered.wait(PATIENCE_S) and agent.interrupt("Enough."))
    with within(10):
        agent.run("go")
    assert told(agent.result) == snapshot(
        [
            """\
The call was interrupted before it ended; what it did so far is not known.

Enough.\
"""
        ]
    )
    _assert_interrupted(agent, "Enough.")


def test_interrupt_breaks_off_a_model_that_works_in_the_main_thread() -> None:
    hanging = _Hanging()
    agent = agent_of([hanging.reply])
    _in_thread(lambda: hanging.entered.wait(PATIENCE_S) and agent.interrupt("Enough."))
    with within(10):
        agent.run("go")
    _assert_interrupted(agent, "Enough.")


def test_interrupt_that_a_tool_swallows_ends_the_run_after_that_tool() -> None:
    hanging = _Hanging()

    def stubborn() -> str:
        """Wait long, whatever comes."""
        try:
            return hanging.hang()
        except BaseException:
            return "not yet"

    agent = agent_of([calls(("stubborn", {})), final(1)], stubborn)
    _in_thread(lambda: hanging.entered.wait(PATIENCE_S) and agent.interrupt("Enough."))
    with within(10):
        agent.run("go")
    assert last_action(agent).tool_results[0].observation == "not yet"
    _assert_interrupted(agent, "Enough.")


class _Slow:
    """Takes its time to go."""

    def __init__(self, hanging: _Hanging) -> None:
        self.hanging = hanging

    def __del__(self) -> None:
        self.hanging.hang()


def _swallow(hanging: _Hanging) -> str:
    try:
        return hanging.hang()
    except KeyboardInterrupt:
        return "not yet"


def _finalize(hanging: _Hanging) -> str:
    _Slow(hanging)  # Python goes on after an exception in there
    return "not yet"


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("body", [_swallow, _finalize])
def test_ctrl_c_that_is_lost_in_a_tool_ends_the_run_after_it_and_is_raised(
    body: Callable[[_Hanging], str],
) -> None:
    hanging = _Hanging()

    def stubborn() -> str:
        """Wait long, whatever comes."""
        return body(hanging)

    def press() -> None:
        assert hanging.entered.wait(PATIENCE_S)
        os.kill(os.getpid(), signal.SIGINT)

    agent = agent_of([calls(("stubborn", {})), final(1)], stubborn)
    _in_thread(press)
    with within(10), pytest.raises(KeyboardInterrupt):
        agent.run("go")
    assert last_action(agent).tool_results[0].observation == "not yet"
    _assert_interrupted(agent, "The person interrupted the run.")


def test_interrupt_by_a_tool_itself_lets_it_end_and_keeps_its_result() -> None:
    def stop() -> str:
        """End this."""
        agent.interrupt("Enough.")
        time.sleep(0.05)
        return "done"

    agent = agent_of([calls(("stop", {})), final(1)], stop)
    agent.run("go")
    assert last_action(agent).tool_results[0].observation == "done"
    _assert_interrupted(agent, "Enough.")


def test_interrupt_lets_a_single_tool_of_a_stream_end_and_keeps_its_result() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("hang", {})), final(1)], hanging.hang)

    def stop() -> None:
        assert hanging.entered.wait(PATIENCE_S)
        agent.interrupt("Enough.")
        hanging.gate.set()

    _in_thread(stop)
    for _ in agent.stream("go"):
        pass
    assert last_action(agent).tool_results[0].observation == "let go"
    _assert_interrupted(agent, "Enough.")


def test_an_interrupt_that_comes_as_a_tool_ends_hits_nothing_else() -> None:
    before = signal.getsignal(signal.SIGINT)
    for n in range(7):  # about as long as an interrupt leaves a run to end by itself
        hanging = _Hanging()
        agent = agent_of([calls(("nap", {})), final(3)], _napping(hanging, 0.097 + n / 1_000))
        thread = _in_thread(partial(_stop, agent, hanging))
        assert agent.run("go").status == "interrupted"
        thread.join()
        assert signal.getsignal(signal.SIGINT) is before
    time.sleep(0.01)  # nothing is on its way


@pytest.mark.parametrize("n_calls", [1, 2])
def test_interrupt_cancels_async_tools(n_calls: int) -> None:
    hanging = _Hanging()
    agent = agent_of([calls(*[("ahang", {})] * n_calls)], hanging.ahang)
    _in_thread(lambda: eventually(lambda: hanging.n_entered == n_calls) and agent.interrupt("Enough."))
    with within(10):
        agent.run("go")
    assert hanging.cancelled.wait(PATIENCE_S)
    assert [result.to_text() for result in last_action(agent).tool_results] == [
        "The call was interrupted before it ended; what it did so far is not known."
    ] * n_calls
    _assert_interrupted(agent, "Enough.")


def test_interrupt_between_steps_asks_the_model_no_more() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3)])
    events = agent.stream("go")
    for event in events:
        if isinstance(event, StepEnded):
            _in_thread(lambda: agent.interrupt("Enough.")).join()
            break
    rest = list(events)
    assert [type(event) for event in rest] == [StepEnded, RunEnded]
    assert len(model_of(agent).requests) == 1
    assert told(agent.result) == ["3", "Enough."]
    _assert_interrupted(agent, "Enough.")


def test_interrupt_ends_all_active_runs() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("ahang", {}))] * 3, hanging.ahang)
    runs = [_in_thread(lambda: agent.run("go", reset=False)) for _ in range(3)]
    assert eventually(lambda: hanging.n_entered == 3)
    agent.interrupt("Enough.")
    for run in runs:
        run.join(PATIENCE_S)
    assert [run.status for run in agent.runs] == ["interrupted"] * 3
    assert_usable(agent)


def test_interrupt_without_a_run_does_nothing() -> None:
    agent = agent_of([final(1)])
    agent.interrupt()
    assert agent.run("go").status == "answered"


# -- Ctrl-C ------------------------------------------------------------------------------------------


def _run_and_press_ctrl_c(agent: ToolCallingAgent, is_time: Callable[[], bool]) -> None:
    """Run a task; when it is time, send a real SIGINT to the main thread."""
    main = threading.main_thread().ident
    assert main is not None
    returned = threading.Event()

    def press() -> None:
        if eventually(is_time) and not returned.wait(0.02):
            signal.pthread_kill(main, signal.SIGINT)

    pressing = _in_thread(press)
    with within(10):
        try:
            with pytest.raises(KeyboardInterrupt):
                agent.run("go")
        finally:
            returned.set()
    pressing.join()


def test_ctrl_c_while_the_model_is_asked() -> None:
    hanging = _Hanging()
    agent = agent_of([hanging.reply])
    _run_and_press_ctrl_c(agent, hanging.entered.is_set)
    _assert_interrupted(agent, "The person interrupted the run.")


def test_ctrl_c_while_the_model_answers() -> None:
    agent = agent_of([{"content": "word " * 200}], stream_pieces=200, latency_s=20)
    _run_and_press_ctrl_c(agent, lambda: len(model_of(agent).requests) == 1)
    _assert_interrupted(agent, "The person interrupted the run.")


def test_ctrl_c_while_waiting_for_a_retry() -> None:
    agent = agent_of([SlowToReturn("busy"), final(1)])
    _run_and_press_ctrl_c(agent, lambda: len(model_of(agent).requests) == 1)
    _assert_interrupted(agent, "The person interrupted the run.")


def test_ctrl_c_while_a_tool_runs() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("hang", {}))], hanging.hang)
    _run_and_press_ctrl_c(agent, hanging.entered.is_set)
    assert told(agent.result)[-1] == snapshot("""\
The call was interrupted before it ended; what it did so far is not known.

The person interrupted the run.\
""")
    _assert_interrupted(agent, "The person interrupted the run.")


def test_ctrl_c_while_parallel_tools_run() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("hang", {}), ("add", {"a": 1, "b": 2}), ("hang", {}))], hanging.hang, add)
    try:
        _run_and_press_ctrl_c(agent, lambda: hanging.n_entered == 2)
        steps = agent.memory.steps
        assert len(last_action(agent).tool_results) == 3
    finally:
        hanging.gate.set()
    time.sleep(0.05)
    assert agent.memory.steps == steps
    _assert_interrupted(agent, "The person interrupted the run.")


@pytest.mark.parametrize("n_calls", [1, 2])
def test_ctrl_c_while_async_tools_wait_cancels_them(n_calls: int) -> None:
    hanging = _Hanging()
    agent = agent_of([calls(*[("ahang", {})] * n_calls)], hanging.ahang)
    _run_and_press_ctrl_c(agent, lambda: hanging.n_entered == n_calls)
    assert hanging.cancelled.wait(PATIENCE_S)
    _assert_interrupted(agent, "The person interrupted the run.")


def test_ctrl_c_keeps_the_steps_before() -> None:
    hanging = _Hanging()
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), calls(("hang", {}))], hanging.hang, add)
    _run_and_press_ctrl_c(agent, hanging.entered.is_set)
    assert agent.result is not None
    assert [step.step_number for step in agent.result.actions] == [1, 2]
    assert told(agent.result)[0] == "3"
    _assert_interrupted(agent, "The person interrupted the run.")
