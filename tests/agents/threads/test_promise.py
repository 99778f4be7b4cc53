"""Promises: the first end counts, whichever thread brings it."""

from __future__ import annotations

import threading

import pytest

from agent_magic.agents.threads.promise import Promise


def test_promise_gives_its_value_to_all_that_wait() -> None:
    promise: Promise[list[int]] = Promise()
    value = [1]
    got: list[list[int]] = []
    threads = [threading.Thread(target=lambda: got.append(promise.wait())) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert not promise.is_over
    promise.keep(value)
    for thread in threads:
        thread.join(20)
    assert [each is value for each in [*got, promise.wait(0)]] == [True] * 4
    assert promise.is_over


def test_broken_promise_raises_why() -> None:
    promise: Promise[None] = Promise()
    promise.break_(TimeoutError("its own"))
    with pytest.raises(TimeoutError, match="its own"):
        promise.wait(0)
    assert promise.is_over


def test_first_end_counts() -> None:
    promise: Promise[int | None] = Promise()
    promise.keep(None)
    promise.break_(ValueError())
    promise.keep(2)
    assert promise.wait() is None


def test_wait_that_is_over_says_so() -> None:
    promise: Promise[int] = Promise()
    with pytest.raises(TimeoutError):
        promise.wait(0.01)
    assert not promise.is_over
