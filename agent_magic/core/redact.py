"""Keeps secrets out of whatever is shown, saved or sent to a model.

It must not guess by entropy: long numbers and hashes in people's data are not secrets.
"""

from __future__ import annotations

import functools
import json
import os
import re

# Names of environment variables whose values are secrets, and the shapes of well-known keys. `PWD`
# alone is the folder that a shell is in.
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE|CODE)?|PW|AUTH|CREDENTIALS?|PIN(?:_CODE)?)$|_PWD$",
    re.IGNORECASE,
)
# A key may begin after an escaped sign, as in a `repr` or in JSON: the `n` of a written line break is no
# part of a word with it.
_SECRET_SHAPE = re.compile(
    r"(?=[sgrhxAe])"  # how one begins: the rest is then asked of few signs only
    r"(?:\b|(?<=\\[abefnrtv0])|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\U[0-9A-Fa-f]{8}))"
    r"(?:"
    r"sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|gsk_[A-Za-z0-9]{20,}"
    r"|hf_[A-Za-z0-9]{20,}"
    r"|gh[opsru]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|AKIA[0-9A-Z]{16}"
    r"|AIza[0-9A-Za-z_-]{30,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r")|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----"
    # The name and password before the host of an address.
    r"|(?<=://)[^\s/:@'\"<>]+:[^\s/@'\"<>]+(?=@)"
)
_SHORTEST_SECRET = 8
_REDACTED = "[redacted]"


def redact(text: str) -> str:
    """`text` with values of secret environment variables and key-shaped words replaced."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _is_secret_name(name):
            for form in _forms(value):
                if form in text:
                    text = text.replace(form, _REDACTED)
    return _SECRET_SHAPE.sub(_REDACTED, text)


@functools.lru_cache(maxsize=1_000)
def _is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


@functools.lru_cache(maxsize=100)
def _forms(value: str) -> tuple[str, ...]:
    """A value as it is, and as it stands inside JSON and inside a `repr`, the longest first."""
    quoted = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
    return tuple(sorted(quoted, key=lambda form: (-len(form), form)))
