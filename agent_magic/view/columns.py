"""How many columns of a terminal a text takes, and texts cut to columns.

It must not send anything to a terminal: texts come here without control characters already.
"""

from __future__ import annotations

from wcwidth import wcwidth

_EMOJI_FORM = "\ufe0f"
"""Makes some narrow signs wide, in some terminals."""


def width(text: str) -> int:
    """Columns that `text` takes at most: terminals that join an emoji's parts to one take fewer."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def clip(text: str, columns: int, *, keeps_end: bool = False) -> str:
    """`text` in at most so many columns, what is too much replaced by `…`.

    Args:
        keeps_end: The beginning goes, not the end.
    """
    if columns <= 0:
        return ""
    if width(text) <= columns:
        return text
    kept: list[str] = []
    left = columns - 1
    for sign in reversed(text) if keeps_end else text:
        left -= _width(sign)
        if left < 0:
            break
        kept.append(sign)
    if not keeps_end:
        return "".join(kept) + "…"
    kept.reverse()
    while kept and not _width(kept[0]):  # a mark that has lost the sign it belongs to
        del kept[0]
    return "…" + "".join(kept)


def _width(sign: str) -> int:
    return 1 if sign == _EMOJI_FORM else max(wcwidth(sign), 0)
