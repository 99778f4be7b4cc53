"""Callbacks: which of them hear of which step, and what one that fails does."""

from __future__ import annotations

import functools
import sys
from typing import Any

import pytest
from agents.checking import add, agent_of, assert_usable, model_of
from agents.steering import lines_of, step_line
from inline_snapshot import snapshot

from agent_magic.agents.person.hooks import check_signature
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.events import Notice, RunEnded, StepEnded
from agent_magic.core.steps import (
    ActionStep,
    FinalAnswerStep,
    MemoryStep,
    PlanningStep,
    SystemPromptStep,
    TaskStep,
)
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final
_ADD = calls(("add", {"a": 1, "b": 2}))


class _Heard(list[str]):
    """Notes steps; each way to take one is a callback."""

    def hear(self, step: MemoryStep) -> None:
        self.append(step_line(step))

    def hear_with_agent(self, step: MemoryStep, *, agent: ToolCallingAgent) -> None:
        assert agent.memory.steps[-1] is step or isinstance(agent.memory.steps[-1], FinalAnswerStep)
        self.append(step_line(step))

    def hear_anything(self, step: MemoryStep, **known: Any) -> None:
        self.append(f"{step_line(step)} with {', '.join(known)}")

    __call__ = hear


# -- which are called ------------------------------------------------------------------------------


def test_callbacks_hear_of_the_steps_of_their_class() -> None:
    heard = {kind: _Heard() for kind in (TaskStep, PlanningStep, ActionStep, FinalAnswerStep, MemoryStep)}
    agent = agent_of(
        ["Plan", _ADD, final(3)],
        planning_interval=5,
        step_callbacks={kind: notes.hear for kind, notes in heard.items()},
    )
    agent.run("go")
    every = heard.pop(MemoryStep)
    assert every == snapshot(
        [
            "TaskStep",
            "first plan before 1 'Plan'",
            "action 1 add({'a': 1, 'b': 2})",
            "action 2 final_answer({'answer': 3})",
            "answer 3",
        ]
    )
    assert {kind.__name__: notes for kind, notes in heard.items()} == {
        "TaskStep": [every[0]],
        "PlanningStep": [every[1]],
        "ActionStep": every[2:4],
        "FinalAnswerStep": [every[4]],
    }


def test_list_of_callbacks_hears_of_actions_in_order() -> None:
    first, second = _Heard(), _Heard()
    agent = agent_of(
        ["Plan", _ADD, final(3)], planning_interval=5, step_callbacks=[first.hear, second.hear_with_agent]
    )
    agent.run("go")
    assert (
        first
        == second
        == snapshot(["action 1 add({'a': 1, 'b': 2})", "action 2 final_answer({'answer': 3})"])
    )


def test_class_can_have_several_callbacks_of_every_form() -> None:
    heard = [_Heard() for _ in range(5)]
    agent = agent_of(
        [final(3)],
        step_callbacks={
            ActionStep: [heard[0].hear, heard[1].hear_with_agent, heard[2].hear_anything, heard[3]],
            MemoryStep: (functools.partial(_Heard.hear, heard[4]),),
            SystemPromptStep: heard[0].hear,  # there is none to hear of
        },
    )
    agent.run("go")
    assert heard == snapshot(
        [
            ["action 1 final_answer({'answer': 3})"],
            ["action 1 final_answer({'answer': 3})"],
            ["action 1 final_answer({'answer': 3}) with agent"],
            ["action 1 final_answer({'answer': 3})"],
            ["TaskStep", "action 1 final_answer({'answer': 3})", "answer 3"],
        ]
    )


def test_callbacks_hear_of_a_step_before_its_event_and_after_it_is_in_memory() -> None:
    order: list[str] = []

    def callback(step: MemoryStep, agent: ToolCallingAgent) -> None:
        order.append(f"callback, {len(agent.memory)} steps")

    agent = agent_of([_ADD, final(3)], step_callbacks={MemoryStep: callback})
    order.extend("event" for event in agent.stream("go") if isinstance(event, StepEnded))
    assert order == snapshot(
        [
            "callback, 1 steps",
            "callback, 2 steps",
            "event",
            "callback, 4 steps",
            "event",
            "callback, 4 steps",
            "event",
        ]
    )


def test_callbacks_hear_of_steps_that_failed_or_were_stopped() -> None:
    heard = _Heard()

    def stop(step: MemoryStep, agent: ToolCallingAgent) -> None:
        if isinstance(step, ActionStep) and step.step_number == 1:
            agent.interrupt("Seen enough.")

    agent = agent_of(["only talk", final(3)], step_callbacks={MemoryStep: [heard.hear, stop]})
    result = agent.run("go")
    assert heard == snapshot(
        [
            "TaskStep",
            'action 1  [ParsingError: There is no tool call in the reply. Tools: add, final_answer. To go on, call one; if the text is the answer, call final_answer with {"answer": <the answer>}.]',
            "action 2  [Interrupted: Seen enough.]",
        ]
    )
    assert result.error is not None
    assert (result.status, result.error.message) == ("interrupted", "Seen enough.")
    assert len(model_of(agent).requests) == 1
    assert_usable(agent)


def test_callbacks_hear_of_the_answer_at_the_limit() -> None:
    heard = _Heard()
    agent = agent_of([_ADD, "best guess"], max_steps=1, step_callbacks={FinalAnswerStep: heard.hear})
    agent.run("go")
    assert heard == ["answer 'best guess'"]


# -- what they may do ------------------------------------------------------------------------------


def test_callback_that_raises_is_told_and_the_run_and_the_other_callbacks_go_on() -> None:
    heard = _Heard()

    def fail(step: MemoryStep) -> None:
        raise LookupError(type(step).__name__)

    agent = agent_of([_ADD, final(3)], step_callbacks={MemoryStep: [fail, heard.hear]})
    events = list(agent.stream("go"))
    assert lines_of(e for e in events if isinstance(e, Notice | StepEnded | RunEnded)) == snapshot(
        [
            "Notice: at 1: The callback fail raised LookupError: TaskStep. The run goes on.",
            "Notice: at 1: The callback fail raised LookupError: ActionStep. The run goes on.",
            "StepEnded: action 1 add({'a': 1, 'b': 2})",
            "Notice: at 2: The callback fail raised LookupError: ActionStep. The run goes on.",
            "StepEnded: action 2 final_answer({'answer': 3})",
            "Notice: at 2: The callback fail raised LookupError: FinalAnswerStep. The run goes on.",
            "StepEnded: answer 3",
            "RunEnded: answered 3",
        ]
    )
    assert len(heard) == 4


def test_callback_that_edits_the_memory_changes_the_next_request() -> None:
    def shorten(step: ActionStep, agent: ToolCallingAgent) -> None:
        if step.step_number == 1:
            agent.memory.edit(step, observations="about 3")

    agent = agent_of([_ADD, _ADD, final(3)], step_callbacks=[shorten])
    agent.run("go")
    assert [m["content"] for m in model_of(agent).requests[2].messages if m["role"] == "tool"] == [
        "about 3",
        "3",
    ]


def test_callback_that_changes_a_setting_changes_the_run() -> None:
    def plan_on(step: ActionStep, agent: ToolCallingAgent) -> None:
        agent.settings.update(planning_interval=1 if step.step_number == 1 else None)

    agent = agent_of([_ADD, "Plan", _ADD, final(3)], step_callbacks=[plan_on])
    agent.run("go")
    assert [request.kind for request in model_of(agent).requests] == ["act", "plan", "act", "act"]


def test_callback_stopped_by_the_person_stops_the_run() -> None:
    def stop(step: MemoryStep) -> None:
        raise KeyboardInterrupt

    agent = agent_of([_ADD, final(3)], step_callbacks=[stop])
    with pytest.raises(KeyboardInterrupt):
        agent.run("go")
    assert agent.result is not None
    assert agent.result.status == "interrupted"
    agent = agent_of([_ADD, final(3)], step_callbacks={TaskStep: stop})
    with pytest.raises(KeyboardInterrupt):
        agent.run("go")
    assert_usable_quietly(agent)


def assert_usable_quietly(agent: ToolCallingAgent) -> None:
    agent.callbacks = type(agent.callbacks)(None)
    assert_usable(agent)


def test_assigning_to_a_step_says_how_it_is_changed() -> None:
    def assign(step: Any) -> None:
        step.observations_images = None

    agent = agent_of([final(3)], step_callbacks={MemoryStep: assign})
    events = list(agent.stream("go"))
    assert [event.message for event in events if isinstance(event, Notice)] == snapshot(
        [
            "The callback assign raised FrozenInstanceError: TaskStep.observations_images cannot be assigned: a step is a record of what happened. Write agent.memory.edit(step, observations_images=…): the original is kept, and agent.memory.undo() brings it back. The run goes on.",
            "The callback assign raised FrozenInstanceError: ActionStep.observations_images cannot be assigned: a step is a record of what happened. Write agent.memory.edit(step, observations_images=…): the original is kept, and agent.memory.undo() brings it back. The run goes on.",
            "The callback assign raised FrozenInstanceError: FinalAnswerStep.observations_images cannot be assigned: a step is a record of what happened. Write agent.memory.edit(step, observations_images=…): the original is kept, and agent.memory.undo() brings it back. The run goes on.",
        ]
    )


# -- what cannot be one ----------------------------------------------------------------------------


async def _later(step: MemoryStep) -> None:
    raise AssertionError


class _Later:
    async def __call__(self, step: MemoryStep) -> None:
        raise AssertionError


def _two(step: MemoryStep, other: int) -> None:
    raise AssertionError


def _none() -> None:
    raise AssertionError


_REFUSED: dict[str, Any] = {
    "a function alone": (
        _two,
        snapshot("step_callbacks is a list or a mapping, and not _two. Write step_callbacks=[callback]."),
    ),
    "a number": (
        3,
        snapshot("step_callbacks is a list or a mapping, and not 3. Write step_callbacks=[callback]."),
    ),
    "a list of a number": (
        [3],
        snapshot("3 is no function, so it cannot serve as callback. Write def callback(step): …"),
    ),
    "an unknown class": (
        {int: print},
        snapshot(
            "step_callbacks: <class 'int'> is no kind of step. Give ActionStep, PlanningStep, TaskStep, FinalAnswerStep, or MemoryStep for all."
        ),
    ),
    "a name": (
        {"ActionStep": print},
        snapshot(
            "step_callbacks: 'ActionStep' is no kind of step. Give ActionStep, PlanningStep, TaskStep, FinalAnswerStep, or MemoryStep for all."
        ),
    ),
    "async": (
        [_later],
        snapshot("The callback _later is async, and nothing waits for it. Write def callback(step): …"),
    ),
    "an object that is called asynchronously": (
        [_Later()],
        snapshot("The callback _Later is async, and nothing waits for it. Write def callback(step): …"),
    ),
    "two arguments": (
        [_two],
        snapshot(
            "The callback _two(step: 'MemoryStep', other: 'int') -> 'None' cannot be called with one argument: missing a required argument: 'other'. Write def callback(step): … It may also take agent as a keyword."
        ),
    ),
    "no argument": (
        {ActionStep: _none},
        snapshot(
            "The callback _none() -> 'None' cannot be called with one argument: too many positional arguments. Write def callback(step): … It may also take agent as a keyword."
        ),
    ),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_callbacks_that_cannot_be_called_so_are_refused(case: str) -> None:
    given, text = _REFUSED[case]
    with pytest.raises(OptionError) as error:
        agent_of([], add, step_callbacks=given)
    assert error.value.message == text


@pytest.mark.parametrize("function", [print, bool, _Heard, lambda step, agent=None: step])
def test_function_that_takes_one_argument_can_be_one(function: Any) -> None:
    check_signature("callback", function, argument="step", keywords=("agent",))


def test_callback_that_exits_is_told_and_the_run_goes_on() -> None:
    def leave(_step: Any) -> None:
        sys.exit(2)

    agent = agent_of([final(1)], step_callbacks=[leave])
    notices = [event.message for event in agent.stream("go") if isinstance(event, Notice)]
    assert notices == snapshot(["The callback leave raised SystemExit: 2. The run goes on."])
    assert agent.result is not None
    assert agent.result.status == "answered"


def test_listener_hears_of_every_kind_of_step_until_it_stops():
    agent = agent_of(["1. Add.", _ADD, final(3), "1. Answer.", final(4)], planning_interval=9)
    heard = _Heard()
    stop = agent.callbacks.listen(heard.hear)
    agent.run("Add.")
    n_heard = len(heard)
    stop()
    agent.run("Again.")
    assert (list(heard), n_heard, len(agent.callbacks)) == (
        snapshot(
            [
                "TaskStep",
                "first plan before 1 '1. Add.'",
                "action 1 add({'a': 1, 'b': 2})",
                "action 2 final_answer({'answer': 3})",
                "answer 3",
            ]
        ),
        len(heard),
        0,
    )
