"""The main thread of a run, and calls that are made there, whichever thread asks for them.

It must not know what is called: it gets a body, and gives what that returned.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol

from agent_magic.agents.run.run import Run
from agent_magic.agents.threads.promise import Promise
from agent_magic.core.errors import ToolExecutionError
from agent_magic.core.values import Value


class MainThread(Protocol):
    """Where calls of tools marked `main_thread` are made."""

    thread: int
    """Its identity."""

    @property
    def is_over(self) -> bool:
        """Whether nothing can be made there any more."""
        ...

    def take(self, errand: Errand) -> bool:
        """Have it made there; False if it cannot be."""
        ...


MAIN_THREAD: ContextVar[MainThread | None] = ContextVar("agent_magic_main_thread", default=None)
"""Of the threads that others wait for; None in a thread that is one itself."""


class GivenUp(Exception):  # noqa: N818 - it says what happened
    """A call that was not made."""


class Errand:
    """One call that another thread makes."""

    def __init__(self, body: Callable[[], Value]) -> None:
        self._body = body
        self._context = contextvars.copy_context()
        self._claims: dict[str, object] = {}
        self.done: Promise[Value] = Promise()

    def make(self) -> None:
        """Make it in the thread that calls, in the context of the one that asked.

        Raises:
            KeyboardInterrupt: Ctrl-C came meanwhile; the one that asked gets it too.
        """
        if not self._claim():
            return
        try:
            value = self._context.run(self._call)
        except BaseException as error:  # it is raised again in the thread that waits
            self.done.break_(error)
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            self.done.keep(value)

    def give_up(self) -> None:
        """Let nobody wait for it any more, unless it is being made."""
        if self._claim():
            self.done.break_(GivenUp())

    def give_up_at_end(self) -> None:
        """As `give_up`; one that Ctrl-C has ended between its last line and the word of it is not made twice."""
        self.give_up()
        self.done.break_(KeyboardInterrupt())

    def _claim(self) -> bool:
        """Whether it is still to be made, or given up: by the one that calls, then."""
        mine = object()
        # One call into C: no lock that Ctrl-C could leave held.
        return self._claims.setdefault("it", mine) is mine

    def _call(self) -> Value:
        MAIN_THREAD.set(None)  # what the body runs in turn is at home here
        return self._body()


class WaitingThread:
    """The thread that waits for the calls of one turn, and makes those that belong to it.

    Args:
        tell: Lets the thread know of an errand, from any other.
    """

    def __init__(self, tell: Callable[[Errand], object]) -> None:
        self.thread = threading.get_ident()
        self._tell = tell
        self._lock = threading.Lock()
        self._errands: list[Errand] = []
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """Whether it waits no more."""
        return self._is_over

    def take(self, errand: Errand) -> bool:
        """Have it made when the thread comes to it."""
        with self._lock:
            if self._is_over:
                return False
            self._errands = [each for each in self._errands if not each.done.is_over]
            self._errands.append(errand)
            self._tell(errand)
            return True

    def close(self) -> None:
        """The thread waits no more: what was not made is given up."""
        with self._lock:
            self._is_over = True
            for errand in self._errands:
                errand.give_up_at_end()


class LoopThread:
    """The thread of an event loop that awaits a run.

    Args:
        loop: Running, in the thread that calls.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.thread = threading.get_ident()
        self._loop = loop

    @property
    def is_over(self) -> bool:
        """Whether the loop was closed."""
        return self._loop.is_closed()

    def take(self, errand: Errand) -> bool:
        """Have it made between two steps of the loop's tasks."""

        def make() -> None:
            with contextlib.suppress(KeyboardInterrupt):  # it would end the loop; the run ends by it
                errand.make()

        try:
            self._loop.call_soon_threadsafe(make)
        except RuntimeError:  # it was closed
            return False
        return True


class _Busy:
    """The thread of code, for threads that the code has started."""

    thread = 0
    is_over = False

    def take(self, errand: Errand) -> bool:
        del errand
        return False


BUSY: MainThread = _Busy()


def is_known() -> bool:
    """Whether the thread that calls works for a main thread, and that still is one."""
    main = MAIN_THREAD.get()
    return main is not None and not main.is_over


def elsewhere(run: Run) -> MainThread | None:
    """The main thread of what goes on here, if it is another one than that which calls."""
    main = MAIN_THREAD.get()
    if main is None or main.thread == threading.get_ident():
        return None
    # Who was left behind by a call, and begins a run of its own, is at home where it is.
    return None if main.is_over and run.above is None else main


def make_there(main: MainThread, name: str, body: Callable[[], Value], run: Run) -> Value:
    """What the body returns, called in the main thread.

    Args:
        main: Which `elsewhere` gave.
        name: Of the tool.
        body: Calls it.
        run: That calls.

    Raises:
        ToolExecutionError: It cannot be called there.
        Interrupted: The run was stopped before it was called.
        BaseException: What it raised.
    """
    errand = Errand(body)
    if not main.take(errand):
        raise ToolExecutionError(_tell_busy(name))
    take_off = run.on_interrupt(errand.give_up)
    try:
        return errand.done.wait()
    except GivenUp:
        run.raise_if_interrupted()
        raise ToolExecutionError(_tell_busy(name)) from None
    finally:
        take_off()


def _tell_busy(name: str) -> str:
    return (
        f"{name} has to run in the main thread, which does not wait for this call: "
        "it runs the code that made the call in a thread of its own, or has gone on.\n"
        "Call it outside of threads, or use another tool."
    )
