"""Runs that go on after they were stopped, and runs that are done anew."""

from __future__ import annotations

from typing import Any

import pytest
from agents.checking import agent_of, assert_valid, model_of
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.events import RunEnded, StepEnded
from agent_magic.core.result import RunResult
from agent_magic.core.state import DictState
from agent_magic.core.steps import ActionStep, TaskStep
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel, ScriptedRequest
from agent_magic.tools.toolbox import LiveTool, Toolbox

calls, final = ScriptedModel.calls, ScriptedModel.final
ONE_CALL = calls(("add", {"a": 1, "b": 2}))
USED = {"input_tokens": 1_000, "output_tokens": 10}


def _interrupted() -> ToolCallingAgent:
    def stop(_request: ScriptedRequest) -> Any:
        agent.interrupt("Enough.")
        return ONE_CALL

    agent = agent_of([ONE_CALL, stop])
    return agent


def _at_limit() -> ToolCallingAgent:
    return agent_of([ONE_CALL, ONE_CALL, "About three."], max_steps=2)


def _over_budget() -> ToolCallingAgent:
    return agent_of([ONE_CALL | {"usage": USED}] * 3, max_total_tokens=2_200)


def _failed() -> ToolCallingAgent:
    return agent_of([ONE_CALL, ONE_CALL, ValueError("the server is gone")])


def _refused_at_limit() -> ToolCallingAgent:
    checks = [lambda answer: answer == 3]
    return agent_of([ONE_CALL, final(4), "About four."], max_steps=2, final_answer_checks=checks)


_STOPPED = [_interrupted, _at_limit, _over_budget, _failed, _refused_at_limit]


@pytest.mark.parametrize("make", _STOPPED, ids=lambda make: make.__name__.strip("_"))
@pytest.mark.parametrize("correction", [None, "Add 1 and 2 only."])
def test_stopped_run_is_resumed_to_an_answer(make: Any, correction: str | None) -> None:
    agent = make()
    first = agent.run("1 + 2")
    assert first.status != "answered"
    n_made = len(first.actions)
    agent.model = ScriptedModel([ONE_CALL, final(3)])
    second = agent.resume(correction)
    assert (second.status, second.value, second.resumed_from) == ("answered", 3, first.run_id)
    assert second.task == "1 + 2"
    assert [step.step_number for step in second.actions] == [n_made + 1, n_made + 2]
    assert agent.memory.steps == (*first.steps, *second.steps)
    task = second.steps[0]
    assert isinstance(task, TaskStep)
    assert (task.resumes, task.is_ours) == (first.run_id, correction is None)
    assert correction is None or task.task == correction
    sent = model_of(agent).requests[0].messages
    assert sent[1]["content"] == "1 + 2"
    assert sent[-1]["content"] == task.task
    assert_valid(agent.memory)
    assert agent.runs == [first, second]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            _interrupted,
            snapshot(
                "The run was interrupted. It goes on now, with 1 more step. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer."
            ),
        ),
        (
            _at_limit,
            snapshot(
                "The run had used all its steps. It goes on now, with 1 more step. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer."
            ),
        ),
        (
            _over_budget,
            snapshot(
                "The run had used up its budget. It goes on now, with 1 more step. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer."
            ),
        ),
        (
            _failed,
            snapshot(
                "The run had stopped after a failure. It goes on now, with 1 more step. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer."
            ),
        ),
    ],
    ids=lambda make: getattr(make, "__name__", ""),
)
def test_resumed_run_is_told_why_it_had_stopped(make: Any, words: str) -> None:
    agent = make()
    agent.run("1 + 2")
    agent.model = ScriptedModel([final(3)])
    task = agent.resume(max_steps=1).steps[0]
    assert isinstance(task, TaskStep)
    assert task.task == words


def test_resumed_run_gets_as_many_steps_again_and_says_so_right() -> None:
    agent = _at_limit()
    agent.run("1 + 2")
    agent.model = ScriptedModel([ONE_CALL, ONE_CALL, "About three."])
    result = agent.resume()
    assert (result.status, [step.step_number for step in result.actions]) == ("max_steps", [3, 4])
    agent.model = ScriptedModel(["1. Answer.", final(3)])
    agent.planning_interval = 2
    third = agent.resume(max_steps=3)
    assert [step.step_number for step in third.actions] == [5]
    asked = model_of(agent).requests[0].messages[-1]["content"]
    assert "3 steps" in asked
    assert third.resumed_from == result.run_id


def test_resumed_run_keeps_the_plan() -> None:
    agent = agent_of(["1. Add.", ONE_CALL, ValueError("gone")], planning_interval=2)
    agent.run("1 + 2")
    agent.model = ScriptedModel(["1. Add again.", final(3)])
    result = agent.resume()
    assert result.status == "answered"
    assert [request.kind for request in model_of(agent).requests] == ["plan", "act"]
    plan = result.plans[0]
    assert not plan.is_first
    assert plan.step_number == 3


def test_images_and_names_can_be_given_with_a_correction() -> None:
    agent = _failed()
    agent.run("1 + 2")
    picture = Image.new("RGB", (2, 2))
    agent.model = ScriptedModel([final("@table")], capabilities=Capabilities(images=True))
    result = agent.resume("Look at this.", images=[picture], additional_args={"table": [1, 2, 3]})
    assert result.value == [1, 2, 3]
    sent = model_of(agent).requests[0].messages[-1]["content"]
    assert [part["type"] for part in sent] == ["text", "image_url"]
    assert sent[0]["text"] == snapshot("""\
Look at this.

State variables:
- @table: list, 3 items: [1, 2, 3]\
""")


def test_images_alone_are_given_with_our_own_words() -> None:
    agent = _failed()
    agent.run("1 + 2")
    agent.model = ScriptedModel([final(3)])
    task = agent.resume(images=[Image.new("RGB", (2, 2))]).steps[0]
    assert isinstance(task, TaskStep)
    assert task.task.startswith("The run had stopped after a failure.")
    assert len(task.images) == 1
    assert task.is_ours


def test_names_of_the_first_run_stay_open() -> None:
    agent = agent_of([ONE_CALL, ValueError("gone")])
    agent.run("1 + 2", additional_args={"table": [1, 2, 3]})
    agent.model = ScriptedModel([final("@table")])
    assert agent.resume().value == [1, 2, 3]


def test_call_that_was_interrupted_is_told_as_such_and_finished_ones_keep_their_results() -> None:
    def stop(n: int) -> int:
        """Stop at two."""
        if n == 2:
            raise KeyboardInterrupt
        return n

    agent = agent_of([calls(("stop", {"n": 1})), calls(("stop", {"n": 2}))], stop)
    with pytest.raises(KeyboardInterrupt):
        agent.run("Go on.")
    agent.model = ScriptedModel([final("done")])
    agent.resume()
    sent = model_of(agent).requests[0].messages
    assert [message["content"] for message in sent if message["role"] == "tool"] == snapshot(
        ["1", "The call was interrupted before it ended; what it did so far is not known."]
    )


# -- what cannot be resumed ----------------------------------------------------------------------------


def test_nothing_to_resume_is_told() -> None:
    agent = agent_of([final(3)])
    texts: list[str] = []
    for _ in range(2):
        with pytest.raises(OptionError) as caught:
            agent.resume()
        texts.append(caught.value.message)
        agent.run("1 + 2") if not agent.runs else None
    assert texts == snapshot(
        [
            "There is no run to resume. Give a task first.",
            "The last run was answered, so there is nothing to resume. Give a new task.",
        ]
    )
    assert len(agent.runs) == 1
    with pytest.raises(OptionError):
        agent.resume("   ")
    with pytest.raises(OptionError):
        agent.resume(max_steps=0)
    with pytest.raises(OptionError) as caught:
        agent_of([]).retry()
    assert caught.value.message == snapshot("There is no run to retry. Give a task first.")


def test_reset_leaves_nothing_to_resume() -> None:
    agent = _failed()
    agent.run("1 + 2")
    agent.reset()
    with pytest.raises(OptionError):
        agent.resume()


# -- after the tools have changed ----------------------------------------------------------------------


def test_resumed_run_uses_the_tools_as_they_are_now() -> None:
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    agent = agent_of([ONE_CALL, ValueError("gone")])
    agent.run("1 + 2")
    agent.toolbox = Toolbox([double])
    agent.model = ScriptedModel([ONE_CALL, calls(("double", {"n": 2})), final(4)])
    result = agent.resume()
    assert (result.status, result.value) == ("answered", 4)
    assert result.actions[0].observations == snapshot(
        "No tool 'add'. Tools: double, final_answer. Call one of these."
    )
    assert [tool["name"] for tool in model_of(agent).requests[0].tools] == ["double", "final_answer"]
    assert_valid(agent.memory)


# -- retry ---------------------------------------------------------------------------------------------


def test_retry_does_the_same_task_anew_without_its_steps() -> None:
    agent = agent_of([final(0), ONE_CALL, final(4)])
    zeroth = agent.run("Nothing.")
    first = agent.run("1 + 2", reset=False)
    agent.model = ScriptedModel([ONE_CALL, final(3)])
    second = agent.retry()
    assert (second.status, second.value, second.resumed_from) == ("answered", 3, None)
    assert agent.memory.steps == (*zeroth.steps, *second.steps)
    assert second.steps[0] is first.steps[0]
    sent = [message["content"] for message in model_of(agent).requests[0].messages[1:]]
    assert sent == ["Nothing.", None, "accepted", "1 + 2"]
    assert [step.step_number for step in second.actions] == [1, 2]
    assert_valid(agent.memory)
    agent.memory.undo()
    assert agent.memory.steps == (*zeroth.steps, *first.steps, *second.steps)


def test_retry_of_a_resumed_run_drops_the_whole_chain_and_begins_with_the_task() -> None:
    agent = _failed()
    agent.run("1 + 2", additional_args={"table": [1]})
    agent.model = ScriptedModel([ValueError("gone again")])
    agent.resume("Hurry.")
    agent.model = ScriptedModel([final("@table")])
    result = agent.retry(max_steps=1)
    assert (result.status, result.value, result.task) == ("answered", [1], "1 + 2")
    assert agent.memory.steps == result.steps
    assert [step.step_number for step in result.actions] == [1]


def test_retry_after_edits_and_drops_of_steps() -> None:
    agent = agent_of([ONE_CALL, ONE_CALL, final(4)])
    agent.run("1 + 2")
    agent.memory.edit(1, observations="4")
    agent.memory.drop(2)
    agent.model = ScriptedModel([final(3)])
    result = agent.retry()
    assert agent.memory.steps == result.steps
    agent.model = ScriptedModel([final(5)])
    assert agent.retry().value == 5
    assert len(agent.memory.steps) == 3


def test_events_of_resumed_and_retried_runs() -> None:
    agent = _failed()
    agent.run("1 + 2")
    agent.model = ScriptedModel([final(3), final(4)])
    for events, value in ((agent.stream_resume("Go on."), 3), (agent.stream_retry(), 4)):
        *before, ended = events
        assert isinstance(ended, RunEnded)
        assert ended.result.value == value
        assert isinstance(before[-1], StepEnded)


# -- runs that overlap ---------------------------------------------------------------------------------


def _ended(events: Any) -> RunResult:
    *_, ended = events
    assert isinstance(ended, RunEnded)
    return ended.result


def test_overlapping_runs_keep_memory_views_and_requests_apart_and_are_joined_whole() -> None:
    agent = agent_of([])
    agent.model = ScriptedModel([ONE_CALL, final(0)])
    zeroth = agent.run("Zero.")
    agent.model = first_model = ScriptedModel([ONE_CALL] * 2 + [final(1)])
    first_events = agent.stream("First.", reset=False)
    for _ in range(6):
        next(first_events)
    agent.model = ScriptedModel([ONE_CALL] * 2 + [final(2)])
    second_events = agent.stream("Second.", reset=False)
    for event in second_events:
        if isinstance(event, StepEnded):
            break
    # `agent.memory` is that of the run started last.
    agent.memory.set_view(1, "summary")
    agent.memory.edit(1, observations="33")
    agent.memory.edit(-1, observations="34")
    first = _ended(first_events)
    assert agent.memory.steps[-1] is not first.steps[-1]
    second = _ended(second_events)
    assert [step.to_messages()[0].content for step in agent.memory.steps if isinstance(step, TaskStep)] == [
        "Zero.",
        "First.",
        "Second.",
    ]
    assert len(agent.memory.steps) == len(zeroth.steps) + len(first.steps) + len(second.steps)
    assert agent.memory.view_of(1) == "summary"
    edited = agent.memory.steps[1]
    assert isinstance(edited, ActionStep)
    assert edited.observations == "33"
    assert_valid(agent.memory)
    for result in (first, second):
        memory = agent.memory_of(result.run_id)
        own = [request for request in memory.requests if request.run_id == result.run_id]
        assert len(own) == 3
        assert all(memory.is_rebuilt_exactly(request) for request in own)
    assert len(first_model.requests) == 3
    # The next run goes on from all of them, and its requests can be rebuilt too.
    agent.model = ScriptedModel([final(3)])
    third = agent.run("Third.", reset=False)
    assert third.value == 3
    assert all(
        agent.memory.is_rebuilt_exactly(request)
        for request in agent.memory.requests
        if request.run_id == third.run_id
    )
    assert agent.preview(1).is_exact


def test_retry_after_overlapping_runs_with_edits_drops_the_right_steps() -> None:
    agent = agent_of([])
    agent.model = ScriptedModel([ONE_CALL, final(1)])
    first_events = agent.stream("First.")
    next(first_events)
    agent.model = ScriptedModel([ONE_CALL, final(2)])
    second_events = agent.stream("Second.", reset=False)
    for event in second_events:
        if isinstance(event, StepEnded):
            break
    agent.memory.edit(-1, observations="34")
    first = _ended(first_events)
    _ended(second_events)
    agent.model = ScriptedModel([final(3)])
    result = agent.retry()
    assert agent.memory.steps == (*first.steps, *result.steps)


def test_memory_of_a_run_that_goes_on_is_its_own() -> None:
    agent = agent_of([ONE_CALL, ONE_CALL, final(1)])
    first_events = agent.stream("First.")
    started: Any = next(first_events)
    for event in first_events:
        if isinstance(event, StepEnded):
            break
    agent.model = ScriptedModel([final(2)])
    second_events = agent.stream("Second.", reset=False)
    next(second_events)
    memory = agent.memory_of(started.run_id)
    assert [request.run_id for request in memory.requests] == [started.run_id]
    assert _ended(first_events).value == 1
    assert _ended(second_events).value == 2


def test_resumed_run_uses_live_tools_as_they_were_redefined_or_without_them_when_they_are_gone() -> None:
    def price(city: str) -> float:
        """The price in a city."""
        return 1.0

    def price_in(city: str, year: int) -> float:
        """The price in a city and year."""
        return year + 0.5

    state = DictState(price=price)
    agent = agent_of(
        [calls(("price", {"city": "Oslo"})), ValueError("gone")], LiveTool(name="price", state=state)
    )
    agent.run("What is the price in Oslo?")
    state["price"] = price_in
    agent.model = ScriptedModel([calls(("price", {"city": "Oslo", "year": 2020})), ValueError("gone")])
    assert agent.resume().actions[0].observations == "2020.5"
    del state["price"]
    agent.model = ScriptedModel([calls(("price", {"city": "Oslo"})), final(2020.5)])
    result = agent.resume()
    assert (result.status, result.value) == ("answered", 2020.5)
    assert result.actions[0].observations == snapshot(
        "No tool 'price'. Tools: final_answer. Call one of these."
    )
    assert [step.step_number for step in result.actions] == [5, 6]
    assert_valid(agent.memory)


def test_plan_that_no_action_followed_is_not_made_again() -> None:
    plan = {"content": "1. add", "usage": {"input_tokens": 1_000, "output_tokens": 10}}
    agent = agent_of([plan, final(3)], planning_interval=1, max_total_tokens=1_500)
    assert agent.run("1 + 2").status == "budget"
    assert [request.kind for request in model_of(agent).requests] == ["plan"]
    agent.settings.update(max_total_tokens=None)
    assert agent.resume().status == "answered"
    assert [request.kind for request in model_of(agent).requests] == ["plan", "act"]


def test_plan_that_could_not_be_made_is_asked_for_again() -> None:
    agent = agent_of([ValueError("x"), ValueError("y"), "1. answer", final(1)], planning_interval=20)
    assert agent.run("go").status == "failed"
    assert agent.resume().status == "answered"
    assert [request.kind for request in model_of(agent).requests] == ["plan", "act", "plan", "act"]


def test_run_is_resumed_once() -> None:
    agent = _failed()
    agent.run("go")
    agent.model = ScriptedModel([final(1), final(2)])
    first, second = agent.stream_resume(), agent.stream_resume()
    next(first)
    with pytest.raises(OptionError) as error:
        next(second)
    assert error.value.message == snapshot(
        "That run is gone on with already. Wait for the end, and resume what comes of it."
    )
    for _ in first:
        pass
    assert (len(agent.runs), len(model_of(agent).requests)) == (2, 1)


def test_steps_of_the_run_that_was_resumed_can_be_previewed() -> None:
    agent = _at_limit()
    agent.run("go")
    n_made = len(agent.runs[-1].actions)
    agent.model = ScriptedModel([final(1)])
    agent.resume()
    numbers = range(1, n_made + 2)
    assert [agent.preview(number).step_number for number in numbers] == list(numbers)
    assert all(agent.preview(number).is_exact for number in numbers)
    assert agent.preview(1).run_id == agent.runs[0].run_id
