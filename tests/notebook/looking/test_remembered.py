from __future__ import annotations

import re

import pytest
from cells import call, final
from inline_snapshot import snapshot

NAMES = """
def add(a: int, b: int) -> int:
    "Add.\\n\\nArgs:\\n    a: one\\n    b: other"
    return a + b
"""


@pytest.fixture
def asked(cells):
    """Cells in which `bot` planned and called a tool twice."""
    cells.define(NAMES)
    cells.model("1. Add.", call("add", a=1, b=2), call("add", a=3, b=4), final(10))
    cells.run("%%agent bot --model @m --tools add --plan 5\nAdd 1, 2, 3 and 4.")
    return cells


def shown(cells):
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "<time>", cells.run("%agent steps bot").text)


def test_steps_shows_what_was_laid_upon_each(asked):
    bot = asked.agent()
    task, plan, first, second, *_ = bot.memory.steps
    bot.memory.edit(task, task="Add them all.")
    bot.memory.set_view(plan, "hidden")
    bot.memory.set_view(first, "summary")
    bot.memory.set_pinned(first)
    bot.memory.edit(second, observations="seven", by="reviewer")
    bot.memory.shorten({3: "short_observations"}, {})
    assert shown(asked) == snapshot("""\
bot · answered · scripted
3 steps of 20 · tokens unknown · cost unknown · 0 s

Task  (edited by person, <time>)
    Add them all.

    Plan: 1 step  [0 s]  (hidden from the model)
    plan
        1. Add.
 1  add(a=1, b=2) → 3  [0 s]  (summary view, pinned)
    add
        a = 1
        b = 2
        observation
            3
 2  add(a=3, b=4) → seven  [0 s]  (sent shortened: observation, edited by reviewer, <time>)
    add
        a = 3
        b = 4
        observation
            seven
 3  final_answer(answer=10)  [0 s]
    final_answer
        answer = 10

Answer (int)
    10
""")


def test_steps_leaves_out_what_was_dropped_and_says_so(asked):
    bot = asked.agent()
    bot.memory.drop(bot.memory.steps[2])
    text = shown(asked)
    assert "a = 1" not in text
    assert text.splitlines()[-1] == snapshot(
        "1 step dropped; memory.undo() of the agent takes the last change back."
    )


def test_steps_after_undo_are_as_they_were_made(asked):
    before = shown(asked)
    bot = asked.agent()
    bot.memory.edit(bot.memory.steps[2], observations="three")
    assert "edited by person" in shown(asked)
    bot.memory.undo()
    assert shown(asked) == before


def test_steps_leaves_out_a_run_that_was_done_again(asked):
    asked.agent().model = asked.model(final(11))
    asked.run("%agent retry bot")
    text = shown(asked)
    assert text.count("bot · answered") == 1
    assert text.splitlines()[-1] == snapshot(
        "5 steps dropped; memory.undo() of the agent takes the last change back."
    )
