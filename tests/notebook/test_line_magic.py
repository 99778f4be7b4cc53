from __future__ import annotations

import pytest
from cells import call, final
from inline_snapshot import snapshot

FUNCTIONS = """
def add(a: int, b: int) -> int:
    '''The sum of two numbers.

    Args:
        a: one
        b: other

    Examples:
        one and two -> add(a=1, b=2)
    '''
    return a + b

def rough(x):
    return x
"""


@pytest.fixture
def asked(cells):
    """Cells with two agents: one that ran, one that is only defined."""
    cells.define(FUNCTIONS)
    cells.model(call("add", a=1, b=2), final(3))
    cells.run("%%agent bot --model @m --tools add\nAdd 1 and 2.")
    cells.run("%%agent idle --define --tools rough\nWait.")
    return cells


def test_list_shows_each_agent_in_a_line(asked):
    assert asked.run("%agent list").text == snapshot("""\
bot: scripted; tools: add; 1 run, 2 steps, last answered; tokens unknown, cost unknown
idle: no model yet; tools: rough; 0 runs, 0 steps
""")


def test_list_says_how_to_make_the_first_agent(cells):
    assert cells.run("%agent list").text == snapshot(
        "No agents yet. A cell that begins with %%agent NAME makes one.\n"
    )


def test_tools_shows_each_tool_as_the_model_is_told_of_it(asked):
    assert asked.run("%agent tools bot").text == snapshot("""\
add · tool
    The sum of two numbers.
a: integer
    one
b: integer
    other
Example: one and two
    add(a=1, b=2)
""")


def test_tools_shows_what_a_tool_lacks(asked):
    assert asked.run("%agent tools idle").text == snapshot("""\
rough · tool
    Rough.
x: any
! Tool 'rough' has no description. Give it a docstring whose first line says what it returns and when to use it
! Tool 'rough': parameter 'x' has no type hint, so any value is taken. Add one to its signature, e.g. x: str
! Tool 'rough': what it returns has no type hint, so code cannot go by it. Add one, e.g. -> float
""")


def test_tools_shows_the_whole_card_of_one_function(asked):
    card = asked.run("%agent tools add").text
    assert card == snapshot('''\
add · tool
    The sum of two numbers.
a: integer
    one
b: integer
    other
Example: one and two
    add(a=1, b=2)
Sent to a model that calls tools:
    {
      "type": "function",
      "function": {
        "name": "add",
        "description": "The sum of two numbers.\\n\\nExamples:\\none and two -> {\\"a\\": 1, \\"b\\": 2}",
        "parameters": {
          "type": "object",
          "properties": {
            "a": {
              "type": "integer",
              "description": "one"
            },
            "b": {
              "type": "integer",
              "description": "other"
            }
          },
          "required": [
            "a",
            "b"
          ],
          "additionalProperties": false
        }
      }
    }
Told to a model that writes code:
    def add(a: int, b: int) -> int:
        """The sum of two numbers.

        Args:
            a: one
            b: other

        Examples:
            add(a=1, b=2)  # one and two
        """
''')
    asked.define("def others(names: list = [], *more):\n    return names")
    assert asked.run("%agent tools @others").text.split("Told to")[1] == snapshot('''\
 a model that writes code:
    def others(names: list = [], *more):
        """Others."""
! Tool 'others': parameter '*more' is not offered to the model. Give each value that it needs a parameter of its own
! Tool 'others' has no description. Give it a docstring whose first line says what it returns and when to use it
! Tool 'others': the default of 'names' is a list that all calls share, so what one call puts in the next one finds. Write names: list | None = None and make it in the body
! Tool 'others': 'names' is a list of anything. Say of what, e.g. list[str]
! Tool 'others': what it returns has no type hint, so code cannot go by it. Add one, e.g. -> float
''')


def test_tools_shows_a_tool_that_no_variable_holds(asked):
    asked.define(
        "from agent_magic import Tool\n"
        "class Weather(Tool):\n"
        "    name, description = 'weather', 'The weather of a city.'\n"
        "    inputs = {'city': {'type': 'string', 'description': 'its name'}}\n"
        "    output_type = 'string'\n"
        "    def forward(self, city: str) -> str:\n"
        "        return city\n"
        "idle.toolbox.add(Weather())"
    )
    assert asked.run("%agent tools weather").text.startswith("weather · tool\n")
    assert asked.run("%agent tools wether").stderr == snapshot(
        "UsageError: %agent: there is no agent or function 'wether'. Agents: bot, idle.\n"
    )


def test_tools_says_how_to_hand_one_over(asked):
    asked.run("%%agent bare --define\nWait.")
    assert asked.run("%agent tools bare").text == snapshot(
        "bare has no tools. Hand functions over by --tools, or as @name in a task.\n"
    )


def test_steps_shows_each_run_that_is_remembered(asked):
    asked.model(final("again"))
    asked.run("%%agent bot --model @m\nAnd again.")
    assert asked.run("%agent steps bot").text == snapshot("""\
bot · answered · scripted
2 steps of 20 · tokens unknown · cost unknown · 0 s

Task
    Add 1 and 2.

 1  add(a=1, b=2) → 3  [0 s]
    add
        a = 1
        b = 2
        observation
            3
 2  final_answer(answer=3)  [0 s]
    final_answer
        answer = 3

Answer (int)
    3
bot · answered · scripted
1 step of 20 · tokens unknown · cost unknown · 0 s

Task
    And again.

 1  final_answer(answer="again")  [0 s]
    final_answer
        answer = "again"

Answer
    again
""")


def test_steps_says_that_nothing_is_remembered(asked):
    assert asked.run("%agent steps idle").text == "idle remembers nothing.\n"


def test_reset_forgets_the_runs_and_keeps_tools_options_and_variables(asked):
    assert asked.run("%agent reset bot").text == snapshot(
        "bot has forgotten 1 run; its options, its tools and your variables stay.\n"
    )
    bot = asked.agent()
    assert (bot.runs, len(bot.memory), list(bot.tools)) == ([], 0, ["add"])
    assert bot.model is asked["m"]
    model = asked.model(final("x"))
    asked.run("%%agent bot --model @m\nWhat now?")
    assert "Add 1 and 2." not in str(model.requests[0].messages)


def test_models_names_the_ways_in_their_order(asked):
    shown = asked.run("%agent models").text
    ways = ["AGENT_MAGIC_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "127.0.0.1", "the embedded model"]  # fmt: skip
    at = [shown.index(way) for way in ways]
    assert at == sorted(at)
    assert "%config AgentMagics.model" not in shown


def test_models_says_what_the_configuration_names(asked):
    asked.define("%config AgentMagics.model = 'openai/gpt-5'")
    shown = asked.run("%agent models").text
    assert "\n%config AgentMagics.model = 'openai/gpt-5' goes before all of these.\n" in shown


def test_models_with_a_text_lists_the_ids_with_it(asked):
    shown = asked.run("%agent models  openai/gpt-4.1 mini").text
    assert "with 'openai/gpt-4.1 mini'" in shown
    assert "openai/gpt-4.1-mini" in shown


def test_models_shows_no_key(asked, monkeypatch):
    monkeypatch.setenv("MISTRAL_API_KEY", "very-secret-words")
    shown = asked.run("%agent models").text
    assert "very-secret-words" not in shown
    assert next(line for line in shown.splitlines() if "MISTRAL" in line).startswith("yes")


@pytest.mark.parametrize("line", ["%agent", "%agent help", "%agent   help "])
def test_help_shows_options_and_commands(asked, line):
    shown = asked.run(line).text
    assert shown.startswith("%%agent [NAME] [options]\n")
    assert all(part in shown for part in ("--max-steps N", "--no-raise", "%agent steps [NAME]"))


def test_command_without_a_name_means_the_default_agent_or_the_only_one(cells):
    cells.model(final("x"), final("y"))
    cells.run("%%agent bot --model @m\nFirst.")
    assert "bot · answered" in cells.run("%agent steps").text
    cells.run("%%agent --model @m\nSecond.")
    shown = cells.run("%agent steps").text
    assert "Second." in shown
    assert "First." not in shown


def test_errors_name_what_there_is(asked):
    said = {}
    for line in (
        "lst",
        "List",
        "run bot",
        "steps nobody",
        "steps bto",
        "tools",
        "list bot",
        "steps bot idle",
    ):
        done = asked.run(f"%agent {line}")
        assert type(done.error).__name__ == "UsageError"
        assert done.stderr == f"UsageError: {done.error}\n"
        said[line] = str(done.error)
    assert said == snapshot(
        {
            "lst": """\
%agent: unknown command 'lst'. Nearest: list. Commands: list, tools, preview, steps, undo, blame, resume, retry, reset, models, doctor, help.
To give an agent a task, write %%agent NAME (two %) with the task on the lines below.\
""",
            "List": """\
%agent: unknown command 'List'. Nearest: list. Commands: list, tools, preview, steps, undo, blame, resume, retry, reset, models, doctor, help.
To give an agent a task, write %%agent NAME (two %) with the task on the lines below.\
""",
            "run bot": """\
%agent: unknown command 'run'. Commands: list, tools, preview, steps, undo, blame, resume, retry, reset, models, doctor, help.
To give an agent a task, write %%agent NAME (two %) with the task on the lines below.\
""",
            "steps nobody": "%agent: there is no agent 'nobody'. Agents: bot, idle.",
            "steps bto": "%agent: there is no agent 'bto'. Agents: bot.",
            "tools": "%agent: there is no agent 'agent'. Agents: bot, idle.",
            "list bot": "%agent list: 'bot' is one word too many. Write %agent list.",
            "steps bot idle": "%agent steps: 'idle' is one word too many. Write %agent steps [NAME].",
        }
    )


def test_errors_say_how_to_make_the_first_agent(cells):
    assert str(cells.run("%agent steps bot").error) == snapshot(
        "%agent: there is no agent 'bot'. A cell that begins with %%agent NAME makes one."
    )


def test_name_of_a_command_may_have_its_at(asked):
    assert asked.run("%agent tools @bot").text.startswith("add · tool")


def test_tools_shows_the_card_of_a_tool_that_comes_with_the_package(cells):
    assert "Sent to a model that calls tools:" in cells.run("%agent tools wikipedia_search").text
