from __future__ import annotations

import pytest
from lab import write_notebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

BAD = '<img src=x onerror="window.hit=1"><script>window.hit=1</script></details></pre><button onclick="window.hit=1" data-commandlinker-command="help:about">b</button><a href="javascript:window.hit=1">a</a><style>*{display:none}</style>'
SETUP = f"""\
%load_ext agent_magic
from agent_magic import ScriptedModel

BAD = {BAD!r}

def echo(text: str) -> str:
    \"\"\"Give back a text.

    Args:
        text: any text.
    \"\"\"
    print(text)
    return text

def fail(text: str) -> str:
    \"\"\"Fail with a text.

    Args:
        text: any text.
    \"\"\"
    raise ValueError(text)

m = ScriptedModel([
    {{"content": BAD, "reasoning": BAD, "tool_calls": [
        {{"name": "echo", "arguments": {{"text": BAD}}}}, {{"name": "fail", "arguments": {{"text": BAD}}}},
    ]}},
    ScriptedModel.calls((BAD, {{BAD: BAD}})),
    ScriptedModel.final(BAD),
], stream_pieces=20, latency_s=0.05)"""
ASK = f"%%agent bot --model @m --tools echo fail\nSay {BAD}"


def test_markup_in_every_field_is_shown_as_text(lab, lab_folder):
    write_notebook(lab_folder / "untrusted.ipynb", [SETUP, ASK])
    lab.open("untrusted.ipynb")
    lab.run(0)
    lab.run(1)
    shown = lab.area(1)
    for step in shown.locator("details").all():
        step.evaluate("element => { element.open = true }")
    # Task, thought, reasoning, arguments, print, observation, error, tool's name, answer, and Out.
    assert shown.get_by_text("window.hit=1").count() >= 10
    expect(shown.get_by_text("<img src=x onerror=").last).to_be_visible()
    assert (
        shown.locator(
            "img, script, button, a, style, [onerror], [onclick], [data-commandlinker-command]"
        ).count()
        == 0
    )
    assert lab.page.evaluate("window.hit") is None
    # No stray end tag has closed a step early: all are inside our element, none inside another's text.
    assert shown.locator(".agent-magic details").count() == shown.locator("details").count()


def test_markup_stays_text_in_a_notebook_that_is_opened_again(lab, lab_folder):
    write_notebook(lab_folder / "again.ipynb", [SETUP, ASK])
    lab.open("again.ipynb")
    lab.run(0)
    lab.run(1)
    lab.save()
    lab.shut_down_kernel()
    lab.page.goto("about:blank")
    lab.open("again.ipynb", wait_for_kernel=False)
    shown = lab.area(1)
    expect(shown.locator("details").first).to_be_visible()
    assert shown.locator("img, script, button, a, style, [onerror], [onclick]").count() == 0
    assert lab.page.evaluate("window.hit") is None
