"""Turns: so many in any minute, in the order of coming, and none lost on who went away."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from inline_snapshot import snapshot
from threads import join

from agent_magic.core.errors import OptionError
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.rate import RateLimit
from agent_magic.models.scripted import ScriptedModel


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_so_many_go_at_once_and_the_next_a_minute_after_the_first() -> None:
    clock = Clock()
    limit = RateLimit(2, clock)
    assert limit.enter().delay_s() == 0
    clock.now += 10
    assert limit.enter().delay_s() == 0
    third = limit.enter()
    assert third.delay_s() == 50
    clock.now += 49
    assert third.delay_s() == 1
    clock.now += 1
    assert third.delay_s() == 0
    assert limit.enter().delay_s() == 10


def test_any_minute_holds_no_more_than_allowed() -> None:
    clock = Clock()
    limit = RateLimit(3, clock)
    taken: list[float] = []
    waiting = [limit.enter() for _ in range(20)]
    while waiting:
        for turn in list(waiting):
            if not turn.delay_s():
                taken.append(clock.now)
                waiting.remove(turn)
        clock.now += 1
    assert all(later - earlier >= 60 for earlier, later in zip(taken, taken[3:], strict=False))
    assert taken[-1] - taken[0] == 6 * 60


def test_who_came_first_goes_first() -> None:
    clock = Clock()
    limit = RateLimit(1, clock)
    limit.enter().delay_s()
    first, second, third = (limit.enter() for _ in range(3))
    assert [turn.delay_s() for turn in (first, second, third)] == [60, 120, 180]
    clock.now += 60
    assert [turn.delay_s() for turn in (third, second, first)] == [120, 60, 0]


def test_who_leaves_makes_room() -> None:
    clock = Clock()
    limit = RateLimit(1, clock)
    limit.enter().delay_s()
    first, second = limit.enter(), limit.enter()
    first.leave()
    assert second.delay_s() == 60
    clock.now += 60
    assert second.delay_s() == 0
    second.leave()  # the turn was taken, and counts
    assert limit.enter().delay_s() == 60


def test_half_a_request_a_minute_is_one_in_two() -> None:
    clock = Clock()
    limit = RateLimit(0.5, clock)
    limit.enter().delay_s()
    assert limit.enter().delay_s() == 120


def test_another_rate_holds_at_once() -> None:
    clock = Clock()
    limit = RateLimit(1, clock)
    limit.enter().delay_s()
    turn = limit.enter()
    limit.change(2)
    assert turn.delay_s() == 0
    limit.change(1)
    assert limit.enter().delay_s() == 60


def test_a_line_that_nobody_has_gone_from_is_foreseen() -> None:
    limit = RateLimit(1, Clock())
    limit.enter()
    assert limit.enter().delay_s() == 60


def test_threads_take_each_turn_once() -> None:
    limit = RateLimit(5, Clock())
    taken: list[bool] = []
    barrier = threading.Barrier(20, timeout=60)

    def ask() -> None:
        turn = limit.enter()
        barrier.wait()
        taken.append(turn.delay_s() == 0)

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert sum(taken) == 5


def test_a_model_has_one_line_that_follows_its_rate() -> None:
    model = ScriptedModel([])
    assert model.rate_limit is None
    model.requests_per_minute = 3
    limit = model.rate_limit
    assert limit is not None
    model.requests_per_minute = 4
    assert model.rate_limit is limit
    assert limit.per_minute == 4
    model.requests_per_minute = None
    assert model.rate_limit is None


def test_the_option_of_a_model_is_not_sent() -> None:
    model = LiteLLMModel("openai/tiny", requests_per_minute=7)
    assert (model.requests_per_minute, dict(model.shown_options)) == (7, {})


@pytest.mark.parametrize("per_minute", [0, -1, True, "3", float("nan"), float("inf")])
def test_what_is_no_rate_is_refused(per_minute: Any) -> None:
    with pytest.raises(OptionError, match="is no rate"):
        LiteLLMModel("openai/tiny", requests_per_minute=per_minute)


def test_the_refusal_says_what_to_write() -> None:
    with pytest.raises(OptionError) as caught:
        RateLimit(0)
    assert caught.value.message == snapshot("""\
requests_per_minute=0 is no rate.
Give a number above 0, such as requests_per_minute=20, or None for no limit.\
""")
