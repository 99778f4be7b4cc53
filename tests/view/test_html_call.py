"""Code and the calls that it made, as HTML."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot
from view.code_samples import CODE_1, code_call, code_run, code_step, draft_of, first_step
from view.markup import Page
from view.samples import call, run

from agent_magic.core.events import TextDelta, ToolCallStarted
from agent_magic.core.steps import Fault
from agent_magic.core.text import to_display
from agent_magic.record.lane import to_step_record
from agent_magic.record.run import to_record
from agent_magic.record.schema import RUN_MIME
from agent_magic.view.bundle import step_to_bundle, to_bundle, to_live_bundle
from agent_magic.view.elements import CODE_COLOURS, code_block
from agent_magic.view.html import to_html
from agent_magic.view.words import Detail


def html_of(*steps: Any) -> str:
    return to_html(to_record(run(*steps, mode="code")))


def test_html_of_a_run_of_code_says_what_happened() -> None:
    assert Page(to_html(to_record(code_run()))).text == snapshot("""\
analyst answered openai/gpt-54 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s
TaskWhich of <b>Oslo</b> and Bergen has the higher mean price?Which of <b>Oslo</b> and Bergen has the higher mean price?
1.2 s 1for city in ["Oslo", "Bergen"]: … 9 lines, 2 calls → 'Oslo'ReasoningTwo calls are enough.ThoughtI look at both cities at once, and draw them.Code 0.4 s# Both cities, side by side
import pandas as pd

prices = {}
for city in ["Oslo", "Bergen"]:
    prices[city] = mean_price(city=city, listings=df)  # </code> is no end here
    print(f"{city}: {prices[city]:,.1f}")
pd.Series(prices).plot.bar()
max(prices, key=prices.get)Calls12 ms mean_price(city="Oslo", listings=<Table, 3 rows × 2 columns>) → 4321.5city"Oslo"listings"<Table, 3 rows × 2 columns>"Observation4321.513 ms mean_price(city="Bergen", listings=<Table, 3 rows × 2 columns>) → 3900.0city"Bergen"listings"<Table, 3 rows × 2 columns>"(city read as Bergen)Observation3900.0ObservationOslo: 4,321.5
Bergen: 3,900.0
(1 picture is shown.)
Value of the last line: 'Oslo'Namespaceadded prices: dict, 2 items801 tokens in, 90 out
1.2 s 2top = prices["Oslo" + "!"] … 2 lines, 1 call ✗ CodeExecutionErrorThoughtNow the answer.Code 30 mstop = prices["Oslo" + "!"]
final_answer(top)Calls mean_price(city="Atlantis") ✗ ToolError: No city 'Atlantis'.city"Atlantis"ToolErrorNo city 'Atlantis'.ObservationlookingCodeExecutionErrorKeyError: 'Oslo!'
  line 1: top = prices["Oslo" + "!"]
Use a key that is there: Oslo, Bergen.802 tokens in, 90 out
0.5 s 3✗ ParsingErrorThoughtOslo, I would say.ParsingErrorNo code could be read in the reply. Write it between tags.
1.2 s 4final_answer("Oslo") as edited → 'Oslo'Code, as it was changed 1 msfinal_answer("Oslo")As the model wrote itfinal_answer(f"Oslo, by {prices['Oslo'] - prices['Bergen']:,.0f}")ObservationThe answer was given: 'Oslo'804 tokens in, 90 out
AnswerOslo\
""")


def test_code_stands_in_its_lines_and_in_colours() -> None:
    page = code_block("def f(x):\n    return 'a' < 1  # why\n")
    assert Page(page).text == "def f(x):\n    return 'a' < 1  # why\n"
    assert page.count("<span") == 6
    assert CODE_COLOURS["string"] in page
    assert "<span" not in code_block("def f(x): return 'a'", is_plain=True)


def test_code_has_no_colours_where_there_is_no_room() -> None:
    steps = [code_step(n, code_call("print('a', 1)\n" * 500, observation="done")) for n in range(1, 40)]
    bundle = to_bundle(to_record(run(*steps, mode="code")))
    assert "mirror-editor" not in bundle["text/html"]
    assert "print(&#x27;a&#x27;, 1)" in bundle["text/html"]
    assert len(json.dumps(bundle)) < 800_000
    assert len(json.dumps(bundle[RUN_MIME])) < 400_000


def test_calls_that_code_made_are_lines_that_open() -> None:
    page = step_to_bundle(to_step_record(first_step()))["text/html"]
    assert page.count("<details") == 1 + 1 + 2  # the step, its reasoning, the calls
    assert " open>" not in page


def test_html_says_where_calls_are_left_out() -> None:
    inner = tuple(call("look", {"n": n}, f"i{n}", observation="seen") for n in range(1_050))
    text = Page(html_of(code_step(1, code_call("go()", calls=inner, observation="done")))).text
    before, gap, after = text.partition("… 1,000 calls not shown here …")
    assert gap
    assert "look(n=15)" in before
    assert after.lstrip().startswith("look(n=1016)")


def test_step_is_open_where_code_failed_but_not_where_it_caught_what_failed() -> None:
    fault = Fault(kind="ToolError", message="No.")
    caught = code_call("go()", calls=(call("look", {}, "i1", fault=fault),), observation="done")
    failed = code_call("go()", fault=Fault(kind="CodeExecutionError", message="No."))
    assert [html_of(code_step(1, one)).count(" open>") for one in (caught, failed)] == [0, 1]


def test_code_that_is_written_is_shown_while_it_comes() -> None:
    draft = draft_of(TextDelta(step_number=1, text="I look.\n<code>\nlook(1)\nlook(2) "))
    page = Page(to_live_bundle(draft.to_record())["text/html"])
    assert page.text.endswith("●1writing code …I look.look(1)\nlook(2)")
    assert page.elements[-5:] == ["div", "pre", "code", "span", "span"]


def test_code_that_runs_is_shown_with_the_call_that_it_makes() -> None:
    code, inner = code_call(CODE_1), call("mean_price", {"city": "Oslo"}, "i1")
    draft = draft_of(
        ToolCallStarted(step_number=1, call=code.call),
        ToolCallStarted(step_number=1, call=inner.call, inside="code_1"),
    )
    text = Page(to_live_bundle(draft.to_record())["text/html"]).text
    assert text.endswith(f'●1running code, calling mean_price …{CODE_1}mean_price(city="Oslo") → …')


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("code", ["x = '\u202e'  # \u2066", "x\x1b[31m = 1", "<b>&amp;</b>"])
def test_code_is_shown_as_it_may_be_seen(code: str, *, is_plain: bool) -> None:
    page = Page(code_block(code, is_plain=is_plain))
    assert page.text == to_display(code)
    assert set(page.elements) <= {"pre", "code", "span"}


def test_brief_html_of_code_is_its_title() -> None:
    text = Page(to_html(to_record(code_run()), detail=Detail(is_brief=True))).text
    assert text == snapshot("""\
analyst answered openai/gpt-54 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s
TaskWhich of <b>Oslo</b> and Bergen has the higher mean price?Which of <b>Oslo</b> and Bergen has the higher mean price?
1for city in ["Oslo", "Bergen"]: … 9 lines, 2 calls → 'Oslo'Oslo: 4,321.5 Bergen: 3,900.0 (1 picture is shown.) Value of the last line: 'Oslo'
2top = prices["Oslo" + "!"] … 2 lines, 1 call ✗ CodeExecutionError: KeyError: 'Oslo!'
3✗ ParsingError: No code could be read in the reply. Write it between tags.
4final_answer("Oslo") as edited → 'Oslo'
AnswerOslo\
""")
