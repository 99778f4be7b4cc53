from __future__ import annotations

import pytest
from cells import call, final
from inline_snapshot import snapshot

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
    assert last_line(done) == snapshot()
    assert done.text.splitlines()[0] == snapshot()
    assert asked.agent().result.status == "budget"


def test_check_that_refused_the_best_guess_is_told(asked):
    asked.model(call("add", a=1, b=2), "-3")
    done = asked.run(
        "%%agent bot --model @m --tools add --max-steps 1 --check positive --answer-type int\nDo it."
    )
    assert last_line(done) == snapshot()
    assert (asked.agent().result.status, asked.agent().result.verified) == ("max_steps", "no")


def test_type_that_the_best_guess_has_not_is_told(asked):
    asked.model(call("add", a=1, b=2), "many")
    done = asked.run("%%agent bot --model @m --tools add --max-steps 1 --answer-type int\nDo it.")
    assert last_line(done) == snapshot()


def test_model_that_fails_is_told(asked):
    asked.model(ValueError("odd request"))
    assert last_line(asked.run("%%agent bot --model @m\nDo it.")) == snapshot()


def test_same_failure_four_times_is_told(asked):
    asked.model(*[call("ad", a=1, b=2)] * 5)
    assert last_line(asked.run("%%agent bot --model @m --tools add\nDo it.")) == snapshot()


def test_budget_is_no_error_where_the_cell_says_so(asked):
    usage = {"input_tokens": 400, "output_tokens": 100}
    asked.model({**call("add", a=1, b=2), "usage": usage})
    done = asked.run("%%agent bot --model @m --tools add --max-total-tokens 600 --no-raise --as x\nDo it.")
    assert (done.error, done.value, asked["x"]) == (None, None, None)
