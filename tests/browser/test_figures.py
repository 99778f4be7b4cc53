from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from runs import setup
from views import RECORD, open_run, row_of, toggle_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

# Each call adds a line to the one figure of the cell, and tells how many it has.
DRAW = """
%matplotlib inline
import matplotlib.pyplot as plt
import ipywidgets

def draw(i: int) -> int:
    \"\"\"Draw one more line.

    Args:
        i: where it ends.
    \"\"\"
    plt.plot([0, i])
    time.sleep(0.7)
    return len(plt.gca().lines)
"""
N_LINES = 12
REPLIES = f"[*[call(('draw', {{'i': i}})) for i in range({N_LINES})], final('drawn')]"
ASK = "%%agent analyst --model @m --tools draw\nDraw lines."
TEXT = "text = ipywidgets.Text(description='Note'); text"
CELLS = [setup(REPLIES) + DRAW, ASK, TEXT, "# notes", "text.value"]


@pytest.mark.parametrize("route", ["control channel", "comm"])
def test_figure_and_typed_text_survive_every_click_of_a_run(route, lab, lab_folder):
    open_run(lab, lab_folder, f"figure-{route[:4]}", CELLS)
    lab.run(2)
    if route == "comm":  # as in a front end without the extension
        lab.page.evaluate("() => { delete globalThis.agentMagic }")
    lab.start(1)
    shown = lab.area(1)
    note = lab.area(2).get_by_role("textbox")
    editor = lab.page.locator(".jp-Cell").nth(3).locator(".cm-content")
    expect(row_of(shown, 1)).to_be_visible(timeout=15_000)

    note.fill("half a ")
    shown.get_by_role("combobox", name=re.compile("summary_mode")).select_option("all")
    expect(shown.get_by_text("summary_mode all: from the next call")).to_be_visible()
    editor.click()
    lab.page.keyboard.press("End")
    lab.page.keyboard.type(": first")
    shown.get_by_role("button", name="Pause", exact=True).click()
    expect(shown.get_by_role("button", name="Go on")).to_be_visible()
    note.press("End")
    note.press_sequentially("word")
    shown.get_by_role("button", name="Go on").click()
    expect(shown.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    toggle_of(row_of(shown, 1)).click()
    row_of(shown, 1).get_by_role("combobox").select_option("hidden")
    expect(row_of(shown, 1).get_by_text("hidden from the model")).to_be_visible()
    editor.click()
    lab.page.keyboard.press("End")
    lab.page.keyboard.type(", second")
    shown.get_by_role("combobox", name=re.compile("summary_mode")).select_option("off")
    expect(shown.get_by_text("summary_mode off: from the next call")).to_be_visible()
    expect(shown.get_by_role("button", name="Stop")).to_be_visible()  # all that was during the run

    lab.wait_for_end(1)
    outputs = lab.outputs(1)
    assert [RECORD in output["data"] for output in outputs].count(True) == 1
    assert [output["data"].keys() >= {"image/png"} for output in outputs].count(True) == 1
    record = outputs[0]["data"][RECORD]
    # Never closed and begun anew: each call found the lines of all before.
    assert [step["calls"][0]["observation"] for step in record["steps"][:-1]] == [
        str(n) for n in range(1, N_LINES + 1)
    ]
    assert record["steps"][0]["laid_on"]["view"] == "hidden"
    expect(note).to_have_value("half a word")
    assert lab.cells()[3]["source"] == "# notes: first, second"
    lab.run(4)
    assert lab.outputs(4)[0]["data"]["text/plain"] == "'half a word'"
    assert lab.complaints == []
