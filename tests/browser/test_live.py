from __future__ import annotations

import json
import re
import subprocess
import sys

import nbformat
import pytest
from lab import write_notebook
from playwright.sync_api import expect
from runs import ask, setup

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

RECORD = "application/vnd.agent-magic.run.v1+json"
WIDGET = "application/vnd.jupyter.widget-view+json"


def steps_of(shown):
    """The rows of the steps that are there, the running one too."""
    return shown.get_by_role("listitem")


def open_run(lab, folder, name, cells, *, run=0):
    write_notebook(folder / f"{name}.ipynb", cells)
    lab.open(f"{name}.ipynb")
    for cell in range(run + 1):
        lab.run(cell)


def test_steps_stream_in_while_the_cell_runs(lab, lab_folder):
    text = "I look at Oslo first. " * 12
    replies = (
        f"[call(('mean_price', {{'city': 'Oslo', 'wait': 1.5}})) | {{'content': {text!r}}}, final('Oslo')]"
    )
    open_run(lab, lab_folder, "stream", [setup(replies, stream_pieces="40", latency_s="2.0"), ask()])
    lab.start(1)
    shown = lab.area(1)
    expect(shown.get_by_text("thinking").first).to_be_visible(timeout=10_000)
    thought = shown.get_by_text(re.compile("I look at Oslo")).first
    expect(thought).to_be_visible()
    early = len(thought.inner_text())
    expect(shown.get_by_text(re.compile("calling mean_price")).first).to_be_visible()
    assert early < len(text)
    assert set(lab.outputs(1)[0]["data"]) == {WIDGET, RECORD, "text/html", "text/plain"}
    lab.wait_for_end(1)
    expect(shown.get_by_text("answered").first).to_be_visible()
    assert RECORD in lab.outputs(1)[0]["data"]
    assert WIDGET not in lab.outputs(1)[0]["data"]
    assert lab.complaints == []


def test_stop_ends_a_tool_in_the_middle(lab, lab_folder):
    open_run(lab, lab_folder, "stopped", [setup("prices(3, 60)"), ask(), "1 + 1"])
    lab.start(1)
    shown = lab.area(1)
    expect(shown.get_by_text(re.compile("calling mean_price")).first).to_be_visible(timeout=10_000)
    shown.get_by_role("button", name="Stop").click()
    lab.wait_for_end(1, timeout_s=10)
    assert lab.outputs(1)[-1]["ename"] == "KeyboardInterrupt"
    expect(shown.get_by_text("interrupted").first).to_be_visible()
    lab.run(2)
    assert lab.outputs(2)[0]["data"]["text/plain"] == "2"


def test_calls_are_approved_edited_and_rejected(lab, lab_folder):
    two = "call(('mean_price', {'city': 'Oslo'}), ('mean_price', {'city': 'Bergen'}))"
    replies = f"[{two}, call(('mean_price', {{'city': 'Tromsø'}})), final('Oslo')]"
    open_run(lab, lab_folder, "approved", [setup(replies), ask("--approve tools")])
    lab.start(1)
    shown = lab.area(1)
    card = shown.get_by_role("group", name="Waiting for your approval")
    expect(card).to_be_visible(timeout=15_000)
    expect(card.get_by_role("button", name="Approve", exact=True)).to_have_count(2)
    card.get_by_role("button", name="Approve", exact=True).first.click()
    card.get_by_role("button", name="Edit").last.click()
    card.get_by_role("textbox").fill('{"city": "Trondheim"')
    card.get_by_role("button", name="Approve as edited").click()
    expect(card.get_by_role("alert")).to_contain_text("not JSON")
    card.get_by_role("textbox").fill('{"city": "Oslo", "wait": "long"}')
    card.get_by_role("button", name="Approve as edited").click()
    expect(card.get_by_text(re.compile("wait"))).not_to_have_count(0)
    card.get_by_role("textbox").fill('{"city": "Oslo"}')
    card.get_by_role("button", name="Approve as edited").click()
    expect(card.get_by_text("Tromsø").first).to_be_visible()
    card.get_by_role("button", name="Reject").click()
    card.get_by_role("textbox").fill("Tromsø is too far north.")
    card.get_by_role("button", name="Reject").last.click()
    lab.wait_for_end(1)
    record = lab.outputs(1)[0]["data"][RECORD]
    first, second = record["steps"][0]["calls"]
    assert first["observation"] == "4321.5"
    assert second["observation"] == "4321.5"
    assert second["notes"] == ['the person changed the arguments to {"city": "Oslo"}']
    assert "Tromsø is too far north." in record["steps"][1]["calls"][0]["error"]["message"]
    assert record["status"] == "answered"


def test_plan_is_edited_before_it_counts(lab, lab_folder):
    replies = "[PLAN, *prices(1, 0), final('Oslo')]"
    open_run(lab, lab_folder, "planned", [setup(replies), ask("--approve all --plan 5")])
    lab.start(1)
    card = lab.area(1).get_by_role("group", name="Waiting for your approval")
    expect(card.get_by_text("Look up Bergen")).to_be_visible(timeout=15_000)
    card.get_by_role("button", name="Edit").click()
    card.get_by_role("textbox").fill("1. Ask for Bergen alone")
    card.get_by_role("button", name="Approve as edited").click()
    expect(card.get_by_text("mean_price").first).to_be_visible()
    card.get_by_role("button", name="Approve", exact=True).click()
    lab.wait_for_end(1)
    assert lab.outputs(1)[0]["data"][RECORD]["steps"][0]["plan"] == "1. Ask for Bergen alone"


def test_lens_shows_both_views_of_a_call(lab, lab_folder):
    open_run(lab, lab_folder, "lens", [setup("[PLAN, *prices(3, 0), final('Oslo')]"), ask("--plan 9")], run=1)
    shown = lab.area(1)
    row = steps_of(shown).nth(3)
    row.get_by_role("button").first.click()
    row.get_by_role("button", name="What the model got").click()
    expect(shown.get_by_text("normal view").first).to_be_visible()
    expect(shown.get_by_text("summary view").first).to_be_visible()
    expect(shown.get_by_text(re.compile("the same as what was sent")).first).to_be_visible()
    expect(shown.get_by_text(re.compile("You are an agent")).first).to_be_visible()


def test_views_of_steps_are_switched_after_the_end_too(lab, lab_folder):
    cells = [
        setup("[*prices(2, 0), final('Oslo')]"),
        ask(),
        "analyst.memory.view_of(1), analyst.memory.is_pinned(1)",
    ]
    open_run(lab, lab_folder, "views", cells, run=1)
    row = steps_of(lab.area(1)).nth(0)
    row.get_by_role("button").first.click()
    row.get_by_role("combobox").select_option("hidden")
    row.get_by_role("button", name=re.compile("[Pp]in")).click()
    expect(row.get_by_text("hidden from the model").first).to_be_visible()
    lab.run(2)
    assert lab.outputs(2)[0]["data"]["text/plain"] == "('hidden', True)"


def test_saved_run_is_there_after_the_kernel_was_killed_and_opens_untrusted(lab, lab_folder):
    open_run(
        lab,
        lab_folder,
        "saved",
        [setup("[PLAN, *prices(2, 0), final('Oslo, by far')]"), ask("--plan 9")],
        run=1,
    )
    lab.save()
    lab.shut_down_kernel()
    lab.page.goto("about:blank")
    # A signature that nobody has made: the notebook is not trusted.
    file = lab_folder / "saved.ipynb"
    notebook = nbformat.read(file, as_version=4)
    notebook.cells[1].source += "\n"
    nbformat.write(notebook, file)
    lab.open("saved.ipynb", wait_for_kernel=False)
    shown = lab.area(1)
    expect(shown.get_by_text("Oslo, by far").first).to_be_visible()
    expect(steps_of(shown)).to_have_count(4)
    steps_of(shown).nth(1).get_by_role("button").first.click()
    expect(steps_of(shown).nth(1).get_by_text("3987.0").last).to_be_visible()
    expect(shown.get_by_role("button", name="Stop")).to_have_count(0)
    expect(shown.get_by_role("combobox")).to_have_count(0)


def test_saved_run_goes_through_nbconvert_whole(lab, lab_folder):
    open_run(
        lab,
        lab_folder,
        "converted",
        [setup("[PLAN, *prices(12, 0), final('Oslo, by far')]"), ask("--plan 20")],
        run=1,
    )
    lab.save()
    record = lab.outputs(1)[0]["data"][RECORD]
    assert len(record["steps"]) == 14
    for form, mark in (("html", "<details"), ("markdown", "")):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "nbconvert",
                "--to",
                form,
                "--stdout",
                str(lab_folder / "converted.ipynb"),
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        assert done.stdout.count("mean_price") >= 12
        assert mark in done.stdout
        for number in range(1, 13):
            assert re.search(rf"\b{number}\b", done.stdout), f"step {number} in {form}"
        assert "Oslo, by far" in done.stdout
        assert "widget-view" not in done.stdout
    plain = lab.outputs(1)[0]["data"]["text/plain"]
    assert plain.count("mean_price(") >= 12
    assert json.dumps(record)


def test_everything_is_reached_with_the_keyboard(lab, lab_folder):
    open_run(lab, lab_folder, "keyboard", [setup("[*prices(2, 0), final('Oslo')]"), ask()], run=1)
    shown = lab.area(1)
    row = steps_of(shown).nth(0)
    expect(row).to_be_visible()
    shown.locator("select, button, input").first.focus()
    seen = set()
    for _ in range(40):
        focused = lab.page.evaluate(
            "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
        )
        seen.add(focused.strip()[:40])
        if row.get_by_role("button").first.evaluate("node => node === document.activeElement"):
            break
        lab.page.keyboard.press("Tab")
    else:
        pytest.fail(f"the first step cannot be reached by Tab: {seen}")
    lab.page.keyboard.press("Enter")
    expect(row.get_by_role("button").first).to_have_attribute("aria-expanded", "true")
    expect(row.get_by_text("3987.0").last).to_be_visible()
    lab.page.keyboard.press("Enter")
    expect(row.get_by_role("button").first).to_have_attribute("aria-expanded", "false")
