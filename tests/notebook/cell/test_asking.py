from __future__ import annotations

import json

import pytest
from cells import call, final
from inline_snapshot import snapshot

from agent_magic import CodeAgent, ScriptedModel, ToolCallingAgent
from agent_magic.core.events import ManagedEvent, Waiting
from agent_magic.notebook.cell.asking import ask_by_input, unattended_rule

TOOLS = """
def mean_price(city: str) -> float:
    '''Mean price in a city.'''
    calls.append(city)
    return 2.5

calls = []
"""


def mean_price(city: str) -> float:
    """Mean price in a city.

    Args:
        city: its name
    """
    return float(len(city))


class Typist:
    """Types lines at prompts, and keeps the prompts."""

    def __init__(self, *lines):
        self.lines = list(lines)
        self.prompts = []

    def read(self, prompt):
        self.prompts.append(prompt)
        line = self.lines.pop(0)
        if isinstance(line, BaseException):
            raise line
        return line


def asked(typist, *replies, **settings):
    """A run whose questions are answered at a prompt; its result and the observations."""
    agent = ToolCallingAgent(
        [mean_price], ScriptedModel([*replies, final("done")]), approve="all", **settings
    )
    with agent.approvals.attended():
        for event in agent.stream("go"):
            if isinstance(event, Waiting) and event.question:
                ask_by_input(agent, event.question, typist.read)
    return agent.result, [
        result.to_text() for step in agent.result.actions[:-1] for result in step.tool_results
    ]


OSLO, BERGEN = ("mean_price", {"city": "Oslo"}), ("mean_price", {"city": "Bergen"})


@pytest.mark.parametrize(
    ("policy", "reply", "prompt"),
    [
        (
            "tools",
            ScriptedModel.calls(OSLO),
            snapshot("boss → middle → careful wants to call mean_price(city='Oslo'). [y]es, [n]o, [e]dit: "),
        ),
        ("all", "Look.", snapshot("boss → middle → careful wants to go by this plan. [y]es, [n]o, [e]dit: ")),
        (
            "code",
            "<code>mean_price('Oslo')</code>",
            snapshot("boss → middle → careful wants to run this code. [y]es, [n]o, [e]dit: "),
        ),
    ],
)
def test_prompt_says_which_agent_asks_if_it_works_for_another(policy, reply, prompt, capsys):
    kind = CodeAgent if policy == "code" else ToolCallingAgent
    careful = kind(
        [mean_price],
        ScriptedModel([reply, final(4) if kind is ToolCallingAgent else "<code>final_answer(4)</code>"] * 2),
        name="careful",
        description="Looks prices up.",
        approve=policy,
        planning_interval=5 if policy == "all" else None,
    )
    middle = ToolCallingAgent(
        managed_agents=[careful],
        model=ScriptedModel([call("careful", task="Oslo"), final(5)]),
        name="middle",
        description="Asks another.",
    )
    boss = ToolCallingAgent(
        managed_agents=[middle],
        model=ScriptedModel([call("middle", task="Oslo"), final("done")]),
        name="boss",
    )
    typist = Typist("n", "no")
    with boss.approvals.attended():
        for event in boss.stream("go"):
            inner = event
            while isinstance(inner, ManagedEvent):
                inner = inner.event
            if isinstance(inner, Waiting) and inner.question:
                ask_by_input(boss, inner.question, typist.read)
                break
    assert typist.prompts[0] == prompt


# -- at a prompt -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["y"], "4.0"),
        ([" YES "], "4.0"),
        (
            ["n", "too dear"],
            snapshot(
                "The person refused this call: too dear. mean_price was not run. Do not make this call again: do it another way, or give the final answer with what is known."
            ),
        ),
        (
            ["no", ""],
            snapshot(
                "The person refused this call. mean_price was not run. Do not make this call again: do it another way, or give the final answer with what is known."
            ),
        ),
        (
            ["e", '{"city": "Tromsø"}'],
            snapshot("""\
(the person changed the arguments to {"city": "Tromsø"})
6.0\
"""),
        ),
        (["edit", "", "y"], "4.0"),
        (
            ["e", "{'city': 'Bo'}"],
            snapshot("""\
(the person changed the arguments to {"city": "Bo"})
2.0\
"""),
        ),
    ],
)
def test_call_is_answered_at_a_prompt(lines, told):
    typist = Typist(*lines)
    result, observations = asked(typist, ScriptedModel.calls(OSLO))
    assert (result.status, observations, typist.lines) == ("answered", [told], [])
    assert typist.prompts[0] == "Call mean_price(city='Oslo')? [y]es, [n]o, [e]dit: "


def test_prompt_asks_again_until_it_is_answered(capsys):
    typist = Typist("", "maybe", "a", "e", '{"town": "Oslo"}', "e", "no json", "y")
    asked(typist, ScriptedModel.calls(OSLO))
    assert capsys.readouterr().out == snapshot("""\
Write y, n or e.
Write y, n or e.
Write y, n or e.
Now: {"city": "Oslo"}
mean_price: argument 'city' is missing; there is no argument 'town'. Call mean_price with {"city": <string>}.
Now: {"city": "Oslo"}
The arguments are a text, 'no json', and not an object.
Give each by its name: {"argument": "value"}
""")
    assert typist.lines == []


def test_all_calls_of_a_step_can_be_approved_at_once():
    typist = Typist("n", "", "a")
    _, observations = asked(typist, ScriptedModel.calls(OSLO, BERGEN, OSLO))
    assert typist.prompts == snapshot(
        [
            "Call mean_price(city='Oslo')? [y]es, [n]o, [e]dit, [a]ll of this step: ",
            "Why, for the model to read: ",
            "Call mean_price(city='Bergen')? [y]es, [n]o, [e]dit, [a]ll of this step: ",
        ]
    )
    assert [text.partition(".")[0] for text in observations] == ["The person refused this call", "6", "4"]


def test_approval_of_all_holds_for_one_step():
    typist = Typist("a", "n", "")
    _, observations = asked(typist, ScriptedModel.calls(OSLO, BERGEN), ScriptedModel.calls(OSLO))
    assert len(observations) == 3
    assert observations[2].startswith("The person refused this call.")


def test_plan_is_answered_at_a_prompt(capsys):
    typist = Typist("e", "1. Ask.", "2. Tell.", "")
    result, _ = asked(typist, "1. Look.", planning_interval=9)
    assert result.plans[0].plan == "1. Ask.\n2. Tell."
    assert typist.prompts == snapshot(
        ["Take this plan? [y]es, [n]o, [e]dit: ", "The plan, line by line; an empty line ends it:\n", "", ""]
    )
    assert capsys.readouterr().out == "1. Look.\n"


def test_long_call_is_shown_before_it_is_asked_about(capsys):
    typist = Typist("y")
    asked(typist, call("mean_price", city="x " * 400 + "\x1b[31m\u202eend"))
    assert typist.prompts == ["Call mean_price so? [y]es, [n]o, [e]dit: "]
    shown = capsys.readouterr().out
    assert shown.startswith("mean_price(city='x x x")
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.endswith("\\x1b[31m\\u202eend')\n")


def test_prompt_shows_no_secret(capsys, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery")
    typist = Typist("e", "", "y")
    asked(typist, call("mean_price", city="correct-horse-battery"))
    assert "correct-horse" not in repr(typist.prompts) + capsys.readouterr().out
    assert typist.prompts[0] == "Call mean_price(city='[redacted]')? [y]es, [n]o, [e]dit: "


def test_prompt_that_cannot_be_read_refuses_the_rest():
    typist = Typist("y", EOFError())
    _, observations = asked(typist, ScriptedModel.calls(OSLO, BERGEN, OSLO))
    assert observations == snapshot(
        [
            "4.0",
            "The person refused this call: Nobody answered. mean_price was not run. Do not make this call again: do it another way, or give the final answer with what is known.",
            "The person refused this call: Nobody answered. mean_price was not run. Do not make this call again: do it another way, or give the final answer with what is known.",
        ]
    )


def test_ctrl_c_at_the_prompt_ends_the_run_as_interrupted():
    agent = ToolCallingAgent([mean_price], ScriptedModel([ScriptedModel.calls(OSLO)]), approve="tools")
    events = agent.stream("go")
    with agent.approvals.attended():
        question = next(event.question for event in events if isinstance(event, Waiting))
        with pytest.raises(KeyboardInterrupt):
            ask_by_input(agent, question, Typist(KeyboardInterrupt()).read)
    events.close()
    assert agent.result.status == "interrupted"


def test_what_is_answered_elsewhere_is_not_asked_again(capsys):
    agent = ToolCallingAgent(
        [mean_price], ScriptedModel([ScriptedModel.calls(OSLO, BERGEN), final(1)]), approve="tools"
    )
    prompts = []

    def read(prompt):
        """While the first is asked about here, both are answered in a page."""
        prompts.append(prompt)
        (question,) = agent.approvals.open
        for item in question.items:
            agent.approvals.answer(item.id, "reject", by="the person in the page")
        return "y"

    with agent.approvals.attended():
        for event in agent.stream("go"):
            if isinstance(event, Waiting):
                ask_by_input(agent, event.question, read)
    assert len(prompts) == 1
    assert capsys.readouterr().out == snapshot(
        "mean_price was refused already, by the person in the page. Nothing was changed.\n"
    )
    assert [result.fault.kind for result in agent.result.actions[0].tool_results] == ["CallRejected"] * 2


# -- where nobody can answer -----------------------------------------------------------------------


@pytest.fixture
def asking(cells):
    cells.define(TOOLS)
    cells.model(call("mean_price", city="Oslo"), final(1))
    return cells


def test_cell_that_would_ask_is_refused_where_nobody_can_answer(asking):
    done = asking.run("%%agent bot --model @m --tools mean_price --approve tools\nDo it.")
    assert type(done.error).__name__ == "UsageError"
    assert str(done.error) == snapshot(
        '%%agent bot: --approve tools waits for a person\'s word, and nobody can give it in this front end. Nothing was run. Write --approve never, or %config AgentMagics.unattended = "approve" to let all be done where nobody can answer.'
    )
    assert "bot" not in asking
    assert asking["m"].requests == []


def test_refused_cell_leaves_the_agent_as_it_was(asking):
    asking.run("%%agent bot --model @m --tools mean_price\nDo it.")
    assert str(asking.run("%%agent bot --approve all --max-steps 2\nDo it.").error).startswith(
        "%%agent bot: --approve all"
    )
    assert (asking.agent().approve, asking.agent().max_steps) == ("never", 20)


@pytest.mark.parametrize(
    "line", ["%%agent bot\nDo it.", "%%agent bot --resume\nGo on.", "%agent retry bot", "%agent resume bot"]
)
def test_agent_that_was_set_to_ask_in_python_is_refused_too(asking, line):
    asking.model(RuntimeError("no"), name="m")
    asking.run("%%agent bot --model @m --tools mean_price --no-raise\nDo it.")
    asking.agent().approve = "tools"
    done = asking.run(line)
    assert str(done.error).startswith("%%agent bot: --approve tools waits for a person's word")
    assert len(asking.agent().runs) == 1


def test_agent_that_asks_can_be_defined_where_nobody_can_answer(asking):
    done = asking.run("%%agent bot --define --approve tools\nBe brief.")
    assert done.error is None
    assert asking.agent().approve == "tools"
    assert 'approve "tools"' in asking.run("bot").text


def test_policy_of_the_magics_is_that_of_new_agents(asking):
    asking.define("%config AgentMagics.approve = 'all'")
    assert str(asking.run("%%agent bot --model @m\nDo it.").error).startswith("%%agent bot: --approve all")
    done = asking.run("%%agent bot --model @m --tools mean_price --approve never\nDo it.")
    assert (done.error, done.value) == (None, 1)


def test_rule_of_the_magics_answers_where_nobody_can(asking):
    asking.define("%config AgentMagics.approve = 'tools'\n%config AgentMagics.unattended = 'approve'")
    done = asking.run("%%agent bot --model @m --tools mean_price\nDo it.")
    assert (done.error, done.value, asking["calls"]) == (None, 1, ["Oslo"])
    assert [line for line in done.text.splitlines() if "approved" in line] == snapshot(
        ["    mean_price was approved by AgentMagics.unattended = 'approve'"]
    )
    assert asking.agent().approvals.standing is None


def test_rule_of_the_magics_holds_only_where_it_is_set(asking):
    magics = asking.shell.magics_manager.registry["AgentMagics"]
    agent = ToolCallingAgent([mean_price], ScriptedModel([ScriptedModel.calls(OSLO)]), approve="tools")
    with unattended_rule(magics, agent):
        assert agent.approvals.standing is None


@pytest.mark.parametrize("setting", ["unattended", "approve"])
def test_setting_of_the_magics_that_cannot_be_is_refused(asking, setting):
    asking.run(f"%config AgentMagics.{setting} = 'always'")
    magics = asking.shell.magics_manager.registry["AgentMagics"]
    assert getattr(magics, setting) in ("never", "refuse")


def test_prompt_takes_arguments_as_json_writes_them():
    typist = Typist("e", json.dumps({"city": "日本 {x}"}))
    _, observations = asked(typist, ScriptedModel.calls(OSLO))
    assert observations[0].endswith("6.0")


# -- code at a prompt ------------------------------------------------------------------------------


def asked_of_code(typist, *replies, approve="code"):
    """A run of code whose questions are answered at a prompt; its result and the observations."""
    blocks = [f"So be it.\n<code>\n{reply}\n</code>" for reply in replies]
    agent = CodeAgent([mean_price], ScriptedModel(blocks), approve=approve)

    def listen(event):
        if isinstance(event, Waiting) and event.question:
            ask_by_input(agent, event.question, typist.read)

    with agent.approvals.attended():
        for event in agent.stream("go", listen=listen):
            listen(event)
    return agent.result, [step.observations for step in agent.result.actions]


def test_code_is_answered_at_a_prompt(capsys):
    typist = Typist("y", "n", "too dear", "y")
    result, observations = asked_of_code(
        typist, "n = mean_price('Oslo')\nn", "final_answer(mean_price('Bergen'))", "final_answer(n)"
    )
    assert result.value == 4.0
    assert typist.prompts == snapshot(
        [
            "Run this code? [y]es, [n]o, [e]dit: ",
            "Run this code? [y]es, [n]o, [e]dit: ",
            "Why, for the model to read: ",
            "Run this code? [y]es, [n]o, [e]dit: ",
        ]
    )
    assert observations == snapshot(
        [
            "Value of the last line: 4.0",
            "The person refused this code: too dear. It was not run. Do not write it again: do it another way, or give the final answer with what is known.",
            "The answer was given: 4.0",
        ]
    )
    assert capsys.readouterr().out == snapshot("""\
n = mean_price('Oslo')
n
final_answer(mean_price('Bergen'))
final_answer(n)
""")


def test_code_is_edited_at_a_prompt():
    typist = Typist("e", ".", "e", "for n in range(3):", "    total = n", "", "final_answer(total)", ".")
    result, _ = asked_of_code(typist, "final_answer(1)")
    assert result.value == 2
    assert typist.prompts == snapshot(
        [
            "Run this code? [y]es, [n]o, [e]dit: ",
            "The code, line by line; a line with . alone ends it (nothing before it: back):\n",
            "Run this code? [y]es, [n]o, [e]dit: ",
            "The code, line by line; a line with . alone ends it (nothing before it: back):\n",
            "",
            "",
            "",
            "",
        ]
    )


def test_calls_of_code_are_answered_at_a_prompt():
    typist = Typist("y", "e", '{"city": "Rome"}', "n", "too dear")
    result, _ = asked_of_code(
        typist,
        "found = [mean_price('Oslo'), mean_price('Bergen')]\nprint(found)\nmean_price('Narvik')",
        "final_answer(found)",
        approve="tools",
    )
    assert result.value == [4.0, 4.0]
    assert typist.prompts == snapshot(
        [
            "Call mean_price(city='Oslo')? [y]es, [n]o, [e]dit: ",
            "Call mean_price(city='Bergen')? [y]es, [n]o, [e]dit: ",
            "Arguments as JSON, all of them (empty: back): ",
            "Call mean_price(city='Narvik')? [y]es, [n]o, [e]dit: ",
            "Why, for the model to read: ",
        ]
    )


def test_prompt_shows_no_secret_of_code(capsys, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery")
    typist = Typist("y")
    asked_of_code(typist, "final_answer(len('correct-horse-battery'))")
    assert "correct-horse" not in repr(typist.prompts) + capsys.readouterr().out
