from __future__ import annotations

import pytest
from cells import final
from inline_snapshot import snapshot

CHECKS = """
seen = []

def positive(answer):
    seen.append(answer)
    return answer > 0, "it must be over 0"

def knows(answer, agent, memory):
    seen.append((answer, agent.name, len(memory.steps)))
    return True

def broken(answer):
    raise RuntimeError("no connection")

class Even:
    def __call__(self, answer):
        return answer % 2 == 0

even = Even()
"""


@pytest.fixture
def asked(cells):
    """Cells with checks."""
    cells.define(CHECKS)
    return cells


def test_check_that_refuses_tells_the_model_why(asked):
    model = asked.model(final(-1), final(1))
    done = asked.run("%%agent bot --model @m --check positive\nDo it.")
    assert (done.value, asked["seen"]) == (1, [-1, 1])
    assert model.requests[1].messages[-1]["content"] == snapshot(
        "The answer was not accepted: the check positive refused it (it must be over 0). Mend the answer and give it again."
    )
    assert asked.agent().result.verified == "yes"
    assert "✗ FinalAnswerRejected" in done.text


def test_check_may_ask_for_the_agent_and_its_memory(asked):
    asked.model(final(1))
    asked.run("%%agent bot --model @m --check knows\nDo it.")
    assert asked["seen"] == [(1, "bot", 1)]


def test_check_may_be_any_callable_of_the_notebook(asked):
    asked.model(final(1), final(2))
    assert asked.run("%%agent bot --model @m --check positive even\nDo it.").value == 2


def test_check_that_raises_refuses(asked):
    asked.model(final(1), "1")
    done = asked.run("%%agent bot --model @m --check broken --max-steps 1\nDo it.")
    assert done.text.splitlines()[-1] == snapshot(
        "RunNotAnswered: bot gave no answer, its step limit was reached, and the check broken refused its best guess (RuntimeError: no connection) (bot.result has every step; %agent resume bot goes on)"
    )
    assert asked.agent().result.verified == "no"


def test_check_that_is_defined_again_is_the_new_one(asked):
    asked.model(final(-1), final(-2))
    asked.define("def positive(answer): return True")
    asked.run("%%agent bot --model @m --check positive\nDo it.")
    asked.define("def positive(answer): return answer == -2")
    asked.model(final(-1), final(-2), name="m2")
    assert asked.run("%%agent bot --model @m2\nDo it.").value == -2


def test_check_that_is_defined_again_during_a_run_is_the_new_one(asked):
    def loosen(request):
        asked.shell.user_ns["positive"] = lambda answer: True
        return final(-2)

    asked.model(final(-1), loosen)
    assert asked.run("%%agent bot --model @m --check positive\nDo it.").value == -2


def test_check_that_is_lost_is_told_before_the_run(asked):
    model = asked.model(final(1), final(2), final(3))
    asked.run("%%agent bot --model @m --check positive\nDo it.")
    asked.define("del positive")
    assert str(asked.run("%%agent bot\nDo it.").error) == snapshot(
        "%%agent: the check `positive` of this agent is gone or no longer callable. Run the cell that defines it, or write --check none."
    )
    assert len(model.requests) == 1
    assert asked.run("%%agent bot --check none\nDo it.").value == 2


def test_check_that_is_lost_during_a_run_refuses(asked):
    def lose(request):
        del asked.shell.user_ns["positive"]
        return final(1)

    asked.model(lose, "1")
    done = asked.run("%%agent bot --model @m --check positive --max-steps 1\nDo it.")
    assert done.text.splitlines()[-1] == snapshot(
        "RunNotAnswered: bot gave no answer, its step limit was reached, and the check positive refused its best guess (LookupError: the function positive is gone from the notebook) (bot.result has every step; %agent resume bot goes on)"
    )
