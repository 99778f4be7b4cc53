from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from view.code_samples import EDITED_3, code_call, code_run, code_step
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


# -- code ----------------------------------------------------------------------------------------


def code_title(code: str, **fields: object) -> str:
    step = to_record(run(code_step(1, code_call(code, **fields)), mode="code"))["steps"][0]
    (title,) = titles.titles(step)
    return str(title)


def test_titles_of_a_run_of_code() -> None:
    steps = to_record(code_run())["steps"]
    assert [[str(title) for title in titles.titles(step)] for step in steps] == snapshot(
        [
            ['for city in ["Oslo", "Bergen"]: … (9 lines, 2 calls) → \'Oslo\''],
            ['top = prices["Oslo" + "!"] … (2 lines, 1 call) ✗ CodeExecutionError: KeyError: \'Oslo!\''],
            ["✗ ParsingError: No code could be read in the reply. Write it between tags."],
            ["final_answer(\"Oslo\") (as edited) → 'Oslo'"],
        ]
    )


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("1 + 1", "1 + 1"),
        ("import pandas as pd\n\n# load it\nframe = load('x')\nframe", "frame = load('x') …"),
        ("from a import b\nrows = []\nn, m = 0\nfor x in y:\n    pass", "for x in y: …"),
        ("import pandas as pd", "import pandas as pd"),
        ("# one\nimport re\nx = 1", "x = 1 …"),
        ('found = None\ntry:\n    found = look("Oslo")\nfinally:\n    pass', 'found = look("Oslo") …'),
        ("", ""),
        ("x = '" + "y" * 200, "x = '" + "y" * 84 + "…"),
    ],
)
def test_line_of_code_is_the_one_that_tells_most(code: str, line: str) -> None:
    assert titles.code_line(code) == line


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"observation": "a\nb\nValue of the last line: 3", "output": 3}, "look() → 3"),
        ({"observation": "a\nb"}, "look() → b"),
        ({"observation": "The code ran. It printed nothing, and its last line has no value."}, "look()"),
        ({"observation": "The answer was given: 'Oslo'"}, "look() → 'Oslo'"),
        ({"observation": "x", "output": [1, 2]}, "look() → [1, 2]"),
        ({"observation": "x", "output": ["y" * 90]}, "look() → list, 1 item"),
        ({"fault": Fault(kind="CodeRefused", message="No.\nDo this.")}, "look() ✗ CodeRefused: No."),
        (
            {"observation": "x", "calls": tuple(call("see", {}, f"i{n}") for n in range(2_000))},
            "look() (2,000 calls) → x",
        ),
    ],
)
def test_title_of_code_tells_what_it_came_to(fields: dict[str, object], title: str) -> None:
    assert code_title("look()", **fields) == title


def test_title_of_code_that_was_changed_is_that_of_the_code_that_ran() -> None:
    note = f"the person changed the arguments to this code:\n{EDITED_3}"
    assert (
        code_title("a = 1\nb = 2", observation="x", notes=(note,)) == 'final_answer("Oslo") (as edited) → x'
    )


def test_object_that_code_gave_stands_without_quotes() -> None:
    assert titles.call_line("look", {"at": "<DataFrame, 3 rows × 2 columns>", "by": "<b>x"}) == (
        'look(at=<DataFrame, 3 rows × 2 columns>, by="<b>x")'
    )


def test_calls_that_code_made_have_their_gap_after_the_first_third() -> None:
    inner = tuple(call("look", {}, f"i{n}") for n in range(60))
    (step,) = to_record(run(code_step(1, code_call("go()", calls=inner)), mode="code"))["steps"]
    (code,) = step["calls"]  # type: ignore[typeddict-item] # of an action
    rows = titles.inner_calls(code)
    assert rows[16] == 10
    assert [row if isinstance(row, int) else row["id"] for row in titles.inner_calls(code, 3)] == [
        "i0",
        57,
        "i58",
        "i59",
    ]
    assert [row["id"] for row in (rows[15], rows[17]) if not isinstance(row, int)] == ["i15", "i26"]
