"""What LiteLLM brings along to know of a model: its tokenizer, and what its tokens cost.

It must not import LiteLLM, which it is given, nor let anything be fetched.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
from pathlib import Path
from typing import Any

from agent_magic.core.values import Value

# The tokenizer's pattern runs out of stack on long texts of nothing but blanks.
_PIECE_CHARS = 100_000
_AT_HOME = frozenset({"ollama", "ollama_chat"})
_UNREPORTED = frozenset({"anthropic", "bedrock", "vertex_ai"})
"""Providers that count reasoning among the output, mostly without saying how much of it."""
_SAME_RANKS = {"o200k_harmony": "o200k_base"}


class Tokenizer:
    """Counts tokens as one family of models does."""

    def __init__(self, encoding: Any) -> None:
        self._encoding = encoding

    def count(self, text: str) -> int | None:
        """Tokens of a text, marks of roles in it read as plain text; None if it cannot be counted.

        Of a text over 100,000 characters up to one too many for each further 100,000.
        """
        pieces = (text[start : start + _PIECE_CHARS] for start in range(0, len(text), _PIECE_CHARS))
        with contextlib.suppress(ValueError):  # its pattern's stack, see above
            return sum(len(self._encoding.encode(piece, disallowed_special=())) for piece in pieces)
        return None


def find_tokenizer(litellm: Any, model_id: str) -> Tokenizer | None:
    """The model's own tokenizer if it is OpenAI's and lies on the disk; None otherwise.

    For all other models LiteLLM would count by a tokenizer that is not theirs, or fetch theirs.
    """
    # LiteLLM points tiktoken to the files that it brings along when this is first touched.
    if litellm.encoding is None:
        return None
    tiktoken: Any = importlib.import_module("tiktoken")
    try:
        name: str = tiktoken.encoding_name_for_model(model_id.rpartition("/")[2])
    except KeyError:
        return None
    return Tokenizer(tiktoken.get_encoding(name)) if _is_on_disk(name) else None


def _is_on_disk(encoding_name: str) -> bool:
    """Whether tiktoken, which names a file by the address that it came from, will fetch nothing."""
    ranks = _SAME_RANKS.get(encoding_name, encoding_name)
    address = f"https://openaipublic.blob.core.windows.net/encodings/{ranks}.tiktoken"
    name = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    return (Path(os.environ.get("TIKTOKEN_CACHE_DIR", "")) / name).is_file()


def cost_of(litellm: Any, model_id: str, **tokens: Value) -> float | None:
    """USD for the tokens, given as `litellm.cost_per_token` takes them; None without a price."""
    with contextlib.suppress(Exception):  # of an unknown model LiteLLM raises a bare Exception
        cost: float = sum(litellm.cost_per_token(model=model_id, **tokens))
        # Where it knows a model but not its price it says 0; what runs at home does cost nothing.
        return cost if cost or model_id.partition("/")[0] in _AT_HOME else None
    return None


def estimate_reasoning(litellm: Any, model_id: str, reasoning: str | None, output_tokens: int) -> int | None:
    """The reasoning tokens that LiteLLM makes up for a reply of this provider; None where it makes up none."""
    if model_id.partition("/")[0] not in _UNREPORTED:
        return None
    if not reasoning:
        return 0
    return min(litellm.token_counter(text=reasoning, count_response_tokens=True), output_tokens)


def is_window(value: Value) -> bool:
    """Whether a value can be a number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
