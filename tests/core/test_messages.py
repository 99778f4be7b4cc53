"""Messages and usage: plain data, and sums that never invent a zero."""

from __future__ import annotations

import dataclasses

import pytest

from agent_magic.core.messages import ChatMessage, TokenUsage

_FULL = TokenUsage(input_tokens=10, output_tokens=5, cached_tokens=4, reasoning_tokens=2, cost_usd=0.25)


def test_token_usage_adds_each_figure() -> None:
    total = _FULL + _FULL
    assert total == TokenUsage(
        input_tokens=20, output_tokens=10, cached_tokens=8, reasoning_tokens=4, cost_usd=0.5
    )


def test_token_usage_sum_is_unknown_where_one_is_unknown() -> None:
    partly = TokenUsage(input_tokens=1, output_tokens=1)
    expected = TokenUsage(input_tokens=11, output_tokens=6)
    assert _FULL + partly == expected
    assert partly + _FULL == expected


def test_token_usage_sum_stays_unknown_when_more_is_added() -> None:
    assert TokenUsage() + _FULL + _FULL == TokenUsage()


def test_token_usage_adds_a_known_zero() -> None:
    assert (TokenUsage(input_tokens=0) + TokenUsage(input_tokens=3)).input_tokens == 3


def test_token_usage_to_dict_has_the_five_figures() -> None:
    assert _FULL.to_dict() == {
        "input_tokens": 10,
        "output_tokens": 5,
        "cached_tokens": 4,
        "reasoning_tokens": 2,
        "cost_usd": 0.25,
    }
    assert set(TokenUsage().to_dict().values()) == {None}


def test_chat_message_cannot_be_changed() -> None:
    message = ChatMessage(role="user", content="hello")
    with pytest.raises(dataclasses.FrozenInstanceError):
        message.content = "changed"  # type: ignore[misc]  # that is what is tested
