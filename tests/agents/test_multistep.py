"""The life of a run: its events, ends, limits and memory."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import pytest
from agents.checking import (
    AS_TEXT,
    PATIENCE_S,
    add,
    agent_of,
    assert_usable,
    assert_valid,
    model_of,
    told,
)
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.changes import NameChange
from agent_magic.core.errors import DefinitionError, OptionError
from agent_magic.core.events import (
    ArgumentsDelta,
    Event,
    ModelReplied,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
)
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, TokenUsage, ToolCall
from agent_magic.core.result import RunResult
from agent_magic.core.state import DictState
from agent_magic.core.steps import (
    ActionStep,
    Fault,
    FinalAnswerStep,
    StateVariable,
    TaskStep,
    Timing,
    ToolResult,
)
from agent_magic.core.values import Description
from agent_magic.execution.prints.sinks import CURRENT_SINK
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.decorator import tool
from agent_magic.tools.toolbox import LiveTool

calls, final = ScriptedModel.calls, ScriptedModel.final
_USAGE = {"input_tokens": 10, "output_tokens": 2, "cached_tokens": 0, "reasoning_tokens": 0, "cost_usd": 0.5}


@dataclass
class Prices:
    """An object that JSON cannot hold."""

    rows: int


def _timeless(value: Any) -> Any:
    """The same with every time and the run's id replaced, and the object told by its place."""
    if isinstance(value, Prices):
        return "the prices"
    if isinstance(value, Timing):
        return Timing(start=0.0, end=0.0)
    if isinstance(value, tuple):
        return tuple(_timeless(item) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {f.name: _timeless(getattr(value, f.name)) for f in dataclasses.fields(value)}
        fixed = {"run_id": "run", "model_input_digest": "digest"}
        return dataclasses.replace(
            value,
            **{name: fixed[name] if name in fixed and changes[name] else changes[name] for name in changes},
        )
    return value


# -- events ----------------------------------------------------------------------------------


def test_run_yields_these_events() -> None:
    def load_prices(city: str) -> Prices:
        """Load the prices of a city.

        Args:
            city: its name
        """
        sink = CURRENT_SINK.get()
        assert sink is not None
        sink.write(f"reading {city}\n")
        return Prices(3)

    agent = agent_of(
        [
            calls(("load_prices", {"city": "Oslo"}))
            | {"content": "I load them.", "reasoning": "Hm.", "usage": _USAGE},
            final("@load_prices_1") | {"usage": _USAGE},
        ],
        load_prices,
        stream_pieces=2,
        name="analyst",
        state={},
    )
    events = list(agent.stream("Prices in @city", variables={"city": "Oslo"}))
    assert [_timeless(event) for event in events] == snapshot(
        [
            RunStarted(
                run_id="run",
                agent_name="analyst",
                model_id="scripted",
                max_steps=20,
                task=TaskStep(
                    task="Prices in @city",
                    variables=(
                        StateVariable(
                            name="city",
                            description=Description(type_name="str", shape="4 characters", preview="'Oslo'"),
                        ),
                    ),
                ),
            ),
            StepStarted(step_number=1),
            TextDelta(step_number=1, text="Hm", is_reasoning=True),
            TextDelta(step_number=1, text=".", is_reasoning=True),
            TextDelta(step_number=1, text="I load"),
            TextDelta(step_number=1, text=" them."),
            ArgumentsDelta(step_number=1, place=0, name="load_prices", text=""),
            ArgumentsDelta(step_number=1, place=0, name="load_prices", text='{"city":'),
            ArgumentsDelta(step_number=1, place=0, name="load_prices", text=' "Oslo"}'),
            ModelReplied(
                step_number=1,
                message=ChatMessage(
                    role="assistant",
                    content="I load them.",
                    tool_calls=(ToolCall(id="call_1", name="load_prices", arguments={"city": "Oslo"}),),
                    reasoning="Hm.",
                    usage=TokenUsage(
                        input_tokens=10, output_tokens=2, cached_tokens=0, reasoning_tokens=0, cost_usd=0.5
                    ),
                    finish_reason="tool_calls",
                ),
            ),
            ToolCallStarted(
                step_number=1, call=ToolCall(id="call_1", name="load_prices", arguments={"city": "Oslo"})
            ),
            ToolCallEnded(
                step_number=1,
                result=ToolResult(
                    call=ToolCall(id="call_1", name="load_prices", arguments={"city": "Oslo"}),
                    observation="""\
The result is in the variable load_prices_1; refer to it as "@load_prices_1".
Prices: Prices(rows=3)\
""",
                    output="the prices",
                    bound_to="load_prices_1",
                    printed="reading Oslo\n",
                    timing=Timing(start=0.0, end=0.0),
                ),
            ),
            StepEnded(
                step=ActionStep(
                    step_number=1,
                    timing=Timing(start=0.0, end=0.0),
                    model_output="I load them.",
                    reasoning="Hm.",
                    tool_results=(
                        ToolResult(
                            call=ToolCall(id="call_1", name="load_prices", arguments={"city": "Oslo"}),
                            observation="""\
The result is in the variable load_prices_1; refer to it as "@load_prices_1".
Prices: Prices(rows=3)\
""",
                            output="the prices",
                            bound_to="load_prices_1",
                            printed="reading Oslo\n",
                            timing=Timing(start=0.0, end=0.0),
                        ),
                    ),
                    token_usage=TokenUsage(
                        input_tokens=10, output_tokens=2, cached_tokens=0, reasoning_tokens=0, cost_usd=0.5
                    ),
                    changes=(NameChange(name="load_prices_1", kind="added", after="Prices"),),
                    model_input_digest="digest",
                )
            ),
            StepStarted(step_number=2),
            ArgumentsDelta(step_number=2, place=0, name="final_answer", text=""),
            ArgumentsDelta(step_number=2, place=0, name="final_answer", text='{"answer": "@l'),
            ArgumentsDelta(step_number=2, place=0, name="final_answer", text='oad_prices_1"}'),
            ModelReplied(
                step_number=2,
                message=ChatMessage(
                    role="assistant",
                    tool_calls=(
                        ToolCall(id="call_1", name="final_answer", arguments={"answer": "@load_prices_1"}),
                    ),
                    usage=TokenUsage(
                        input_tokens=10, output_tokens=2, cached_tokens=0, reasoning_tokens=0, cost_usd=0.5
                    ),
                    finish_reason="tool_calls",
                ),
            ),
            StepEnded(
                step=ActionStep(
                    step_number=2,
                    timing=Timing(start=0.0, end=0.0),
                    tool_results=(
                        ToolResult(
                            call=ToolCall(
                                id="call_1_2", name="final_answer", arguments={"answer": "@load_prices_1"}
                            ),
                            observation="accepted",
                            output="the prices",
                            notes=("answer read as @load_prices_1",),
                        ),
                    ),
                    token_usage=TokenUsage(
                        input_tokens=10, output_tokens=2, cached_tokens=0, reasoning_tokens=0, cost_usd=0.5
                    ),
                    is_final_answer=True,
                    model_input_digest="digest",
                )
            ),
            StepEnded(step=FinalAnswerStep(answer="the prices")),
            RunEnded(
                result=RunResult(
                    run_id="run",
                    agent_name="analyst",
                    model_id="scripted",
                    task="Prices in @city",
                    value="the prices",
                    status="answered",
                    max_steps=20,
                    steps=(
                        TaskStep(
                            task="Prices in @city",
                            variables=(
                                StateVariable(
                                    name="city",
                                    description=Description(
                                        type_name="str", shape="4 characters", preview="'Oslo'"
                                    ),
                                ),
                            ),
                        ),
                        ActionStep(
                            step_number=1,
                            timing=Timing(start=0.0, end=0.0),
                            model_output="I load them.",
                            reasoning="Hm.",
                            tool_results=(
                                ToolResult(
                                    call=ToolCall(
                                        id="call_1", name="load_prices", arguments={"city": "Oslo"}
                                    ),
                                    observation="""\
The result is in the variable load_prices_1; refer to it as "@load_prices_1".
Prices: Prices(rows=3)\
""",
                                    output="the prices",
                                    bound_to="load_prices_1",
                                    printed="reading Oslo\n",
                                    timing=Timing(start=0.0, end=0.0),
                                ),
                            ),
                            token_usage=TokenUsage(
                                input_tokens=10,
                                output_tokens=2,
                                cached_tokens=0,
                                reasoning_tokens=0,
                                cost_usd=0.5,
                            ),
                            changes=(NameChange(name="load_prices_1", kind="added", after="Prices"),),
                            model_input_digest="digest",
                        ),
                        ActionStep(
                            step_number=2,
                            timing=Timing(start=0.0, end=0.0),
                            tool_results=(
                                ToolResult(
                                    call=ToolCall(
                                        id="call_1_2",
                                        name="final_answer",
                                        arguments={"answer": "@load_prices_1"},
                                    ),
                                    observation="accepted",
                                    output="the prices",
                                    notes=("answer read as @load_prices_1",),
                                ),
                            ),
                            token_usage=TokenUsage(
                                input_tokens=10,
                                output_tokens=2,
                                cached_tokens=0,
                                reasoning_tokens=0,
                                cost_usd=0.5,
                            ),
                            is_final_answer=True,
                            model_input_digest="digest",
                        ),
                        FinalAnswerStep(answer="the prices"),
                    ),
                    usage=TokenUsage(
                        input_tokens=20, output_tokens=4, cached_tokens=0, reasoning_tokens=0, cost_usd=1.0
                    ),
                    timing=Timing(start=0.0, end=0.0),
                )
            ),
        ]
    )
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert ended.result.value is agent.state["load_prices_1"]


def test_stream_returns_the_result_at_its_end() -> None:
    agent = agent_of([final(1)])
    returned: list[RunResult] = []

    def through() -> Generator[Event]:
        returned.append((yield from agent.stream("one")))

    assert isinstance(list(through())[-1], RunEnded)
    assert returned == [agent.result]


def test_step_is_in_memory_before_it_is_yielded() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3)])
    for event in agent.stream("add"):
        if isinstance(event, RunStarted):
            assert agent.memory.steps == (event.task,)
        if isinstance(event, StepEnded):
            assert event.step in agent.memory.steps


# -- ends ------------------------------------------------------------------------------------


def test_run_ends_answered() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3)])
    result = agent.run("1 + 2")
    assert (result.status, result.value, result.error) == ("answered", 3, None)
    assert [type(step) for step in result.steps] == [TaskStep, ActionStep, ActionStep, FinalAnswerStep]
    assert agent.result is result
    assert agent.memory.steps == result.steps
    assert_usable(agent)


def test_agent_says_whether_a_run_goes_on() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3)])
    events = agent.stream("Add.")
    assert agent.is_running is False
    next(events)
    assert agent.is_running is True
    for _ in events:
        pass
    assert agent.is_running is False


def test_result_says_what_was_done_by_whom_and_how_long_it_took() -> None:
    agent = agent_of([final(3)], name="analyst")
    before = time.time()
    result = agent.run("1 + 2", max_steps=4)
    after = time.time()
    assert (result.agent_name, result.model_id, result.task, result.max_steps) == (
        "analyst",
        "scripted",
        "1 + 2",
        4,
    )
    assert before <= result.timing.start <= result.actions[0].timing.start
    assert result.actions[0].timing.end <= result.timing.end <= after
    assert len({result.run_id, agent_of([final(3)]).run("1 + 2").run_id}) == 2


def test_run_at_the_step_limit_asks_once_more_without_tools() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), "About three."], max_steps=1)
    result = agent.run("1 + 2")
    assert (result.status, result.value, result.error) == ("max_steps", "About three.", None)
    last = model_of(agent).requests[-1]
    assert (last.kind, last.tools, last.stop) == ("final", [], ())
    assert last.messages[-1] == snapshot(
        {
            "role": "user",
            "content": "You have used the only step of this run and can call no tool any more. Give the best answer that what you know allows, in plain text, and say what is missing.",
        }
    )
    assert result.steps[-1] == FinalAnswerStep(
        answer="About three.", is_told=False, text="About three.", request=last.messages[-1]["content"]
    )
    assert [message.content for message in agent.memory.to_messages()[-2:]] == [
        last.messages[-1]["content"],
        "About three.",
    ]
    assert_usable(agent)


def test_call_in_the_reply_at_the_step_limit_is_not_executed() -> None:
    entered: list[int] = []

    def note(n: int) -> None:
        """Note a number.

        Args:
            n: the number
        """
        entered.append(n)

    agent = agent_of([calls(("note", {"n": 1})), calls(("note", {"n": 2}))], note, max_steps=1)
    result = agent.run("note")
    assert entered == [1]
    assert (result.status, result.value) == ("max_steps", None)
    assert_usable(agent)


def test_failure_of_the_call_at_the_step_limit_gives_none_and_says_why() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), ValueError("bad request")], max_steps=1)
    result = agent.run("1 + 2")
    assert (result.status, result.value) == ("max_steps", None)
    assert result.error == snapshot(
        Fault(
            kind="GenerationError", message="scripted could not be asked (ValueError). It says: bad request"
        )
    )
    assert isinstance(result.steps[-1], ActionStep)
    assert_usable(agent)


def test_run_fails_when_the_model_does_and_keeps_what_was_before() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), ValueError("no such thing")])
    result = agent.run("1 + 2")
    assert result.status == "failed"
    assert result.error == snapshot(
        Fault(
            kind="GenerationError", message="scripted could not be asked (ValueError). It says: no such thing"
        )
    )
    assert [step.step_number for step in result.actions] == [1, 2]
    assert result.actions[0].action_output == 3
    assert result.actions[1].fault == result.error
    assert_usable(agent)


def test_run_fails_when_a_live_tool_became_one_that_cannot_be() -> None:
    state = DictState(add=add, other=len)

    @tool(name="add")
    def twin(text: str) -> str:
        """Repeat a text.

        Args:
            text: any
        """
        return text

    def spoil(_request: Any) -> Any:
        state["other"] = twin
        return calls(("add", {"a": 1, "b": 2}))

    agent = ToolCallingAgent(
        [LiveTool(name="add", state=state), LiveTool(name="other", state=state)], ScriptedModel([spoil])
    )
    result = agent.run("1 + 2")
    assert result.status == "failed"
    assert result.error == snapshot(
        Fault(
            kind="ToolDefinitionError",
            message="""\
Two tools have the name 'add'.
Give one of them another: put it in a variable of another name, or mark it  @tool(name="add_2")\
""",
        )
    )
    assert result.actions[0].action_output == 3
    assert result.actions[1].to_messages() == ()
    state["other"] = len
    assert_usable(agent)


def test_fault_of_the_runtime_itself_is_recorded_and_raised() -> None:
    class Broken(MultiStepAgent):
        _prompt_file = "toolcalling_agent.yaml"

        def act(self, run: Any, moment: Any, draft: Any) -> Any:
            raise ZeroDivisionError("oh")
            yield

        def compose(self, moment: Any, kind: Any) -> Any:
            return None

        def read_last_answer(self, run: Any, message: Any) -> Any:
            return None

    agent = Broken((), ScriptedModel([]))
    with pytest.raises(ZeroDivisionError):
        agent.run("divide")
    assert agent.result is not None
    assert agent.result.status == "failed"
    assert agent.result.error == snapshot(
        Fault(kind="ZeroDivisionError", message="A fault of agent_magic itself: ZeroDivisionError('oh')")
    )
    assert_valid(agent.memory)


# -- refused before a model call ---------------------------------------------------------------


@pytest.mark.parametrize("max_steps", [0, -1, True, 1.5, "3"])
def test_limit_that_is_no_whole_number_from_one_is_refused(max_steps: Any) -> None:
    agent = agent_of([final(1)])
    with pytest.raises(OptionError) as caught:
        agent.run("one", max_steps=max_steps)
    assert (
        caught.value.message == f"max_steps={max_steps!r} is not allowed. Give a whole number of at least 1."
    )
    with pytest.raises(OptionError):
        agent.stream("one", max_steps=max_steps)
    with pytest.raises(OptionError):
        ToolCallingAgent((), ScriptedModel([]), max_steps=max_steps)
    assert model_of(agent).requests == []
    assert agent.runs == []


@pytest.mark.parametrize("task", ["", " \n\t"])
def test_blank_task_is_refused(task: str) -> None:
    agent = agent_of([final(1)])
    with pytest.raises(OptionError) as caught:
        agent.run(task)
    assert caught.value.message == snapshot("The task is empty. Say what the agent is to find out or do.")
    assert model_of(agent).requests == []


def test_refused_run_leaves_the_memory_as_it_was() -> None:
    agent = agent_of([final(1)])
    agent.run("one")
    before = agent.memory.steps
    with pytest.raises(OptionError):
        agent.run("two", max_steps=0)
    assert agent.memory.steps == before
    assert len(agent.runs) == 1


@pytest.mark.parametrize(
    "settings", [{"name": "2nd"}, {"name": "class"}, {"max_tool_threads": 0}, {"model": 3}, {"state": 4}]
)
def test_agent_that_cannot_be_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError) as caught:
        ToolCallingAgent(**{"model": ScriptedModel([])} | settings)
    assert (*settings.items(), caught.value.message) in snapshot(
        [
            (
                ("name", "2nd"),
                "'2nd' is no name for an agent. Give an identifier that is no keyword, such as 'analyst'.",
            ),
            (
                ("name", "class"),
                "'class' is no name for an agent. Give an identifier that is no keyword, such as 'analyst'.",
            ),
            (
                ("max_tool_threads", 0),
                "max_tool_threads=0 is not allowed. Give a whole number of at least 1.",
            ),
            (
                ("model", 3),
                "model=3 is no model. Give an id such as 'openai/gpt-4.1' or 'local', or an object whose class is a Model.",
            ),
            (
                ("state", 4),
                "state=4 is no State. Give a mapping from names to values, such as state={'df': df}.",
            ),
        ]
    )


# -- repeats -----------------------------------------------------------------------------------


def test_second_equal_failure_is_told_and_the_fourth_ends_the_run() -> None:
    agent = agent_of([calls(("add", {"a": 1}))] * 9)
    result = agent.run("1 + 2")
    assert result.status == "failed"
    assert len(result.actions) == 4
    first, second, third, fourth = told(result)
    assert second == first + "\nThe same call failed before: do something else now."
    assert (third, fourth) == (second, first)
    assert result.error == snapshot(
        Fault(
            kind="ToolCallError",
            message='The same failure came 4 times running, so the run was ended: add: argument \'b\' is missing. Call add with {"a": <integer>, "b": <integer>}.',
        )
    )
    assert_usable(agent)


def test_equal_failures_with_another_between_do_not_end_the_run() -> None:
    wrong, other = calls(("add", {"a": 1})), calls(("sub", {"a": 1}))
    result = agent_of([wrong, other] * 5 + [final(0)]).run("1 + 2")
    assert result.status == "answered"
    assert not any("failed before" in text for text in told(result))


def test_equal_failures_of_parallel_calls_count_whatever_the_order_in_which_they_end() -> None:
    gates = {"x": threading.Event(), "y": threading.Event()}
    turn = 0

    def fail(which: str) -> None:
        """Fail.

        Args:
            which: x or y
        """
        first = "xy"[turn % 2]
        if which != first:
            assert gates[first].wait(PATIENCE_S)
        gates[which].set()
        raise ValueError(which)

    agent = agent_of([calls(("fail", {"which": "x"}), ("fail", {"which": "y"}))] * 9, fail)
    for event in agent.stream("fail"):
        if isinstance(event, StepEnded):
            turn += 1
            for gate in gates.values():
                gate.clear()
    assert agent.result is not None
    assert (agent.result.status, len(agent.result.actions)) == ("failed", 4)


def test_step_in_which_one_call_succeeds_is_no_failure() -> None:
    both = calls(("add", {"a": 1}), ("add", {"a": 1, "b": 2}))
    result = agent_of([both] * 6 + [final(3)]).run("1 + 2")
    assert result.status == "answered"
    assert not any("failed before" in text for text in told(result))


# -- memory of several runs ----------------------------------------------------------------------


def test_run_forgets_earlier_runs_unless_told_to_go_on() -> None:
    agent = agent_of([final(1), final(2), final(3)])
    agent.run("first")
    agent.run("second", reset=False)
    assert [m["content"] for m in model_of(agent).requests[1].messages if m["role"] == "user"] == [
        "first",
        "second",
    ]
    assert [run.value for run in agent.runs] == [1, 2]
    agent.run("third")
    assert [m["content"] for m in model_of(agent).requests[2].messages if m["role"] == "user"] == ["third"]
    assert [run.value for run in agent.runs] == [3]


def test_result_holds_the_steps_of_its_own_run_alone() -> None:
    agent = agent_of([final(1), final(2)])
    first = agent.run("first")
    second = agent.run("second", reset=False)
    assert agent.memory.steps == (*first.steps, *second.steps)
    assert [step.step_number for step in second.actions] == [1]


def test_reset_forgets_runs_and_open_names_but_no_variable() -> None:
    state = DictState(df=Prices(3))
    agent = agent_of([final(1)], state=state)
    agent.run("first", additional_args={"budget": Prices(1)})
    assert "budget" in agent.state
    agent.reset()
    assert (agent.runs, agent.memory.steps, agent.result) == ([], (), None)
    assert "budget" not in agent.state
    assert agent.state["df"] is state["df"]


def test_state_that_is_handed_over_is_the_very_one_that_results_are_bound_in() -> None:
    def load() -> Prices:
        """Load."""
        return Prices(3)

    state, plain = DictState(df=1), {"df": 1}
    agent_of([calls(("load", {})), final(1)], load, state=state).run("load")
    assert state["load_1"] == Prices(3)
    agent = agent_of([calls(("load", {})), final("@df")], load, state=plain)
    assert agent.run("load").value == 1
    assert plain == {"df": 1}, "a plain mapping is the person's own: it is copied"


def test_ids_stay_unique_over_runs() -> None:
    reply = {"tool_calls": [{"id": "x", "name": "add", "arguments": {"a": 1, "b": 2}}]}
    agent = agent_of([reply, reply, final(3), reply, final(3)])
    agent.run("first")
    agent.run("second", reset=False)
    ids = [call.id for step in agent.memory.steps if isinstance(step, ActionStep) for call in step.tool_calls]
    assert ids == snapshot(["x", "x_2", "call_1", "x_3", "call_1_2"])
    assert_valid(agent.memory)


def test_kept_observations_are_counted_over_the_life_of_the_agent() -> None:
    def long_text() -> str:
        """Much text."""
        return "x" * 20_000

    agent = agent_of([calls(("long_text", {})), final(1)] * 2, long_text)
    agent.run("first")
    agent.run("second")
    assert len(agent.state["obs_1"]) == len(agent.state["obs_2"]) == 20_000
    assert "obs_3" not in agent.state


# -- task ----------------------------------------------------------------------------------------


def test_task_reaches_the_model_byte_for_byte() -> None:
    task = 'Braces {x} {{y}} "quotes" %s $HOME \\n 漢字 😀\r\n\ttail '
    agent = agent_of([final(1)])
    agent.run(task)
    assert model_of(agent).requests[0].messages[-1] == {"role": "user", "content": task}


def test_additional_args_are_told_and_can_be_referred_to_in_that_run_alone() -> None:
    budget = Prices(7)
    agent = agent_of([final("@budget"), final("@budget"), final("no")])
    result = agent.run("Give it back.", additional_args={"budget": budget})
    assert result.value is budget
    assert model_of(agent).requests[0].messages[-1]["content"] == snapshot("""\
Give it back.

State variables:
- @budget: Prices: Prices(rows=7)\
""")
    agent.run("Again.")
    assert told(agent.result) == snapshot(
        [
            "final_answer: argument 'answer' is '@budget'; no open variable has that name. Call final_answer with {\"answer\": <any>}.",
            "accepted",
        ]
    )


def test_images_stand_once_in_the_message_of_the_task() -> None:
    image = Image.new("RGB", (4, 3))
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3)])
    agent.run("What is it?", images=[image])
    for request in model_of(agent).requests:
        with_images = [message for message in request.chat_messages if message.images]
        assert [(m.content, m.images[0].image) for m in with_images] == [("What is it?", image)]


def test_instructions_stand_in_the_system_prompt() -> None:
    agent = agent_of([final(1)], instructions="Answer in {German}.")
    agent.run("one")
    assert model_of(agent).requests[0].messages[0]["content"].endswith("Answer in {German}.")


# -- usage ---------------------------------------------------------------------------------------


def test_usage_of_all_calls_is_added_up() -> None:
    agent = agent_of(
        [
            calls(("add", {"a": 1, "b": 2})) | {"usage": _USAGE},
            {"content": "three", "usage": _USAGE},
        ],
        max_steps=1,
    )
    result = agent.run("1 + 2")
    assert result.usage == TokenUsage(
        input_tokens=20, output_tokens=4, cached_tokens=0, reasoning_tokens=0, cost_usd=1.0
    )
    assert [step.token_usage.input_tokens for step in result.actions if step.token_usage] == [10]


def test_usage_is_unknown_where_one_call_does_not_report_it() -> None:
    agent = agent_of(
        [calls(("add", {"a": 1, "b": 2})) | {"usage": _USAGE}, final(3) | {"usage": {"input_tokens": 4}}]
    )
    assert agent.run("1 + 2").usage == TokenUsage(input_tokens=14)
    assert agent_of([final(3)]).run("1 + 2").usage == TokenUsage()


# -- several runs at once --------------------------------------------------------------------------


def _wait_tool(barrier: threading.Barrier) -> Any:
    def meet(who: str) -> str:
        """Wait until the others are here too.

        Args:
            who: a name
        """
        barrier.wait(PATIENCE_S)
        return f"{who} met"

    return meet


def test_runs_at_once_in_threads_never_mix() -> None:
    n_runs, n_steps = 4, 5

    def reply(request: Any) -> Any:
        users = [m["content"] for m in request.messages if m["role"] == "user"]
        assert len(users) == 1
        n_told = sum(m["role"] == "tool" for m in request.messages)
        return calls(("meet", {"who": users[0]})) if n_told < n_steps else final(users[0])

    agent = ToolCallingAgent([_wait_tool(threading.Barrier(n_runs))], ScriptedModel([reply] * 99))
    results: dict[str, RunResult] = {}
    threads = [
        threading.Thread(target=lambda who=who: results.update({who: agent.run(who, reset=False)}))
        for who in map(str, range(n_runs))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert {who: result.value for who, result in results.items()} == {
        who: who for who in map(str, range(n_runs))
    }
    for who, result in results.items():
        assert [step.step_number for step in result.actions] == list(range(1, n_steps + 2))
        assert told(result)[:-1] == [f"{who} met"] * n_steps
    assert len(agent.runs) == n_runs
    assert agent.memory.steps == tuple(step for run in agent.runs for step in run.steps)
    assert_usable(agent)


def test_overlapping_runs_are_joined_whole_in_order_of_ending() -> None:
    agent = agent_of([final("early"), final("late"), final("last")])
    late = agent.stream("late", reset=False)
    next(late)
    early = agent.run("early", reset=False)
    assert [type(step) for step in agent.memory.steps] == [TaskStep, ActionStep, FinalAnswerStep]
    list(late)
    assert [run.task for run in agent.runs] == ["early", "late"]
    assert agent.memory.steps == (*early.steps, *agent.runs[1].steps)
    assert_valid(agent.memory)
    agent.run("last", reset=False)
    users = [m["content"] for m in model_of(agent).requests[-1].messages if m["role"] == "user"]
    assert users == ["early", "late", "last"]


def test_run_works_on_the_memory_as_it_stood_at_its_start() -> None:
    agent = agent_of([final(0), final(1), final(2)])
    agent.run("before", reset=False)
    waiting = agent.stream("slow", reset=False)
    next(waiting)
    agent.run("quick", reset=False)
    list(waiting)
    users = [m["content"] for m in model_of(agent).requests[-1].messages if m["role"] == "user"]
    assert users == ["before", "slow"]


def test_memory_is_that_of_the_run_started_last_while_it_goes_on() -> None:
    agent = agent_of([final(1), final(2)])
    first = agent.stream("first", reset=False)
    next(first)
    second = agent.stream("second", reset=False)
    next(second)
    assert [step.task for step in agent.memory.steps if isinstance(step, TaskStep)] == ["second"]
    list(first)
    assert [step.task for step in agent.memory.steps if isinstance(step, TaskStep)] == ["second"]
    list(second)
    assert [step.task for step in agent.memory.steps if isinstance(step, TaskStep)] == ["first", "second"]


def test_reset_while_a_run_goes_on_keeps_that_run() -> None:
    agent = agent_of([final(1), final(2)])
    agent.run("before", reset=False)
    events = agent.stream("on", reset=False)
    next(events)
    agent.reset()
    list(events)
    assert [step.task for step in agent.memory.steps if isinstance(step, TaskStep)] == ["on"]
    assert [run.task for run in agent.runs] == ["on"]


# -- model -----------------------------------------------------------------------------------------


def test_model_can_be_changed_between_runs() -> None:
    agent = agent_of([final(1)])
    agent.run("one")
    agent.model = ScriptedModel([final(2)], model_id="other")
    assert agent.run("two").model_id == "other"


def test_model_is_not_chosen_before_it_is_needed() -> None:
    agent = ToolCallingAgent([add])
    assert not agent.has_model
    agent.model = ScriptedModel([final(1)])
    assert agent.has_model
    assert agent.run("one").value == 1


def test_model_without_native_calls_is_told_of_tools_in_the_system_prompt() -> None:
    agent = agent_of(['{"name": "final_answer", "arguments": {"answer": 1}}'], capabilities=AS_TEXT)
    assert agent.run("one").value == 1
    system = model_of(agent).requests[0].messages[0]["content"]
    assert "- add: Add two numbers." in system
    assert "- final_answer:" in system
    assert "- add:" not in agent_of([final(1)]).memory.system_prompt.text


# -- what is given to a run -----------------------------------------------------------------------


@pytest.mark.parametrize("images", ["x.png", 5, Image.new("RGB", (1, 1)), ["x.png"], [None]])
def test_images_that_are_none_are_refused_before_they_enter_memory(images: Any) -> None:
    agent = agent_of([final(1)])
    with pytest.raises(OptionError) as error:
        agent.run("look", images=images)
    told = {
        "x.png": snapshot("images is a list of Pillow images, and not 'x.png'. Write images=[…]."),
        "['x.png']": snapshot("'x.png' is no Pillow image. Open it first: PIL.Image.open(path)."),
    }
    if str(images) in told:
        assert error.value.message == told[str(images)]
    assert agent.memory.steps == ()
    assert agent.run("look").status == "answered"


@pytest.mark.parametrize("names", [{"1x": 2}, {5: 1}, {"a b": 1}, {"for": 1}, "x"])
def test_additional_args_that_no_model_could_refer_to_are_refused(names: Any) -> None:
    agent = agent_of([final(1)])
    with pytest.raises(OptionError):
        agent.run("go", additional_args=names)
    assert agent.memory.steps == ()


def test_memory_that_is_none_is_refused() -> None:
    agent = agent_of([])
    with pytest.raises(OptionError) as error:
        agent.memory = "x"  # type: ignore[assignment]
    assert error.value.message == snapshot(
        "A memory is an AgentMemory, and not 'x'. Write AgentMemory.from_dict(…)."
    )


def test_cut_observation_can_be_looked_into_after_the_memory_was_loaded() -> None:
    def read() -> str:
        """Read."""
        return "head " + "x" * 40_000 + " tail"

    first = agent_of([calls(("read", {})), final(1)], read)
    first.run("read")
    assert "obs_1" in told(first.result)[0]
    again = agent_of([calls(("peek", {"name": "obs_1", "start": 40_000})), final(2)], read)
    again.memory = AgentMemory.from_dict(json.loads(json.dumps(first.memory.to_dict())))
    again.run("and the end?", reset=False)
    assert told(again.result)[0] == snapshot("""\
obs_1: characters 40000 to 40010 of 40010.
xxxxx tail\
""")


def test_type_of_the_answer_beside_a_final_answer_of_ones_own_is_refused() -> None:
    def final_answer(x: int) -> int:
        """Answer.

        Args:
            x: a number
        """
        return 2 * x

    agent = agent_of([calls(("final_answer", {"x": 4}))], final_answer, answer_type=str)
    result = agent.run("go")
    assert (result.status, result.error and result.error.message) == snapshot(
        (
            "failed",
            "answer_type is given, and so is a tool final_answer of your own, which has its own types. Leave out one of them.",
        )
    )
    assert model_of(agent).requests == []


def test_final_answer_of_ones_own_stands_in_for_ours() -> None:
    def final_answer(x: int) -> int:
        """Answer.

        Args:
            x: a number
        """
        return 2 * x

    agent = agent_of([calls(("final_answer", {"x": 4}))], final_answer)
    assert agent.run("go").value == 8
    assert [offered["name"] for offered in model_of(agent).requests[0].tools] == ["final_answer"]
