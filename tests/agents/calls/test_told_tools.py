"""An agent with many tools: what each request tells of them, that the rest can be called, and that previews say the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic import CodeAgent, ScriptedModel, ToolCallingAgent
from agent_magic.core.events import StepStarted
from agent_magic.core.memory import AgentMemory
from agent_magic.models.model import Capabilities

TASK = "What is the mean price in Oslo?"
NAMES = ("mean_price", "weather", "book_flight", "cancel_flight", *(f"job_{n}" for n in range(20)))


def function(name: str) -> Callable[..., Any]:
    def made(x: int) -> str:
        return f"{made.__name__} of {x}"

    made.__name__ = name
    made.__doc__ = f"{name.replace('_', ' ').capitalize()}.\n\nArgs:\n    x: a number\n"
    return made


TOOLS = [function(name) for name in NAMES]
FIRST = ["mean_price", "weather", "book_flight", "cancel_flight", "job_0", "job_1", "job_2", "job_3"]
AS_TEXT = '{{"name": "{0}", "arguments": {{{1}}}}}'
OURS = ["final_answer", "find_tools", "peek"]


def call(*calls: tuple[str, Any]) -> dict[str, Any]:
    return ScriptedModel.calls(
        *((name, {"x": value} if isinstance(value, int) else value) for name, value in calls)
    )


def told(request: Any) -> list[str]:
    return [tool["name"] for tool in request.tools]


def test_as_many_as_twenty_tools_are_all_told() -> None:
    model = ScriptedModel([ScriptedModel.final("x")])
    ToolCallingAgent(tools=TOOLS[:20], model=model).run(TASK)
    assert told(model.requests[0]) == [*NAMES[:20], "final_answer"]


def test_of_more_tools_the_likely_ones_are_told_and_the_list_grows_at_its_end() -> None:
    model = ScriptedModel(
        [
            call(("mean_price", 1), ("find_tools", {"query": "job 17"})),
            call(("job_12", 5)),
            call(("find_tools", {"query": "the flights"})),
            ScriptedModel.final("x"),
        ]
    )
    agent = ToolCallingAgent(tools=TOOLS, model=model)
    result = agent.run(TASK)
    told_1, told_2, told_3, told_4 = map(told, model.requests)
    assert told_1 == [*FIRST, *OURS]
    assert told_2[: len(told_1)] == told_1
    assert told_2[len(told_1)] == "job_17"
    assert told_3 == [*told_2, "job_12"]
    assert told_4 == told_3  # what it found is told already
    # a tool that was not told can be called all the same
    assert result.actions[1].tool_results[0].observation == "job_12 of 5"
    assert result.actions[2].tool_results[0].observation == snapshot("""\
Found, and ready to be called:
- book_flight: Book flight.
- cancel_flight: Cancel flight.\
""")
    assert model.requests[0].messages[0] == model.requests[-1].messages[0]


@pytest.mark.parametrize("native_tools", [True, False])
def test_preview_tells_what_is_sent(native_tools: bool) -> None:
    model = ScriptedModel(
        [
            call(("find_tools", {"query": "job 17"}))
            if native_tools
            else AS_TEXT.format("find_tools", '"query": "job 17"'),
            ScriptedModel.final(1) if native_tools else AS_TEXT.format("final_answer", '"answer": 1'),
        ],
        capabilities=Capabilities(tools=native_tools),
    )
    agent = ToolCallingAgent(tools=TOOLS, model=model)
    foreseen = [agent.preview(task=TASK)]
    for event in agent.stream(TASK):
        if isinstance(event, StepStarted) and event.step_number == 2:
            foreseen = [*foreseen, agent.preview()]
    for preview, sent in zip(foreseen, model.requests, strict=True):
        assert (list(preview.messages), list(preview.tools)) == (sent.messages, sent.tools)
    assert agent.preview(2).is_exact
    assert ("job_17" in [tool["name"] for tool in foreseen[1].tools]) is native_tools


def test_model_that_reads_its_tools_in_the_prompt_is_told_of_found_ones_in_the_result() -> None:
    model = ScriptedModel(
        [
            AS_TEXT.format("find_tools", '"query": "job 17"'),
            AS_TEXT.format("job_17", '"x": 2'),
            AS_TEXT.format("final_answer", '"answer": 1'),
        ],
        capabilities=Capabilities(tools=False),
    )
    result = ToolCallingAgent(tools=TOOLS, model=model).run(TASK)
    prompts = {request.messages[0]["content"] for request in model.requests}
    assert len(prompts) == 1
    assert "- job_17:" not in prompts.pop()
    assert (
        "- job_17: Job 17.\n  Arguments, as JSON Schema: {" in result.actions[0].tool_results[0].observation
    )
    assert result.actions[1].tool_results[0].observation == "job_17 of 2"


def test_code_reads_the_likely_signatures_and_can_call_all_functions() -> None:
    model = ScriptedModel(
        [
            "<code>\nprint(find_tools('job 17'))\nprint(job_9(x=1))\n</code>",
            "<code>final_answer(job_17(x=2))</code>",
        ]
    )
    agent = CodeAgent(tools=TOOLS, model=model)
    foreseen = agent.preview(task=TASK)
    result = agent.run(TASK)
    assert result.value == "job_17 of 2"
    first, second = (request.messages[0]["content"] for request in model.requests)
    assert first == second == foreseen.messages[0]["content"]
    assert [name for name in (*NAMES, *OURS) if f"def {name}(" in first] == [
        *FIRST,
        "final_answer",
        "find_tools",
    ]
    assert result.actions[0].tool_results[0].observation == snapshot('''\
Found, and ready to be called:
def job_17(x: int) -> str:
    """Job 17.

    Args:
        x: a number
    """
job_9 of 1\
''')


def test_next_task_brings_its_own_tools_and_keeps_those_that_were_found() -> None:
    model = ScriptedModel(
        [
            call(("find_tools", {"query": "job 17"})),
            ScriptedModel.final(1),
            ScriptedModel.final(2),
            ScriptedModel.final(3),
        ]
    )
    agent = ToolCallingAgent(tools=TOOLS, model=model)
    agent.run(TASK)
    before = told(model.requests[1])
    agent.run("Do job_19 now.", reset=False)
    assert told(model.requests[2])[: len(before)] == before
    assert "job_19" in told(model.requests[2])[len(before) :]
    # as it is read from the memory, one that was saved tells the same
    again = ToolCallingAgent(tools=TOOLS, model=model)
    again.memory = AgentMemory.from_dict(json.loads(json.dumps(agent.memory.to_dict())))
    assert [tool["name"] for tool in again.preview().tools] == told(model.requests[2])
    agent.run(TASK)
    assert told(model.requests[3]) == [*FIRST, *OURS]


def test_plan_is_made_with_the_tools_that_are_told() -> None:
    model = ScriptedModel(["Known: nothing.", ScriptedModel.final(1)])
    ToolCallingAgent(tools=TOOLS, model=model, planning_interval=5).run(TASK)
    prompt = model.requests[0].messages[0]["content"]
    assert "- find_tools(query):" in prompt
    assert "- job_3(x):" in prompt
    assert "- job_4(x):" not in prompt


def test_unknown_tool_is_told_with_the_nearest_and_not_with_all_names() -> None:
    many = [function(f"count_things_of_kind_{n}") for n in range(300)]
    model = ScriptedModel([call(("count_things_of_kind_3000", 1)), ScriptedModel.final(1)])
    result = ToolCallingAgent(tools=many, model=model).run(TASK)
    told_error = result.actions[0].tool_results[0].to_text()
    assert len(told_error) < 1_500
    assert "and 263 more" in told_error
    assert told_error.endswith('Call count_things_of_kind_30 with {"x": <integer>}.')


def test_find_tools_is_never_asked_about() -> None:
    model = ScriptedModel([call(("find_tools", {"query": "job 17"})), ScriptedModel.final(1)])
    asked: list[str] = []

    def ask(call: Any) -> bool:
        asked.append(call.name)
        return True

    ToolCallingAgent(tools=TOOLS, model=model, approve_call=ask).run(TASK)
    assert asked == []


def test_own_function_of_that_name_goes_before() -> None:
    own = function("find_tools")
    model = ScriptedModel([call(("find_tools", 4)), ScriptedModel.final(1)])
    result = ToolCallingAgent(tools=[*TOOLS, own], model=model).run(TASK)
    assert "find_tools" in told(model.requests[0])
    assert result.actions[0].tool_results[0].observation == "find_tools of 4"
