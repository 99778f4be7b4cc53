"""Agents of a notebook that are handed to others of its agents."""

from __future__ import annotations

import pytest
from cells import call, final
from inline_snapshot import snapshot

from agent_magic import CodeAgent, ScriptedModel, ToolCallingAgent
from agent_magic.notebook.kernel.executor import KernelExecutor


@pytest.fixture
def asked(cells):
    """Cells with an agent `analyst`, which a cell has defined, and its model `a`."""
    cells.model(final(1), final(2), name="a")
    cells.define('%%agent analyst --model @a --define --description "Counts."\nYou count.')
    return cells


def made(cells, name="boss"):
    """What became of the calls of an agent's last run."""
    return [result for step in cells.agent(name).result.actions for result in step.tool_results]


@pytest.mark.parametrize("cell", ["--tools analyst\nAsk it.", "--tools @analyst\nAsk it.", "\nAsk @analyst."])
def test_agent_is_handed_to_another_by_its_name(asked, cell):
    asked.model(call("analyst", task="count"), final("done"))
    done = asked.run(f"%%agent boss --model @m {cell}")
    assert (done.error, done.value) == (None, "done")
    assert made(asked)[0].run.value == 1
    # its own memory is as it was
    assert asked.agent("analyst").runs == []


def test_agent_stays_handed_over_and_is_looked_up_anew(asked):
    asked.model(call("analyst", task="count"), final("one"), call("analyst", task="count"), final("two"))
    asked.run("%%agent boss --model @m --tools analyst\nAsk it.")
    other = asked.model(final("other"), name="o")
    asked.define("%%agent analyst --new --model @o --define --description Other.")
    assert asked.run("%%agent boss\nAsk it again.").value == "two"
    assert made(asked)[0].run.value == "other"
    assert len(other.requests) == 1


def test_agent_that_has_no_model_gets_one_when_its_manager_runs(asked):
    asked.define("%config AgentMagics.model = 'openai/gpt-5'")
    asked.define("%%agent adder --define --description Adds.")
    asked.model(final("done"))
    asked.define("%%agent boss --model @m --tools adder --define")
    assert not asked.agent("adder").has_model
    asked.run("%%agent boss\nAnswer.")
    assert asked.agent("adder").model.model_id == "openai/gpt-5"


def test_agent_made_in_python_works_on_the_notebooks_variables(asked):
    asked.define("rows = [1, 2]")
    asked.shell.user_ns["coder"] = coder = CodeAgent(
        model=ScriptedModel(["<code>n_rows = len(rows)\nfinal_answer(n_rows)</code>"]), description="Codes."
    )
    asked.model(call("coder", task="count the rows"), final("done"))
    asked.run("%%agent boss --model @m --tools coder\nAsk it.")
    assert made(asked)[0].run.value == 2
    assert asked["n_rows"] == 2
    assert isinstance(coder.executor, KernelExecutor)


def test_agents_that_manage_each_other_are_refused_by_the_cell(asked):
    asked.model(final("done"))
    asked.run("%%agent boss --model @m --tools analyst\nAnswer.")
    done = asked.run("%%agent analyst --tools boss --define")
    assert str(done.error) == snapshot(
        "analyst → boss → analyst: an agent would manage itself, and its runs would never end. Take one of them out of the tools of another."
    )
    assert asked.agent("analyst").managed_agents == {}


def test_agent_without_a_description_is_told_of_when_it_is_handed_over(asked):
    asked.shell.user_ns["mute"] = ToolCallingAgent(model=ScriptedModel([]))
    asked.model(final("done"))
    text = asked.run("%%agent boss --model @m --tools mute\nAnswer.").text
    assert "Agent 'mute' has no description" in text


def test_tools_of_a_manager_are_shown_with_the_agents_among_them(asked):
    asked.model(final("done"))
    asked.run("%%agent boss --model @m --tools analyst\nAnswer.")
    text = asked.run("%agent tools boss").text
    assert "analyst" in text
    assert "Counts." in text


@pytest.mark.kernel
def test_manager_and_agent_that_write_code_work_in_a_kernel(kernel):
    kernel.execute(
        "%load_ext agent_magic\n"
        "import pandas as pd\n"
        "from agent_magic import ScriptedModel\n"
        "df = pd.DataFrame({'city': ['Oslo', 'Bergen'], 'price': [3.0, 2.0]})\n"
        "a = ScriptedModel(['<code>print(len(table))\\nbest = table.nlargest(1, \"price\")\\nfinal_answer(best)</code>'])\n"
        'm = ScriptedModel([\'<code>top = analyst("The dearest.", additional_args={"table": df})\\nprint("got", len(top))\\n'
        "final_answer(top.city.iloc[0])</code>'])"
    )
    kernel.execute(
        "%%agent analyst --mode code --model @a --define --description Looks.\nYou look at tables."
    )
    done = kernel.execute("%%agent boss --mode code --model @m --tools analyst\nWhich is dearest in @df?")
    assert done.error is None
    assert done.result == "'Oslo'"
    held = kernel.execute(
        "(made,) = boss.result.actions[0].tool_results[0].calls\n"
        "[made.run.status, made.run.value is best is top, made.run.actions[0].observations.splitlines()[0], "
        "'table' in globals(), analyst.runs, boss.result.actions[0].observations.splitlines()[0]]"
    )
    assert held.result == "['answered', True, '2', False, [], 'got 1']"
