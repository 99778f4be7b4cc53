"""HTML that a model writes, in the live view, in the view of the record, and in the stored HTML."""

from __future__ import annotations

import pytest
from lab import write_notebook
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("live_view")]

TEXT = "<img src=x onerror=alert(1)><script>window.hit=1</script></details>"
SETUP = f"""\
%load_ext agent_magic
from agent_magic import ScriptedModel

text = {TEXT!r}

def echo(text: str) -> str:
    \"\"\"Give back a text.

    Args:
        text: any text.
    \"\"\"
    return text

m = ScriptedModel([
    ScriptedModel.calls(("echo", {{"text": text}})) | {{"content": "thought " + text}},
    ScriptedModel.final(text),
], latency_s=4)"""
FORGED = "img, script, [onerror], [onclick], [onload]"


def open_all(shown):
    """Open whatever is closed."""
    shown.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    for _ in range(20):
        closed = shown.locator("[aria-expanded=false]:visible")
        if closed.count() == 0:
            return
        closed.first.click()


def assert_harmless(page, shown):
    assert page.evaluate("window.hit") is None
    assert shown.locator(FORGED).count() == 0


def test_html_of_a_model_is_text_while_it_runs_and_afterwards(lab, lab_folder):
    alerts = []
    lab.page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    write_notebook(lab_folder / "model_text.ipynb", [SETUP, "%%agent bot --model @m --tools echo\nSay it."])
    lab.open("model_text.ipynb")
    lab.run(0)
    lab.start(1)
    shown = lab.area(1)
    expect(shown.get_by_text("echo(").first).to_be_visible(timeout=20_000)
    open_all(shown)
    # thought, argument and observation, as text, while the second reply is awaited
    expect(shown.get_by_text(f"thought {TEXT}").last).to_be_visible()
    assert shown.get_by_text(TEXT).count() >= 3
    assert_harmless(lab.page, shown)
    lab.wait_for_end(1)
    open_all(shown)
    expect(shown.get_by_text(f"thought {TEXT}").last).to_be_visible()
    # thought, argument, observation, answer
    assert shown.get_by_text(TEXT).count() >= 4
    assert_harmless(lab.page, shown)
    # The stored HTML, in a page of its own: no section is broken by the stray end tag.
    stored = lab.outputs(1)[0]["data"]["text/html"]
    page = lab.page.context.new_page()
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page.set_content(f"<main>{stored}</main><footer>after</footer>")
    whole = page.locator("main")
    open_all(whole)
    assert whole.get_by_text(TEXT).count() >= 4
    expect(whole.get_by_text(f"thought {TEXT}").last).to_be_visible()
    assert_harmless(page, page.locator("body"))
    assert page.locator("body > *").count() == 2
    assert page.locator("details").count() == stored.count("<details")
    assert alerts == []
