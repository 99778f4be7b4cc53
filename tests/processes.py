"""Processes that tests start: each ends within a time, and with it all that it started.

It must not know what they run.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

PATIENCE_S = 180.0
"""After which a test gives up on a process: what is well answers in a second, on a busy machine in some."""
_ROOT = Path(__file__).resolve().parent.parent


def tree_of(pid: int) -> list[psutil.Process]:
    """A process and all that it started, and these in turn; empty if it is gone."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def kill(processes: Iterable[psutil.Process]) -> None:
    """End processes by force; a stopped one too. An id that another process has since got is left alone."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def end(process: subprocess.Popen[Any], grace_s: float) -> None:
    """End a process and all that it started: it is asked, and after `grace_s` it is killed."""
    tree = tree_of(process.pid) if process.poll() is None else []
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace_s)
    kill([*tree, *(tree_of(process.pid) if process.poll() is None else [])])
    process.wait(PATIENCE_S)


@contextlib.contextmanager
def watched(seconds: float, give_up: Callable[[], None], what: str) -> Iterator[None]:
    """Call `give_up`, in another thread, if the body takes longer; it then fails whatever the body raised.

    Args:
        seconds: Of the body.
        give_up: Ends what the body waits for.
        what: The body, as the failure names it.

    Raises:
        TimeoutError: It took longer.
    """
    is_late = threading.Event()

    def end_it() -> None:
        is_late.set()
        give_up()

    timer = threading.Timer(seconds, end_it)
    timer.daemon = True
    timer.start()
    try:
        yield
    except BaseException as error:  # whatever the body was ended by, it was late
        if is_late.is_set():
            raise TimeoutError(f"{what} took longer than {seconds:g} s") from error
        raise
    finally:
        timer.cancel()
        timer.join(PATIENCE_S)
    if is_late.is_set():
        raise TimeoutError(f"{what} took longer than {seconds:g} s")


@contextlib.contextmanager
def started(arguments: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A Python process that sees what the tests see; at the end of the body it is killed, if it still runs.

    Args:
        arguments: Of Python.
        options: Those of `Popen`; by default, stdin, stdout and stderr are pipes.
    """
    options = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options
    path = os.pathsep.join([str(_ROOT), str(_ROOT / "tests")])
    command = [sys.executable, *map(str, arguments)]
    with subprocess.Popen(command, text=True, env={**os.environ, "PYTHONPATH": path}, **options) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                kill(tree_of(process.pid))


def write_line(process: subprocess.Popen[str], line: str) -> None:
    """Write a line to a process."""
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def read_line(process: subprocess.Popen[str], patience_s: float = PATIENCE_S) -> str:
    """The next line that a process writes, without its end.

    Raises:
        AssertionError: It ended in place of it; with what it wrote to stderr.
        TimeoutError: None came in time; the process was killed.
    """
    assert process.stdout is not None
    with watched(patience_s, lambda: kill(tree_of(process.pid)), f"a line of process {process.pid}"):
        line = process.stdout.readline()
        if not line:
            raise AssertionError(f"the process ended: {process.communicate(timeout=patience_s)[1]}")
    return line.removesuffix("\n")
