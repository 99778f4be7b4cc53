"""Sounds: a sound that a tool returned, as a file that a browser plays, and in words.

It must not make a file of a live value, nor read one from a disk.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass

MEDIA_TYPES: Mapping[str, str] = {
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
}
"""Those that browsers play, with what people call them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """One sound beside the result of a call: for the person to play; no model is sent it."""

    data: bytes
    """The file itself; empty if it was too large to keep, then it is told in words alone."""
    media_type: str
    """One of `MEDIA_TYPES`."""
    name: str | None = None
    """The variable that holds the sound, if one does."""
    duration_s: float | None = None
    """Length in seconds; None where the file does not say it at once."""
    rate: int | None = None
    """Samples in a second."""
    channels: int | None = None

    @property
    def is_playable(self) -> bool:
        """Whether the file is here."""
        return bool(self.data)

    def to_words(self) -> str:
        """`sound of 2.5 s, 44,100 Hz, 2 channels (wav)`, as far as it is known."""
        parts = ["sound" if self.duration_s is None else f"sound of {_to_seconds(self.duration_s)}"]
        if self.rate is not None:
            parts.append(f"{self.rate:,} Hz")
        if self.channels is not None:
            parts.append("1 channel" if self.channels == 1 else f"{self.channels} channels")
        return f"{', '.join(parts)} ({MEDIA_TYPES[self.media_type]})"

    def to_data_url(self) -> str:
        """The file as a `data:` URL, for the `src` of an `<audio>`; a third longer than `data`."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"


def _to_seconds(duration_s: float) -> str:
    return f"{duration_s:.2g} s" if duration_s < 1 else f"{duration_s:,.1f} s"
