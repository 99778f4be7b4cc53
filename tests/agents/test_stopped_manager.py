"""A real SIGINT at random points of a manager's run: all of it is stopped and recorded, and it goes on."""

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
N_POINTS = 60


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
@pytest.mark.parametrize("kind", ["tools", "code"])
def test_manager_stopped_by_sigint_at_random_points_is_valid_and_goes_on(kind: str) -> None:
    rng = random.Random(kind)
    child = subprocess.Popen(
        [sys.executable, "-m", "agents.stopped_manager", kind],
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
        for _ in range(N_POINTS):
            child.stdin.write("run\n")
            child.stdin.flush()
            assert child.stdout.readline() == "go\n", child.communicate()[1]
            time.sleep(rng.uniform(0, run_s))
            os.kill(child.pid, signal.SIGINT)
            child.stdin.write("sent\n")
            child.stdin.flush()
            line = child.stdout.readline()
            assert line, child.communicate()[1]
            found.append(json.loads(line))
        _, errors = child.communicate("end\n", timeout=30)
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
    # Where a signal comes into a callback of the interpreter's own, it says so and goes on.
    assert errors.count("Traceback") == errors.count("Exception ignored in"), errors
    assert not errors or errors.startswith("Exception ignored in"), errors
    stopped = [one for one in found if one["status"] == "interrupted"]
    assert len(stopped) > N_POINTS // 2
    # many of them while the other agent was at work
    assert sum(one["is_inside"] for one in stopped) > N_POINTS // 6
