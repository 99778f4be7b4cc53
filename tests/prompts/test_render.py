"""Rendered prompts as prose, and what a template may not do."""

from __future__ import annotations

from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import PromptError
from agent_magic.core.messages import ToolExample, ToolSchema
from agent_magic.prompts.render import render_prompt

_FILE = "toolcalling_agent.yaml"
_MEAN_PRICE = ToolSchema(
    name="mean_price",
    description="Mean price in a city, in <EUR>.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Größe & name."}},
        "required": ["city"],
    },
    examples=(ToolExample(task="How dear is Oslo?", arguments={"city": "Oslo"}),),
)
_COUNT = ToolSchema(
    name="count", description="Count all rows.", parameters={"type": "object", "properties": {}}
)


def _system(**changes: Any) -> str:
    variables: dict[str, Any] = {"tools": [], "native_tools": True, "custom_instructions": "", **changes}
    return render_prompt(_FILE, "system_prompt", variables)


def test_system_prompt_for_a_model_with_native_calls() -> None:
    assert _system() == snapshot("""\
You are an agent inside a Python notebook. You solve the person's task with the notebook's own functions, which are your tools, and its own variables.

How a task goes: you call a tool, you are told what came of it, and so on until you know the answer. Then you call `final_answer` once, alone.

Rules:
- Answer from what the tools returned, never from memory of such data. Do not invent numbers, names or rows.
- Call only the tools that are listed, with all the arguments that they require, each of its own type.
- A variable of the notebook is referred to as "@name", with the quotes. It may stand for any argument, also for the answer: final_answer("@name") gives the person the object itself.
- A result that is too large to show is kept in a variable; its name is told. Hand it on as "@name".
- Calls that do not depend on each other can be made in one turn. `final_answer` is never made together with another call.
- If a call fails, read what is said and do that one thing. Do not repeat the same call.\
""")


def test_system_prompt_for_a_model_without_native_calls_lists_tools_and_form() -> None:
    assert _system(native_tools=False, tools=[_MEAN_PRICE, _COUNT]) == snapshot("""\
You are an agent inside a Python notebook. You solve the person's task with the notebook's own functions, which are your tools, and its own variables.

How a task goes: you call a tool, you are told what came of it, and so on until you know the answer. Then you call `final_answer` once, alone.

Rules:
- Answer from what the tools returned, never from memory of such data. Do not invent numbers, names or rows.
- Call only the tools that are listed, with all the arguments that they require, each of its own type.
- A variable of the notebook is referred to as "@name", with the quotes. It may stand for any argument, also for the answer: final_answer("@name") gives the person the object itself.
- A result that is too large to show is kept in a variable; its name is told. Hand it on as "@name".
- Calls that do not depend on each other can be made in one turn. `final_answer` is never made together with another call.
- If a call fails, read what is said and do that one thing. Do not repeat the same call.

Your tools:
- mean_price: Mean price in a city, in <EUR>.
  Arguments, as JSON Schema: {"type": "object", "properties": {"city": {"type": "string", "description": "Größe & name."}}, "required": ["city"]}
  Example: How dear is Oslo? -> {"name": "mean_price", "arguments": {"city": "Oslo"}}
- count: Count all rows.
  Arguments, as JSON Schema: {"type": "object", "properties": {}}

To call a tool, write one JSON object and nothing after it:
{"name": "tool_name", "arguments": {"argument": "value"}}
Several calls are several such objects, one a line. You are then told each result after the word Observation.

A whole task looks like this. Person: How many rows has @trips?
You: {"name": "count_rows", "arguments": {"table": "@trips"}}
Observation: 1204
You: {"name": "final_answer", "arguments": {"answer": 1204}}\
""")


def test_system_prompt_ends_with_the_persons_instructions() -> None:
    plain, instructed = _system(), _system(custom_instructions="Answer in German.\nUse {braces}.")
    assert instructed == plain + "\n\nThe person's instructions:\nAnswer in German.\nUse {braces}."


def test_system_prompt_begins_alike_when_a_tool_is_added_at_the_end() -> None:
    one = _system(native_tools=False, tools=[_MEAN_PRICE])
    two = _system(native_tools=False, tools=[_MEAN_PRICE, _COUNT])
    assert two.startswith(one[: one.index("\n\nTo call a tool")])


@pytest.mark.parametrize("native_tools", [True, False])
def test_system_prompt_has_no_stray_blank_lines(native_tools: bool) -> None:
    text = _system(native_tools=native_tools, tools=[_MEAN_PRICE, _COUNT], custom_instructions="Be brief.")
    assert "\n\n\n" not in text
    assert all(line == line.rstrip() for line in text.split("\n"))
    assert text == text.strip()


def test_final_request_says_how_many_steps_were_used() -> None:
    assert render_prompt(_FILE, "final_request", {"max_steps": 6}) == snapshot(
        "You have used all 6 steps of this run and can call no tool any more. Give the best answer that what you know allows, in plain text, and say what is missing."
    )


def test_data_never_becomes_template_source() -> None:
    evil = "{{ 7 * 7 }} {% for x in y %} {# gone #} {{ custom_instructions.__class__ }}"
    tool = ToolSchema(name="evil", description=evil, parameters={"type": "object"})
    text = _system(native_tools=False, tools=[tool], custom_instructions=evil)
    assert text.count(evil) == 2


def test_missing_variable_names_file_prompt_and_variable() -> None:
    with pytest.raises(PromptError) as caught:
        render_prompt(_FILE, "system_prompt", {"native_tools": True, "tools": []})
    assert caught.value.message == snapshot(
        "toolcalling_agent.yaml, prompt 'system_prompt': 'custom_instructions' is undefined. Given were: native_tools, tools. Give that variable or take it out of the template."
    )


def test_missing_part_of_a_variable_names_it() -> None:
    with pytest.raises(PromptError) as caught:
        _system(native_tools=False, tools=[{"name": "count", "description": "Count.", "parameters": {}}])
    assert caught.value.message == snapshot(
        "toolcalling_agent.yaml, prompt 'system_prompt': 'dict object' has no attribute 'examples'. Given were: custom_instructions, native_tools, tools. Give that variable or take it out of the template."
    )


def test_unknown_prompt_names_those_that_there_are() -> None:
    with pytest.raises(PromptError) as caught:
        render_prompt(_FILE, "sytem_prompt", {})
    assert caught.value.message == snapshot(
        "toolcalling_agent.yaml has no prompt 'sytem_prompt'; it has: system_prompt, final_request."
    )
