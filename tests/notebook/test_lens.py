from __future__ import annotations

import pytest
from cells import call, final
from inline_snapshot import snapshot

PROMPTS = """
system_prompt: Be brief.
planning_system: Plan.
first_plan: Write a plan.
replan: Plan anew.
plan_handover: Carry it out.
final_request: Answer now.
"""
NAMES = """
def add(a: int, b: int) -> int:
    "Add.\\n\\nArgs:\\n    a: one\\n    b: other"
    return a + b
"""


@pytest.fixture
def asked(cells, tmp_path):
    """Cells in which `bot` planned twice and called a tool."""
    (tmp_path / "my.yaml").write_text(PROMPTS, encoding="utf-8")
    cells.define(NAMES)
    cells.model("1. Add.", {**call("add", a=1, b=2), "content": "I add."}, "1. Answer.", final(3))
    cells.run(f"%%agent bot --model @m --tools add --plan 1 --prompts {tmp_path / 'my.yaml'}\nAdd 1 and 2.")
    return cells


def test_preview_of_the_next_call_shows_both_views(asked):
    assert asked.run("%agent preview").text == snapshot()


def test_preview_of_a_past_call_is_what_was_sent(asked):
    done = asked.run("%agent preview bot 2 --summary-mode plan")
    assert done.text == snapshot()
    sent = [message["content"] for message in asked["m"].requests[3].messages if message["content"]]
    assert all(text in done.text for text in sent)


def test_preview_of_a_past_plan_shows_both_views(asked):
    assert asked.run("%agent preview bot 2 plan").text == snapshot()


def test_preview_says_which_view_is_sent(asked):
    asked.agent().settings.update(summary_mode="all")
    assert asked.run("%agent preview bot").text.splitlines()[-1] == snapshot()
    assert asked.run("%agent preview bot 2").text.splitlines()[-1] == snapshot()


def test_preview_of_what_was_not_sent_is_told(asked):
    asked.run("%%agent fresh --define --model @m\nBe brief.")
    lines = ["bot 7", "bot 2 final", "fresh 1", "nobody"]
    assert {line: str(asked.run(f"%agent preview {line}").error) for line in lines} == snapshot()


def test_preview_sends_nothing_and_changes_nothing(asked):
    before = (asked.agent().memory.to_messages(), len(asked["m"].requests), asked.agent().memory.requests)
    for line in ("", "bot final", "bot 1 plan", "bot --summary-mode all"):
        assert asked.run(f"%agent preview {line}").error is None
    after = (asked.agent().memory.to_messages(), len(asked["m"].requests), asked.agent().memory.requests)
    assert after == before


def test_preview_chooses_the_model_as_the_first_run_would(cells, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    cells.define("%config AgentMagics.model = 'anthropic/claude-x'")
    cells.run("%%agent bot --define\nBe brief.")
    assert "anthropic/claude-x" in cells.run("%agent preview bot --summary-mode off").text.splitlines()[0]


def test_preview_object_is_drawn_as_the_last_expression(asked):
    done = asked.run("bot.preview(2)")
    assert done.text.startswith("Out[4]: \nSent for an action, step 2 · normal view · scripted\n")
