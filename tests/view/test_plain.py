from __future__ import annotations

import re

import pytest
from inline_snapshot import snapshot
from view.code_samples import code_run
from view.markup import ATTACKS
from view.samples import action, plan, planned_record, record_full_of, run, small_run

from agent_magic.record.run import to_record
from agent_magic.view.plain import to_text


def test_text_of_a_small_run() -> None:
    assert to_text(
        to_record(small_run(), reason="the only key found", warnings=["@x is no variable"])
    ) == snapshot("""\
analyst · answered · openai/gpt-5 · the only key found
4 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s
! @x is no variable

Task
    Which island has the heaviest penguins?
    @penguins: DataFrame, 344 rows × 8 columns: columns species: str, island: str

 1  mean_mass(table=@penguins, island="Biscoe", weights={"male": 0.5, "female": 0.5}) → 4716.0  [501 tokens in, 40 out · 1.2 s]
    reasoning
        The person asks for the heaviest penguins. A mean for each island is needed.
    thought
        I look at one island first, with the average of both sexes.
    mean_mass
        table = @penguins
        island = "Biscoe"
        weights = {"male": 0.5, "female": 0.5}
        (penguins read as @penguins)
        printed
            dropped 2 rows without a mass
        observation
            4716.0
 2  mean_mass(table=@penguins, island="Dreem") ✗ ToolError · by_island(table=@penguins) → by_island_1: Table, 3 rows × 2 columns  [502 tokens in, 40 out · 1.2 s]
    mean_mass
        table = @penguins
        island = "Dreem"
        error ToolError
            No island 'Dreem'. Islands: Biscoe, Dream, Torgersen.
            Use one of these.
    by_island
        table = @penguins
        observation
            DataFrame, 3 rows × 2 columns
              island    mass
            0 Biscoe  4716.0
            1 Dream   3712.9
        kept as by_island_1: Table, 3 rows × 2 columns
 3  ✗ ParsingError  [503 tokens in, 40 out · 1.2 s]
    thought
        It is clear now: Biscoe.
    error ParsingError
        No tool call could be read in the reply. Call final_answer.
 4  final_answer(answer="Biscoe.")  [504 tokens in, 40 out · 1.2 s]
    final_answer
        answer = "Biscoe."

Answer
    The penguins of Biscoe are the heaviest: 4,716 g on average, about 1 kg more than those of Dream (3,713 g) and Torgersen (3,706 g).\
""")


def test_text_of_a_planned_run() -> None:
    assert to_text(planned_record()) == snapshot("""\
analyst · budget used up · check refused · openai/gpt-5
2 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s

Task  (goes on with run_0, pinned)
    Which island has the heaviest penguins?

    Plan: 3 steps  [300 tokens in, 60 out · 0.4 s]
    reasoning
        Three steps will do.
    plan
        1. Look at the islands.
        2. Compare the means.
        3. Answer.
 1  by_island(table=@penguins) → three islands  [501 tokens in, 40 out · 1.2 s]  (sent shortened: observation)
    summary_mode is 'all' from the next call
    by_island
        table = @penguins
        observation
            three islands
    namespace
        added by_island_1: DataFrame, 3 rows × 2 columns
        changed in place penguins: DataFrame, columns + heavy
    Plan: 3 steps · 1 added, 1 dropped  [300 tokens in, 60 out · 0.4 s]  (summary view, edited by person, 2027-01-15 08:00 UTC)
    plan
        1. Compare the means.
        2. Count the sexes.
        3. Answer.
    added
        2. Count the sexes.
    dropped
        1. Look at the islands.
    as the model wrote it
        1. Compare the means.
        2. Answer.
 2  count(of="sex") → 165, 168  [502 tokens in, 40 out · 1.2 s]  (hidden from the model, 1 warning)
    ! slow
    count
        of = "sex"
        observation
            165, 168
    ✗ Plan: GenerationError  [300 tokens in, 60 out · 0.4 s]
    error GenerationError
        openai/gpt-5: 503, overloaded.

error BudgetError
    max_total_tokens is 2,000.

Best guess, no answer
    Biscoe, I think.

Checks passed: is_text, is_short
! Check refused: names_a_mass: There is no number in it.\
""")


def test_text_of_a_resumed_run_misses_no_step_before_its_first() -> None:
    text = to_text(
        to_record(run(plan(7, "1. Go on."), action(7), action(8), resumed_from="run_0", max_steps=26))
    )
    assert "\nsteps 7–8 of 26 · " in text
    assert "Task  (goes on with run_0)" in text
    assert "not shown here" not in text


@pytest.mark.parametrize("attack", ATTACKS)
def test_text_sends_a_terminal_no_control_character(attack: str) -> None:
    text = to_text(record_full_of(attack))
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text) == []


def test_text_has_the_characters_themselves() -> None:
    text = "请总结 \u200f\u0645\u0631\u062d\u0628\u0627\u200f שלום \U0001f469\u200d\U0001f469\u200d\U0001f467 e\u0301 \u3000x"
    assert to_text(to_record(run(task=text, value=text))).count(text) == 2


def test_text_shows_two_lines_of_a_task_with_windows_line_ends() -> None:
    assert "Task\n    line one\n    line two\n" in to_text(to_record(run(task="line one\r\nline two")))


def test_quiet_text_has_header_and_answer_only() -> None:
    assert to_text(to_record(small_run()) | {"is_quiet": True}) == snapshot("""\
analyst · answered · openai/gpt-5
4 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s

Answer
    The penguins of Biscoe are the heaviest: 4,716 g on average, about 1 kg more than those of Dream (3,713 g) and Torgersen (3,706 g).\
""")


def test_text_of_a_run_of_code() -> None:
    assert to_text(to_record(code_run())) == snapshot("""\
analyst · answered · openai/gpt-5
4 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s

Task
    Which of <b>Oslo</b> and Bergen has the higher mean price?

 1  for city in ["Oslo", "Bergen"]: … (9 lines, 2 calls) → 'Oslo'  [801 tokens in, 90 out · 1.2 s]
    reasoning
        Two calls are enough.
    thought
        I look at both cities at once, and draw them.
    code
        # Both cities, side by side
        import pandas as pd
    \n\
        prices = {}
        for city in ["Oslo", "Bergen"]:
            prices[city] = mean_price(city=city, listings=df)  # </code> is no end here
            print(f"{city}: {prices[city]:,.1f}")
        pd.Series(prices).plot.bar()
        max(prices, key=prices.get)
    calls
        mean_price(city="Oslo", listings=<Table, 3 rows × 2 columns>) → 4321.5  [12 ms]
        mean_price(city="Bergen", listings=<Table, 3 rows × 2 columns>) → 3900.0  [13 ms]
    observation
        Oslo: 4,321.5
        Bergen: 3,900.0
        (1 picture is shown.)
        Value of the last line: 'Oslo'
    image 32 × 24
    namespace
        added prices: dict, 2 items
 2  top = prices["Oslo" + "!"] … (2 lines, 1 call) ✗ CodeExecutionError  [802 tokens in, 90 out · 1.2 s]
    thought
        Now the answer.
    code
        top = prices["Oslo" + "!"]
        final_answer(top)
    calls
        mean_price(city="Atlantis") ✗ ToolError: No city 'Atlantis'.
    observation
        looking
    error CodeExecutionError
        KeyError: 'Oslo!'
          line 1: top = prices["Oslo" + "!"]
        Use a key that is there: Oslo, Bergen.
 3  ✗ ParsingError  [0.5 s]
    thought
        Oslo, I would say.
    error ParsingError
        No code could be read in the reply. Write it between tags.
 4  final_answer("Oslo") (as edited) → 'Oslo'  [804 tokens in, 90 out · 1.2 s]
    code, as it was changed
        final_answer("Oslo")
    as the model wrote it
        final_answer(f"Oslo, by {prices['Oslo'] - prices['Bergen']:,.0f}")
    observation
        The answer was given: 'Oslo'

Answer
    Oslo\
""")
