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


def titles(text):
    """The first line of each view."""
    return [line for line in text.splitlines() if line.endswith(" view · scripted")]


@pytest.fixture
def asked(cells, tmp_path):
    """Cells in which `bot` planned twice and called a tool."""
    (tmp_path / "my.yaml").write_text(PROMPTS, encoding="utf-8")
    cells.define(NAMES)
    cells.model("1. Add.", {**call("add", a=1, b=2), "content": "I add."}, "1. Answer.", final(3))
    cells.run(f"%%agent bot --model @m --tools add --plan 1 --prompts {tmp_path / 'my.yaml'}\nAdd 1 and 2.")
    return cells


def test_preview_of_the_next_call_shows_both_views(asked):
    assert asked.run("%agent preview").text == snapshot("""\
To be sent for an action, step 1 · normal view · scripted
10 messages · ≈ 375 tokens
8 as in the call before, 2 new
of a new run: its task, once it is given, stands at the end

 1  system  [≈ 9]
    Be brief.
 2  user  [≈ 11]
    Add 1 and 2.
 3  assistant  [≈ 9]  (in this view only)
    1. Add.
 4  user  [≈ 10]
    Carry it out.
 5  assistant  [≈ 31]  (in this view only)
    I add.
    calls add (call_1)
        {"a": 1, "b": 2}
 6  tool  [≈ 6]
    answers call call_1
    3
 7  assistant  [≈ 9]
    1. Answer.
 8  user  [≈ 10]
    Carry it out.
 9  assistant  [≈ 23]  (new)
    calls final_answer (call_1_2)
        {"answer": 3}
10  tool  [≈ 6]  (new)
    answers call call_1_2
    accepted

2 tools · ≈ 251 tokens
    add
        Add.
        {"type": "object", "properties": {"a": {"type": "integer", "description": "one"}, "b": {"type": "integer", "description": "other"}}, "required": ["a", "b"], "additionalProperties": false}
    final_answer
        Give the answer to the task and end. Call it once, alone.
        {"type": "object", "properties": {"answer": {"description": "The answer itself: text, a number or other JSON, or \\"@name\\" for a variable."}}, "required": ["answer"], "additionalProperties": false}

Not to be sent for an action, step 1: the same moment in the other view · summary view · scripted
8 messages · ≈ 352 tokens
2 as in the call before, 6 new, 6 of that call changed or gone
of a new run: its task, once it is given, stands at the end

 1  system  [≈ 9]
    Be brief.
 2  user  [≈ 11]
    Add 1 and 2.
 3  assistant  [≈ 27]  (new, in this view only)
    calls add (call_1)
        {"a": 1, "b": 2}
 4  tool  [≈ 6]  (new)
    answers call call_1
    3
 5  assistant  [≈ 9]  (new)
    1. Answer.
 6  user  [≈ 10]  (new)
    Carry it out.
 7  assistant  [≈ 23]  (new)
    calls final_answer (call_1_2)
        {"answer": 3}
 8  tool  [≈ 6]  (new)
    answers call call_1_2
    accepted

2 tools · ≈ 251 tokens
    add
        Add.
        {"type": "object", "properties": {"a": {"type": "integer", "description": "one"}, "b": {"type": "integer", "description": "other"}}, "required": ["a", "b"], "additionalProperties": false}
    final_answer
        Give the answer to the task and end. Call it once, alone.
        {"type": "object", "properties": {"answer": {"description": "The answer itself: text, a number or other JSON, or \\"@name\\" for a variable."}}, "required": ["answer"], "additionalProperties": false}
""")


def test_preview_of_a_past_call_is_what_was_sent(asked):
    done = asked.run("%agent preview bot 2 --summary-mode plan")
    assert done.text == snapshot("""\
Sent for an action, step 2 · normal view · scripted
8 messages · ≈ 346 tokens
4 as in the call before, 4 new
rebuilt, and the same as what was sent

 1  system  [≈ 9]
    Be brief.
 2  user  [≈ 11]
    Add 1 and 2.
 3  assistant  [≈ 9]
    1. Add.
 4  user  [≈ 10]
    Carry it out.
 5  assistant  [≈ 31]  (new)
    I add.
    calls add (call_1)
        {"a": 1, "b": 2}
 6  tool  [≈ 6]  (new)
    answers call call_1
    3
 7  assistant  [≈ 9]  (new)
    1. Answer.
 8  user  [≈ 10]  (new)
    Carry it out.

2 tools · ≈ 251 tokens
    add
        Add.
        {"type": "object", "properties": {"a": {"type": "integer", "description": "one"}, "b": {"type": "integer", "description": "other"}}, "required": ["a", "b"], "additionalProperties": false}
    final_answer
        Give the answer to the task and end. Call it once, alone.
        {"type": "object", "properties": {"answer": {"description": "The answer itself: text, a number or other JSON, or \\"@name\\" for a variable."}}, "required": ["answer"], "additionalProperties": false}
""")
    sent = [message["content"] for message in asked["m"].requests[3].messages if message["content"]]
    assert all(text in done.text for text in sent)


def test_preview_of_a_past_plan_shows_both_views(asked):
    assert asked.run("%agent preview bot 2 plan").text == snapshot("""\
Not sent for a plan, step 2: the same moment in the other view · normal view · scripted
7 messages · ≈ 83 tokens
2 as in the call before, 5 new, 1 of that call changed or gone

 1  system  [≈ 7]
    Plan.
 2  user  [≈ 11]
    Add 1 and 2.
 3  assistant  [≈ 9]  (new, in this view only)
    1. Add.
 4  user  [≈ 10]  (new, in this view only)
    Carry it out.
 5  assistant  [≈ 31]  (new, in this view only)
    I add.
    calls add (call_1)
        {"a": 1, "b": 2}
 6  tool  [≈ 6]  (new)
    answers call call_1
    3
 7  user  [≈ 9]  (new)
    Plan anew.

Sent for a plan, step 2 · summary view · scripted
5 messages · ≈ 60 tokens
2 as in the call before, 3 new, 1 of that call changed or gone
rebuilt, and the same as what was sent

 1  system  [≈ 7]
    Plan.
 2  user  [≈ 11]
    Add 1 and 2.
 3  assistant  [≈ 27]  (new, in this view only)
    calls add (call_1)
        {"a": 1, "b": 2}
 4  tool  [≈ 6]  (new)
    answers call call_1
    3
 5  user  [≈ 9]  (new)
    Plan anew.
""")


def test_preview_says_which_view_is_sent(asked):
    asked.agent().settings.update(summary_mode="all")
    lines = ["bot", "bot 2", "bot 2 plan", "bot 2 --summary-mode all", "bot --summary-mode off"]
    assert {line: titles(asked.run(f"%agent preview {line}").text) for line in lines} == snapshot(
        {
            "bot": [
                "Not to be sent for an action, step 1: the same moment in the other view · normal view · scripted",
                "To be sent for an action, step 1 · summary view · scripted",
            ],
            "bot 2": [
                "Sent for an action, step 2 · normal view · scripted",
                "Not sent for an action, step 2: the same moment in the other view · summary view · scripted",
            ],
            "bot 2 plan": [
                "Not sent for a plan, step 2: the same moment in the other view · normal view · scripted",
                "Sent for a plan, step 2 · summary view · scripted",
            ],
            "bot 2 --summary-mode all": [
                "Not sent for an action, step 2: the same moment in the other view · summary view · scripted"
            ],
            "bot --summary-mode off": [
                "Not to be sent for an action, step 1: the same moment in the other view · normal view · scripted"
            ],
        }
    )


def test_preview_object_says_that_it_was_not_sent(asked):
    assert titles(asked.run("bot.preview(2, summary_mode='all')").text) == snapshot(
        ["Not sent for an action, step 2: the same moment in the other view · summary view · scripted"]
    )


def test_preview_at_rest_says_that_the_task_is_still_to_come(asked):
    shown = {line: asked.run(line).text for line in ("%agent preview bot", "bot.preview()", "bot.preview(1)")}
    remarks = {
        line: [each for each in text.splitlines() if "of a new run" in each] for line, text in shown.items()
    }
    assert remarks == snapshot(
        {
            "%agent preview bot": [
                "of a new run: its task, once it is given, stands at the end",
                "of a new run: its task, once it is given, stands at the end",
            ],
            "bot.preview()": ["of a new run: its task, once it is given, stands at the end"],
            "bot.preview(1)": [],
        }
    )


def test_preview_finds_a_step_of_the_run_that_was_resumed(cells):
    cells.define(NAMES)
    cells.model(call("add", a=1, b=2), ValueError("odd"), final(3))
    cells.run("%%agent bot --model @m --tools add\nAdd 1 and 2.")
    assert cells.run("%agent resume bot").value == 3
    assert titles(cells.run("%agent preview bot 1").text) == snapshot(
        [
            "Sent for an action, step 1 · normal view · scripted",
            "Not sent for an action, step 1: the same moment in the other view · summary view · scripted",
        ]
    )
    assert titles(cells.run("%agent preview bot 3").text) == snapshot(
        [
            "Sent for an action, step 3 · normal view · scripted",
            "Not sent for an action, step 3: the same moment in the other view · summary view · scripted",
        ]
    )


def test_preview_of_what_was_not_sent_is_told(asked):
    asked.run("%%agent fresh --define --model @m\nBe brief.")
    lines = ["bot 7", "bot 2 final", "fresh 1", "nobody"]
    assert {line: str(asked.run(f"%agent preview {line}").error) for line in lines} == snapshot(
        {
            "bot 7": "The last run made no request of kind 'act' at step 7. It made them at: 1, 2.",
            "bot 2 final": "The last run made no request of kind 'final'. Leave the step out to see the next one.",
            "fresh 1": "No run was made yet, so there is no past request. Leave the step out.",
            "nobody": "%agent: there is no agent 'nobody'. Agents: bot, fresh.",
        }
    )


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
