"""Sounds as a record holds them: in words, and in a `data:` URL where there is room for it.

It must not change a sound, nor play one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent_magic.core.sound import Sound
from agent_magic.core.steps import ActionStep
from agent_magic.record.schema import AnyStepRecord, CallRecord, SoundRecord, StepRecord

MAX_SOUNDS = 4
"""The most sounds of a call that a record holds."""
_URL = re.compile(r"data:audio/(?:wav|mpeg|ogg|flac);base64,[A-Za-z0-9+/]+={0,2}")


def say_sounds(sounds: Sequence[Sound]) -> list[SoundRecord]:
    """Sounds of a call in words."""
    return [SoundRecord(words=sound.to_words()) for sound in sounds[:MAX_SOUNDS]]


def show_sounds(record: StepRecord, step: ActionStep, max_chars: int) -> int:
    """Put `data:` URLs into the record of a step, in which its sounds stand in words.

    Args:
        max_chars: Of all URLs together; a sound for which nothing is left stays in words.

    Returns:
        How many of these are used up.
    """
    n_chars = 0
    for call, result in zip(record.get("calls", ()), step.tool_results, strict=False):
        for shown, sound in zip(call.get("sounds", ()), result.sounds, strict=False):
            # A sound takes four characters of a URL for three of its bytes.
            if not sound.is_playable or n_chars + len(sound.data) * 4 // 3 > max_chars:
                continue
            url = sound.to_data_url()
            if is_playable(url) and n_chars + len(url) <= max_chars:
                shown["url"] = url
                n_chars += len(url)
    return n_chars


def keep_sounds(steps: Sequence[AnyStepRecord], max_chars: int) -> list[AnyStepRecord]:
    """The steps with `data:` URLs of so many characters, the last ones first; the others are in words alone."""
    kept: list[AnyStepRecord] = []
    left = max_chars
    for step in reversed(steps):
        if "plan" in step or not any("sounds" in call for call in step.get("calls", ())):
            kept.append(step)
            continue
        shorter = step.copy()
        shorter["calls"] = calls = [call.copy() for call in step.get("calls", ())]
        for call in calls:
            left -= _keep(call, left)
        kept.append(shorter)
    return kept[::-1]


def n_chars_of_sounds(step: AnyStepRecord) -> int:
    """How many characters the `data:` URLs in the record of a step have."""
    return sum(len(sound.get("url", "")) for sound in _sounds_in(step))


def is_playable(url: str) -> bool:
    """Whether it is a `data:` URL of a sound in a form that pages play."""
    return _URL.fullmatch(url) is not None


def _keep(call: CallRecord, left: int) -> int:
    """Leave the URLs for which there is room; gives how much they take."""
    if "sounds" not in call:
        return 0
    n_chars = 0
    kept: list[SoundRecord] = []
    for sound in call["sounds"]:
        shown = SoundRecord(words=sound["words"])
        url = sound.get("url", "")
        if url and n_chars + len(url) <= left:
            shown["url"] = url
            n_chars += len(url)
        kept.append(shown)
    call["sounds"] = kept
    return n_chars


def _sounds_in(step: AnyStepRecord) -> Iterator[SoundRecord]:
    for call in () if "plan" in step else step.get("calls", ()):
        yield from call.get("sounds", ())
