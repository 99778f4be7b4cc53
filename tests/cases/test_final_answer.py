from __future__ import annotations

import json

import pytest
from cells import call, final

from agent_magic import ScriptedModel

RECORD = "application/vnd.agent-magic.run.v1+json"


def test_fa_none_is_an_answer(case, cells):
    assert "max_steps 3" in case.given
    model = cells.model(final(None))
    shown = cells.run("%%agent bot --model @m --max-steps 3 --as answer\nIs there anything?")
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
    assert f"final_answer({json.dumps(value) if value == '' else value})" in case.given
    model = cells.model(final(value))
    answered = cells.run("%%agent bot --model @m\nWhat is it?")
    # exactly that value and type
    assert answered.value == value
    assert type(answered.value) is type(value)
    assert cells.agent().result.status == "answered"
    # one call; no second
    assert len(model.requests) == 1


@pytest.mark.kernel
def test_fa_dataframe_object(case, kernel):
    done = kernel.execute(
        "%load_ext agent_magic\nimport pandas as pd\nfrom agent_magic import ScriptedModel\n"
        + case.code
        + "def above(frame: pd.DataFrame, least: int) -> pd.DataFrame:\n"
        "    'Rows above.\\n\\nArgs:\\n    frame: rows\\n    least: of a'\n"
        "    return frame[frame.a > least]\n"
        "m = ScriptedModel([ScriptedModel.calls(('above', {'frame': '@df', 'least': 1})), ScriptedModel.final('@above_1')])"
    )
    assert done.error is None
    answered = kernel.execute("%%agent bot --model @m --tools above --as answer\nRows of @df above 1?")
    assert answered.error is None
    # result is a DataFrame with one row, the very object
    assert kernel.execute("answer is above_1 is bot.result.value, type(answer), answer.shape").result == (
        "(True, pandas.DataFrame, (1, 1))"
    )
    # no "truth value of a DataFrame is ambiguous" and no "unhashable"
    assert "ambiguous" not in str(answered.outputs)
    assert "unhashable" not in str(answered.outputs)
    # the cell's output carries its text/html table as well as text/plain
    out = next(output for output in answered.outputs if output["output_type"] == "execute_result")
    assert "<table" in out["data"]["text/html"]
    assert out["data"]["text/plain"] == "   a\n1  2"


@pytest.mark.kernel
@pytest.mark.parametrize("answer", ["'x' * 8_000_000", "'@big'"], ids=["direct", "reference"])
def test_fa_huge_value(case, execute_notebook, answer):
    assert '"x" * 8_000_000' in case.given
    notebook = execute_notebook(
        "%load_ext agent_magic\nfrom agent_magic import ScriptedModel\nbig = 'x' * 8_000_000\n"
        f"m = ScriptedModel([ScriptedModel.final({answer})])",
        "%%agent bot --model @m\nThe whole text of @big.",
        "told = bot.memory.to_messages()\n"
        "assert len(bot.result.value) == 8_000_000 == len(Out[2])\n"
        "print(sum(len(m.content or '') + sum(len(str(c.arguments)) for c in m.tool_calls) for m in told))",
    )
    # len(result) == 8_000_000: the cell asserts it, and its printing shows that it ran
    n_told = int(notebook.cells[2].outputs[0].text)
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
    # the whole value is in what memory gives at most once
    assert n_told < 8_100_000


def test_fa_two_parallel_final_answers(case, cells):
    model = cells.model(
        ScriptedModel.calls(
            ("final_answer", {"answer": "lake: 30 m"}), ("final_answer", {"answer": "pond: 2 m"})
        ),
        final("lake: 30 m, pond: 2 m"),
    )
    answered = cells.run("%%agent bot --model @m\nHow deep are lake and pond?")
    first = cells.agent().result.actions[0]
    # the message is an error step
    assert [fault.kind for fault in first.faults] == ["ToolCallError"] * 2
    # neither answer is taken
    assert [result.output for result in first.tool_results] == [None, None]
    assert not first.is_final_answer
    # in sent(2) each of the two ids has one tool reply that says once and alone
    *_, assistant, one, two = model.requests[1].messages
    ids = [asked["id"] for asked in assistant["tool_calls"]]
    assert len(set(ids)) == 2
    assert [one["tool_call_id"], two["tool_call_id"]] == ids
    assert all("must be called once and alone" in reply["content"] for reply in (one, two))
    # result is the second reply's text
    assert answered.value == "lake: 30 m, pond: 2 m"


def test_fa_beside_other_tool_calls(case, cells):
    cells.define("entered = []\n" + case.code.replace("    return", "    entered.append(port); return"))
    model = cells.model(
        ScriptedModel.calls(("tide", {"port": "Hull"}), ("final_answer", {"answer": "rising"})),
        final("falling"),
    )
    answered = cells.run("%%agent bot --model @m --tools tide\nThe tide at Hull?")
    # result
    assert answered.value == "falling"
    # tide's body was not run
    assert cells["entered"] == []
    # in sent(2) each of the two call ids has exactly one tool reply
    *_, assistant, tide, refused = model.requests[1].messages
    ids = [asked["id"] for asked in assistant["tool_calls"]]
    replies = [m["tool_call_id"] for m in model.requests[1].messages if m["role"] == "tool"]
    assert replies == ids == [tide["tool_call_id"], refused["tool_call_id"]]
    # and the one for final_answer says that it must be called alone
    assert "final_answer must be called alone" in refused["content"]


@pytest.mark.parametrize("run", ["A", "B", "C"])
def test_fa_odd_argument_shapes(case, cells, run):
    arguments = {"A": {"answer": {"x": [1]}}, "B": '"Paris"', "C": {"result": "Paris"}}[run]
    assert json.dumps(arguments) in case.given
    odd = {"tool_calls": [{"name": "final_answer", "arguments": arguments}]}
    model = cells.model(odd, final("Paris"))
    answered = cells.run("%%agent bot --model @m\nWhich town?")
    first = cells.agent().result.actions[0]
    # no crash in any
    assert answered.error is None
    assert cells.agent().result.status == "answered"
    match run:
        case "A":  # a dict
            assert answered.value == {"x": [1]}
            assert type(answered.value) is dict
            assert len(model.requests) == 1
        case "B":  # "Paris" or an error step
            assert answered.value == "Paris"
            assert bool(first.faults) == (len(model.requests) == 2)
        case _:  # the first call is an error step naming `answer`, then "Paris"
            assert [fault.kind for fault in first.faults] == ["ToolCallError"]
            assert "answer" in first.faults[0].message.replace("final_answer", "")
            assert answered.value == "Paris"
            assert len(model.requests) == 2


def test_fa_checks_apply_at_the_step_limit(case, cells):
    assert '"my guess"' in case.given
    cells.define("def hm() -> str:\n    'Say hm.'\n    return 'hm'")
    cells.define("asked = []\ndef never(answer):\n    asked.append(answer)\n    return False")
    cells.model(call("hm"), "my guess")
    ended = cells.run("%%agent bot --model @m --tools hm --check never --max-steps 1 --no-raise\nWhat is it?")
    # the check never runs for the answerless step; it does run on the fallback
    assert cells["asked"] == ["my guess"]
    # status and verified
    assert (cells.agent().result.status, cells.agent().result.verified) == ("max_steps", "no")
    # the display does not show it as an accepted answer
    assert ended.value is None
    assert "Best guess, no answer" in ended.text
    assert "Check refused: never: it returned False" in ended.text
