from __future__ import annotations

import ast
import json
import re

import pytest
from cells import final

RECORD = "application/vnd.agent-magic.run.v1+json"


def test_cell_interpolated_value_is_not_expanded_again(case, cells):
    code, cell = case.given[: case.given.index("%%agent")], case.given[case.given.index("%%agent") :]
    cells.define(code)
    model = cells.model(final("x"))
    cells.run(cell.replace("bot", "bot --model @m", 1))
    # the body is not interpolated
    assert cells.agent().result.task == "Please: {q}"
    assert [m["content"] for m in model.requests[0].messages if m["role"] == "user"] == ["Please: {q}"]
    # the value of q appears in no request
    assert cells["q"] not in str(model.requests[0].messages)
    # nor does that of secret, which is one letter: with another one the request is the same
    cells.define("secret = 'another'; q = 'changed'")
    again = cells.model(final("x"))
    cells.run(cell.replace("bot", "bot --new --model @m", 1))
    assert again.requests[0].messages == model.requests[0].messages


def test_cell_blank_body(case, cells):
    sources = [ast.literal_eval(text) for text in re.findall(r'"[^"]*"', case.given)]
    assert len(sources) == 3
    model = cells.model(final("first"))
    cells.run("%%agent bot --model @m\nBegin.")
    before, n_before = cells.agent().memory.to_messages(), len(cells.agent().memory)
    for source in sources:
        done = cells.run(source)
        # a one-line message that the task is empty
        assert type(done.error).__name__ == "UsageError"
        assert "empty" in str(done.error)
        assert len(done.stderr.strip().splitlines()) == 1
        # no model call
        assert len(model.requests) == 1
        # no step recorded; existing memory untouched
        assert len(cells.agent().memory) == n_before
        assert cells.agent().memory.to_messages() == before


@pytest.mark.kernel
def test_cell_windows_newlines(case, kernel):
    source = ast.literal_eval(re.search(r'"%%agent.*"', case.given)[0])
    ready = kernel.execute(
        "%load_ext agent_magic\nfrom agent_magic import ScriptedModel, ToolCallingAgent\n"
        "bot = ToolCallingAgent(model=ScriptedModel([ScriptedModel.final('x'), ScriptedModel.final('y')]), name='bot')"
    )
    assert ready.error is None
    done = kernel.execute(source)
    assert done.error is None
    # the agent is found under "bot"
    assert kernel.execute("len(bot.runs), [n for n in globals() if 'bot' in n]").result == "(1, ['bot'])"
    # the task is the body byte for byte
    assert kernel.execute("bot.result.task").result == repr("line one\r\nline two")
    # the display shows two lines and no visible \r
    assert "Task\n    line one\n    line two\n" in done.displays[0]["text/plain"]
    assert all("\r" not in form for name, form in done.displays[0].items() if name != RECORD)
    # no \r in the options
    assert kernel.execute(source.replace("bot", "bot --as answer", 1)).error is None
    assert kernel.execute("[n for n in globals() if 'answer' in n]").result == "['answer']"


@pytest.mark.kernel
def test_cell_cjk_rtl_emoji(case, execute_notebook):
    text = ast.literal_eval(re.search(r'".*"', case.given)[0])
    assert text.startswith("请")
    notebook = execute_notebook(
        f"%load_ext agent_magic\nfrom agent_magic import ScriptedModel\ntext = {text!a}\n"
        "m = ScriptedModel([ScriptedModel.final(text), ScriptedModel.final(text * 3_000)])",
        f"%%agent bot --model @m\n{text}",
        "(bot.result.task == text, bot.result.value == text)",
        f"%%agent bot\n{text * 3_000}",
        "(bot.result.task == text * 3_000, bot.result.value == text * 3_000)",
    )
    run, out = notebook.cells[1].outputs
    # the task, the result and the stored output hold the same code points
    assert notebook.cells[2].outputs[0].data["text/plain"] == "(True, True)"
    record = run.data[RECORD]
    assert (record["task"], record["answer"]["text"]) == (text, text)
    assert run.data["text/plain"].count(text) == 3  # the task, the argument, the answer
    assert out.data["text/plain"] == repr(text)
    # the characters themselves, not escapes
    assert "\\u" not in run.data["text/plain"]
    # when long text of this kind is shortened, nothing raises
    assert notebook.cells[4].outputs[0].data["text/plain"] == "(True, True)"
    long = notebook.cells[3].outputs[0].data
    assert "characters cut" in long["text/plain"]
    # and no lone surrogate is left
    for form in long.values():
        json.dumps(form, ensure_ascii=False).encode("utf-8")
