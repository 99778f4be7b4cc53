"""Settings, views, pauses and interrupts that reach a run while it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from agents.checking import (
    PATIENCE_S,
    Busy,
    agent_of,
    assert_usable,
    assert_valid,
    eventually,
    last_action,
    model_of,
)
from agents.steering import Steering, lines_of
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import (
    Event,
    RunEnded,
    RunStarted,
    SettingChanged,
    StepEnded,
    StepStarted,
    Waiting,
)
from agent_magic.core.steps import ActionStep
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final


def _tick(n: int) -> dict[str, Any]:
    return calls(("tick", {"n": n})) | {"content": f"Thought {n}."}


def _changes(events: list[Event]) -> list[str]:
    """What the events say of changes and waits, and the steps and answers between them."""
    kinds = (SettingChanged, Waiting, StepStarted, RunEnded)
    return lines_of(event for event in events if isinstance(event, kinds))


def _in_thread(work: Callable[[], object]) -> None:
    """Do something in another thread, and wait until it is done."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def _sent(agent: ToolCallingAgent) -> list[str]:
    """What was sent in each request, but for the tools: each message by its role and its beginning."""
    return [
        f"{request.kind}: "
        + " | ".join(f"{message.role} {_first_words(message)}" for message in request.chat_messages)
        for request in model_of(agent).requests
    ]


def _first_words(message: Any) -> str:
    text = " ".join(message.content.split()[:3]) if message.content else ""
    calls_made = "+".join(call.name for call in message.tool_calls)
    return " ".join(filter(None, [text, calls_made and f"[{calls_made}]"]))


# -- a run that is steered from another thread ---------------------------------------------------


def test_settings_turned_from_another_thread_take_effect_where_the_events_say() -> None:
    steering = Steering()
    ticks = [_tick(n) for n in range(7)]
    agent = agent_of(
        ["Plan A", *ticks[1:3], "Plan B", *ticks[3:6], "Plan C", ticks[6], "Plan D", final("done")],
        steering.tick,
        planning_interval=2,
    )
    work: dict[int, Callable[[], object]] = {
        3: lambda: agent.settings.update(planning_interval=None),
        4: lambda: agent.settings.update(summary_mode="all"),
        5: lambda: agent.settings.update(planning_interval=1),
    }
    with steering.doing(work):
        events = list(agent.stream("Tick six times."))
    assert lines_of(events) == snapshot(
        [
            "RunStarted: 'Tick six times.', at most 20",
            "StepStarted: plan 1",
            "ModelReplied: at 1: Plan A",
            "StepEnded: first plan before 1 'Plan A'",
            "StepStarted: act 1",
            "ModelReplied: at 1: Thought 1.tick({'n': 1})",
            "ToolCallStarted: tick({'n': 1})",
            "ToolCallEnded: tick gave 'tick 1'",
            "StepEnded: action 1 tick({'n': 1})",
            "StepStarted: act 2",
            "ModelReplied: at 2: Thought 2.tick({'n': 2})",
            "ToolCallStarted: tick({'n': 2})",
            "ToolCallEnded: tick gave 'tick 2'",
            "StepEnded: action 2 tick({'n': 2})",
            "StepStarted: plan 3",
            "ModelReplied: at 3: Plan B",
            "StepEnded: plan before 3 'Plan B'",
            "StepStarted: act 3",
            "ModelReplied: at 3: Thought 3.tick({'n': 3})",
            "ToolCallStarted: tick({'n': 3})",
            "ToolCallEnded: tick gave 'tick 3'",
            "StepEnded: action 3 tick({'n': 3})",
            "SettingChanged: planning_interval=None from step 4 (at step 4)",
            "StepStarted: act 4",
            "ModelReplied: at 4: Thought 4.tick({'n': 4})",
            "ToolCallStarted: tick({'n': 4})",
            "ToolCallEnded: tick gave 'tick 4'",
            "StepEnded: action 4 tick({'n': 4})",
            "SettingChanged: summary_mode='all' from the next call (at step 5)",
            "StepStarted: act 5",
            "ModelReplied: at 5: Thought 5.tick({'n': 5})",
            "ToolCallStarted: tick({'n': 5})",
            "ToolCallEnded: tick gave 'tick 5'",
            "StepEnded: action 5 tick({'n': 5})",
            "SettingChanged: planning_interval=1 from step 6 (at step 6)",
            "StepStarted: plan 6",
            "ModelReplied: at 6: Plan C",
            "StepEnded: plan before 6 'Plan C'",
            "StepStarted: act 6",
            "ModelReplied: at 6: Thought 6.tick({'n': 6})",
            "ToolCallStarted: tick({'n': 6})",
            "ToolCallEnded: tick gave 'tick 6'",
            "StepEnded: action 6 tick({'n': 6})",
            "StepStarted: plan 7",
            "ModelReplied: at 7: Plan D",
            "StepEnded: plan before 7 'Plan D'",
            "StepStarted: act 7",
            "ModelReplied: at 7: final_answer({'answer': 'done'})",
            "StepEnded: action 7 final_answer({'answer': 'done'})",
            "StepEnded: answer 'done'",
            "RunEnded: answered 'done'",
        ]
    )
    assert [request.kind for request in model_of(agent).requests] == snapshot(
        ["plan", "act", "act", "plan", "act", "act", "act", "plan", "act", "plan", "act"]
    )
    assert _sent(agent) == snapshot(
        [
            "plan: system You plan for | user Tick six times. | user Write the plan",
            "act: system You are an | user Tick six times. | assistant Plan A | user Go on and",
            "act: system You are an | user Tick six times. | assistant Plan A | user Go on and | assistant Thought 1. [tick] | tool tick 1",
            "plan: system You plan for | user Tick six times. | assistant [tick] | tool tick 1 | assistant [tick] | tool tick 2 | user Look at what",
            "act: system You are an | user Tick six times. | assistant Plan A | user Go on and | assistant Thought 1. [tick] | tool tick 1 | assistant Thought 2. [tick] | tool tick 2 | assistant Plan B | user Go on and",
            "act: system You are an | user Tick six times. | assistant Plan A | user Go on and | assistant Thought 1. [tick] | tool tick 1 | assistant Thought 2. [tick] | tool tick 2 | assistant Plan B | user Go on and | assistant Thought 3. [tick] | tool tick 3",
            "act: system You are an | user Tick six times. | assistant [tick] | tool tick 1 | assistant [tick] | tool tick 2 | assistant Plan B | user Go on and | assistant [tick] | tool tick 3 | assistant [tick] | tool tick 4",
            "plan: system You plan for | user Tick six times. | assistant [tick] | tool tick 1 | assistant [tick] | tool tick 2 | assistant [tick] | tool tick 3 | assistant [tick] | tool tick 4 | assistant [tick] | tool tick 5 | user Look at what",
            "act: system You are an | user Tick six times. | assistant [tick] | tool tick 1 | assistant [tick] | tool tick 2 | assistant [tick] | tool tick 3 | assistant [tick] | tool tick 4 | assistant [tick] | tool tick 5 | assistant Plan C | user Go on and",
            "plan: system You plan for | user Tick six times. | assistant [tick] | tool tick 1 | assistant [tick] | tool tick 2 | assistant [tick] | tool tick 3 | assistant [tick] | tool tick 4 | assistant [tick] | tool tick 5 | assistant [tick] | tool tick 6 | user Look at what",
            "act: system You are an | user Tick six times. | assistant [tick] | tool tick 1 | assistant [tick] | tool tick 2 | assistant [tick] | tool tick 3 | assistant [tick] | tool tick 4 | assistant [tick] | tool tick 5 | assistant [tick] | tool tick 6 | assistant Plan D | user Go on and",
        ]
    )
    assert all(agent.memory.is_rebuilt_exactly(request) for request in agent.memory.requests)


def test_every_mode_and_view_reaches_the_next_request_alone() -> None:
    steering = Steering()
    agent = agent_of([_tick(n) for n in range(1, 7)] + [final("done")], steering.tick)
    work: dict[int, Callable[[], object]] = {
        1: lambda: agent.settings.update(summary_mode="off"),
        2: lambda: agent.memory.set_view(agent.memory.steps[1], "summary"),
        3: lambda: agent.memory.set_view(agent.memory.steps[1], "hidden"),
        4: lambda: agent.memory.set_pinned(agent.memory.steps[2]),
        5: lambda: agent.memory.drop(agent.memory.steps[3]),
        6: lambda: list(agent.memory.undo()),
    }
    with steering.doing(work):
        events = list(agent.stream("Tick."))
    assert _changes(events) == snapshot(
        [
            "StepStarted: act 1",
            "SettingChanged: summary_mode='off' from the next call (at step 2)",
            "StepStarted: act 2",
            "SettingChanged: view of step 1='summary' from the next call (at step 3)",
            "StepStarted: act 3",
            "SettingChanged: view of step 1='hidden' from the next call (at step 4)",
            "StepStarted: act 4",
            "SettingChanged: pin of step 2=True from the next call (at step 5)",
            "StepStarted: act 5",
            "SettingChanged: step 3='dropped' from the next call (at step 6)",
            "StepStarted: act 6",
            "SettingChanged: step 3='brought back' from the next call (at step 7)",
            "StepStarted: act 7",
            "RunEnded: answered 'done'",
        ]
    )
    assert _sent(agent) == snapshot(
        [
            "act: system You are an | user Tick.",
            "act: system You are an | user Tick. | assistant Thought 1. [tick] | tool tick 1",
            "act: system You are an | user Tick. | assistant [tick] | tool tick 1 | assistant Thought 2. [tick] | tool tick 2",
            "act: system You are an | user Tick. | assistant Thought 2. [tick] | tool tick 2 | assistant Thought 3. [tick] | tool tick 3",
            "act: system You are an | user Tick. | assistant Thought 2. [tick] | tool tick 2 | assistant Thought 3. [tick] | tool tick 3 | assistant Thought 4. [tick] | tool tick 4",
            "act: system You are an | user Tick. | assistant Thought 2. [tick] | tool tick 2 | assistant Thought 4. [tick] | tool tick 4 | assistant Thought 5. [tick] | tool tick 5",
            "act: system You are an | user Tick. | assistant Thought 2. [tick] | tool tick 2 | assistant Thought 3. [tick] | tool tick 3 | assistant Thought 4. [tick] | tool tick 4 | assistant Thought 5. [tick] | tool tick 5 | assistant Thought 6. [tick] | tool tick 6",
        ]
    )
    assert all(agent.memory.is_rebuilt_exactly(request) for request in agent.memory.requests)
    assert_valid(agent.memory)


# -- changes between two calls ----------------------------------------------------------------------


def test_change_before_the_call_of_a_step_holds_for_that_call() -> None:
    agent = agent_of([_tick(1), _tick(2), final("done")], Steering().tick)
    events: list[Event] = []
    for event in agent.stream("Tick."):
        events.append(event)
        if isinstance(event, StepStarted) and event.step_number == 2:
            agent.settings.update(summary_mode="all")
            agent.memory.edit(agent.memory.steps[1], observations="tock")
    assert _changes(events) == snapshot(
        [
            "StepStarted: act 1",
            "StepStarted: act 2",
            "SettingChanged: summary_mode='all' from the next call (at step 2)",
            "SettingChanged: step 1='edited' from the next call (at step 2)",
            "StepStarted: act 3",
            "RunEnded: answered 'done'",
        ]
    )
    assert _sent(agent) == snapshot(
        [
            "act: system You are an | user Tick.",
            "act: system You are an | user Tick. | assistant [tick] | tool tock",
            "act: system You are an | user Tick. | assistant [tick] | tool tock | assistant [tick] | tool tick 2",
        ]
    )


def test_limit_raised_in_the_last_step_lets_the_run_go_on() -> None:
    steering = Steering()
    agent = agent_of([_tick(1), _tick(2), _tick(3), final("done")], steering.tick)
    with steering.doing({2: lambda: agent.settings.update(max_steps=4)}):
        events = list(agent.stream("Tick.", max_steps=2))
    assert _changes(events) == snapshot(
        [
            "StepStarted: act 1",
            "StepStarted: act 2",
            "SettingChanged: max_steps=4 from step 3 (at step 3)",
            "StepStarted: act 3",
            "StepStarted: act 4",
            "RunEnded: answered 'done'",
        ]
    )
    assert agent.result is not None
    assert (agent.result.status, agent.result.max_steps) == ("answered", 4)


def test_limit_lowered_under_the_steps_made_ends_the_run_at_once() -> None:
    steering = Steering()
    agent = agent_of([_tick(1), _tick(2), _tick(3), "best guess"], steering.tick)
    with steering.doing({3: lambda: agent.settings.update(max_steps=2)}):
        events = list(agent.stream("Tick."))
    assert _changes(events) == snapshot(
        [
            "StepStarted: act 1",
            "StepStarted: act 2",
            "StepStarted: act 3",
            "SettingChanged: max_steps=2 from step 4 (at step 4)",
            "RunEnded: max_steps 'best guess'",
        ]
    )
    assert [request.kind for request in model_of(agent).requests] == ["act", "act", "act", "final"]


def test_changes_before_a_run_are_no_news_to_it() -> None:
    agent = agent_of([final("done")])
    agent.settings.update(max_steps=3)
    agent.replan_now()
    events = list(agent.stream("go"))
    assert _changes(events) == ["StepStarted: act 1", "RunEnded: answered 'done'"]


def test_change_between_the_making_of_a_run_and_its_first_event_is_told() -> None:
    agent = agent_of(["Plan A", final("done")])
    events = agent.stream("go")
    agent.settings.update(planning_interval=1)
    assert _changes(list(events)) == snapshot(
        [
            "SettingChanged: planning_interval=1 from step 1 (at step 1)",
            "StepStarted: plan 1",
            "StepStarted: act 1",
            "RunEnded: answered 'done'",
        ]
    )


def test_every_run_that_goes_on_takes_a_change_up() -> None:
    agent = agent_of(["Plan", final(1), "Plan", final(2)])
    first, second = agent.stream("one", reset=False), agent.stream("two", reset=False)
    assert isinstance(next(first), RunStarted)
    assert isinstance(next(second), RunStarted)
    agent.replan_now()
    assert [_changes(list(run)) for run in (first, second)] == snapshot(
        [
            [
                "SettingChanged: replan_now=True from step 1 (at step 1)",
                "StepStarted: plan 1",
                "StepStarted: act 1",
                "RunEnded: answered 1",
            ],
            [
                "SettingChanged: replan_now=True from step 1 (at step 1)",
                "StepStarted: plan 1",
                "StepStarted: act 1",
                "RunEnded: answered 2",
            ],
        ]
    )


# -- pause -----------------------------------------------------------------------------------------


def _unpause_when_waiting(agent: ToolCallingAgent, **run: Any) -> list[Event]:
    events: list[Event] = []
    for event in agent.stream("Tick.", **run):
        events.append(event)
        if isinstance(event, Waiting):
            n_asked = len(model_of(agent).requests)
            assert agent.settings.is_paused
            _in_thread(agent.unpause)
            assert len(model_of(agent).requests) == n_asked
    return events


def test_pause_before_the_first_call_waits_there() -> None:
    agent = agent_of([final("done")])
    agent.pause()
    events = _unpause_when_waiting(agent)
    assert lines_of(events) == snapshot(
        [
            "RunStarted: 'Tick.', at most 20",
            "Waiting: pause at 1: The person paused the run.",
            "SettingChanged: is_paused=False now (at step 1)",
            "StepStarted: act 1",
            "ModelReplied: at 1: final_answer({'answer': 'done'})",
            "StepEnded: action 1 final_answer({'answer': 'done'})",
            "StepEnded: answer 'done'",
            "RunEnded: answered 'done'",
        ]
    )


def test_pause_during_a_step_waits_before_the_next_one() -> None:
    steering = Steering()
    agent = agent_of([_tick(1), final("done")], steering.tick)
    with steering.doing({1: agent.pause}):
        events = _unpause_when_waiting(agent)
    assert _changes(events) == snapshot(
        [
            "StepStarted: act 1",
            "SettingChanged: is_paused=True now (at step 2)",
            "Waiting: pause at 2: The person paused the run.",
            "SettingChanged: is_paused=False now (at step 2)",
            "StepStarted: act 2",
            "RunEnded: answered 'done'",
        ]
    )


def test_pause_during_a_planning_call_waits_before_the_action() -> None:
    agent = agent_of([lambda _request: agent.pause() or "Plan A", final("done")], planning_interval=1)
    assert _changes(_unpause_when_waiting(agent)) == snapshot(
        [
            "StepStarted: plan 1",
            "SettingChanged: is_paused=True now (at step 1)",
            "Waiting: pause at 1: The person paused the run.",
            "SettingChanged: is_paused=False now (at step 1)",
            "StepStarted: act 1",
            "RunEnded: answered 'done'",
        ]
    )


def test_pause_in_the_last_step_waits_before_the_last_request() -> None:
    steering = Steering()
    agent = agent_of([_tick(1), "best guess"], steering.tick)
    with steering.doing({1: agent.pause}):
        events = _unpause_when_waiting(agent, max_steps=1)
    assert _changes(events) == snapshot(
        [
            "StepStarted: act 1",
            "SettingChanged: is_paused=True now (at step 2)",
            "Waiting: pause at 2: The person paused the run.",
            "SettingChanged: is_paused=False now (at step 2)",
            "RunEnded: max_steps 'best guess'",
        ]
    )


def test_pause_that_comes_back_at_once_is_waited_for_too() -> None:
    agent = agent_of([final("done")])
    agent.pause()
    events: list[Event] = []
    for event in agent.stream("go"):
        events.append(event)
        if isinstance(event, Waiting):
            _in_thread(agent.unpause)
        if isinstance(event, SettingChanged) and len(events) == 3:
            assert event.value is False
            agent.pause()
    assert _changes(events) == snapshot(
        [
            "Waiting: pause at 1: The person paused the run.",
            "SettingChanged: is_paused=False now (at step 1)",
            "SettingChanged: is_paused=True now (at step 1)",
            "Waiting: pause at 1: The person paused the run.",
            "SettingChanged: is_paused=False now (at step 1)",
            "StepStarted: act 1",
            "RunEnded: answered 'done'",
        ]
    )


def test_interrupt_ends_a_pause_and_its_reason_stands_in_the_result() -> None:
    steering = Steering()
    agent = agent_of([_tick(1), final("done")], steering.tick)
    events: list[Event] = []
    with steering.doing({1: agent.pause}):
        for event in agent.stream("Tick."):
            events.append(event)
            if isinstance(event, Waiting):
                _in_thread(lambda: agent.interrupt("Wrong way."))
    assert _changes(events) == snapshot(
        [
            "StepStarted: act 1",
            "SettingChanged: is_paused=True now (at step 2)",
            "Waiting: pause at 2: The person paused the run.",
            "RunEnded: interrupted None (Wrong way.)",
        ]
    )
    assert agent.result is not None
    assert agent.result.error is not None
    assert agent.result.error.message == "Wrong way."
    assert last_action(agent).is_interrupted
    agent.unpause()
    assert_usable(agent)


def test_closing_the_events_during_a_pause_leaves_a_valid_memory() -> None:
    agent = agent_of([final("done")])
    agent.pause()
    events = agent.stream("go")
    assert eventually(lambda: isinstance(next(events), Waiting))
    events.close()
    agent.unpause()
    assert agent.result is not None
    assert agent.result.status == "interrupted"
    assert_usable(agent)


def test_pause_and_changes_while_a_retry_is_waited_for_hold_for_that_retry() -> None:
    agent = agent_of([_tick(1), Busy("busy"), final("done")], Steering().tick)
    events: list[Event] = []
    for event in agent.stream("Tick."):
        events.append(event)
        if isinstance(event, Waiting) and event.kind == "retry":
            agent.pause()
            agent.settings.update(summary_mode="all")
        elif isinstance(event, Waiting):
            assert len(model_of(agent).requests) == 2
            agent.memory.edit(agent.memory.steps[1], observations="tock")
            _in_thread(agent.unpause)
    assert _changes(events) == snapshot(
        [
            "StepStarted: act 1",
            "StepStarted: act 2",
            "Waiting: retry at 2: scripted: the connection failed or broke off. Look at the network, or at the model's server. It says: busy",
            "SettingChanged: is_paused=True now (at step 2)",
            "SettingChanged: summary_mode='all' from the next call (at step 2)",
            "Waiting: pause at 2: The person paused the run.",
            "SettingChanged: is_paused=False now (at step 2)",
            "SettingChanged: step 1='edited' from the next call (at step 2)",
            "RunEnded: answered 'done'",
        ]
    )
    assert _sent(agent)[1:] == snapshot(
        [
            "act: system You are an | user Tick. | assistant Thought 1. [tick] | tool tick 1",
            "act: system You are an | user Tick. | assistant [tick] | tool tock",
        ]
    )
    assert list(agent.preview(2).messages) == model_of(agent).requests[2].messages


# -- changes to what a step says -------------------------------------------------------------------


def test_editing_a_step_that_was_sent_changes_the_next_request_and_no_earlier_one() -> None:
    steering = Steering()
    agent = agent_of([_tick(1), _tick(2), final("done")], steering.tick)

    def edit() -> None:
        step = agent.memory.steps[1]
        agent.memory.edit(
            step,
            model_output="Other thought.",
            arguments={"n": 7},
            observations="tock 7",
        )

    with steering.doing({2: edit}):
        events = list(agent.stream("Tick."))
    assert _changes(events) == snapshot(
        [
            "StepStarted: act 1",
            "StepStarted: act 2",
            "SettingChanged: step 1='edited' from the next call (at step 3)",
            "StepStarted: act 3",
            "RunEnded: answered 'done'",
        ]
    )
    requests = model_of(agent).requests
    assert requests[1].messages[2:] == snapshot(
        [
            {
                "role": "assistant",
                "content": "Thought 1.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "tick", "arguments": '{"n": 1}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "tick 1"},
        ]
    )
    assert requests[2].messages[2:4] == snapshot(
        [
            {
                "role": "assistant",
                "content": "Other thought.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "tick", "arguments": '{"n": 7}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "tock 7"},
        ]
    )
    past = agent.preview(2)
    assert list(past.messages) == requests[1].messages
    assert (past.is_past, past.is_exact) == (True, True)
    assert list(agent.preview(3).messages) == requests[2].messages
    original = agent.memory.edits[0].old
    assert isinstance(original, ActionStep)
    assert original.observations == "tick 1"
    assert (agent.memory.edits[0].by, len(agent.memory.edits)) == ("person", 1)


def test_images_forgotten_while_a_run_goes_on_are_gone_from_the_next_request_alone() -> None:
    def draw(n: int) -> Image.Image:
        """Draw a square.

        Args:
            n: its size
        """
        return Image.new("L", (n, n))

    def forget(step: ActionStep, *, agent: ToolCallingAgent) -> None:
        if step.step_number == 3:
            assert agent.memory.forget_images(keep_last=1) == 2

    agent = agent_of(
        [*(calls(("draw", {"n": n})) for n in (1, 2, 3)), final("done")],
        draw,
        capabilities=Capabilities(images=True),
        step_callbacks=[forget],
    )
    events = list(agent.stream("Draw."))
    assert lines_of(event for event in events if isinstance(event, SettingChanged)) == snapshot(
        [
            "SettingChanged: step 1='edited' from the next call (at step 4)",
            "SettingChanged: step 2='edited' from the next call (at step 4)",
        ]
    )
    shown = [str(request.messages).count("data:image/png") for request in model_of(agent).requests]
    assert shown == [0, 1, 2, 1]
    assert str(agent.preview(3).messages).count("data:image/png") == 2
    agent.memory.undo()
    assert str(agent.preview().messages).count("data:image/png") == 3
    assert all(agent.memory.is_rebuilt_exactly(request) for request in agent.memory.requests)


def test_one_of_several_calls_is_edited_by_its_id() -> None:
    steering = Steering()
    both = calls(("tick", {"n": 1}), ("tick", {"n": 2}))
    agent = agent_of([both, _tick(3), final("done")], steering.tick)

    def edit() -> None:
        step = agent.memory.steps[1]
        assert isinstance(step, ActionStep)
        call_id = step.tool_calls[1].id
        agent.memory.edit(step, arguments={call_id: {"n": 20}}, observations={call_id: "tock 20"})
        # Asked for by the step as it was, and once more: the first original is kept.
        agent.memory.edit(step, model_output="Both.")

    with steering.doing({3: edit}):
        agent.run("Tick.")
    edited = agent.memory.steps[1]
    assert isinstance(edited, ActionStep)
    assert edited.model_output == "Both."
    assert [(call.arguments, call.id) for call in edited.tool_calls] == snapshot(
        [({"n": 1}, "call_1"), ({"n": 20}, "call_2")]
    )
    assert edited.observations == "tick 1\n\ntock 20"
    assert agent.result is not None
    assert agent.result.actions[0].observations == "tick 1\n\ntick 2"
    assert_valid(agent.memory)


def test_edit_taken_back_between_two_runs_is_as_if_it_had_not_been() -> None:
    agent = agent_of([_tick(1), final("done"), final("again")], Steering().tick)
    agent.run("Tick.")
    agent.memory.edit(agent.memory.steps[1], observations="tock")
    agent.memory.undo()
    agent.run("And now?", reset=False)
    first, last = model_of(agent).requests[1:]
    assert last.messages[: len(first.messages)] == first.messages


def test_changes_of_an_overlapping_run_stay_with_it() -> None:
    agent = agent_of([_tick(1), final(1), final(2)], Steering().tick)
    first = agent.stream("one", reset=False)
    for event in first:
        if isinstance(event, StepEnded):
            break
    agent.memory.edit(agent.memory.steps[1], observations="tock")
    assert agent.run("two", reset=False).status == "answered"
    told = [event for event in first if isinstance(event, SettingChanged)]
    assert [(event.name, event.value) for event in told] == [("step 1", "edited")]


# -- interrupts --------------------------------------------------------------------------------------


def test_interrupt_after_a_retry_keeps_its_reason() -> None:
    agent = agent_of([Busy("busy"), final(1)])
    for event in agent.stream("go"):
        if isinstance(event, Waiting):
            assert event.kind == "retry"
            agent.interrupt("No patience.")
    assert agent.result is not None
    assert agent.result.error is not None
    assert (agent.result.status, agent.result.error.message) == ("interrupted", "No patience.")
    assert_usable(agent)


def test_limit_of_the_agent_said_anew_is_for_a_run_with_a_limit_of_its_own() -> None:
    agent = agent_of([calls(("add", {"a": n, "b": n})) for n in range(4)] + [final(1)])
    told: list[Any] = []
    for event in agent.stream("go", max_steps=2):
        if isinstance(event, StepEnded) and len(told) == 0:
            agent.settings.update(max_steps=20)
            told.append(None)
        if isinstance(event, SettingChanged):
            told.append((event.name, event.value, event.effective))
    assert told == [None, ("max_steps", 20, "from step 2")]
    assert agent.result is not None
    assert (agent.result.status, agent.result.max_steps) == ("answered", 20)


def test_limit_that_is_passed_already_ends_the_run_with_the_steps_that_were_made() -> None:
    agent = agent_of([calls(("add", {"a": n, "b": n})) for n in range(3)] + ["About three."])
    for event in agent.stream("go"):
        if isinstance(event, StepEnded) and getattr(event.step, "step_number", 0) == 3:
            agent.settings.update(max_steps=1)
    assert agent.result is not None
    assert (agent.result.status, agent.result.max_steps) == ("max_steps", 3)
    assert "You have used all 3 steps" in str(model_of(agent).requests[-1].messages[-1]["content"])


def test_pause_takes_nothing_of_the_time_budget() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3)], max_time_s=0.4)
    for event in agent.stream("go"):
        if (
            isinstance(event, StepEnded)
            and isinstance(event.step, ActionStep)
            and event.step.step_number == 1
        ):
            agent.pause()
            threading.Timer(0.6, agent.unpause).start()
    assert agent.result is not None
    assert agent.result.status == "answered"
