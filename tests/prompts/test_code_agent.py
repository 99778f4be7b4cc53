"""Rendered prompts of the agent that writes code, as prose."""

from __future__ import annotations

import re
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import PromptError
from agent_magic.core.messages import ToolSchema
from agent_magic.prompts.templates import PromptTemplates

_PROMPTS = PromptTemplates.load("code_agent.yaml")
_MEAN_PRICE = '''\
def mean_price(city: str) -> float:
    """Mean price in a city, in <EUR>.

    Args:
        city: Größe & name
    """'''
_FINAL_ANSWER = '''\
def final_answer(answer: Any) -> NoReturn:
    """Give the answer and end."""'''
_SCHEMA = ToolSchema(
    name="mean_price",
    description="Mean price in a city.\n\nIn EUR.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}, "since": {"type": "string"}}},
)


def _system(**changes: Any) -> str:
    variables: dict[str, Any] = {
        "tools": [_MEAN_PRICE, _FINAL_ANSWER],
        "managed_agents": [],
        "custom_instructions": "",
        "authorized_imports": ["math", "numpy"],
        "writes": "new",
        "structured": False,
        "step_timeout_s": 30.0,
        **changes,
    }
    return _PROMPTS.render("system_prompt", variables)


def _changed_lines(**changes: Any) -> list[str]:
    """The lines that are not in the prompt as it is by default."""
    usual = _system().split("\n")
    return [line for line in _system(**changes).split("\n") if line not in usual]


def test_prompts_have_the_keys_of_those_for_tool_calls() -> None:
    assert list(_PROMPTS.sources) == list(PromptTemplates.load("toolcalling_agent.yaml").sources)


def test_system_prompt_asks_for_thought_and_tags() -> None:
    assert _system() == snapshot('''\
You are an agent inside a Python notebook. You solve the person's task by writing Python, which runs in that notebook, step by step.

How a step goes: you think in a few sentences, then write one block of Python between <code> and </code>, then stop. You are told what it printed and the value of its last line, after the word Observation. So it goes on until you know the answer. Then your code calls final_answer(value), which ends the task.

Rules:
- The notebook's variables are there under their own names: `@df` in the task is the variable df. In code no @ is written.
- What your code makes is there in your next step. It stays in the notebook for the person too, so give it telling names.
- The person's variables are not yours: do not rebind, delete or change them in place. Work on a copy under a new name.
- Tools are functions: call them with keyword arguments; they return Python values, and one block may call several. Do not define or rebind these names.
- Print what you need to see. What is too long is cut; where a name such as obs_1 is told, it holds the whole text.
- Answer from what ran, never from memory of such data; do not invent numbers, names or rows.
- final_answer takes any Python object: give the object itself, not a text about it.
- These modules can be imported: math, numpy. There is no input(), no %magic and no !shell.
- The code of one step may run for 30 s.
- If a step fails, the error names the line. Correct that; do not run the same code again.

Your tools:

def mean_price(city: str) -> float:
    """Mean price in a city, in <EUR>.

    Args:
        city: Größe & name
    """

def final_answer(answer: Any) -> NoReturn:
    """Give the answer and end."""

A whole task looks like this. Person: Which city of @trips has the longest mean trip?
You: I look at the table first.
<code>
print(trips.columns.tolist(), len(trips))
</code>
Observation:
['city', 'km'] 1204
You: Now the mean of each city, and the largest.
<code>
mean_km = trips.groupby('city')['km'].mean()
print(mean_km.nlargest(2).to_dict())
</code>
Observation:
{'Oslo': 18.2, 'Bergen': 11.9}
You: Oslo it is.
<code>
final_answer(mean_km.idxmax())
</code>\
''')


def test_system_prompt_asks_for_json_where_replies_have_a_schema() -> None:
    assert _system(structured=True) == snapshot('''\
You are an agent inside a Python notebook. You solve the person's task by writing Python, which runs in that notebook, step by step.

How a step goes: you reply with one JSON object, {"thought": "…", "code": "…"}: what you are about to do in a few sentences, and the Python that does it. You are told what it printed and the value of its last line, after the word Observation. So it goes on until you know the answer. Then your code calls final_answer(value), which ends the task.

Rules:
- The notebook's variables are there under their own names: `@df` in the task is the variable df. In code no @ is written.
- What your code makes is there in your next step. It stays in the notebook for the person too, so give it telling names.
- The person's variables are not yours: do not rebind, delete or change them in place. Work on a copy under a new name.
- Tools are functions: call them with keyword arguments; they return Python values, and one block may call several. Do not define or rebind these names.
- Print what you need to see. What is too long is cut; where a name such as obs_1 is told, it holds the whole text.
- Answer from what ran, never from memory of such data; do not invent numbers, names or rows.
- final_answer takes any Python object: give the object itself, not a text about it.
- These modules can be imported: math, numpy. There is no input(), no %magic and no !shell.
- The code of one step may run for 30 s.
- If a step fails, the error names the line. Correct that; do not run the same code again.

Your tools:

def mean_price(city: str) -> float:
    """Mean price in a city, in <EUR>.

    Args:
        city: Größe & name
    """

def final_answer(answer: Any) -> NoReturn:
    """Give the answer and end."""

A whole task looks like this. Person: Which city of @trips has the longest mean trip?
You: {"thought": "I look at the table first.", "code": "print(trips.columns.tolist(), len(trips))"}
Observation:
['city', 'km'] 1204
You: {"thought": "Now the mean of each city, and the largest.", "code": "mean_km = trips.groupby('city')['km'].mean()\\nprint(mean_km.nlargest(2).to_dict())"}
Observation:
{'Oslo': 18.2, 'Bergen': 11.9}
You: {"thought": "Oslo it is.", "code": "final_answer(mean_km.idxmax())"}\
''')


def test_system_prompt_is_short() -> None:
    assert len(_system(tools=[])) < 2_500
    assert len(_system(tools=[], structured=True)) < 2_500


def test_system_prompt_says_what_may_be_done_to_the_persons_variables() -> None:
    assert {writes: _changed_lines(writes=writes) for writes in ("new", "none", "all")} == snapshot(
        {
            "new": [],
            "none": [
                "- What your code makes is there in your next step. Its names are yours alone; the person gets the answer."
            ],
            "all": ["- Change or rebind the person's variables only where the task asks for it."],
        }
    )


def test_system_prompt_says_what_may_be_imported() -> None:
    assert [
        _changed_lines(authorized_imports=names) for names in (["re"], ["*"], ["math", "*"], [])
    ] == snapshot(
        [
            ["- These modules can be imported: re. There is no input(), no %magic and no !shell."],
            ["- Any module can be imported. There is no input(), no %magic and no !shell."],
            ["- Any module can be imported. There is no input(), no %magic and no !shell."],
            ["- No module can be imported. There is no input(), no %magic and no !shell."],
        ]
    )


def test_system_prompt_says_how_long_a_step_may_run() -> None:
    assert [_changed_lines(step_timeout_s=limit) for limit in (0.5, 120, 90.0)] == snapshot(
        [
            ["- The code of one step may run for 0.5 s."],
            ["- The code of one step may run for 120 s."],
            ["- The code of one step may run for 90 s."],
        ]
    )
    assert "may run" not in _system(step_timeout_s=None)


def test_system_prompt_ends_with_the_persons_instructions() -> None:
    plain, instructed = _system(), _system(custom_instructions="Answer in German.\nUse {braces}.")
    assert instructed == plain + "\n\nThe person's instructions:\nAnswer in German.\nUse {braces}."


def test_system_prompt_begins_alike_when_a_tool_is_added_at_the_end() -> None:
    one, two = _system(tools=[_MEAN_PRICE]), _system(tools=[_MEAN_PRICE, _FINAL_ANSWER])
    assert two.startswith(one[: one.index("\n\nA whole task")])


@pytest.mark.parametrize("tools", [[], [_MEAN_PRICE], [_MEAN_PRICE, _FINAL_ANSWER]])
@pytest.mark.parametrize("structured", [True, False])
def test_system_prompt_has_no_stray_blank_lines(tools: list[str], structured: bool) -> None:
    text = _system(tools=tools, structured=structured, custom_instructions="Be brief.")
    assert "\n\n\n" not in text
    assert all(line == line.rstrip() for line in text.split("\n"))
    assert text == text.strip()


def test_code_of_the_worked_example_is_python() -> None:
    blocks = re.findall(r"^<code>\n(.*?)\n</code>$", _system(tools=[]), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    for block in blocks:
        compile(block, "<example>", "exec")


def test_data_never_becomes_template_source() -> None:
    evil = "{{ 7 * 7 }} {% for x in y %} {# gone #} {{ custom_instructions.__class__ }}"
    text = _system(tools=[evil], custom_instructions=evil, authorized_imports=[evil])
    assert text.count(evil) == 3


def test_missing_variable_is_named() -> None:
    with pytest.raises(PromptError) as caught:
        _PROMPTS.render("system_prompt", {"tools": [], "managed_agents": [], "custom_instructions": ""})
    assert caught.value.message == snapshot(
        "code_agent.yaml, prompt 'system_prompt': 'structured' is undefined. Given were: custom_instructions, managed_agents, tools. Give that variable or take it out of the template."
    )


def test_planning_system_lists_tools_by_name_and_parameters() -> None:
    text = _PROMPTS.render(
        "planning_system", {"tools": [_SCHEMA], "managed_agents": [], "custom_instructions": "Be brief."}
    )
    assert text == snapshot("""\
You plan for an agent inside a Python notebook. The agent solves the person's task by writing Python, step by step; it sees what each step printed and may call the tools below as functions. You write the plan that it goes by. Write no code now: nothing is run.

The agent's tools:
- mean_price(city, since): Mean price in a city.

Write this and nothing else, in short lines:
Known: what the task and the results so far tell.
To find out: what the answer still needs.
Steps: a numbered list, one line for each step, each of them something that one short block of Python can do. What belongs together is one step. The last step gives the answer with `final_answer`.

The person's instructions to the agent:
Be brief.\
""")


def test_plan_handover_asks_for_code() -> None:
    assert _PROMPTS.render("plan_handover", {}) == snapshot(
        "Go on and carry out this plan: write the code of its next step now. Where a result does not fit the plan, go by the result."
    )


@pytest.mark.parametrize("left", [1, 2, 17])
def test_replan_has_the_number_of_steps_left_as_its_only_number(left: int) -> None:
    text = _PROMPTS.render("replan", {"max_steps": 20, "remaining_steps": left, "steps_done": 20 - left})
    assert re.findall(r"[0-9]+", text) == [str(left)]


def test_first_plan_says_how_many_steps_there_are() -> None:
    assert [
        _PROMPTS.render("first_plan", {"max_steps": left, "remaining_steps": left}) for left in (1, 20)
    ] == snapshot(
        [
            "Write the plan for this task now. 1 step is available, so it must give the answer.",
            "Write the plan for this task now. 20 steps are available, the one that gives the answer included; plan no more than the task needs.",
        ]
    )


def test_resume_says_why_the_run_had_stopped() -> None:
    whys = ("interrupted", "max_steps", "budget", "failed")
    assert [_PROMPTS.render("resume", {"why": why, "remaining_steps": 5}) for why in whys] == snapshot(
        [
            "The run was interrupted. It goes on now, with 5 more steps. Code above that has an observation has run and need not run again. Do what is still to do, then answer.",
            "The run had used all its steps. It goes on now, with 5 more steps. Code above that has an observation has run and need not run again. Do what is still to do, then answer.",
            "The run had used up its budget. It goes on now, with 5 more steps. Code above that has an observation has run and need not run again. Do what is still to do, then answer.",
            "The run had stopped after a failure. It goes on now, with 5 more steps. Code above that has an observation has run and need not run again. Do what is still to do, then answer.",
        ]
    )


def test_final_request_asks_for_an_answer_without_code() -> None:
    assert _PROMPTS.render("final_request", {"max_steps": 6}) == snapshot(
        "You have used all 6 steps of this run and can run no code any more. Give the best answer that what you know allows, in plain text without code, and say what is missing."
    )


def test_final_request_asks_for_json_of_the_answers_type() -> None:
    schema = {"type": "string", "enum": ["Tromsø", "<none>"]}
    assert _PROMPTS.render("final_request", {"max_steps": 1, "answer_schema": schema}) == snapshot(
        'You have used the only step of this run and can run no code any more. Give the best answer that what you know allows, as JSON alone, with no text before or after it. It must fit this JSON Schema: {"type": "string", "enum": ["Tromsø", "<none>"]}'
    )


def test_system_prompt_names_the_agents_among_the_tools() -> None:
    text = _system(tools=["def analyst(task): ..."], managed_agents=["analyst"])
    start = text.index("def analyst")
    assert text[start : text.index("A whole task")] == snapshot("""\
def analyst(task): ...

analyst is an agent: it does its task by itself. It sees nothing of all this, so say all that is needed in the task, and hand over values by names, such as additional_args={"table": df}. The call returns the answer; where there is none, it raises an error that says why.

""")
