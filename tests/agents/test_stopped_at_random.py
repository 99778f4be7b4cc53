"""A real SIGINT at 200 random points of a run: what is left is valid, and the run goes on without doing anything twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
N_POINTS = 200


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
@pytest.mark.parametrize("handler", ["plain", "noted"])
def test_run_stopped_by_sigint_at_random_points_is_valid_and_goes_on(handler: str) -> None:
    rng = random.Random(handler)
    child = subprocess.Popen(
        [sys.executable, "-m", "agents.stopped_at_random", handler],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
    )
    assert child.stdin
    assert child.stdout
    found: list[dict[str, Any]] = []
    try:
        run_s = float(child.stdout.readline())
        while sum(one["status"] == "interrupted" for one in found) < N_POINTS and len(found) < 2 * N_POINTS:
            child.stdin.write("run\n")
            child.stdin.flush()
            assert child.stdout.readline() == "go\n", child.communicate()[1]
            time.sleep(rng.uniform(0, run_s))
            sent_at = time.monotonic()
            os.kill(child.pid, signal.SIGINT)
            child.stdin.write(f"{sent_at}\n")
            child.stdin.flush()
            line = child.stdout.readline()
            assert line, child.communicate()[1]
            found.append(json.loads(line) | {"sent_at": sent_at})
        _, errors = child.communicate("end\n", timeout=30)
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
    # Where a signal comes into a callback of the interpreter's own, it says so and goes on.
    assert errors.count("Traceback") == errors.count("Exception ignored in"), errors
    assert not errors or errors.startswith("Exception ignored in"), errors
    stopped = [one for one in found if one["status"] == "interrupted"]
    assert len(stopped) == N_POINTS
    assert any(one["in_plan"] for one in stopped)
    assert len({one["n_steps"] for one in stopped}) > 5
    slowest = max(one["ended_at"] - one["sent_at"] for one in stopped)
    print(f"{handler}: {len(stopped)} of {len(found)} stopped, slowest end after {slowest:.3f} s")
    assert slowest <= 0.5
