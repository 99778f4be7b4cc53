"""The person's checks of answers: what refuses one, what the model is told, what the result says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from agents.checking import AS_TEXT, add, agent_of, assert_valid, model_of, told
from inline_snapshot import snapshot

from agent_magic.agents.person.checks import Checks
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import CheckResult
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final


def positive(answer: Any) -> Any:
    return answer > 0


def even(answer: Any) -> Any:
    return (answer % 2 == 0, f"{answer} is odd")


def raising(answer: Any) -> Any:
    raise ValueError("I cannot read this")


def said_of(check: Callable[..., Any], answer: Any = 1) -> CheckResult:
    (result,) = Checks([check]).apply(answer, agent=None, memory=AgentMemory())
    return result


# -- what a check says ---------------------------------------------------------------------------------


def _exits(answer: Any) -> Any:
    raise SystemExit(3)


class _Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def _mute(answer: Any) -> Any:
    raise _Mute


def _asserts(answer: Any) -> Any:
    assert answer == 2, "it is two"
    return True


async def _late(answer: Any) -> bool:
    await asyncio.sleep(0)
    return True


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (lambda _: False, "it returned False"),
        (lambda _: None, "it returned None"),
        (lambda _: 0, "it returned 0"),
        (lambda _: (False, "too small"), "too small"),
        (lambda _: (None, 7), "7"),
        (lambda _: np.bool_(False), "it returned np.False_"),
        (raising, "ValueError: I cannot read this"),
        (_asserts, "AssertionError: it is two"),
        (_exits, "SystemExit: 3"),
        (_mute, "_Mute: <its text raised RuntimeError>"),
        (lambda answer: _late(answer), "it is async, and nothing waits for it"),  # noqa: PLW0108 - hides that it is
        (
            lambda _: pd.DataFrame({"a": [1]}),
            "ValueError: The truth value of a DataFrame is ambiguous.",
        ),
        (lambda _: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda _: [False, "too late"], "too late"),
        (lambda _: (said for said in (False,)), "it yields, and nothing takes that"),
        (lambda _: (False, "\x1b[31mred\x1b[0m"), "red"),
    ],
)
def test_check_refuses_with_its_reason(check: Callable[..., Any], reason: str) -> None:
    result = said_of(check)
    assert not result.passed
    assert result.reason.startswith(reason)


@pytest.mark.parametrize("said", [True, 1, "fine", np.bool_(True), (True, "fine"), [0], (0, 0, 0)])
def test_check_accepts_what_is_true(said: Any) -> None:
    assert said_of(lambda _: said) == CheckResult(name="<lambda>", passed=True)


def test_reason_of_a_refusal_is_bounded_and_holds_no_key() -> None:
    result = said_of(lambda _: (False, "sk-proj-" + "a1B2" * 12 + " " + "x" * 5_000))
    assert len(result.reason) <= 1_000
    assert "a1B2a1B2" not in result.reason


def test_checks_are_asked_in_order_up_to_the_first_that_refuses() -> None:
    asked: list[str] = []

    def first(answer: Any) -> bool:
        asked.append("first")
        return True

    def second(answer: Any) -> bool:
        asked.append("second")
        return False

    def third(answer: Any) -> bool:
        asked.append("third")
        return True

    results = Checks([first, second, third]).apply(1, agent=None, memory=AgentMemory())
    assert asked == ["first", "second"]
    assert [(result.name, result.passed) for result in results] == [("first", True), ("second", False)]


def test_check_is_given_the_keywords_that_it_names() -> None:
    seen: list[Any] = []

    def plain(answer: Any) -> bool:
        seen.append(answer)
        return True

    def with_agent(answer: Any, *, agent: ToolCallingAgent) -> bool:
        seen.append(agent)
        return True

    def with_memory(answer: Any, memory: AgentMemory) -> bool:
        seen.append(len(memory.steps))
        return True

    def with_all(answer: Any, **rest: Any) -> bool:
        seen.append(sorted(rest))
        return True

    checks = [plain, with_agent, with_memory, with_all]
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3)], final_answer_checks=checks)
    assert agent.run("1 + 2").verified == "yes"
    assert seen == [3, agent, 2, ["agent", "memory"]]


def _needs_more(answer: Any, wanted: int) -> bool:
    return answer == wanted


def _takes_none() -> bool:
    return True


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (
            _needs_more,
            snapshot(
                "The check _needs_more(answer: 'Any', wanted: 'int') -> 'bool' cannot be called with one argument: missing a required argument: 'wanted'. Write def check(answer): … It may also take agent and memory as keywords."
            ),
        ),
        (
            _takes_none,
            snapshot(
                "The check _takes_none() -> 'bool' cannot be called with one argument: too many positional arguments. Write def check(answer): … It may also take agent and memory as keywords."
            ),
        ),
        (_late, snapshot("The check _late is async, and nothing waits for it. Write def check(answer): …")),
        (
            "positive",
            snapshot("'positive' is no function, so it cannot serve as check. Write def check(answer): …"),
        ),
    ],
)
def test_check_that_cannot_be_called_is_refused_when_it_is_given(check: Any, text: str) -> None:
    with pytest.raises(OptionError) as caught:
        agent_of([], final_answer_checks=[check])
    assert caught.value.message == text
    agent = agent_of([])
    with pytest.raises(OptionError):
        agent.final_answer_checks = [check]
    assert agent.final_answer_checks == ()


# -- in a run ------------------------------------------------------------------------------------------


def test_refused_answer_is_told_and_the_run_goes_on_to_a_better_one() -> None:
    script = [final(-1), final(3), final(4)]
    agent = agent_of(script, final_answer_checks=[positive, even])
    result = agent.run("Give an even number over 0.")
    assert (result.status, result.value, result.verified) == ("answered", 4, "yes")
    assert result.checks == (
        CheckResult(name="positive", passed=True),
        CheckResult(name="even", passed=True),
    )
    assert told(result) == snapshot(
        [
            "The answer was not accepted: the check positive refused it (it returned False). Mend the answer and give it again.",
            "The answer was not accepted: the check even refused it (3 is odd). Mend the answer and give it again.",
            "accepted",
        ]
    )
    assert [step.is_final_answer for step in result.actions] == [False, False, True]
    assert result.actions[0].tool_results[0].output == -1
    assert_valid(agent.memory)


def test_refused_text_answer_is_told_to_a_model_without_native_calls() -> None:
    script = ["It is one.", "It is one.", "It is two."]
    agent = agent_of(script, capabilities=AS_TEXT, final_answer_checks=[lambda answer: "two" in answer])
    result = agent.run("1 + 1")
    assert (result.status, result.value, result.verified) == ("answered", "It is two.", "yes")
    assert model_of(agent).requests[2].messages[-1]["content"] == snapshot(
        "The answer was not accepted: the check <lambda> refused it (it returned False). Mend the answer and give it again."
    )
    assert_valid(agent.memory)


def test_last_answer_at_the_limit_passes_the_same_checks() -> None:
    script = [calls(("add", {"a": 1, "b": 2})), "About three."]
    agent = agent_of(script, max_steps=1, final_answer_checks=[lambda answer: "three" in answer])
    result = agent.run("1 + 2")
    assert (result.status, result.value, result.verified) == ("max_steps", "About three.", "yes")


def test_last_answer_that_a_check_refuses_is_marked() -> None:
    script = [calls(("add", {"a": 1, "b": 2})), "About three."]
    agent = agent_of(script, max_steps=1, final_answer_checks=[lambda answer: (False, "no figure")])
    result = agent.run("1 + 2")
    assert (result.status, result.value, result.verified) == ("max_steps", "About three.", "no")
    assert result.checks == (CheckResult(name="<lambda>", passed=False, reason="no figure"),)


def test_answer_without_checks_is_unchecked_and_no_answer_too() -> None:
    assert agent_of([final(1)]).run("1").verified == "unchecked"
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), ValueError("no")], max_steps=1)
    agent.final_answer_checks = [positive]
    assert agent.run("1 + 2").verified == "unchecked"


def test_refused_answer_is_not_counted_for_what_comes_after() -> None:
    agent = agent_of([final(-1), ValueError("gone")], final_answer_checks=[positive])
    result = agent.run("Give a number.")
    assert (result.status, result.value, result.verified) == ("failed", None, "unchecked")


def test_answer_refused_four_times_running_ends_the_run() -> None:
    agent = agent_of([final(-1)] * 9, final_answer_checks=[positive])
    result = agent.run("Give a number.")
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.message == snapshot(
        "The same failure came 4 times running, so the run was ended: The answer was not accepted: the check positive refused it (it returned False). Mend the answer and give it again."
    )


def test_check_that_edits_the_memory_is_heeded() -> None:
    def tidy(answer: Any, memory: AgentMemory) -> bool:
        memory.edit(1, observations="42")
        return answer == 42

    agent = agent_of([calls(("add", {"a": 1, "b": 2})), final(3), final(42)], final_answer_checks=[tidy])
    result = agent.run("1 + 2")
    assert (result.status, result.value) == ("answered", 42)
    assert model_of(agent).requests[2].messages[3]["content"] == "42"


def test_check_that_interrupts_ends_the_run() -> None:
    def stop(answer: Any, agent: ToolCallingAgent) -> bool:
        agent.interrupt("Enough.")
        return False

    agent = agent_of([final(1), final(2)], final_answer_checks=[stop])
    result = agent.run("1")
    assert result.status == "interrupted"
    assert_valid(agent.memory)


def test_ctrl_c_in_a_check_takes_no_answer() -> None:
    def slow(answer: Any) -> bool:
        raise KeyboardInterrupt

    agent = agent_of([final(1)], add, final_answer_checks=[slow])
    with pytest.raises(KeyboardInterrupt):
        agent.run("1")
    result = agent.result
    assert result is not None
    assert (result.status, result.value, result.verified) == ("interrupted", None, "unchecked")
    assert not result.actions[0].is_final_answer
    assert told(result) == snapshot(
        [
            """\
The run was interrupted before the answer was taken.

The person interrupted the run.\
"""
        ]
    )
    assert_valid(agent.memory)
    agent.final_answer_checks = [positive]
    agent.model = ScriptedModel([final(2)])
    resumed = agent.resume()
    assert (resumed.status, resumed.value, resumed.verified) == ("answered", 2, "yes")
