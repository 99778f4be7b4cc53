"""What the whole interpreter shares is as it was, in whichever order code that overlaps ends."""

from __future__ import annotations

import itertools
import sys

import pytest

from agent_magic.execution.values.interpreter import Interpreter


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_hook_is_the_one_before_all_code_when_all_have_ended(order: tuple[int, ...]) -> None:
    before = sys.unraisablehook
    began = [Interpreter("", lambda: None) for _ in range(3)]
    for place in order:
        assert began[place].put_back() == []
    assert sys.unraisablehook is before
