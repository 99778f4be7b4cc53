from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from view.code_samples import moments_full_of
from view.markup import ATTACKS, ATTRIBUTES, ELEMENTS, Page, styles
from view.samples import action, call, plan, planned_record, record_full_of, run, running_draft, small_run

from agent_magic.core.events import Notice, PlanDelta, StepEnded, StepStarted, Waiting
from agent_magic.core.result import CheckResult
from agent_magic.core.steps import Fault
from agent_magic.core.text import to_display
from agent_magic.record.run import to_record
from agent_magic.view.bundle import to_bundle, to_live_bundle
from agent_magic.view.elements import CODE_COLOURS, GREEN
from agent_magic.view.html import to_html
from agent_magic.view.words import Detail


def html_of(*steps: object, quiet: bool = False, **fields: object) -> str:
    record = to_record(run(*steps, **fields))
    if quiet:
        record["is_quiet"] = True
    return to_html(record)


def test_html_of_a_small_run() -> None:
    assert to_html(to_record(small_run(), reason="the only key found")) == snapshot("""\
<div class="agent-magic mathjax_ignore" style="font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.5;color:var(--jp-ui-font-color1,inherit);max-width:920px;overflow-wrap:anywhere;text-align:left"><div style="padding:2px 0 6px"><div><span style="font-weight:600;font-size:14px">analyst</span> <span style="color:var(--jp-success-color1,#388e3c);border:1px solid var(--jp-success-color1,#388e3c);border-radius:10px;padding:0 8px;margin:0 4px;font-size:11px;white-space:nowrap">answered</span> <span style="color:var(--jp-ui-font-color2,#808080)">openai/gpt-5 · the only key found</span></div><div style="color:var(--jp-ui-font-color2,#808080);font-size:12px">4 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s</div></div>
<details style="border-top:1px solid var(--jp-border-color2,rgba(128,128,128,.3));padding:3px 0"><summary style="cursor:pointer;padding:0 4.5em 0 1.5em;text-indent:-1.5em"><span style="color:var(--jp-ui-font-color2,#808080);padding-right:6px">Task</span>Which island has the heaviest penguins?</summary><div style="padding:6px 0 2px 1.5em"><pre style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;line-height:1.45;color:inherit;white-space:pre-wrap;overflow-wrap:anywhere;margin:2px 0 8px;padding:6px 10px;border-radius:4px;background:var(--jp-cell-editor-background,rgba(128,128,128,.1));max-height:24em;overflow:auto">Which island has the heaviest penguins?</pre><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">Variables</div><table style="margin:2px 0 6px;border:0;border-collapse:collapse;table-layout:auto"><tr style="background:none"><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:nowrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:nowrap">@penguins</code></td><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:pre-wrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:pre-wrap">DataFrame, 344 rows × 8 columns: columns species: str, island: str</code></td></tr></table></div></details>
<details style="border-top:1px solid var(--jp-border-color2,rgba(128,128,128,.3));padding:3px 0"><summary style="cursor:pointer;padding:0 4.5em 0 1.5em;text-indent:-1.5em"><span style="color:var(--jp-ui-font-color2,#808080);font-size:11px;float:right;margin-right:-4.5em;text-indent:0">1.2 s</span> <span style="color:var(--jp-ui-font-color2,#808080);padding-right:6px">1</span><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit">mean_mass(table=@penguins, island=&quot;Biscoe&quot;, weights={&quot;male&quot;: 0.5, &quot;female&quot;: 0.5})</code> → 4716.0</summary><div style="padding:6px 0 2px 1.5em"><details><summary style="cursor:pointer;padding:0 4.5em 0 1.5em;text-indent:-1.5em"><span style="color:var(--jp-ui-font-color2,#808080);font-size:11px">Reasoning</span></summary><pre style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;line-height:1.45;color:inherit;white-space:pre-wrap;overflow-wrap:anywhere;margin:2px 0 8px;padding:6px 10px;border-radius:4px;background:var(--jp-cell-editor-background,rgba(128,128,128,.1));max-height:24em;overflow:auto">The person asks for the heaviest penguins. A mean for each island is needed.</pre></details><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">Thought</div><div style="white-space:pre-wrap;margin:0 0 8px">I look at one island first, with the average of both sexes.</div><div style="border-left:3px solid var(--jp-border-color2,rgba(128,128,128,.3));padding:2px 0 2px 10px;margin:6px 0"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;font-weight:600">mean_mass</code> <span style="color:var(--jp-ui-font-color2,#808080);font-size:11px">12 ms</span><table style="margin:2px 0 6px;border:0;border-collapse:collapse;table-layout:auto"><tr style="background:none"><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:nowrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:nowrap;color:var(--jp-ui-font-color2,#808080)">table</code></td><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:pre-wrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:pre-wrap">@penguins</code></td></tr><tr style="background:none"><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:nowrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:nowrap;color:var(--jp-ui-font-color2,#808080)">island</code></td><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:pre-wrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:pre-wrap">&quot;Biscoe&quot;</code></td></tr><tr style="background:none"><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:nowrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:nowrap;color:var(--jp-ui-font-color2,#808080)">weights</code></td><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:pre-wrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:pre-wrap">{&quot;male&quot;: 0.5, &quot;female&quot;: 0.5}</code></td></tr></table><div style="color:var(--jp-ui-font-color2,#808080);font-size:12px">(penguins read as @penguins)</div><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">Printed</div><pre style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;line-height:1.45;color:inherit;white-space:pre-wrap;overflow-wrap:anywhere;margin:2px 0 8px;padding:6px 10px;border-radius:4px;background:var(--jp-cell-editor-background,rgba(128,128,128,.1));max-height:24em;overflow:auto">dropped 2 rows without a mass</pre><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">Observation</div><pre style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;line-height:1.45;color:inherit;white-space:pre-wrap;overflow-wrap:anywhere;margin:2px 0 8px;padding:6px 10px;border-radius:4px;background:var(--jp-cell-editor-background,rgba(128,128,128,.1));max-height:24em;overflow:auto">4716.0</pre></div><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">501 tokens in, 40 out</div></div></details>
<details style="border-top:1px solid var(--jp-border-color2,rgba(128,128,128,.3));padding:3px 0" open><summary style="cursor:pointer;padding:0 4.5em 0 1.5em;text-indent:-1.5em"><span style="color:var(--jp-ui-font-color2,#808080);font-size:11px;float:right;margin-right:-4.5em;text-indent:0">1.2 s</span> <span style="color:var(--jp-ui-font-color2,#808080);padding-right:6px">2</span><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit">mean_mass(table=@penguins, island=&quot;Dreem&quot;)</code> <span style="color:var(--jp-error-color1,#d84343)">✗ ToolError</span> <span style="color:var(--jp-ui-font-color2,#808080)">·</span> <code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit">by_island(table=@penguins)</code> → by_island_1: Table, 3 rows × 2 columns</summary><div style="padding:6px 0 2px 1.5em"><div style="border-left:3px solid var(--jp-border-color2,rgba(128,128,128,.3));padding:2px 0 2px 10px;margin:6px 0"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;font-weight:600">mean_mass</code> <span style="color:var(--jp-ui-font-color2,#808080);font-size:11px">4 ms</span><table style="margin:2px 0 6px;border:0;border-collapse:collapse;table-layout:auto"><tr style="background:none"><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:nowrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:nowrap;color:var(--jp-ui-font-color2,#808080)">table</code></td><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:pre-wrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:pre-wrap">@penguins</code></td></tr><tr style="background:none"><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:nowrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:nowrap;color:var(--jp-ui-font-color2,#808080)">island</code></td><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:pre-wrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:pre-wrap">&quot;Dreem&quot;</code></td></tr></table><span style="color:var(--jp-error-color1,#d84343);font-weight:600">ToolError</span><div style="white-space:pre-wrap;overflow-wrap:anywhere;margin-bottom:6px">No island &#x27;Dreem&#x27;. Islands: Biscoe, Dream, Torgersen.
Use one of these.</div></div><div style="border-left:3px solid var(--jp-border-color2,rgba(128,128,128,.3));padding:2px 0 2px 10px;margin:6px 0"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;font-weight:600">by_island</code> <span style="color:var(--jp-ui-font-color2,#808080);font-size:11px">20 ms</span><table style="margin:2px 0 6px;border:0;border-collapse:collapse;table-layout:auto"><tr style="background:none"><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:nowrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:nowrap;color:var(--jp-ui-font-color2,#808080)">table</code></td><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:pre-wrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:pre-wrap">@penguins</code></td></tr></table><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">Observation</div><pre style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;line-height:1.45;color:inherit;white-space:pre-wrap;overflow-wrap:anywhere;margin:2px 0 8px;padding:6px 10px;border-radius:4px;background:var(--jp-cell-editor-background,rgba(128,128,128,.1));max-height:24em;overflow:auto">DataFrame, 3 rows × 2 columns
  island    mass
0 Biscoe  4716.0
1 Dream   3712.9</pre><div><span style="color:var(--jp-ui-font-color2,#808080);font-size:11px">Kept as</span> <code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit">by_island_1</code> <span style="color:var(--jp-ui-font-color2,#808080);font-size:11px">Table, 3 rows × 2 columns</span></div></div><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">502 tokens in, 40 out</div></div></details>
<details style="border-top:1px solid var(--jp-border-color2,rgba(128,128,128,.3));padding:3px 0" open><summary style="cursor:pointer;padding:0 4.5em 0 1.5em;text-indent:-1.5em"><span style="color:var(--jp-ui-font-color2,#808080);font-size:11px;float:right;margin-right:-4.5em;text-indent:0">1.2 s</span> <span style="color:var(--jp-ui-font-color2,#808080);padding-right:6px">3</span><span style="color:var(--jp-error-color1,#d84343)">✗ ParsingError</span></summary><div style="padding:6px 0 2px 1.5em"><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">Thought</div><div style="white-space:pre-wrap;margin:0 0 8px">It is clear now: Biscoe.</div><span style="color:var(--jp-error-color1,#d84343);font-weight:600">ParsingError</span><div style="white-space:pre-wrap;overflow-wrap:anywhere;margin-bottom:6px">No tool call could be read in the reply. Call final_answer.</div><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">503 tokens in, 40 out</div></div></details>
<details style="border-top:1px solid var(--jp-border-color2,rgba(128,128,128,.3));padding:3px 0"><summary style="cursor:pointer;padding:0 4.5em 0 1.5em;text-indent:-1.5em"><span style="color:var(--jp-ui-font-color2,#808080);font-size:11px;float:right;margin-right:-4.5em;text-indent:0">1.2 s</span> <span style="color:var(--jp-ui-font-color2,#808080);padding-right:6px">4</span><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit">final_answer(answer=&quot;Biscoe.&quot;)</code> </summary><div style="padding:6px 0 2px 1.5em"><div style="border-left:3px solid var(--jp-border-color2,rgba(128,128,128,.3));padding:2px 0 2px 10px;margin:6px 0"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;font-weight:600">final_answer</code> <table style="margin:2px 0 6px;border:0;border-collapse:collapse;table-layout:auto"><tr style="background:none"><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:nowrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:nowrap;color:var(--jp-ui-font-color2,#808080)">answer</code></td><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:pre-wrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit;white-space:pre-wrap">&quot;Biscoe.&quot;</code></td></tr></table></div><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">504 tokens in, 40 out</div></div></details>
<div style="border-left:3px solid var(--jp-success-color1,#388e3c);padding:2px 0 2px 10px;margin:6px 0"><div style="color:var(--jp-ui-font-color2,#808080);font-size:11px">Answer</div><div style="white-space:pre-wrap;overflow-wrap:anywhere;font-size:14px">The penguins of Biscoe are the heaviest: 4,716 g on average, about 1 kg more than those of Dream (3,713 g) and Torgersen (3,706 g).</div></div></div>\
""")


def test_html_of_a_planned_run_says_what_happened() -> None:
    assert Page(to_html(planned_record())).text == snapshot("""\
analyst budget used upcheck refused openai/gpt-52 steps of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s
TaskWhich island has the heaviest penguins? goes on with run_0 · pinnedWhich island has the heaviest penguins?
0.4 s Plan: 3 stepsReasoningThree steps will do.1. Look at the islands.
2. Compare the means.
3. Answer.300 tokens in, 60 out
1.2 s 1by_island(table=@penguins) → three islands sent shortened: observationsummary_mode is 'all' from the next callby_island table@penguinsObservationthree islandsNamespaceadded by_island_1: DataFrame, 3 rows × 2 columns
changed in place penguins: DataFrame, columns + heavy501 tokens in, 40 out
0.4 s Plan: 3 steps · 1 added, 1 dropped summary view · edited by person, 2027-01-15 08:00 UTC1. Compare the means.
2. Count the sexes.
3. Answer.Added2. Count the sexes.Dropped1. Look at the islands.As the model wrote it1. Compare the means.
2. Answer.300 tokens in, 60 out
1.2 s 2count(of="sex") → 165, 168 hidden from the model · 1 warning⚠ slowcount of"sex"Observation165, 168502 tokens in, 40 out
0.4 s ✗ Plan: GenerationErrorGenerationErroropenai/gpt-5: 503, overloaded.300 tokens in, 60 out
BudgetErrormax_total_tokens is 2,000.
Best guess, no answerBiscoe, I think.Checks passed: is_text, is_short⚠ Check refused: names_a_mass: There is no number in it.\
""")


def test_html_of_a_planned_run_has_a_line_that_opens_for_each_plan() -> None:
    page = to_html(planned_record())
    assert page.count("<details") == 1 + 5 + 2  # the task, the steps, a reasoning and an original
    assert page.count(" open>") == 1


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("is_brief", [False, True])
def test_html_makes_no_element_nor_attribute_of_a_text(attack: str, *, is_brief: bool) -> None:
    attacked, harmless = (
        Page(to_html(record_full_of(text), detail=Detail(is_brief=is_brief)))
        for text in (attack, "harmless\ntext")
    )
    assert attacked.is_balanced
    assert set(attacked.elements) <= ELEMENTS
    assert {name for name, _ in attacked.attributes} <= ATTRIBUTES
    assert attacked.others == []
    assert styles(attacked) <= styles(harmless) | {f"color:{colour}" for colour in CODE_COLOURS.values()}
    assert not any(sign in style for style in styles(attacked) for sign in ("url", "expression", "@", "<"))


@pytest.mark.parametrize("attack", ATTACKS)
def test_html_shows_a_text_as_it_is(attack: str) -> None:
    page = Page(html_of(task=attack, value=attack))
    assert page.text.count(to_display(attack)) >= 2


@pytest.mark.parametrize("attack", ATTACKS)
def test_live_html_makes_no_element_of_code(attack: str) -> None:
    pages = [Page(to_live_bundle(record)["text/html"]) for record in moments_full_of(attack)]
    assert len(pages) == 4
    for page in pages:
        assert page.is_balanced
        assert set(page.elements) <= ELEMENTS
        assert {name for name, _ in page.attributes} <= ATTRIBUTES
        assert page.others == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_live_html_makes_no_element_of_a_text(attack: str) -> None:
    draft = running_draft(attack)
    pages = [Page(to_live_bundle(draft.to_record())["text/html"])]
    draft.add(Waiting(step_number=2, reason=attack, delay_s=2.0, attempt=1))
    pages.append(Page(to_live_bundle(draft.to_record())["text/html"]))
    draft.add(StepStarted(step_number=2, kind="plan"))
    draft.add(PlanDelta(step_number=2, text=attack))
    draft.add(Notice(step_number=2, message=attack))
    pages.append(Page(to_live_bundle(draft.to_record())["text/html"]))
    for page in pages:
        assert page.is_balanced
        assert set(page.elements) <= ELEMENTS
        assert {name for name, _ in page.attributes} <= ATTRIBUTES
        assert page.others == []


def test_html_opens_steps_with_an_error_and_no_others() -> None:
    fine = action(1, call("look", {}, observation="seen"))
    bad_call = action(2, call("look", {}, fault=Fault(kind="ToolError", message="No.")))
    bad_step = action(3, fault=Fault(kind="ParsingError", message="No."))
    assert [html_of(step).count(" open>") for step in (fine, bad_call, bad_step)] == [0, 1, 1]


def test_html_keeps_the_whole_answer() -> None:
    answer = "word " * 3_000 + "end."
    assert answer in Page(to_bundle(to_record(run(value=answer)))["text/html"]).text


def test_quiet_html_has_header_and_answer_only() -> None:
    text = Page(html_of(action(1, call("look", {}, observation="seen")), quiet=True)).text
    assert text == snapshot("""\
analyst answered openai/gpt-51 step of 20 · 1,506 tokens in (1,024 cached), 120 out · $0.0032 · 4.2 s
AnswerBiscoe.\
""")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"value": None}, "The answer is None."),
        ({"value": "x", "status": "max_steps", "max_steps": 3}, "step limit of 3 reached"),
        ({"value": "x", "status": "max_steps"}, "Best guess, no answer"),
        ({"value": None, "status": "interrupted"}, "interrupted"),
        ({"value": "x", "status": "budget"}, "budget used up"),
        (
            {"value": None, "status": "failed", "error": Fault(kind="GenerationError", message="No key.")},
            "No key.",
        ),
    ],
)
def test_html_says_how_a_run_ended(fields: dict[str, object], words: str) -> None:
    text = Page(html_of(**fields)).text
    assert words in text
    assert ("answered" in text) == (fields.get("status") is None)
    assert ("Answer" in text) == (fields.get("status") is None)


def test_html_does_not_colour_an_answer_green_that_a_check_refused() -> None:
    refused = CheckResult(name="is_short", passed=False, reason="Too long.")
    page = html_of(verified="no", checks=(refused,), quiet=True)
    assert Page(page).text.endswith(
        "Refused by a check, no answerBiscoe.⚠ Check refused: is_short: Too long."
    )
    assert (
        page.count(GREEN) == html_of(value=None, status="failed", quiet=True).count(GREEN) + 2
    )  # its status


def test_html_says_nothing_of_checks_when_there_are_none() -> None:
    assert "heck" not in Page(html_of()).text


def test_html_shows_the_newest_of_a_plan_that_is_being_written() -> None:
    draft = running_draft("Look.")
    draft.add(StepEnded(step=plan(2, "1. Look.")))
    draft.add(StepStarted(step_number=3, kind="plan"))
    draft.add(PlanDelta(step_number=3, text="1. Look there. "))
    text = Page(to_live_bundle(draft.to_record())["text/html"]).text
    assert text.endswith("●3planning …1. Look there.")
