"""Which library a callable was written in."""

from __future__ import annotations

import functools
import math
import operator
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel

from agent_magic.tools.origin import library_of


class Box(BaseModel):
    width: int = 1

    def area(self) -> int:
        return self.width**2


def own() -> None: ...


def make_in(**names: Any) -> Any:
    exec("def ghost(): ...", names)
    return names["ghost"]


@pytest.mark.parametrize(
    ("function", "library"),
    [
        (np.mean, "numpy"),
        (np.linalg.norm, "numpy"),
        (np.sqrt, "numpy"),
        (pd.DataFrame, "pandas"),
        (pd.DataFrame().head, "pandas"),
        (functools.partial(np.mean, axis=0), "numpy"),
        (math.gcd, "math"),
        (operator.add, "operator"),
        (print, "Python"),
        ("-".join, "Python"),
        (str.upper, "Python"),
        (Box.model_dump, "pydantic"),
    ],
)
def test_library_of_what_was_installed(function, library):
    assert library_of(function) == library


@pytest.mark.parametrize(
    "function",
    [
        own,
        functools.partial(own),
        functools.lru_cache(own),
        Box,
        Box().area,
        Box(),
        make_in(),
        make_in(__name__="__main__"),
        make_in(__name__="gone"),
    ],
)
def test_library_of_the_persons_own_is_empty(function):
    assert library_of(function) == ""


def test_library_of_the_notebook_is_empty_when_a_library_started_python(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__file__", np.__file__, raising=False)
    assert library_of(make_in(__name__="__main__")) == ""
