r"""Mentions: which live variables the text of a cell hands over, and the text as the model gets it.

It must not change the text, but for the backslash of `\@name`; nor look into the values.
"""

from __future__ import annotations

import difflib
import re
import types
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from agent_magic.core.state import State
from agent_magic.core.values import Value
from agent_magic.tools.default_tools import DEFAULT_TOOLS

# A fence opens at the start of a line, perhaps inside a quotation; a run of backticks opens a code
# span, which ends with a run of the same length in the same paragraph.
_CODE_START = re.compile(
    r"(?P<fence>^[ \t>]*(?P<ticks>`{3,})[^`\r\n]*(?:\r?\n|\Z))|(?P<run>`+)", re.MULTILINE
)
_PARAGRAPH_END = re.compile(r"\n[ \t]*\r?\n")
_LONGEST_NAME = 200
_NEAR = 0.7
"""How alike two names must be, from 0 to 1, for one to be called near the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """An `@word` that no variable has as its name, but some nearly."""

    word: str
    """Without the `@`."""
    nearest: tuple[str, ...]
    """At most three names, nearest first."""

    def __str__(self) -> str:
        near = ", ".join(f"@{name}" for name in self.nearest)
        return f"@{self.word} is no variable and was sent as text. Nearest: {near}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """What a text mentions."""

    text: str
    """The text, byte for byte, each `\\@name` as `@name`."""
    names: tuple[str, ...] = ()
    """Each name once, in order of appearance."""
    near_misses: tuple[NearMiss, ...] = ()
    hints: tuple[str, ...] = ()
    """How to hand over what an `@` alone cannot."""


def parse_mentions(body: str, names: State) -> Mentions:
    """The text of a cell and the variables it mentions.

    Args:
        body: The cell below its first line.
        names: Whose names count.
    """
    pieces: list[str] = []
    found: dict[str, None] = {}
    misses: dict[str, tuple[str, ...]] = {}
    hints: dict[str, None] = {}
    copied = 0
    for at, end, is_escaped in _marks(body):
        if is_escaped:
            pieces.append(body[copied : at - 1])
            copied = at
            continue
        word = unicodedata.normalize("NFKC", body[at + 1 : end])  # as Python reads identifiers
        if word not in names:
            if word in DEFAULT_TOOLS:
                hints[
                    f"{word} comes with agent_magic and is no variable: hand it over by --tools {word}."
                ] = None
            elif word not in misses:
                misses[word] = _nearest(word, names)
        elif hint := _hint_for_module_part(word, names[word], body[end:]):
            hints[hint] = None
        else:
            found[word] = None
    pieces.append(body[copied:])
    return Mentions(
        text="".join(pieces),
        names=tuple(found),
        near_misses=tuple(NearMiss(word=word, nearest=near) for word, near in misses.items() if near),
        hints=tuple(hints),
    )


def unfinished_mention(before: str) -> str | None:
    """What of a name stands between an `@` that could mention one and the end of the text.

    Returns:
        None where the text does not end in a mention; `""` right after its `@`.
    """
    at = before.rfind("@", max(0, len(before) - _LONGEST_NAME))
    if at < 0 or not _can_begin_mention(before, at) or _name_end(before, at + 1) < len(before):
        return None
    if any(start <= at < end for start, end in _code_spans(before)):
        return None
    return before[at + 1 :]


def _marks(body: str) -> Iterator[tuple[int, int, bool]]:
    """Each `@name` that stands where a mention may: place of the `@`, end of the name, is it escaped."""
    spans = _code_spans(body)
    code = next(spans, None)
    at = -1
    while (at := body.find("@", at + 1)) >= 0:
        while code and code[1] <= at:
            code = next(spans, None)
        if code and code[0] <= at:
            continue
        is_escaped = at > 0 and body[at - 1] == "\\"
        end = _name_end(body, at + 1)
        if end > at + 1 and _can_begin_mention(body, at - is_escaped):
            yield at, end, is_escaped


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each fenced block and each code span; an open fence runs to the end."""
    position = limit = 0
    while match := _CODE_START.search(text, position):
        if match["fence"] is not None:
            closing = re.compile(rf"^[ \t>]*`{{{len(match['ticks'])},}}[ \t]*\r?$", re.MULTILINE)
            end = closing.search(text, match.end())
            position = end.end() if end else len(text)
            yield match.start(), position
            continue
        if match.end() > limit:
            paragraph_end = _PARAGRAPH_END.search(text, match.end())
            limit = paragraph_end.start() if paragraph_end else len(text)
        ticks = len(match["run"])
        end = re.compile(rf"(?<!`)`{{{ticks}}}(?!`)").search(text, match.end(), limit)
        if end:
            yield match.start(), end.end()
        position = end.end() if end else match.end()


def _can_begin_mention(text: str, at: int) -> bool:
    """Whether what stands before is the start, white space, an opening bracket or a quote."""
    if at == 0:
        return True
    before = text[at - 1]
    return before.isspace() or before in "\"'" or unicodedata.category(before) in ("Ps", "Pi")


def _name_end(text: str, start: int) -> int:
    """Where the longest name that begins at `start` ends; `start` if none does."""
    end = start
    # Asked of Python itself: names of some scripts hold marks that are no `\w`.
    while end < len(text) and (("_" if end > start else "") + text[end]).isidentifier():
        end += 1
    return end


def _nearest(word: str, names: State) -> tuple[str, ...]:
    by_folded: dict[str, str] = {}
    for name in names:
        by_folded.setdefault(name.casefold(), name)
    near = difflib.get_close_matches(word.casefold(), list(by_folded), n=3, cutoff=_NEAR)
    return tuple(by_folded[name] for name in near)


def _hint_for_module_part(name: str, value: Value, rest: str) -> str | None:
    """How to hand over the part of a module that `@name.part` means; None if it means none."""
    path = name
    while isinstance(value, types.ModuleType) and rest.startswith("."):
        end = _name_end(rest, 1)
        part = rest[1:end]
        try:
            value = getattr(value, part)
        except Exception:  # noqa: BLE001 - a module's own `__getattr__` may raise anything
            return None
        path, rest = f"{path}.{part}", rest[end:]
    if path == name or isinstance(value, types.ModuleType):
        return None
    kind = "a class" if isinstance(value, type) else "a function" if callable(value) else "a value"
    part = path.rpartition(".")[2]
    return f"{path} is {kind} in a module; write {part} = {path} in a cell and mention @{part}."
