"""Flags: waits that an exception at any bytecode leaves whole."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent_magic.core import flag as module
from agent_magic.core.flag import Flag

PATIENCE_S = 20.0


def test_flag_is_set_and_cleared() -> None:
    flag = Flag()
    assert not flag.is_set()
    flag.set()
    flag.set()
    assert flag.is_set()
    assert flag.wait(0)
    flag.clear()
    assert not flag.is_set()
    assert not flag.wait(0)


@pytest.mark.parametrize("timeout_s", [0, -1, 0.05])
def test_wait_ends_when_its_time_is_over(timeout_s: float) -> None:
    start = time.monotonic()
    assert not Flag().wait(timeout_s)
    assert time.monotonic() - start >= timeout_s


@pytest.mark.parametrize("timeout_s", [None, PATIENCE_S])
def test_all_that_wait_are_woken_and_told_so_though_it_is_cleared_at_once(timeout_s: float | None) -> None:
    flag, told = Flag(), list[bool]()
    threads = [threading.Thread(target=lambda: told.append(flag.wait(timeout_s))) for _ in range(5)]
    for thread in threads:
        thread.start()
    while len(flag._waiting) < len(threads):
        time.sleep(0.001)
    flag.set()
    flag.clear()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert told == [True] * 5
    assert flag._waiting == []


# -- an exception between any two bytecodes, as Ctrl-C raises it -----------------------------------------


class _Stopping:
    """Raises KeyboardInterrupt at the n-th bytecode of the module."""

    def __init__(self, n: int) -> None:
        self.n_left = n

    def trace(self, frame: Any, _event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename != module.__file__:
            return None
        frame.f_trace_opcodes = True
        return self._trace_inside

    def _trace_inside(self, _frame: Any, event: str, _argument: Any) -> Any:
        if event == "opcode":
            self.n_left -= 1
            if self.n_left == 0:
                raise KeyboardInterrupt
        return self._trace_inside


def _stopped_everywhere(body: Callable[[Flag], object]) -> Iterator[Flag]:
    """For each bytecode of the body, the flag that it leaves if it is stopped there."""
    for n in range(1, 1000):
        flag = Flag()
        before = sys.gettrace()
        sys.settrace(_Stopping(n).trace)
        try:
            body(flag)
        except KeyboardInterrupt:
            pass
        else:
            assert n > 5
            return
        finally:
            sys.settrace(before)
        yield flag
    raise AssertionError("it never ended")


BODIES: dict[str, Callable[[Flag], object]] = {
    "set": lambda flag: flag.set(),
    "wait until it is over": lambda flag: flag.wait(0.001),
    "wait for what is set": lambda flag: (flag.set(), flag.wait()),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_flag_that_was_stopped_at_any_bytecode_can_be_set_and_waited_for(
    body: Callable[[Flag], object],
) -> None:
    for flag in _stopped_everywhere(body):
        flag.clear()
        threading.Timer(0.001, flag.set).start()
        assert flag.wait(PATIENCE_S)
        flag.clear()
        assert not flag.wait(0)
