"""Contents that are lists of parts (thinking, text), as some OpenAI-compatible servers write them.

It must not touch a content that is a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_THINKING_FIELDS = ("thinking", "reasoning", "reasoning_content")
"""Where a part holds thinking; a part of such a type holds nothing else."""


def split_content(content: Any) -> tuple[str | None, str]:
    """Text and thinking of a content, which may be a list of parts."""
    if not isinstance(content, list):
        return content, ""
    texts: list[str] = []
    thinking: list[str] = []
    for part in cast("list[Any]", content):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            fields = cast("Mapping[str, Any]", part)
            inner = [fields[name] for name in _THINKING_FIELDS if name in fields]
            if inner or fields.get("type") in _THINKING_FIELDS:
                thinking.extend(_join(one) for one in inner or [fields.get("text")])
            elif isinstance(fields.get("text"), str):
                texts.append(fields["text"])
    return "".join(texts), "".join(thinking)


def _join(inner: Any) -> str:
    """Whatever text stands inside a thinking part; all of it is thinking."""
    text, thinking = split_content(inner)
    return f"{thinking}{text}" if isinstance(text, str) else ""
