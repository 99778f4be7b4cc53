"""Turns: the bodies of a sequential tool, one at a time, whichever agents call it and from whichever threads.

It must not order calls of different tools: that is the caller's affair.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Generator, Mapping
from contextvars import ContextVar

from agent_magic.core.values import Value

_LOOK_S = 0.005
"""An event loop goes on while one of its tasks waits for a turn, and this often the task looks again."""


class _Turn:
    """One body has it at a time."""

    __slots__ = ("is_over", "lock", "outer")

    def __init__(self, outer: _Turn | None = None) -> None:
        self.lock = threading.Lock()
        self.outer = outer
        """The one that a body has, inside of which this one is taken."""
        self.is_over = False
        """That body has returned."""


_LOCK = threading.Lock()
_TURNS: weakref.WeakKeyDictionary[Callable[..., Value], _Turn] = weakref.WeakKeyDictionary()
_INSIDE: ContextVar[Mapping[_Turn, _Turn]] = ContextVar("agent_magic_turns", default={})  # noqa: B039 - never changed, always set anew
"""Of bodies that run: what calls from inside of them take in the place of the turn that they have."""


def take_turn(body: Callable[..., Value], enter: Callable[[], Value]) -> Value:
    """What `enter` gives, which calls the body while nobody else does; of an async body an awaitable.

    The turn is that of the function, whichever tools are made of it. A body may call its own tool: calls
    from inside of it, in threads and tasks too, take turns among each other. An async body has the turn
    from when it is awaited until it has returned.
    """
    root = _root_of(body)
    if inspect.iscoroutinefunction(body) or inspect.iscoroutinefunction(getattr(body, "__call__", None)):  # noqa: B004 - asks what the call is
        return _await_in_turn(root, enter)
    turn = _current(root)
    with turn.lock, _inside(root, turn):
        result = enter()
    return _await_in_turn(root, lambda: result) if inspect.isawaitable(result) else result


async def _await_in_turn(root: _Turn, enter: Callable[[], Value]) -> Value:
    turn = _current(root)
    while not turn.lock.acquire(blocking=False):  # noqa: ASYNC110 - a thread or another loop may have it: no event of one loop tells
        await asyncio.sleep(_LOOK_S)
    try:
        with _inside(root, turn):
            return await enter()
    finally:
        turn.lock.release()


@contextlib.contextmanager
def _inside(root: _Turn, turn: _Turn) -> Generator[None]:
    inner = _Turn(turn)
    before = _INSIDE.get()
    _INSIDE.set({**before, root: inner})
    try:
        yield
    finally:
        inner.is_over = True
        _INSIDE.set(before)


def _current(root: _Turn) -> _Turn:
    """What is to be taken here: the turn itself, or the one inside of a body that has it."""
    turn = _INSIDE.get().get(root, root)
    while turn.is_over and turn.outer is not None:  # a thread or a task that a body left behind
        turn = turn.outer
    return turn


def _root_of(body: Callable[..., Value]) -> _Turn:
    while isinstance(body, functools.partial):
        body = body.func
    body = getattr(body, "__func__", body)
    with _LOCK:
        try:
            return _TURNS.setdefault(body, _Turn())
        except TypeError:  # it cannot be referred to weakly, or has no hash
            return _Turn()
