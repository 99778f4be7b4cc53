"""What the whole interpreter shares, as it was before code ran: builtins, limits, hooks, streams.

It must not say what the code did with them beyond naming them.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable
from operator import is_
from typing import Any

from agent_magic.execution.prints.streams import is_left_over
from agent_magic.execution.stop.stopping import StepEnd

_NAMES = ("stdout", "stderr", "stdin", "displayhook", "excepthook", "modules", "path")


_PYTHONS_OWN = ("_", "__builtins__")
"""What Python's own prompt keeps among the builtins, and what `exec` leaves in a namespace that it is given."""


class Interpreter:
    """Notes what there is, when it is made; `put_back` mends what is not so any more.

    Args:
        code: What runs meanwhile.
        on_lost_end: Called when the end of the step was raised where nothing can hand it on, as in a `__del__`.
    """

    def __init__(self, code: str, on_lost_end: Callable[[], None]) -> None:
        self._code = code
        self._is_main = threading.current_thread() is threading.main_thread()
        self._values = [getattr(sys, name) for name in _NAMES]
        self._builtins = builtins.__dict__.copy()
        self._recursion_limit = sys.getrecursionlimit()
        self._trace = sys.gettrace()
        self._profile = sys.getprofile()
        self._on_lost_end = on_lost_end
        self._hook = sys.unraisablehook
        self._is_over = False
        sys.unraisablehook = self._own_hook = self._on_unraisable

    def _on_unraisable(self, unraisable: Any, /) -> None:
        if isinstance(unraisable.exc_value, StepEnd):
            self._on_lost_end()
        else:
            self._hook(unraisable)

    def put_back(self) -> list[str]:
        """Mend what was changed; gives the names."""
        changed: list[str] = []
        self._is_over = True
        if sys.unraisablehook is self._own_hook:
            sys.unraisablehook = self._hook_before()
        for name, value in zip(_NAMES, self._values, strict=True):
            if getattr(sys, name, None) is not value and self._is_of_code(name, value):
                setattr(sys, name, value)
                changed.append(f"sys.{name}")
        if sys.getrecursionlimit() != self._recursion_limit:
            sys.setrecursionlimit(self._recursion_limit)
            changed.append("the recursion limit")
        if sys.gettrace() is not self._trace:
            sys.settrace(self._trace)
            changed.append("the trace function")
        if sys.getprofile() is not self._profile:
            sys.setprofile(self._profile)
            changed.append("the profile function")
        now, before = builtins.__dict__, self._builtins
        if len(now) != len(before) or not all(map(is_, now.values(), before.values())):
            changed += self._put_back_builtins()
        return changed

    def _hook_before(self) -> Any:
        """The hook that was there; not one of other code, which began before this and has ended since."""
        hook = self._hook
        while isinstance(owner := getattr(hook, "__self__", None), Interpreter) and owner._is_over:
            hook = owner._hook
        return hook

    def _is_of_code(self, name: str, value: object) -> bool:
        """Whether the code has changed it, and not the main thread meanwhile, as `%%capture` does there."""
        return (self._is_main or name in self._code) and not is_left_over(value)

    def _put_back_builtins(self) -> list[str]:
        now, before = builtins.__dict__, self._builtins
        names = [name for name in now if name not in before and name not in _PYTHONS_OWN]
        for name in names:
            del now[name]
        for name, value in before.items():
            if name not in _PYTHONS_OWN and now.get(name, now) is not value:
                now[name] = value
                names.append(name)
        return [f"builtins.{name}" for name in names]
