from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from view.markup import ATTACKS, ATTRIBUTES, ELEMENTS, Page
from view.samples import SCHEMA

from agent_magic.core.messages import ToolExample, ToolSchema
from agent_magic.record.cards import to_agent_record, to_tool_card, to_tool_record
from agent_magic.view.cards import agent_to_bundle, card_to_bundle, tool_to_bundle

AGENT = to_agent_record(
    name="analyst",
    model_id="openai/gpt-5",
    reason="the only key found",
    tools=[SCHEMA],
    settings={"max_steps": 20},
    n_runs=2,
    n_steps=7,
    last_status="answered",
)


def test_agent_card() -> None:
    bundle = agent_to_bundle(AGENT)
    assert bundle["text/plain"] == snapshot("""\
analyst · last run answered · openai/gpt-5 · the only key found
2 runs, 7 steps in memory · max_steps 20
Tools
    mean_mass  Mean body mass of one island.\
""")
    assert bundle["text/html"] == snapshot("""\
<div class="agent-magic mathjax_ignore" style="font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.5;color:var(--jp-ui-font-color1,inherit);max-width:920px;overflow-wrap:anywhere;text-align:left"><div><span style="font-weight:600;font-size:14px">analyst</span> <span style="color:var(--jp-success-color1,#388e3c);border:1px solid var(--jp-success-color1,#388e3c);border-radius:10px;padding:0 8px;margin:0 4px;font-size:11px;white-space:nowrap">last run answered</span> <span style="color:var(--jp-ui-font-color2,#808080)">openai/gpt-5 · the only key found</span></div>
<div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">2 runs, 7 steps in memory · max_steps 20</div>
<div style="color:var(--jp-ui-font-color2,#808080);font-size:11px;margin-top:4px">Tools</div><table style="margin:2px 0 6px;border:0;border-collapse:collapse;table-layout:auto"><tr style="background:none"><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:nowrap"><code style="font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px;background:none;padding:0;color:inherit">mean_mass</code></td><td style="text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;white-space:pre-wrap">Mean body mass of one island.</td></tr></table></div>\
""")


def test_agent_card_shows_the_settings_that_are_set() -> None:
    settings = {
        "max_steps": 20,
        "planning_interval": 5,
        "summary_mode": "plan",
        "max_time_s": None,
        "max_cost_usd": 0.5,
        "max_total_tokens": None,
    }
    card = agent_to_bundle(to_agent_record(name="a", model_id="m", settings=settings))["text/plain"]
    assert card == snapshot("""\
a · not run yet · m
0 runs, 0 steps in memory · max_steps 20 · planning_interval 5 · summary_mode "plan" · max_cost_usd 0.5
No tools\
""")


def test_agent_card_of_an_agent_that_never_ran() -> None:
    assert agent_to_bundle(to_agent_record(name="a", model_id="m"))["text/plain"] == snapshot("""\
a · not run yet · m
0 runs, 0 steps in memory
No tools\
""")


def test_tool_card() -> None:
    bundle = tool_to_bundle(to_tool_record(SCHEMA, ["'n' has no description: the model must guess"]))
    assert bundle["text/plain"] == snapshot("""\
mean_mass · tool
    Mean body mass of one island.

    Both sexes count alike.
table: object
    the penguins
island: "Biscoe" | "Dream"
    which island
n: integer = 3
Example: How heavy are they on Biscoe?
    mean_mass(table=@penguins, island="Biscoe")
! 'n' has no description: the model must guess\
""")
    assert Page(bundle["text/html"]).text == snapshot("""\
mean_mass tool
Mean body mass of one island.

Both sexes count alike.
Parameterstableobjectthe penguinsisland"Biscoe" | "Dream"which islandninteger = 3
Examplesmean_mass(table=@penguins, island="Biscoe") How heavy are they on Biscoe?
⚠ 'n' has no description: the model must guess\
""")


def test_whole_tool_card_has_both_forms() -> None:
    card = to_tool_card(
        SCHEMA,
        sent={"name": "mean_mass"},
        code="def mean_mass(n: int = 3) -> float:\n    ...",
        weaknesses=["weak"],
    )
    bundle = card_to_bundle(card)
    assert bundle["text/plain"] == snapshot("""\
mean_mass · tool
    Mean body mass of one island.

    Both sexes count alike.
table: object
    the penguins
island: "Biscoe" | "Dream"
    which island
n: integer = 3
Example: How heavy are they on Biscoe?
    mean_mass(table=@penguins, island="Biscoe")
Sent to a model that calls tools:
    {
      "name": "mean_mass"
    }
Told to a model that writes code:
    def mean_mass(n: int = 3) -> float:
        ...
! weak\
""")
    page = Page(bundle["text/html"])
    assert page.text == snapshot("""\
mean_mass tool
Mean body mass of one island.

Both sexes count alike.
Parameterstableobjectthe penguinsisland"Biscoe" | "Dream"which islandninteger = 3
Examplesmean_mass(table=@penguins, island="Biscoe") How heavy are they on Biscoe?
Sent to a model that calls tools{
  "name": "mean_mass"
}
Told to a model that writes codedef mean_mass(n: int = 3) -> float:
    ...
⚠ weak\
""")
    assert page.elements.count("details") == 2


@pytest.mark.parametrize("attack", ATTACKS)
def test_cards_make_no_element_of_a_text(attack: str) -> None:
    schema = ToolSchema(
        name=attack,
        description=attack,
        parameters={"properties": {attack: {"type": attack, "description": attack, "default": attack}}},
        examples=(ToolExample(task=attack, arguments={attack: attack}),),
    )
    agent = to_agent_record(
        name=attack, model_id=attack, reason=attack, tools=[schema], settings={attack: attack}
    )
    card = to_tool_card(schema, sent={attack: attack}, code=attack, weaknesses=[attack])
    for bundle in (tool_to_bundle(card["tool"]), card_to_bundle(card), agent_to_bundle(agent)):
        page = Page(bundle["text/html"])
        assert page.is_balanced
        assert set(page.elements) <= ELEMENTS
        assert {name for name, _ in page.attributes} <= ATTRIBUTES
        assert page.others == []
