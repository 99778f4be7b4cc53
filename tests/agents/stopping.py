"""Stops the runs of a child process by a real SIGINT, each at a moment that chance chooses.

It must not know what runs there, nor judge what came of it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from processes import PATIENCE_S, read_line, started, write_line

Found: TypeAlias = dict[str, Any]
"""What the child says of one run; `sent_at` is when it was sent the signal."""


def stop_at_random(module: str, argument: str, is_enough: Callable[[list[Found]], bool]) -> list[Found]:
    """What a child says of each of its runs.

    It writes how long a run takes. At each line `run` it starts one and writes `go`, and at the next line, which
    is when the signal was sent, it writes what it found; it ends at `end`.

    Args:
        module: That the child runs.
        argument: Of the module; the moments depend on it alone.
        is_enough: Whether no further run is needed.
    """
    rng = random.Random(argument)
    found: list[Found] = []
    with started(["-m", module, argument]) as child:
        run_s = float(read_line(child))
        while not is_enough(found):
            write_line(child, "run")
            assert read_line(child) == "go"
            time.sleep(rng.uniform(0, run_s))
            sent_at = time.monotonic()
            os.kill(child.pid, signal.SIGINT)
            write_line(child, str(sent_at))
            found.append(json.loads(read_line(child)) | {"sent_at": sent_at})
        _, errors = child.communicate("end\n", timeout=PATIENCE_S)
    # Where a signal comes into a callback of the interpreter's own, it says so and goes on.
    assert errors.count("Traceback") == errors.count("Exception ignored in"), errors
    assert not errors or errors.startswith("Exception ignored in"), errors
    return found


def interrupted(found: list[Found]) -> list[Found]:
    """Those of the runs that the signal stopped."""
    return [one for one in found if one["status"] == "interrupted"]
