from __future__ import annotations

import re

import pytest
from lab import write_notebook
from playwright.sync_api import expect
from runs import ask, setup
from views import RECORD, row_of, toggle_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

MEMORY = "print(analyst.memory.view_of(1), analyst.settings.summary_mode)"


def test_run_is_watched_steered_and_opened_again_in_notebook_7(old_lab, lab_folder):
    lab = old_lab("notebook")
    write_notebook(lab_folder / "seven.ipynb", [setup("prices(90, 0.7)"), ask("--max-steps 90"), MEMORY])
    lab.open("seven.ipynb")
    lab.run(0)
    lab.start(1)
    shown = lab.area(1)
    expect(row_of(shown, 1)).to_be_visible(timeout=15_000)
    shown.get_by_role("combobox", name=re.compile("summary_mode")).select_option("all")
    expect(shown.get_by_text("summary_mode all: from the next call")).to_be_visible()
    toggle_of(row_of(shown, 1)).click()
    row_of(shown, 1).get_by_role("combobox").select_option("hidden")
    expect(row_of(shown, 1).get_by_text("hidden from the model").first).to_be_visible()
    shown.get_by_role("button", name="Stop").click()
    lab.wait_for_end(1)
    expect(shown.get_by_text("interrupted", exact=True).first).to_be_visible()
    record = lab.outputs(1)[0]["data"][RECORD]
    assert record["status"] == "interrupted"
    assert record["steps"][0]["laid_on"]["view"] == "hidden"
    lab.run(2)
    assert lab.outputs(2)[0]["text"].strip() == "hidden all"
    lab.save()
    lab.shut_down_kernel()
    lab.page.goto("about:blank")
    lab.open("seven.ipynb", wait_for_kernel=False)
    toggle_of(row_of(shown, 1)).click()
    expect(row_of(shown, 1).get_by_text("3987.0").last).to_be_visible()
    expect(shown.get_by_role("button", name="Stop")).to_have_count(0)
