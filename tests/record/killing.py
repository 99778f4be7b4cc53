"""Runs a journaled agent in child processes that kill themselves, each at another moment; prints what they told.

`python killing.py FOLDER FIRST STEP N`: child number k is killed at the (FIRST + k * STEP)-th line of code of
the journal and of the loop.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from record.journals import CALLS, FINAL, make_agent

from agent_magic.core.events import RunStarted, StepEnded
from agent_magic.record.journal import Journal

_FILES = ("/record/journal", "/core/form/", "/agents/loop", "/agents/toolcalling", "/killing.py")


def run(folder: Path, n_left: int) -> None:
    """One run; the process kills itself at the `n_left`-th line."""
    told = os.open(folder / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def work(n: int) -> str:
        """Work.

        Args:
            n: how hard.
        """
        os.write(told, f"call {n}\n".encode())
        return f"did {n}"

    replies = [CALLS(("work", {"n": 10 * i}), ("work", {"n": 10 * i + 1})) for i in range(4)]
    agent = make_agent(*replies, FINAL("done"), tools=[work], max_tool_threads=1)
    left = [n_left]

    def trace(frame: Any, event: str, _argument: Any) -> Any:
        if not any(part in frame.f_code.co_filename for part in _FILES):
            return None
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    journal: Journal | None = None
    sys.settrace(trace)
    for event in agent.stream("Work hard."):
        if isinstance(event, RunStarted):
            journal = Journal.open(agent_name="analyst", run_id=event.run_id, beside=folder)
        assert journal is not None
        journal.add(event, agent.memory)
        if isinstance(event, StepEnded):
            os.write(told, b"step\n")
    os.write(told, b"end\n")


def main() -> None:
    folder, first, step, n = Path(sys.argv[1]), *map(int, sys.argv[2:])
    codes: list[int] = []
    for k in range(n):
        place = folder / str(k)
        place.mkdir()
        child = os.fork()
        if child == 0:
            try:
                run(place, first + k * step)
            finally:
                os._exit(0)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(json.dumps(codes))


if __name__ == "__main__":
    main()
