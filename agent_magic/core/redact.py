"""Keeps secrets out of whatever is shown, saved or sent to a model.

It must not guess by entropy: long numbers and hashes in people's data are not secrets.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Mapping
from typing import Any

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


# Of a notebook's variables `key` and `sort_key` are mostly columns, and a `token` a word: where the name does
# not say more, the value has to look like a secret.
_SURELY_SECRET_NAME = re.compile(
    r"(?:^|_)(?:SECRET(?:_KEY)?|API_?KEY|(?:ACCESS|API|AUTH|BEARER|REFRESH)_?(?:TOKEN|KEY)"
    r"|PASS(?:WORD|WD|PHRASE)|CREDENTIALS?)$",
    re.IGNORECASE,
)
_LOOKS_SECRET = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])\S{16,}")
_MOST_NAMED = 500
_looked_at: set[str] = set()
_secret_names: set[str] = set()
_named: dict[str, None] = {}
"""Values of variables of the person's whose names say that they are secrets."""


def note_secrets(variables: Mapping[str, Any]) -> None:
    """From now on texts of these variables whose names speak of keys, tokens or passwords are redacted too.

    Args:
        variables: By name; each name is read once, so that asking often costs little.
    """
    fresh = variables.keys() - _looked_at
    _looked_at.update(fresh)
    _secret_names.update(name for name in fresh if type(name) is str and _is_secret_name(name))
    for name in _secret_names & variables.keys():
        value = variables.get(name)
        if type(value) is str and value not in _named and _is_secret_of(name, value):
            _named[value] = None
            while len(_named) > _MOST_NAMED:
                _named.pop(next(iter(_named)))


def _is_secret_of(name: str, value: str) -> bool:
    if len(value) < _SHORTEST_SECRET:
        return False
    return bool(_SURELY_SECRET_NAME.search(name) or _LOOKS_SECRET.fullmatch(value))


def redact(text: str) -> str:
    """`text` with secrets replaced: of environment and noted variables, and what has the shape of a key."""
    for value in list(_named):
        for form in _forms(value):
            if form in text:
                text = text.replace(form, _REDACTED)
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _is_secret_name(name) and not _is_folder(name, value):
            for form in _forms(value):
                if form in text:
                    text = text.replace(form, _REDACTED)
    return _SECRET_SHAPE.sub(_REDACTED, text)


def _is_folder(name: str, value: str) -> bool:
    """Whether a `PWD` is a folder as a shell's own is, and no password: task runners set such."""
    return name.upper().endswith("_PWD") and (value[:1] == "/" or value[1:3] == ":\\")


@functools.lru_cache(maxsize=1_000)
def _is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


@functools.lru_cache(maxsize=1_000)
def _forms(value: str) -> tuple[str, ...]:
    """A value as it is, and as it stands inside JSON and inside a `repr`, the longest first."""
    quoted = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
    return tuple(sorted(quoted, key=lambda form: (-len(form), form)))
