"""Keeps secrets out of written memories, in which every text stands as a model was sent it.

It must not change a text that holds no secret, nor a word of the form itself: what is read back shall be
what was written.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import cast

from agent_magic.core.form.value import MARK
from agent_magic.core.redact import redact
from agent_magic.core.text import strip_control
from agent_magic.record.schema import Json

_SEPARATOR = "\n"
_WORDS = frozenset(
    {
        *("kind", "role", "form", "field", "view", "digest", "model_input_digest", "format", "status"),
        *("verified", "summary_mode", "mode", "projection", "png", "data", "palette"),
        *("icc_profile", "transparency", "requests", "request_columns"),
    }
)
"""Keys whose texts are words of the form, figures, or pixels."""
_DATA = frozenset({"arguments", "output", "answer", "value", "parameters", "kept", "old", "new"})
"""Keys below which all keys are somebody's data."""
_CONTAINERS = frozenset({list, dict})
_ENCODED = frozenset({"str", "bytes", "bytearray"})


def redact_form(form: Json) -> Json:
    """`form` without secrets; the very object if there are none in it."""
    text = _SEPARATOR.join(_texts(form, is_data=False))
    if redact(text) == text:
        bare = strip_control(text)
        if bare == text or redact(bare) == bare:
            return form
    return _rebuild(form, is_data=False)


def _texts(form: Json, *, is_data: bool) -> Iterator[str]:
    kind = type(form)
    if kind is str:
        yield form
    elif kind is list:
        for item in form:
            if type(item) is str:  # most are; it saves a generator for each
                yield item
            elif type(item) in _CONTAINERS:
                yield from _texts(item, is_data=is_data)
    elif kind is dict:
        yield from _marked_texts(form) if MARK in form else _texts_of_keys(form, is_data=is_data)


def _texts_of_keys(form: dict[str, Json], *, is_data: bool) -> Iterator[str]:
    for key, item in form.items():
        if is_data:
            yield key
        elif _is_word(key, item):
            continue
        if type(item) is str:
            yield item
        elif type(item) in _CONTAINERS:
            yield from _texts(item, is_data=is_data or key in _DATA)


def _marked_texts(form: dict[str, Json]) -> Iterator[str]:
    if form[MARK] in _ENCODED:
        yield _decode(form)
        return
    for key, item in form.items():
        if key != MARK:
            yield from _texts(item, is_data=True)


def _rebuild(form: Json, *, is_data: bool) -> Json:
    kind = type(form)
    if kind is str:
        return _clean(form)
    if kind is list:
        return [_rebuild(item, is_data=is_data) for item in cast("list[Json]", form)]
    if kind is not dict:
        return form
    if MARK in form:
        return _rebuild_marked(form)
    rebuilt: dict[str, Json] = {}
    for key, item in form.items():
        if not is_data and _is_word(key, item):
            rebuilt[key] = item
        else:
            is_below = is_data or key in _DATA
            rebuilt[_clean(key) if is_data else key] = _rebuild(item, is_data=is_below)
    return rebuilt


def _rebuild_marked(form: dict[str, Json]) -> dict[str, Json]:
    if form[MARK] not in _ENCODED:
        return {key: item if key == MARK else _rebuild(item, is_data=True) for key, item in form.items()}
    text = _decode(form)
    clean = _clean(text)
    if clean == text:
        return form
    data = clean.encode(*_CODECS[form[MARK]])
    return {**form, "text": base64.b64encode(data).decode("ascii")}


def _is_word(key: str, item: Json) -> bool:
    # A change of a view or of a form has its words there; one of a step has places.
    return key in _WORDS or (key in ("old", "new") and type(item) is str)


def _clean(text: str) -> str:
    """The text without secrets; without control characters too, if one was hidden by them."""
    bare = strip_control(text)
    found = redact(bare)
    return found if found != bare else redact(text)


def _decode(form: dict[str, Json]) -> str:
    return base64.b64decode(form["text"]).decode(*_CODECS[form[MARK]])


_CODECS: dict[str, tuple[str, str]] = {
    "str": ("utf-8", "surrogatepass"),
    "bytes": ("latin-1", "strict"),
    "bytearray": ("latin-1", "strict"),
}
