from __future__ import annotations

import itertools

import pytest
from inline_snapshot import snapshot
from view.samples import START, action, call, plan, run, small_run

from agent_magic.core.events import (
    ContextShortened,
    Event,
    ModelReplied,
    Notice,
    PlanDelta,
    RunEnded,
    RunStarted,
    SettingChanged,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.messages import ChatMessage, ToolCall
from agent_magic.core.steps import TaskStep
from agent_magic.record.draft import RunDraft
from agent_magic.record.growing import MOST_CHARS
from agent_magic.record.run import to_record

STARTED = RunStarted(
    run_id="run_1", agent_name="analyst", model_id="m", max_steps=5, task=TaskStep(task="Look.")
)
LOOK = call("look", {"n": 1}, observation="seen")
NEXT = call("list", {}, "call_2", observation="a, b")


def draft_of(*events: Event) -> RunDraft:
    ticks = itertools.count(START)
    draft = RunDraft(reason="named in the cell", clock=lambda: float(next(ticks)))
    for event in (STARTED, *events):
        draft.add(event)
    return draft


def now_after(*events: Event) -> object:
    return draft_of(StepStarted(step_number=1), *events).to_record().get("now")


class Stopping(dict):
    """Arguments during whose reading the person presses Ctrl-C, once."""

    n_left = 1

    def items(self):
        if self.n_left:
            Stopping.n_left -= 1
            raise KeyboardInterrupt
        return super().items()


def test_call_whose_start_was_cut_by_ctrl_c_leaves_a_record_that_can_be_drawn():
    draft = RunDraft()
    draft.add(StepStarted(step_number=1))
    call = ToolCall(id="c1", name="look", arguments=Stopping(a=1))
    with pytest.raises(KeyboardInterrupt):
        draft.add(ToolCallStarted(step_number=1, call=call))
    assert draft.to_record()["now"] == {"step_number": 1, "doing": "thinking"}


def test_draft_of_a_running_run() -> None:
    draft = draft_of(StepStarted(step_number=1), StepEnded(step=action(1, LOOK)), StepStarted(step_number=2))
    assert draft.to_record() == snapshot(
        {
            "version": 1,
            "agent_magic": "0.1.0",
            "mode": "tools",
            "status": "running",
            "max_steps": 5,
            "n_steps": 1,
            "started": "2027-01-15T08:00:01.000+00:00",
            "duration_s": 1.0,
            "usage": {
                "input_tokens": 501,
                "output_tokens": 40,
                "cached_tokens": 0,
                "reasoning_tokens": None,
                "cost_usd": None,
            },
            "steps": [
                {
                    "step_number": 1,
                    "duration_s": 1.25,
                    "calls": [{"id": "call_1", "name": "look", "arguments": {"n": 1}, "observation": "seen"}],
                    "usage": {
                        "input_tokens": 501,
                        "output_tokens": 40,
                        "cached_tokens": 0,
                        "reasoning_tokens": None,
                        "cost_usd": None,
                    },
                }
            ],
            "steps_left_out": 0,
            "answer": None,
            "error": None,
            "run_id": "run_1",
            "agent": "analyst",
            "model": "m",
            "why": "named in the cell",
            "task": "Look.",
            "images": [],
            "variables": [],
            "warnings": [],
            "now": {"step_number": 2, "doing": "thinking"},
        }
    )


def test_draft_shows_what_the_model_writes() -> None:
    thinking = TextDelta(step_number=1, text="Hm, ", is_reasoning=True)
    assert now_after(
        thinking, TextDelta(step_number=1, text="I "), TextDelta(step_number=1, text="look.")
    ) == snapshot({"step_number": 1, "doing": "thinking", "thought": "I look.", "reasoning": "Hm,"})


def test_draft_shows_which_calls_are_running_and_which_have_ended() -> None:
    events = [ToolCallStarted(step_number=1, call=r.call) for r in (LOOK, NEXT)]
    assert now_after(*events, ToolCallEnded(step_number=1, result=NEXT)) == snapshot(
        {
            "step_number": 1,
            "doing": "calling",
            "calls": [
                {"id": "call_1", "name": "look", "arguments": {"n": 1}},
                {"id": "call_2", "name": "list", "arguments": {}, "observation": "a, b"},
            ],
            "running": ["call_1"],
        }
    )


def test_draft_shows_why_it_waits_and_how_long_still_and_drops_the_broken_reply() -> None:
    waiting = Waiting(step_number=1, reason="rate limit", delay_s=60.0, attempt=1)
    assert now_after(TextDelta(step_number=1, text="half a"), waiting) == snapshot(
        {
            "step_number": 1,
            "doing": "waiting",
            "waiting": {"reason": "rate limit", "delay_s": 58.0, "attempt": 1},
        }
    )


def test_draft_no_longer_waits_when_the_reply_came() -> None:
    waiting = Waiting(step_number=1, reason="rate limit", delay_s=2.0, attempt=1)
    replied = ModelReplied(step_number=1, message=ChatMessage(role="assistant", content="Good."))
    assert now_after(waiting, replied) == {"step_number": 1, "doing": "thinking"}


def test_draft_keeps_the_newest_text_only() -> None:
    now = now_after(*(TextDelta(step_number=1, text=f"word {n} ") for n in range(20_000)))
    assert isinstance(now, dict)
    assert len(now["thought"]) <= MOST_CHARS
    assert now["thought"].endswith("word 19999")


def test_draft_shows_no_part_of_a_key_that_is_being_written() -> None:
    key = "sk-proj-abcdefghijklmnop1234"
    for n_chars in range(1, len(key) + 1):
        now = now_after(TextDelta(step_number=1, text=f"The key is {key[:n_chars]}"))
        assert isinstance(now, dict)
        assert "sk-proj-a" not in now["thought"]


def test_draft_renders_a_finished_step_once() -> None:
    draft = draft_of(StepEnded(step=action(1, LOOK)))
    first = draft.to_record()["steps"][0]
    draft.add(StepEnded(step=action(2, NEXT)))
    assert draft.to_record()["steps"][0] is first


@pytest.mark.parametrize("is_closed", [True, False])
def test_draft_ends_as_the_record_of_the_result(*, is_closed: bool) -> None:
    result = small_run()
    draft = draft_of(*(StepEnded(step=step) for step in result.actions))
    if is_closed:
        draft.finish(result)
    else:
        draft.add(RunEnded(result=result))
    assert draft.is_finished
    assert draft.to_record() == to_record(result, reason="named in the cell")


def test_draft_of_an_interrupted_run_is_not_answered() -> None:
    draft = draft_of()
    draft.finish(run(value=None, status="interrupted"))
    assert draft.to_record()["status"] == "interrupted"


def test_draft_has_a_record_before_the_first_event() -> None:
    assert RunDraft().to_record()["status"] == "running"


def test_draft_shows_a_plan_that_is_being_written() -> None:
    assert now_after(
        StepStarted(step_number=1, kind="plan"),
        PlanDelta(step_number=1, text="Hm, ", is_reasoning=True),
        PlanDelta(step_number=1, text="1. Look. "),
    ) == snapshot({"step_number": 1, "doing": "planning", "plan": "1. Look.", "reasoning": "Hm,"})


def test_draft_counts_actions_and_adds_the_tokens_of_plans() -> None:
    record = draft_of(StepEnded(step=plan(1, "1. Look.")), StepEnded(step=action(1, LOOK))).to_record()
    assert [step.get("kind") for step in record["steps"]] == ["plan", None]
    assert record["n_steps"] == 1
    assert record["usage"]["input_tokens"] == 801


def test_draft_thinks_about_the_same_step_after_its_plan() -> None:
    draft = draft_of(StepEnded(step=plan(3, "1. Look.")))
    assert draft.to_record().get("now") == {"step_number": 3, "doing": "thinking"}


def test_draft_says_that_it_is_paused_and_keeps_what_was_written() -> None:
    waiting = Waiting(step_number=1, kind="pause", reason="The person paused the run.")
    assert now_after(TextDelta(step_number=1, text="I look. "), waiting) == snapshot(
        {
            "step_number": 1,
            "doing": "paused",
            "thought": "I look.",
            "waiting": {"reason": "The person paused the run.", "delay_s": None, "attempt": 0},
        }
    )


CHANGED = SettingChanged(step_number=2, name="summary_mode", value="all", effective="from the next call")
SHORTENED = ContextShortened(
    step_number=2,
    shortened=("observations of steps 1-4",),
    tokens_before=7_900,
    tokens_after=5_200,
    window=8_000,
    is_estimate=True,
)


def test_draft_shows_what_happened_around_the_step_that_is_being_made() -> None:
    key = Notice(step_number=2, message="It is sk-proj-abcdefghijklmnop1234.")
    assert now_after(CHANGED, key) == snapshot(
        {
            "step_number": 1,
            "doing": "thinking",
            "notes": [
                {"text": "summary_mode is 'all' from the next call"},
                {"text": "It is [redacted].", "is_warning": True},
            ],
        }
    )


def test_draft_keeps_the_notes_of_each_step_in_the_finished_record() -> None:
    plan_2 = plan(2, "1. List.", is_first=False)
    late = Notice(step_number=2, message="A callback raised.")
    draft = draft_of(
        StepEnded(step=action(1, LOOK)),
        StepStarted(step_number=2, kind="plan"),
        CHANGED,
        StepEnded(step=plan_2),
        StepStarted(step_number=2),
        SHORTENED,
        StepEnded(step=action(2, NEXT)),
        late,
    )
    live = [step.get("notes") for step in draft.to_record()["steps"]]
    draft.finish(run(action(1, LOOK), plan_2, action(2, NEXT)))
    assert [step.get("notes") for step in draft.to_record()["steps"]] == live
    assert live == snapshot(
        [
            None,
            [{"text": "summary_mode is 'all' from the next call"}],
            [
                {
                    "text": "shortened for the window of 8,000 tokens (about 7,900 → 5,200): observations of steps 1-4"
                },
                {"text": "A callback raised.", "is_warning": True},
            ],
        ]
    )


def test_draft_gives_the_notes_of_a_step_that_was_not_made_to_the_last_one() -> None:
    draft = draft_of(StepEnded(step=action(1, LOOK)), StepStarted(step_number=2), CHANGED)
    draft.finish(run(action(1, LOOK), value=None, status="interrupted"))
    assert draft.to_record()["steps"][-1].get("notes") == [
        {"text": "summary_mode is 'all' from the next call"}
    ]


def test_draft_gives_a_warning_to_the_header_when_no_step_was_made() -> None:
    draft = draft_of(Notice(step_number=1, message="A callback raised."), CHANGED)
    draft.finish(run(value=None, status="failed"))
    assert draft.to_record()["warnings"] == ["A callback raised."]


def test_draft_finds_the_step_of_a_note_when_the_step_was_edited() -> None:
    draft = draft_of(
        StepStarted(step_number=1), Notice(step_number=1, message="Hm."), StepEnded(step=action(1, LOOK))
    )
    draft.finish(run(action(1, NEXT)))
    assert draft.to_record()["steps"][0].get("notes") == [{"text": "Hm.", "is_warning": True}]


def test_draft_shows_the_step_limit_that_was_set_while_it_ran() -> None:
    changed = SettingChanged(step_number=7, name="max_steps", value=10, effective="from step 7")
    draft = draft_of(StepStarted(step_number=7), changed)
    assert draft.to_record()["max_steps"] == 16  # ten from the first step of a run that was resumed


def test_draft_is_no_longer_paused_when_the_person_lets_it_go_on() -> None:
    waiting = Waiting(step_number=1, kind="pause", reason="The person paused the run.")
    go_on = SettingChanged(step_number=1, name="is_paused", value=False, effective="now")
    assert now_after(waiting, go_on) == {
        "step_number": 1,
        "doing": "thinking",
        "notes": [{"text": "goes on"}],
    }
