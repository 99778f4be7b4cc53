"""Spoilt replies, each given to a real agent: nothing escapes, nothing is lost, each call is answered once."""

from __future__ import annotations

from typing import Any

import pytest
from fuzz.mutations import Case
from fuzz.properties import check_messages, check_run
from fuzz.replies import SHARES, try_examples

N_EXAMPLES = 2_000
"""The same in each run; more, and others, by `python -m tests.fuzz.replies`."""


@pytest.mark.parametrize("kind", SHARES)
def test_agent_stands_whatever_its_model_replies(kind: str) -> None:
    n_examples = round(N_EXAMPLES * SHARES[kind])
    assert try_examples(kind, n_examples).total() >= n_examples


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
