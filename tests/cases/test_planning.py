from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from cells import call, final

from agent_magic import ScriptedModel, ToolCallingAgent

PLAN = "1. Go on.\n2. Answer."


def replies(*actions):
    """The actions in order, and a plan wherever one is asked for."""
    left = iter(actions)
    return [lambda request: PLAN if request.kind == "plan" else next(left)] * 20


def go_on() -> str:
    """Go on."""
    return "went on"


def text_of(request):
    """All that a request says."""
    return "\n".join(message["content"] or "" for message in request.messages)


class Unfolded(HTMLParser):
    """The titles of the outermost foldable elements, and where a text stands among them."""

    def __init__(self, page, text):
        super().__init__()
        self.found = []
        self._text = text
        self._depth = 0
        self._is_title = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self._depth += tag == "details"
        if tag == "summary" and self._depth == 1:
            self._is_title = True
            self.found.append("")

    def handle_endtag(self, tag):
        self._depth -= tag == "details"
        self._is_title &= tag != "summary"

    def handle_data(self, data):
        if self._is_title:
            self.found[-1] += data
        elif self._depth == 0 and self._text in data:
            self.found.append(data)


def test_plan_interval_two_positions(case, cells):
    assert "planning_interval 2, max_steps 6; five action replies" in case.given
    model = cells.model(*replies(*[call("go_on")] * 4, final("there")))
    cells.shell.user_ns["go_on"] = go_on
    answered = cells.run("%%agent bot --model @m --tools go_on --plan 2 --max-steps 6\nGo there.")
    result = cells.agent().result
    # plans come before action steps 1, 3 and 5 and nowhere else
    assert [request.kind for request in model.requests] == [
        "plan", "act", "act", "plan", "act", "act", "plan", "act",
    ]  # fmt: skip
    assert [plan.step_number for plan in result.plans] == [1, 3, 5]
    made = [(type(step).__name__, getattr(step, "step_number", None)) for step in result.steps]
    assert made == [
        ("TaskStep", None),
        ("PlanningStep", 1), ("ActionStep", 1), ("ActionStep", 2),
        ("PlanningStep", 3), ("ActionStep", 3), ("ActionStep", 4),
        ("PlanningStep", 5), ("ActionStep", 5), ("FinalAnswerStep", None),
    ]  # fmt: skip
    # plan steps do not use up max_steps: there were eight steps of both kinds
    assert (answered.value, result.status) == ("there", "answered")


def test_plan_remaining_steps_number(case):
    assert "max_steps 20 and planning_interval 1; the run itself is given max_steps 3" in case.given
    model = ScriptedModel(replies(call("go_on"), call("go_on"), final("there")))
    agent = ToolCallingAgent([go_on], model, max_steps=20, planning_interval=1)
    agent.run("Go there.", max_steps=3)
    _, second, third = [request for request in model.requests if request.kind == "plan"]
    # one step of the run's own 3 is done, so the number is 2
    closing = second.messages[-1]
    assert closing["role"] == "user"
    assert re.findall(r"\d+", closing["content"]) == ["2"]
    # and then it is 1
    assert re.findall(r"\d+", third.messages[-1]["content"]) == ["1"]
    # never 18, 19 or 20, anywhere in it
    assert set(re.findall(r"\b(?:18|19|20)\b", text_of(second))) == set()
    # it holds neither "{remaining_steps}" nor "{{" nor "}}"
    for left_over in ("{remaining_steps}", "{{", "}}"):
        assert left_over not in text_of(second)


@pytest.mark.parametrize(
    ("max_steps", "kinds"),
    [
        pytest.param(2, ["plan", "act", "act"], id="A"),
        pytest.param(3, ["plan", "act", "act", "plan", "act"], id="B"),
    ],
)
def test_plan_no_call_after_the_end(case, cells, max_steps, kinds):
    assert f"planning_interval 2, max_steps {max_steps}, answer at step {max_steps}" in case.given
    cells.shell.user_ns["go_on"] = go_on
    model = cells.model(*replies(*[call("go_on")] * (max_steps - 1), final("there")))
    answered = cells.run(f"%%agent bot --model @m --tools go_on --plan 2 --max-steps {max_steps}\nGo there.")
    # so many calls, and no planning call follows the answer
    assert [request.kind for request in model.requests] == kinds
    assert (answered.value, cells.agent().result.status) == ("there", "answered")


@pytest.mark.parametrize("where", ["cell", "Python"])
def test_plan_switched_off_between_turns(case, cells, where):
    assert "turn 1 with planning_interval 1; turn 2 with reset off and planning off" in case.given
    cells.shell.user_ns["go_on"] = go_on
    model = cells.model(*replies(call("go_on"), final("one"), final("two"), final("three")))
    if where == "cell":
        for options in ("--model @m --tools go_on --plan 1", "--plan off", "--plan 1"):
            assert cells.run(f"%%agent bot {options}\nGo there.").error is None
    else:
        agent = ToolCallingAgent([go_on], model)
        for interval in (1, None, 1):
            agent.planning_interval = interval
            agent.run("Go there.", reset=False)
    kinds = [request.kind for request in model.requests]
    assert kinds[:4] == ["plan", "act", "plan", "act"]
    # turn 2 makes no planning call
    second = model.requests[4]
    assert second.kind == "act"
    # and still shows turn 1's steps in its messages: both plans, the calls, what came of them
    assert [message["content"] for message in second.messages].count(PLAN) == 2
    calls = [asked for message in second.messages for asked in message.get("tool_calls", ())]
    assert [asked["function"]["name"] for asked in calls] == ["go_on", "final_answer"]
    told = [message["content"] for message in second.messages if message["role"] == "tool"]
    assert told == ["went on", "accepted"]
    # turn 3 makes one before its first action
    assert kinds[5:] == ["plan", "act"]


@pytest.mark.parametrize("carries", ["a call", "an answer", "a call as text"])
def test_plan_reply_holding_code_is_not_run(case, cells, carries):
    text = re.search(r'plan reply "(.*?)";', case.given)[1]
    assert text.startswith("1. do <code>log.append(")
    cells.define(case.code + "def mark():\n    'Mark.'\n    log.append('from plan')\n")
    plan = {
        "a call": call("mark") | {"content": text},
        "an answer": final("x") | {"content": text},
        "a call as text": f'{text}\n{{"name": "mark", "arguments": {{}}}}',
    }[carries]
    model = cells.model(plan, final("y"))
    answered = cells.run("%%agent bot --model @m --tools mark --plan 1\nMark nothing.")
    # log == []: neither the code nor the tool call in the plan reply is executed
    assert cells["log"] == []
    # result == "y"
    assert answered.value == "y"
    assert cells.agent().result.status == "answered"
    # it is a plan, and text: what the action's request has of it is no call
    (made,) = cells.agent().result.plans
    assert made.plan.startswith(text)
    assert not any(message.get("tool_calls") for message in model.requests[1].messages)


@pytest.mark.kernel
def test_plan_steps_are_shown_and_notified(case, kernel):
    assert "planning_interval 1, one action that answers" in case.given
    ready = kernel.execute(
        "%load_ext agent_magic\nfrom agent_magic import MemoryStep, ScriptedModel, ToolCallingAgent\nseen = []\n"
        "bot = ToolCallingAgent(model=ScriptedModel(['1. Say it.', ScriptedModel.final('said so')]), name='bot',\n"
        "                       planning_interval=1, step_callbacks={MemoryStep: seen.append})"
    )
    assert ready.error is None
    done = kernel.execute("%%agent bot\nSay it.")
    assert done.error is None
    # a <details> entry for the plan, then one for the action, then the answer
    _task, plan, action, answer = Unfolded(done.displays[0]["text/html"], "said so").found
    assert plan.endswith("Plan: 1 step")
    assert 'final_answer(answer="said so")' in action
    assert answer == "said so"
    # a listener for all step types saw each once, in that order
    seen = kernel.execute("[type(step).__name__ for step in seen]").result
    assert seen == "['TaskStep', 'PlanningStep', 'ActionStep', 'FinalAnswerStep']"
