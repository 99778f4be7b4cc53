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

_CHARS_PER_PLAIN = 3.8
_CHARS_PER_UNBROKEN = 2.0
_CHARS_PER_DENSE = 1.6
_BYTES_PER_WIDE = 2.0
_LONG_WORD = 12
_PLAIN = string.ascii_lowercase.encode() + b" "
_DIGITS = string.digits.encode()
_WIDE = bytes(range(0x80, 0x100))


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

    Small letters and blanks count 3.8 to a token, and 2 beyond 12 letters to a blank (codes, random
    names); capitals, signs and line ends 1.6; a digit is one, as many tokenizers have it; of other
    letters two UTF-8 bytes are one: a letter of Greek or Cyrillic 1 token, of Chinese or Japanese
    1.5, an emoji 2. It takes 1 to 3 µs for 1,000 characters.
    """
    data = text.encode("utf-8", "surrogatepass")
    other = data.translate(None, _PLAIN)
    n_plain = len(data) - len(other)
    n_unbroken = max(0, n_plain - (_LONG_WORD + 1) * (data.count(b" ") + 1))
    n_digits = len(other) - len(other := other.translate(None, _DIGITS))
    n_wide = 0 if text.isascii() else len(other) - len(other.translate(None, _WIDE))
    tokens = (
        (n_plain - n_unbroken) / _CHARS_PER_PLAIN
        + n_unbroken / _CHARS_PER_UNBROKEN
        + n_digits
        + (len(other) - n_wide) / _CHARS_PER_DENSE
        + n_wide / _BYTES_PER_WIDE
    )
    return int(tokens) + bool(data)


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
            n = model.count_tokens(text)
            total += TokenCount(n=estimate_tokens(text) if n is None else n, is_estimate=n is None)
    return total
