"""Managers and managed agents that write code, on the namespace of one notebook."""

from __future__ import annotations

import ast
import re

from PIL import Image


def scripts_in(text):
    """The blocks of code of a case, in order."""
    return [f"<code>{code}</code>" for code in re.findall(r"<code>(.*?)</code>", text, re.DOTALL)]


def test_managed_answer_does_not_end_the_manager(case, cells):
    helper, manager = scripts_in(case.given)
    cells.model(helper, name="h")
    cells.model(manager, name="m")
    cells.define('%%agent helper --mode code --model @h --define --description "Helps."')
    before = set(cells.shell.user_ns)
    done = cells.run("%%agent boss --mode code --model @m --tools helper\nDo it.")
    assert done.error is None
    # in code the call gives the sub-agent's answer, so str(v) ends in "5"
    assert cells["v"] == 5
    assert str(cells["v"]).endswith("5")
    # the line after the sub-call runs
    (step,) = cells.agent("boss").result.actions
    assert "got 5" in step.observations
    # result
    assert done.value == 6
    # ns has no leftover final_answer
    assert {name for name in set(cells.shell.user_ns) - before if not name.startswith("_")} == {"boss", "v"}
    assert "final_answer" not in cells
    # one run each: the answer of the one did not end the other
    assert [call.run.status for call in step.tool_results[0].calls] == ["answered"]
    assert cells.agent("boss").result.status == "answered"


def test_managed_additional_args_by_name(case, cells):
    given = ast.literal_eval(re.search(r"additional_args=(\{.*?\})", case.given)[1])
    assert given == {"table": "df", "picture": "pic"}
    (script,) = scripts_in(case.given)
    cells.define("import pandas as pd\n" + case.given.splitlines()[0].partition("; ")[0])
    cells.shell.user_ns["pic"] = Image.new("RGB", (4, 3))
    analyst = cells.model(script, name="a")
    cells.model(
        {
            "tool_calls": [
                {"name": "analyst", "arguments": {"task": "mean of the table", "additional_args": given}}
            ]
        },
        {"tool_calls": [{"name": "final_answer", "arguments": {"answer": "2"}}]},
        name="m",
    )
    cells.define('%%agent analyst --mode code --model @a --define --description "Looks."')
    before = set(cells.shell.user_ns)
    done = cells.run("%%agent boss --model @m --tools analyst\nThe mean of @df, and @pic.")
    assert (done.error, done.value) == (None, "2")
    # the sub-agent sees table as the same DataFrame object and picture as the image
    (result,) = cells.agent("boss").result.actions[0].tool_results
    assert result.run.value == (True, (4, 3))
    # its first request names both extra arguments
    asked = analyst.requests[0].messages[-1]["content"]
    text = asked if isinstance(asked, str) else asked[0]["text"]
    assert "@table: DataFrame, 3 rows" in text
    assert "@picture: Image" in text
    # the observation shows True (or true) and the size
    assert "true" in result.observation.lower()
    assert "4, 3" in result.observation
    # afterwards ns has no new names table or picture
    assert {"table", "picture"}.isdisjoint(cells.shell.user_ns)
    assert {n for n in set(cells.shell.user_ns) - before if not n.startswith("_")} <= {"boss", "analyst_1"}
