"""What one thread waits for and another one gives: a value, or why there is none.

It must not know who gives it. As `concurrent.futures.Future`, which Ctrl-C can break (see `core.flag`).
"""

from __future__ import annotations

from typing import Generic, TypeVar, cast

from agent_magic.core.flag import Flag

T = TypeVar("T")


class Promise(Generic[T]):
    """The first end counts."""

    def __init__(self) -> None:
        self._end: dict[str, tuple[T | None, BaseException | None]] = {}
        self._is_over = Flag()

    @property
    def is_over(self) -> bool:
        """Whether it was kept or broken."""
        return bool(self._end)

    def keep(self, value: T) -> None:
        """Give the value."""
        self._settle(value, None)

    def break_(self, error: BaseException) -> None:
        """Say why there is none; it is raised where it is waited for."""
        self._settle(None, error)

    def wait(self, timeout_s: float | None = None) -> T:
        """The value, once it is there.

        Raises:
            TimeoutError: So long it did not come; `is_over` tells it from one that was given.
            BaseException: Why there is none.
        """
        self._is_over.wait(timeout_s)
        if not self._end:
            raise TimeoutError
        value, error = self._end["it"]
        if error is not None:
            raise error
        return cast("T", value)

    def _settle(self, value: T | None, error: BaseException | None) -> None:
        self._end.setdefault("it", (value, error))
        self._is_over.set()
