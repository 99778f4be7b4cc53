"""JSON as models write it: where a value begins and ends in a text, and what it holds.

Form is read leniently (raw line ends, trailing commas, Python literals, bare keys), content
strictly: what is said twice, is no number, or is too deep or too large is refused, never guessed.
It must not know what a tool call looks like.

All scanning is linear, by regular expressions without backtracking: the text is a model's.
"""

from __future__ import annotations

import ast
import contextlib
import json
import math
import re
from collections.abc import Iterator
from typing import NoReturn, cast

import json_repair

from agent_magic.core.errors import ParsingError
from agent_magic.core.text import replace_surrogates
from agent_magic.core.values import MAX_DEPTH, Value

MAX_CHARS = 1_000_000
_MAX_DIGITS = 4_300
_MAX_BITS = 14_285
"""No number of more than 4,300 digits has fewer bits."""
_MAX_REPAIR_CHARS = 4_000
"""Repair by guess takes quadratic time, and a longer text is better written again."""

_STRING = r""""[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+'"""
_COMMENT = r"//[^\n]*+|\#[^\n]*+"
_SPAN = re.compile(rf"{_STRING}|[\"']|{_COMMENT}|[{{}}\[\]]", re.DOTALL)
_TOKEN = re.compile(
    rf"({_STRING})|({_COMMENT})|([{{}}\[\]()])|([,:])|([^\s\"'{{}}\[\](),:]+)|([\"'])", re.DOTALL
)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}


def find_end(text: str, start: int) -> int | None:
    """Where the value that opens at `start` with a bracket ends; None if it never does.

    Raises:
        ParsingError: It is nested too deeply.
    """
    depth = 0
    for token in _SPAN.finditer(text, start):
        match token[0]:
            case "{" | "[":
                depth += 1
                if depth > MAX_DEPTH:
                    _refuse_depth()
            case "}" | "]":
                depth -= 1
                if depth == 0:
                    return token.end()
            case '"' | "'":
                return None
            case _:
                pass
    return None


def find_strings(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the strings of the value between `start` and `end` stand, quotes included."""
    return (token.span() for token in _SPAN.finditer(text, start, end) if token[0][0] in "\"'")


def read_json(text: str) -> Value:
    """The value of a text that is JSON, or means the same in a laxer form.

    Raises:
        ParsingError: It cannot be read, or not without a guess, or holds what is refused.
    """
    text = text.strip()
    refuse_size(text)
    if text[:1] in ("{", "["):
        end = find_end(text, 0)
        if end is None:
            refuse_incomplete(text)
        if text[end:].strip():
            raise ParsingError(
                f"After the JSON {excerpt(text[:end])} stands more text, {excerpt(text[end:].strip())}.\nGive one JSON object and nothing else."
            )
    elif text[:1] in ("'", '"') and _TOKEN.fullmatch(text) is None:
        refuse_incomplete(text)
    try:
        value = _loads(text)
    except json.JSONDecodeError as error:
        value = _read_lax(text, error)
    return checked(value)


def checked(value: Value, depth: int = 0) -> Value:
    """A copy of a value without lone surrogates, once its depth and numbers are found right.

    Raises:
        ParsingError: It is nested too deeply, or holds a number that is refused.
    """
    if depth > MAX_DEPTH:
        _refuse_depth()
    match value:
        case str():
            return replace_surrogates(value)
        case dict():
            items = cast("dict[Value, Value]", value).items()
            return {checked(key, depth): checked(item, depth + 1) for key, item in items}
        case list():
            return [checked(item, depth + 1) for item in cast("list[Value]", value)]
        case float() if not math.isfinite(value):
            return _refuse_constant(str(value))
        case int() if value.bit_length() > _MAX_BITS:
            return _refuse_digits()
        case _:
            return value


def refuse_size(text: str) -> None:
    """Raise a ParsingError if a text is too long to be read."""
    if len(text) > MAX_CHARS:
        raise ParsingError(
            f"The text is {len(text):,} characters long; at most {MAX_CHARS:,} (1 MB) are read as a tool call.\n"
            "Call the tool with a shorter argument."
        )


def refuse_incomplete(text: str) -> NoReturn:
    """Raise a ParsingError for a JSON that ends too early."""
    raise ParsingError(
        f"The JSON {excerpt(text)} is incomplete: it was cut off, or a closing bracket or quote is missing.\n"
        "Write the whole JSON again; if it is long, make it shorter."
    )


def excerpt(text: str, max_chars: int = 80) -> str:
    """The beginning of a text, as a quoted literal on one line."""
    return repr(text if len(text) <= max_chars else text[: max_chars - 1] + "…")


def _loads(text: str) -> Value:
    # strict=False: raw line ends and tabs inside strings are form.
    return json.loads(
        text, strict=False, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_int=_int
    )


def _read_lax(text: str, error: json.JSONDecodeError) -> Value:
    with contextlib.suppress(json.JSONDecodeError):
        return _loads("".join(_rewrite(text)))
    if len(text) <= _MAX_REPAIR_CHARS:
        _refuse_words(text)
        for value in _repairs(text):
            if isinstance(value, dict | list) and _content(text) == _content(
                json.dumps(value, ensure_ascii=False)
            ):
                return value
    raise ParsingError(
        f"The JSON {excerpt(text)} cannot be read: {error.msg} at line {error.lineno}, column {error.colno}.\n"
        "Write it again with double quotes round each text, and a backslash before each quote inside one."
    )


def _repairs(text: str) -> Iterator[Value]:
    """What others make of a text: Python for a literal with tuples, `json_repair` for bare keys and lost commas."""
    with contextlib.suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        yield json.loads(json.dumps(ast.literal_eval(text)))
    with contextlib.suppress(ValueError, IndexError, RecursionError):
        yield json_repair.repair_json(text, return_objects=True, skip_json_loads=True)


def _rewrite(text: str) -> Iterator[str]:
    """The same value in strict JSON: comments and last commas dropped, Python's words and quotes turned."""
    held_comma = False
    for token in _TOKEN.finditer(text):
        string, comment, bracket, mark, word, _ = token.groups()
        if comment:
            continue
        if mark == ",":
            if held_comma:
                yield ","
            held_comma = True
            continue
        if held_comma and bracket not in ("}", "]"):
            yield ","
        held_comma = False
        if string:
            yield _to_json_string(string)
        elif word:
            yield f" {_PYTHON_WORDS.get(word, word)} "
        else:
            yield token[0]
    if held_comma:
        yield ","


def _to_json_string(literal: str) -> str:
    return literal if literal[0] == '"' else json.dumps(_string(literal))


def _string(literal: str) -> str:
    """The text that a quoted literal stands for; what no reader takes stays as it is written."""
    try:
        if literal[0] == '"':
            return json.loads(literal, strict=False)
        return ast.literal_eval(_raw_line_ends(literal))
    except (ValueError, SyntaxError):
        return literal


def _raw_line_ends(literal: str) -> str:
    # Escapes unknown to Python would warn; models mean the backslash itself or JSON's `\/`.
    literal = re.sub(
        r"\\(.)",
        lambda m: m[0] if m[1] in "\\'\"abfnrtvxuUN01234567\n" else rf"\\{m[1]}",
        literal,
        flags=re.DOTALL,
    )
    return literal.replace("\r", "\\r").replace("\n", "\\n").replace("\0", "\\0")


def _content(text: str) -> list[str]:
    """What a text holds apart from its form: brackets, texts and words, in order."""
    content: list[str] = []
    for token in _TOKEN.finditer(text):
        string, comment, bracket, mark, word, _ = token.groups()
        if string:
            content.append(_string(string))
        elif word:
            content.append(_PYTHON_WORDS.get(word, word))
        elif bracket:
            content.append({"(": "[", ")": "]"}.get(bracket, bracket))
        elif not (comment or mark):
            content.append(token[0])
    return content


def _object(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ParsingError(
            f"The key {excerpt(twice)} stands twice in one JSON object.\nGive each argument once."
        )
    return made


def _int(digits: str) -> int:
    if len(digits.lstrip("-")) > _MAX_DIGITS:
        _refuse_digits(len(digits.lstrip("-")))
    return int(digits)


def _refuse_words(text: str) -> None:
    for token in _TOKEN.finditer(text):
        word = token[5]
        if word and word.lstrip("+-") in ("NaN", "nan", "Infinity", "inf"):
            _refuse_constant(word)
        if word and word.lstrip("+-").isdecimal():
            _int(word)


def _refuse_constant(word: str) -> NoReturn:
    raise ParsingError(
        f"{word} is no number that JSON can hold.\nGive a finite number, or null if the tool takes it."
    )


def _refuse_digits(n_digits: int | None = None) -> NoReturn:
    has = f"of {n_digits:,} digits" if n_digits else "with too many digits"
    raise ParsingError(
        f"The JSON holds a whole number {has}; at most {_MAX_DIGITS:,} digits are read.\nGive a smaller number, or text."
    )


def _refuse_depth() -> NoReturn:
    raise ParsingError(f"The JSON is nested deeper than {MAX_DEPTH} levels.\nGive flatter arguments.")
