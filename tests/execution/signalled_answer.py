"""Code that answers, and a signal at each function call of ours that follows; prints how many there were.

It must not know what the signals do. `end` as argument: the end of the code is told again; `ctrl_c`: Ctrl-C.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Any

from agent_magic.execution.executor import DictExecutor
from agent_magic.execution.request import CodeOutcome, CodeStep
from agent_magic.execution.step.course import BOUNDARIES
from agent_magic.execution.step.running import current_step, give_answer, persons_code

MAX_PLACES = 60


def run_once(number: int, place: int) -> tuple[CodeOutcome | None, bool]:
    """What comes of the code, None for a KeyboardInterrupt; and whether there was such a place."""
    n_calls = 0
    running: Any = None

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal n_calls
        if event == "call" and running.is_answered and frame.f_code not in BOUNDARIES:
            n_calls += 1
            if n_calls == place:
                signal.raise_signal(number)

    def answer(value: object) -> None:
        nonlocal running
        running = current_step()
        with persons_code():  # who is allowed to do so
            sys.setprofile(look)
        give_answer(value)

    step = CodeStep(
        code="final_answer(1)",
        label="step",
        functions={"final_answer": answer},
        on_end=lambda: sys.setprofile(look),  # it was put back, as all that code may not change
    )
    outcome = None
    try:
        outcome = DictExecutor({}).execute(step)
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)
    return outcome, n_calls >= place


def main() -> None:
    """Try one place after the other."""
    is_end = sys.argv[1] == "end"
    signal.signal(signal.SIGALRM, signal.SIG_IGN)  # what comes after the step is nobody's
    place, has_come = 1, True
    while has_come and place < MAX_PLACES:
        outcome, has_come = run_once(signal.SIGALRM if is_end else signal.SIGINT, place)
        if is_end:
            assert outcome is not None
            assert (outcome.is_answered, outcome.answer) == (True, 1), place
        elif has_come:
            assert outcome is None or outcome.is_stopped, place
        place += 1
    print(place)


if __name__ == "__main__":
    main()
