"""A sound as plain JSON and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.form.sound import read_sound, write_sound
from agent_magic.core.form.value import UnreadableError, ValueWriter
from agent_magic.core.sound import Sound

TONE = Sound(data=b"RIFF", media_type="audio/wav", name="tone", duration_s=0.5, rate=8_000, channels=1)


@pytest.mark.parametrize("sound", [TONE, Sound(data=b"", media_type="audio/ogg")])
def test_sound_comes_back(sound: Sound) -> None:
    form = json.loads(json.dumps(write_sound(sound, ValueWriter())))
    assert read_sound(form) == sound


def test_sound_without_room_for_its_file_is_told_in_words_alone() -> None:
    large = Sound(data=bytes(2_000), media_type="audio/mpeg")
    form = write_sound(large, ValueWriter(largest=1_000))
    assert form == {"media_type": "audio/mpeg"}
    assert read_sound(form).to_words() == large.to_words()


@pytest.mark.parametrize(
    "change",
    [{"media_type": "text/html"}, {"data": "RIFF"}, {"rate": -1}, {"duration_s": "long"}, {"loud": 1}],
    ids=str,
)
def test_form_that_nobody_wrote_is_refused(change: dict[str, Any]) -> None:
    form = {**write_sound(TONE, ValueWriter()), **change}
    with pytest.raises(UnreadableError) as refusal:
        read_sound(form)
    assert f"{refusal.value.path}: {refusal.value.expected}" == PROBLEMS[str(change)]


PROBLEMS = snapshot(
    {
        "{'media_type': 'text/html'}": "media_type: one of audio/wav, audio/mpeg, audio/ogg, audio/flac",
        "{'data': 'RIFF'}": "data: the bytes of a file",
        "{'rate': -1}": "rate: a whole number from 0 on",
        "{'duration_s': 'long'}": "duration_s: a number",
        "{'loud': 1}": "loud: one of the keys channels, data, duration_s, media_type, name, rate",
    }
)
