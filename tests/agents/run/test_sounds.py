"""Sounds that tools return: known by their shape, kept, told in words, played by the person."""

from __future__ import annotations

import io
import json
import os
import pathlib
import wave
from typing import Any

import numpy as np
import pytest
from agents.checking import agent_of
from inline_snapshot import snapshot
from IPython.display import Audio

from agent_magic import CodeAgent
from agent_magic.agents.run.observation import observe
from agent_magic.agents.run.sounds import listen_to, to_sound
from agent_magic.core.memory import AgentMemory
from agent_magic.core.sound import Sound
from agent_magic.core.state import AgentState, DictState
from agent_magic.core.steps import ActionStep
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final
TONE = np.sin(np.arange(8_000) / 10)
MP3 = b"ID3\x04\x00\x00\x00\x00\x00\x00\x00\x00sound"


def _wav(samples: Any = TONE, rate: int = 8_000) -> bytes:
    sound = to_sound((rate, samples))
    assert sound is not None
    return sound.data


def _samples(sound: Sound | None) -> list[list[int]]:
    assert sound is not None
    with wave.open(io.BytesIO(sound.data)) as file:
        raw = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return raw.reshape(-1, file.getnchannels()).tolist()


# -- what is a sound -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ((8_000, TONE), "sound of 1.0 s, 8,000 Hz, 1 channel (wav)"),
        ((TONE, 44_100), "sound of 0.18 s, 44,100 Hz, 1 channel (wav)"),
        ((16_000, np.zeros((2, 16_000))), "sound of 1.0 s, 16,000 Hz, 2 channels (wav)"),
        ((16_000, np.zeros((16_000, 2), "int16")), "sound of 1.0 s, 16,000 Hz, 2 channels (wav)"),
        (Audio(TONE, rate=8_000), "sound of 1.0 s, 8,000 Hz, 1 channel (wav)"),
        (_wav(), "sound of 1.0 s, 8,000 Hz, 1 channel (wav)"),
        (MP3, "sound (mp3)"),
        (b"\xff\xfb\x90\x00" + bytes(20), "sound (mp3)"),
        (b"OggS" + bytes(20), "sound (ogg)"),
        (b"fLaC" + bytes(20), "sound (flac)"),
        (b"RIFF\x00\x00\x00\x00WAVEbroken", "sound (wav)"),
    ],
    ids=range(11),
)
def test_sound_is_known_by_its_shape(value: Any, words: str) -> None:
    sound = to_sound(value, "tone_1")
    assert sound is not None
    assert sound.to_words() == words
    assert sound.name == "tone_1"
    assert sound.is_playable


@pytest.mark.parametrize(
    "value",
    [
        (5, TONE),  # a rate that no sound is made with
        (8_000, [0.1, 0.2]),
        (8_000, np.zeros((100, 100))),
        (8_000, np.zeros(0)),
        (8_000, np.array(["a"])),
        (True, TONE),
        (TONE, TONE),
        (1, 2, 3),
        b"\x89PNG\r\n\x1a\n and more",
        b"",
        "sound.wav",
        TONE,
        None,
        pathlib.Path("nowhere.wav"),
        pathlib.Path(os.devnull),
        pathlib.Path(),
    ],
    ids=range(16),
)
def test_what_is_no_sound(value: Any) -> None:
    assert to_sound(value) is None


def test_path_of_a_sound_file_is_a_sound_and_of_another_none(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.bin").write_bytes(MP3)
    (tmp_path / "b.mp3").write_text("no sound at all")
    sound = to_sound(tmp_path / "a.bin")
    assert sound is not None
    assert (sound.data, sound.media_type) == (MP3, "audio/mpeg")
    assert to_sound(tmp_path / "b.mp3") is None


@pytest.mark.parametrize(
    ("samples", "written"),
    [
        (np.array([0.5, -1.0, 0.0]), [16_383, -32_767, 0]),
        (np.array([0.5, np.nan, np.inf, -2.0]), [8_191, 0, 0, -32_767]),
        (np.array([5, -5], "int16"), [5, -5]),
        (np.array([1 << 20, -(1 << 20)], "int32"), [16, -16]),
        (np.array([128, 255, 0], "uint8"), [0, 32_512, -32_768]),
    ],
    ids=["float", "broken float", "int16", "int32", "uint8"],
)
def test_samples_are_written_in_16_bits(samples: Any, written: list[int]) -> None:
    before = samples.copy()
    assert [row[0] for row in _samples(to_sound((8_000, samples)))] == written
    assert np.array_equal(samples, before, equal_nan=samples.dtype.kind == "f")


def test_channels_may_come_first() -> None:
    left_right = np.array([[1, 2, 3], [4, 5, 6]], "int16")
    assert _samples(to_sound((8_000, left_right))) == [[1, 4], [2, 5], [3, 6]]


def test_too_large_a_sound_is_told_and_not_kept() -> None:
    sound = to_sound((8_000, np.zeros(6_000_000, "int8")))
    assert sound is not None
    assert (sound.data, sound.is_playable) == (b"", False)
    assert sound.to_words() == "sound of 750.0 s, 8,000 Hz, 1 channel (wav)"
    large = to_sound(MP3 + bytes(10_000_000))
    assert large is not None
    assert (large.data, large.media_type) == (b"", "audio/mpeg")


def test_broken_sound_is_none() -> None:
    class Broken(tuple[Any, ...]):
        __slots__ = ()

        def __len__(self) -> int:
            raise RuntimeError("asked")

    assert listen_to(Broken((8_000, TONE))) is None
    assert listen_to((8_000, np.zeros(3, "uint64"))) is None


# -- what is told --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (
            (8_000, TONE),
            "tuple. It is a sound of 1.0 s, 8,000 Hz, 1 channel (wav); the person can play it.",
        ),
        (
            MP3 + bytes(10_000_000),
            "bytes. It is a sound (mp3); it is too large to be played here.",
        ),
    ],
    ids=["samples", "large file"],
)
def test_sound_is_bound_and_told_in_words(value: Any, told: str) -> None:
    state = AgentState(DictState())
    seen = observe(value, "tone", state, 8_000)
    where = 'The result is in the variable tone_1; refer to it as "@tone_1".'
    assert (seen.text, seen.bound_to) == (f"{where}\n{told}", "tone_1")
    assert state.lookup("tone_1") is value
    assert [sound.name for sound in seen.sounds] == ["tone_1"]
    assert seen.images == ()


def test_path_of_a_sound_stays_a_text_and_can_be_played(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.mp3"
    file.write_bytes(MP3)
    seen = observe(file, "tone", AgentState(DictState()), 8_000)
    assert seen.text == f"{file}\nIt is a sound (mp3); the person can play it."
    assert (seen.bound_to, len(seen.sounds)) == (None, 1)


def test_sound_of_a_call_is_kept_with_it_and_comes_back_with_the_memory() -> None:
    def tone() -> tuple[int, Any]:
        """A tone."""
        return 8_000, TONE

    agent = agent_of([calls(("tone", {})), final(1)], tone)
    result = agent.run("go")
    (sound,) = result.actions[0].tool_results[0].sounds
    assert sound.to_data_url().startswith("data:audio/wav;base64,UklGR")
    # No model is sent it.
    messages = json.dumps(agent.model.requests[1].messages)  # type: ignore[attr-defined]
    assert "UklGR" not in messages
    again = AgentMemory.from_dict(json.loads(json.dumps(agent.memory.to_dict())))
    (step,) = [step for step in again.steps if isinstance(step, ActionStep) and step.tool_results[0].sounds]
    assert step.tool_results[0].sounds == (sound,)


def test_sound_that_code_ends_in_can_be_played() -> None:
    model = ScriptedModel(["<code>\n(8000, samples)\n</code>", "<code>\nfinal_answer(1)\n</code>"])
    agent = CodeAgent(model=model, state={"samples": TONE[:3]})
    result = agent.run("go")
    code = result.actions[0].tool_results[0]
    assert code.observation == snapshot("""\
Value of the last line: tuple, 2 items: (8000, array([0.        , 0.09983342, 0.19866933]))
It is a sound of 0.00038 s, 8,000 Hz, 1 channel (wav); the person can play it.\
""")
    assert [sound.duration_s for sound in code.sounds] == [3 / 8_000]
