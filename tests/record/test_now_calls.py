"""Code that is written, asked about and run, as it stands in the record of a run that goes on."""

from __future__ import annotations

import json
import time
from typing import Any

import pandas as pd
import pytest
from inline_snapshot import snapshot
from view.code_samples import CODE_3, EDITED_3, asked_code, code_call, draft_of
from view.samples import call

from agent_magic.core.approval import Decision, Question, call_item
from agent_magic.core.events import (
    ApprovalGiven,
    Event,
    ModelReplied,
    PlanDelta,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.messages import ChatMessage, ToolCall
from agent_magic.core.steps import Fault, ToolResult
from agent_magic.record.draft import RunDraft

CODE = code_call("for city in cities:\n    look(city)")
REPLY = "I look.\n<code>\nlook(1)\nx < 2\n</code>"
SECRET = "sk-proj-abcdefghijklmnop0123456789"


def now_after(*events: Event) -> Any:
    return draft_of(*events).to_record().get("now")


def written(*pieces: str) -> list[Event]:
    return [TextDelta(step_number=1, text=piece) for piece in pieces]


def started(result: ToolResult, *, inside: str | None = "code_1") -> ToolCallStarted:
    return ToolCallStarted(step_number=1, call=result.call, inside=inside)


def ended(result: ToolResult, *, inside: str | None = "code_1") -> ToolCallEnded:
    return ToolCallEnded(step_number=1, result=result, inside=inside)


def look(n: int, **fields: Any) -> ToolResult:
    return call("look", {"n": n}, f"inner_{n}", **({"observation": f"seen {n}"} | fields))


# -- code that is written ------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, len(REPLY) + 1))
def test_code_is_told_from_the_thought_before_it_wherever_the_pieces_end(size: int) -> None:
    now = now_after(*written(*(REPLY[at : at + size] for at in range(0, len(REPLY), size))))
    assert (now["thought"], now["code"]) == ("I look.", "look(1)\nx < 2")


def test_tag_is_never_shown_while_it_is_written() -> None:
    for end in range(len(REPLY) + 1):
        now = now_after(*written(*REPLY[:end]))
        assert "<" not in now.get("thought", "")
        assert "</" not in now.get("code", "")


def test_sign_that_begins_no_tag_is_shown_with_what_follows_it() -> None:
    assert now_after(*written("a <", "b and c <co", "ol>"))["thought"] == "a <b and c <cool>"


def test_agent_that_calls_tools_writes_no_code() -> None:
    draft = RunDraft(clock=lambda: 0.0)
    for event in (StepStarted(step_number=1), *written(REPLY)):
        draft.add(event)
    now: Any = draft.to_record().get("now")
    assert (now["thought"], "code" in now) == (REPLY, False)


def test_plan_of_an_agent_that_writes_code_is_text() -> None:
    now = now_after(StepStarted(step_number=1, kind="plan"), PlanDelta(step_number=1, text=REPLY))
    assert (now["plan"], "code" in now) == (REPLY, False)


@pytest.mark.parametrize(
    "after",
    [
        ModelReplied(step_number=1, message=ChatMessage(role="assistant")),
        Waiting(step_number=1, reason="busy", delay_s=1.0, attempt=1),
        StepStarted(step_number=2),
    ],
    ids=["replied", "retry", "step"],
)
def test_code_that_was_written_is_forgotten_once_it_is_known_or_dropped(after: Event) -> None:
    assert "code" not in now_after(*written(REPLY), after)


def test_reply_that_is_asked_for_again_begins_with_its_thought() -> None:
    again = Waiting(step_number=1, reason="busy", delay_s=1.0, attempt=1)
    now = now_after(*written("One.<code>one()"), again, *written("Two. "))
    assert (now["thought"], "code" in now) == ("Two.", False)


def test_no_part_of_a_key_is_shown_while_code_is_written() -> None:
    text = f'<code>login("{SECRET}")'
    for end in range(len(text) + 1):
        assert SECRET[:10] not in json.dumps(now_after(*written(text[:end])))


# -- code that is asked about --------------------------------------------------------------------


def test_person_is_asked_about_code_and_not_about_arguments() -> None:
    item, waiting = asked_code()
    (asked,) = now_after(waiting)["asked"]["items"]
    assert asked == {"id": "ask-0", "digest": item.digest, "kind": "call", "name": "python", "code": CODE_3}


@pytest.mark.parametrize("code", [f'login("{SECRET}")', "look()\n" * 20_000, "look('\x1b[31mred')"])
def test_code_that_is_not_shown_whole_says_so(code: str) -> None:
    _, waiting = asked_code(code)
    (asked,) = now_after(waiting)["asked"]["items"]
    assert asked["is_partial"] is True
    assert SECRET not in asked["code"]


def test_call_that_code_makes_is_partial_where_its_arguments_are_objects() -> None:
    frame = pd.DataFrame({"a": [1, 2]})
    items = tuple(
        call_item(f"i{n}", ToolCall(id=f"c{n}", name="look", arguments=arguments))
        for n, arguments in enumerate([{"at": frame}, {"at": [frame]}, {"at": (1, 2)}, {"at": [1, {"b": 2}]}])
    )
    question = Question(id="q", run_id="r", step_number=1, items=items)
    waiting = Waiting(step_number=1, kind="approval", reason="asked", question=question)
    asked = now_after(waiting)["asked"]["items"]
    assert ["is_partial" in item for item in asked] == [True, True, True, False]


def test_code_that_the_person_changed_is_shown_while_it_runs() -> None:
    item, waiting = asked_code()
    assert item.call is not None
    edited = Decision(item=item, verdict="edited", arguments={"code": EDITED_3})
    start = ToolCallStarted(step_number=1, call=item.call)
    now = now_after(waiting, ApprovalGiven(step_number=1, decision=edited), start)
    assert now == snapshot(
        {
            "step_number": 1,
            "doing": "calling",
            "calls": [
                {
                    "id": "code_4",
                    "name": "python",
                    "arguments": {},
                    "code": "final_answer(f\"Oslo, by {prices['Oslo'] - prices['Bergen']:,.0f}\")",
                    "notes": [
                        """\
the person changed the arguments to this code:
final_answer("Oslo")\
"""
                    ],
                    "is_edited": True,
                }
            ],
            "running": ["code_4"],
            "notes": [{"text": "the code was changed by the person"}],
        }
    )


# -- code that runs ------------------------------------------------------------------------------


def test_code_that_runs_shows_itself_and_the_calls_that_it_makes() -> None:
    failed = look(2, observation="", fault=Fault(kind="ToolError", message="No."))
    now = now_after(
        started(CODE, inside=None),
        *(started(look(1)), ended(look(1)), started(failed), ended(failed), started(look(3))),
    )
    assert now == snapshot(
        {
            "step_number": 1,
            "doing": "calling",
            "calls": [
                {
                    "id": "code_1",
                    "name": "python",
                    "arguments": {},
                    "code": """\
for city in cities:
    look(city)\
""",
                    "calls": [
                        {"id": "inner_1", "name": "look", "arguments": {"n": 1}, "observation": "seen 1"},
                        {
                            "id": "inner_2",
                            "name": "look",
                            "arguments": {"n": 2},
                            "error": {"kind": "ToolError", "message": "No."},
                        },
                        {"id": "inner_3", "name": "look", "arguments": {"n": 3}},
                    ],
                }
            ],
            "running": ["code_1", "inner_3"],
        }
    )


def test_call_that_was_refused_before_it_began_is_shown() -> None:
    refused = look(1, observation="", fault=Fault(kind="ToolCallError", message="No n."))
    (code,) = now_after(started(CODE, inside=None), started(look(0)), ended(refused))["calls"]
    assert [inner["id"] for inner in code["calls"]] == ["inner_0", "inner_1"]


def test_code_that_has_ended_has_what_its_result_says() -> None:
    whole = code_call("look(1)", observation="done", calls=(look(1), look(2)))
    now = now_after(started(whole, inside=None), started(look(1)), ended(whole, inside=None))
    assert "running" not in now
    assert [inner["id"] for inner in now["calls"][0]["calls"]] == ["inner_1", "inner_2"]


def test_of_very_many_calls_the_first_and_the_newest_are_shown() -> None:
    events = [event for n in range(10_000) for event in (started(look(n)), ended(look(n)))]
    draft = draft_of(started(CODE, inside=None))
    start = time.perf_counter()
    for event in events:
        draft.add(event)
    took = time.perf_counter() - start
    now: Any = draft.to_record().get("now")
    (code,) = now["calls"]
    assert [inner["arguments"]["n"] for inner in code["calls"]] == [*range(5), *range(9_990, 10_000)]
    assert code["calls_left_out"] == 9_985
    assert len(json.dumps(now)) < 20_000
    assert took < 10


def test_late_end_of_a_call_that_is_not_shown_any_more_changes_nothing() -> None:
    events = [started(look(n)) for n in range(40)]
    before, after = (
        now_after(started(CODE, inside=None), *events),
        now_after(started(CODE, inside=None), *events, ended(look(10))),
    )
    assert before == after
    assert before["running"] == ["code_1", *(f"inner_{n}" for n in [*range(5), *range(30, 40)])]


def test_record_of_code_that_was_given_out_does_not_change() -> None:
    draft = draft_of(started(CODE, inside=None), started(look(1)))
    before: Any = draft.to_record().get("now")
    draft.add(ended(look(1)))
    draft.add(started(look(2)))
    assert before["calls"][0]["calls"] == [{"id": "inner_1", "name": "look", "arguments": {"n": 1}}]
