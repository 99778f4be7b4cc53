from __future__ import annotations

import re

import nbformat
import pytest
from playwright.sync_api import expect
from runs import ask_code, setup_code
from views import RECORD, open_run, row_of, toggle_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

COMPARE = '''
block("""
    # Both cities in one go
    means = {}
    for city in ("Oslo", "Bergen"):
        means[city] = mean_price(city, wait=1.2)
        print(city, "done")
    max(means, key=means.get)
""", "I look at both cities in one go.")'''
SWALLOW = '''
block("""
    i = 0
    while True:
        try:
            time.sleep(0.1)
            i += 1
        except:
            pass
""")'''


def card_of(shown):
    """What asks the person."""
    return shown.get_by_role("group", name="Waiting for your approval")


def inner_call(shown, title):
    """The line of a call that code made."""
    return shown.get_by_role("button", name=re.compile(rf"^{re.escape(title)}"))


def code_box(shown, text):
    """The box that holds some code."""
    return shown.locator("pre", has_text=text).first


def colour_of(shown, text):
    """The colour of a piece of code, and that which the theme's editor gives to keywords."""
    piece = shown.locator("pre span", has_text=re.compile(f"^{text}$")).first
    return piece.evaluate(
        """node => {
      const probe = document.createElement('i');
      probe.style.color = 'var(--jp-mirror-editor-keyword-color)';
      document.body.append(probe);
      const keyword = getComputedStyle(probe).color;
      probe.remove();
      return [getComputedStyle(node).color, keyword, getComputedStyle(node.parentElement).color];
    }"""
    )


def assert_tells_the_comparison(shown):
    """The step of `COMPARE`, opened: code in colours, its calls with what went in and came out, what was seen."""
    row = row_of(shown, 1)
    if toggle_of(row).get_attribute("aria-expanded") == "false":
        toggle_of(row).click()
    expect(row.get_by_text("I look at both cities in one go.")).to_be_visible()
    expect(code_box(row, "means[city] = mean_price(city, wait=1.2)")).to_be_visible()
    colour, keyword, plain = colour_of(row, "for")
    assert colour == keyword != plain
    expect(row.get_by_text("Calls (2)")).to_be_visible()
    bergen = inner_call(row, 'mean_price(city="Bergen", wait=1.2) → 3987.0')
    expect(inner_call(row, 'mean_price(city="Oslo", wait=1.2) → 4321.5')).to_be_visible()
    if bergen.get_attribute("aria-expanded") == "false":
        bergen.click()
    opened = bergen.locator("..")
    expect(opened.get_by_text('"Bergen"', exact=True)).to_be_visible()
    expect(opened.get_by_text("3987.0", exact=True)).to_be_visible()
    expect(
        row.get_by_text(re.compile("Oslo done\nBergen done\nValue of the last line: 'Oslo'"))
    ).to_be_visible()
    expect(row.get_by_text(re.compile("added means: dict, 2 items"))).to_be_visible()


def test_code_streams_in_runs_and_is_there_in_the_reopened_notebook(lab, lab_folder):
    cells = [
        setup_code(f"[{COMPARE}, block('final_answer(\"Oslo\")')]", latency_s="1.5", stream_pieces="30"),
        ask_code("--tools mean_price"),
    ]
    open_run(lab, lab_folder, "code", cells)
    lab.start(1)
    shown = lab.area(1)
    status = shown.get_by_role("status").first
    expect(status).to_contain_text("writing code", timeout=15_000)
    written = code_box(shown, "# Both cities in one go")
    expect(written).to_be_visible()
    early = written.inner_text()
    assert "<code>" not in early
    expect(status).to_contain_text("running code, calling mean_price")
    assert "max(means, key=means.get)" not in early
    running = inner_call(shown, 'mean_price(city="Oslo", wait=1.2)')
    expect(running).to_be_visible()
    expect(inner_call(shown, 'mean_price(city="Oslo", wait=1.2) → 4321.5')).to_be_visible()
    expect(inner_call(shown, 'mean_price(city="Bergen", wait=1.2) → …')).to_be_visible()
    colour, keyword, _ = colour_of(shown, "for")
    assert colour == keyword
    expect(row_of(shown, 1)).to_contain_text(
        """for city in ("Oslo", "Bergen"): … (6 lines, 2 calls) → 'Oslo'"""
    )
    assert_tells_the_comparison(shown)
    lab.wait_for_end(1)
    expect(shown.get_by_text("answered", exact=True)).to_be_visible()
    assert_tells_the_comparison(shown)
    lab.save()
    lab.shut_down_kernel()
    lab.page.goto("about:blank")
    # A signature that nobody has made: the notebook is not trusted.
    file = lab_folder / "code.ipynb"
    notebook = nbformat.read(file, as_version=4)
    notebook.cells[1].source += "\n"
    nbformat.write(notebook, file)
    lab.open("code.ipynb", wait_for_kernel=False)
    assert_tells_the_comparison(shown)
    expect(shown.get_by_role("button", name="Stop")).to_have_count(0)
    assert lab.complaints == []


def test_code_is_approved_edited_with_the_keyboard_and_rejected(lab, lab_folder):
    replies = """[
        block("made = 'by the model'" + " " * 300 + "; far = 1"), block("other = 'by the model'"), block("third = 'by the model'"),
        block("final_answer(made)"),
    ]"""
    cells = [
        setup_code(replies),
        ask_code("--tools mean_price --approve code"),
        "made, other, [name for name in ('third', 'more') if name in globals()]",
        "print(*[message.content for message in analyst.memory.to_messages()], sep='\\n')",
    ]
    open_run(lab, lab_folder, "approved", cells)
    lab.start(1)
    shown = lab.area(1)
    card = card_of(shown)
    keys = lab.page.keyboard

    expect(card.get_by_text("made = 'by the model'")).to_be_visible(timeout=15_000)
    # What is approved is seen whole: no part of it stands beyond the right edge.
    assert card.locator("pre").evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    card.get_by_role("button", name="Approve", exact=True).click()

    expect(card.get_by_text("other = 'by the model'")).to_be_visible()
    card.get_by_role("button", name="Edit").focus()
    keys.press("Enter")
    field = card.get_by_role("textbox", name="Code")
    expect(field).to_be_focused()
    expect(field).to_have_value("other = 'by the model'")
    keys.press("Control+A")
    keys.type("other = mean_price('Oslo')")
    keys.press("Enter")
    keys.type("print('by me')")
    keys.press("Tab")
    keys.press("Enter")

    expect(card.get_by_text("third = 'by the model'")).to_be_visible()
    assert len(lab.cells()) == 4
    card.get_by_role("button", name="Reject").click()
    card.get_by_role("textbox").fill("A third one is not wanted.")
    card.get_by_role("button", name="Reject").last.click()

    expect(card.get_by_text("final_answer(made)")).to_be_visible()
    card.get_by_role("button", name="Approve", exact=True).click()
    lab.wait_for_end(1)
    lab.run(2)
    assert lab.outputs(2)[0]["data"]["text/plain"] == "('by the model', 4321.5, [])"
    row = row_of(shown, 2)
    toggle_of(row).click()
    expect(row.get_by_text("Code, as it was changed")).to_be_visible()
    expect(inner_call(row, 'mean_price(city="Oslo") → 4321.5')).to_be_visible()
    expect(row.get_by_text("other = 'by the model'")).to_have_count(0)
    row.get_by_role("button", name="As the model wrote it").click()
    expect(row.get_by_text("other = 'by the model'")).to_be_visible()
    expect(row_of(shown, 3)).to_contain_text("A third one is not wanted.")
    lab.run(3)
    told = lab.outputs(3)[0]["text"]
    assert "the person changed the arguments to this code:" in told
    assert "A third one is not wanted." in told
    assert lab.complaints == []


def test_calls_that_code_makes_are_approved_one_by_one(lab, lab_folder):
    code = '''block("""
        oslo = mean_price("Oslo")
        try:
            bergen = mean_price("Bergen")
        except Exception as error:
            bergen = str(error)
        voss = mean_price("Voss")
    """)'''
    cells = [
        setup_code(f"[{code}, block('final_answer(1)')]"),
        ask_code("--tools mean_price --approve tools"),
        "oslo, voss",
        "bergen",
        "analyst",
        "analyst.approve",
    ]
    open_run(lab, lab_folder, "inner", cells)
    lab.start(1)
    shown = lab.area(1)
    card = card_of(shown)
    expect(card.get_by_text('"Oslo"')).to_be_visible(timeout=15_000)
    expect(card.get_by_text("mean_price", exact=True)).to_be_visible()
    expect(code_box(shown, 'oslo = mean_price("Oslo")')).to_be_visible()  # what asks is seen
    card.get_by_role("button", name="Approve", exact=True).click()
    expect(card.get_by_text('"Bergen"')).to_be_visible()
    card.get_by_role("button", name="Reject").click()
    card.get_by_role("textbox").fill("Not Bergen.")
    card.get_by_role("button", name="Reject").last.click()
    expect(card.get_by_text('"Voss"')).to_be_visible()
    card.get_by_role("button", name="Edit").click()
    card.get_by_role("textbox").fill('{"city": "Bergen"}')
    card.get_by_role("button", name="Approve as edited").click()
    lab.wait_for_end(1)
    lab.run(2)
    assert lab.outputs(2)[0]["data"]["text/plain"] == "(4321.5, 3987.0)"
    lab.run(3)
    assert "Not Bergen." in lab.outputs(3)[0]["data"]["text/plain"]
    row = row_of(shown, 1)
    toggle_of(row).click()
    expect(row.get_by_role("button", name=re.compile(r"^mean_price\("))).to_have_count(3)
    voss = inner_call(row, 'mean_price(city="Voss") as edited → 3987.0')
    voss.click()
    expect(
        voss.locator("..").get_by_text(re.compile('changed the arguments to {"city": "Bergen"}'))
    ).to_be_visible()

    lab.run(4)
    panel = lab.area(4)
    expect(panel.get_by_text(re.compile("mode code"))).to_be_visible()
    approve = panel.get_by_label("Ask me before")
    assert approve.locator("option").all_inner_texts() == [
        "nothing",
        "code, with the calls it makes",
        "tool calls, also those that code makes",
        "code, tool calls and plans",
    ]
    approve.select_option("code")
    expect(panel.get_by_text(re.compile("Ask me before code"))).to_be_visible()
    lab.run(5)
    assert lab.outputs(5)[0]["data"]["text/plain"] == "'code'"
    assert lab.complaints == []


def test_code_that_swallows_everything_is_stopped_on_the_page_and_by_the_kernel_button(lab, lab_folder):
    cells = [
        setup_code(f"[{SWALLOW}] * 2"),
        ask_code("--step-timeout none"),
        "i > 2, analyst.result.status",
    ]
    open_run(lab, lab_folder, "swallowed", cells)
    shown = lab.area(1)
    for stop in (lambda: shown.get_by_role("button", name="Stop").click(), lab.interrupt):
        lab.start(1)
        expect(shown.get_by_text("running code").first).to_be_visible(timeout=15_000)
        lab.page.wait_for_timeout(500)
        stop()
        lab.wait_for_end(1, timeout_s=10)
        assert lab.outputs(1)[-1]["ename"] == "KeyboardInterrupt"
        expect(shown.get_by_text("interrupted", exact=True)).to_be_visible()
        lab.run(2)
        assert lab.outputs(2)[0]["data"]["text/plain"] == "(True, 'interrupted')"
    assert lab.complaints == []


def test_figure_of_code_is_shown_once_in_its_step_and_what_code_made_is_taken_back(lab, lab_folder):
    draw = '''block("""
        import matplotlib.pyplot as plt
        heights = [mean_price(city) for city in ("Oslo", "Bergen")]
        plt.bar(["Oslo", "Bergen"], heights)
    """, "A picture helps.")'''
    cells = [
        setup_code(f"[{draw}, block('final_answer(len(heights))')]", latency_s="0.5"),
        "%matplotlib inline",
        ask_code("--tools mean_price --imports matplotlib"),
        "plt.get_fignums(), heights",
        "%agent undo",
        "'heights' in globals(), 'plt' in globals()",
    ]
    open_run(lab, lab_folder, "figure", cells, run=2)
    shown = lab.area(2)
    toggle_of(row_of(shown, 1)).click()
    expect(shown.locator("img")).to_have_count(1)
    expect(row_of(shown, 1).get_by_role("img")).to_be_visible()
    outputs = lab.outputs(2)
    assert [output for output in outputs if "image/png" in output.get("data", {})] == []
    record = outputs[0]["data"][RECORD]
    assert [len(call.get("images", ())) for step in record["steps"] for call in step["calls"]] == [1, 0]
    lab.run(3)
    assert [output["data"] for output in lab.outputs(3)] == [{"text/plain": "([], [4321.5, 3987.0])"}]
    lab.run(4)
    assert "heights" in lab.outputs(4)[0]["text"]
    lab.run(5)
    assert lab.outputs(5)[0]["data"]["text/plain"] == "(False, False)"
    assert lab.complaints == []
