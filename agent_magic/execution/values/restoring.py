"""Kind: how values of one type are kept, compared with what was kept, and put back in place.

It must not know any type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agent_magic.core.values import Value

MAX_ITEMS = 10_000
"""Of all containers together; what is beyond is only watched."""
MAX_BYTES = 16_000_000
"""Of all copies of arrays together; larger ones are made read-only meanwhile."""


class Budget:
    """What may be copied yet, and what is read-only meanwhile."""

    def __init__(self) -> None:
        self.n_items = MAX_ITEMS
        self.n_bytes = MAX_BYTES

    def take_items(self, count: int) -> bool:
        """Whether so many more may be copied; they count then."""
        if count > self.n_items:
            return False
        self.n_items -= count
        return True

    def take_bytes(self, count: int) -> bool:
        """Whether so many more may be copied; they count then."""
        if count > self.n_bytes:
            return False
        self.n_bytes -= count
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How values of a type are kept, compared with what was kept, and put back in place."""

    save: Callable[[Value, Budget], Value]
    """What is kept of it; None if there is nothing to keep."""
    is_same: Callable[[Value, Value], bool]
    restore: Callable[[Value, Value], bool]
    """False if it could not be."""
    items: Callable[[Value], Iterable[Value]] | None = None
    """Values inside, of what was kept."""
    copy: str
    """How to make a copy, of a name."""
    release: Callable[[Value, Value], None] | None = None
    """Called at the end in any case."""
