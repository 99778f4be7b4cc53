"""A run ends before the call that would pass its budget, and says which, and how to go on."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from agents.checking import Busy, add, agent_of, last_action, model_of
from inline_snapshot import snapshot

from agent_magic.core.events import RunEnded, StepEnded, Waiting
from agent_magic.core.result import RunResult
from agent_magic.core.steps import TaskStep
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel, ScriptedRequest

calls, final = ScriptedModel.calls, ScriptedModel.final


def adding(n: int, **usage: Any) -> dict[str, Any]:
    reply = calls(("add", {"a": n, "b": 1}))
    return reply | {"usage": usage} if usage else reply


def error_of(result: RunResult) -> str:
    assert result.status == "budget"
    assert result.value is None
    assert result.error is not None
    assert result.error.kind == "BudgetReached"
    return result.error.message


class Counted(ScriptedModel):
    """A script with a tokenizer: each word is a token."""

    def count_tokens(self, text: str) -> int:
        return len(text.split())


# -- tokens ------------------------------------------------------------------------------------------


def test_token_budget_stops_before_the_call_that_would_pass_it() -> None:
    used = {"input_tokens": 1_000, "output_tokens": 100}
    agent = agent_of([adding(n, **used) for n in range(9)], max_total_tokens=3_500)
    result = agent.run("Count.")
    # What comes is a little more than what was: the history has grown.
    assert error_of(result) == snapshot(
        "The next call would pass max_total_tokens=3,500: 3,300 were used, and it needs about 1,148. To go on, resume (with the same budget again) or raise it."
    )
    assert len(model_of(agent).requests) == 3
    assert result.usage.input_tokens == 3_000
    assert [step.step_number for step in result.actions] == [1, 2, 3]
    assert result.steps == agent.memory.steps


def test_token_budget_that_is_just_enough_is_enough() -> None:
    used = {"input_tokens": 1_000, "output_tokens": 0}
    script = [*[adding(n, **used) for n in range(3)], final(1) | {"usage": used}]
    assert agent_of(script, max_total_tokens=4_200).run("Count.").status == "answered"


def test_token_budget_without_reported_usage_goes_by_estimates_of_request_and_reply() -> None:
    reply = adding(1) | {"content": "I am adding now, and this is a rather long thought about it. " * 20}
    agent = agent_of([reply] * 9, max_total_tokens=3_000)
    result = agent.run("Count.")
    message = error_of(result)
    used = re.search(r": ([\d,]+) were used", message)
    assert used
    n_used = int(used[1].replace(",", ""))
    requests = model_of(agent).requests
    assert len(requests) == 2
    # Two requests, the second with the first's reply in it, and two replies of some 300 tokens.
    assert 1_500 < n_used <= 3_000
    assert result.usage.input_tokens is None


def test_token_budget_counts_calls_without_usage_that_were_made_before_it_was_set() -> None:
    agent = agent_of([adding(n) for n in range(9)])
    events = agent.stream("Count.")
    for event in events:
        if isinstance(event, StepEnded) and event.step.step_number == 4:  # pyright: ignore[reportAttributeAccessIssue] - an action
            agent.settings.update(max_total_tokens=1_000)
    assert agent.result is not None
    message = error_of(agent.result)
    assert len(model_of(agent).requests) == 4
    used = re.search(r": ([\d,]+) were used", message)
    assert used
    assert int(used[1].replace(",", "")) > 4 * 400


def test_first_call_is_not_made_if_its_tokens_are_known_to_pass_the_budget() -> None:
    agent = agent_of([final(1)], max_total_tokens=20)
    agent.model = model = Counted([final(1)])
    assert error_of(agent.run("Count.")) == snapshot(
        "The next call would pass max_total_tokens=20: 0 were used, and it needs about 248. To go on, resume (with the same budget again) or raise it."
    )
    assert model.requests == []
    assert agent.memory.steps == (agent.result.steps if agent.result else None)


def test_first_call_is_held_back_by_an_estimate_only_if_the_budget_is_of_another_order() -> None:
    agent = agent_of([final(1)], max_total_tokens=10)
    error_of(agent.run("Count."))
    assert model_of(agent).requests == []
    total = agent.preview(task="Count.").total_tokens
    agent = agent_of([final(1)], max_total_tokens=round(total / 3))
    assert agent.run("Count.").status == "answered"


def test_second_call_is_foreseen_by_what_the_first_one_reported() -> None:
    used = {"input_tokens": 100, "output_tokens": 10}
    agent = agent_of([adding(n, **used) for n in range(9)], max_total_tokens=250)
    error_of(agent.run("Count."))
    assert len(model_of(agent).requests) == 2


# -- cost --------------------------------------------------------------------------------------------


def test_cost_budget_stops_before_the_call_that_would_pass_it() -> None:
    used = {"input_tokens": 1_000, "output_tokens": 100, "cost_usd": 0.01}
    agent = agent_of([adding(n, **used) for n in range(9)], max_cost_usd=0.035)
    assert error_of(agent.run("Count.")) == snapshot(
        "The next call would pass max_cost_usd=0.035: $0.0300 were spent, and it costs about $0.0100. To go on, resume (with the same budget again) or raise it."
    )
    assert len(model_of(agent).requests) == 3


def test_cost_budget_goes_by_the_price_where_there_is_one() -> None:
    agent = agent_of([], max_cost_usd=0.00001)
    agent.model = model = Counted([final(1)], price=(0.001, 0.002))
    assert error_of(agent.run("Count.")) == snapshot(
        "The next call would pass max_cost_usd=1e-05: $0.0000 were spent, and it costs about $0.2480. To go on, resume (with the same budget again) or raise it."
    )
    assert model.requests == []


def test_cost_budget_estimates_unreported_tokens_by_the_price() -> None:
    agent = agent_of([], max_cost_usd=1.0)
    agent.model = model = ScriptedModel([adding(n) for n in range(9)], price=(0.0005, 0.0))
    message = error_of(agent.run("Count."))
    assert "were spent, and it costs about" in message
    assert 1 <= len(model.requests) <= 3


def test_cost_budget_ends_the_run_when_the_cost_is_not_known() -> None:
    agent = agent_of([adding(n, input_tokens=10, output_tokens=1) for n in range(9)], max_cost_usd=1.0)
    assert error_of(agent.run("Count.")) == snapshot(
        "What a call of scripted costs is not known, so max_cost_usd=1 cannot be kept. Limit max_total_tokens instead."
    )
    assert len(model_of(agent).requests) == 1


# -- time --------------------------------------------------------------------------------------------


def test_time_budget_stops_before_the_call_that_would_pass_it() -> None:
    agent = agent_of([adding(n) for n in range(9)], latency_s=0.2, max_time_s=0.5)
    start = time.perf_counter()
    result = agent.run("Count.")
    assert time.perf_counter() - start < 10
    assert re.sub(r"\d+\.\d+ s", "… s", error_of(result)) == snapshot(
        "The next call would pass max_time_s=0.5: … s have gone and a call takes about … s. To go on, resume (with the same budget again) or raise it."
    )
    assert len(model_of(agent).requests) == 2


def test_time_budget_does_not_wait_for_a_retry_that_it_has_no_time_for() -> None:
    class SlowToReturn(Busy):
        headers = {"Retry-After": "20"}  # noqa: RUF012 - as the provider libraries have it

    agent = agent_of([SlowToReturn("busy"), final(1)], max_time_s=5)
    start = time.perf_counter()
    events = list(agent.stream("Count."))
    assert time.perf_counter() - start < 15  # and not 20
    assert not any(isinstance(event, Waiting) for event in events)
    assert agent.result is not None
    assert re.sub(r"\d+\.\d+ s have", "… s have", error_of(agent.result)) == snapshot(
        "The next call would pass max_time_s=5: … s have gone and it has to wait 20.0 s. To go on, resume (with the same budget again) or raise it."
    )


# -- what counts, and what comes after ------------------------------------------------------------------


def test_calls_for_plans_count() -> None:
    plan, used = {"input_tokens": 220, "output_tokens": 10}, {"input_tokens": 600, "output_tokens": 10}
    script = [{"content": "1. Add.", "usage": plan}, adding(1, **used), adding(2, **used), final(3)]
    agent = agent_of(script, max_total_tokens=1_100, planning_interval=5)
    error_of(agent.run("Count."))
    assert [request.kind for request in model_of(agent).requests] == ["plan", "act"]


def test_last_answer_is_not_asked_for_over_the_budget() -> None:
    used = {"input_tokens": 1_000, "output_tokens": 0}
    agent = agent_of([adding(1, **used), "About two."], max_total_tokens=1_500, max_steps=1)
    result = agent.run("Count.")
    assert (result.status, result.value) == ("max_steps", None)
    assert result.error is not None
    assert result.error.kind == "BudgetReached"
    assert len(model_of(agent).requests) == 1


def test_budget_reached_while_a_plan_is_due_leaves_no_plan() -> None:
    plan, used = {"input_tokens": 220, "output_tokens": 10}, {"input_tokens": 600, "output_tokens": 10}
    script = [{"content": "1. Add.", "usage": plan}, adding(1, **used), "2. Add."]
    agent = agent_of(script, max_total_tokens=1_000, planning_interval=1)
    result = agent.run("Count.")
    error_of(result)
    assert len(result.plans) == 1
    assert result.steps[-1] is last_action(agent)


def test_resume_after_a_budget_has_the_same_budget_again() -> None:
    used = {"input_tokens": 1_000, "output_tokens": 0}
    agent = agent_of([adding(n, **used) for n in range(3)] + [final(9)], max_total_tokens=2_300)
    first = agent.run("Count.")
    error_of(first)
    second = agent.resume()
    assert (second.status, second.value, second.resumed_from) == ("answered", 9, first.run_id)
    assert [step.step_number for step in second.actions] == [3, 4]
    told = second.steps[0]
    assert isinstance(told, TaskStep)
    assert told.task == snapshot(
        "The run had used up its budget. It goes on now, with 20 more steps. Calls above that have a result keep it and need not be made again. Do what is still to do, then answer."
    )


def test_budget_of_one_run_is_not_eaten_by_another() -> None:
    used = {"input_tokens": 1_000, "output_tokens": 0}
    script = [reply for n in range(3) for reply in (adding(n, **used), final(n) | {"usage": used})]
    agent = agent_of(script, max_total_tokens=2_300)
    assert [agent.run("Count.", reset=False).status for _ in range(3)] == ["answered"] * 3


def test_budget_that_is_raised_while_the_run_goes_on_holds_from_the_next_call() -> None:
    used = {"input_tokens": 1_000, "output_tokens": 0}

    def raise_budget(_request: ScriptedRequest) -> Any:
        agent.settings.update(max_total_tokens=100_000)
        return adding(2, **used)

    script = [adding(1, **used), raise_budget, adding(3, **used), final(4)]
    agent = agent_of(script, max_total_tokens=2_500)
    assert agent.run("Count.").status == "answered"


@pytest.mark.parametrize("capabilities", [Capabilities(), Capabilities(tools=False)], ids=["native", "text"])
def test_run_without_a_budget_counts_nothing(capabilities: Capabilities) -> None:
    agent = agent_of([adding(1), final(2)], add, capabilities=capabilities)
    *_, ended = agent.stream("Count.")
    assert isinstance(ended, RunEnded)
    assert ended.result.usage.input_tokens is None
