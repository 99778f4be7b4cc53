"""What goes over the wire: the fixtures that the TypeScript tests read are written here.

`--inline-snapshot` has no part in them: set `WRITE_WIRE=1` to write them anew, then read the diff.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from view.code_samples import code_events

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import Event, RunStarted
from agent_magic.models.scripted import ScriptedModel
from agent_magic.record.draft import RunDraft
from agent_magic.view.feed import Feed
from agent_magic.view.protocol import SettingsRecord

WIRE = Path(__file__).with_name("wire")
call, final = ScriptedModel.calls, ScriptedModel.final


def mean_price(city: str, rooms: int = 0) -> float:
    """Mean price of the listings in a city.

    Args:
        city: name as in the table
        rooms: at least so many
    """
    if city == "Atlantis":
        raise KeyError(city)
    print(f"looking at {city}")
    return 4321.5 + rooms


def big_table() -> dict[str, Any]:
    """All listings."""
    time.sleep(0.1)  # so that of two calls side by side this one ends last
    return {"cities": ["Oslo", "Bergen"], "prices": {"Oslo": [1, 2, 3], "Bergen": None}, "ok": True}


PLAN_1 = "1. Look up Oslo.\n2. Look up Bergen.\n3. Compare."
PLAN_2 = "1. Look up Bergen.\n2. Compare.\n3. Answer."
RUNS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "answered": (
        [
            call(("mean_price", {"city": "Oslo"})) | {"content": "I will ask for Oslo first."},
            call(("mean_price", {"city": "Bergen", "rooms": 2}), ("big_table", {})),
            final("Oslo"),
        ],
        {},
    ),
    "planned": (
        [
            PLAN_1,
            call(("mean_price", {"city": "Oslo"})),
            PLAN_2,
            call(("mean_price", {"city": "Bergen"})),
            final(2),
        ],
        {"planning_interval": 1, "max_steps": 2},
    ),
    "failing": (
        [
            call(("mean_price", {"city": "Atlantis"})),
            call(("mean_prize", {"city": "Oslo"})),
            call(("mean_price", {"rooms": "many"})),
            "no call at all",
        ],
        {"max_steps": 3},
    ),
    "markup": (
        [
            call(("mean_price", {"city": "<img src=x onerror=alert(1)>"}))
            | {"content": "<script>window.hit = 1</script> \x1b[31mred\x1b[0m \u202egnp.exe"},
            final("</details><b>bold</b>"),
        ],
        {},
    ),
}


def managed_events() -> Iterator[Event]:
    """Two managed agents side by side, of which one fails at a step, and has an agent of its own."""
    counter = ToolCallingAgent(
        tools=[mean_price],
        model=ScriptedModel([call(("mean_price", {"city": "Bergen"})), final(4321.5)]),
        name="counter",
        description="Counts <b>listings</b>.",
    )
    looker = ToolCallingAgent(
        tools=[mean_price],
        managed_agents=[counter],
        model=ScriptedModel(
            [
                call(("mean_price", {"city": "Atlantis"})) | {"content": "I look at <i>Atlantis</i>."},
                call(("counter", {"task": "Count <b>all</b>."})),
                final({"Oslo": 1}),
            ],
            stream_pieces=3,
        ),
        name="looker",
        description="Looks at a city.",
    )
    again = ToolCallingAgent(
        tools=[mean_price],
        model=ScriptedModel([call(("mean_price", {"city": "Oslo"}))] * 2),
        name="digger",
        description="Digs in a city.",
        max_steps=1,
    )
    calls = call(("looker", {"task": "Look."}), ("digger", {"task": "Dig."}))
    boss = ToolCallingAgent(
        tools=[],
        managed_agents=[looker, again],
        model=ScriptedModel([calls, final("Oslo")]),
        name="analyst",
        max_tool_threads=1,  # so that they tell of themselves in one order
    )
    yield from boss.stream("Ask both.")


def events_of(name: str) -> Iterator[Event]:
    if name in ("code", "managed"):
        yield from code_events() if name == "code" else managed_events()
        return
    replies, options = RUNS[name]
    agent = ToolCallingAgent(
        tools=[mean_price, big_table],
        model=ScriptedModel(replies, stream_pieces=3),
        name="analyst",
        **options,
    )
    yield from agent.stream("Which of <b>Oslo</b> and Bergen has the higher mean price?")


def messages_of(name: str) -> dict[str, Any]:
    """All that a page is sent of a run when it is told at every event."""
    draft, feed = RunDraft(reason="given to the agent in Python", clock=lambda: 1_800_000_000.0), Feed()
    settings = SettingsRecord(
        summary_mode="plan",
        planning_interval=None,
        is_paused=False,
        max_steps=20,
        approve="never",
        pending={},
    )
    messages: list[Any] = []
    snapshot = None
    for event in events_of(name):
        draft.add(event)
        if draft.is_finished:
            continue
        messages += feed.take(draft.to_record(), settings)
        if isinstance(event, RunStarted):
            snapshot = feed.to_snapshot(draft.to_record(), settings)
    messages += feed.end(draft.to_record(), settings)
    return _settled({"snapshot": snapshot, "messages": messages})


def _settled(form: Any) -> Any:
    """The same with ids and times that do not change from run to run."""
    text = json.dumps(form, ensure_ascii=False)
    run_ids = dict.fromkeys(re.findall(r'"run_id": "(\w+)"', text))
    for n, run_id in enumerate(run_ids, 1):
        text = text.replace(run_id, f"run_{n}")
    text = re.sub(r'"duration_s": [\d.e-]+', '"duration_s": 0.25', text)
    text = re.sub(r'"digest": "\w+"', '"digest": "d1"', text)
    text = re.sub(r'"agent_magic": "[^"]+"', '"agent_magic": "1.0"', text)
    text = re.sub(r'"started": "[^"]+"', '"started": "2027-01-15T08:00:00.000+00:00"', text)
    return json.loads(text)


@pytest.mark.parametrize("name", [*RUNS, "code", "managed"])
def test_messages_of_a_run_are_those_that_the_page_is_tested_with(name):
    file = WIRE / f"{name}.json"
    told = messages_of(name)
    if os.environ.get("WRITE_WIRE"):
        file.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert told == json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [*RUNS, "code", "managed"])
def test_messages_are_numbered_without_a_gap(name):
    told = messages_of(name)
    assert [message["n"] for message in told["messages"]] == list(range(1, len(told["messages"]) + 1))
    assert 0 < told["snapshot"]["n"] < len(told["messages"])
