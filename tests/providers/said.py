"""What a model says in one reply, told apart from how any provider writes it.

It must not know a provider: the dialects turn it into bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call, as a model makes it."""

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    signature: str | None = None
    """Of the thinking before it, where the provider signs calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Tokens, as a provider counts them."""

    input: int = 1_000
    output: int = 40
    cached: int | None = None
    """Part of `input`."""
    reasoning: int | None = None
    """Part of `output`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One reply."""

    text: str = ""
    thinking: str = ""
    signature: str | None = None
    """Of the thinking."""
    calls: tuple[Call, ...] = ()
    counted: Counted | None = Counted()
    """None: nothing is reported."""
    shape: Literal["usual", "no choice", "null", "list"] = "usual"
    """How the content comes: as usual, no choice at all, null or nothing in it, or a list of parts."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The text in two pieces, for a stream; none without a text."""
        half = len(self.text) // 2
        return tuple(piece for piece in (self.text[:half], self.text[half:]) if piece)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server sends to one request."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    media_type: str = "application/json"
    pieces: tuple[bytes, ...] = ()
    """Sent one after the other."""
    end: Literal["whole", "cut", "reset", "stall"] = "whole"
    """`cut`: silently, after half of the pieces; `reset`: there, with the connection reset;
    `stall`: there, with no further word until the client hangs up."""
    pause_s: float = 0.0
    """Before each piece."""
