"""The desk where a run's questions lie: what can be answered, how often, and by whom."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.agents.person.approvals import Approvals, Asked
from agent_magic.core.approval import Item, Question, call_item, plan_item
from agent_magic.core.errors import OptionError, ToolCallError
from agent_magic.core.messages import ToolCall


def _refuse_words(item: Item, arguments: Mapping[str, Any]) -> None:
    if not all(isinstance(value, int) for value in arguments.values()):
        raise ToolCallError(f"{item.name}: each argument is an integer.")


def _desk(*items: Item) -> tuple[Approvals, Asked]:
    desk = Approvals()
    return desk, desk.put(Question(id="q", run_id="r", step_number=2, items=items), _refuse_words)


def _add(n: int = 0) -> Item:
    return call_item(f"q-{n}", ToolCall(id=f"c{n}", name="add", arguments={"a": n}))


_PLAN = plan_item("q-0", "1. Look.")


def _said(desk: Approvals, *args: Any, **options: Any) -> str:
    with pytest.raises(OptionError) as raised:
        desk.answer(*args, **options)
    return raised.value.message


def test_answer_says_when_it_takes_effect() -> None:
    desk, asked = _desk(_add(0), _add(1), _add(2))
    assert [desk.answer(f"q-{n}", "approve", digest=_add(n).digest) for n in (2, 0, 1)] == snapshot(
        ["when the 2 others are decided", "when the other one is decided", "now"]
    )
    assert [(decision.item.id, decision.verdict) for decision in asked.decisions.values()] == [
        ("q-2", "approved"),
        ("q-0", "approved"),
        ("q-1", "approved"),
    ]


def test_question_is_open_until_it_is_withdrawn() -> None:
    desk, asked = _desk(_add())
    assert [question.id for question in desk.open] == ["q"]
    assert desk.is_open("q-0")
    desk.answer("q-0", "approve")
    assert not desk.is_open("q-0")
    desk.withdraw(asked)
    assert desk.open == ()


def test_second_answer_is_refused_with_who_was_first() -> None:
    desk, asked = _desk(_add(), _add(1))
    desk.answer("q-0", "reject", reason="no", by="the person at the prompt")
    assert _said(desk, "q-0", "approve") == snapshot(
        "add was refused already, by the person at the prompt. Nothing was changed."
    )
    desk.withdraw(asked)
    assert _said(desk, "q-0", "approve") == snapshot(
        "add was refused already, by the person at the prompt. Nothing was changed."
    )
    assert asked.decisions["q-0"].verdict == "rejected"


def test_answer_after_the_run_went_on_is_refused() -> None:
    desk, asked = _desk(_add())
    desk.withdraw(asked)
    assert _said(desk, "q-0", "approve") == snapshot(
        "The run no longer waits for a word on add: it went on or ended. Nothing was changed."
    )


@pytest.mark.parametrize("item_id", ["q-7", "", None, 3, ["q-0"], "x" * 5_000])
def test_answer_to_what_nobody_asked_is_refused(item_id: Any) -> None:
    desk, asked = _desk(_add())
    said = _said(desk, item_id, "approve")
    assert said.startswith("Nothing with the id ")
    assert said.endswith("waits for an answer. Open: q-0.")
    assert len(said) < 200
    assert asked.n_left == 1


def test_answer_at_an_empty_desk_is_refused() -> None:
    assert _said(Approvals(), "q-0", "approve") == snapshot(
        "Nothing with the id 'q-0' waits for an answer. Nothing is open now."
    )


@pytest.mark.parametrize(
    "digest", ["", "0" * 32, _add(1).digest, "é"], ids=["none", "zeros", "another", "accented"]
)
def test_answer_to_other_arguments_than_are_asked_is_refused(digest: str) -> None:
    desk, asked = _desk(_add())
    assert _said(desk, "q-0", "approve", digest=digest) == snapshot(
        "The arguments of add changed since they were shown, so this answer does not hold. Look at what is asked now, and answer that."
    )
    assert asked.n_left == 1


def test_answer_to_another_plan_than_is_asked_is_refused() -> None:
    desk, _ = _desk(_PLAN)
    assert _said(desk, "q-0", "approve", digest=plan_item("q-0", "1. Delete.").digest) == snapshot(
        "The plan has changed since it was shown, so this answer does not hold. Look at what is asked now, and answer that."
    )


def test_verdict_that_is_none_is_refused() -> None:
    desk, _ = _desk(_add())
    assert _said(desk, "q-0", "approved") == snapshot(
        "verdict='approved' is not allowed. Give one of: 'approve', 'edit', 'reject'."
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {},
            snapshot(
                "The arguments of add are a JSON object, and not None. Give all of them as `arguments`, such as {'a': 0}."
            ),
        ),
        (
            {"arguments": [1]},
            snapshot(
                "The arguments of add are a JSON object, and not [1]. Give all of them as `arguments`, such as {'a': 0}."
            ),
        ),
        ({"arguments": {"a": "two"}}, snapshot("add: each argument is an integer.")),
    ],
)
def test_edit_that_cannot_be_leaves_the_item_open(options: dict[str, Any], text: str) -> None:
    desk, asked = _desk(_add())
    assert _said(desk, "q-0", "edit", **options) == text
    desk.answer("q-0", "edit", arguments={"a": 5})
    assert asked.decisions["q-0"].arguments == {"a": 5}


def test_edit_to_the_same_arguments_is_an_approval() -> None:
    desk, asked = _desk(_add())
    desk.answer("q-0", "edit", arguments={"a": 0})
    assert (asked.decisions["q-0"].verdict, asked.decisions["q-0"].arguments) == ("approved", None)


@pytest.mark.parametrize("plan", [None, "", "  \n", 3])
def test_edit_of_a_plan_to_nothing_is_refused(plan: Any) -> None:
    desk, _ = _desk(_PLAN)
    assert _said(desk, "q-0", "edit", plan=plan) == snapshot(
        "The edited plan is empty. Write it whole as `plan`, or reject the plan."
    )


def test_edit_of_a_plan_is_bounded() -> None:
    desk, asked = _desk(_PLAN)
    desk.answer("q-0", "edit", plan="x" * 50_000)
    assert len(asked.decisions["q-0"].plan or "") == 20_000


@pytest.mark.parametrize(
    ("reason", "kept"),
    [("too slow", "too slow"), (" \x1b[31mred\x1b[0m ", "red"), (None, ""), (7, "7"), ("\ud800", "\ufffd")],
)
def test_reason_is_kept_as_clean_text(reason: Any, kept: str) -> None:
    desk, asked = _desk(_add())
    desk.answer("q-0", "reject", reason=reason)
    assert asked.decisions["q-0"].reason == kept


def test_reason_is_bounded() -> None:
    desk, asked = _desk(_add())
    desk.answer("q-0", "reject", reason="x" * 10_000_000)
    assert 900 < len(asked.decisions["q-0"].reason) <= 1_000


def test_one_of_many_answers_at_once_counts() -> None:
    desk, asked = _desk(_add())
    start, lost = threading.Barrier(8), []

    def answer(n: int) -> None:
        start.wait()
        try:
            desk.answer("q-0", "reject", reason=str(n))
        except OptionError:
            lost.append(n)

    threads = [threading.Thread(target=answer, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lost) == 7
    assert int(asked.decisions["q-0"].reason) not in lost


def test_somebody_is_there_as_long_as_one_says_so() -> None:
    desk = Approvals()
    assert (desk.is_attended(), desk.has_anybody) == (False, False)
    is_looking = False
    with desk.attended(lambda: is_looking):
        assert (desk.is_attended(), desk.has_anybody) == (False, True)
        is_looking = True
        assert desk.is_attended()
        with desk.attended():
            is_looking = False
            assert desk.is_attended()
    assert not desk.has_anybody


def test_somebody_who_cannot_say_that_they_are_there_is_not() -> None:
    desk = Approvals()
    with desk.attended(lambda: 1 / 0 > 0):
        assert not desk.is_attended()


def test_rule_that_approves_all_holds_as_long_as_it_is_open() -> None:
    desk = Approvals()
    with desk.approving_all("rule 1"):
        with desk.approving_all("rule 2"):
            assert desk.standing == "rule 2"
        assert desk.standing == "rule 1"
    assert desk.standing is None


def test_what_became_of_old_items_is_forgotten() -> None:
    desk = Approvals()
    for n in range(1_100):
        item = call_item(f"{n}-0", ToolCall(id="c", name="add", arguments={}))
        desk.withdraw(desk.put(Question(id=str(n), run_id="r", step_number=1, items=(item,)), _refuse_words))
    assert _said(desk, "0-0", "approve").startswith("Nothing with the id")
    assert _said(desk, "1099-0", "approve").startswith("The run no longer waits")


def test_question_that_lies_on_two_desks_is_answered_once() -> None:
    desk, asked = _desk(_add())
    other = Approvals()
    other.show(asked)
    assert other.open == desk.open
    assert other.answer("q-0", "approve", by="the person at the manager's desk") == "now"
    assert _said(desk, "q-0", "reject") == snapshot(
        "add was approved already, by the person at the manager's desk. Nothing was changed."
    )
    for each in (desk, other):
        each.withdraw(asked)
        assert each.open == ()
