from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from view.samples import action, call, run, small_run

from agent_magic.core.messages import TokenUsage
from agent_magic.core.steps import Fault
from agent_magic.record.run import to_record
from agent_magic.record.step import to_usage
from agent_magic.view import words


@pytest.mark.parametrize(
    ("cost_usd", "text"),
    [
        (None, "cost unknown"),
        (0.0, "$0"),
        (0.00315, "$0.0032"),
        (0.00000001, "under $0.0001"),
        (12.3456, "$12.35"),
    ],
)
def test_cost_is_said_as_it_is_known(cost_usd: float | None, text: str) -> None:
    assert words.cost(cost_usd) == text


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [
        (0.0, "0 ms"),
        (0.0123, "12 ms"),
        (4.24, "4.2 s"),
        (59.9, "60 s"),
        (200.4, "3 min 20 s"),
        (7_260, "2 h 1 min"),
    ],
)
def test_seconds_in_fitting_units(duration_s: float, text: str) -> None:
    assert words.seconds(duration_s) == text


@pytest.mark.parametrize(
    ("usage", "text"),
    [
        (TokenUsage(), "tokens unknown"),
        (TokenUsage(input_tokens=1_204, output_tokens=None), "1,204 tokens in, unknown out"),
        (TokenUsage(input_tokens=10, output_tokens=2, cached_tokens=4), "10 tokens in (4 cached), 2 out"),
    ],
)
def test_tokens_are_said_as_they_are_known(usage: TokenUsage, text: str) -> None:
    assert words.tokens(to_usage(usage)) == text


def test_titles_of_a_small_run() -> None:
    steps = to_record(small_run())["steps"]
    assert [[str(title) for title in words.step_titles(step)] for step in steps] == snapshot(
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
    assert str(words.step_titles(step)[-1]) == "2 more, 1 failed"


def test_title_is_what_was_said_when_nothing_was_called() -> None:
    step = to_record(run(action(1, model_output="\n\nI give up.\nReally.")))["steps"][0]
    assert [str(title) for title in words.step_titles(step)] == ["I give up."]


def test_title_is_one_short_line_when_arguments_are_long() -> None:
    arguments = {"a": "x" * 1_000, "b": "two\nlines", "c": list(range(100))}
    step = to_record(run(action(1, call("look", arguments, observation="y" * 1_000))))["steps"][0]
    assert str(words.step_titles(step)[0]) == snapshot(
        'look(a="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…, b="two\\nlines", c=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …) → yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…'
    )
