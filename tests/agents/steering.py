"""Steers runs from another thread, and tells their events in lines.

It must not stand in for anything of ours.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterable, Mapping

from agents.checking import PATIENCE_S

from agent_magic.core.events import (
    ApprovalGiven,
    ArgumentsDelta,
    ContextShortened,
    Event,
    ModelReplied,
    Notice,
    PlanDelta,
    RunEnded,
    RunStarted,
    SettingChanged,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.steps import ActionStep, FinalAnswerStep, PlanningStep


class Steering:
    """A tool by which a run says where it is; another thread does then what it is to do, and lets it go on."""

    def __init__(self) -> None:
        self.work: Mapping[int, Callable[[], object]] = {}
        self._reached: dict[int, threading.Event] = {}
        self._done: dict[int, threading.Event] = {}

    def tick(self, n: int) -> str:
        """Say where the run is.

        Args:
            n: the number of the step
        """
        if n in self.work:
            self._reached[n].set()
            assert self._done[n].wait(PATIENCE_S)
        return f"tick {n}"

    @contextlib.contextmanager
    def doing(self, work: Mapping[int, Callable[[], object]]) -> Generator[None]:
        """Do each piece of work in another thread when `tick` is called with its number."""
        self.work = work
        self._reached = {n: threading.Event() for n in work}
        self._done = {n: threading.Event() for n in work}
        thread = threading.Thread(target=self._steer)
        thread.start()
        yield
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
        assert all(done.is_set() for done in self._done.values())

    def _steer(self) -> None:
        for n, work in self.work.items():
            if not self._reached[n].wait(PATIENCE_S):
                return
            work()
            self._done[n].set()


def lines_of(events: Iterable[Event]) -> list[str]:
    """Each event as a line: its name, and the fields that tell."""
    return [f"{type(event).__name__}: {_tell(event)}" for event in events]


def _tell(event: Event) -> str:  # noqa: C901 - one case for each event
    match event:
        case RunStarted():
            return f"{event.task.task!r}, at most {event.max_steps}"
        case StepStarted():
            return f"{event.kind} {event.step_number}"
        case TextDelta() | PlanDelta():
            return repr(event.text)
        case ArgumentsDelta():
            return f"{event.name}[{event.place}] {event.text!r}"
        case Waiting(question=question) if question is not None:
            return f"{event.kind} of {', '.join(item.name for item in question.items)} at {event.step_number}"
        case ApprovalGiven(decision=decision):
            given = decision.plan if decision.arguments is None else decision.arguments
            told = [
                decision.item.name,
                decision.verdict,
                f"by {decision.by}",
                given and repr(given),
                decision.reason,
            ]
            return ", ".join(filter(None, told))
        case Waiting():
            return f"{event.kind} at {event.step_number}: {event.reason}"
        case SettingChanged():
            return f"{event.name}={event.value!r} {event.effective} (at step {event.step_number})"
        case ContextShortened():
            return "; ".join(event.shortened)
        case Notice():
            return f"at {event.step_number}: {event.message}"
        case ModelReplied(message=message):
            calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
            return f"at {event.step_number}: {message.content or ''}{', '.join(calls)}"
        case ToolCallStarted():
            return f"{event.call.name}({event.call.arguments})"
        case ToolCallEnded(result=result):
            return f"{result.call.name} {'failed' if result.fault else 'gave'} {result.to_text()!r}"
        case StepEnded(step=step):
            return step_line(step)
        case RunEnded(result=result):
            return f"{result.status} {result.value!r}{f' ({result.error.message})' if result.error else ''}"


def step_line(step: object) -> str:
    """A step in a line."""
    match step:
        case PlanningStep():
            told = f"failed: {step.fault.kind}: {step.fault.message}" if step.fault else repr(step.plan)
            return f"{'first plan' if step.is_first else 'plan'} before {step.step_number} {told}"
        case ActionStep():
            calls = ", ".join(f"{call.name}({call.arguments})" for call in step.tool_calls)
            faults = "".join(f" [{fault.kind}: {fault.message}]" for fault in step.faults)
            return f"action {step.step_number} {calls}{faults}"
        case FinalAnswerStep():
            return f"answer {step.answer!r}"
        case _:
            return type(step).__name__
