"""What all tests share: an environment without keys, a real shell, a real kernel.

It must not hold anything that one room's tests need alone, nor stand in for a class of ours.
"""

from __future__ import annotations

import asyncio
import atexit
import builtins
import faulthandler
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_SETTINGS = Path(tempfile.mkdtemp(prefix="agent-magic-tests-"))


def _clean_environment() -> None:
    """No key, no chosen model, no settings of the person who runs the tests; inherited by subprocesses."""
    for name in list(os.environ):
        if re.search(
            r"(_API_KEY|_API_BASE|_BASE_URL)$|^(HF_TOKEN|AGENT_MAGIC_MODEL|AWS_.*|JUPYTER_PATH)$", name
        ):
            del os.environ[name]
    os.environ.update(
        IPYTHONDIR=str(_SETTINGS / "ipython"),
        JUPYTER_CONFIG_DIR=str(_SETTINGS / "config"),
        JUPYTER_DATA_DIR=str(_SETTINGS / "data"),
        JUPYTER_RUNTIME_DIR=str(_SETTINGS / "runtime"),
        JUPYTER_PLATFORM_DIRS="1",
        JUPYTER_PREFER_ENV_PATH="1",
        MPLBACKEND="agg",
        NO_PROXY="127.0.0.1,localhost,::1",
        XDG_STATE_HOME=str(_SETTINGS / "state"),
        PYDEVD_DISABLE_FILE_VALIDATION="1",
        PYTHONPATH=os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    )
    os.environ["no_proxy"] = os.environ["NO_PROXY"]


_clean_environment()

# Only now: the Jupyter libraries read their folders from the environment when they are imported.
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from kernels import Kernel  # noqa: E402
from traitlets.config import Config  # noqa: E402

_TEARDOWN_S = 200
_EXIT_S = 120
_stderr = sys.__stderr__


def pytest_configure() -> None:
    global _stderr  # noqa: PLW0603 - the real one: while a test runs, it is captured
    _stderr = os.fdopen(os.dup(sys.__stderr__.fileno()), "w")


def pytest_unconfigure() -> None:
    shutil.rmtree(_SETTINGS, ignore_errors=True)
    _stderr.close()
    # The interpreter waits for every thread that is no daemon, as long as it takes.
    faulthandler.dump_traceback_later(_EXIT_S, file=sys.__stderr__, exit=True)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """The teardown of a test that failed has no time limit of pytest's own, and would hold all tests for ever."""
    faulthandler.dump_traceback_later(_TEARDOWN_S, file=_stderr, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


class _KeptLoops(asyncio.DefaultEventLoopPolicy):
    """Keeps the event loops that are made: one that is forgotten unclosed fails whatever test runs at that moment."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[asyncio.AbstractEventLoop] = []

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        self.made.append(loop)
        return loop


_LOOPS = _KeptLoops()
asyncio.set_event_loop_policy(_LOOPS)


@pytest.fixture(scope="module", autouse=True)
def no_event_loop_is_left_open() -> Iterator[None]:
    """The Jupyter libraries keep a loop for the whole process; the end of a module's tests is its end."""
    yield
    for loop in _LOOPS.made:
        if not loop.is_running() and not loop.is_closed():
            loop.close()
    _LOOPS.made[:] = [loop for loop in _LOOPS.made if loop.is_running()]


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A fresh IPython shell, the one that `get_ipython()` gives; it keeps no history."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    modules_main, path, names = sys.modules["__main__"], list(sys.path), dict(vars(builtins))
    InteractiveShell.clear_instance()
    fresh = InteractiveShell.instance(config=config)
    try:
        yield fresh
    finally:
        fresh.reset(new_session=False)
        fresh.history_manager.end_session()
        fresh.restore_sys_module_state()
        # Else each of the many shells lives to the end of the process, and is reset then once more.
        atexit.unregister(fresh.atexit_operations)
        InteractiveShell.clear_instance()
        sys.modules["__main__"] = modules_main
        sys.path[:] = path
        for name in vars(builtins).keys() - names.keys() - {"_"}:
            delattr(builtins, name)


@pytest.fixture(scope="module")
def _kernel_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    process = Kernel(tmp_path_factory.mktemp("kernel"))
    try:
        process.start()
        yield process
    finally:
        process.shutdown()


@pytest.fixture
def kernel(_kernel_process: Kernel) -> Kernel:
    """A real ipykernel with an empty namespace; one process serves the tests of a module."""
    _kernel_process.reset()
    return _kernel_process
