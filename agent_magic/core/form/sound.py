"""A sound as plain JSON and back.

It must not keep a file for which its memory has no room: that one is told in words alone.
"""

from __future__ import annotations

from typing import cast

from agent_magic.core.form.keys import (
    Form,
    check_keys,
    read_choice,
    read_count,
    read_name,
    read_number,
    read_part,
)
from agent_magic.core.form.value import MARK, UnreadableError, ValueReader, ValueWriter, write_text
from agent_magic.core.sound import MEDIA_TYPES, Sound
from agent_magic.core.values import Value

_SOUND = frozenset(Sound.__dataclass_fields__)
_TYPES = {media_type: media_type for media_type in MEDIA_TYPES}


def write_sound(sound: Sound, writer: ValueWriter) -> Form:
    """The sound, with its file if that is not too large."""
    form: Form = {"media_type": sound.media_type}
    if sound.data:
        data = writer.write_output(sound.data)
        if type(data) is dict and cast("Form", data).get(MARK) == "bytes":
            form["data"] = data
    if sound.name is not None:
        form["name"] = write_text(sound.name)
    for key, number in (("duration_s", sound.duration_s), ("rate", sound.rate), ("channels", sound.channels)):
        if number is not None:
            form[key] = writer.write(number)
    return form


def read_sound(form: Value, _reader: ValueReader | None = None) -> Sound:
    """The sound that `write_sound` wrote.

    Raises:
        UnreadableError: Nobody wrote this form.
    """
    check_keys(form, _SOUND)
    data = read_part(form, "data", ValueReader().read)
    if not (data is None or type(data) is bytes):
        raise UnreadableError(data, "the bytes of a file", "data")
    return Sound(
        data=data or b"",
        media_type=read_choice(form, "media_type", _TYPES),
        name=read_name(form, "name"),
        duration_s=read_number(form, "duration_s") if "duration_s" in form else None,
        rate=_read_count(form, "rate"),
        channels=_read_count(form, "channels"),
    )


def _read_count(form: Form, key: str) -> int | None:
    return read_count(form, key) if key in form else None
