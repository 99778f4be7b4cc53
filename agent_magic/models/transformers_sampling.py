"""How a model of Transformers chooses its tokens: options into the library's own settings.

It must not load or run a model.
"""

from __future__ import annotations

import copy
import difflib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_magic.core.errors import OptionError
from agent_magic.core.values import Value

_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "top_h")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the next token is chosen."""

    temperature: float | None = None
    """0 takes the likeliest; None as the model's own configuration has it."""
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    further: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """Of Transformers' `GenerationConfig`."""


def processors_of(model: Any, sampling: Sampling) -> list[Any]:
    """What chooses the next token beside what the model's own configuration asks for; nothing for the likeliest."""
    own = model.generation_config
    temperature = sampling.temperature
    if temperature is None:
        temperature = (own.temperature or 1.0) if own.do_sample else 0.0
    if temperature == 0:
        return []
    top_p = sampling.top_p if sampling.top_p is not None else own.top_p
    top_k = sampling.top_k if sampling.top_k is not None else own.top_k
    # Here and not at the top: seconds of import, wanted at the first request only.
    library, torch = importlib.import_module("transformers"), importlib.import_module("torch")
    processors: list[Any] = [library.TemperatureLogitsWarper(float(temperature))]
    if top_k:
        processors.append(library.TopKLogitsWarper(int(top_k)))
    if top_p is not None and top_p < 1:
        processors.append(library.TopPLogitsWarper(float(top_p)))
    generator = torch.Generator()
    if sampling.seed is None:
        generator.seed()
    else:
        generator.manual_seed(sampling.seed)
    return [*processors, _Draw(generator, torch)]


def configure(model: Any, sampling: Sampling, max_tokens: int, ends: set[int]) -> Any:
    """A configuration of one generation.

    Args:
        ends: Tokens after which nothing more is written.

    Raises:
        OptionError: A further option that the library does not know.
    """
    config = copy.deepcopy(model.generation_config)
    for name in _SAMPLING:  # done by `processors_of`
        if hasattr(config, name):
            setattr(config, name, None)
    config.do_sample = False
    config.max_length = None
    config.max_new_tokens = max_tokens
    config.return_dict_in_generate = False
    config.use_cache = True
    config.eos_token_id = sorted(ends) or None
    config.pad_token_id = min(
        ends, default=0
    )  # a single text is never filled up, but the library asks for it
    for name, value in sampling.further.items():
        if not hasattr(config, name):
            known = [known for known in vars(config) if not known.startswith("_")]
            near = difflib.get_close_matches(name, [*known, "max_tokens", "seed"], n=1, cutoff=0.6)
            hint = f" Nearest: {near[0]}." if near else ""
            raise OptionError(
                f"{name}={value!r} is no option of a Transformers model.{hint}\n"
                "Write one of temperature, top_p, top_k, max_tokens, seed, or a field of GenerationConfig."
            )
        setattr(config, name, value)
    return config


def ends_of(model: Any, tokenizer: Any) -> set[int]:
    """The tokens after which nothing more is written."""
    own = model.generation_config.eos_token_id
    listed = own if isinstance(own, list) else [own]
    return {end for end in [*listed, tokenizer.eos_token_id] if isinstance(end, int)}


class _Draw:
    """Leaves but one token to choose: drawn by a generator of its own, so that the person's is not touched."""

    def __init__(self, generator: Any, torch: Any) -> None:
        self._generator = generator
        self._torch = torch

    def __call__(self, tokens: Any, scores: Any) -> Any:
        del tokens
        shares = self._torch.softmax(scores.float(), dim=-1).cpu()
        drawn = self._torch.multinomial(shares, 1, generator=self._generator).to(scores.device)
        return self._torch.full_like(scores, -float("inf")).scatter_(1, drawn, 0.0)
