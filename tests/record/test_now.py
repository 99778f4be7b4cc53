from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.approval import Decision, Question, call_item, plan_item
from agent_magic.core.events import (
    ApprovalGiven,
    ArgumentsDelta,
    Event,
    ModelReplied,
    StepStarted,
    TextDelta,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.messages import ChatMessage, ToolCall
from agent_magic.record.draft import RunDraft
from agent_magic.record.growing import KEPT_CHARS, MOST_CHARS

SECRET = "sk-proj-abcdefghijklmnop0123456789"


def now_after(*events: Event) -> Any:
    draft = RunDraft(clock=lambda: 0.0)
    for event in (StepStarted(step_number=2), *events):
        draft.add(event)
    return draft.to_record().get("now")


def written(*pieces: str, place: int = 0, name: str = "look") -> list[Event]:
    return [ArgumentsDelta(step_number=2, place=place, name=name, text=text) for text in pieces]


def asked(*items: Any) -> Waiting:
    question = Question(id="q", run_id="r", step_number=2, items=items)
    return Waiting(step_number=2, kind="approval", reason="The person is asked.", question=question)


def a_call(arguments: Any, n: int = 0, name: str = "look") -> Any:
    return call_item(f"q-{n}", ToolCall(id=f"c{n}", name=name, arguments=arguments))


def given(item: Any, verdict: Any) -> ApprovalGiven:
    return ApprovalGiven(step_number=2, decision=Decision(item=item, verdict=verdict))


# -- arguments that are written ------------------------------------------------------------------


def test_now_shows_the_arguments_that_the_model_writes() -> None:
    events = [*written("", '{"city": "Os'), *written("{}", place=1, name="list")]
    assert now_after(*events) == snapshot(
        {
            "step_number": 2,
            "doing": "thinking",
            "writing": [{"name": "look", "arguments": '{"city": "Os'}, {"name": "list", "arguments": "{}"}],
        }
    )


@pytest.mark.parametrize(
    "after",
    [
        ModelReplied(step_number=2, message=ChatMessage(role="assistant")),
        Waiting(step_number=2, reason="busy", delay_s=1.0, attempt=1),
        StepStarted(step_number=3),
    ],
    ids=["replied", "retry", "step"],
)
def test_now_forgets_what_was_written_once_it_is_known_or_dropped(after: Event) -> None:
    assert "writing" not in now_after(*written('{"a": 1'), after)


def test_now_shows_the_newer_part_of_long_arguments() -> None:
    text = json.dumps({"words": [f"word {n}" for n in range(5_000)]})
    (shown,) = now_after(*written(*(text[n : n + 50] for n in range(0, len(text), 50))))["writing"]
    assert shown["arguments"].startswith("…")
    assert shown["arguments"].endswith('"word 4999"]}')
    assert KEPT_CHARS <= len(shown["arguments"]) <= MOST_CHARS


@pytest.mark.parametrize(
    "form", ['{{"key":"{}"}}', '{{"key": "say {}"}}', "{{'key': '{}'}}", '{{"k":"a\\"b {}"}}']
)
def test_now_never_shows_a_part_of_a_key_while_it_is_written(form: str) -> None:
    text = form.format(SECRET)
    for end in range(len(text) + 1):
        (shown,) = now_after(*written(text[:end]))["writing"]
        assert SECRET[:10] not in shown["arguments"]
    assert "[redacted]" in shown["arguments"]


def test_now_shows_compact_arguments_before_they_are_whole() -> None:
    (shown,) = now_after(*written('{"city":"Oslo","n":12345678,"unit":"m'))["writing"]
    assert shown["arguments"] == '{"city":"Oslo","n":12345678,"unit":"m'


def test_now_shows_a_made_up_name_as_clean_text() -> None:
    (shown,) = now_after(*written("{}", name=f"look\x1b[31m {SECRET} " + "x" * 10_000))["writing"]
    assert shown["name"].startswith("look [redacted] xxx")
    assert len(shown["name"]) <= 80


def test_now_takes_arguments_that_come_by_single_characters() -> None:
    events = written(*('{"text": "' + "x" * 20_000))
    assert len(now_after(*events)["writing"]) == 1


# -- what the person is asked --------------------------------------------------------------------


def test_now_shows_what_the_person_is_asked() -> None:
    one, two = a_call({"n": 1}), a_call({}, 1, "list")
    now = now_after(asked(one, two), given(two, "rejected"))
    assert [item.pop("digest") for item in now["asked"]["items"]] == [one.digest, two.digest]
    assert now == snapshot(
        {
            "step_number": 2,
            "doing": "asking",
            "asked": {
                "id": "q",
                "items": [
                    {"id": "q-0", "kind": "call", "name": "look", "arguments": {"n": 1}},
                    {
                        "id": "q-1",
                        "kind": "call",
                        "name": "list",
                        "arguments": {},
                        "verdict": "rejected",
                    },
                ],
            },
            "notes": [{"text": "list was refused by the person"}],
        }
    )


def test_now_no_longer_asks_once_all_is_decided() -> None:
    one = a_call({"n": 1})
    assert one.call is not None
    decided = now_after(asked(one), given(one, "approved"))
    assert (decided["doing"], "asked" in decided) == ("thinking", False)
    running = now_after(asked(one), given(one, "approved"), ToolCallStarted(step_number=2, call=one.call))
    assert running["doing"] == "calling"


def test_now_shows_the_plan_that_the_person_is_asked_about() -> None:
    now = now_after(StepStarted(step_number=2, kind="plan"), asked(plan_item("q-0", "1. Look.\n2. Tell.")))
    (item,) = now["asked"]["items"]
    item.pop("digest")
    assert item == {"id": "q-0", "kind": "plan", "plan": "1. Look.\n2. Tell."}


@pytest.mark.parametrize(
    "arguments",
    [{"key": SECRET}, {"text": "x" * 200_000}, {"text": "\x1b[31mred"}, {SECRET: 1}, {"f": float("inf")}],
)
def test_now_says_where_it_does_not_show_the_whole_arguments(arguments: Any) -> None:
    (item,) = now_after(asked(a_call(arguments)))["asked"]["items"]
    assert item["is_partial"] is True
    text = json.dumps(item, allow_nan=False)
    assert SECRET not in text
    assert len(text) < 50_000


def test_digest_is_that_of_the_real_arguments() -> None:
    one = a_call({"key": SECRET})
    (item,) = now_after(asked(one))["asked"]["items"]
    assert item["digest"] == one.digest


def test_two_hundred_calls_are_shown_in_little() -> None:
    items = [a_call({"text": "x" * 5_000}, n) for n in range(200)]
    now = now_after(asked(*items))
    assert len(now["asked"]["items"]) == 200
    assert len(json.dumps(now)) < 100_000


def test_record_that_was_given_out_does_not_change() -> None:
    one, two = a_call({"n": 1}), a_call({"n": 2}, 1)
    draft = RunDraft(clock=lambda: 0.0)
    draft.add(StepStarted(step_number=2))
    draft.add(asked(one, two))
    before = draft.to_record()
    draft.add(given(one, "approved"))
    assert not any("verdict" in item for item in before["now"]["asked"]["items"])  # type: ignore[typeddict-item]


def test_calls_before_the_newest_are_cut_where_many_are_long() -> None:
    text = json.dumps({"words": [f"word {n}" for n in range(900)]})
    now = now_after(*(event for place in range(100) for event in written(text, place=place)))
    sizes = [len(call["arguments"]) for call in now["writing"]]
    assert sizes[-1] == len(text)
    assert sum(sizes) < 250_000


def test_text_that_is_written_goes_on_after_arguments() -> None:
    now = now_after(*written('{"a": 1}'), TextDelta(step_number=2, text="And so."))
    assert (now["thought"], len(now["writing"])) == ("And so.", 1)
