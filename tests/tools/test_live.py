"""Live values in the plain form that a schema speaks of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from agent_magic.tools.hints import build_hint_schema
from agent_magic.tools.live import to_plain
from agent_magic.tools.places import Place


def plain(hint: Any, value: Any) -> Any:
    schema = build_hint_schema(hint)
    return to_plain(value, Place(schema.schema, schema.definitions))


@pytest.mark.parametrize(
    ("hint", "value", "form"),
    [
        (int, np.int8(3), "3"),
        (float, np.int8(3), "3.0"),
        (float, np.float32(0.5), "0.5"),
        (int, np.float64(2.5), "np.float64(2.5)"),
        (bool, np.False_, "False"),
        (int, np.True_, "True"),
        (list[int], (np.int8(1), 2), "[1, 2]"),
        (dict[str, int], {"a": np.int8(1)}, "{'a': 1}"),
        (list[list[int]], [(1,)], "[[1]]"),
    ],
)
def test_plain_form_of_a_value(hint: Any, value: Any, form: str) -> None:
    assert repr(plain(hint, value)) == form


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (list[int], [1, 2]),
        (dict[str, int], {"a": 1}),
        (list[Any], [np.int8(1)]),
        (Any, np.True_),
        (str, (1, 2)),
        (list[int], iter([1])),
        (list[int], pd.Series([1])),
        (int, "3"),
    ],
)
def test_plain_form_of_what_has_no_other_is_the_value_itself(hint: Any, value: Any) -> None:
    assert plain(hint, value) is value
