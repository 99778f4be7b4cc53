"""A real SIGINT at random points of a manager's run: all of it is stopped and recorded, and it goes on."""

from __future__ import annotations

import sys

import pytest
from agents.stopping import interrupted, stop_at_random

N_POINTS = 60


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
@pytest.mark.parametrize("kind", ["tools", "code"])
def test_manager_stopped_by_sigint_at_random_points_is_valid_and_goes_on(kind: str) -> None:
    found = stop_at_random("agents.stopped_manager", kind, lambda found: len(found) == N_POINTS)
    stopped = interrupted(found)
    assert len(stopped) > N_POINTS // 2
    # many of them while the other agent was at work
    assert sum(one["is_inside"] for one in stopped) > N_POINTS // 6
