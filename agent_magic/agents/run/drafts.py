"""Steps while they are being made: anything in a draft so far can become a valid step.

It must not enter a step into memory, nor decide what is in it.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from agent_magic.agents.run.attributing import Maker, Watch
from agent_magic.agents.run.observation import MAX_ERROR
from agent_magic.core.changes import NameChange
from agent_magic.core.messages import ChatMessage, TokenUsage, ToolCall
from agent_magic.core.state import State
from agent_magic.core.steps import ActionStep, Fault, PlanDiff, PlanningStep, Timing, ToolResult
from agent_magic.core.text import truncate
from agent_magic.core.values import Value

MAX_MODEL_OUTPUT = 100_000
"""Characters of a reply's text that are kept; a longer one is a model gone astray."""


class Draft(ABC):
    """What a model call leaves in any step."""

    def __init__(self, step_number: int) -> None:
        self.step_number = step_number
        self.start = time.time()
        self.text_pieces: list[str] = []
        self.reasoning_pieces: list[str] = []
        self.fault: Fault | None = None
        self.token_usage: TokenUsage | None = None
        self.model_input_digest = ""
        self.signed: Mapping[str, Value] | None = None
        """Of the whole reply, see `ChatMessage.signed`."""
        self.step: ActionStep | PlanningStep | None = None
        """What it became, from just before that enters memory."""

    @property
    def is_plan(self) -> bool:
        """Whether it becomes a planning step."""
        return False

    def forget_pieces(self) -> None:
        """Drop what has come of a reply."""
        self.text_pieces.clear()
        self.reasoning_pieces.clear()

    def take_reply(self, message: ChatMessage) -> None:
        """Put a whole reply in the place of its pieces."""
        self.text_pieces[:] = [message.content or ""]
        self.reasoning_pieces[:] = [message.reasoning or ""]
        self.token_usage = message.usage
        self.signed = message.signed

    def take_back_answer(self) -> None:  # noqa: B027 - a plan has no answer to take back
        """Where the run is stopped before an answer was taken, it is none."""

    @abstractmethod
    def freeze(self) -> ActionStep | PlanningStep:
        """The step, with what there is."""

    @property
    def text(self) -> str:
        """The reply's text so far, cut if it is far too long."""
        return truncate("".join(self.text_pieces), MAX_MODEL_OUTPUT)

    @property
    def reasoning(self) -> str:
        """The reply's reasoning so far."""
        return truncate("".join(self.reasoning_pieces), MAX_MODEL_OUTPUT)


class PlanDraft(Draft):
    """A planning step while it is being made."""

    def __init__(self, step_number: int, *, is_first: bool) -> None:
        super().__init__(step_number)
        self.is_first = is_first
        self.plan = ""
        self.handover = ""
        self.diff = PlanDiff()

    @property
    def is_plan(self) -> bool:
        """Whether it becomes a planning step."""
        return True

    def freeze(self) -> PlanningStep:
        """The step; a plan that was not finished does not count."""
        return PlanningStep(
            step_number=self.step_number,
            timing=Timing(start=self.start, end=time.time()),
            plan=self.plan,
            handover=self.handover,
            model_output=self.text,
            reasoning=self.reasoning,
            is_first=self.is_first,
            diff=self.diff,
            fault=self.fault,
            token_usage=self.token_usage,
            model_input_digest=self.model_input_digest,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a step made of one name, by reference, so that it can be taken back."""

    change: NameChange
    before: Value
    """`ABSENT` if the name did not exist; so is `after` if it does not."""
    after: Value


class GoingOn(Protocol):
    """A call whose body can say what it has come to before it ends."""

    def leave(self, call: ToolCall) -> ToolResult | None:
        """End it as interrupted; None if it was not begun."""
        ...


class StepDraft(Draft):
    """An action step while it is being made."""

    def __init__(self, step_number: int, *, is_code: bool = False) -> None:
        super().__init__(step_number)
        self.calls_start: int | None = None
        self.calls: tuple[ToolCall, ...] = ()
        self.results: dict[int, ToolResult] = {}
        """By place in `calls`."""
        self.entered: set[int] = set()
        """Places of the calls whose bodies were entered, or are about to be."""
        self.going_on: dict[int, GoingOn] = {}
        """Those of them that can say what they have come to: of managed agents."""
        self.is_code = is_code
        """The step's action is a block of code; its one call is the code."""
        self.is_final_answer = False
        self.told_before_answer = ""
        """Of code that gave an answer: what is observed beside it."""
        self.bindings: dict[str, Binding] = {}
        """What its changes were made from and into, once it is a step."""
        self.watch: Watch | None = None
        """Of the namespace, from when its calls begin."""
        self._is_frozen = False

    def begin_watch(self, state: State, maker: Maker) -> None:
        """Note how the namespace is before the calls run; code that begins after the step is none of it."""
        if not self._is_frozen:
            self.watch = Watch(state, maker)

    def refuse_answer(self, fault: Fault) -> None:
        """Turn the answer that this step gave into one that was refused."""
        self.is_final_answer = False
        if 0 in self.results:
            # In the place of the word that it was accepted.
            self.results[0] = replace(self.results[0], observation=self.told_before_answer, fault=fault)
        else:  # it was given as text
            self.fault = fault

    def take_back_answer(self) -> None:
        """Where the run is stopped before an answer was taken, it is none."""
        if self.is_final_answer:
            fault = Fault(kind="Interrupted", message="The run was interrupted before the answer was taken.")
            self.refuse_answer(self.fault if 0 not in self.results and self.fault else fault)

    def add_advice(self, advice: str) -> None:
        """Add a line to each of the step's error texts."""
        if self.fault:
            self.fault = _advised(self.fault, advice)
        for place, result in self.results.items():
            if result.fault:
                self.results[place] = replace(result, fault=_advised(result.fault, advice))

    def freeze(self) -> ActionStep:
        """The step; a call without a result is answered by what stopped it."""
        fault = self.fault
        changes: tuple[NameChange, ...] = ()
        self._is_frozen = True
        if self.watch is not None:
            self.watch.end()
            changes = self.watch.changes()
            self.bindings = {}
            for change in changes:
                before, after = self.watch.ends_of(change.name)
                self.bindings[change.name] = Binding(change=change, before=before, after=after)
        results = tuple(
            _within_limit(self.results[place])
            if place in self.results
            else self._left(place, call)
            or ToolResult(call=call, fault=_unanswered(fault, was_entered=place in self.entered))
            for place, call in enumerate(self.calls)
        )
        return ActionStep(
            step_number=self.step_number,
            timing=Timing(start=self.start, end=time.time()),
            model_output=self.text,
            reasoning=self.reasoning,
            calls_start=self.calls_start,
            tool_results=results,
            is_code=self.is_code,
            fault=fault and _cut(fault),
            token_usage=self.token_usage,
            is_final_answer=self.is_final_answer,
            changes=changes,
            model_input_digest=self.model_input_digest,
            signed=self.signed,
        )

    def _left(self, place: int, call: ToolCall) -> ToolResult | None:
        return self.going_on[place].leave(call) if place in self.going_on else None


def _unanswered(fault: Fault | None, *, was_entered: bool) -> Fault:
    kind = fault.kind if fault else "Interrupted"
    if kind == "Interrupted":
        happened = "The call was interrupted before it ended; what it did so far is not known."
        if not was_entered:
            happened = "The call was not run: the run was interrupted before it."
    else:
        happened = "The call was not run: the run ended before it."
    return Fault(kind=kind, message=happened)


def _within_limit(result: ToolResult) -> ToolResult:
    """The result with an error text that is no longer than a model is told, whoever wrote it."""
    if result.fault is None or len(result.fault.message) <= MAX_ERROR:
        return result
    return replace(result, fault=_cut(result.fault))


def _cut(fault: Fault) -> Fault:
    if len(fault.message) <= MAX_ERROR:
        return fault
    return replace(fault, message=truncate(fault.message, MAX_ERROR))


def _advised(fault: Fault, advice: str) -> Fault:
    return replace(fault, message=f"{fault.message}\n{advice}")
