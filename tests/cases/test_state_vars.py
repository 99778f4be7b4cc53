from __future__ import annotations

import pandas as pd
from cells import call, final


def test_state_string_that_equals_a_variable_name(case, cells):
    cells.define(case.code)
    cells.model(call("log", message="total"), final("x"))
    assert cells.run("%%agent bot --model @m --tools log\nSay @total.").value == "x"
    # got == ["total"]
    assert cells["got"] == ["total"]
    # an int is never delivered to a parameter annotated str: not by the name with its @ either
    cells.model(call("log", message="@total"), final("y"))
    assert cells.run("%%agent bot --model @m\nAgain.").value == "y"
    assert cells["got"] == ["total", "@total"]
    assert [type(message) for message in cells["got"]] == [str, str]


def test_state_unhashable_arguments(case, cells):
    cells.define(case.code)
    cells.define("ids, opts = {3: 4}, ['x']")
    model = cells.model(call("pick", ids=[1, 2], opts={"a": [1]}, flag=True), final("x"))
    assert cells.run("%%agent bot --model @m --tools pick\nPick from @ids and @opts.").value == "x"
    # the observation
    assert model.requests[1].messages[-1]["content"] == "[1, 2]{'a': [1]}True"
    # no "unhashable type" error
    assert "unhashable" not in str(model.requests[1].messages)
    assert [step.faults for step in cells.agent().result.actions] == [(), ()]


def test_state_answer_is_a_variable_name(case, cells):
    cells.define("import pandas as pd\n" + case.code)
    top10 = cells["top10"]
    assert isinstance(top10, pd.DataFrame)
    # A gives the DataFrame itself
    cells.model(final("top10"))
    answered = cells.run("%%agent a --model @m\nThe rows of @top10?")
    assert answered.value is top10
    assert cells.agent("a").result.value is top10
    # and the step shows that it was read as @top10
    assert "read as @top10" in answered.text
    # B gives the literal text; braces in an answer are never formatted
    cells.model(final("the rows are {top10}"))
    assert cells.run("%%agent b --model @m\nThe rows of @top10?").value == "the rows are {top10}"
    # A without the mention gives the text; never the frame
    cells.model(final("top10"))
    closed = cells.run("%%agent c --model @m\nThe rows?")
    assert closed.value == "top10"
    assert "read as" not in closed.text
