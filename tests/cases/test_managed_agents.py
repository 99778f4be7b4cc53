"""Agents that call others as tools."""

from __future__ import annotations

import re

import pytest
from cells import call, final

from agent_magic import CodeAgent, ScriptedModel, ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.models.model import Model


class Broken(Model):
    """A model that fails for good."""

    model_id = "broken"

    def generate(self, messages, **settings):
        raise ValueError("the wheel came off")


def test_managed_failure_is_told_to_the_manager(case):
    guess = re.search(r'fallback text is "(.*?)"', case.given)[1]
    script = [call("digger", task="price?"), final("unknown")]
    digger = ToolCallingAgent(
        model=ScriptedModel(["I dig.", guess]), name="digger", description="Digs.", max_steps=1
    )
    boss = ToolCallingAgent(managed_agents=[digger], model=ScriptedModel(script), name="boss")
    result = boss.run("What is the price?")
    told = boss.model.requests[1].messages[-1]["content"]
    # the observation names digger and says that it hit its step limit of 1
    assert "digger" in told
    assert "hit its step limit of 1" in told
    # the fallback alone, as if it were an answer, is wrong
    assert told != guess
    assert "which is no answer" in told
    assert result.actions[0].tool_results[0].fault is not None
    # the manager's run goes on
    assert (result.status, result.value) == ("answered", "unknown")

    digger.model, boss.model = Broken(), ScriptedModel(script)
    result = boss.run("What is the price?")
    told = boss.model.requests[1].messages[-1]["content"]
    # or failed, with the error text
    assert "digger gave no answer (failed)" in told
    assert "the wheel came off" in told
    assert (result.status, result.value) == ("answered", "unknown")


def test_managed_answer_does_not_end_the_manager(case):
    assert "final_answer(5)" in case.given
    helper = ToolCallingAgent(model=ScriptedModel([final(5)]), name="helper", description="Helps.")
    boss = ToolCallingAgent(
        managed_agents=[helper],
        model=ScriptedModel([call("helper", task="five please"), final(6)]),
        name="boss",
    )
    result = boss.run("Do it.")
    assert (result.status, result.value) == ("answered", 6)
    (made,) = result.actions[0].tool_results
    assert (made.run.status, made.run.value, made.output) == ("answered", 5, 5)


@pytest.mark.parametrize(
    "form", ['helper("t")', 'helper(task="t")', 'helper(task="t", additional_args={"k": 1})']
)
def test_managed_call_forms_from_code(case, form):
    assert form in case.given
    has_k = "k" in form.partition("additional_args")[2]
    helper = ToolCallingAgent(
        model=ScriptedModel([final("@k" if has_k else 1)]), name="helper", description="Helps."
    )
    replies = ["<code>\nhelper(query='t')\n</code>", f"<code>\nfinal_answer({form})\n</code>"]
    boss = CodeAgent(managed_agents=[helper], model=ScriptedModel(replies), name="boss")
    result = boss.run("Do it.")
    wrong, right = result.actions
    # helper(query="t") is an error step that names `task`
    assert "argument 'task' is missing" in wrong.faults[0].message
    # it reaches the sub-agent with task "t"
    (made,) = right.tool_results[0].calls
    assert (made.run.task, made.run.value) == ("t", 1)
    assert helper.model.requests[0].messages[-1]["content"].splitlines()[0] == "t"
    # the third also with k == 1
    variables = [(v.name, v.description.type_name) for v in made.run.steps[0].variables]
    assert variables == ([("k", "int")] if has_k else [])
    assert result.value == 1


@pytest.mark.parametrize("name", ["data helper", "2nd", "class", "final_answer"])
def test_managed_name_must_be_callable(case, name):
    assert f'"{name}"' in case.given
    # refused at definition with a message naming the bad name
    with pytest.raises(OptionError) as refused:
        CodeAgent(model=ScriptedModel([]), name=name, description="Helps.")
    assert repr(name) in refused.value.message
