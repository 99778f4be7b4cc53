from __future__ import annotations

import pytest
from inline_snapshot import snapshot
from view.samples import START

from agent_magic.core.approval import Decision, call_item, plan_item
from agent_magic.core.events import ApprovalGiven, ContextShortened, Notice, SettingChanged
from agent_magic.core.messages import ToolCall
from agent_magic.record.notes import to_laid_on, to_note


@pytest.mark.parametrize(
    ("name", "value", "effective", "text"),
    [
        ("summary_mode", "all", "from the next call", "summary_mode is 'all' from the next call"),
        ("planning_interval", None, "from step 4", "planning_interval is None from step 4"),
        ("is_paused", True, "now", "paused"),
        ("is_paused", False, "now", "goes on"),
        ("replan_now", True, "from step 4", "a new plan is asked for, from step 4"),
    ],
)
def test_note_of_a_setting(name: str, value: object, effective: str, text: str) -> None:
    event = SettingChanged(step_number=3, name=name, value=value, effective=effective)
    assert to_note(event) == {"text": text}


@pytest.mark.parametrize("is_estimate", [True, False])
def test_note_of_a_shortened_request(*, is_estimate: bool) -> None:
    event = ContextShortened(
        step_number=5,
        shortened=("observations of steps 1-4", "step 5 as one line"),
        tokens_before=7_900,
        tokens_after=5_200,
        window=8_000,
        is_estimate=is_estimate,
    )
    about = "about " if is_estimate else ""
    assert to_note(event) == {
        "text": f"shortened for the window of 8,000 tokens ({about}7,900 → 5,200): "
        "observations of steps 1-4; step 5 as one line"
    }


def test_note_of_a_notice_is_a_warning() -> None:
    assert to_note(Notice(step_number=1, message="A callback raised.")) == {
        "text": "A callback raised.",
        "is_warning": True,
    }


CALL = call_item("q-0", ToolCall(id="c", name="look", arguments={"n": 1}))
PLAN = plan_item("q-0", "1. Look.")


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (Decision(item=CALL, verdict="approved"), "look was approved by the person"),
        (Decision(item=CALL, verdict="approved", by="a rule"), "look was approved by a rule"),
        (Decision(item=CALL, verdict="rejected"), "look was refused by the person"),
        (
            Decision(item=CALL, verdict="rejected", reason="too dear"),
            "look was refused by the person: too dear",
        ),
        (
            Decision(item=CALL, verdict="edited", arguments={"n": 2}),
            "the arguments of look were changed by the person: {'n': 2}",
        ),
        (Decision(item=PLAN, verdict="approved"), "the plan was approved by the person"),
        (Decision(item=PLAN, verdict="edited", plan="2. Tell."), "the plan was changed by the person"),
    ],
)
def test_note_of_a_decision(decision: Decision, text: str) -> None:
    assert to_note(ApprovalGiven(step_number=1, decision=decision)) == {"text": text}


def test_laid_on_names_only_what_was_laid_on() -> None:
    assert to_laid_on() is None
    assert to_laid_on(
        form="line", view="summary", is_pinned=True, edited_by="person", edited_at=START
    ) == snapshot(
        {
            "form": "line",
            "view": "summary",
            "is_pinned": True,
            "edited_by": "person",
            "edited_at": "2027-01-15T08:00:00.000+00:00",
        }
    )


def test_decision_about_code_names_it_so() -> None:
    item = call_item("q", ToolCall(id="c", name="python", arguments={"code": "look()"}))
    decisions = [
        Decision(item=item, verdict="approved"),
        Decision(item=item, verdict="edited", arguments={"code": "see()"}),
        Decision(item=item, verdict="rejected", reason="no"),
    ]
    assert [to_note(ApprovalGiven(step_number=1, decision=one))["text"] for one in decisions] == [
        "the code was approved by the person",
        "the code was changed by the person",
        "the code was refused by the person: no",
    ]
