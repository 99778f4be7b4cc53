"""A list or an object that a model gave as text: JSON in a string, read strictly.

It must not decide where such a text may stand, nor mend one that is no JSON.
"""

from __future__ import annotations

import json
import math
import re

from agent_magic.core.values import MAX_DEPTH, Value

MAX_CHARS = 1_000_000
# Linear: a text of a model must not make it go back and forth.
_SPAN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)


def read_container(text: str, max_depth: int = MAX_DEPTH) -> list[Value] | dict[str, Value] | None:
    """The list or object that the text is as JSON; None if it is anything else.

    Args:
        text: At most 1,000,000 characters are read.
        max_depth: Containers nested deeper are not read.
    """
    if len(text) > MAX_CHARS:
        return None
    text = text.strip()
    if text[:1] not in ("[", "{") or _is_deeper(text, max_depth):
        return None
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_finite
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # refuses half a surrogate pair
    except ValueError:
        return None
    return value


def _is_deeper(text: str, max_depth: int) -> bool:
    depth = 0
    for token in _SPAN.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > max_depth:
                return True
        elif token[0] in "]}":
            depth -= 1
    return False


def _object(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse_constant(word: str) -> Value:
    raise ValueError(f"{word} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large")
    return number
