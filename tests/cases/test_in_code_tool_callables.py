"""What people hand over as a tool, called by code."""

from __future__ import annotations

import inspect

import pytest
from cases.code_cells import block


def test_callable_defined_where_source_is_missing(case, cells):
    cells.define(case.code.partition("(inspect")[0])
    with pytest.raises(OSError, match=r"."):
        inspect.getsource(cells["ghost"])
    model = cells.model(block("print(ghost(x=1))"), block("final_answer(2)"))
    done = cells.run("%%agent bot --mode code --model @m --tools ghost\nWhat is it?")
    # the run works
    assert (done.error, done.value) == (None, 2)
    assert cells.agent().result.actions[0].tool_results[0].observation == "2"
    assert "def ghost(x: int) -> int:" in model.requests[0].messages[0]["content"]
    # no OSError reaches the user
    for shown in (done.text, done.stderr, cells.run("%agent tools bot").text):
        assert "source code not available" not in shown
        assert "could not get source" not in shown
        assert "OSError" not in shown
