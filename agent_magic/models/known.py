"""The model ids that LiteLLM knows, searched by a text; its table lies on this disk.

It must not ask any address, nor show a key.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agent_magic.core.values import Value
from agent_magic.models.litellm import _load
from agent_magic.models.select import DEFAULT_IDS, FURTHER_KEYS

MOST_SHOWN = 30
_MODES = frozenset({"chat", "responses"})
# Copies of a model under each region or contract, and fine-tuned ones without a name.
_COPY = re.compile(r"\*|(?:^|/)[a-z]{2}(?:-[a-z]+)+-\d/|commitment|^ft:")
_PER = 1_000_000
_SEPARATORS = re.compile(r"[\s/:._@-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model as LiteLLM knows it."""

    model_id: str
    """As it is written after `--model`."""
    tools: bool
    images: bool
    response_format: bool
    window: int | None
    """In tokens."""
    prices_usd: tuple[float, float] | None
    """For a million tokens, of input and of output."""
    retires: str | None
    """The date of its end, as YYYY-MM-DD."""
    has_key: bool
    """A key of its provider is set here."""

    def __str__(self) -> str:
        abilities = " ".join(
            word
            for word, can in (("tools", self.tools), ("vision", self.images), ("json", self.response_format))
            if can
        )
        window = f"{self.window:,}" if self.window else "?"
        prices = "$ {:g} / {:g}".format(*self.prices_usd) if self.prices_usd else "price unknown"
        retires = f"  until {self.retires}" if self.retires else ""
        mark = "yes" if self.has_key else ""
        return f"{mark:4} {self.model_id:44} {abilities:17} {window:>10}  {prices}{retires}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search gave."""

    models: list[KnownModel]
    """Those with a key first, then the shortest ids."""
    n_found: int
    nearest: list[str]
    """Words that are like the text, where nothing was found."""


def find_known(text: str, environ: Mapping[str, str], *, today: dt.date | None = None) -> Found:
    """The ids that hold all words of a text; models whose end has come are none.

    It imports LiteLLM, which takes seconds.

    Args:
        environ: Where keys are looked for; they are not read.
        today: None for the clock's.
    """
    table = cast("Mapping[str, Mapping[str, Any]]", _load().model_cost)
    day = (today or dt.datetime.now(tz=dt.UTC).date()).isoformat()
    with_key = _providers_with_key(environ)
    words = text.casefold().split()
    found: dict[str, KnownModel] = {}
    names: set[str] = set()
    for name, facts in table.items():
        if facts.get("mode") not in _MODES or _COPY.search(name):
            continue
        model_id = _to_id(name, str(facts.get("litellm_provider") or ""))
        if (facts.get("deprecation_date") or "9999") < day:
            continue
        names.update(_SEPARATORS.split(model_id.casefold()))
        if all(word in model_id.casefold() for word in words):
            found.setdefault(model_id, _to_known(model_id, facts, with_key))
    models = sorted(found.values(), key=lambda one: (not one.has_key, len(one.model_id), one.model_id))
    nearest = [] if models else _nearest(words, names)
    return Found(models=models[:MOST_SHOWN], n_found=len(models), nearest=nearest)


def _to_id(name: str, provider: str) -> str:
    """The id with its provider, of two of which LiteLLM keeps the kinds of models apart."""
    provider = next((one for one in ("bedrock", "vertex_ai") if provider.startswith(one)), provider)
    return name if name.startswith(f"{provider}/") or not provider else f"{provider}/{name}"


def _to_known(model_id: str, facts: Mapping[str, Any], with_key: set[str]) -> KnownModel:
    window: Value = facts.get("max_input_tokens") or facts.get("max_tokens")
    return KnownModel(
        model_id=model_id,
        tools=facts.get("supports_function_calling") is True,
        images=facts.get("supports_vision") is True,
        response_format=facts.get("supports_response_schema") is True,
        window=window if isinstance(window, int) else None,
        prices_usd=_to_prices(facts),
        retires=facts.get("deprecation_date"),
        has_key=model_id.partition("/")[0] in with_key,
    )


def _to_prices(facts: Mapping[str, Any]) -> tuple[float, float] | None:
    """None where LiteLLM knows none, which for a few it writes as 0."""
    taken, given = facts.get("input_cost_per_token"), facts.get("output_cost_per_token")
    if not isinstance(taken, int | float) or not isinstance(given, int | float) or not (taken or given):
        return None
    return round(taken * _PER, 4), round(given * _PER, 4)


def _providers_with_key(environ: Mapping[str, str]) -> set[str]:
    keys = {key: model_id.partition("/")[0] for key, model_id in DEFAULT_IDS.items()} | FURTHER_KEYS
    return {provider for key, provider in keys.items() if environ.get(key)}


def _nearest(words: list[str], names: set[str]) -> list[str]:
    near = (difflib.get_close_matches(word, sorted(names), n=3, cutoff=0.6) for word in words)
    return [name for names_near in near for name in names_near]
