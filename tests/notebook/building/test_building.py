from __future__ import annotations

import gc
import weakref

import pytest
from cells import call, final

from agent_magic import ScriptedModel, ToolCallingAgent

FUNCTIONS = """
def add(a: int, b: int) -> int:
    "Add.\\n\\nArgs:\\n    a: one\\n    b: other"
    return a + b

def negate(a: int) -> int:
    "Negate.\\n\\nArgs:\\n    a: one"
    return -a
"""


@pytest.fixture
def asked(cells):
    """Cells with functions and a model that always answers."""
    cells.define(FUNCTIONS)
    cells.shell.user_ns["m"] = ScriptedModel.rules({"": final("done")})
    return cells


def tool_names(cells, name="bot"):
    return list(cells.agent(name).tools)


# -- NAME ---------------------------------------------------------------------------------------


def test_name_is_agent_where_none_is_given(asked):
    assert asked.run("%%agent --model @m\nDo it.").value == "done"
    assert asked.agent("agent").name == "agent"


def test_name_is_bound_before_the_run(asked):
    seen = []

    def look(request):
        seen.append(asked["bot"])
        return final("seen")

    asked.model(look)
    asked.run("%%agent bot --model @m\nDo it.")
    assert seen == [asked.agent()]


def test_same_name_goes_on_with_the_same_memory(asked):
    model = asked.model(final("one"), final("two"))
    asked.run("%%agent bot --model @m\nFirst.")
    bot = asked.agent()
    asked.run("%%agent bot\nSecond.")
    assert asked.agent() is bot
    contents = [message["content"] for message in model.requests[1].messages]
    assert [text for text in contents if text in ("First.", "Second.")] == ["First.", "Second."]


def test_agents_of_other_names_know_nothing_of_each_other(asked):
    model = asked.model(final("one"), final("two"))
    asked.run("%%agent bot --model @m\nFirst.")
    asked.run("%%agent other --model @m\nSecond.")
    assert "First." not in str(model.requests[1].messages)


def test_new_starts_afresh_without_memory_options_or_tools(asked):
    asked.run("%%agent bot --model @m --tools add --max-steps 3 --instructions 'Be brief.'\nFirst.")
    before = asked.agent()
    model = asked.model(final("one"))
    asked.run("%%agent bot --new --model @m\nSecond.")
    fresh = asked.agent()
    assert fresh is not before
    assert (fresh.max_steps, fresh.instructions, list(fresh.tools), len(fresh.runs)) == (20, "", [], 1)
    assert "First." not in str(model.requests[0].messages)
    assert "Be brief." not in str(model.requests[0].messages)


def test_deleted_agent_is_made_afresh(asked):
    asked.run("%%agent bot --model @m --tools add\nFirst.")
    before = asked.agent()
    asked.run("del bot")
    asked.run("%%agent bot --model @m\nSecond.")
    assert asked.agent() is not before
    assert (tool_names(asked), len(asked.agent().runs)) == ([], 1)


def test_notebook_keeps_no_deleted_agent_alive(asked):
    asked.run("%%agent bot --model @m --tools add\nFirst.")
    gone = weakref.ref(asked.agent())
    asked.run("del bot")
    gc.collect()
    assert gone() is None


def test_agent_made_in_python_is_that_agent_and_keeps_its_tools_and_model(asked):
    asked.define("from agent_magic import ToolCallingAgent\nbot = ToolCallingAgent([negate], m, max_steps=7)")
    bot = asked.agent()
    done = asked.run("%%agent bot --tools add\nDo it.")
    assert done.value == "done"
    assert asked.agent() is bot
    assert (tool_names(asked), bot.max_steps) == (["negate", "add"], 7)
    assert "given to the agent in Python" in done.text.splitlines()[0]
    asked.run("%%agent bot\nUse @add.")
    assert tool_names(asked) == ["negate", "add"]


def test_agent_made_in_python_refers_to_the_variables_of_the_notebook(asked):
    asked.define("from agent_magic import ToolCallingAgent\nrows = {1, 2}")
    asked.shell.user_ns["bot"] = ToolCallingAgent(model=ScriptedModel([final("@rows")]))
    assert asked.run("%%agent bot\nGive @rows.").value is asked["rows"]


def test_tool_of_an_agent_made_in_python_is_the_live_one_once_it_is_named(asked):
    asked.define("from agent_magic import ToolCallingAgent\nbot = ToolCallingAgent([negate, add])")
    asked.define("def add(a: int) -> int:\n    'Add one.\\n\\nArgs:\\n    a: one'\n    return a + 1")
    model = asked.model(call("add", a=1), final("x"), call("add", a=1), final("y"))
    asked.run("%%agent bot --model @m\nDo it.")
    assert "'b' is missing" in model.requests[1].messages[-1]["content"]
    asked.run("%%agent bot\nUse @add.")
    assert model.requests[3].messages[-1]["content"] == "2"
    assert tool_names(asked) == ["negate", "add"]


# -- options and tools that stay ----------------------------------------------------------------


def test_options_stay_until_given_again(asked):
    asked.run(
        "%%agent bot --model @m --max-steps 3 --max-tool-threads 2 --state all --description 'Counts.' "
        "--instructions 'Be brief.'\nDo it."
    )
    asked.run("%%agent bot\nDo it.")
    bot = asked.agent()
    assert (bot.max_steps, bot.max_tool_threads, bot.state.scope) == (3, 2, "all")
    assert (bot.description, bot.instructions, bot.model) == ("Counts.", "Be brief.", asked["m"])
    asked.run("%%agent bot --max-steps 4 --state named\nDo it.")
    assert (bot.max_steps, bot.max_tool_threads, bot.state.scope) == (4, 2, "named")


def test_options_are_known_to_the_model_in_the_same_cell(asked):
    model = asked.model(final("x"), final("y"))
    asked.run("%%agent bot --model @m --instructions 'Be brief.'\nDo it.")
    asked.run("%%agent bot --instructions 'Be long.'\nDo it.")
    prompts = [request.messages[0]["content"] for request in model.requests]
    assert ["Be brief." in prompt for prompt in prompts] == [True, False]
    assert ["Be long." in prompt for prompt in prompts] == [False, True]


def test_tools_stay_until_given_again_and_mentioned_ones_stay_too(asked):
    asked.run("%%agent bot --model @m --tools add\nDo it.")
    asked.run("%%agent bot\nUse @negate.")
    assert tool_names(asked) == ["add", "negate"]
    asked.run("%%agent bot\nDo it.")
    assert tool_names(asked) == ["add", "negate"]
    asked.define("def other() -> int:\n    'Other.'\n    return 1")
    asked.run("%%agent bot --tools @other\nDo it.")
    assert tool_names(asked) == ["other", "negate"]


def test_tool_that_is_given_and_mentioned_is_one_tool(asked):
    asked.run("%%agent bot --model @m --tools add, @add\nUse @add and @add.")
    assert tool_names(asked) == ["add"]


def test_refused_cell_leaves_the_agent_as_it_was(asked):
    asked.run("%%agent bot --model @m --tools add\nDo it.")
    asked.run("%%agent bot --max-steps 2 --tools negate --model @nothing\nDo it.")
    assert (asked.agent().max_steps, tool_names(asked), len(asked.agent().runs)) == (20, ["add"], 1)


def test_other_model_goes_on_with_the_same_memory(asked):
    asked.run("%%agent bot --model @m\nFirst.")
    other = asked.model(final("x"), name="other")
    asked.run("%%agent bot --model @other\nSecond.")
    assert "First." in str(other.requests[0].messages)


def test_settings_of_the_magics_are_those_of_new_agents(asked):
    asked.define(
        "%config AgentMagics.max_steps = 5\n%config AgentMagics.max_tool_threads = 3\n"
        "%config AgentMagics.state = 'all'\n%config AgentMagics.instructions = 'Always be brief.'"
    )
    asked.run("%%agent bot --model @m\nDo it.")
    bot = asked.agent()
    assert (bot.max_steps, bot.max_tool_threads, bot.state.scope) == (5, 3, "all")
    assert bot.instructions == "Always be brief."


# -- --define -----------------------------------------------------------------------------------


def test_define_makes_an_agent_and_runs_nothing(asked):
    model = asked.model(final("x"))
    done = asked.run(
        "%%agent bot --define --model @m --tools add --description 'Counts.'\nBe exact: {braces}.\n"
    )
    bot = asked.agent()
    assert done.value is None
    assert (bot.instructions, bot.description, tool_names(asked)) == (
        "Be exact: {braces}.",
        "Counts.",
        ["add"],
    )
    assert (len(model.requests), len(bot.runs)) == (0, 0)
    assert "bot · not run yet · scripted" in done.text
    asked.run("%%agent bot\nDo it.")
    assert "Be exact: {braces}." in model.requests[0].messages[0]["content"]


def test_define_needs_no_model(asked):
    assert asked.run("%%agent bot --define --tools add\nBe exact.").error is None
    assert not asked.agent().has_model
    assert asked.run("%%agent bot --model @m\nDo it.").value == "done"


def test_define_changes_a_living_agent_and_keeps_its_memory(asked):
    asked.run("%%agent bot --model @m --tools add\nFirst.")
    before = asked.agent()
    asked.run("%%agent bot --define --max-steps 3\nBe exact.")
    assert asked.agent() is before
    assert (before.max_steps, before.instructions, tool_names(asked), len(before.runs)) == (
        3,
        "Be exact.",
        ["add"],
        1,
    )


def test_define_with_a_blank_body_leaves_the_instructions(asked):
    asked.run("%%agent bot --define --instructions 'Be exact.'\n \n")
    asked.run("%%agent bot --define --max-steps 2\n \n")
    assert (asked.agent().instructions, asked.agent().max_steps) == ("Be exact.", 2)


def test_define_opens_the_variables_it_is_given(asked):
    asked.define("rows = {1, 2}")
    asked.run("%%agent bot --define --tools rows\nBe exact.")
    asked.model(final("rows"))
    assert asked.run("%%agent bot --model @m\nGive the rows.").value is asked["rows"]
