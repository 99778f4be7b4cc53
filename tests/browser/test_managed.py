from __future__ import annotations

import re

import pytest
from lab import write_notebook
from playwright.sync_api import expect
from runs import LOAD

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

RECORD = "application/vnd.agent-magic.run.v1+json"
AGENTS = """
from agent_magic import ToolCallingAgent

def expert(name: str, city: str, n: int) -> ToolCallingAgent:
    steps = [call(("mean_price", {"city": city, "wait": 1.0})) | {"content": f"I look at {city}."}] * n
    return ToolCallingAgent(
        tools=[mean_price],
        model=ScriptedModel([*steps, final(f"{city} is fine")], latency_s=0.3, stream_pieces=6),
        name=name,
        description=f"Knows the prices of {city}.",
    )

looker, digger = expert("looker", "Oslo", 4), expert("digger", "Bergen", 5)
both = call(("looker", {"task": "Look at Oslo."}), ("digger", {"task": "Dig in Bergen."}))
m = ScriptedModel([both, final("Oslo, by far")])
"""
ASK = "%%agent boss --model @m --tools looker digger\nWhich of Oslo and Bergen is dearer?"


def lanes_of(shown):
    return shown.locator(".jp-AgentMagic-lane")


def steps_of(lane):
    return lane.get_by_role("listitem")


def open_run(lab, folder, name):
    write_notebook(folder / f"{name}.ipynb", [LOAD + AGENTS, ASK])
    lab.open(f"{name}.ipynb")
    lab.run(0)
    lab.start(1)
    return lab.area(1)


def test_managed_agents_are_watched_side_by_side_and_are_there_in_the_reopened_notebook(lab, lab_folder):
    shown = open_run(lab, lab_folder, "managed")
    lanes = lanes_of(shown)
    expect(lanes).to_have_count(2, timeout=20_000)
    one, other = lanes.nth(0), lanes.nth(1)
    # Both have made a step and go on; what each does is told in its own lane.
    for lane, city in ((one, "Oslo"), (other, "Bergen")):
        expect(lane.get_by_text(re.compile("^running$"))).to_be_visible(timeout=20_000)
        expect(lane.get_by_text(re.compile(f'mean_price.city="{city}"')).first).to_be_visible(timeout=20_000)
        expect(lane.get_by_text(f"I look at {city}.").first).to_be_visible(timeout=20_000)
    left, right = one.bounding_box(), other.bounding_box()
    assert abs(left["y"] - right["y"]) < 2
    assert left["x"] + left["width"] <= right["x"]
    lab.page.set_viewport_size({"width": 520, "height": 900})
    lab.page.wait_for_function(
        "() => { const [one, other] = [...document.querySelectorAll('.jp-AgentMagic-lane')].map(lane => lane.getBoundingClientRect());"
        " return one && other && other.top >= one.bottom }"
    )
    lab.page.set_viewport_size({"width": 1000, "height": 900})

    lab.wait_for_end(1)
    record = lab.outputs(1)[0]["data"][RECORD]
    assert record["status"] == "answered"
    assert [
        (call["run"]["agent"], call["run"]["status"], len(call["run"]["steps"]))
        for call in record["steps"][0]["calls"]
    ] == [("looker", "answered", 5), ("digger", "answered", 6)]

    lab.save()
    lab.shut_down_kernel()
    lab.page.goto("about:blank")
    lab.open("managed.ipynb", wait_for_kernel=False)
    shown = lab.area(1)
    row = shown.get_by_role("listitem").first
    expect(row.get_by_text("looker(").first).to_be_visible()
    # With the keyboard alone: the step, its lane, and a step in it.
    row.get_by_role("button").first.press("Enter")
    lane = lanes_of(row).nth(0)
    expect(steps_of(lane)).to_have_count(5)
    expect(lanes_of(row).nth(1).get_by_text(re.compile("6 steps"))).to_be_visible()
    inner = steps_of(lane).nth(0)
    inner.get_by_role("button").first.press("Enter")
    expect(inner.get_by_text("I look at Oslo.")).to_be_visible()
    expect(inner.get_by_text("4321.5").last).to_be_visible()
    lane.get_by_role("button").first.press("Enter")
    expect(lane.get_by_role("button").first).to_have_attribute("aria-expanded", "false")
    expect(steps_of(lane)).to_have_count(0)
    assert lab.complaints == []


def test_stop_ends_the_managed_agents_too(lab, lab_folder):
    shown = open_run(lab, lab_folder, "managed_stopped")
    expect(lanes_of(shown)).to_have_count(2, timeout=20_000)
    shown.get_by_role("button", name="Stop").click()
    lab.wait_for_end(1, timeout_s=20)
    record = lab.outputs(1)[0]["data"][RECORD]
    assert record["status"] == "interrupted"
    assert [call["run"]["status"] for call in record["steps"][0]["calls"]] == ["interrupted"] * 2
    lanes = lanes_of(shown)
    shown.get_by_role("listitem").first.get_by_role("button").first.click()
    expect(lanes.nth(0).get_by_text("interrupted").first).to_be_visible()
