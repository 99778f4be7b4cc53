from __future__ import annotations

import nbformat
import pytest
from cells import call
from inline_snapshot import snapshot
from nbclient import NotebookClient

from agent_magic.core.errors import RunNotAnswered

TOOLS = """
def add(a: int, b: int) -> int:
    "Add.\\n\\nArgs:\\n    a: one\\n    b: other"
    return a + b

def positive(answer):
    return answer > 0, "it must be over 0"
"""


@pytest.fixture
def asked(cells):
    """Cells with a tool and a check."""
    cells.define(TOOLS)
    return cells


def last_line(done) -> str:
    assert isinstance(done.error, RunNotAnswered)
    return done.text.splitlines()[-1]


def test_budget_that_is_used_up_is_told(asked):
    usage = {"input_tokens": 400, "output_tokens": 100}
    asked.model({**call("add", a=1, b=2), "usage": usage})
    done = asked.run("%%agent bot --model @m --tools add --max-total-tokens 600\nDo it.")
    assert last_line(done) == snapshot(
        "RunNotAnswered: bot gave no answer, its budget was used up: The next call would pass max_total_tokens=600: 500 were used, and it needs about 521. To go on, resume (with the same budget again) or raise it. (bot.result has every step; %agent resume bot goes on)"
    )
    assert done.text.splitlines()[0] == snapshot("bot · budget used up · scripted, as given")
    assert asked.agent().result.status == "budget"


def test_check_that_refused_the_best_guess_is_told(asked):
    asked.model(call("add", a=1, b=2), "-3")
    done = asked.run(
        "%%agent bot --model @m --tools add --max-steps 1 --check positive --answer-type int\nDo it."
    )
    assert last_line(done) == snapshot(
        "RunNotAnswered: bot gave no answer, its step limit was reached, and the check positive refused its best guess (it must be over 0) (bot.result has every step; %agent resume bot goes on)"
    )
    assert (asked.agent().result.status, asked.agent().result.verified) == ("max_steps", "no")


def test_type_that_the_best_guess_has_not_is_told(asked):
    asked.model(call("add", a=1, b=2), "many")
    done = asked.run("%%agent bot --model @m --tools add --max-steps 1 --answer-type int\nDo it.")
    assert last_line(done) == snapshot(
        "RunNotAnswered: bot gave no answer, its step limit was reached: The last answer is not of the type that was asked for: 'answer' is 'many'; expected an integer. Resume the run to give the model more steps. (bot.result has every step; %agent resume bot goes on)"
    )


def test_model_that_fails_is_told(asked):
    asked.model(ValueError("odd request"))
    assert last_line(asked.run("%%agent bot --model @m\nDo it.")) == snapshot(
        "RunNotAnswered: bot gave no answer, its run failed: scripted could not be asked (ValueError). It says: odd request (bot.result has every step; %agent resume bot goes on)"
    )


def test_same_failure_four_times_is_told(asked):
    asked.model(*[call("ad", a=1, b=2)] * 5)
    assert last_line(asked.run("%%agent bot --model @m --tools add\nDo it.")) == snapshot(
        'RunNotAnswered: bot gave no answer, its run failed: The same failure came 4 times running, so the run was ended: No tool \'ad\'. Tools: add, final_answer. Call add with {"a": <integer>, "b": <integer>}. (bot.result has every step; %agent resume bot goes on)'
    )


def test_budget_is_no_error_where_the_cell_says_so(asked):
    usage = {"input_tokens": 400, "output_tokens": 100}
    asked.model({**call("add", a=1, b=2), "usage": usage})
    done = asked.run("%%agent bot --model @m --tools add --max-total-tokens 600 --no-raise --as x\nDo it.")
    assert (done.error, done.value, asked["x"]) == (None, None, None)


# -- whole notebooks ------------------------------------------------------------------------------

RECORD = "application/vnd.agent-magic.run.v1+json"
DEFINITIONS = """
%load_ext agent_magic
import os, signal, threading, time
from agent_magic import ScriptedModel
call, final = ScriptedModel.calls, ScriptedModel.final
calls = []

def add(x: int) -> int:
    "Add.\\n\\nArgs:\\n    x: n"
    calls.append(x)
    return x + 1

def stop_soon():
    "A real SIGINT to this kernel."
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    time.sleep(20)

def slow() -> int:
    "Wait."
    stop_soon()

def positive(answer):
    return answer > 0, "it must be over 0"

used = {"input_tokens": 400, "output_tokens": 100}
limit = ScriptedModel([call(("add", {"x": 1})), "a guess", final("after the limit")])
budget = ScriptedModel([{**call(("add", {"x": 2})), "usage": used}, {**final("after the budget"), "usage": used}])
check = ScriptedModel([final(-1), "-2", final(3)])
failing = ScriptedModel([call(("add", {"x": 4})), ValueError("the provider is down"), final("after the failure")])
tool = ScriptedModel([call(("slow", {})), final("after the stopped tool")])
model = ScriptedModel([call(("add", {"x": 6})), lambda request: stop_soon(), final("after the stopped model")])
"""
ENDINGS = {
    "limit": ("--tools add --max-steps 1", "max_steps", "RunNotAnswered", "'after the limit'"),
    "budget": ("--tools add --max-total-tokens 600", "budget", "RunNotAnswered", "'after the budget'"),
    "check": ("--check positive --max-steps 1", "max_steps", "RunNotAnswered", "3"),
    "failing": ("--tools add", "failed", "RunNotAnswered", "'after the failure'"),
    "tool": ("--tools slow", "interrupted", "KeyboardInterrupt", "'after the stopped tool'"),
    "model": ("--tools add", "interrupted", "KeyboardInterrupt", "'after the stopped model'"),
}
"""By the name of the model: options, status, error of the cell, and the answer once it is resumed."""
RESUMED = {"budget": "--max-total-tokens none"}


def outputs_of(cell):
    """The record of the cell's run, its error's name, and the value in `Out`."""
    shown = next(out for out in cell.outputs if out.output_type == "display_data")
    errors = [out.ename for out in cell.outputs if out.output_type == "error"]
    values = [out.data["text/plain"] for out in cell.outputs if out.output_type == "execute_result"]
    return shown.data[RECORD], errors, values


@pytest.mark.kernel
@pytest.mark.parametrize("way", ["cell", "line"])
def test_each_ending_has_its_status_in_a_notebook_and_is_resumed_to_an_answer(tmp_path, way):
    sources = [DEFINITIONS]
    for name, (options, *_) in ENDINGS.items():
        sources.append(f"%%agent {name}_bot --model @{name} {options}\nDo it.")
        if way == "cell" or name in RESUMED:
            sources.append(f"%%agent {name}_bot --resume {RESUMED.get(name, '')}\nGo on.")
        else:
            sources.append(f"%agent resume {name}_bot Go on.")
    sources.append("calls")
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(made, timeout=120, allow_errors=True, resources=folder).execute()
    first, *pairs, last = made.cells
    assert first.outputs == []
    for (name, (_, status, error, answer)), ended, resumed in zip(
        ENDINGS.items(), pairs[::2], pairs[1::2], strict=True
    ):
        record, errors, values = outputs_of(ended)
        assert (name, record["status"], errors, values) == (name, status, [error], [])
        assert record.get("verified") == ("no" if name == "check" else None)
        again, errors, values = outputs_of(resumed)
        assert (name, again["status"], errors, values) == (name, "answered", [], [answer])
        assert again["resumed_from"] == record["run_id"]
        assert again["task"] == "Go on."
    # no finished call was made again
    assert last.outputs[0].data["text/plain"] == "[1, 2, 4, 6]"
