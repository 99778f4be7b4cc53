"""Answers that code gives, the object itself."""

from __future__ import annotations

import json
import re

import pytest
from cases.code_cells import RECORD, CodeCells, block, last_display

ASK = "%%agent bot --mode code --model @m"


def test_fa_with_finally(case, cells):
    cells.define(case.code)
    cells.model(*case.replies)
    # result
    assert cells.run(f"{ASK} --protect none\nAnswer.").value == "a"
    # what comes after the call does not run, the clean-up does
    assert cells["trace"] == ["cleanup"]


def test_fa_none_is_an_answer(case, cells):
    code = re.search(r"<code>.*?</code>", case.given)[0]
    assert "max_steps 3" in case.given
    model = cells.model(code)
    shown = cells.run(f"{ASK} --max-steps 3 --as answer\nIs there anything?")
    # one model call
    assert len(model.requests) == 1
    # result is None
    assert cells.agent().result.value is None
    assert cells["answer"] is None
    # status is answered, not step limit
    assert cells.agent().result.status == "answered"
    assert shown.error is None
    # the display says that the answer is None
    assert shown.text.rstrip().endswith("Answer\n    The answer is None.")


@pytest.mark.parametrize("value", [0, "", [], False], ids=repr)
def test_fa_falsy_values(case, cells, value):
    code = f"final_answer({json.dumps(value) if value == '' else value})"
    assert code in case.given
    model = cells.model(block(code))
    answered = cells.run(f"{ASK}\nWhat is it?")
    # exactly that value and type
    assert answered.value == value
    assert type(answered.value) is type(value)
    assert cells.agent().result.status == "answered"
    # one call; no second
    assert len(model.requests) == 1


@pytest.mark.kernel
def test_fa_dataframe_object(case, kernel):
    cells = CodeCells(kernel)
    cells.define("import pandas as pd\n" + case.code)
    cells.script(case.replies)
    answered = cells.ask("--mode code --model @m --as answer", "Rows of @df above 1?")
    assert answered.error is None
    # result is a DataFrame with one row
    assert cells.value("(answer is bot.result.value, type(answer), answer.shape)") == (
        "(True, <class 'pandas.DataFrame'>, (1, 1))"
    )
    # no "truth value of a DataFrame is ambiguous" and no "unhashable"
    assert "ambiguous" not in str(answered.outputs)
    assert "unhashable" not in str(answered.outputs)
    # the cell's output carries its text/html table as well as text/plain
    out = next(output for output in answered.outputs if output["output_type"] == "execute_result")
    assert "<table" in out["data"]["text/html"]
    assert out["data"]["text/plain"] == "   a\n1  2"


@pytest.mark.kernel
def test_fa_huge_value(case, execute_notebook):
    (reply,) = case.replies
    notebook = execute_notebook(
        f"%load_ext agent_magic\nfrom agent_magic import ScriptedModel\nm = ScriptedModel([{reply!r}])",
        f"{ASK}\nThe whole text.",
        "import json\nassert len(bot.result.value) == 8_000_000 == len(Out[2])\n"
        "print(len(json.dumps(bot.memory.to_dict())))",
    )
    # len(result) == 8_000_000: the cell asserts it; the whole value is in memory's JSON at most once
    assert int(notebook.cells[2].outputs[0].text) < 8_100_000
    # the cell's stored outputs, the run's four forms and Out together, are under 1 MB
    outputs = notebook.cells[1].outputs
    assert [output.output_type for output in outputs] == ["display_data", "execute_result"]
    assert len(outputs[0].data) == 4
    assert len(json.dumps(outputs)) < 1_000_000
    # and say that the text was shortened
    assert "characters cut" in outputs[1].data["text/plain"]
    assert "characters cut" in outputs[0].data["text/plain"]
    assert "characters cut" in outputs[0].data["text/html"]
    # the record says so too
    assert "characters cut" in outputs[0].data[RECORD]["answer"]["text"]


def test_fa_mentioned_but_not_called(case, cells):
    model = cells.model(*case.replies)
    # result == 4 after two calls
    assert cells.run(f"{ASK}\nAnswer.").value == 4
    assert len(model.requests) == 2


def test_fa_called_twice_in_one_block(case, cells):
    cells.define(case.code)
    cells.model(*case.replies)
    # the first call ends the step
    assert cells.run(f"{ASK} --protect none\nAnswer.").value == "draft"
    assert cells["out"] == []


@pytest.mark.kernel
def test_fa_checks_apply_at_the_step_limit(case, kernel):
    code, guess = case.replies
    cells = CodeCells(kernel)
    cells.define("asked = []\ndef never(answer):\n    asked.append(answer)\n    return False")
    cells.script([code, guess.strip('"')])
    ended = cells.ask("--mode code --model @m --check never --max-steps 1 --no-raise")
    # the check never runs for the answerless step; it does run on the fallback
    assert cells.value("asked") == "['my guess']"
    # status and verified
    assert cells.value("(bot.result.status, bot.result.verified)") == "('max_steps', 'no')"
    # the display does not show it as an accepted answer
    shown = last_display(ended)
    assert ended.result is None
    assert "Best guess, no answer" in shown["text/plain"]
    assert "Check refused: never: it returned False" in shown["text/plain"]
    # nor is code in the fallback's text run
    cells.script([code, block("asked.append('ran')\nfinal_answer('taken')")])
    cells.ask("--new --mode code --model @m --protect none --max-steps 1 --no-raise")
    assert cells.value("(bot.result.status, asked)") == "('max_steps', ['my guess'])"
