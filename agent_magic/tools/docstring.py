"""What a docstring says, in Google, NumPy or reST style: description, parameters, example lines.

It must not look at the function: names of parameters are given to it, to choose the style by.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from docstring_parser import Docstring, DocstringStyle, ParseError, parse

from agent_magic.tools.examples import has_arrow

_STYLES = (DocstringStyle.GOOGLE, DocstringStyle.NUMPYDOC, DocstringStyle.REST)
_EXAMPLES = re.compile(r"(?P<indent>[ \t]*)(?:Examples?|\.\. rubric:: Examples?)(?P<colon>:?)[ \t]*")
_RULE = re.compile(r"[ \t]*-{3,}[ \t]*")
_SIGNATURE = re.compile(r"[A-Za-z_][\w.]*\(.*\)(?:[ \t]*->[^\n]*)?", re.DOTALL)
_SECTION = re.compile(
    r"(?:Args|Arguments|Parameters|Params|Returns?|Yields?|Raises|Attributes|Examples?|Notes?|See Also|References)"
    r":?[ \t]*|:(?:param|returns?|raises|type|rtype)\b.*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocText:
    """The parts of a docstring that a tool uses."""

    description: str = ""
    """Summary and long text, without any section."""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    """Descriptions by name, without `*`."""
    returns: str = ""
    """What is said of the result."""
    examples: tuple[str, ...] = ()
    """Lines of the section `Examples` that have an arrow; doctests and prose are no examples of a call."""


def parse_docstring(text: str | None, names: Collection[str]) -> DocText:
    """The parts of `text`; whatever cannot be read as a section stays description.

    Args:
        text: The docstring as it stands in the source.
        names: The function's parameters: the style that describes most of them is taken.
    """
    if not text or not text.strip():
        return DocText()
    text, examples = _split_examples(_without_signature(inspect.cleandoc(text)))
    best = _best_reading(text, names)
    if best is None:
        return DocText(description=_before_sections(text), examples=examples)
    parts = [part for part in (best.short_description, best.long_description) if part]
    separator = "\n\n" if best.blank_after_short_description else "\n"
    said = best.returns.description if best.returns and not best.returns.is_generator else None
    return DocText(
        description=separator.join(parts).strip(),
        parameters=_described(best),
        returns=" ".join((said or "").split()),
        examples=examples,
    )


def _without_signature(text: str) -> str:
    """The text without the signatures that stand before the docstrings of functions written in C."""
    head, _, rest = text.partition("\n\n")
    return rest.strip() if rest.strip() and _SIGNATURE.fullmatch(head) else text


def _best_reading(text: str, names: Collection[str]) -> Docstring | None:
    best: tuple[int, int] = (-1, -1)
    chosen: Docstring | None = None
    for style in _STYLES:
        try:
            reading = parse(text, style)
        except (ParseError, ValueError, IndexError, AttributeError):
            continue
        score = (len(_described(reading).keys() & set(names)), len(reading.meta))
        if score > best:
            best, chosen = score, reading
    return chosen


def _described(reading: Docstring) -> dict[str, str]:
    found: dict[str, str] = {}
    for parameter in reading.params:
        for name in parameter.arg_name.split(","):  # NumPy: `x, y : float`
            text = " ".join((parameter.description or "").split())
            if text:
                found.setdefault(name.strip().lstrip("*\\"), text)
    return found


def _split_examples(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without its section `Examples`, and that section's lines."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        head = _EXAMPLES.fullmatch(line)
        if not head:
            continue
        underlined = at + 1 < len(lines) and bool(_RULE.fullmatch(lines[at + 1]))
        if not (head["colon"] or underlined or "rubric" in line):
            continue
        start = at + 2 if underlined else at + 1
        end = start
        while end < len(lines) and not _ends_section(lines, end, head["indent"], underlined=underlined):
            end += 1
        return "\n".join(lines[:at] + lines[end:]).strip(), _example_lines(lines[start:end])
    return text, ()


def _ends_section(lines: list[str], at: int, indent: str, *, underlined: bool) -> bool:
    line = lines[at]
    if not line.strip():
        return False
    if underlined:
        return at + 1 < len(lines) and bool(_RULE.fullmatch(lines[at + 1]))
    is_deeper = len(line) - len(line.lstrip()) > len(indent)
    return not is_deeper


def _example_lines(lines: list[str]) -> tuple[str, ...]:
    found: list[str] = []
    in_doctest = False
    for line in (line.strip() for line in lines):
        in_doctest = line.startswith(">>>") or (in_doctest and bool(line))
        if has_arrow(line) and not in_doctest and not line.startswith("```"):
            found.append(line.removeprefix("- "))
    return tuple(found)


def _before_sections(text: str) -> str:
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if _SECTION.fullmatch(line.strip())), len(lines))
    return "\n".join(lines[:end]).strip()
