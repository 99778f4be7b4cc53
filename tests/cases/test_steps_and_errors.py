from __future__ import annotations

import json
import re

import pytest
from cells import call, final

from agent_magic import AgentError, ScriptedModel, ToolCallingAgent

RECORD = "application/vnd.agent-magic.run.v1+json"


@pytest.mark.parametrize("last", ["text", "text and a call"])
def test_limit_reached_gives_fallback_and_says_so(case, cells, last):
    assert 'max_steps 2; script: 1: call look(q="a"); 2: call look(q="b"); 3: plain text' in case.given
    guess = re.search(r'"(best guess: 4)"', case.given)[1]
    cells.define(
        "looked = []\ndef look(q: str) -> str:\n    'Look.\\n\\nArgs:\\n    q: what'\n    looked.append(q); return 'fog'"
    )
    reply = guess if last == "text" else call("look", q="c") | {"content": guess}
    model = cells.model(call("look", q="a"), call("look", q="b"), reply)
    shown = cells.run("%%agent bot --model @m --tools look --max-steps 2 --no-raise\nWhat is there?")
    result = cells.agent().result
    # exactly 3 model calls
    assert [request.kind for request in model.requests] == ["act", "act", "final"]
    # look ran twice: a tool call in reply 3 is not executed
    assert cells["looked"] == ["a", "b"]
    # result
    assert result.value == guess
    # status is step limit
    assert result.status == "max_steps"
    # and the cell output says that the limit of 2 was reached
    assert "step limit of 2 reached" in shown.text
    assert guess in shown.text


@pytest.mark.parametrize("memory", ["empty", "with a run"])
def test_limit_zero(case, cells, memory):
    assert "agent with max_steps 20; a run that asks for max_steps 0" in case.given
    model = cells.model(final("x"), final("y"))
    cells.shell.user_ns["bot"] = agent = ToolCallingAgent(model=model, name="bot", max_steps=20)
    if memory == "with a run":
        agent.run("Begin.")
    before, n_calls = (len(agent.memory), agent.memory.to_messages()), len(model.requests)
    # a message that 0 is not allowed, from the cell
    shown = cells.run("%%agent bot --max-steps 0\nGo on.")
    assert type(shown.error).__name__ == "UsageError"
    assert re.search(r"--max-steps: '0' is not allowed.*at least 1", str(shown.error))
    assert len(shown.stderr.strip().splitlines()) == 1
    # and from Python alike, for the run and for the agent
    for ask in (
        lambda: agent.run("Go on.", max_steps=0),
        lambda: agent.stream("Go on.", max_steps=0),
        lambda: agent.settings.update(max_steps=0),
        lambda: ToolCallingAgent(model=model, max_steps=0),
    ):
        with pytest.raises(AgentError, match=r"max_steps.*\b0\b.*not allowed"):
            ask()
    # before any model call, so never 20 steps
    assert len(model.requests) == n_calls
    # no step is recorded, what was there is untouched
    assert (len(agent.memory), agent.memory.to_messages()) == before
    assert agent.max_steps == 20


def test_error_tool_raises(case, cells):
    cells.define(case.code)
    model = cells.model(call("div", a=1, b=0), call("div", a=1, b=2), final(0.5))
    answered = cells.run("%%agent bot --model @m --tools div\nDivide 1 by 2.")
    # sent(2) holds both
    told = model.requests[1].messages[-1]
    assert told["role"] == "tool"
    assert "ZeroDivisionError" in told["content"]
    assert "division by zero" in told["content"]
    # no traceback is raised in the cell
    assert answered.error is None
    assert "Traceback" not in answered.text + answered.stderr
    # result
    assert answered.value == 0.5


def test_error_tool_output_flood(case, cells):
    cells.define(case.code)
    model = cells.model(call("page", url="u"), call("page", url="v"), final("ok"))
    answered = cells.run("%%agent bot --model @m --tools page\nRead both.")
    agent = cells.agent()
    told = [message["content"] for message in model.requests[2].messages if message["role"] == "tool"]
    assert len(told) == 2
    for text, name in zip(told, ("obs_1", "obs_2"), strict=True):
        # each keeps at most 8,000 characters, with HEAD and TAIL
        assert 4_000 < len(text) <= 8_000
        # and a note of how much was cut, naming obs_1 and obs_2
        head, n_cut, tail = re.fullmatch(r"(HEADx+)\n… ([\d,]+) characters cut.*…\n(x+TAIL)", text).groups()
        assert int(n_cut.replace(",", "")) == 2_000_008 - len(head) - len(tail)
        assert name in text
        # the agent's state holds both whole
        assert len(agent.state[name]) == 2_000_008
        # and ns itself has no such names
        assert name not in cells
    # the run answers
    assert (answered.value, agent.result.status) == ("ok", "answered")


@pytest.mark.kernel
def test_error_print_flood_in_code(case, kernel):
    # the loop that the case's code is, as the body of a tool
    loop = re.search(r"for i in range\(300_000\): print\(i\)", case.given)[0]
    ready = kernel.execute(
        "%load_ext agent_magic\nfrom agent_magic import ScriptedModel\n"
        f"def flood() -> str:\n    'Print a lot.'\n    {loop}\n    return 'printed'\n"
        "m = ScriptedModel([ScriptedModel.calls(('flood', {})), ScriptedModel.final('ok')])"
    )
    assert ready.error is None
    done = kernel.execute("%%agent bot --model @m --tools flood\nPrint.", timeout_s=120)
    assert done.error is None
    # under 2000 output messages are sent for the cell
    assert done.n_messages < 2_000
    assert done.stdout == ""
    # the step's stored text is cut with a note, shows the first lines and the last line
    stored = kernel.execute("bot.result.actions[0].tool_results[0].printed").result
    recorded = done.displays[0][RECORD]["steps"][0]["calls"][0]["printed"]
    assert len(json.dumps(done.displays[0])) < 100_000
    for printed in (stored.strip("'").replace("\\n", "\n"), recorded):
        assert printed.startswith("0\n1\n2\n")
        assert printed.rstrip("\n").endswith("\n299998\n299999")
        assert "characters cut" in printed
        assert len(printed) < 10_000
    assert "299999" in done.displays[0]["text/plain"]
    # result
    assert done.result == "'ok'"


def test_error_argument_types_are_checked(case, cells):
    cells.define(case.code)
    model = cells.model(
        call("order", n="3"),
        call("order", n=2.0, gift="false"),
        call("order", n=1, colour="red"),
        ScriptedModel.calls(("order", {"n": True})),
        final("z"),
    )
    shown = cells.run("%%agent bot --model @m --tools order\nOrder 3.")
    assert (shown.value, shown.error) == ("z", None)
    text, falsy, unknown, yes, _ = cells.agent().result.actions
    got = cells["got"]
    # n="3" reaches the function as the int 3, with a note in the step
    assert got[0] == (3, False)
    assert text.faults == ()
    assert "n" in "".join(text.tool_results[0].notes)
    assert "3" in "".join(text.tool_results[0].notes)
    assert text.tool_results[0].notes[0] in shown.text
    # n=2.0 as the int 2; gift="false" as False, or an error step that names gift; never True
    assert got[1:] in ([(2, False)], [])
    if not got[1:]:
        assert "gift" in falsy.faults[0].message
    # the unknown colour and n=true are error steps that name colour and n; body not run
    for step, name in ((unknown, "colour"), (yes, "n")):
        assert [fault.kind for fault in step.faults] == ["ToolCallError"]
        assert re.search(rf"\b{name}\b", step.faults[0].message)
        assert step.tool_results[0].timing is None
        assert step.faults[0].message in model.requests[step.step_number].messages[-1]["content"]
    # no str or float in it
    assert [(type(n), type(gift)) for n, gift in got] == [(int, bool)] * len(got)
