"""Plans: when one is made, what the planner reads, what of a plan counts, and what a failed one does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from agents.checking import AS_TEXT, add, agent_of, assert_usable, assert_valid, model_of
from agents.steering import Steering, lines_of, step_line
from inline_snapshot import snapshot

from agent_magic.agents.planning import diff_plans
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import GenerationError, OptionError
from agent_magic.core.events import Notice, PlanDelta, SettingChanged, StepEnded, StepStarted, TextDelta
from agent_magic.core.state import DictState
from agent_magic.core.steps import PlanDiff, PlanningStep
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.decorator import tool
from agent_magic.tools.toolbox import LiveTool

calls, final = ScriptedModel.calls, ScriptedModel.final
_ADD = calls(("add", {"a": 1, "b": 2})) | {"content": "I add."}


def _kinds(agent: ToolCallingAgent) -> list[str]:
    return [request.kind for request in model_of(agent).requests]


def _plans(agent: ToolCallingAgent) -> list[PlanningStep]:
    return [step for step in agent.memory.steps if isinstance(step, PlanningStep)]


def _steps(agent: ToolCallingAgent) -> list[str]:
    return [step_line(step) for step in agent.memory.steps]


def _requests(agent: ToolCallingAgent, kind: str) -> list[Any]:
    return [request for request in model_of(agent).requests if request.kind == kind]


def _asked(agent: ToolCallingAgent) -> list[str]:
    """The closing message of each request for a plan."""
    return [request.messages[-1]["content"] for request in _requests(agent, "plan")]


# -- when ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interval", "kinds"),
    [
        (None, "act act act act act"),
        (1, "plan act plan act plan act plan act plan act"),
        (2, "plan act act plan act act plan act"),
        (3, "plan act act act plan act act"),
        (9, "plan act act act act act"),
    ],
)
def test_plan_comes_before_steps_1_n_plus_1_and_so_on(interval: int | None, kinds: str) -> None:
    script = [*([_ADD] * 4), final(3)]
    numbered = iter(script)
    n_acts = 5
    replies: list[Any] = []
    for step in range(n_acts):
        if interval is not None and step % interval == 0:
            replies.append(f"Plan before {step + 1}")
        replies.append(next(numbered))
    agent = agent_of(replies, planning_interval=interval)
    result = agent.run("go")
    assert " ".join(_kinds(agent)) == kinds
    assert [step.step_number for step in result.actions] == [1, 2, 3, 4, 5]


def test_plans_use_up_no_steps_and_none_follows_the_answer() -> None:
    agent = agent_of(["Plan", _ADD, final(3)], planning_interval=2, max_steps=2)
    assert agent.run("go").status == "answered"
    assert _kinds(agent) == ["plan", "act", "act"]
    agent = agent_of(["Plan", _ADD, _ADD, "Plan", final(3)], planning_interval=2, max_steps=3)
    assert agent.run("go").status == "answered"
    assert _kinds(agent) == ["plan", "act", "act", "plan", "act"]


def test_no_plan_is_made_before_the_last_request_at_the_limit() -> None:
    agent = agent_of(["Plan", _ADD, "best guess"], planning_interval=1, max_steps=1)
    assert agent.run("go").status == "max_steps"
    assert _kinds(agent) == ["plan", "act", "final"]


def test_steps_left_are_those_of_this_run() -> None:
    agent = agent_of(
        ["Plan", _ADD, "Plan", _ADD, "Plan", final(3)], planning_interval=1, max_steps=20, name="planner"
    )
    agent.run("go", max_steps=3)
    assert _asked(agent) == snapshot(
        [
            "Write the plan for this task now. 3 steps are available, the one that gives the answer included; plan no more than the task needs.",
            "Look at what has come of the steps above and write the plan anew, for what is still to do. Keep what holds, change what does not, and leave out what is done. 2 steps are left, the one that gives the answer included.",
            "Look at what has come of the steps above and write the plan anew, for what is still to do. Keep what holds, change what does not, and leave out what is done. 1 step is left, so it must give the answer.",
        ]
    )


def test_steps_left_follow_a_limit_that_is_changed() -> None:
    steering = Steering()
    agent = agent_of(
        ["Plan", calls(("tick", {"n": 1})), "Plan", final(3)], steering.tick, planning_interval=1, max_steps=9
    )
    with steering.doing({1: lambda: agent.settings.update(max_steps=5)}):
        agent.run("go")
    assert [re.findall(r"\d+", text) for text in _asked(agent)] == [["9"], ["4"]]


def test_replan_now_makes_one_plan_before_the_next_step() -> None:
    steering = Steering()
    agent = agent_of([calls(("tick", {"n": 1})), "Plan A", _ADD, final(3)], steering.tick, add)
    with steering.doing({1: agent.replan_now}):
        events = list(agent.stream("go"))
    assert lines_of(e for e in events if isinstance(e, StepStarted | StepEnded)) == snapshot(
        [
            "StepStarted: act 1",
            "StepEnded: action 1 tick({'n': 1})",
            "StepStarted: plan 2",
            "StepEnded: first plan before 2 'Plan A'",
            "StepStarted: act 2",
            "StepEnded: action 2 add({'a': 1, 'b': 2})",
            "StepStarted: act 3",
            "StepEnded: action 3 final_answer({'answer': 3})",
            "StepEnded: answer 3",
        ]
    )
    assert [plan.is_first for plan in _plans(agent)] == [True]


def test_planning_turned_off_during_a_planning_call_lets_that_plan_count() -> None:
    def turn_off(_request: Any) -> str:
        agent.settings.update(planning_interval=None)
        return "Plan A"

    agent = agent_of([turn_off, _ADD, final(3)], planning_interval=1)
    events = list(agent.stream("go"))
    assert lines_of(events) == snapshot(
        [
            "RunStarted: 'go', at most 20",
            "StepStarted: plan 1",
            "ModelReplied: at 1: Plan A",
            "StepEnded: first plan before 1 'Plan A'",
            "SettingChanged: planning_interval=None from step 2 (at step 1)",
            "StepStarted: act 1",
            "ModelReplied: at 1: I add.add({'a': 1, 'b': 2})",
            "ToolCallStarted: add({'a': 1, 'b': 2})",
            "ToolCallEnded: add gave '3'",
            "StepEnded: action 1 add({'a': 1, 'b': 2})",
            "StepStarted: act 2",
            "ModelReplied: at 2: final_answer({'answer': 3})",
            "StepEnded: action 2 final_answer({'answer': 3})",
            "StepEnded: answer 3",
            "RunEnded: answered 3",
        ]
    )
    assert _kinds(agent) == ["plan", "act", "act"]
    assert agent.write_memory_to_messages()[2].content == "Plan A"


def test_planning_turned_off_for_one_run_and_on_for_the_next() -> None:
    agent = agent_of(["Plan 1", _ADD, "Plan 2", final(1), final(2), "Plan 3", final(3)], planning_interval=1)
    agent.run("one")
    agent.planning_interval = None
    agent.run("two", reset=False)
    agent.planning_interval = 1
    agent.run("three", reset=False)
    assert _kinds(agent) == ["plan", "act", "plan", "act", "act", "plan", "act"]
    second = model_of(agent).requests[4].messages
    assert [message["content"] for message in second if message["role"] == "user"] == snapshot(
        [
            "one",
            "Go on and carry out this plan: make its next tool call now. Where a result does not fit the plan, go by the result.",
            "Go on and carry out this plan: make its next tool call now. Where a result does not fit the plan, go by the result.",
            "two",
        ]
    )


@pytest.mark.parametrize("interval", [0, -1, True, "3", 1.5])
def test_interval_that_cannot_be_is_refused_when_the_agent_is_made(interval: Any) -> None:
    with pytest.raises(OptionError) as error:
        agent_of([], planning_interval=interval)
    assert error.value.message == (
        f"planning_interval={interval!r} is not allowed. Give a whole number of at least 1 "
        "(1: a plan before every step), or None for no planning."
    )


# -- what the planner reads --------------------------------------------------------------------------


def _planner_reads(agent: ToolCallingAgent) -> list[list[str]]:
    return [
        [
            f"{message.role}: "
            + " ".join(filter(None, [message.content, "+".join(call.name for call in message.tool_calls)]))
            for message in request.chat_messages[1:-1]
        ]
        for request in _requests(agent, "plan")
    ]


def test_first_plan_reads_earlier_runs_in_summary_and_the_task_once() -> None:
    agent = agent_of(["Plan 1", _ADD, final(3), "Plan 2", final(4)], planning_interval=9)
    agent.run("one")
    agent.run("two", reset=False)
    assert _planner_reads(agent) == snapshot(
        [
            ["user: one"],
            [
                "user: one",
                "assistant: add",
                "tool: 3",
                "assistant: final_answer",
                "tool: accepted",
                "user: two",
            ],
        ]
    )
    assert [plan.is_first for plan in _plans(agent)] == [True, True]
    assert _asked(agent)[0] == _asked(agent)[1]


@pytest.mark.parametrize("mode", ["plan", "all", "off"])
def test_replanning_reads_the_history_as_summary_mode_says(mode: str) -> None:
    agent = agent_of(["Plan 1", _ADD, "Plan 2", final(3)], planning_interval=1, summary_mode=mode)
    agent.run("one")
    full = [
        "user: one",
        "assistant: Plan 1",
        "user: " + agent.plan_handover(),
        "assistant: I add. add",
        "tool: 3",
    ]
    summary = ["user: one", "assistant: add", "tool: 3"]
    assert _planner_reads(agent) == [["user: one"], full if mode == "off" else summary]


@pytest.mark.parametrize(("able", "form"), [(None, "native"), (AS_TEXT, "text")])
def test_requests_for_plans_are_these(able: Any, form: str) -> None:
    as_text = '{"name": "add", "arguments": {"a": 1, "b": 2}}'
    act = _ADD if able is None else f"I add. {as_text}"
    agent = agent_of(
        ["Plan 1", act, "Plan 2", final(3)],
        planning_interval=1,
        max_steps=4,
        instructions="Be quick.",
        **({"capabilities": able} if able else {}),
    )
    agent.run("one")
    first, second = _requests(agent, "plan")
    assert first.messages[0] == second.messages[0]
    assert first.tools == second.tools == []
    assert {
        "native": snapshot(
            [
                [
                    {
                        "role": "system",
                        "content": """\
You plan for an agent inside a Python notebook. The agent solves the person's task by calling tools, step by step, and reads each result. You write the plan that it goes by. Call no tool and write no code now: nothing is run.

The agent's tools:
- add(a, b): Add two numbers.

Write this and nothing else, in short lines:
Known: what the task and the results so far tell.
To find out: what the answer still needs.
Steps: a numbered list, one line for each step, each of them something that one of these tools can do. The last step gives the answer with `final_answer`.

The person's instructions to the agent:
Be quick.\
""",
                    },
                    {"role": "user", "content": "one"},
                    {
                        "role": "user",
                        "content": "Write the plan for this task now. 4 steps are available, the one that gives the answer included; plan no more than the task needs.",
                    },
                ],
                [
                    {"role": "user", "content": "one"},
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "call_1",
                                "type": "function",
                                "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'},
                            }
                        ],
                    },
                    {"role": "tool", "tool_call_id": "call_1", "content": "3"},
                    {
                        "role": "user",
                        "content": "Look at what has come of the steps above and write the plan anew, for what is still to do. Keep what holds, change what does not, and leave out what is done. 3 steps are left, the one that gives the answer included.",
                    },
                ],
            ]
        ),
        "text": snapshot(
            [
                [
                    {
                        "role": "system",
                        "content": """\
You plan for an agent inside a Python notebook. The agent solves the person's task by calling tools, step by step, and reads each result. You write the plan that it goes by. Call no tool and write no code now: nothing is run.

The agent's tools:
- add(a, b): Add two numbers.

Write this and nothing else, in short lines:
Known: what the task and the results so far tell.
To find out: what the answer still needs.
Steps: a numbered list, one line for each step, each of them something that one of these tools can do. The last step gives the answer with `final_answer`.

The person's instructions to the agent:
Be quick.\
""",
                    },
                    {
                        "role": "user",
                        "content": """\
one

Write the plan for this task now. 4 steps are available, the one that gives the answer included; plan no more than the task needs.\
""",
                    },
                ],
                [
                    {"role": "user", "content": "one"},
                    {"role": "assistant", "content": '{"name": "add", "arguments": {"a": 1, "b": 2}}'},
                    {
                        "role": "user",
                        "content": """\
Observation:
3

Look at what has come of the steps above and write the plan anew, for what is still to do. Keep what holds, change what does not, and leave out what is done. 3 steps are left, the one that gives the answer included.\
""",
                    },
                ],
            ]
        ),
    }[form] == [first.messages, second.messages[1:]]


# -- what counts -----------------------------------------------------------------------------------


def test_plan_stands_in_the_history_and_hands_the_turn_back() -> None:
    agent = agent_of(
        [
            {
                "content": "  1. Add.\n2. Answer.\n<end_plan> and so on",
                "reasoning": "Hm.",
                "usage": {"input_tokens": 9, "output_tokens": 4},
            },
            final(3),
        ],
        planning_interval=3,
    )
    agent.run("go")
    plan = _plans(agent)[0]
    assert (plan.plan, plan.reasoning, plan.is_first) == ("1. Add.\n2. Answer.", "Hm.", True)
    assert plan.model_output == "  1. Add.\n2. Answer.\n<end_plan> and so on"
    assert plan.token_usage is not None
    assert plan.token_usage.input_tokens == 9
    assert model_of(agent).requests[1].messages[1:] == snapshot(
        [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": """\
1. Add.
2. Answer.\
""",
            },
            {
                "role": "user",
                "content": "Go on and carry out this plan: make its next tool call now. Where a result does not fit the plan, go by the result.",
            },
        ]
    )


def test_tool_calls_in_a_plan_are_not_made() -> None:
    made: list[int] = []

    def note(n: int) -> int:
        """Note a number.

        Args:
            n: the number
        """
        made.append(n)
        return n

    agent = agent_of(
        [
            calls(("note", {"n": 1})) | {"content": "I plan to note."},
            final("y"),
            calls(("note", {"n": 2}), ("final_answer", {"answer": "x"})),
            final("z"),
        ],
        note,
        planning_interval=1,
    )
    assert agent.run("go").value == "y"
    assert agent.run("go on", reset=False).value == "z"
    assert made == []
    assert _steps(agent) == snapshot(
        [
            "TaskStep",
            "first plan before 1 'I plan to note.'",
            "action 1 final_answer({'answer': 'y'})",
            "answer 'y'",
            "TaskStep",
            "first plan before 1 failed: NoPlan: The reply held no text, so there is no new plan.",
            "action 1 final_answer({'answer': 'z'})",
            "answer 'z'",
        ]
    )
    assert_valid(agent.memory)


def test_plan_is_streamed_as_its_own_kind_of_delta() -> None:
    agent = agent_of([{"content": "Plan A", "reasoning": "Hm."}, "x"], planning_interval=1, stream_pieces=2)
    deltas = [e for e in agent.stream("go", max_steps=1) if isinstance(e, PlanDelta | TextDelta)]
    assert [(type(d).__name__, d.text, d.is_reasoning) for d in deltas[:5]] == snapshot(
        [
            ("PlanDelta", "Hm", True),
            ("PlanDelta", ".", True),
            ("PlanDelta", "Pla", False),
            ("PlanDelta", "n A", False),
            ("TextDelta", "x", False),
        ]
    )


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply", [GenerationError("The model is gone."), "", "   \n", {"content": None}, "<end_plan>"]
)
def test_planning_call_that_fails_is_recorded_and_the_run_goes_on(reply: Any) -> None:
    agent = agent_of([reply, _ADD, _ADD, "Plan B", final(3)], planning_interval=2)
    result = agent.run("go")
    assert (result.status, result.value, result.error) == ("answered", 3, None)
    failed, second = _plans(agent)
    assert failed.fault is not None
    assert failed.fault.message == (
        "The model is gone."
        if isinstance(reply, Exception)
        else "The reply held no text, so there is no new plan."
    )
    assert failed.to_messages() == ()
    # The run has no plan yet, so the next one is its first.
    assert (second.is_first, second.plan) == (True, "Plan B")
    assert _asked(agent)[0].startswith("Write the plan for this task now.")
    assert_valid(agent.memory)


def test_replanning_that_fails_leaves_the_plan_before() -> None:
    agent = agent_of(["Plan A", _ADD, "", _ADD, "Plan B", final(3)], planning_interval=1, summary_mode="all")
    agent.run("go", max_steps=3)
    plans = _plans(agent)
    assert [(plan.is_first, bool(plan.fault)) for plan in plans] == [
        (True, False),
        (False, True),
        (False, False),
    ]
    acts = _requests(agent, "act")
    assert "Plan A" in [message["content"] for message in acts[1].messages]
    assert plans[2].diff == PlanDiff(added=("Plan B",), dropped=("Plan A",))


def test_plan_due_when_a_tool_has_become_one_that_cannot_be_keeps_everything_before() -> None:
    state = DictState(add=add, other=len)

    @tool(name="add")
    def twin(text: str) -> str:
        """Repeat a text.

        Args:
            text: any
        """
        return text

    def spoil(_request: Any) -> Any:
        state["other"] = twin
        return _ADD

    model = ScriptedModel(["Plan A", spoil])
    agent = ToolCallingAgent(
        [LiveTool(name="add", state=state), LiveTool(name="other", state=state)], model, planning_interval=1
    )
    result = agent.run("1 + 2")
    assert (result.status, result.steps) == ("failed", agent.memory.steps)
    assert _steps(agent) == snapshot(
        [
            "TaskStep",
            "first plan before 1 'Plan A'",
            "action 1 add({'a': 1, 'b': 2})",
            """\
plan before 2 failed: ToolDefinitionError: Two tools have the name 'add'.
Give one of them another: put it in a variable of another name, or mark it  @tool(name="add_2")\
""",
            """\
action 2  [ToolDefinitionError: Two tools have the name 'add'.
Give one of them another: put it in a variable of another name, or mark it  @tool(name="add_2")]\
""",
        ]
    )
    state["other"] = len
    assert_usable_without_planning(agent)


# -- approval --------------------------------------------------------------------------------------


def _approve(said: Any) -> Callable[[str], Any]:
    def approve(plan: str) -> Any:
        return said

    return approve


class _Unshown:
    def __repr__(self) -> str:
        raise ZeroDivisionError


_SAID: dict[str, tuple[Any, str | None]] = {
    "True": (True, "Plan A"),
    "None": (None, "Plan A"),
    "a text": ("  Plan of mine\n", "Plan of mine"),
    "False": (False, None),
    "a blank": ("  ", None),
    "a number": (1, None),
    "an object that cannot be shown": (_Unshown(), None),
}


@pytest.mark.parametrize("case", _SAID)
def test_approval_decides_which_plan_counts(case: str) -> None:
    said, counts = _SAID[case]
    agent = agent_of(["Plan A", final(3)], planning_interval=1, approve_plan=_approve(said))
    events = list(agent.stream("go"))
    plan = _plans(agent)[0]
    assert agent.result is not None
    assert agent.result.status == "answered"
    assert (plan.plan or None, plan.model_output) == (counts, "Plan A")
    sent = [message["content"] for message in model_of(agent).requests[1].messages]
    assert sent[2:3] == ([counts] if counts else [])
    assert {
        "False": snapshot(([], "The person refused this plan.")),
        "a blank": snapshot(
            (
                [
                    "approve_plan returned '  ': give True, False or the text of a plan. The plan does not count."
                ],
                "approve_plan returned '  ': give True, False or the text of a plan. The plan does not count.",
            )
        ),
        "a number": snapshot(
            (
                ["approve_plan returned 1: give True, False or the text of a plan. The plan does not count."],
                "approve_plan returned 1: give True, False or the text of a plan. The plan does not count.",
            )
        ),
        "an object that cannot be shown": snapshot(
            (
                [
                    "approve_plan returned <_Unshown whose repr raised ZeroDivisionError>: give True, False or the text of a plan. The plan does not count."
                ],
                "approve_plan returned <_Unshown whose repr raised ZeroDivisionError>: give True, False or the text of a plan. The plan does not count.",
            )
        ),
    }.get(case, ([], None)) == (
        [event.message for event in events if isinstance(event, Notice)],
        plan.fault and plan.fault.message,
    )


def test_approval_that_raises_refuses_the_plan_and_the_run_goes_on() -> None:
    def approve(plan: str) -> bool:
        return plan[99] == "x"

    agent = agent_of(["Plan A", final(3)], planning_interval=1, approve_plan=approve)
    events = list(agent.stream("go"))
    assert lines_of(event for event in events if isinstance(event, Notice | StepEnded)) == snapshot(
        [
            "Notice: at 1: approve_plan raised IndexError: string index out of range. The plan does not count.",
            "StepEnded: first plan before 1 failed: PlanRefused: approve_plan raised IndexError: string index out of range. The plan does not count.",
            "StepEnded: action 1 final_answer({'answer': 3})",
            "StepEnded: answer 3",
        ]
    )


def test_approval_is_given_the_agent_if_it_takes_it() -> None:
    seen: list[Any] = []

    def approve(plan: str, *, agent: Any) -> None:
        seen.append((plan, agent))

    agent = agent_of(["Plan A", final(3)], planning_interval=1, approve_plan=approve)
    agent.run("go")
    assert seen == [("Plan A", agent)]


def test_approval_stopped_by_the_person_leaves_an_interrupted_plan() -> None:
    def approve(plan: str) -> bool:
        raise KeyboardInterrupt

    agent = agent_of(["Plan A", final(3)], planning_interval=1, approve_plan=approve)
    with pytest.raises(KeyboardInterrupt):
        agent.run("go")
    assert _steps(agent) == snapshot(
        ["TaskStep", "first plan before 1 failed: Interrupted: The person interrupted the run."]
    )
    assert_usable_without_planning(agent)


async def _approve_later(plan: str) -> bool:
    return bool(plan)


def _approve_two(plan: str, other: str) -> bool:
    return plan == other


@pytest.mark.parametrize("approve", [3, _approve_later, _approve_two])
def test_approval_that_cannot_be_called_so_is_refused(approve: Any) -> None:
    with pytest.raises(OptionError) as error:
        agent_of([], approve_plan=approve)
    assert (
        error.value.message
        == {
            3: snapshot(
                "3 is no function, so it cannot serve as approve_plan. Write def approve_plan(plan): …"
            ),
            _approve_later: snapshot(
                "The approve_plan _approve_later is async, and nothing waits for it. Write def approve_plan(plan): …"
            ),
            _approve_two: snapshot(
                "The approve_plan _approve_two(plan: 'str', other: 'str') -> 'bool' cannot be called with one argument: missing a required argument: 'other'. Write def approve_plan(plan): … It may also take agent as a keyword."
            ),
        }[approve]
    )


# -- differences -----------------------------------------------------------------------------------


def test_later_plans_say_what_they_change() -> None:
    agent = agent_of(
        ["1. Load\n2. Clean\n3. Answer", _ADD, "1. Clean\n2. Plot\n3. Answer", final(3)], planning_interval=1
    )
    agent.run("go")
    assert [plan.diff for plan in _plans(agent)] == snapshot(
        [
            PlanDiff(added=("Load", "Clean", "Answer")),
            PlanDiff(added=("Plot",), dropped=("Load",), kept=("Clean", "Answer")),
        ]
    )


@pytest.mark.parametrize(
    ("old", "new", "diff"),
    [
        ("", "a\nb", PlanDiff(added=("a", "b"))),
        ("1. a\n2) b", "- b\n\n* a", PlanDiff(kept=("b", "a"))),
        ("a\na", "a", PlanDiff(dropped=("a",), kept=("a",))),
        ("a", "a\nb\na", PlanDiff(added=("b", "a"), kept=("a",))),
        (
            "3.5 million rows",
            "3.5 thousand rows",
            PlanDiff(added=("3.5 thousand rows",), dropped=("3.5 million rows",)),
        ),
        ("**Known**: x", "**Known**: x", PlanDiff(kept=("**Known**: x",))),
    ],
)
def test_diff_of_plans_goes_by_their_lines_whatever_their_number(old: str, new: str, diff: PlanDiff) -> None:
    assert diff_plans(old, new) == diff


# -- editing a plan --------------------------------------------------------------------------------


def test_plan_that_is_edited_counts_from_the_next_call_and_for_the_next_difference() -> None:
    steering = Steering()
    tick = calls(("tick", {"n": 1}))
    agent = agent_of(["1. a\n2. b", tick, "1. c\n2. d", final(3)], steering.tick, planning_interval=1)
    with steering.doing({1: lambda: agent.memory.edit(_plans(agent)[0], plan="1. a\n2. c")}):
        events = list(agent.stream("go"))
    assert lines_of(event for event in events if isinstance(event, SettingChanged)) == snapshot(
        ["SettingChanged: the plan before step 1='edited' from the next call (at step 2)"]
    )
    assert _plans(agent)[1].diff == PlanDiff(added=("d",), dropped=("a",), kept=("c",))
    assert [message["content"] for message in model_of(agent).requests[3].messages[2:4]] == [
        "1. a\n2. c",
        agent.plan_handover(),
    ]
    assert agent.preview(1).messages[2]["content"] == "1. a\n2. b"


def test_plan_that_failed_can_be_written_by_the_person() -> None:
    steering = Steering()
    tick = calls(("tick", {"n": 1}))
    agent = agent_of(["", tick, "Plan B", final(3)], steering.tick, planning_interval=1)
    with steering.doing({1: lambda: agent.memory.edit(_plans(agent)[0], plan="Plan of mine")}):
        agent.run("go")
    assert [message["content"] for message in model_of(agent).requests[3].messages[2:4]] == [
        "Plan of mine",
        agent.plan_handover(),
    ]
    assert (_plans(agent)[1].is_first, _plans(agent)[1].diff.dropped) == (False, ("Plan of mine",))


def test_plan_that_is_dropped_leaves_the_run_without_one() -> None:
    steering = Steering()
    tick = calls(("tick", {"n": 1}))
    agent = agent_of(["Plan A", tick, "Plan B", final(3)], steering.tick, planning_interval=1)
    with steering.doing({1: lambda: agent.memory.drop(_plans(agent)[0])}):
        agent.run("go")
    assert [(plan.plan, plan.is_first) for plan in _plans(agent)] == [("Plan B", True)]


# -- interrupts ------------------------------------------------------------------------------------


def assert_usable_without_planning(agent: ToolCallingAgent) -> None:
    agent.planning_interval = None
    agent.approve_plan = None
    assert_usable(agent)


def test_interrupt_during_a_planning_call_keeps_what_was_said() -> None:
    agent = agent_of([{"content": "word " * 100}], planning_interval=1, stream_pieces=100)
    said: list[str] = []
    for event in agent.stream("go"):
        if isinstance(event, PlanDelta):
            said.append(event.text)
            if len(said) == 3:
                agent.interrupt("Enough.")
    plan = _plans(agent)[0]
    assert plan.is_interrupted
    assert (plan.plan, plan.model_output) == ("", "".join(said))
    assert agent.result is not None
    assert agent.result.error is not None
    assert (agent.result.status, agent.result.error.message) == ("interrupted", "Enough.")
    assert_usable_without_planning(agent)


def _planned_agent() -> ToolCallingAgent:
    return agent_of(
        [{"content": "Plan A", "reasoning": "Hm."}, _ADD, "Plan B", final(3)],
        planning_interval=1,
        stream_pieces=2,
    )


@pytest.mark.parametrize(("how", "n_after_answer"), [("closed", 2), ("interrupted", 3)])
def test_run_with_plans_stopped_at_any_event_leaves_a_valid_memory(how: str, n_after_answer: int) -> None:
    n_events = len(list(_planned_agent().stream("go")))
    for n_taken in range(1, n_events):
        agent = _planned_agent()
        events = agent.stream("go")
        for _ in range(n_taken):
            next(events)
        if how == "closed":
            events.close()
        else:
            agent.interrupt("Enough.")
            list(events)
        assert agent.result is not None
        assert agent.result.status == ("answered" if n_taken >= n_events - n_after_answer else "interrupted")
        assert agent.result.steps == agent.memory.steps
        assert_usable_without_planning(agent)


def test_plan_far_too_long_is_cut() -> None:
    agent = agent_of(["1. step one\n" * 8_000, final(1)], planning_interval=5, context_window=8_000)
    result = agent.run("go")
    assert result.status == "answered"
    assert len(result.plans[0].plan) <= 8_000
    assert "characters" in result.plans[0].plan  # the note of what is missing
