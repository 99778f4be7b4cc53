"""How much of a run a record holds.

It must not know what the texts are, nor cut one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

MAX_CALLS = 50
"""The most calls of a step that a record holds, and of a block of code."""
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a run a record holds."""

    chars: int
    """Length of a step's text fields; the arguments of one call count as one field."""
    steps: int = 600
    items: int = MAX_CALLS
    """Calls in a step, and changed names; a call has a fifth as many notes."""
    inner: int = MAX_CALLS
    """Calls that a block of code made; together they have the room of four."""
    images: int = 0
    """Characters of all images together, of a step or of a run; what is beyond stands in words."""
    sounds: int = 0
    """Likewise of sounds."""
    lane_steps: int = 4
    """Steps of a run that a managed agent made for a call; of one inside of it a third."""
    lane_chars: int = 200
    """Length of their text fields."""


LOOSEST = Limits(chars=8_000, images=200_000, sounds=150_000, lane_steps=40, lane_chars=2_000)
"""What a record holds of an ordinary run."""


def pick_ends(items: Sequence[_Item], max_items: int) -> Sequence[_Item]:
    """The first third and the last two of `max_items`: a run is best understood from its end."""
    if len(items) <= max_items:
        return items
    n_first = max_items // 3
    return [*items[:n_first], *items[n_first - max_items :]]
