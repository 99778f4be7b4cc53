"""Makes anything fit for a record: plain JSON, no secrets, no control characters, bounded.

It must not know what the texts are: the fields are the business of `run` and `cards`.

The order matters: control characters go first (a colour sequence inside a key would hide it),
then secrets, then the cut (half a key is no longer recognised). So a text is prepared by
`redact_plain` and cut by `cut_text`. Of a huge text only the ends are looked at; a mark that no
clean text can hold says how much is missing between them until the cut is made.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Callable, Iterator, Mapping
from typing import cast

from agent_magic.core.redact import redact
from agent_magic.core.text import SHORTEST_CUT, strip_control
from agent_magic.core.values import Value, safe_repr
from agent_magic.record.schema import Json

_MAX_ITEMS = 50
_MAX_NODES = 400
_MAX_DEPTH = 8
_LARGEST_INT = 10**300
"""Python refuses to write longer integers than 4,300 digits; no reader wants this many."""
_SHORTEST_SECRET = 8
_SEPARATOR = "\x00"
_WORD = string.ascii_letters + string.digits + string.punctuation
_END_CHARS = 50_000
"""What is looked at of each end of a huge text; longer than any field."""
_LONGEST_KEY = 300
_MISSING = re.compile("\x01([0-9]+)\x01")


def to_plain(value: Value, say: Callable[[Value], Json] = safe_repr) -> Json:
    """`value` as JSON of at most 400 parts, with texts whole; what JSON cannot hold by `say`."""
    try:
        return _to_plain(value, _MAX_DEPTH, [_MAX_NODES], say)
    except Exception:  # noqa: BLE001 - subclasses of the person's may raise anything
        return safe_repr(value)


def redact_plain(value: Json, *, with_keys: bool = False) -> Json:
    """A copy of plain JSON in which every text is without control characters and secrets.

    Keys are untrusted too with `with_keys`; those under `arguments` always are.
    """
    texts = [_to_ends(text) for text in _texts(value, with_keys=with_keys)]
    long = [i for i, text in enumerate(texts) if len(text) >= _SHORTEST_SECRET]
    # All texts are searched in one go: the search looks at every environment variable.
    found = redact(_SEPARATOR.join(texts[i] for i in long)).split(_SEPARATOR)
    if len(found) != len(long):  # a secret reached from one text into the next
        found = [redact(texts[i]) for i in long]
    for i, text in zip(long, found, strict=True):
        texts[i] = text
    return _rebuild(value, iter(texts), with_keys=with_keys)


def clean_text(text: str, max_chars: int) -> str:
    """`text` without control characters and secrets, cut."""
    return cut_text(redact(_to_ends(text)), max_chars)


def cut_text(text: str, max_chars: int) -> str:
    """A prepared text with head and tail kept, at most `max_chars` long (80 if that is less)."""
    max_chars = max(max_chars, SHORTEST_CUT)
    head, n_missing, tail = _split(text)
    if not n_missing and len(text) <= max_chars:
        return text
    n_whole = len(text) if not n_missing else len(head) + n_missing + len(tail)
    # The note's length depends on the figure in it, so it is measured with the largest figure.
    room = max_chars - len(_cut_note(n_whole))
    n_tail = room // 3
    head, tail = head[: room - n_tail], tail[-n_tail:]
    return head + _cut_note(n_whole - len(head) - len(tail)) + tail


def cut_arguments(arguments: dict[str, Json] | str, max_chars: int) -> dict[str, Json] | str:
    """Arguments whose JSON is about `max_chars` long at most; a value too long becomes a cut text."""
    if isinstance(arguments, str):
        return cut_text(arguments, max_chars)
    if len(to_json(arguments)) <= max_chars:
        return arguments
    n_kept = max(1, max_chars // SHORTEST_CUT)
    share = max_chars // min(n_kept, len(arguments))
    kept = {
        cut_text(name, share): cut_plain(value, share) for name, value in list(arguments.items())[:n_kept]
    }
    if len(arguments) > n_kept:
        kept["…"] = f"{len(arguments) - n_kept:,} more"
    return kept


def cut_plain(value: Json, max_chars: int) -> Json:
    """`value` itself if its JSON is at most `max_chars` long; else a cut text."""
    if isinstance(value, str):
        return cut_text(value, max_chars)
    text = to_json(value)
    return value if len(text) <= max_chars else cut_text(text, max_chars)


def to_json(value: Json) -> str:
    """Plain JSON as text, on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def stored_size(value: Json) -> int:
    """Bytes of plain JSON in a notebook file, at most: indented there, and with every sign escaped."""
    text = json.dumps(value, indent=1, sort_keys=True, allow_nan=False)
    return len(text) + 7 * (text.count("\n") + 1)


def _to_plain(value: Value, depth: int, left: list[int], say: Callable[[Value], Json]) -> Json:
    left[0] -= 1
    if left[0] < 0:
        return "…"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value) if abs(int(value)) < _LARGEST_INT else safe_repr(value)
    if isinstance(value, float):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if depth > 0 and isinstance(value, list | tuple):
        items = cast("list[Value] | tuple[Value, ...]", value)
        shown = items[: min(_MAX_ITEMS, max(left[0], 1))]
        plain = [_to_plain(item, depth - 1, left, say) for item in shown]
        return plain if len(plain) == len(items) else [*plain, f"… {len(items) - len(plain):,} more"]
    if depth > 0 and isinstance(value, Mapping):
        return _mapping_to_plain(cast("Mapping[Value, Value]", value), depth, left, say)
    return say(value)


def _mapping_to_plain(
    mapping: Mapping[Value, Value], depth: int, left: list[int], say: Callable[[Value], Json]
) -> Json:
    plain: dict[str, Json] = {}
    for n_items, (key, item) in enumerate(mapping.items()):
        if n_items >= _MAX_ITEMS or left[0] <= 0:
            plain["…"] = f"{len(mapping) - n_items:,} more"
            break
        plain[str.__str__(key) if isinstance(key, str) else safe_repr(key, 80)] = _to_plain(
            item, depth - 1, left, say
        )
    return plain


def _to_ends(text: str) -> str:
    """The text without control characters; of a huge one head, mark and tail."""
    if len(text) <= 4 * _END_CHARS:
        return strip_control(text)
    # A word that was cut through may be half a key.
    head = text[: _END_CHARS - _LONGEST_KEY] + text[_END_CHARS - _LONGEST_KEY : _END_CHARS].rstrip(_WORD)
    tail = text[-_END_CHARS : _LONGEST_KEY - _END_CHARS].lstrip(_WORD) + text[_LONGEST_KEY - _END_CHARS :]
    n_missing = len(text) - len(head) - len(tail)
    return f"{strip_control(head)}\x01{n_missing}\x01{strip_control(tail)}"


def _split(text: str) -> tuple[str, int, str]:
    """Head, number of missing characters, tail; a text that is whole is its own head and tail."""
    mark = _MISSING.search(text)
    return (text[: mark.start()], int(mark[1]), text[mark.end() :]) if mark else (text, 0, text)


def _cut_note(n_chars: int) -> str:
    return f"\n… {n_chars:,} characters cut …\n"


def _texts(value: Json, *, with_keys: bool) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _texts(item, with_keys=with_keys)
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Json]", value).items():
            if with_keys:
                yield key
            yield from _texts(item, with_keys=with_keys or key == "arguments")


def _rebuild(value: Json, texts: Iterator[str], *, with_keys: bool) -> Json:
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, list):
        return [_rebuild(item, texts, with_keys=with_keys) for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        rebuilt: dict[str, Json] = {}
        for key, item in cast("dict[str, Json]", value).items():
            name = next(texts) if with_keys else key
            rebuilt[name] = _rebuild(item, texts, with_keys=with_keys or key == "arguments")
        return rebuilt
    return value
