"""The words of a magic's line and the values they stand for: text -> typed, or an error that teaches.

It must not know which options there are, nor what becomes of a value.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from agent_magic.core.errors import OptionError
from agent_magic.core.redact import redact
from agent_magic.core.state import is_usable_name
from agent_magic.core.values import Value

Off = Literal["off"]
"""An option's value that takes back what the option set."""
OFF: Final[Off] = "off"

_WORD = re.compile(r"""(?:[^\s"']|"(?:\\.|[^"\\])*"|'[^']*')+""")
_QUOTED = re.compile(r""""((?:\\.|[^"\\])*)"|'([^']*)'""")
_ESCAPED = re.compile(r"""\\(["\\])""")
_DASHES = "-–—"  # editors turn two dashes into a long one
_CONSTANTS: Mapping[str, Value] = {"True": True, "False": False, "None": None}
_MODEL_FORMS = (
    "Write provider/name, e.g. openai/gpt-5, local for the embedded model, or @m for a Model object m."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of the line."""

    raw: str
    """As written, quotes included."""

    @property
    def text(self) -> str:
        r"""Without its quotes; inside double quotes `\"` is a quote and `\\` a backslash."""
        return _QUOTED.sub(lambda m: m[2] if m[1] is None else _ESCAPED.sub(r"\1", m[1]), self.raw)

    @property
    def is_option(self) -> bool:
        """Whether it begins as an option does; a quoted word never does."""
        return self.raw[:1] in _DASHES and bool(self.raw)


def split_words(line: str) -> list[Word]:
    """The words of a line; quotes hold a word together, and no line end gets into one.

    Raises:
        OptionError: A quote is never closed.
    """
    words: list[Word] = []
    position = len(line) - len(line.lstrip())
    while position < len(line):
        match = _WORD.match(line, position)
        end = match.end() if match else position
        if end < len(line) and not line[end].isspace():
            raise OptionError(
                f"%%agent: the quote {line[end]} before {shown(line[end + 1 :][:20].strip())} is never closed. "
                'Put the whole value in quotes: --instructions "Don\'t guess".'
            )
        words.append(Word(raw=line[position:end]))
        position = end + len(line[end:]) - len(line[end:].lstrip())
    return words


def shown(text: str) -> str:
    """`text` as an error quotes it, secrets redacted."""
    return repr(redact(text))


def nearest_part(word: str, known: Iterable[str]) -> str:
    """`" Nearest: x."` for the name that looks most like `word`; empty if none does."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Nearest: {near[0]}." if near else ""


def nearest_option(word: str, flags: Iterable[str]) -> str:
    """As `nearest_part`, whatever the dashes that `word` begins with."""
    by_name = {flag.lstrip(_DASHES): flag for flag in flags}
    near = difflib.get_close_matches(word.lstrip(_DASHES).lower(), list(by_name), n=1, cutoff=0.6)
    return f" Nearest: {by_name[near[0]]}." if near else ""


def parse_text(flag: str, word: Word) -> str:
    """The text itself; it must say something."""
    if not word.text.strip():
        raise OptionError(
            f"%%agent {flag}: the text is empty. Write it in quotes after {flag}, or leave {flag} out."
        )
    return word.text


def parse_whole_number(flag: str, word: Word, *, off: str = "") -> int | Off:
    """A whole number of at least 1; `OFF` for the word `off`, if there is one."""
    if off and word.text == off:
        return OFF
    try:
        number = int(word.text)
    except ValueError:
        number = 0
    if number < 1:
        raise OptionError(
            f"%%agent {flag}: {shown(word.text)} is not allowed: a whole number of at least 1{_or(off)}."
        )
    return number


def parse_amount(flag: str, word: Word, *, unit: str, off: str) -> float | Off:
    """A number over 0; `OFF` for the word `off`."""
    if word.text == off:
        return OFF
    try:
        number = float(word.text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise OptionError(
            f"%%agent {flag}: {shown(word.text)} is not allowed: a number of {unit} over 0{_or(off)}."
        )
    return number


def parse_choice(head: str, word: Word, choices: tuple[str, ...]) -> str:
    """One of `choices`.

    Args:
        head: Whose value it is, at the head of an error, such as `%%agent --state`.
        word: The value as written.
        choices: What it may be.
    """
    if word.text not in choices:
        allowed = f"{', '.join(choices[:-1])} or {choices[-1]}"
        near = nearest_part(word.text.lower(), choices)
        raise OptionError(f"{head}: {shown(word.text)} is not allowed: {allowed}.{near}")
    return word.text


def parse_model(flag: str, word: Word) -> str:
    """`provider/name`, `local`, or `@name` of a live Model object."""
    text = word.text
    provider, slash, name = text.partition("/")
    if text == "local" or (slash and provider and name) or (text[:1] == "@" and is_usable_name(text[1:])):
        return text
    raise OptionError(f"%%agent {flag}: {shown(text)} is not a model id. {_MODEL_FORMS}")


def parse_name(head: str, word: Word) -> str:
    """An identifier, as Python itself spells it (NFKC).

    Args:
        head: Whose name it is, at the head of an error, such as `%%agent --as`.
        word: The name as written.
    """
    name = unicodedata.normalize("NFKC", word.text)
    if is_usable_name(name):
        return name
    if name.isidentifier():
        raise OptionError(f"{head}: {shown(name)} is a word of Python's own. Choose another name.")
    if is_usable_name(name[1:]) and name[0] == "@":
        raise OptionError(f"{head}: {shown(name)} is not a name. Write it without the @: {name[1:]}.")
    raise OptionError(
        f"{head}: {shown(word.text)} is not a name: letters, digits and _, not beginning with a digit. "
        "Choose another, such as analyst."
    )


def parse_names(flag: str, words: Iterable[Word]) -> tuple[str, ...]:
    """Names, each once; `@` before them and commas between them are allowed."""
    names: dict[str, None] = {}
    for part in " ".join(word.text for word in words).replace(",", " ").split():
        name = part.removeprefix("@")
        path = name.split(".")
        if len(path) > 1 and all(map(is_usable_name, path)):
            fix = f"Write {path[-1]} = {name} in a cell and give {path[-1]}."
            if flag == "--protect":
                fix = f"Give {path[0]}: what is in it is protected with it."
            raise OptionError(f"%%agent {flag}: {shown(name)} is a part of something, not a name. {fix}")
        names[parse_name(f"%%agent {flag}", Word(raw=name))] = None
    if not names:
        raise OptionError(f"%%agent {flag}: no name is given. Write the names after it, with or without @.")
    return tuple(names)


def parse_modules(flag: str, words: Iterable[Word]) -> tuple[str, ...]:
    """Modules, each once, such as `sklearn` and `scipy.stats`, or `*` for all; commas between them are allowed."""
    modules: dict[str, None] = {}
    for part in " ".join(word.text for word in words).replace(",", " ").split():
        name = unicodedata.normalize("NFKC", part)
        if name != "*" and not all(map(is_usable_name, name.split("."))):
            raise OptionError(
                f"%%agent {flag}: {shown(part)} is not a module. Write names as after `import`, "
                f"such as {flag} sklearn,scipy.stats, or * for all."
            )
        modules[name] = None
    if not modules:
        raise OptionError(f"%%agent {flag}: no module is given. Write the names after it, or none.")
    return tuple(modules)


def parse_type_text(words: Iterable[Word]) -> str:
    """The text of a type, its own quotes kept: `Literal["a", "b"]`."""
    return " ".join(word.text if _QUOTED.fullmatch(word.raw) else word.raw for word in words).strip()


def is_unfinished_type(words: Iterable[Word]) -> bool:
    """Whether the text of a type goes on in the next word: a bracket is open, or it ends in `|`."""
    words = list(words)
    if any(_QUOTED.fullmatch(word.raw) for word in words):
        return False  # what stands in quotes is whole
    text = _QUOTED.sub("", " ".join(word.raw for word in words)).strip()
    return text.endswith("|") or text.count("[") > text.count("]")


def parse_settings(flag: str, word: Word) -> dict[str, Value]:
    """`key=value,…` as a dict; values as JSON or Python writes them, else plain text."""
    settings: dict[str, Value] = {}
    text = word.text if _QUOTED.fullmatch(word.raw) else word.raw
    for item in filter(None, map(str.strip, _split_at_commas(text))):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not (equals and value and key.isidentifier()):
            raise OptionError(
                f"%%agent {flag}: {shown(item)} is not key=value. "
                f"Write several with commas, in quotes if there are spaces: {flag} temperature=0,top_p=0.9."
            )
        settings[key] = _parse_literal(value)
    return settings


def _or(off: str) -> str:
    return f", or {off}" if off else ""


def _split_at_commas(text: str) -> list[str]:
    """The parts between commas that stand outside quotes and brackets."""
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "[({":
            depth += 1
        elif sign in "])}":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += sign
    return parts


def _parse_literal(text: str) -> Value:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    try:
        return json.loads(text)
    except ValueError:
        pass
    # Only what opens like a literal: for other text the parser would warn of odd escapes and the like.
    if text[0] in "\"'[({":
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            pass
    return text
