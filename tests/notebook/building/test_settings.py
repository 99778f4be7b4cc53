from __future__ import annotations

import pytest
from cells import call, final
from inline_snapshot import snapshot

from agent_magic import ScriptedModel

NAMES = """
from dataclasses import dataclass

@dataclass
class Row:
    city: str
    price: float

def positive(answer):
    return answer > 0, "it must be over 0"

def two_arguments(answer, other):
    return True

rows = [1]
"""


@pytest.fixture
def asked(cells):
    """Cells with a class, a check and a model that always answers 1."""
    cells.define(NAMES)
    cells.shell.user_ns["m"] = ScriptedModel.rules({"": final(1)})
    return cells


def settings(cells):
    """All that the options of a cell set."""
    bot = cells.agent()
    values = bot.settings.values
    return (
        values.planning_interval,
        values.summary_mode,
        [check.__name__ for check in bot.final_answer_checks],
        bot.answer_type,
        values.max_time_s,
        values.max_cost_usd,
        values.max_total_tokens,
        bot.prompt_templates,
    )


UNSET = (None, "plan", [], None, None, None, None, None)


def test_settings_stay_until_given_again_or_taken_off(asked, tmp_path):
    prompts = tmp_path / "my.yaml"
    prompts.write_text("resume: Go on.\n", encoding="utf-8")
    asked.run(
        f"%%agent bot --model @m --plan 3 --summary-mode all --check positive --answer-type int "
        f"--max-time 60 --max-cost 1.5 --max-total-tokens 100000 --prompts {prompts} --no-raise\nDo it."
    )
    given = (3, "all", ["positive"], int, 60.0, 1.5, 100_000, str(prompts))
    assert settings(asked) == given
    asked.run("%%agent bot --no-raise\nDo it.")
    assert settings(asked) == given
    asked.run(
        "%%agent bot --plan off --summary-mode plan --check none --answer-type any --max-time none "
        "--max-cost none --max-total-tokens none --prompts none\nDo it."
    )
    assert settings(asked) == UNSET


def test_settings_are_forgotten_by_new(asked):
    asked.run("%%agent bot --model @m --plan 3 --check positive --answer-type int --max-time 60\nDo it.")
    asked.run("%%agent bot --model @m --new\nDo it.")
    assert settings(asked) == UNSET


def test_settings_are_set_by_define_too(asked):
    asked.run(
        "%%agent bot --define --plan 2 --check positive --answer-type list[Row] --max-cost 1\nBe brief."
    )
    row = asked["Row"]
    assert settings(asked) == (2, "plan", ["positive"], list[row], None, 1.0, None, None)


def test_settings_of_the_magics_are_those_of_new_agents(asked, tmp_path):
    prompts = tmp_path / "my.yaml"
    prompts.write_text("resume: Go on.\n", encoding="utf-8")
    asked.define(
        "%config AgentMagics.planning_interval = 2\n%config AgentMagics.summary_mode = 'off'\n"
        "%config AgentMagics.max_time_s = 9.5\n%config AgentMagics.max_cost_usd = 0.5\n"
        f"%config AgentMagics.max_total_tokens = 900\n%config AgentMagics.prompt_templates = '{prompts}'"
    )
    asked.run("%%agent bot --define\nBe brief.")
    assert settings(asked) == (2, "off", [], None, 9.5, 0.5, 900, str(prompts))


def test_setting_that_cannot_be_leaves_the_agent_as_it_was(asked, tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("first_plann: x\n", encoding="utf-8")
    asked.run("%%agent bot --model @m --plan 3 --tools positive\nDo it.")
    bot = asked.agent()
    said = {}
    for line in (
        "--check positve",
        "--check rows",
        "--check two_arguments",
        "--answer-type Rwo",
        "--answer-type rows",
        "--prompts nowhere.yaml",
        f"--prompts {broken}",
        "--answer-type int --model @nothing",
    ):
        done = asked.run(f"%%agent bot --plan 9 --max-steps 2 --description X {line}\nDo it.")
        assert type(done.error).__name__ == "UsageError"
        said[line.replace(str(tmp_path), "folder")] = str(done.error).replace(str(tmp_path), "folder")
    assert said == snapshot(
        {
            "--check positve": "%%agent --check: there is no function 'positve'. Nearest: positive.",
            "--check rows": "%%agent --check: `rows` is your list, not a function. Write def check(answer): … and give its name.",
            "--check two_arguments": "The check two_arguments(answer, other) cannot be called with one argument: missing a required argument: 'other'. Write def check(answer): … It may also take agent and memory as keywords.",
            "--answer-type Rwo": "%%agent --answer-type: there is no type 'Rwo'. Nearest: Row. Types of the notebook must be there: run the cell that defines or imports it first.",
            "--answer-type rows": "%%agent --answer-type: 'rows' has 'rows', which is your list and no type. Write a type such as float, list[str], Literal['a', 'b'] or int | None, or any to take it off.",
            "--prompts nowhere.yaml": """\
The prompts' file 'nowhere.yaml' cannot be read: No such file or directory.
Give the path of a YAML file in UTF-8 with any of: system_prompt, planning_system, first_plan, replan, plan_handover, resume, final_request, managed_report.\
""",
            "--prompts folder/broken.yaml": """\
folder/broken.yaml, prompt 'first_plann': there is no prompt of that name in toolcalling_agent.yaml.
Nearest: 'first_plan'. Write that or take it out.\
""",
            "--answer-type int --model @nothing": "%%agent --model @nothing: there is no variable 'nothing'. Bind a Model to it, or write provider/name.",
        }
    )
    assert settings(asked) == (3, *UNSET[1:])
    assert (bot.max_steps, bot.description, list(bot.tools), len(bot.runs)) == (20, "", ["positive"], 1)


def test_answer_type_of_a_class_that_is_defined_again_is_the_new_one(asked):
    asked.model(final({"city": "Oslo", "price": 1}), final({"city": "Oslo"}))
    asked.run("%%agent bot --model @m --answer-type Row\nDo it.")
    asked.define("@dataclass\nclass Row:\n    city: str")
    done = asked.run("%%agent bot\nDo it.")
    assert type(done.value) is asked["Row"]


def test_answer_type_that_was_set_in_python_is_left_alone(asked):
    asked.run("%%agent bot --model @m --answer-type Row --no-raise\nDo it.")
    asked.agent().answer_type = int
    asked.run("%%agent bot\nDo it.")
    assert asked.agent().answer_type is int


def test_answer_comes_as_the_type_that_is_asked_for(asked):
    model = asked.model(final("many"), final({"city": "Oslo", "price": "2.5"}))
    done = asked.run("%%agent bot --model @m --answer-type Row\nDo it.")
    assert done.value == asked["Row"]("Oslo", 2.5)
    assert model.requests[0].tools[-1]["parameters"]["properties"]["answer"]["required"] == ["city", "price"]


def test_plans_are_made_and_shown(asked):
    asked.model("1. Look.\n2. Answer.", call("positive", answer=1), "1. Answer.", final(1))
    done = asked.run("%%agent bot --model @m --tools positive --plan 1\nDo it.")
    assert done.text == snapshot("""\
bot · answered · scripted, as given
2 steps of 20 · tokens unknown · cost unknown · 0 s
! Tool 'positive' has no description. Give it a docstring whose first line says what it returns and when to use it
! Tool 'positive': parameter 'answer' has no type hint, so any value is taken. Add one to its signature, e.g. answer: str

Task
    Do it.

    Plan: 2 steps  [0 s]
    plan
        1. Look.
        2. Answer.
 1  positive(answer=1) → [true, "it must be over 0"]  [0 s]
    positive
        answer = 1
        observation
            [true, "it must be over 0"]
    Plan: 1 step · 1 dropped  [0 s]
    plan
        1. Answer.
    dropped
        Look.
 2  final_answer(answer=1)  [0 s]
    final_answer
        answer = 1

Answer (int)
    1
Out[3]: 1
""")


def test_prompts_of_a_file_are_what_the_model_reads(asked, tmp_path):
    prompts = tmp_path / "my.yaml"
    prompts.write_text("system_prompt: Be a pirate.\n", encoding="utf-8")
    model = asked.model(final(1))
    asked.run(f"%%agent bot --model @m --prompts {prompts}\nDo it.")
    assert model.requests[0].messages[0]["content"] == "Be a pirate."


def test_card_shows_what_is_set(asked):
    asked.run(
        "%%agent bot --define --plan 2 --summary-mode off --check positive --answer-type int|None --max-time 60 --max-cost 1 --max-total-tokens 5\nBe brief."
    )
    assert asked.run("bot").text == snapshot("""\
Out[4]: \n\
bot · not run yet · chosen at the first run
0 runs, 0 steps in memory · max_steps 20 · max_tool_threads 128 · state "named" · planning_interval 2 · summary_mode "off" · checks "positive" · answer_type "int | None" · max_time_s 60.0 · max_cost_usd 1.0 · max_total_tokens 5 · instructions "Be brief."
No tools
""")
