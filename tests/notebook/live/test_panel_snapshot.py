"""What a panel is drawn from; the fixture that the TypeScript tests read is written here.

`--inline-snapshot` has no part in it: set `WRITE_WIRE=1` to write it anew, then read the diff.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from inline_snapshot import snapshot
from view.markup import ATTACKS, ATTRIBUTES, ELEMENTS, Page

from agent_magic import ScriptedModel, ToolCallingAgent
from agent_magic.notebook.live.panel import Panel, look_once
from agent_magic.view.panel_form import panel_to_bundle

WIRE = Path(__file__).parents[2] / "view" / "wire" / "agent.json"
call, final = ScriptedModel.calls, ScriptedModel.final


def mean_price(city: str, rooms: int = 0) -> float:
    """Mean price of the listings in a city.

    Args:
        city: name as in the table
        rooms: at least so many
    """
    if city == "Atlantis":
        raise KeyError(city)
    return 4321.5 + rooms


def look(at) -> str:
    """<img src=x onerror=alert(1)>"""
    return f"<b>{at}</b>"


def shown_agent() -> ToolCallingAgent:
    """Two runs with plans, errors, an edit, a pin and a hidden step."""
    agent = ToolCallingAgent(
        [mean_price, look],
        ScriptedModel(
            [
                "1. Look up Oslo.\n2. Answer.",
                call(("mean_price", {"city": "Oslo"})),
                final(4321.5),
                "1. Look.\n2. Answer.",
                call(("mean_price", {"city": "Atlantis"})),
                call(("look", {"at": "<script>alert(1)</script>"})),
                final("</details><b>bold</b>"),
            ]
        ),
        name="analyst",
        planning_interval=9,
        state={"listings": list(range(1000)), "note": "<svg onload=alert(1)>"},
    )
    agent.run("What is the mean price in Oslo?")
    agent.run("Look at <b>Atlantis</b>.", reset=False)
    agent.memory.edit(2, observations="4,000", by="person")
    agent.memory.set_view(2, "summary")
    agent.memory.set_view(7, "hidden")
    agent.memory.set_pinned(8)
    return agent


def test_snapshot_of_an_agent_is_the_one_that_the_page_is_tested_with():
    told = json.loads(json.dumps(look_once(shown_agent())))
    told["id"] = "agent-1"
    for step in (step for run in told["runs"] for step in run["steps"]):
        if "edited_at" in step.get("laid_on", {}):
            step["laid_on"]["edited_at"] = "2027-01-15T08:00:00.000+00:00"
    if os.environ.get("WRITE_WIRE"):
        WIRE.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert told == json.loads(WIRE.read_text(encoding="utf-8"))


def test_static_form_shows_what_the_panel_shows():
    bundle = panel_to_bundle(look_once(shown_agent()))
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "2027-01-15 08:00 UTC", bundle["text/plain"])
    assert text == snapshot("""\
analyst · last run answered · scripted
2 runs, 5 steps in memory · max_steps 20 · max_tool_threads 128 · state "all" · planning_interval 9
Tools
    mean_price  Mean price of the listings in a city.
    look        <img src=x onerror=alert(1)>
! Tool 'look': parameter 'at' has no type hint, so any value is taken. Add one to its signature, e.g. at: str
! Tool 'look': parameter 'at' has no description. Add to its docstring: at: what it means
Memory
    What is the mean price in Oslo? · answered · 2 steps
        Plan: 2 steps
        1. mean_price(city="Oslo") → 4,000 · summary view · edited by person, 2027-01-15 08:00 UTC
        2. final_answer(answer=4321.5)
        Answer: 4321.5
    Look at <b>Atlantis</b>. · answered · 3 steps
        Plan: 2 steps
        1. mean_price(city="Atlantis") ✗ ToolExecutionError: mean_price raised KeyError: 'Atlantis' · hidden from the model
        2. look(at="<script>alert(1)</script>") → <b><script>alert(1)</script></b> · pinned
        3. final_answer(answer="</details><b>bold</b>")
        Answer: </details><b>bold</b>
State (all names)
    listings  list, 1,000 items: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, ...]
    note  str, 21 characters: '<svg onload=alert(1)>'\
""")
    html = Page(bundle["text/html"]).text
    for part in (
        "What is the mean price in Oslo? · answered · 2 steps",
        'mean_price(city="Oslo") → 4,000 · summary view · edited by person',
        "hidden from the model",
        "State (all names)",
        "list, 1,000 items: [0, 1, 2",
        "parameter 'at' has no type hint",
    ):
        assert part in html


def test_static_form_makes_no_element_of_data():
    for attack in ATTACKS:
        agent = ToolCallingAgent(
            [], ScriptedModel([final(attack)]), instructions=attack, state={"x": attack, "y": [attack]}
        )
        agent.run(attack or "x")
        page = Page(panel_to_bundle(look_once(agent))["text/html"])
        assert set(page.elements) <= ELEMENTS
        assert {name for name, _ in page.attributes} <= ATTRIBUTES
        assert page.is_balanced


def test_two_tools_of_one_name_are_told_instead_of_raised():
    agent = ToolCallingAgent([mean_price])
    agent.toolbox._entries.append(agent.toolbox._entries[0])
    told = look_once(agent)
    assert told["tools"] == []
    assert told["tools_error"] == snapshot("""\
Two tools have the name 'mean_price'.
Give one of them another: put it in a variable of another name, or mark it  @tool(name="mean_price_2")\
""")
    assert "Two tools have the name" in panel_to_bundle(told)["text/plain"]


def test_long_memory_shows_the_newest_steps_and_counts_the_others():
    agent = ToolCallingAgent([mean_price], ScriptedModel([final(1)] * 150))
    for _ in range(150):
        agent.run("Again.", reset=False)
    told = look_once(agent)
    shown = [step for run in told["runs"] for step in run["steps"]]
    assert (len(shown), told["steps_left_out"]) == (400, 50)
    assert len(json.dumps(told)) < 100_000


def test_only_new_steps_are_worked_out_anew():
    agent = ToolCallingAgent([mean_price], ScriptedModel([final(1), final(2)]))
    agent.run("One.")
    panel, settings = Panel("agent-1"), look_once(agent)["settings"]
    first = panel.look(agent, settings, is_running=False)
    agent.run("Two.", reset=False)
    second = panel.look(agent, settings, is_running=False)
    places = [[step["place"] for run in told["runs"] for step in run["steps"]] for told in (first, second)]
    assert places == [[0, 1, 2], [0, 1, 2, 3, 4, 5]]


def test_look_from_another_thread_looks_into_no_value():
    class Noisy:
        """Says that it was looked into."""

        def __repr__(self) -> str:
            looked.append(1)
            return "noisy"

    looked: list[int] = []
    agent = ToolCallingAgent([], ScriptedModel([]), state={"noisy": Noisy()})
    panel, settings = Panel("agent-1"), look_once(agent)["settings"]
    looked.clear()
    told = panel.look(agent, settings, is_running=False, with_previews=False)
    assert (told["names"], looked) == ([{"name": "noisy", "type": "Noisy"}], [])
    panel.look(agent, settings, is_running=False)
    told = panel.look(agent, settings, is_running=False, with_previews=False)
    assert told["names"] == [{"name": "noisy", "type": "Noisy", "preview": "noisy"}]
