from __future__ import annotations

import re

import nbformat
import pytest
from lab import CURRENT
from playwright.sync_api import expect
from runs import ask, setup
from views import RECORD, open_run, row_of, steps_of, toggle_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

KERNEL = f"{CURRENT}.sessionContext.session.kernel"
OFFLINE_MS = 10_000
# Offline, a socket that is open stays so, and one that is closed may wait long for its end.
CUT = f"""() => {{
  const socket = {KERNEL}._ws, closed = socket.onclose;
  socket.close();
  closed.call(socket, new CloseEvent('close'));
}}"""
OUTCOME = "print(analyst.result.status, sum(hasattr(step, 'tool_results') for step in analyst.result.steps))"


def prices(n, wait):
    return setup(f"[*prices({n}, {wait}), final('Oslo')]")


def start(lab, folder, name, cells, *, step=1):
    """Start the run of cell 1 and wait until a step of it is there."""
    open_run(lab, folder, name, cells)
    lab.start(1)
    shown = lab.area(1)
    expect(row_of(shown, step)).to_be_visible(timeout=20_000)
    return shown


def outcome_of(lab, cell=2):
    lab.run(cell)
    return lab.outputs(cell)[0]["text"].split()


def test_run_goes_on_when_its_output_is_cleared(lab, lab_folder):
    cells = [prices(4, 0.8), ask(), OUTCOME, "analyst.runs[-1]"]
    start(lab, lab_folder, "cleared", cells)
    lab.select(1)
    lab.command("notebook:clear-cell-output")
    assert lab.outputs(1) == []
    lab.wait_for_end(1)
    assert outcome_of(lab) == ["answered", "5"]
    lab.run(3)
    expect(row_of(lab.area(3), 5)).to_be_visible()
    assert lab.complaints == []


def test_run_goes_on_when_its_cell_is_deleted(lab, lab_folder):
    start(lab, lab_folder, "deleted", [prices(4, 0.8), ask(), OUTCOME])
    lab.select(1)
    lab.command("notebook:delete-cell")
    assert outcome_of(lab, 1) == ["answered", "5"]
    assert lab.complaints == []


def test_view_says_that_the_kernel_was_restarted(lab, lab_folder):
    shown = start(lab, lab_folder, "restarted", [prices(60, 1), ask("--max-steps 90"), "1 + 1"], step=2)
    toggle_of(row_of(shown, 1)).click()
    expect(row_of(shown, 1).get_by_role("combobox")).to_be_visible()
    lab.restart_kernel()
    expect(shown.get_by_text(re.compile("The kernel ended during this run"))).to_be_visible()
    expect(shown.get_by_text("interrupted", exact=True).first).to_be_visible()
    expect(row_of(shown, 2)).to_be_visible()
    expect(shown.get_by_role("button", name="Stop")).to_have_count(0)
    expect(shown.get_by_role("combobox")).to_have_count(0)
    expect(shown.get_by_role("checkbox")).to_have_count(0)
    lab.run(2)
    assert lab.outputs(2)[0]["data"]["text/plain"] == "2"
    # JupyterLab itself tells of the comm that is gone with the kernel.
    assert [said for said in lab.complaints if not said.startswith("Comm not found")] == []


def test_steps_made_while_the_page_was_offline_are_there_afterwards(lab, lab_folder):
    shown = start(lab, lab_folder, "offline", [prices(400, 0.25), ask("--max-steps 500"), OUTCOME], step=2)
    told = lab.page.locator("dialog.jp-Dialog")  # JupyterLab says so too
    lab.page.add_locator_handler(told, told.get_by_role("button").last.click)
    lab.page.context.set_offline(True)
    lab.page.evaluate(CUT)
    lab.page.wait_for_function(f"{KERNEL}.connectionStatus !== 'connected'")
    last = steps_of(shown).count()
    lab.page.wait_for_timeout(OFFLINE_MS)
    expect(steps_of(shown)).to_have_count(last)
    expect(shown.get_by_role("button", name="Stop")).to_be_visible()
    lab.page.context.set_offline(False)
    # JupyterLab tries again by itself, after up to half a minute.
    lab.page.evaluate(f"() => {{ {KERNEL}.reconnect() }}")
    missed = last + OFFLINE_MS // 1000  # at half the speed that is meant
    listed = shown.get_by_role("list").first
    expect(listed.locator("[aria-setsize]").last).to_have_attribute(
        "aria-setsize", re.compile(r"[4-9]\d|\d{3}"), timeout=30_000
    )
    listed.evaluate("list => { list.scrollTop = 0 }")
    expect(row_of(shown, last)).to_be_visible()
    for number in range(last, missed):
        row_of(shown, number).scroll_into_view_if_needed()
        expect(row_of(shown, number + 1)).to_be_visible()
    expect(shown.get_by_text(re.compile("did not reach this page"))).to_have_count(0)
    shown.get_by_role("button", name="Stop").click()
    lab.wait_for_end(1)
    record = lab.outputs(1)[0]["data"][RECORD]
    assert record["status"] == "interrupted"
    assert [step["step_number"] for step in record["steps"]] == list(range(1, len(record["steps"]) + 1))
    assert len(record["steps"]) >= missed
    offline = re.compile("ERR_INTERNET_DISCONNECTED")
    assert [said for said in lab.complaints if not offline.search(said)] == []


def test_two_notebooks_run_at_once(lab, lab_folder):
    first = start(lab, lab_folder, "one", [prices(60, 0.5), ask("--max-steps 90"), OUTCOME])
    other = lab.beside()
    second = start(other, lab_folder, "two", [prices(60, 0.5), ask("--max-steps 90"), OUTCOME])
    second.get_by_role("combobox", name=re.compile("summary_mode")).select_option("all")
    expect(second.get_by_text("from the next call").first).to_be_visible()
    first.get_by_role("button", name="Stop").click()
    lab.wait_for_end(1)
    expect(first.get_by_role("combobox", name=re.compile("summary_mode"))).to_have_value("plan")
    expect(second.get_by_role("button", name="Stop")).to_be_visible()
    expect(second.get_by_text("running", exact=True)).to_be_visible()
    second.get_by_role("button", name="Stop").click()
    other.wait_for_end(1)
    assert outcome_of(lab)[0] == outcome_of(other)[0] == "interrupted"
    assert lab.complaints == other.complaints == []


def test_one_run_in_three_cells_is_steered_from_each(lab, lab_folder):
    cells = [
        prices(3, 0),
        ask(),
        "analyst.runs[-1]",
        "import agent_magic; agent_magic.view.widget(analyst.runs[-1])",
        "agent_magic.view.widget(analyst.runs[-1], step=2)",
        "print([analyst.memory.view_of(i) for i in (1, 2, 3)], analyst.settings.summary_mode)",
    ]
    open_run(lab, lab_folder, "three", cells, run=4)
    views = ["hidden", "summary", "full"]
    for cell, view in enumerate(views, start=1):
        row = row_of(lab.area(cell), cell)
        toggle_of(row).click()
        row.get_by_role("combobox").select_option(view)
        expect(row.get_by_text(f"Model sees {view}")).to_be_visible()
    lab.area(3).get_by_role("combobox", name=re.compile("summary_mode")).select_option("all")
    expect(lab.area(3).get_by_text("summary_mode all: from the next run")).to_be_visible()
    expect(steps_of(lab.area(4))).to_have_count(1)
    expect(row_of(lab.area(4), 2)).to_be_visible()
    lab.run(5)
    assert lab.outputs(5)[0]["text"].strip() == f"{views} all"
    assert lab.complaints == []


def test_run_goes_on_and_is_found_again_when_its_notebook_is_closed_and_opened(lab, lab_folder):
    cells = [prices(200, 0.5), ask("--max-steps 300"), OUTCOME]
    start(lab, lab_folder, "closed", cells, step=3)
    lab.save()
    lab.page.goto("about:blank")
    lab.open("closed.ipynb", wait_for_kernel=False)
    shown = lab.area(1)
    # All steps, those before and those after; and what is going on.
    expect(row_of(shown, 8)).to_be_visible(timeout=30_000)
    for number in range(1, 8):
        expect(row_of(shown, number)).to_be_visible()
    expect(shown.get_by_text(re.compile("calling mean_price")).first).to_be_visible()
    shown.get_by_role("combobox", name=re.compile("summary_mode")).select_option("all")
    expect(shown.get_by_text("from the next call").first).to_be_visible()
    toggle_of(row_of(shown, 1)).click()
    row_of(shown, 1).get_by_role("combobox").select_option("hidden")
    expect(row_of(shown, 1).get_by_text("hidden from the model").first).to_be_visible()
    shown.get_by_role("button", name="Stop").click()
    # The record stands in the notebook, as if it had never been closed.
    expect(shown.get_by_text("interrupted", exact=True).first).to_be_visible()
    lab.page.wait_for_function(
        f"{CURRENT}.content.widgets[1].model.outputs.toJSON()[0].data[{RECORD!r}].status !== 'running'"
    )
    lab.save()
    assert outcome_of(lab)[0] == "interrupted"
    lab.shut_down_kernel()
    (output, *_) = nbformat.read(lab_folder / "closed.ipynb", as_version=4).cells[1].outputs
    assert set(output.data) == {RECORD, "text/html", "text/markdown", "text/plain"}
    assert output.data[RECORD]["steps"][0]["laid_on"]["view"] == "hidden"
    assert len(output.data[RECORD]["steps"]) >= 8
    assert "memory" in output.data[RECORD]


def test_notebook_closed_before_the_end_gets_the_record_when_it_is_opened_after_it(lab, lab_folder):
    start(lab, lab_folder, "late", [prices(5, 0.5), ask(), OUTCOME], step=1)
    lab.save()
    lab.page.goto("about:blank")
    other = lab.beside()
    other.open("late.ipynb")
    shown = other.area(1)
    expect(shown.get_by_text("answered", exact=True).first).to_be_visible(timeout=30_000)
    for number in range(1, 7):
        expect(row_of(shown, number)).to_be_visible()
    assert outcome_of(other) == ["answered", "6"]


def test_notebook_whose_kernel_ended_in_the_middle_of_a_run_says_so(lab, lab_folder):
    load = "%load_ext agent_magic\nimport agent_magic\nagent_magic.load('.').runs[-1]"
    cells = [prices(200, 0.5), ask("--max-steps 300"), load]
    start(lab, lab_folder, "ended", cells, step=3)
    lab.save()
    lab.shut_down_kernel()
    lab.page.goto("about:blank")
    lab.open("ended.ipynb")
    shown = lab.area(1)
    expect(shown.get_by_text(re.compile("The kernel ended during this run"))).to_be_visible()
    expect(shown.get_by_text("interrupted", exact=True).first).to_be_visible()
    expect(shown.get_by_role("button", name="Stop")).to_have_count(0)
    lab.run(2)
    for number in range(1, 4):
        expect(row_of(lab.area(2), number)).to_be_visible()
