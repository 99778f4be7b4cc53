"""Threads that tests start: whoever waits for one gives up in time, and says where it stands.

It must not know what they do.
"""

from __future__ import annotations

import sys
import threading
import traceback

PATIENCE_S = 60.0
"""After which a test gives up on a thread."""


def join(*threads: threading.Thread) -> None:
    """Wait for the end of threads; one that does not end fails the test, with what it is doing."""
    for thread in threads:
        thread.join(PATIENCE_S)
        if thread.is_alive():
            frame = sys._current_frames().get(thread.ident or 0)
            stack = "".join(traceback.format_stack(frame)) if frame else "no stack"
            raise AssertionError(f"{thread.name} still runs after {PATIENCE_S:g} s:\n{stack}")
