"""What code of an agent may do, and what runs it: the settings of a code agent, each checked when it is set.

It must not run code.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_magic.core.errors import OptionError
from agent_magic.core.state import NamespaceState, State
from agent_magic.execution.executor import CodeExecutor, DictExecutor
from agent_magic.execution.request import Guard, Writes


class CodeSettings:
    """A code agent's settings of its code."""

    @property
    def executor(self) -> CodeExecutor | None:
        """What runs the code; None for the executor of the State's own dictionary."""
        return self._executor

    @executor.setter
    def executor(self, executor: CodeExecutor | None) -> None:
        self._executor = executor
        self._own_executor: tuple[State, DictExecutor] | None = None

    @property
    def additional_authorized_imports(self) -> tuple[str, ...]:
        """Modules that code may import beside the default ones."""
        return self._imports

    @additional_authorized_imports.setter
    def additional_authorized_imports(self, names: Iterable[str]) -> None:
        if isinstance(names, str):
            raise OptionError(
                f"additional_authorized_imports={names!r} is one text. Give a list: [{names!r}]."
            )
        self._imports = _texts("additional_authorized_imports", names)

    @property
    def step_timeout_s(self) -> float | None:
        """Seconds of the code's own time in one step; None for no limit."""
        return self._step_timeout_s

    @step_timeout_s.setter
    def step_timeout_s(self, seconds: float | None) -> None:
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and 0 < seconds < float("inf")):
            raise OptionError(
                f"step_timeout_s={seconds!r} is not allowed. Give a number over 0, or None for no limit."
            )
        self._step_timeout_s = seconds

    @property
    def writes(self) -> Writes:
        """Which names code may bind."""
        return self._writes

    @writes.setter
    def writes(self, writes: Writes) -> None:
        if writes not in ("new", "all", "none"):
            raise OptionError(f"writes={writes!r} is not allowed. Give one of: 'new', 'all', 'none'.")
        self._writes: Writes = writes

    @property
    def protect(self) -> tuple[str, ...] | None:
        """Names that code may not change in place; None for all of the person's, `()` for none.

        With `writes="all"` and None there are none.
        """
        return self._protect

    @protect.setter
    def protect(self, names: Iterable[str] | None) -> None:
        if isinstance(names, str):
            raise OptionError(f"protect={names!r} is one text. Give a list: [{names!r}].")
        self._protect = None if names is None else _texts("protect", names)

    @property
    def guard(self) -> Guard:
        """All of it, as an executor is told."""
        protect = self._protect
        if protect is None and self._writes == "all":
            protect = ()  # who lets code rebind all lets it change all, but for what is named
        return Guard(
            imports=self._imports, writes=self._writes, protect=protect, timeout_s=self._step_timeout_s
        )

    def executor_for(self, base: State) -> CodeExecutor:
        """What runs code on this State; the same as long as it is the same State.

        Raises:
            OptionError: There is nothing that could.
        """
        return self._executor_on(base) if self._executor is None else self._executor

    def _executor_on(self, base: State) -> CodeExecutor:
        namespace = base.namespace if isinstance(base, NamespaceState) else base
        if not isinstance(namespace, dict):
            raise OptionError(
                f"Code cannot run on a State of type {type(base).__name__} without an executor. "
                "Give executor=…, or a dictionary as state."
            )
        if self._own_executor is None or self._own_executor[0] is not base:
            self._own_executor = (base, DictExecutor(namespace))
        return self._own_executor[1]


def _texts(what: str, names: Iterable[str]) -> tuple[str, ...]:
    found = tuple(names)
    for name in found:
        if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
            raise OptionError(f"{what}: {name!r} is no name. Give a list of texts.")
    return found
