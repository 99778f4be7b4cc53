"""The choice of how much a form shows, so that it fits into a notebook file.

It must not know what is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from agent_magic.view.words import FULL, Detail

DETAILS = (
    FULL,
    replace(FULL, lane_steps=8, lane_chars=500),
    Detail(image_chars=15_000),
    Detail(),
    Detail(is_plain=True),
    Detail(chars=4_000, is_plain=True),
    Detail(chars=1_500, is_plain=True),
    Detail(chars=500, is_plain=True),
    Detail(chars=200, is_plain=True),
    Detail(chars=200, is_brief=True),
    Detail(chars=200, is_brief=True, max_steps=200),
    Detail(chars=200, is_brief=True, max_steps=60),
    Detail(chars=200, is_brief=True, max_steps=15),
)
"""The richest comes first."""


def fit(draw: Callable[[Detail], str], details: tuple[Detail, ...], max_bytes: int) -> str:
    """The first drawing that fits: the richest comes first."""
    text = ""
    for detail in details:
        text = draw(detail)
        if _stored_size(text) <= max_bytes:
            break
    return text


def _stored_size(text: str) -> int:
    """Bytes of a text in a notebook file, at most: a line is an item of a list there."""
    return len(json.dumps(text)) + 14 * (text.count("\n") + 1)
