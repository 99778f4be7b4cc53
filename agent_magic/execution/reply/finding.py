"""Blocks: where code may stand in a text, between tags or fences, with strings in it that hold such signs.

It must not decide which block counts. Time grows with the length of the text, never with its square.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agent_magic.core.errors import ParsingError
from agent_magic.execution.reply.source import MAX_CODE_CHARS, try_parse

MAX_TEXT_CHARS = 1_000_000
"""A reply longer than this is not looked into."""
_MAX_BLOCKS = 100
_MAX_CLOSERS = 8
"""Closing signs that are tried for one block, of those outside and of those inside of strings."""
_MAX_PARSED_CHARS = 1_000_000
_MAX_STRINGS = 1_000

OBSERVATION = re.compile(r"^[ \t>*_#]*Observation[ \t]*:", re.MULTILINE)
"""Begins what the model dreamed that its code printed."""

_LABEL = r"(?:python|py|python3|py3|ipython|ipython3)"
_IS_PYTHON = re.compile(rf"\{{?\.?{_LABEL}\b", re.IGNORECASE)
_OPENER = re.compile(
    r"(?P<tag><code(?:\s[^<>\n]{0,80})?>)|(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)",
    re.IGNORECASE,
)
_TAG = re.compile(r"<code(?:\s[^<>\n]{0,80})?>", re.IGNORECASE)
_LINE_START = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?\Z")
_STRINGS = (
    r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*+(?:"""|\Z)'
    r"|'''(?:[^'\\]|\\[\s\S]|'(?!''))*+(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\[\s\S])*+"?'
    r"|'(?:[^'\\\n]|\\[\s\S])*+'?"
)

_Kind = Literal["tag", "python", "bare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A part of a text that is, or may be, code."""

    kind: _Kind
    """Between tags, in a fence with Python's label, in a fence without any."""
    start: int
    """Where the opening sign begins."""
    end: int
    """Where the closing sign ends, or the text."""
    code: str
    """Without signs and common indentation."""
    tree: ast.Module | None
    """None if the code does not parse."""
    is_closed: bool
    closer: str
    """The closing sign, as it is to be written where it lacks."""


def find_blocks(text: str) -> tuple[list[Block], list[str]]:
    """The blocks of a text in order, and the labels of the fences that are of another language.

    Raises:
        ParsingError: There are far too many.
    """
    search = _Search(text)
    blocks = list(search.blocks())
    return blocks, search.languages


@dataclass(frozen=True, slots=True)
class _End:
    """Where the code of a block ends, and where the block does."""

    code: int
    block: int
    is_closed: bool


class _Search:
    """One search, with what is left of the characters that it may parse."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.languages: list[str] = []
        self._chars_left = _MAX_PARSED_CHARS
        self._is_other_open = False

    def blocks(self) -> Iterator[Block]:
        text, position, last_end, count = self._text, 0, None, 0
        while match := _OPENER.search(text, position):
            if last_end is not None and OBSERVATION.search(text, last_end, match.start()):
                return  # what follows is the model's own dream of a result
            count += 1
            if count > _MAX_BLOCKS:
                raise ParsingError(
                    f"The reply has more than {_MAX_BLOCKS} blocks, and nothing ran.\n"
                    "Write one block of code between `<code>` and `</code>`."
                )
            block, position = self._read_tag(match) if match["tag"] else self._read_fence(match)
            if block is not None:
                last_end = block.end
                yield block

    # Tags

    def _read_tag(self, match: re.Match[str]) -> tuple[Block | None, int]:
        text = self._text
        if text[match.start() - 1 : match.start()] == "`" and text[match.end() : match.end() + 1] == "`":
            return None, match.end()  # the text speaks of the tag
        end = self._find_end(match.end(), _TAG_SCAN)
        start, code, tree = match.start(), *self._read(text[match.end() : end.code])
        if tree is None and _TAG.search(text, match.end(), end.code):
            # An opening tag that the text mentions, or that stands where a closing one should.
            start, code, tree = self._read_parts(match, end.code) or (start, code, tree)
        block = Block(
            kind="tag",
            start=start,
            end=end.block,
            code=code,
            tree=tree,
            is_closed=end.is_closed,
            closer="</code>",
        )
        return block, end.block

    def _read_parts(self, match: re.Match[str], end: int) -> tuple[int, str, ast.Module | None] | None:
        """What stands between further opening tags outside of strings, from the first part that is code."""
        text = self._text
        found = [part for part in _TAG_SCAN.finditer(text, match.end(), end) if part["close"] is None]
        strings = [part.span() for part in found if part[0][0] != "#"]
        openers = [match]
        for opener in _TAG.finditer(text, match.end(), end):
            if not any(begin < opener.start() < stop for begin, stop in strings[:_MAX_STRINGS]):
                openers.append(opener)
            if len(openers) > _MAX_CLOSERS:
                break
        stops = [opener.start() for opener in openers[1:]] + [end]
        parts = [self._read(text[opener.end() : stop]) for opener, stop in zip(openers, stops, strict=True)]
        first = next((number for number, (_, tree) in enumerate(parts) if tree is not None), None)
        if first is None or any(tree is None for _, tree in parts[first:]):
            return None
        code = "\n".join(code for code, _ in parts[first:])
        return openers[first].start(), code, self._parse(code)

    # Fences

    def _read_fence(self, match: re.Match[str]) -> tuple[Block | None, int]:
        text, fence, info = self._text, match["fence"], match["info"].strip()
        label = _IS_PYTHON.match(info)
        line_start = text.rfind("\n", 0, match.start()) + 1
        if not label:
            if not _LINE_START.fullmatch(text, line_start, match.start()) or fence[0] in info:
                return None, match.end("fence")  # in the middle of a line, or closed on it: the text speaks
            if info:
                return None, self._skip_other(match, info)
        # On the line of the label can stand the code itself.
        rest = match["info"].lstrip()
        is_one_line = bool(label) and fence[0] == "`" and "`" in rest
        begin = match.start("info") + match["info"].index(rest) + (label.end() if label else 0)
        begin = begin if is_one_line else min(match.end() + 1, len(text))
        end = self._find_end(begin, _fence_scan(fence))
        if not end.is_closed:
            end = self._close_by_tag(begin, end)
        code, tree = self._read(text[begin : end.code])
        if tree is None and _TAG.search(text, begin, end.code):
            return None, begin  # tags within the fence
        kind: _Kind = "python" if label else "bare"
        block = Block(
            kind=kind,
            start=match.start(),
            end=end.block,
            code=code,
            tree=tree,
            is_closed=end.is_closed,
            closer=fence,
        )
        return block, end.block

    def _skip_other(self, match: re.Match[str], info: str) -> int:
        """The end of a fence of another language."""
        self.languages.append(info.split(maxsplit=1)[0][:40])
        size, sign = len(match["fence"]), match["fence"][0]
        closer = re.compile(
            rf"^[ \t>]*{sign}{{{size},}}[ \t]*$|(?=^[ \t>]*{sign}{{3,}}[ \t]*{_LABEL}\b)",
            re.MULTILINE | re.IGNORECASE,
        )
        found = None if self._is_other_open else closer.search(self._text, match.end())
        self._is_other_open = self._is_other_open or found is None
        return found.end() if found else match.end()

    def _close_by_tag(self, begin: int, end: _End) -> _End:
        found = re.compile(r"</code\s*>", re.IGNORECASE).search(self._text, begin, end.code)
        return _End(found.start(), found.end(), is_closed=True) if found else end

    # Ends

    def _find_end(self, start: int, scan: re.Pattern[str]) -> _End:
        """The closing sign at which the code parses: of those outside of strings, then of those inside."""
        text = self._text
        limit = min(len(text), start + MAX_CODE_CHARS + 10_000)
        outside: list[re.Match[str]] = []
        strings: list[tuple[int, int]] = []
        for match in scan.finditer(text, start, limit):
            if match["close"] is None:
                if match[0][0] != "#":
                    strings.append(match.span())
                continue
            outside.append(match)
            if len(outside) >= _MAX_CLOSERS or self._is_good(start, match.start()):
                break
        if outside and self._is_good(start, outside[-1].start()):
            return _End(outside[-1].start(), outside[-1].end("close"), is_closed=True)
        inside = list(self._closers_inside(strings, scan))
        for begin, stop in inside:
            if self._is_good(start, begin):
                return _End(begin, stop, is_closed=True)
        if outside:
            return _End(outside[0].start(), outside[0].end("close"), is_closed=True)
        return self._cut_dream(start)

    def _closers_inside(
        self, strings: list[tuple[int, int]], scan: re.Pattern[str]
    ) -> Iterator[tuple[int, int]]:
        closer = re.compile(r"</code\s*>" if scan is _TAG_SCAN else r"`{3,}", re.IGNORECASE)
        count = 0
        for begin, stop in strings:
            for match in closer.finditer(self._text, begin, stop):
                yield match.span()
                count += 1
                if count == _MAX_CLOSERS:
                    return

    def _cut_dream(self, start: int) -> _End:
        """The end of a block that is not closed: the end of the text, or of what stands before a dreamed result."""
        text = self._text
        dream = OBSERVATION.search(text, start)
        if dream and self._is_good(start, dream.start()):
            return _End(dream.start(), dream.start(), is_closed=False)
        return _End(len(text), len(text), is_closed=False)

    # Reading

    def _is_good(self, start: int, end: int) -> bool:
        code, tree = self._read(self._text[start:end])
        return tree is not None and bool(code.strip())

    def _read(self, raw: str) -> tuple[str, ast.Module | None]:
        """The code of a block, unwrapped and without common indentation, and its tree."""
        code = _without_blank_ends(raw)
        tree = self._parse(code)
        if tree is not None or len(code) > MAX_CODE_CHARS:
            return code, tree
        dedented = _dedent(code)
        first, _, rest = code.partition("\n")
        for form in (dedented, _unwrap(code), f"{first.strip()}\n{textwrap.dedent(rest)}"):
            if form is not None and form != code and (tree := self._parse(form)) is not None:
                return form, tree
        return (_unwrap(code) or dedented), None

    def _parse(self, code: str) -> ast.Module | None:
        if len(code) > min(self._chars_left, MAX_CODE_CHARS):
            return None
        self._chars_left -= len(code) + 20
        return try_parse(code)


def _scan(closer: str) -> re.Pattern[str]:
    """Strings, comments and closing signs; a comment ends where the code does."""
    return re.compile(
        rf"{_STRINGS}|#(?:(?!{closer})[^\n])*+|(?P<close>{closer})", re.IGNORECASE | re.MULTILINE
    )


_TAG_SCAN = _scan(r"</code\s*>")


def _fence_scan(fence: str) -> re.Pattern[str]:
    size = len(fence)
    if fence[0] == "~":
        return _scan(rf"^[ \t>]*~{{{size},}}[ \t]*$")
    # Python has no backticks outside of strings. One that opens the next block closes this one unseen.
    return _scan(rf"(?:`{{{size},}}(?!`*[ \t]*{_LABEL}\b)|(?=`{{{size},}}[ \t]*{_LABEL}\b))")


def _without_blank_ends(raw: str) -> str:
    return re.sub(r"\A(?:[ \t]*\n)+", "", raw).rstrip()


def _dedent(code: str) -> str:
    """Each line without the indentation of the first."""
    margin = code[: len(code) - len(code.lstrip(" \t"))]
    if not margin:
        return code
    return "\n".join(line.removeprefix(margin) for line in code.split("\n"))


_WRAPPED = re.compile(
    rf"\s*`{{3,}}[ \t]*(?:{_LABEL})?[ \t]*\n(?P<code>.*?)(?:\n[ \t]*`{{3,}}\s*)?\Z", re.DOTALL | re.IGNORECASE
)


def _unwrap(code: str) -> str | None:
    """The code of a fence that is all of a block, or None."""
    match = _WRAPPED.match(code) if code.lstrip().startswith("```") else None
    return _dedent(_without_blank_ends(match["code"])) if match else None
