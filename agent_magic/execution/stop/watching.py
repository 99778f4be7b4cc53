"""WATCHER: one thread of the process that looks after long code: time off the main thread, and memory.

It must not start before it is needed, and ends when it is not.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from agent_magic.core.flag import Flag
from agent_magic.core.threads import on_fork, start_thread

Tick = Callable[[float], float]
"""Takes the time, as `time.monotonic` gives it, and gives the time when it wants to be called next."""

MEMORY_SHARE = 0.75
"""Of the memory that is free when code starts, what it may take."""
_LOOK_S = 0.1
_IDLE_S = 2.0
_SOON_S = 0.2


class Watcher:
    """Calls whoever asked for it, at the time asked for, in a thread of its own."""

    def __init__(self) -> None:
        self._begin_anew()
        on_fork(self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock = threading.RLock()  # a handler of a signal may come while its own thread holds it
        self._ticks: list[Tick] = []
        self._is_running = False
        self._is_woken = Flag()

    def add(self, tick: Tick, *, is_urgent: bool = True) -> None:
        """Call `tick` from now on; where no thread can start, it is not.

        Args:
            is_urgent: Else the first call has a fifth of a second, and no thread is woken for it.
        """
        with self._lock:
            self._ticks.append(tick)
            if not self._is_running:
                with contextlib.suppress(RuntimeError):
                    start_thread(self._watch, "agent_magic_watcher")
                    self._is_running = True
        if is_urgent:
            self.wake()

    def remove(self, tick: Tick) -> None:
        """Call it no more."""
        with self._lock:
            if tick in self._ticks:
                self._ticks.remove(tick)

    def wake(self) -> None:
        """Call all now: one of them has changed its mind about the time."""
        self._is_woken.set()

    def _watch(self) -> None:
        idle_since = time.monotonic()
        while True:
            self._is_woken.clear()
            with self._lock:
                ticks = list(self._ticks)
            now = time.monotonic()
            due = min([tick(now) for tick in ticks], default=now + _SOON_S)
            with self._lock:
                if self._ticks:
                    idle_since = now
                elif now - idle_since > _IDLE_S:
                    self._is_running = False
                    return
            self._is_woken.wait(min(max(0.001, due - time.monotonic()), _SOON_S))


WATCHER = Watcher()


class MemoryWatch:
    """Looks ten times a second how much memory the process has taken since."""

    def __init__(self, on_too_much: Callable[[float], None]) -> None:
        self._on_too_much = on_too_much
        self._start = resident_bytes()
        self._room = available_bytes() * MEMORY_SHARE
        self._is_told = False

    def start(self) -> None:
        """Look from now on, if the system tells what there is to be seen."""
        if self._start and self._room:
            WATCHER.add(self._tick)

    def finish(self) -> None:
        """Look no more."""
        WATCHER.remove(self._tick)

    def _tick(self, now: float) -> float:
        taken = resident_bytes() - self._start
        if taken > self._room and not self._is_told:
            self._is_told = True
            self._on_too_much(taken)
        return now + _LOOK_S


def resident_bytes() -> int:
    """Memory that this process has now; 0 where nothing tells it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        psutil = sys.modules.get("psutil")
        return psutil.Process().memory_info().rss if psutil is not None else 0


def available_bytes() -> int:
    """Memory that is free for this process, its container's limit counted; 0 where nothing tells it."""
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        meminfo = Path("/proc/meminfo").read_text(encoding="ascii")
        found.append(int(meminfo.split("MemAvailable:")[1].split()[0]) * 1024)
    with contextlib.suppress(OSError, ValueError):
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        found.append(limit - int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii")))
    psutil = sys.modules.get("psutil")
    if not found and psutil is not None:
        found.append(psutil.virtual_memory().available)
    return max(0, min(found, default=0))
