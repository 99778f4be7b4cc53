"""Turns: the bodies of a sequential tool, one at a time, whichever agents call it and from whichever threads.

It must not order calls of different tools: that is the caller's affair.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager

from agent_magic.core.values import Value

_LOCK = threading.Lock()
_TURNS: weakref.WeakKeyDictionary[Callable[..., Value], threading.RLock] = weakref.WeakKeyDictionary()


def turn_of(body: Callable[..., Value]) -> AbstractContextManager[object]:
    """What is held while the body runs; the same for every tool that is made of one function.

    Whoever has the turn may take it again: a body may call its own tool.
    """
    while isinstance(body, functools.partial):
        body = body.func
    body = getattr(body, "__func__", body)
    with _LOCK:
        try:
            return _TURNS.setdefault(body, threading.RLock())
        except TypeError:  # it cannot be referred to weakly, or has no hash
            return threading.RLock()
