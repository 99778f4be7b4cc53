from __future__ import annotations

import builtins
import os
import sys

import pytest
from IPython import get_ipython
from IPython.utils.capture import capture_output


def test_environment_holds_no_key():
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
    assert "AGENT_MAGIC_MODEL" not in os.environ


@pytest.mark.parametrize("turn", [1, 2])
def test_shell_is_fresh_each_time(shell, turn):
    assert get_ipython() is shell
    assert "left" not in shell.user_ns
    with capture_output() as captured:
        result = shell.run_cell("left = 1\nprint('said')\n6 * 7", store_history=True)
    assert result.result == 42
    assert captured.stdout.startswith("said")
    assert shell.execution_count == 2


@pytest.mark.parametrize("turn", [1, 2])
def test_shell_leaves_nothing_behind(shell, turn):
    assert "__main__" in sys.modules
    shell.run_cell("async def f(): return 1\nawait f()")


def test_get_ipython_is_gone_without_a_shell():
    assert get_ipython() is None
    assert not hasattr(builtins, "display")


@pytest.mark.kernel
def test_kernel_gives_outputs_and_errors(kernel):
    done = kernel.execute("print('a'); print('b')\ndisplay('shown', display_id='x')\nx = 1\nx + 1")
    assert (done.stdout, done.result, done.error) == ("a\nb\n", "2", None)
    assert done.displays == [{"text/plain": "'shown'"}]
    failed = kernel.execute("1 / 0")
    assert failed.error
    assert (failed.error.ename, failed.error.evalue) == ("ZeroDivisionError", "division by zero")


@pytest.mark.kernel
def test_kernel_is_empty_in_the_next_test(kernel):
    error = kernel.execute("x").error
    assert error
    assert error.ename == "NameError"


@pytest.mark.kernel
def test_kernel_interrupt_is_a_keyboard_interrupt(kernel):
    running = kernel.begin("import time\nprint('on', flush=True)\ntime.sleep(30)")
    kernel.wait_for_output(running, "on")
    kernel.interrupt()
    done = kernel.finish(running, timeout_s=5)
    assert done.error
    assert done.error.ename == "KeyboardInterrupt"
    assert kernel.execute("1 + 1").result == "2"
