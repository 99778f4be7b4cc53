"""Long observations of several kinds, made from a seed.

It must not know what is done with them.
"""

from __future__ import annotations

import json
import random

N_CHARS = 20_000
_WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "penguin",
    "island",
    "length",
    "depth",
    "mass",
    "gram",
    "sample",
    "mean",
    "median",
    "colony",
    "Gentoo",
    "Adelie",
    "measured",
    "between",
    "season",
    "nest",
    "study",
    "row",
    "column",
    "missing",
    "value",
    "average",
    "heavier",
    "than",
    "observed",
]
_CJK = "的一是不了人我在有他这为之大来以个中上们統計平均値データ観測島企鵝種類体重嘴"


def long_text(seed: int, n_chars: int = N_CHARS) -> str:
    """`n_chars` characters of prose, figures, JSON, codes or Chinese and Japanese signs."""
    rng = random.Random(seed)
    make = (_prose, _figures, _json, _codes, _cjk)[seed % 5]
    text = ""
    while len(text) < n_chars:
        text += make(rng)
    return text[:n_chars]


def _prose(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randint(6, 16))).capitalize() + ". "


def _figures(rng: random.Random) -> str:
    return "  ".join(f"{rng.uniform(-1e4, 1e4):.4f}" for _ in range(6)) + "\n"


def _json(rng: random.Random) -> str:
    row = {"id": rng.randrange(10**6), "species": rng.choice(_WORDS), "mass_g": rng.uniform(2e3, 6e3)}
    return json.dumps(row) + ",\n"


def _codes(rng: random.Random) -> str:
    return rng.randbytes(12).hex() + "-" + rng.choice(_WORDS).upper() + " "


def _cjk(rng: random.Random) -> str:
    return "".join(rng.choices(_CJK, k=rng.randint(8, 30))) + "。"
