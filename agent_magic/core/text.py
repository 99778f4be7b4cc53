"""Cutting and cleaning of text, for models, records and pages.

It must not know what the text is about.
"""

from __future__ import annotations

import re

# CSI and OSC sequences, then any other escape with one final byte.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")

SHORTEST_CUT = 80
"""The least `max_chars` of `truncate`: below it the note would be all that is left."""


def truncate(text: str, max_chars: int, *, hint: str = "") -> str:
    """Keep the head and the tail of `text`, and say in the middle how much was cut.

    Args:
        max_chars: Length of the answer, in characters (not tokens), note included; at least 80.
        hint: Added to the note, such as where the whole is kept.

    Returns:
        `text` itself if it fits.

    Raises:
        ValueError: `max_chars` is under 80.
    """
    if max_chars < SHORTEST_CUT:
        raise ValueError(f"max_chars is {max_chars}; at least {SHORTEST_CUT} are needed")
    if len(text) <= max_chars:
        return text
    # The note's length depends on the figure in it, so it is measured with the largest figure.
    room = max_chars - len(_cut_note(len(text), hint))
    if room < 2:
        room = max_chars - len(_cut_note(len(text), ""))
        hint = ""
    tail = room // 3
    head = room - tail
    return text[:head] + _cut_note(len(text) - room, hint) + text[len(text) - tail :]


def strip_control(text: str, *, is_screen: bool = True) -> str:
    r"""`text` without ANSI sequences and control characters; tab and line ends stay.

    Args:
        text: Any text.
        is_screen: It was written to a terminal, where a lone `\r` overwrites the line: what was
            overwritten is dropped, so that a progress bar leaves its last state only. In a value
            it ends a line. `\r\n` becomes `\n` in both.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    if not is_screen:
        text = text.replace("\r", "\n")
    elif "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def to_display(text: str) -> str:
    """`text` as it may be shown: control characters dropped, bidi overrides made visible."""
    text = strip_control(text)
    return text if text.isascii() else _BIDI.sub(lambda m: f"⟨U+{ord(m[0]):04X}⟩", text)


def strip_ends(text: str, max_chars: int) -> str:
    """`strip_control` of a value's text that is to be cut to `max_chars`: what will be cut is not looked at."""
    n = 4 * max_chars
    if len(text) > 2 * n:
        ends = (text[:n], text[-n:])
        head, tail = (strip_control(end, is_screen=False) for end in ends)
        if (head, tail) == ends:
            return text  # of 50 MB a copy takes as long as all else
        if min(len(head), len(tail)) >= max_chars:
            return head + text[n:-n] + tail
    return strip_control(text, is_screen=False)


def replace_surrogates(text: str) -> str:
    """`text` with each lone surrogate as U+FFFD, so that it can be encoded."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def first_line(text: str, max_chars: int = 100) -> str:
    """The first line that says something, cut with `…`."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def _cut_note(n_chars: int, hint: str) -> str:
    return f"\n… {n_chars:,} characters cut{hint} …\n"
