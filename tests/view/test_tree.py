from __future__ import annotations

import re

import pytest
from inline_snapshot import snapshot
from view.code_samples import code_call, code_events, code_run, draft_of
from view.markup import ATTACKS
from view.samples import action, call, planned_record, record_full_of, run, running_draft, small_run

from agent_magic.core.events import ToolCallStarted
from agent_magic.core.steps import Fault
from agent_magic.record.run import to_record
from agent_magic.record.schema import NowRecord, RunRecord
from agent_magic.view.columns import clip, width
from agent_magic.view.tree import TreeLine, header_lines, now_lines, step_lines


def drawn(lines: list[TreeLine], columns: int = 100) -> str:
    return "\n".join("".join(line.fit(columns)) for line in lines)


def tree_of(record: RunRecord, columns: int = 100) -> str:
    return drawn(
        [*header_lines(record), *(line for step in record["steps"] for line in step_lines(step))], columns
    )


def running(now: NowRecord) -> RunRecord:
    record = to_record(small_run())
    return {**record, "status": "running", "now": now}


def test_tree_of_a_small_run() -> None:
    assert tree_of(
        to_record(small_run(), reason="the only key found", warnings=["@x is no variable"])
    ) == snapshot("""\
analyst · openai/gpt-5 · the only key found
! @x is no variable
 1  act     I look at one island first, with the average of both s…  [501 tokens in, 40 out · 1.2 s]
    └─ mean_mass(table=@penguins, island="Biscoe", weights={"male": 0.5, "female": 0.5}) → 4716.0
 2  act     2 calls  [1 failed · 502 tokens in, 40 out · 1.2 s]
    ├─ mean_mass(table=@penguins, island="Dreem") ✗ ToolError: No island 'Dreem'. Islands: Biscoe, …
    └─ by_island(table=@penguins) → by_island_1: Table, 3 rows × 2 columns
 3  act     It is clear now: Biscoe.  [error · 503 tokens in, 40 out · 1.2 s]
    └─ ✗ ParsingError: No tool call could be read in the reply. Call final_answer.
 4  answer  1 call  [504 tokens in, 40 out · 1.2 s]
    └─ final_answer(answer="Biscoe.")\
""")


def test_tree_of_a_planned_run_has_notes_labels_and_errors() -> None:
    assert tree_of(planned_record(), 120) == snapshot("""\
analyst · openai/gpt-5
    plan    3 steps  [300 tokens in, 60 out · 0.4 s]
 1  act     1 call  [501 tokens in, 40 out · 1.2 s · sent shortened: observation]
    ├─ by_island(table=@penguins) → three islands
    └─ summary_mode is 'all' from the next call
    plan    3 steps · 1 added,…  [300 tokens in, 60 out · 0.4 s · summary view · edited by person, 2027-01-15 08:00 UTC]
 2  act     1 call  [502 tokens in, 40 out · 1.2 s · hidden from the model · 1 warning]
    ├─ count(of="sex") → 165, 168
    └─ ! slow
    plan    ✗ GenerationError: openai/gpt-5: 503, overloaded.  [error · 300 tokens in, 60 out · 0.4 s]\
""")


def test_calls_of_a_step_with_very_many_are_counted() -> None:
    results = [call("look", {"n": n}, f"call_{n}", observation="x") for n in range(198)]
    results += [call("look", {"n": n}, f"call_{n}", fault=Fault(kind="E", message="no")) for n in range(2)]
    lines = drawn(step_lines(to_record(run(action(1, *results)))["steps"][0])).split("\n")
    assert len(lines) == 22
    assert lines[0] == snapshot(" 1  act     200 calls  [501 tokens in, 40 out · 1.2 s]")
    assert lines[-1] == snapshot("    └─ 180 more")


def test_running_calls_are_listed_and_of_very_many_those_that_run() -> None:
    calls = [{"id": str(n), "name": "look", "arguments": {"n": n}} for n in range(3)]
    few = running({"step_number": 3, "doing": "calling", "calls": calls, "running": ["1", "2"]})
    few["now"]["calls"][0]["observation"] = "seen"
    assert drawn(now_lines(few, 20)) == snapshot("""\
 3  act     calling look …
    ├─ look(n=0) → seen
    ├─ look(n=1) → …
    └─ look(n=2) → …
    step 3 of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032\
""")
    calls = [{"id": str(n), "name": "look", "arguments": {"n": n}} for n in range(200)]
    many = running(
        {"step_number": 3, "doing": "calling", "calls": calls, "running": [str(n) for n in range(90, 200)]}
    )
    many["now"]["calls"][7]["error"] = {"kind": "E", "message": "no"}
    assert drawn(now_lines(many, 20)) == snapshot("""\
 3  act     calling look …
    ├─ 90 of 200 calls done, 1 failed
    ├─ look(n=90) → …
    ├─ look(n=91) → …
    ├─ look(n=92) → …
    ├─ look(n=93) → …
    └─ look(n=94) → …
    step 3 of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032\
""")


@pytest.mark.parametrize(
    ("now", "lines"),
    [
        ({"doing": "thinking", "thought": "First.\nThe second line,\nthe third"}, "    └─ the third"),
        ({"doing": "thinking", "reasoning": "I\nreason\n\n"}, "    └─ reason"),
        ({"doing": "planning", "plan": "1. One\n2. Two"}, "    └─ 2. Two"),
        (
            {"doing": "thinking", "writing": [{"name": "look", "arguments": '{"at": "the b'}]},
            '    └─ look({"at": "the b',
        ),
    ],
)
def test_newest_line_of_what_is_written_is_told(now: NowRecord, lines: str) -> None:
    told = drawn(now_lines(running({"step_number": 3, **now}), 20)).split("\n")
    assert told[1:-1] == [lines]


def test_what_happens_now_takes_no_more_lines_than_it_is_given() -> None:
    calls = [{"id": str(n), "name": "look", "arguments": {"n": n}} for n in range(9)]
    record = running({"step_number": 3, "doing": "calling", "calls": calls, "running": ["1", "2"]})
    assert [len(now_lines(record, n)) for n in range(1, 10)] == [1, 2, 3, 4, 5, 5, 5, 5, 5]


def test_no_line_is_wider_than_the_terminal() -> None:
    for text in [*ATTACKS, "企鵝" * 99, "👩‍👩‍👧" * 99, "e\u0301" * 99, "a\tb\nc" * 99]:
        record = record_full_of(text)
        live = running_draft(text).to_record()
        for columns in (1, 5, 19, 40, 80):
            for line in tree_of(record, columns).split("\n") + drawn(now_lines(live, 9), columns).split("\n"):
                assert width(line) <= columns
                assert re.findall(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", line) == []


@pytest.mark.parametrize(
    ("text", "columns", "clipped"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("企鵝企", 6, "企鵝企"),
        ("企鵝企", 5, "企鵝…"),
        ("企鵝企", 4, "企…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("👩‍👧👩‍👧", 5, "👩‍👧…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_text_is_clipped_to_columns(text: str, columns: int, clipped: str) -> None:
    assert clip(text, columns) == clipped
    assert width(clipped) <= columns


def test_end_of_a_text_is_kept_without_a_mark_that_lost_its_sign() -> None:
    assert clip("abcdef", 4, keeps_end=True) == "…def"
    assert clip("ae\u0301xyz", 4, keeps_end=True) == "…xyz"
    assert clip("企鵝企鵝", 4, keeps_end=True) == "…鵝"


def test_badges_go_before_the_title_does() -> None:
    line = TreeLine(lead=" 1  act  ", title="A long title of a step", badges="[1.2 s]")
    assert ["".join(line.fit(columns)) for columns in (60, 34, 25, 8)] == snapshot(
        [
            " 1  act  A long title of a step  [1.2 s]",
            " 1  act  A long title of…  [1.2 s]",
            " 1  act  A long title of…",
            " 1  act…",
        ]
    )


# -- code ----------------------------------------------------------------------------------------


def lines_of(lines: list[TreeLine], columns: int = 110) -> str:
    return "\n".join("".join(line.fit(columns)).rstrip() for line in lines)


def test_tree_of_a_run_of_code() -> None:
    steps = to_record(code_run())["steps"]
    assert "\n".join(lines_of(step_lines(step)) for step in steps) == snapshot("""\
 1  act     I look at both cities at once, and draw them.  [801 tokens in, 90 out · 1.2 s]
    │ # Both cities, side by side
    │ import pandas as pd
    │ prices = {}
    │ for city in ["Oslo", "Bergen"]:
    │     prices[city] = mean_price(city=city, listings=df)  # </code> is no end here
    │     print(f"{city}: {prices[city]:,.1f}")
    │ pd.Series(prices).plot.bar()
    │ max(prices, key=prices.get)
    ├─ mean_price(city="Oslo", listings=<Table, 3 rows × 2 columns>) → 4321.5
    ├─ mean_price(city="Bergen", listings=<Table, 3 rows × 2 columns>) → 3900.0
    └─ → 'Oslo'
 2  act     Now the answer.  [1 failed · 802 tokens in, 90 out · 1.2 s]
    │ top = prices["Oslo" + "!"]
    │ final_answer(top)
    ├─ mean_price(city="Atlantis") ✗ ToolError: No city 'Atlantis'.
    └─ ✗ CodeExecutionError: KeyError: 'Oslo!'
 3  act     Oslo, I would say.  [error · 0.5 s]
    └─ ✗ ParsingError: No code could be read in the reply. Write it between tags.
 4  answer  code, as edited  [804 tokens in, 90 out · 1.2 s]
    │ final_answer("Oslo")
    └─ → 'Oslo'\
""")


def test_tree_of_code_while_it_is_written_and_run() -> None:
    draft = draft_of()
    moments: list[str] = []
    for event in code_events()[1:15]:
        draft.add(event)
        moments.append(lines_of(now_lines(draft.to_record(), 8)))
    assert "\n".join(dict.fromkeys(moments)) == snapshot("""\
 1  act     thinking …
    step 1 of 5
 1  act     thinking …
    └─ Two calls are enough.
    step 1 of 5
 1  act     thinking …
    └─ I look at both cities at once, and draw them.
    step 1 of 5
 1  act     writing code …
    └─ import pandas a
    step 1 of 5
 1  act     writing code …
    └─ for city in ["Oslo",
    step 1 of 5
 1  act     writing code …
    └─ prices[city] = mean_price(city=city, listi
    step 1 of 5
 1  act     writing code …
    └─ prices[city] = mean_price(city=city, listings=df) # </code> is no end here
    step 1 of 5
 1  act     writing code …
    └─ print(f"{city}: {prices[city]:,.1f}")
    step 1 of 5
 1  act     writing code …
    └─ max(prices, key=prices.get)
    step 1 of 5
 1  act     running code …
    │ # Both cities, side by side
    │ import pandas as pd
    │ prices = {}
    │ for city in ["Oslo", "Bergen"]:
    │     prices[city] = mean_price(city=city, listings=df)  # </code> is no end here
    │ … 3 more lines
    step 1 of 5
 1  act     running code, calling mean_price …
    │ # Both cities, side by side
    │ import pandas as pd
    │ prices = {}
    │ for city in ["Oslo", "Bergen"]:
    │ … 4 more lines
    └─ mean_price(city="Oslo", listings=<Table, 3 rows × 2 columns>) → …
    step 1 of 5
 1  act     running code …
    │ # Both cities, side by side
    │ import pandas as pd
    │ prices = {}
    │ for city in ["Oslo", "Bergen"]:
    │ … 4 more lines
    └─ mean_price(city="Oslo", listings=<Table, 3 rows × 2 columns>) → 4321.5
    step 1 of 5
 1  act     running code, calling mean_price …
    │ # Both cities, side by side
    │ import pandas as pd
    │ prices = {}
    │ … 5 more lines
    ├─ mean_price(city="Oslo", listings=<Table, 3 rows × 2 columns>) → 4321.5
    └─ mean_price(city="Bergen", listings=<Table, 3 rows × 2 columns>) → …
    step 1 of 5\
""")


@pytest.mark.parametrize("max_lines", range(1, 12))
def test_tree_of_code_that_runs_is_no_longer_than_it_may_be(max_lines: int) -> None:
    code = code_call("\n".join(f"look({n})" for n in range(50)))
    inner = [call("look", {"n": n}, f"i{n}") for n in range(30)]
    draft = draft_of(
        ToolCallStarted(step_number=1, call=code.call),
        *(ToolCallStarted(step_number=1, call=one.call, inside="code_1") for one in inner),
    )
    assert len(now_lines(draft.to_record(), max_lines)) <= max_lines


def test_line_of_code_keeps_its_spaces_and_nothing_else_does() -> None:
    code, prose = (TreeLine(title="    a  = 1\tx", is_code=is_code) for is_code in (True, False))
    assert code.fit(40)[1] == "    a  = 1  x"
    assert prose.fit(40)[1] == "a = 1 x"
