"""Spoilt replies, each given to a real agent: nothing escapes, nothing is lost, each call is answered once."""

from __future__ import annotations

from typing import Any

import pytest
from fuzz.mutations import Case
from fuzz.properties import check_messages, check_run
from fuzz.replies import SHARES, main, try_examples

N_EXAMPLES = 2_000
"""The same in each run; more, and others, by `python -m tests.fuzz.replies`."""


@pytest.mark.parametrize("kind", SHARES)
def test_agent_stands_whatever_its_model_replies(kind: str) -> None:
    n_examples = round(N_EXAMPLES * SHARES[kind])
    assert try_examples(kind, n_examples).total() >= n_examples


@pytest.mark.parametrize("number", ["0", "-5", "many"])
def test_number_of_replies_that_cannot_be_is_a_usage_error(
    number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main([f"--examples={number}"])
    assert refused.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1] == (
        f"python -m tests.fuzz.replies: error: argument --examples: '{number}' is no number of replies: "
        "give a whole number from 1 on"
    )


def test_least_number_of_replies_is_tried_of_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--examples=1", "--seed=1"]) == 0
    assert "3 examples, 0 kinds broken, seed 1" in capsys.readouterr().out


def call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "add", "arguments": "{}"}}


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "assistant", "content": None, "tool_calls": [call("c1")]}],
        [
            {"role": "assistant", "content": None, "tool_calls": [call("c1")]},
            {"role": "tool", "tool_call_id": "c2", "content": "3"},
        ],
        [{"role": "tool", "tool_call_id": "c1", "content": "3"}],
        [
            {"role": "assistant", "content": None, "tool_calls": [call("c1"), call("c1")]},
            {"role": "tool", "tool_call_id": "c1", "content": "3"},
            {"role": "tool", "tool_call_id": "c1", "content": "3"},
        ],
        [{"role": "user", "content": "half \ud83d"}],
        [{"role": "assistant", "content": None}],
    ],
    ids=["unanswered", "another id", "no call", "one id twice", "half a pair", "nothing said"],
)
def test_messages_that_no_provider_would_take_are_found(messages: list[dict[str, Any]]) -> None:
    with pytest.raises((AssertionError, IndexError, UnicodeEncodeError)):
        check_messages(messages)


def test_what_escapes_from_an_agent_is_found() -> None:
    class Fault(BaseException):
        pass

    case = Case(
        kind="native",
        replies=(Fault(),),
        n_times=1,
        calls_natively=True,
        n_pieces=None,
        max_steps=5,
        plans=False,
        answer_type=None,
        is_drawn=False,
    )
    with pytest.raises(Fault):
        check_run(case)
