"""Keys in the environment: which are set, and whether each has the form that a key can have.

It must not give a key away, nor a part of one: it says what is wrong with it in words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_magic.models.select import DEFAULT_IDS, FURTHER_KEYS

_NO_SECRETS = frozenset({"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "GOOGLE_APPLICATION_CREDENTIALS"})
"""A name and a path may hold blanks."""
_BEGINNINGS = {
    "ANTHROPIC_API_KEY": "sk-ant-",
    "GROQ_API_KEY": "gsk_",
    "HF_TOKEN": "hf_",
    "NVIDIA_NIM_API_KEY": "nvapi-",
    "OPENROUTER_API_KEY": "sk-or-",
    "XAI_API_KEY": "xai-",
    "OPENAI_API_KEY": "sk-",  # the last, as others begin so too
}
"""How the providers' keys begin."""
_PLACEHOLDER = re.compile(r"your|change.?me|placeholder|replace|\.\.\.|x{4,}|<.*>", re.IGNORECASE)
_ALSO = {"gemini": "GOOGLE_API_KEY"}
"""A second name under which LiteLLM looks for a key."""
_MOST_READ = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFault:
    """What is wrong with a key."""

    text: str
    is_sure: bool = True
    """No provider can take it."""


def keys_that_are_set(environ: Mapping[str, str]) -> list[str]:
    """The variables of providers' keys that are there, empty ones too, in the order in which they are looked at."""
    return [name for name in (*DEFAULT_IDS, *FURTHER_KEYS) if name in environ]


def missing_keys(model_id: str, environ: Mapping[str, str]) -> list[str]:
    """The variables of which one has to hold the key of a model, if none does; else, or where it is not known, none."""
    provider = model_id.partition("/")[0]
    names = [key for key, default in DEFAULT_IDS.items() if default.partition("/")[0] == provider]
    names += [_ALSO[provider]] if provider in _ALSO else []
    is_there = any(environ.get(name) or own_address(name, environ) for name in names)
    return [] if is_there else names


def key_fault(name: str, environ: Mapping[str, str]) -> KeyFault | None:
    """What is wrong with the form of a key, in words that do not show it; None if nothing is."""
    value = environ[name]
    if not value:
        return KeyFault(text="is empty, so it counts as not set", is_sure=False)
    if fault := _fault_around(value):
        return fault
    if name == "GOOGLE_APPLICATION_CREDENTIALS" and not Path(value).is_file():
        return KeyFault(text="names a file that is not there")
    if name in _NO_SECRETS:
        return None
    return _fault_inside(value) or (None if own_address(name, environ) else _fault_of_form(name, value))


def own_address(key: str, environ: Mapping[str, str]) -> str | None:
    """The variable that names another server for this key, which may take keys of any form."""
    provider = key.removesuffix("_API_KEY").removesuffix("_TOKEN")
    return next(
        (name for what in ("BASE_URL", "API_BASE") if environ.get(name := f"{provider}_{what}")), None
    )


def keys_in_dotenv(folder: Path) -> list[str]:
    """The variables of providers' keys that a file `.env` in the folder names."""
    try:
        with (folder / ".env").open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_READ)
    except OSError:
        return []
    named = set(re.findall(r"^\s*(?:export\s+)?(\w+)\s*=\s*\S", text, re.MULTILINE))
    return [name for name in (*DEFAULT_IDS, *FURTHER_KEYS) if name in named]


def _fault_around(value: str) -> KeyFault | None:
    if not value.strip():
        return KeyFault(text="holds nothing but blanks")
    if value != value.rstrip():
        return KeyFault(text=f"ends with a {_blank(value[-1])}")
    if value != value.lstrip():
        return KeyFault(text=f"begins with a {_blank(value[0])}")
    if value[0] in "\"'" or value[-1] in "\"'":
        return KeyFault(text="has quotes around its value")
    return None


def _fault_inside(value: str) -> KeyFault | None:
    if value.lower().startswith("bearer "):
        return KeyFault(text="begins with the word Bearer, which is no part of a key")
    if any(sign.isspace() for sign in value):
        return KeyFault(text=f"has a {_blank(next(filter(str.isspace, value)))} in it")
    if not (value.isascii() and value.isprintable()):
        return KeyFault(text="has a sign in it that no key has")
    return None


def _fault_of_form(name: str, value: str) -> KeyFault | None:
    """What speaks against a key that could be sent."""
    if _PLACEHOLDER.search(value):
        return KeyFault(text="looks like a placeholder", is_sure=False)
    own = _BEGINNINGS.get(name)
    if own and value.startswith(own) and own != "sk-":
        return None
    others = [key for key, begins in _BEGINNINGS.items() if key != name and value.startswith(begins)]
    if others and others[0] != "OPENAI_API_KEY":
        return KeyFault(text=f"holds a key of the form that {others[0]} has")
    if own and not value.startswith(own):
        return KeyFault(text=f"does not begin with {own}, as keys of that provider do", is_sure=False)
    return None


def _blank(sign: str) -> str:
    return "line end" if sign in "\r\n" else "blank"
