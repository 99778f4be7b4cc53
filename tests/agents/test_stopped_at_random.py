"""A real SIGINT at 200 random points of a run: what is left is valid, and the run goes on without doing anything twice."""

from __future__ import annotations

import sys

import pytest
from agents.stopping import Found, interrupted, stop_at_random

N_POINTS = 200


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
@pytest.mark.parametrize("handler", ["plain", "noted"])
def test_run_stopped_by_sigint_at_random_points_is_valid_and_goes_on(handler: str) -> None:

    def is_enough(found: list[Found]) -> bool:
        return len(interrupted(found)) == N_POINTS or len(found) == 2 * N_POINTS

    found = stop_at_random("agents.stopped_at_random", handler, is_enough)
    stopped = interrupted(found)
    assert len(stopped) == N_POINTS
    assert any(one["in_plan"] for one in stopped)
    assert len({one["n_steps"] for one in stopped}) > 5
    slowest = max(one["ended_at"] - one["sent_at"] for one in stopped)
    print(f"{handler}: {len(stopped)} of {len(found)} stopped, slowest end after {slowest:.3f} s")
    assert slowest <= 0.5
