"""Replies in which code is to be found, and tools that it calls."""

from __future__ import annotations

import ast
import re

import pytest
from cases.code_cells import CodeCells, block
from cells import final

ASK = "%%agent bot --mode code --model @m"


def sent(model, number):
    """The text of the last message of a request, counted from 1."""
    return model.requests[number - 1].messages[-1]["content"]


def first_action(cells):
    return cells.agent().result.actions[0]


def test_code_close_tag_inside_a_string(case, cells):
    cells.model(*case.replies)
    answered = cells.run(f"{ASK}\nWrite the page.")
    # result
    assert answered.value == "<p>use <code>x</code> here</p>"
    # no unterminated-string error step
    assert [step.faults for step in cells.agent().result.actions] == [()]


def test_code_cut_off_by_length(case, cells):
    cut, answer = case.replies
    assert '(finish_reason "length")' in case.given
    cells.define(case.code)
    # as a list of the test's own, it is open to code
    model = cells.model({"content": cut, "finish_reason": "length"}, answer)
    answered = cells.run(f"{ASK} --protect none\nTell a story.")
    step = first_action(cells)
    # step 1 is an error step that says that the code was incomplete or cut off
    assert [fault.kind for fault in step.faults] == ["ParsingError"]
    assert re.search(r"cut off|incomplete", step.faults[0].message)
    assert step.faults[0].message in sent(model, 2)
    # nothing of it ran
    assert cells["log"] == []
    assert answered.value == 0


def test_code_prose_saying_final_answer(case, cells):
    prose, answer = case.replies
    model = cells.model(ast.literal_eval(prose), answer)
    answered = cells.run(f"{ASK} --max-steps 3\nCheck it.")
    # step 1 is an error step
    assert [fault.kind for fault in first_action(cells).faults] == ["ParsingError"]
    # sent(2) ends with a message that shows the expected form with an example block
    assert re.search(r"<code>\n.*final_answer\(.*\)\n</code>", sent(model, 2), re.DOTALL)
    # result
    assert answered.value == 12
    # the run used 2 of 3 steps
    assert len(cells.agent().result.actions) == 2
    assert cells.agent().result.status == "answered"


def test_code_bare_python_versus_bare_words(case, cells):
    bare = ast.literal_eval(re.search(r'run A script: (".*?")', case.given)[1])
    word = ast.literal_eval(re.search(r'run B script: 1: (".*?")', case.given)[1])
    # A gives 21 after one model call
    model = cells.model(bare)
    assert cells.run(f"{ASK}\nAdd.").value == 21
    assert len(model.requests) == 1
    # B's first reply is an error step about the format, and no NameError
    cells.model(word, case.replies[-1])
    assert cells.run("%%agent other --mode code --model @m\nDo it.").value == "b"
    step = cells.agent("other").result.actions[0]
    assert [fault.kind for fault in step.faults] == ["ParsingError"]
    assert "NameError" not in step.faults[0].message
    assert "<code>" in step.faults[0].message
    # a lone name, number or literal is no code
    for lone in ("17", "'text'", "[1, 2]", "x.y"):
        cells.model(lone, block("final_answer('c')"))
        assert cells.run("%%agent other --new --mode code --model @m\nDo it.").value == "c"
        assert cells.agent("other").result.actions[0].faults[0].kind == "ParsingError"


def test_code_lone_closing_think_tag(case, cells):
    cells.model(case.script)
    # code agent
    assert cells.run(f"{ASK}\nWhen?").value == "late"
    assert cells.agent().result.actions[0].code_action == 'final_answer("late")'
    # in the tool agent's step the text shown as the reply is "Hello", with "musing" only as reasoning
    cells.model("musing</think>Hello", final("x"))
    shown = cells.run("%%agent caller --model @m\nGreet.")
    step = cells.agent("caller").result.actions[0]
    assert (step.model_output, step.reasoning) == ("Hello", "musing")
    assert "</think>" not in shown.text


def test_code_windows_newlines(case, cells):
    cells.model(ast.literal_eval(case.script))
    # result
    assert cells.run(f"{ASK}\nGo.").value == 1
    # the code stored in the step has no \r
    assert first_action(cells).code_action == "if True:\n    y = 1\nfinal_answer(y)"


def test_code_indented_block(case, cells):
    assert "\n   ```python\n   k =" in case.script
    cells.model(case.script)
    answered = cells.run(f"{ASK}\nCount.")
    # result, and no IndentationError
    assert answered.value == [0, 1, 2]
    assert first_action(cells).faults == ()


@pytest.mark.kernel
def test_code_notebook_syntax_in_reply(case, kernel):
    cells = CodeCells(kernel)
    cells.script(case.replies)
    done = cells.ask("--mode code --model @m --imports asyncio")
    first, second = cells.runs()[0].steps
    # step 1 is an error step that says that magics and shell lines are not Python here and what to write instead
    assert first.kind in ("CodeRefused", "ParsingError")
    assert "%matplotlib inline" in first.error
    assert re.search(r"[Mm]agics?", first.error)
    assert re.search(r"not Python|plain Python|Python", first.error)
    assert len(first.error.splitlines()) >= 2  # the second says what to do
    # no shell command runs
    assert "hi" not in [line.strip() for line in first.told.splitlines()]
    assert "hi\n" not in done.stdout
    # step 2 gives 9: top-level await works
    assert second.faults == []
    assert done.result == "9"
    # no such text
    assert "asyncio.run() cannot be called" not in str(done.outputs)


def test_code_last_expression_is_observed(case, cells):
    model = cells.model(*case.replies)
    assert cells.run(f"{ASK}\nSort.").value == "seen"
    # sent(2) holds the text, though nothing was printed
    assert "{'a': 1, 'b': 2}" in sent(model, 2)


def test_state_code_assigns_over_a_tool(case, cells):
    cells.define(case.code)
    search = cells["search"]
    cells.model(*case.replies)
    answered = cells.run(f"{ASK} --tools search\nSearch.")
    # step 1 is an error step naming search
    (fault,) = first_action(cells).faults
    assert fault.kind == "CodeRefused"
    assert re.search(r"\bsearch\b", fault.message)
    # ns["search"] is still the function
    assert cells["search"] is search
    # result
    assert answered.value == "hit b"
