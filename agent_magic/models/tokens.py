"""How many tokens a request has: by the model's own tokenizer, else by an estimate that is called one.

It must not load anything: `Model.count_tokens` decides what is at hand.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from agent_magic.core.values import Value
from agent_magic.models.model import Model

TOKENS_PER_MESSAGE = 4
"""For the role and the marks around a message, as OpenAI's chat form has them."""
TOKENS_PER_CALL = 8
"""For the marks around a tool call, or a tool's schema, beside its name and JSON."""
TOKENS_PER_IMAGE = 1_600
"""What Anthropic takes for about 1,100 × 1,100 pixels; OpenAI takes 765 for 1,024 × 1,024."""

_PER_RUN = 1.15
"""Of lower-case letters, which is most often a word or the rest of one."""
_PER_7_LETTERS = 0.6
_PER_16_LETTERS = 7.5
"""Without a break: too long for most words, so a code or a name made by chance."""
_PER_DIGIT = 1.0
"""Many tokenizers have it so; others take three together."""
_PER_SIGN = 0.85
"""A capital, punctuation, a line end."""
_PER_BLANK = 0.2
"""Most blanks are in the token of the word that they stand before."""
_LOWER = string.ascii_lowercase.encode()
_DIGITS = string.digits.encode()
_NOT_SIGNS = _LOWER + b" " + bytes(range(0x80, 0x100))
_NOT_LEADS = bytes(range(0xC0))
_RUNS = bytes(ord("a") if byte in _LOWER else ord(" ") for byte in range(0x100))
"""Each lower-case letter as `a`, all else as a blank."""
# Of a letter beyond ASCII, by the first byte that it has in UTF-8; the last byte and tenths of a token.
_TENTHS_UP_TO = (
    (0xC3, 12),  # Western Latin
    (0xC5, 13),  # Polish, Czech, Turkish
    (0xCD, 20),  # phonetic letters, accents of their own
    (0xCF, 11),  # Greek
    (0xD1, 11),  # Russian
    (0xD6, 20),  # further Cyrillic, Armenian, points of Hebrew
    (0xDB, 11),  # Hebrew, Arabic
    (0xDF, 20),
    (0xE0, 21),  # of India; Thai, Lao, Tibetan
    (0xE2, 30),  # signs and the scripts of few
    (0xE9, 24),  # Chinese, Japanese: most have 1 or 2, rare ones 2 or 3
    (0xEA, 30),
    (0xED, 24),  # Korean
    (0xEF, 30),  # private use, full width
    (0xFF, 40),
)
_TENTHS = bytes(
    next(tenths for last, tenths in _TENTHS_UP_TO if byte <= last) if byte >= 0xC0 else 0
    for byte in range(0x100)
)
_TENTHS_LESS = ((b"\xe2\x80", 22), (b"\xf0\x9f", 10))
"""Typographic punctuation, and emoji, beside others with the same first byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """A number of tokens, and whether it is known."""

    n: int
    is_estimate: bool = False
    """The model's tokenizer is not at hand, or there are images in it."""

    def __add__(self, other: TokenCount) -> TokenCount:
        return TokenCount(n=self.n + other.n, is_estimate=self.is_estimate or other.is_estimate)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has for a model whose tokenizer is unknown: rather too many than too few.

    It knows scripts, words and their lengths, and no language. Against the tokenizers of GPT-4 and
    GPT-4o, whichever takes more: English 1.4 to 1.5 times as many, Python 1.5, JSON 1.3, CSV 1.1, logs and
    hashes 1.5, UUIDs 1.4, LaTeX and maths 1.2 to 1.3, hex, Base64 and letters by chance 1.0 to 1.1, decimals 2.1,
    emoji 1.0 to 1.4, rare signs and scripts 1.0 to 1.2, Greek 1.1, Arabic 1.4, Hindi 1.8, Korean 1.9,
    Russian 2.0, Chinese, Japanese, Thai and Vietnamese 1.5 to 2.3, runs of one character 3 to 55.
    GPT-4o's alone takes less of other scripts than Latin: 3 times for Chinese and Russian, 5 for Hindi.
    Too few by up to a third for languages in plain Latin letters that tokenizers know little of (Swahili,
    Finnish, Indonesian), by half for words of no language.
    It takes 3 to 9 µs for 1,000 bytes.
    """
    data = text.encode("utf-8", "surrogatepass")
    runs = data.translate(_RUNS)
    n_runs = runs.count(b" a") + runs.startswith(b"a")
    signs = data.translate(None, _NOT_SIGNS)
    n_digits = len(signs) - len(signs.translate(None, _DIGITS))
    tokens = (
        n_runs * _PER_RUN
        + runs.count(b"a" * 7) * _PER_7_LETTERS
        + runs.count(b"a" * 16) * _PER_16_LETTERS
        + n_digits * _PER_DIGIT
        + (len(signs) - n_digits) * _PER_SIGN
        + data.count(b" ") * _PER_BLANK
    )
    if not text.isascii():
        tokens += _estimate_wide(data)
    return int(tokens) + bool(data)


def _estimate_wide(data: bytes) -> float:
    leads = data.translate(None, _NOT_LEADS)
    less = sum(data.count(begin) * tenths for begin, tenths in _TENTHS_LESS if begin[0] in leads)
    return (sum(leads.translate(_TENTHS)) - less) / 10


def count_message(message: Mapping[str, Value], model: Model) -> TokenCount:
    """Tokens of a message in the form of `Model.to_wire`, with what is around it.

    An image counts `TOKENS_PER_IMAGE`, whatever its size.
    """
    texts: list[str] = []
    n_images = 0
    content: Value = message.get("content")
    if isinstance(content, str):
        texts.append(content)
    elif content:
        for part in cast("Sequence[Mapping[str, Value]]", content):
            if "text" in part:
                texts.append(part["text"])
            else:
                n_images += 1
    calls: Sequence[Mapping[str, Value]] = message.get("tool_calls") or ()
    for call in calls:
        texts += [call["function"]["name"], call["function"]["arguments"]]
    around = TOKENS_PER_MESSAGE + TOKENS_PER_CALL * len(calls) + TOKENS_PER_IMAGE * n_images
    return _count(texts, model) + TokenCount(n=around, is_estimate=n_images > 0)


def count_tools(tools: Sequence[Mapping[str, Value]], model: Model) -> TokenCount:
    """Tokens of the tools in the form of `Model.to_wire`, each counted as its JSON."""
    texts = [json.dumps(tool, ensure_ascii=False, separators=(",", ":"), default=str) for tool in tools]
    return _count(texts, model) + TokenCount(n=TOKENS_PER_CALL * len(tools))


def _count(texts: Iterable[str], model: Model) -> TokenCount:
    total = TokenCount(n=0)
    for text in texts:
        if text:
            n = _ask(model, text)
            total += TokenCount(n=estimate_tokens(text) if n is None else n, is_estimate=n is None)
    return total


def _ask(model: Model, text: str) -> int | None:
    """What the model's tokenizer says; None if it has none or fails, for a count decides no run."""
    try:
        return model.count_tokens(text)
    except Exception:  # noqa: BLE001 - a person's own Model may raise anything
        return None
