"""Stop texts cut on our side, for providers that do not stop there themselves.

It must not cut code: where a closing tag is among the stop texts the reply may hold some, and
whatever is in doubt is left for the agent to read.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from agent_magic.core.messages import ChatMessage

_CLOSING_TAG = re.compile(r"</[\w-]+>")
# What opens three quotes and never closes them reaches to the end.
_LITERALS = (
    r'"""(?:[^\\"]|\\.|"(?!""))*+(?:"""|\\?\Z)',
    r"'''(?:[^\\']|\\.|'(?!''))*+(?:'''|\\?\Z)",
    r'"(?:[^"\\\n]|\\.)*+"',
    r"'(?:[^'\\\n]|\\.)*+'",
)
_FENCE = "```"


def find_stop(text: str, stop: Sequence[str]) -> int | None:
    """Where the text is to end; None if it is not.

    That is where the first stop text begins. With a closing tag (`</code>`) among them: where one
    of the others begins a line outside of tags, fences and string literals; a closing tag itself
    cuts nothing.
    """
    others = [mark for mark in stop if not _CLOSING_TAG.fullmatch(mark)]
    first = min((place for mark in others if (place := text.find(mark)) >= 0), default=None)
    if first is None or len(others) == len(stop):
        return first
    return _find_outside_of_code(text, others, [mark for mark in stop if _CLOSING_TAG.fullmatch(mark)])


def cut_at(message: ChatMessage, stop: Sequence[str]) -> ChatMessage:
    """The message up to where `find_stop` ends it."""
    place = find_stop(message.content or "", stop)
    return (
        message
        if place is None
        else dataclasses.replace(message, content=(message.content or "")[:place] or None)
    )


def _find_outside_of_code(text: str, marks: Sequence[str], tags: Sequence[str]) -> int | None:
    closing = "|".join(map(re.escape, tags))
    opening = "|".join(re.escape(tag.replace("/", "", 1)) for tag in tags)
    token = re.compile(
        rf"(?P<literal>{'|'.join(_LITERALS)}|\#[^\n]*?(?={closing}|\n|\Z))"
        rf"|(?P<open>{opening})|(?P<close>{closing})|(?P<fence>^[ \t]*{_FENCE})"
        rf"|(?P<mark>^(?:{'|'.join(map(re.escape, marks))}))",
        re.MULTILINE | re.DOTALL,
    )
    # A text without any tag or fence may be code as a whole; else apostrophes of prose are none of code.
    is_bare = re.search(rf"{opening}|^[ \t]*{_FENCE}", text, re.MULTILINE) is None
    opened: str | None = None
    place = 0
    while found := token.search(text, place):
        place = found.end()
        match found.lastgroup:
            case "literal" if opened is None and not is_bare:
                place = found.start() + 1
            case "open":
                opened = opened or "tag"
            case "close":
                opened = None if opened == "tag" else opened
            case "fence" if opened != "tag":
                opened = None if opened else "fence"
            case "mark" if opened is None:
                return found.start()
            case _:
                pass
    return None
