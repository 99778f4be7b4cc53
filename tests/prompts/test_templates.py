"""Rendered prompts as prose, and what a template may not do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import OptionError, PromptError
from agent_magic.core.messages import ToolExample, ToolSchema
from agent_magic.prompts.templates import PromptTemplates

_FILE = "toolcalling_agent.yaml"
_PROMPTS = PromptTemplates.load(_FILE)
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
_TOLD_AT_LENGTH = ToolSchema(
    name="trend",
    description="Slope of the price.\n\nBy least squares, over all years.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}, "years": {"type": "array"}}},
)


def _system(**changes: Any) -> str:
    variables: dict[str, Any] = {
        "tools": [],
        "native_tools": True,
        "managed_agents": [],
        "custom_instructions": "",
        **changes,
    }
    return _PROMPTS.render("system_prompt", variables)


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


def _planning(**changes: Any) -> str:
    return _PROMPTS.render(
        "planning_system",
        {"tools": [_MEAN_PRICE, _TOLD_AT_LENGTH], "managed_agents": [], "custom_instructions": "", **changes},
    )


def test_planning_system_lists_tools_by_name_and_parameters() -> None:
    assert _planning() == snapshot("""\
You plan for an agent inside a Python notebook. The agent solves the person's task by calling tools, step by step, and reads each result. You write the plan that it goes by. Call no tool and write no code now: nothing is run.

The agent's tools:
- mean_price(city): Mean price in a city, in <EUR>.
- trend(city, years): Slope of the price.

Write this and nothing else, in short lines:
Known: what the task and the results so far tell.
To find out: what the answer still needs.
Steps: a numbered list, one line for each step, each of them something that one of these tools can do. The last step gives the answer with `final_answer`.\
""")


def test_planning_system_ends_with_the_persons_instructions() -> None:
    instructed = _planning(custom_instructions="Answer in German.")
    assert instructed == _planning() + "\n\nThe person's instructions to the agent:\nAnswer in German."


def test_planning_system_takes_a_tool_without_parameters() -> None:
    bare = ToolSchema(name="count", description="Count all rows.", parameters={"type": "object"})
    assert "\n- count(): Count all rows.\n" in _planning(tools=[bare])


@pytest.mark.parametrize("tools", [[], [_MEAN_PRICE], [_MEAN_PRICE, _COUNT]])
def test_planning_system_has_no_stray_blank_lines(tools: list[ToolSchema]) -> None:
    text = _planning(tools=tools, custom_instructions="Be brief.")
    assert "\n\n\n" not in text
    assert all(line == line.rstrip() for line in text.split("\n"))


def test_first_plan_says_how_many_steps_there_are() -> None:
    assert _PROMPTS.render("first_plan", {"max_steps": 20, "remaining_steps": 20}) == snapshot(
        "Write the plan for this task now. 20 steps are available, the one that gives the answer included; plan no more than the task needs."
    )


def test_first_plan_is_grammatical_for_one_step() -> None:
    assert _PROMPTS.render("first_plan", {"max_steps": 1, "remaining_steps": 1}) == snapshot(
        "Write the plan for this task now. 1 step is available, so it must give the answer."
    )


def test_replan_says_how_many_steps_are_left() -> None:
    assert _PROMPTS.render("replan", {"max_steps": 20, "remaining_steps": 16, "steps_done": 4}) == snapshot(
        "Look at what has come of the steps above and write the plan anew, for what is still to do. Keep what holds, change what does not, and leave out what is done. 16 steps are left, the one that gives the answer included."
    )


def test_replan_is_grammatical_for_one_step() -> None:
    assert _PROMPTS.render("replan", {"max_steps": 20, "remaining_steps": 1, "steps_done": 19}) == snapshot(
        "Look at what has come of the steps above and write the plan anew, for what is still to do. Keep what holds, change what does not, and leave out what is done. 1 step is left, so it must give the answer."
    )


@pytest.mark.parametrize("left", [1, 2, 17])
def test_replan_has_the_number_of_steps_left_as_its_only_number(left: int) -> None:
    text = _PROMPTS.render("replan", {"max_steps": 20, "remaining_steps": left, "steps_done": 20 - left})
    assert re.findall(r"[0-9]+", text) == [str(left)]


def test_plan_handover_gives_the_turn_back_to_acting() -> None:
    assert _PROMPTS.render("plan_handover", {}) == snapshot(
        "Go on and carry out this plan: make its next tool call now. Where a result does not fit the plan, go by the result."
    )


def test_resume_says_why_the_run_had_stopped() -> None:
    whys = ("interrupted", "max_steps", "budget", "failed")
    assert [_PROMPTS.render("resume", {"why": why, "remaining_steps": 5}) for why in whys] == snapshot(
        [
            "The run was interrupted. It goes on now, with 5 more steps. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer.",
            "The run had used all its steps. It goes on now, with 5 more steps. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer.",
            "The run had used up its budget. It goes on now, with 5 more steps. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer.",
            "The run had stopped after a failure. It goes on now, with 5 more steps. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer.",
        ]
    )


def test_resume_is_grammatical_for_one_step() -> None:
    assert _PROMPTS.render("resume", {"why": "interrupted", "remaining_steps": 1}) == snapshot(
        "The run was interrupted. It goes on now, with 1 more step. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer."
    )


def test_final_request_says_how_many_steps_were_used() -> None:
    assert _PROMPTS.render("final_request", {"max_steps": 6}) == snapshot(
        "You have used all 6 steps of this run and can call no tool any more. Give the best answer that what you know allows, in plain text, and say what is missing."
    )


def test_final_request_is_grammatical_for_one_step() -> None:
    assert _PROMPTS.render("final_request", {"max_steps": 1, "answer_schema": None}) == snapshot(
        "You have used the only step of this run and can call no tool any more. Give the best answer that what you know allows, in plain text, and say what is missing."
    )


def test_final_request_asks_for_json_of_the_answers_type() -> None:
    schema = {"type": "string", "enum": ["Tromsø", "<none>"]}
    assert _PROMPTS.render("final_request", {"max_steps": 6, "answer_schema": schema}) == snapshot(
        'You have used all 6 steps of this run and can call no tool any more. Give the best answer that what you know allows, as JSON alone, with no text before or after it. It must fit this JSON Schema: {"type": "string", "enum": ["Tromsø", "<none>"]}'
    )


def test_data_never_becomes_template_source() -> None:
    evil = "{{ 7 * 7 }} {% for x in y %} {# gone #} {{ custom_instructions.__class__ }}"
    tool = ToolSchema(name="evil", description=evil, parameters={"type": "object"})
    text = _system(native_tools=False, tools=[tool], custom_instructions=evil)
    assert text.count(evil) == 2


def test_missing_variable_names_file_prompt_and_variable() -> None:
    with pytest.raises(PromptError) as caught:
        _PROMPTS.render("system_prompt", {"native_tools": True, "tools": []})
    assert caught.value.message == snapshot(
        "toolcalling_agent.yaml, prompt 'system_prompt': 'managed_agents' is undefined. Given were: native_tools, tools. Give that variable or take it out of the template."
    )


def test_missing_part_of_a_variable_names_it() -> None:
    with pytest.raises(PromptError) as caught:
        _system(native_tools=False, tools=[{"name": "count", "description": "Count.", "parameters": {}}])
    assert caught.value.message == snapshot(
        "toolcalling_agent.yaml, prompt 'system_prompt': 'dict object' has no attribute 'examples'. Given were: custom_instructions, managed_agents, native_tools, tools. Give that variable or take it out of the template."
    )


def test_unknown_prompt_names_those_that_there_are() -> None:
    with pytest.raises(PromptError) as caught:
        _PROMPTS.render("sytem_prompt", {})
    assert caught.value.message == snapshot(
        "toolcalling_agent.yaml has no prompt 'sytem_prompt'; it has: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report."
    )


def test_load_gives_the_same_object_each_time() -> None:
    assert PromptTemplates.load(_FILE) is _PROMPTS


def test_override_replaces_a_part_and_keeps_the_rest() -> None:
    own = _PROMPTS.override({"plan_handover": "Weiter so."})
    assert own.render("plan_handover", {}) == "Weiter so."
    assert own.render("final_request", {"max_steps": 6}) == _PROMPTS.render("final_request", {"max_steps": 6})
    assert _PROMPTS.render("plan_handover", {}) != "Weiter so."


def test_override_reads_a_yaml_file_given_by_path_or_name(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("plan_handover: Größe zählt.\n", encoding="utf-8")
    assert _PROMPTS.override(file).render("plan_handover", {}) == "Größe zählt."
    assert _PROMPTS.override(str(file)).render("plan_handover", {}) == "Größe zählt."


def test_sources_say_where_each_prompt_is_written(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("replan: Again.", encoding="utf-8")
    own = _PROMPTS.override(file).override({"plan_handover": "Go on."})
    assert {key: source.replace(str(file), "my.yaml") for key, source in own.sources.items()} == snapshot(
        {
            "system_prompt": "toolcalling_agent.yaml",
            "planning_system": "toolcalling_agent.yaml",
            "first_plan": "toolcalling_agent.yaml",
            "replan": "my.yaml",
            "plan_handover": "given in Python",
            "resume": "toolcalling_agent.yaml",
            "final_request": "toolcalling_agent.yaml",
            "managed_report": "toolcalling_agent.yaml",
        }
    )


def test_override_of_nothing_changes_nothing() -> None:
    assert _PROMPTS.override({}).sources == _PROMPTS.sources


def test_missing_variable_of_an_own_prompt_names_the_own_file(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("replan: '{{ left }} steps'", encoding="utf-8")
    with pytest.raises(PromptError) as caught:
        _PROMPTS.override(file).render("replan", {"remaining_steps": 3})
    assert caught.value.message.replace(str(file), "my.yaml") == snapshot(
        "my.yaml, prompt 'replan': 'left' is undefined. Given were: remaining_steps. Give that variable or take it out of the template."
    )


def test_missing_variable_of_a_prompt_given_in_python_names_the_prompt() -> None:
    with pytest.raises(PromptError) as caught:
        _PROMPTS.override({"replan": "{{ left }}"}).render("replan", {"remaining_steps": 3})
    assert caught.value.message == snapshot(
        "Prompts given in Python, prompt 'replan': 'left' is undefined. Given were: remaining_steps. Give that variable or take it out of the template."
    )


@pytest.mark.parametrize(
    "template",
    ["{{ ''.__class__.__mro__ }}", "{{ rows.append(1) }}", "{% include 'secrets.txt' %}", "{{ 1 / 0 }}"],
)
def test_template_that_fails_or_may_not_is_a_prompt_error(template: str) -> None:
    with pytest.raises(PromptError, match=r"^Prompts given in Python, prompt 'replan'"):
        _PROMPTS.override({"replan": template}).render("replan", {"rows": []})


def test_failing_template_says_what_it_raised() -> None:
    with pytest.raises(PromptError) as caught:
        _PROMPTS.override({"replan": "{{ 1 / 0 }}"}).render("replan", {})
    assert caught.value.message == snapshot(
        "Prompts given in Python, prompt 'replan' cannot be filled in: ZeroDivisionError: division by zero. Change that part of the template."
    )


def test_value_with_template_marks_stays_text_in_an_own_prompt() -> None:
    own = _PROMPTS.override({"resume": "{{ why }}"})
    assert own.render("resume", {"why": "{{ 7 * 7 }}"}) == "{{ 7 * 7 }}"


def _refused(source: Any) -> str:
    with pytest.raises(OptionError) as caught:
        _PROMPTS.override(source)
    return caught.value.message


def test_override_refuses_an_unknown_key() -> None:
    assert _refused({"sytem_prompt": "x"}) == snapshot("""\
Prompts given in Python, prompt 'sytem_prompt': there is no prompt of that name in toolcalling_agent.yaml.
Nearest: 'system_prompt'. Write that or take it out.\
""")


def test_override_refuses_an_unknown_key_that_is_near_to_none() -> None:
    assert _refused({5: "x"}) == snapshot("""\
Prompts given in Python, prompt 5: there is no prompt of that name in toolcalling_agent.yaml.
Write one of: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report; or take it out.\
""")


def test_override_refuses_what_is_no_text() -> None:
    assert _refused({"replan": ["a", "b"]}) == snapshot("""\
Prompts given in Python, prompt 'replan' is ['a', 'b'], of type list; expected text.
Give a str.\
""")


def test_override_refuses_what_is_no_text_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("replan: 12\n", encoding="utf-8")
    assert _refused(file).replace(str(file), "my.yaml") == snapshot("""\
my.yaml, prompt 'replan' is 12, of type int; expected text.
Write "replan: |-" and the text below it, indented.\
""")


def test_override_refuses_a_syntax_error_and_shows_its_line() -> None:
    assert _refused({"replan": "Steps:\n{% for x in %}\n{{ x }}"}) == snapshot("""\
Prompts given in Python, prompt 'replan', line 2 of the prompt: '{% for x in %}' is no Jinja template: Expected an expression, got 'end of statement block'.
Mend that line; braces that are meant as text are written {{ '{{' }}.\
""")


def test_override_refuses_an_unclosed_block() -> None:
    assert _refused({"replan": "Look.\n{% if a %}\nb"}) == snapshot("""\
Prompts given in Python, prompt 'replan', line 2 of the prompt: '{% if a %}' is no Jinja template: Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'. The innermost block that needs to be closed is 'if'.
Mend that line; braces that are meant as text are written {{ '{{' }}.\
""")


def test_override_refuses_a_file_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "gone.yaml"
    assert _refused(file).replace(str(file), "gone.yaml") == snapshot("""\
The prompts' file 'gone.yaml' cannot be read: No such file or directory.
Give the path of a YAML file in UTF-8 with any of: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report.\
""")


def test_override_refuses_a_file_that_is_no_yaml(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("replan: x\nresume: [a\n", encoding="utf-8")
    assert _refused(file).replace(str(file), "my.yaml") == snapshot("""\
The prompts' file 'my.yaml' is no YAML: line 3, expected ',' or ']', but got '<stream end>'.
Give the path of a YAML file in UTF-8 with any of: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report.\
""")


def test_override_refuses_a_file_that_is_no_mapping(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("- replan\n", encoding="utf-8")
    assert _refused(file).replace(str(file), "my.yaml") == snapshot("""\
The prompts' file 'my.yaml' holds ['replan'] and no mapping of keys to texts.
Give the path of a YAML file in UTF-8 with any of: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report.\
""")


def test_override_refuses_a_file_that_is_no_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_bytes(b"replan: \xff\n")
    assert _refused(file).replace(str(file), "my.yaml") == snapshot("""\
The prompts' file 'my.yaml' is no YAML: byte 8 is no UTF-8.
Give the path of a YAML file in UTF-8 with any of: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report.\
""")


def test_override_makes_no_object_of_a_yaml_tag(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("replan: !!python/object/apply:os.getcwd []\n", encoding="utf-8")
    assert _refused(file).replace(str(file), "my.yaml") == snapshot("""\
The prompts' file 'my.yaml' is no YAML: line 1, could not determine a constructor for the tag 'tag:yaml.org,2002:python/object/apply:os.getcwd'.
Give the path of a YAML file in UTF-8 with any of: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report.\
""")


def test_override_refuses_another_type_of_source() -> None:
    assert _refused(5) == snapshot("""\
Prompts cannot be read from 5, which is of type int.
Give the path of a YAML file, or a mapping with any of: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report.\
""")
