"""Values that are sounds, as files that a browser plays.

It must not change a value, nor import a library of sounds: values are known by their shape.
"""

from __future__ import annotations

import io
import pathlib
import wave
from typing import Literal, cast

from agent_magic.core.sound import Sound
from agent_magic.core.values import Value

_MAX_BYTES = 10_000_000
"""A larger file is told in words alone: the record of a run has to hold it."""
_RATES = frozenset(
    {8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000}
)
"""Samples in a second that sounds are made with; an array beside any other number is no sound."""
_MAX_CHANNELS = 8
_HEAD = 12
_LOUDEST = 1e300
_PATH = type(pathlib.Path())


def to_sound(value: Value, name: str | None = None) -> Sound | None:
    """A sound for the person, or None if the value is no sound.

    Sounds are pairs `(rate, samples)` with samples as an array (either order), the notebook's
    `Audio`, and a wav, mp3, ogg or flac file as `bytes` or a `Path`.

    Args:
        value: What a tool returned.
        name: The variable that holds it.

    Raises:
        Exception: Of any kind, if the sound is broken.
    """
    # The very classes: a subclass may have code of its own in any method.
    kind = cast("type[Value]", type(value))
    if kind is bytes:
        return _of_file(value, name)
    if kind is _PATH:
        return _of_path(value, name)
    if kind is tuple and len(value) == 2:
        rate, samples = value if type(value[0]) is int else value[::-1]
        return _of_samples(rate, samples, name) if _are_samples(rate, samples) else None
    if (kind.__module__, kind.__name__) == ("IPython.lib.display", "Audio"):
        data = vars(value).get("data")
        return _of_file(data, name) if type(data) is bytes else None
    return None


def listen_to(value: Value, name: str | None = None) -> Sound | None:
    """What `to_sound` gives; None also for a sound that is broken."""
    try:
        return to_sound(value, name)
    except Exception:  # noqa: BLE001 - the person's own objects may raise anything
        return None


def tell_sound(sound: Sound) -> str:
    """What the model is told of a sound, which it cannot hear."""
    played = "the person can play it" if sound.is_playable else "it is too large to be played here"
    return f"It is a {sound.to_words()}; {played}."


def media_type_of(
    head: bytes,
) -> Literal["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac"] | None:
    """The kind of a sound file by its first 12 bytes; None for any other file."""
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "audio/wav"
    if head[:4] == b"OggS":
        return "audio/ogg"
    if head[:4] == b"fLaC":
        return "audio/flac"
    # With a tag before it, or a frame of layer III at once.
    if head[:3] == b"ID3" or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2):
        return "audio/mpeg"
    return None


def _of_path(path: pathlib.Path, name: str | None) -> Sound | None:
    try:
        if not path.is_file():  # a pipe, say, would be waited for
            return None
        with path.open("rb") as file:
            head = file.read(_HEAD)
            media_type = media_type_of(head)
            if media_type is None:
                return None
            rest = file.read(_MAX_BYTES - len(head) + 1)
    except (OSError, ValueError):  # it cannot be read, or is no name of a file at all
        return None
    return _of_file(head + rest, name)


def _of_file(data: bytes, name: str | None) -> Sound | None:
    media_type = media_type_of(data[:_HEAD])
    if media_type is None:
        return None
    kept = data if len(data) <= _MAX_BYTES else b""
    if media_type == "audio/wav":
        try:
            with wave.open(io.BytesIO(data)) as file:
                rate, channels, n = file.getframerate(), file.getnchannels(), file.getnframes()
        except (wave.Error, EOFError):  # not plain samples: a browser may play it all the same
            return Sound(data=kept, media_type=media_type, name=name)
        return Sound(
            data=kept, media_type=media_type, name=name, duration_s=n / rate, rate=rate, channels=channels
        )
    return Sound(data=kept, media_type=media_type, name=name)


def _are_samples(rate: Value, samples: Value) -> bool:
    if type(rate) is not int or rate not in _RATES:
        return False
    kind = cast("type[Value]", type(samples))
    if (kind.__module__, kind.__name__) != ("numpy", "ndarray") or samples.dtype.kind not in "fiu":
        return False
    shape = samples.shape
    return 0 not in shape and (len(shape) == 1 or (len(shape) == 2 and min(shape) <= _MAX_CHANNELS))


def _of_samples(rate: int, samples: Value, name: str | None) -> Sound:
    """A wav file of 16 bits a sample."""
    if len(samples.shape) == 2 and samples.shape[0] < samples.shape[1]:
        samples = samples.T  # channels came first
    n, channels = samples.shape[0], 1 if len(samples.shape) == 1 else samples.shape[1]
    told = Sound(
        data=b"", media_type="audio/wav", name=name, duration_s=n / rate, rate=rate, channels=channels
    )
    if n * channels * 2 > _MAX_BYTES:
        return told
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(_to_int16(samples).tobytes())
    return Sound(
        data=file.getvalue(),
        media_type="audio/wav",
        name=name,
        duration_s=told.duration_s,
        rate=rate,
        channels=channels,
    )


def _to_int16(samples: Value) -> Value:
    """Samples of any kind in the range that a wav file has; fractions beyond -1 to 1 are scaled down."""
    kind, size = samples.dtype.kind, samples.dtype.itemsize
    if kind == "f":
        clean = samples.astype("float64")
        clean[~(abs(clean) <= _LOUDEST)] = 0.0  # endless, or not a number
        return (clean / max(float(abs(clean).max()), 1.0) * 32_767).astype("<i2")
    centred = samples.astype("int64") - ((1 << (8 * size - 1)) if kind == "u" else 0)
    shift = 8 * size - 16
    return (centred >> shift if shift >= 0 else centred << -shift).astype("<i2")
