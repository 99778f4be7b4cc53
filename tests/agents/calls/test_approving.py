"""Runs that ask their person: which calls and plans, what each answer does, and what if nobody is there."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from functools import partial
from typing import Any

import pytest
from agents.answering import answering, approve, only
from agents.checking import (
    PATIENCE_S,
    add,
    agent_of,
    assert_usable,
    assert_valid,
    eventually,
    last_action,
    model_of,
    told,
    within,
)
from agents.steering import Steering, lines_of
from inline_snapshot import snapshot
from processes import read_line, started

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.events import (
    ApprovalGiven,
    Notice,
    SettingChanged,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.messages import ToolCall
from agent_magic.core.state import DictState
from agent_magic.core.steps import PlanningStep
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.toolbox import LiveTool

calls, final = ScriptedModel.calls, ScriptedModel.final
_ADD = calls(("add", {"a": 1, "b": 2}))
_CALL_EVENTS = (Waiting, ApprovalGiven, SettingChanged, Notice, ToolCallStarted, ToolCallEnded)


def _asking(replies: list[Any], *tools: Any, **settings: Any) -> ToolCallingAgent:
    return agent_of(replies, *tools, **{"approve": "tools", **settings})


def _answer_each(agent: ToolCallingAgent, *answers: tuple[Any, ...]) -> Any:
    """Answers the items of a question one after the other: a verdict, and options by name."""

    def answer(question: Any) -> None:
        for item, (verdict, options) in zip(question.items, answers, strict=True):
            agent.approvals.answer(item.id, verdict, digest=item.digest, **options)

    return answer


# -- calls -----------------------------------------------------------------------------------------


def test_call_is_made_once_it_is_approved() -> None:
    agent = _asking([_ADD, final(3)])
    with answering(agent, partial(approve, agent)) as raised:
        events = list(agent.stream("go"))
    assert not raised
    assert lines_of(event for event in events if isinstance(event, _CALL_EVENTS)) == snapshot(
        [
            "Waiting: approval of add at 1",
            "ApprovalGiven: add, approved, by the person",
            "ToolCallStarted: add({'a': 1, 'b': 2})",
            "ToolCallEnded: add gave '3'",
        ]
    )
    assert agent.result is not None
    assert (agent.result.status, agent.result.value) == ("answered", 3)
    assert agent.approvals.open == ()


def test_question_tells_what_is_asked() -> None:
    agent = _asking([calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), final(3)])
    with answering(agent, partial(approve, agent)):
        events = list(agent.stream("go"))
    (question,) = [event.question for event in events if isinstance(event, Waiting)]
    assert question is not None
    assert agent.result is not None
    assert (question.run_id, question.step_number) == (agent.result.run_id, 1)
    assert [(item.kind, item.call) for item in question.items] == [
        ("call", call) for call in agent.result.actions[0].tool_calls
    ]
    assert [item.id for item in question.items] == [f"{question.id}-0", f"{question.id}-1"]
    assert len({item.digest for item in question.items}) == 2


def test_body_is_not_entered_before_the_answer() -> None:
    entered = threading.Event()

    def enter() -> str:
        """Enter."""
        entered.set()
        return "in"

    agent = _asking([calls(("enter", {})), final(1)], enter)

    def wait_first(question: Any) -> None:
        time.sleep(0.1)
        assert not entered.is_set()
        approve(agent, question)

    with answering(agent, wait_first) as raised:
        agent.run("go")
    assert not raised
    assert entered.is_set()


def test_refused_call_is_told_to_the_model_and_the_others_run() -> None:
    agent = _asking([calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), final(7)])
    answer = _answer_each(agent, ("reject", {"reason": "I know that one."}), ("approve", {}))
    with answering(agent, answer):
        events = list(agent.stream("go"))
    assert lines_of(event for event in events if isinstance(event, _CALL_EVENTS)) == snapshot(
        [
            "Waiting: approval of add, add at 1",
            "ApprovalGiven: add, rejected, by the person, I know that one.",
            "ApprovalGiven: add, approved, by the person",
            "ToolCallEnded: add failed 'The person refused this call: I know that one. add was not run. Do not make this call again: do it another way, or give the final answer with what is known.'",
            "ToolCallStarted: add({'a': 3, 'b': 4})",
            "ToolCallEnded: add gave '7'",
        ]
    )
    messages = model_of(agent).requests[1].messages
    assert [(message["content"]) for message in messages if message["role"] == "tool"] == snapshot(
        [
            "The person refused this call: I know that one. add was not run. Do not make this call again: do it another way, or give the final answer with what is known.",
            "7",
        ]
    )
    assert agent.result is not None
    result = agent.result.actions[0].tool_results[0]
    assert (
        result.timing,
        result.fault and result.fault.kind,
        result.fault and result.fault.is_for_model,
    ) == (
        None,
        "CallRejected",
        True,
    )


def test_refusal_without_a_reason_says_what_to_do() -> None:
    agent = _asking([_ADD, final(3)])
    with answering(agent, _answer_each(agent, ("reject", {}))):
        result = agent.run("go")
    assert told(result)[0] == snapshot(
        "The person refused this call. add was not run. Do not make this call again: do it another way, or give the final answer with what is known."
    )


def test_refused_calls_that_are_made_again_end_the_run() -> None:
    agent = _asking([_ADD] * 9)
    answer = _answer_each(agent, ("reject", {"reason": "no"}))
    with answering(agent, *[answer] * 9):
        result = agent.run("go")
    assert (result.status, len(result.actions)) == ("failed", 4)
    assert result.error is not None
    assert result.error.message == snapshot(
        "The same failure came 4 times running, so the run was ended: The person refused this call: no. add was not run. Do not make this call again: do it another way, or give the final answer with what is known."
    )


def test_edited_call_runs_with_the_persons_arguments_and_the_model_reads_so() -> None:
    agent = _asking([_ADD, final(3)])
    with answering(agent, _answer_each(agent, ("edit", {"arguments": {"a": 10, "b": "20"}}))):
        result = agent.run("go")
    (called,) = result.actions[0].tool_results
    assert (called.call.arguments, called.output) == ({"a": 1, "b": 2}, 30)
    assert told(result)[0] == snapshot("""\
(the person changed the arguments to {"a": 10, "b": "20"})
(b: text '20' read as 20)
30\
""")


def test_edit_that_does_not_fit_goes_back_to_the_person() -> None:
    agent = _asking([_ADD, final(3)])
    errors: list[str] = []

    def answer(question: Any) -> None:
        item = only(question)
        for arguments in ({"a": 1}, {"a": 1, "b": 2, "c": 3}, {"a": "one", "b": 2}):
            with pytest.raises(OptionError) as raised:
                agent.approvals.answer(item.id, "edit", arguments=arguments)
            errors.append(raised.value.message)
        agent.approvals.answer(item.id, "edit", arguments={"a": 5, "b": 5})

    with answering(agent, answer) as raised:
        result = agent.run("go")
    assert not raised
    assert errors == snapshot(
        [
            'add: argument \'b\' is missing. Call add with {"a": <integer>, "b": <integer>}.',
            'add: there is no argument \'c\'. Call add with {"a": <integer>, "b": <integer>}.',
            "add: argument 'a' is 'one'; expected an integer. Call add with {\"a\": <integer>, \"b\": <integer>}.",
        ]
    )
    assert result.actions[0].action_output == 10


def test_edited_arguments_may_refer_to_variables() -> None:
    agent = _asking(
        [calls(("count", {"rows": "@small"})), final(2)], count, state={"small": [1], "big": [1, 2]}
    )
    with answering(agent, _answer_each(agent, ("edit", {"arguments": {"rows": "@big"}}))):
        result = agent.run("go")
    assert result.actions[0].action_output == 2


def count(rows: list[int]) -> int:
    """Count rows.

    Args:
        rows: to be counted
    """
    return len(rows)


def test_calls_that_cannot_be_made_are_not_asked_about() -> None:
    agent = _asking([calls(("add", {"a": 1}), ("sub", {}), ("add", {"a": 1, "b": 2})), final(3)])
    asked: list[Any] = []

    def answer(question: Any) -> None:
        asked.extend(item.call.arguments for item in question.items)
        approve(agent, question)

    with answering(agent, answer):
        result = agent.run("go")
    assert asked == [{"a": 1, "b": 2}]
    assert [bool(one.fault) for one in result.actions[0].tool_results] == [True, True, False]


def test_answers_and_looks_into_what_was_cut_are_not_asked_about() -> None:
    def long() -> str:
        """Say much."""
        return "x" * 20_000

    peek = calls(("peek", {"name": "obs_1", "start": 0, "length": 10}))

    def ask_from_now(step: Any) -> None:
        agent.approve = "all"

    agent = agent_of([calls(("long", {})), peek, final(1)], long, step_callbacks=[ask_from_now])
    result = agent.run("go")
    assert (result.status, [call.name for step in result.actions for call in step.tool_calls]) == (
        "answered",
        ["long", "peek", "final_answer"],
    )


def test_tool_of_the_persons_own_named_peek_is_asked_about() -> None:
    def peek() -> str:
        """Look."""
        return "seen"

    agent = _asking([calls(("peek", {})), final(1)], peek)
    with answering(agent, _answer_each(agent, ("reject", {}))):
        result = agent.run("go")
    assert result.actions[0].faults[0].kind == "CallRejected"


def test_all_calls_of_a_turn_are_one_question_and_decided_in_any_order() -> None:
    n_calls = 200
    agent = _asking([calls(*(("add", {"a": n, "b": 0}) for n in range(n_calls))), final(1)])

    def answer(question: Any) -> None:
        for item in reversed(question.items):
            agent.approvals.answer(item.id, "approve", digest=item.digest)

    with answering(agent, answer) as raised:
        events = list(agent.stream("go"))
    assert not raised
    given = [event for event in events if isinstance(event, ApprovalGiven)]
    assert [int(event.item_id.partition("-")[2]) for event in given] == list(reversed(range(n_calls)))
    assert agent.result is not None
    assert [one.output for one in agent.result.actions[0].tool_results] == list(range(n_calls))


def test_each_decision_is_told_when_it_is_made() -> None:
    agent = _asking([calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), final(3)])
    verdicts: list[str] = []
    with agent.approvals.attended():
        for event in agent.stream("go"):
            match event:
                case Waiting(question=question) if question is not None:
                    agent.approvals.answer(question.items[1].id, "approve")
                case ApprovalGiven(verdict=verdict):
                    verdicts.append(verdict)
                    (question,) = agent.approvals.open or (None,)
                    if question and agent.approvals.is_open(question.items[0].id):
                        agent.approvals.answer(question.items[0].id, "reject", reason="enough")
                case _:
                    pass
    assert verdicts == ["approved", "rejected"]


def test_tool_that_was_defined_anew_while_it_was_asked_about_is_the_one_that_runs() -> None:
    def look(n: int) -> str:
        """Look."""
        return f"old {n}"

    def look_anew(n: int) -> str:
        """Look again."""
        return f"new {n}"

    def look_by_name(name: str) -> str:
        """Look by name."""
        return f"at {name}"

    state = DictState({"look": look})
    agent = _asking([calls(("look", {"n": 1}))] * 2 + [final(1)], LiveTool(name="look", state=state))

    def answer(new: Any, question: Any) -> None:
        state["look"] = new
        approve(agent, question)

    with answering(agent, partial(answer, look_anew), partial(answer, look_by_name)):
        result = agent.run("go")
    assert told(result)[:2] == snapshot(
        [
            "new 1",
            "look: argument 'name' is missing; there is no argument 'n'. Call look with {\"name\": <string>}.",
        ]
    )


def test_tool_that_went_while_it_was_asked_about_is_told_as_gone() -> None:
    def look() -> str:
        """Look."""
        return "seen"

    state = DictState({"look": look})
    agent = _asking([calls(("look", {})), final(1)], LiveTool(name="look", state=state), add)

    def answer(question: Any) -> None:
        del state["look"]
        approve(agent, question)

    with answering(agent, answer):
        result = agent.run("go")
    assert told(result)[0] == snapshot("No tool 'look'. Tools: add, final_answer. Call one of these.")


# -- the policy ------------------------------------------------------------------------------------


def test_policy_is_a_setting_of_the_agent() -> None:
    agent = agent_of([])
    assert (agent.approve, agent.settings.approve) == ("never", "never")
    agent.approve = "all"
    assert agent.settings.values.approve == "all"
    with pytest.raises(OptionError) as raised:
        agent.settings.update(approve="tool")
    assert raised.value.message == snapshot(
        "approve='tool' is not allowed. Nearest: 'tools'. Give one of: 'never', 'code', 'tools', 'all'."
    )
    assert agent.approve == "all"


def test_policy_that_is_turned_on_in_a_run_holds_from_the_next_call() -> None:
    steering = Steering()
    agent = agent_of([calls(("tick", {"n": 1})), calls(("tick", {"n": 2})), final(1)], steering.tick)
    with (
        answering(agent, partial(approve, agent)),
        steering.doing({1: lambda: agent.settings.update(approve="tools")}),
    ):
        events = list(agent.stream("go"))
    assert lines_of(event for event in events if isinstance(event, _CALL_EVENTS)) == snapshot(
        [
            "ToolCallStarted: tick({'n': 1})",
            "ToolCallEnded: tick gave 'tick 1'",
            "SettingChanged: approve='tools' from the next call (at step 2)",
            "Waiting: approval of tick at 2",
            "ApprovalGiven: tick, approved, by the person",
            "ToolCallStarted: tick({'n': 2})",
            "ToolCallEnded: tick gave 'tick 2'",
        ]
    )


@pytest.mark.parametrize("way", ["on", "off"])
def test_policy_that_is_turned_while_the_model_writes_holds_for_the_calls_of_that_reply(way: str) -> None:
    before, after = ("never", "tools") if way == "on" else ("tools", "never")

    def turn(_request: Any) -> Any:
        agent.approve = after
        return _ADD

    agent = agent_of([turn, final(3)], approve=before)
    with answering(agent, partial(approve, agent)):
        events = list(agent.stream("go"))
    kinds = [type(event).__name__ for event in events if isinstance(event, _CALL_EVENTS)]
    asked = ["Waiting", "ApprovalGiven"] if way == "on" else []
    assert kinds == ["SettingChanged", *asked, "ToolCallStarted", "ToolCallEnded"]


def test_nothing_is_asked_by_default() -> None:
    agent = agent_of([_ADD, final(3)])
    events = list(agent.stream("go"))
    assert not [event for event in events if isinstance(event, Waiting | ApprovalGiven)]


def test_waiting_for_the_person_does_not_count_as_time_of_the_run() -> None:
    agent = _asking([_ADD, final(3)], max_time_s=1.0)

    def answer(question: Any) -> None:
        time.sleep(1.2)
        approve(agent, question)

    with answering(agent, answer):
        result = agent.run("go")
    assert result.status == "answered"


def test_pause_neither_holds_nor_answers_a_question() -> None:
    agent = _asking([_ADD, final(3)])

    def answer(question: Any) -> None:
        agent.pause()
        time.sleep(0.1)
        assert agent.approvals.open
        approve(agent, question)
        assert eventually(lambda: bool(not agent.approvals.open))
        agent.unpause()

    with answering(agent, answer) as raised:
        result = agent.run("go")
    assert not raised
    assert result.status == "answered"


def test_rule_that_approves_all_is_named_beside_each_call() -> None:
    agent = _asking(["1. Add.", _ADD, final(3)], approve="all", planning_interval=5)
    with agent.approvals.approving_all("the rule of this test"):
        events = list(agent.stream("go"))
    assert not [event for event in events if isinstance(event, Waiting)]
    assert [
        (event.decision.item.name, event.verdict, event.decision.by)
        for event in events
        if isinstance(event, ApprovalGiven)
    ] == [("the plan", "approved", "the rule of this test"), ("add", "approved", "the rule of this test")]


def test_two_runs_at_once_ask_each_for_itself() -> None:
    agent = ToolCallingAgent([add], ScriptedModel.rules({"go": _ADD, "3": final(3)}), approve="tools")
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(agent.run("go", reset=False)), daemon=True)
        for _ in range(2)
    ]
    with agent.approvals.attended():
        for thread in threads:
            thread.start()
        assert eventually(lambda: len(agent.approvals.open) == 2)
        for question in agent.approvals.open:
            approve(agent, question)
        for thread in threads:
            thread.join(PATIENCE_S)
    assert [result.value for result in results] == [3, 3]


# -- nobody is there -------------------------------------------------------------------------------


def test_run_that_nobody_can_answer_fails_and_says_how() -> None:
    agent = _asking([_ADD, final(3)])
    result = agent.run("go")
    assert (result.status, result.error and result.error.kind) == ("failed", "ApprovalError")
    assert result.error is not None
    assert result.error.message == snapshot(
        "approve='tools' wants a person to answer, and nobody can here. Answer from another thread inside `with agent.approvals.attended():` by agent.approvals.answer(…), or set approve='never'."
    )
    assert told(result) == snapshot(
        [
            """\
The call was not run: the run ended before it.

approve='tools' wants a person to answer, and nobody can here. Answer from another thread inside `with agent.approvals.attended():` by agent.approvals.answer(…), or set approve='never'.\
"""
        ]
    )
    agent.settings.update(approve="never", planning_interval=None)
    assert_usable(agent)


def test_run_fails_where_everybody_is_away_or_leaves() -> None:
    agent = _asking([_ADD, _ADD, final(3)])
    with agent.approvals.attended(lambda: False):
        assert agent.run("go").error is not None
    with within(PATIENCE_S):
        left = threading.Event()

        def leave() -> None:
            with agent.approvals.attended():
                left.set()
                eventually(lambda: bool(agent.approvals.open))

        thread = threading.Thread(target=leave)
        thread.start()
        left.wait(PATIENCE_S)
        result = agent.run("go")
        thread.join(PATIENCE_S)
    assert (result.status, result.error and result.error.kind) == ("failed", "ApprovalError")


def test_plan_that_nobody_can_approve_ends_the_run() -> None:
    agent = _asking(["1. Add.", final(3)], approve="all", planning_interval=1)
    events = list(agent.stream("go"))
    assert lines_of(events[-2:]) == snapshot(
        [
            "StepEnded: first plan before 1 failed: ApprovalError: approve='all' wants a person to answer, and nobody can here. Answer from another thread inside `with agent.approvals.attended():` by agent.approvals.answer(…), or set approve='never'.",
            "RunEnded: failed None (approve='all' wants a person to answer, and nobody can here. Answer from another thread inside `with agent.approvals.attended():` by agent.approvals.answer(…), or set approve='never'.)",
        ]
    )
    (plan,) = [step for step in agent.memory.steps if isinstance(step, PlanningStep)]
    assert (plan.plan, plan.model_output) == ("", "1. Add.")
    agent.settings.update(approve="never", planning_interval=None)
    assert_usable(agent)


# -- interrupts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["interrupt", "close"])
def test_interrupt_while_the_person_is_asked_leaves_the_calls_unmade(how: str) -> None:
    agent = _asking([calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), final(3)])
    events = agent.stream("go")
    with agent.approvals.attended():
        question = next(event.question for event in events if isinstance(event, Waiting))
        assert question is not None
        agent.approvals.answer(question.items[0].id, "approve")
        if how == "interrupt":
            agent.interrupt()
            for _ in events:
                pass
        else:
            events.close()
    assert agent.result is not None
    assert agent.result.status == "interrupted"
    assert [one.to_text() for one in last_action(agent).tool_results] == snapshot(
        [
            "The call was not run: the run was interrupted before it.",
            "The call was not run: the run was interrupted before it.",
        ]
    )
    assert agent.approvals.open == ()
    assert_valid(agent.memory)
    agent.model = ScriptedModel([_ADD, final(3)])
    with answering(agent, partial(approve, agent)):
        assert agent.resume().status == "answered"
    assert_valid(agent.memory)


def test_interrupt_from_another_thread_wakes_a_run_that_waits() -> None:
    agent = _asking([_ADD, final(3)])
    with within(10), answering(agent, lambda _question: agent.interrupt("Enough.")):
        result = agent.run("go")
    assert (result.status, result.error and result.error.message) == ("interrupted", "Enough.")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
@pytest.mark.parametrize("noted", [[], ["noted"]], ids=["plain", "noted"])
@pytest.mark.parametrize("delay_s", [0.0, 0.02, 0.2])
def test_real_ctrl_c_while_the_person_is_asked_leaves_the_calls_unmade(
    delay_s: float, noted: list[str]
) -> None:
    with started(["-m", "agents.stopped_at_question", *noted]) as child:
        assert read_line(child) == "asked"
        time.sleep(delay_s)
        sent_at = time.monotonic()
        child.send_signal(signal.SIGINT)
        found = json.loads(read_line(child))
    assert found.pop("ended_at") - sent_at < 0.5
    assert found == snapshot(
        {
            "status": "interrupted",
            "told": [
                "The call was not run: the run was interrupted before it.",
                "The call was not run: the run was interrupted before it.",
            ],
            "is_open": False,
            "resumed": ["answered", 10, [3, 7]],
        }
    )


def test_interrupt_while_a_plan_is_asked_about_leaves_no_plan() -> None:
    agent = _asking(["1. Add.", final(3)], approve="all", planning_interval=1)
    with answering(agent, lambda _question: agent.interrupt()):
        result = agent.run("go")
    assert (result.status, result.plans[0].plan, result.plans[0].is_interrupted) == ("interrupted", "", True)
    agent.settings.update(approve="never", planning_interval=None)
    assert_usable(agent)


# -- plans -----------------------------------------------------------------------------------------


def _planning(agent: ToolCallingAgent, *answers: Any) -> PlanningStep:
    with answering(agent, *answers) as raised:
        result = agent.run("go")
    assert not raised
    assert result.status == "answered"
    return result.plans[0]


def test_plan_counts_once_it_is_approved() -> None:
    agent = _asking(["1. Add.", final(3)], approve="all", planning_interval=5)
    assert _planning(agent, partial(approve, agent)).plan == "1. Add."


def test_edited_plan_is_the_one_that_counts() -> None:
    agent = _asking(["1. Add.", final(3)], approve="all", planning_interval=5)
    plan = _planning(agent, _answer_each(agent, ("edit", {"plan": " 1. Subtract.\n"})))
    assert (plan.plan, plan.model_output, plan.diff.added) == ("1. Subtract.", "1. Add.", ("Subtract.",))
    assert {"role": "assistant", "content": "1. Subtract."} in model_of(agent).requests[1].messages


@pytest.mark.parametrize(
    ("reason", "message"),
    [("", "The person refused this plan."), ("Too long.", "The person refused this plan: Too long.")],
)
def test_refused_plan_does_not_count_and_the_run_goes_on(reason: str, message: str) -> None:
    agent = _asking(["1. Add.", final(3)], approve="all", planning_interval=5)
    plan = _planning(agent, _answer_each(agent, ("reject", {"reason": reason})))
    assert plan.fault is not None
    assert (plan.plan, plan.fault.kind, plan.fault.message) == ("", "PlanRefused", message)


def test_plans_are_not_asked_about_by_the_policy_for_tools() -> None:
    agent = _asking(["1. Add.", final(3)], planning_interval=5)
    assert _planning(agent).plan == "1. Add."


def test_approve_plan_is_asked_before_the_person() -> None:
    agent = _asking(
        ["1. Add.", _ADD, "1. Subtract.", final(3)],
        approve="all",
        planning_interval=1,
        approve_plan=lambda plan: "1. Multiply." if "Add" in plan else False,
    )
    plans: list[Any] = []

    def answer(question: Any) -> None:
        plans.append(only(question).plan)
        approve(agent, question)

    with answering(agent, answer, partial(approve, agent)):
        result = agent.run("go")
    assert plans == ["1. Multiply."]
    assert [plan.plan for plan in result.plans] == ["1. Multiply.", ""]


# -- approve_call ----------------------------------------------------------------------------------


def test_approve_call_is_asked_of_every_call_but_the_answer() -> None:
    asked: list[tuple[str, Any]] = []

    def approve_call(call: ToolCall, agent: ToolCallingAgent) -> None:
        asked.append((call.name, agent))

    agent = agent_of(
        [calls(("add", {"a": 1, "b": 2}), ("add", {"a": 1})), final(3)], approve_call=approve_call
    )
    assert agent.run("go").status == "answered"
    assert asked == [("add", agent)]


class _Refusing(Exception):
    """Neither its text nor a comparison can be had."""

    def __str__(self) -> str:
        raise ValueError("no text")

    def __eq__(self, other: object) -> bool:
        raise ValueError("not to be compared")

    def __hash__(self) -> int:
        return id(self)


@pytest.mark.parametrize(
    ("said", "observation"),
    [
        (True, "3"),
        (None, "3"),
        ({"a": 1, "b": 2}, "3"),
        (
            {"a": 5, "b": 5},
            snapshot("""\
(the person changed the arguments to {"a": 5, "b": 5})
10\
"""),
        ),
        (
            False,
            snapshot(
                "The person refused this call. add was not run. Do not make this call again: do it another way, or give the final answer with what is known."
            ),
        ),
        (
            "It is too dear.",
            snapshot(
                "The person refused this call: It is too dear. add was not run. Do not make this call again: do it another way, or give the final answer with what is known."
            ),
        ),
        (
            {"a": 5},
            snapshot(
                'Nobody could be asked about this call, since approve_call returned arguments that do not fit (ToolCallError: add: argument \'b\' is missing. Call add with {"a": <integer>, "b": <integer>}). add was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known.'
            ),
        ),
        (
            7,
            snapshot(
                "Nobody could be asked about this call, since approve_call returned 7, which says neither yes nor no. add was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known."
            ),
        ),
        (
            RuntimeError("my bug"),
            snapshot(
                "Nobody could be asked about this call, since approve_call raised RuntimeError: my bug. add was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known."
            ),
        ),
        (
            RuntimeError(),
            snapshot(
                "Nobody could be asked about this call, since approve_call raised RuntimeError. add was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known."
            ),
        ),
        (
            SystemExit("bye"),
            snapshot(
                "Nobody could be asked about this call, since approve_call raised SystemExit: bye. add was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known."
            ),
        ),
        (
            _Refusing(),
            snapshot(
                "Nobody could be asked about this call, since approve_call raised _Refusing: <its text raised ValueError>. add was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known."
            ),
        ),
        (
            {"a": _Refusing(), "b": 2},
            snapshot(
                "Nobody could be asked about this call, since approve_call raised ValueError: not to be compared. add was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known."
            ),
        ),
    ],
    ids=[
        *("true", "none", "same", "arguments", "false", "reason", "misfit", "number", "raises"),
        *("raises without a text", "exits", "raises without words", "raises when compared"),
    ],
)
def test_approve_call_says_what_becomes_of_a_call(said: Any, observation: str) -> None:
    def approve_call(_call: ToolCall) -> Any:
        if isinstance(said, BaseException):
            raise said
        return said

    agent = agent_of([_ADD, final(3)], approve_call=approve_call)
    assert told(agent.run("go"))[0] == observation


@pytest.mark.parametrize(
    ("said", "notice"),
    [
        (
            {"a": 5},
            snapshot(
                'approve_call returned arguments that do not fit. add: argument \'b\' is missing. Call add with {"a": <integer>, "b": <integer>}. The call of add was not made.'
            ),
        ),
        (
            7,
            snapshot(
                "approve_call returned 7: give True, False, the reason of a refusal, or a mapping of arguments. The call of add was not made."
            ),
        ),
        (None, snapshot("approve_call raised ValueError: no table. The call of add was not made.")),
    ],
    ids=["misfit", "number", "raises"],
)
def test_approve_call_that_fails_keeps_the_call_from_being_made_and_is_told_to_the_person(
    said: Any, notice: str
) -> None:
    def approve_call(_call: ToolCall) -> Any:
        if said is None:
            raise ValueError("no table")
        return said

    agent = agent_of([_ADD, final(3)], approve_call=approve_call)
    notices = [event.message for event in agent.stream("go") if isinstance(event, Notice)]
    assert notices == [notice]
    assert agent.result is not None
    assert agent.result.actions[0].faults[0].kind == "CallRejected"


def test_approve_call_that_fails_is_told_to_code_and_of_code() -> None:
    def approve_call(call: ToolCall) -> bool:
        if call.name == "add" or "eval" in str(call.arguments):
            raise RuntimeError("my bug")
        return True

    blocks = ("add(1, 2)", "x = 'eval'", "final_answer(3)")
    model = ScriptedModel([f"<code>\n{block}\n</code>" for block in blocks])
    assert told(CodeAgent([add], model, approve_call=approve_call).run("go"))[:2] == snapshot(
        [
            """\
Nobody could be asked about this call, since approve_call raised RuntimeError: my bug. add was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known.
  line 1: `add(1, 2)`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""",
            "Nobody could be asked about this code, since approve_call raised RuntimeError: my bug. It was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known.",
        ]
    )


def test_what_approve_call_raised_reaches_the_model_bounded_and_without_secrets() -> None:
    def approve_call(_call: ToolCall) -> bool:
        raise RuntimeError("the key is sk-proj-" + "a" * 20 + "\x1b[31m!" + "." * 20_000)

    text = told(agent_of([_ADD, final(3)], approve_call=approve_call).run("go"))[0]
    assert text.startswith(
        "Nobody could be asked about this call, since approve_call raised RuntimeError: the key is [redacted]!.."
    )
    assert len(text) < 2_000


def test_person_is_not_asked_of_a_call_of_which_approve_call_could_not_say() -> None:
    def approve_call(call: ToolCall) -> bool:
        return 1 / (call.arguments["a"] - 1) < 0

    agent = _asking(
        [calls(("add", {"a": 0, "b": 5}), ("add", {"a": 1, "b": 5})), final(3)], approve_call=approve_call
    )
    asked: list[Any] = []

    def answer(question: Any) -> None:
        asked.extend(item.call.arguments["a"] for item in question.items)
        _answer_each(agent, ("approve", {}))(question)

    with answering(agent, answer) as raised:
        result = agent.run("go")
    assert not raised
    assert asked == [0]
    assert told(result)[0] == snapshot("""\
5

Nobody could be asked about this call, since approve_call raised ZeroDivisionError: division by zero. add was not run, and nobody refused it. The fault is not in what you wrote: do it another way, or give the final answer with what is known.\
""")


def test_person_is_asked_about_what_approve_call_let_by() -> None:
    agent = _asking(
        [calls(*(("add", {"a": n, "b": 0}) for n in range(4))), final(3)],
        approve_call=lambda call: {"a": 10, "b": 0} if call.arguments["a"] == 1 else call.arguments["a"] != 2,
    )
    asked: list[Any] = []

    def answer(question: Any) -> None:
        asked.extend(item.call.arguments["a"] for item in question.items)
        _answer_each(agent, ("approve", {}), ("approve", {}), ("edit", {"arguments": {"a": 30, "b": 0}}))(
            question
        )

    with answering(agent, answer) as raised:
        result = agent.run("go")
    assert not raised
    assert asked == [0, 10, 3]
    assert told(result)[0] == snapshot("""\
0

(the person changed the arguments to {"a": 10, "b": 0})
10

The person refused this call. add was not run. Do not make this call again: do it another way, or give the final answer with what is known.

(the person changed the arguments to {"a": 30, "b": 0})
30\
""")


def test_policy_that_nobody_can_answer_says_that_approve_call_is_asked_anyway() -> None:
    result = _asking([_ADD], approve_call=lambda _call: True).run("go")
    assert result.error is not None
    assert result.error.message == snapshot(
        "approve='tools' wants a person to answer, and nobody can here. Answer from another thread inside `with agent.approvals.attended():` by agent.approvals.answer(…), or set approve='never'. (approve_call is asked of every call, whatever approve says.)"
    )


def test_approve_call_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(OptionError) as raised:
        agent_of([], approve_call=lambda: True)
    assert raised.value.message == snapshot(
        "The approve_call <lambda>() cannot be called with one argument: too many positional arguments. Write def approve_call(call): … It may also take agent as a keyword."
    )
