"""What a model is writing, as far as it may be shown: a text that grows at its end.

What was shown stays as it is while more is written, so that whoever shows it need add only what is new;
of a long text the older part goes at once, and seldom. It must not show a part of a key.
"""

from __future__ import annotations

import re
import string

from agent_magic.core.steps import CLOSING_TAG, OPENING_TAG
from agent_magic.record.clean import clean_text

MOST_CHARS = 16_000
"""That are kept; then all but the newest go."""
KEPT_CHARS = 4_000
"""How many of the newest stay when the older ones go: what is shown of these must be told again."""
_PLENTY = 3 * MOST_CHARS
_SHORT_WORD = 8
_LONGEST_BLOCK = 8_000
_JSON_SIGNS = "{}[],:\"'"
_WORD = string.ascii_letters + string.digits + string.punctuation
_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_BLOCK_END = re.compile(r"-----END [A-Z ]*PRIVATE KEY-----")


class GrowingText:
    """Prose that is being written."""

    def __init__(self) -> None:
        self._text = ""
        self._shown: str | None = ""

    def __len__(self) -> int:
        """How much is kept of it."""
        return len(self._text)

    def add(self, text: str) -> None:
        """A piece more of it."""
        self._shown = None
        self._text += text
        if len(self._text) > MOST_CHARS:
            self.cut(KEPT_CHARS)

    def cut(self, n_chars: int) -> None:
        """Let all but about so many of the newest characters go."""
        if len(self._text) <= n_chars:
            return
        # Secrets are taken out before the cut: half a key would not be known for one.
        at = self._whole_until()
        newest, rest = clean_text(self._text[:at], _PLENTY)[-n_chars:], self._text[at:]
        self._text = f"…{newest.removeprefix('…')}{rest[-MOST_CHARS:]}"
        self._shown = None

    def clear(self) -> None:
        """It was thrown away."""
        self._text = self._shown = ""

    def to_text(self) -> str:
        """All of it that may be shown, without secrets."""
        if self._shown is None:
            self._shown = self._show()
        return self._shown

    def _show(self) -> str:
        shown = clean_text(self._text, _PLENTY)
        block = _open_block(shown)
        shown = shown if block is None else shown[:block]
        whole_words = shown.rstrip(_WORD)
        # The last word of a text that is being written may be the first half of a key.
        return (whole_words if len(shown) - len(whole_words) >= _SHORT_WORD else shown).strip()

    def _whole_until(self) -> int:
        """Up to where no key can be that is not whole yet."""
        block = _open_block(self._text)
        if block is not None:
            return block
        at = len(self._text) - len(_last_word(self._text, string.whitespace))
        # Some scripts have no white space at all.
        return at if len(self._text) - at <= KEPT_CHARS else len(self._text.rstrip(_WORD))


class GrowingArguments(GrowingText):
    """The arguments of a call, as the JSON that is being written."""

    def __init__(self) -> None:
        super().__init__()
        self._n_open = -1
        """Characters since the string began that is not closed yet; -1 outside of strings."""
        self._is_escaped = False

    def add(self, text: str) -> None:
        """A piece more of it."""
        for character in text:
            if self._n_open < 0:
                self._n_open = 0 if character == '"' else -1
                continue
            if character == '"' and not self._is_escaped:
                self._n_open = -1
                continue
            self._n_open += 1
            self._is_escaped = character == "\\" and not self._is_escaped
        super().add(text)

    def _show(self) -> str:
        at = self._whole_until()
        return clean_text(self._text[:at] if len(self._text) - at >= _SHORT_WORD else self._text, _PLENTY)

    def _whole_until(self) -> int:
        # JSON may have no white space at all, so only an open string is held back whole.
        text = self._text
        if self._n_open >= 0:
            word = _last_word(text[len(text) - min(self._n_open, len(text)) :], string.whitespace)
        else:
            word = _last_word(text, string.whitespace + _JSON_SIGNS)
        return len(text) - len(word)


class GrowingReply:
    """A reply: prose; of an agent that writes code up to the opening tag, and code from there on."""

    def __init__(self, *, has_code: bool = False) -> None:
        self.thought = GrowingText()
        self.code = GrowingText()
        self._has_code = has_code
        self._held = ""
        """What the opening tag may have begun with."""
        self._is_code = False

    def add(self, text: str) -> None:
        """A piece more of it."""
        if not self._has_code or self._is_code:
            (self.code if self._is_code else self.thought).add(text)
            return
        text = self._held + text
        before, tag, after = text.partition(OPENING_TAG)
        at = len(before) if tag else len(text) - _n_begun(text, OPENING_TAG)
        self._held = "" if tag else text[at:]
        self.thought.add(text[:at])
        if tag:
            self._is_code = True
            self.code.add(after)

    def clear(self) -> None:
        """It was thrown away."""
        self.thought.clear()
        self.code.clear()
        self._held, self._is_code = "", False

    def to_code(self) -> str:
        """All of the code that may be shown, without the closing tag."""
        code = self.code.to_text()
        return code[: len(code) - _n_begun(code, CLOSING_TAG)].rstrip()


def _n_begun(text: str, tag: str) -> int:
    """How many characters at the end of a text are those that a tag begins with, or the whole of it."""
    return next((n for n in range(min(len(tag), len(text)), 0, -1) if tag.startswith(text[-n:])), 0)


def _last_word(text: str, ends: str) -> str:
    """What follows the last of these signs."""
    return text[max(map(text.rfind, ends)) + 1 :]


def _open_block(text: str) -> int | None:
    """Where the key begins that stands on several lines and has not ended yet; None if none does."""
    at = text.rfind("-----BEGIN ")
    if at < 0 or len(text) - at > _LONGEST_BLOCK:
        return None
    return at if _BLOCK.match(text, at) and not _BLOCK_END.search(text, at) else None
