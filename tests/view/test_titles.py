from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from view.samples import FIRST_PLAN, action, call, plan, planned_run, run, small_run

from agent_magic.core.steps import Fault, PlanDiff
from agent_magic.record.plan import to_plan_record
from agent_magic.record.run import to_record
from agent_magic.view import titles


def test_titles_of_a_planned_run() -> None:
    steps = to_record(planned_run())["steps"]
    assert [[str(title) for title in titles.titles(step)] for step in steps] == snapshot(
        [
            ["Plan: 3 steps"],
            ["by_island(table=@penguins) → three islands"],
            ["Plan: 3 steps · 1 added, 1 dropped · edited"],
            ['count(of="sex") → 165, 168'],
            ["✗ Plan: GenerationError: openai/gpt-5: 503, overloaded."],
        ]
    )


@pytest.mark.parametrize(
    ("step", "title"),
    [
        (plan(1, FIRST_PLAN), "Plan: 3 steps"),
        (plan(1, "I look.\nThen I answer."), "Plan: I look."),
        (plan(3, FIRST_PLAN, is_first=False, diff=PlanDiff(kept=("1. a",))), "Plan: 3 steps · as before"),
        (
            plan(3, "- a\n- b\n  - of b", is_first=False, diff=PlanDiff(added=("- a", "- b"))),
            "Plan: 3 steps · 2 added",
        ),
        (plan(1, FIRST_PLAN, model_output="1. Other."), "Plan: 3 steps · edited"),
        (
            plan(1, model_output="1. Lo", fault=Fault(kind="Interrupted", message="Stopped.")),
            "✗ Plan: Interrupted: Stopped.",
        ),
    ],
)
def test_plan_title(step: object, title: str) -> None:
    assert str(titles.plan_title(to_plan_record(step))) == title


def test_titles_of_a_small_run() -> None:
    steps = to_record(small_run())["steps"]
    assert [[str(title) for title in titles.step_titles(step)] for step in steps] == snapshot(
        [
            ['mean_mass(table=@penguins, island="Biscoe", weights={"male": 0.5, "female": 0.5}) → 4716.0'],
            [
                "mean_mass(table=@penguins, island=\"Dreem\") ✗ ToolError: No island 'Dreem'. Islands: Biscoe, Dream, Torgersen.",
                "by_island(table=@penguins) → by_island_1: Table, 3 rows × 2 columns",
            ],
            ["✗ ParsingError: No tool call could be read in the reply. Call final_answer."],
            ['final_answer(answer="Biscoe.")'],
        ]
    )


def test_title_counts_the_calls_that_it_does_not_name() -> None:
    bad = call("look", {"n": 9}, fault=Fault(kind="ToolError", message="No."))
    step = to_record(run(action(1, *(call("look", {"n": n}, observation="seen") for n in range(4)), bad)))[
        "steps"
    ][0]
    assert str(titles.step_titles(step)[-1]) == "2 more, 1 failed"


def test_title_is_what_was_said_when_nothing_was_called() -> None:
    step = to_record(run(action(1, model_output="\n\nI give up.\nReally.")))["steps"][0]
    assert [str(title) for title in titles.step_titles(step)] == ["I give up."]


def test_title_is_one_short_line_when_arguments_are_long() -> None:
    arguments = {"a": "x" * 1_000, "b": "two\nlines", "c": list(range(100))}
    step = to_record(run(action(1, call("look", arguments, observation="y" * 1_000))))["steps"][0]
    assert str(titles.step_titles(step)[0]) == snapshot(
        'look(a="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…, b="two\\nlines", c=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …) → yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…'
    )
