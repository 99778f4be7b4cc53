"""Threads of the process that are started where Ctrl-C may come.

It must not know what they do.
"""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable


def start_thread(job: Callable[[], object], name: str) -> None:
    """Run `job` in a daemon thread.

    `Thread.start` waits, in Python code, until the thread is there; an exception that a signal's
    handler raises in that wait can leave a thread that never begins. So it is a bare thread that
    calls it: signals do not reach that one.

    Args:
        job: Must not raise.
        name: Of the thread, as a debugger shows it.

    Raises:
        RuntimeError: No thread can start here.
    """
    thread = threading.Thread(target=job, name=name, daemon=True)
    has_begun = threading.Lock()
    has_begun.acquire()

    def begin() -> None:
        has_begun.release()
        try:
            thread.start()
        except RuntimeError:  # there is room for no second one
            job()

    _thread.start_new_thread(begin, ())
    # Until it has, CPython takes it for the one that calls: an exception sent to that one could hit it.
    has_begun.acquire()


def on_fork(begin_anew: Callable[[], None]) -> None:
    """Call `begin_anew` in each forked process: no thread but the one that forks is there, nor who holds a lock."""
    if hasattr(os, "register_at_fork"):  # Windows has none, and no fork
        os.register_at_fork(after_in_child=begin_anew)
