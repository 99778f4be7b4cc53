"""Malformed and hostile replies of a model that calls tools, each asked of a real agent, in each form that it can have."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cases.bad_replies import Raw, calls_of, cases_of, forms_of
from cases.tool_clauses import MAX_STEP_S, NEVER, NOTES
from cases.tool_replies import Seen, ask
from kernels import Kernel
from view.markup import ATTRIBUTES, ELEMENTS

KNOWN_OF_CASE = {
    "id", "kind", "title", "output", "output_parts", "tool_calls", "tool_calls_repeat", "content", "script_repeat", "expect",
}  # fmt: skip
KNOWN = {
    "outcome", "also_ok", "calls", "calls_if_run", "calls_repeat", "final_if_final", "final", "error_any", "never", "note",
}  # fmt: skip
MAX_ERROR = 4_000

pytestmark = pytest.mark.kernel


@pytest.fixture
def kernel(kept_kernel: Kernel) -> Kernel:
    """One process for all; each case empties the namespace."""
    return kept_kernel


@pytest.mark.parametrize(
    ("case", "form"),
    [
        pytest.param(case, form, id=f"{case['id']}-{form}")
        for case in cases_of("tool", is_provider=False)
        for form in forms_of(case)
    ],
)
def test_bad_reply_has_its_outcome(kernel: Kernel, case: Raw, form: str) -> None:
    assert case.keys() <= KNOWN_OF_CASE
    seen = ask(kernel, case, form)
    judge(seen)
    check_rules(seen)


def judge(seen: Seen) -> None:
    expect = seen.case["expect"]
    assert expect.keys() <= KNOWN
    outcome = outcome_of(seen)
    assert outcome in (expect["outcome"], *expect.get("also_ok", ())), seen.run
    check_calls(seen, outcome)
    match outcome:
        case "error_step":
            assert_told(seen)
            assert_answered(seen, expect.get("final", "recovered"), 2)
        case "run_calls":
            assert_answered(seen, expect.get("final", "recovered"), 2)
        case "partial":
            faults = [result["fault"] for result in seen.first.results if result["fault"]]
            assert len(set(faults)) == len(faults) > 1  # each its own
            assert_told(seen)
            assert_answered(seen, expect.get("final", "recovered"), 2)
        case "final":
            is_as_good = expect["outcome"] != "final"
            assert_answered(seen, expect["final_if_final" if is_as_good else "final"], 1)
        case "fail_run":
            assert any(word in (seen.run.error or "").lower() for word in expect["error_any"]), seen.run.error
            assert seen.run.answer["value"] is None
        case _:
            raise AssertionError(outcome)
    for never in expect.get("never", ()):
        NEVER[never](seen)
    if "note" in expect:
        NOTES[expect["note"]](seen)


def outcome_of(seen: Seen) -> str:
    if seen.run.status != "answered":
        return "fail_run"
    if seen.first.is_final:
        return "final"
    if not seen.first.faults:
        return "run_calls"
    return "partial" if any(result["has_run"] for result in seen.first.results) else "error_step"


def check_calls(seen: Seen, outcome: str) -> None:
    """The calls that ran, in the record and in the tools, are those that were to."""
    wanted = wanted_calls(seen.case["expect"], outcome)
    ran = [result for step in seen.run.steps for result in step.results if result["has_run"]]
    made = [
        (result["name"], {name: value["value"] for name, value in result["arguments"].items()})
        for result in ran
    ]
    if seen.case.get("script_repeat"):
        calls = [(call["name"], call["arguments"]) for call in calls_of(seen.case)]
        wanted = calls * len(seen.run.steps)
    assert [name for name, _ in made] == [name for name, _ in wanted]
    left = list(seen.called)
    for (name, arguments), (_, written) in zip(wanted, made, strict=True):
        if outcome != "run_calls" or "notes" not in seen.case["expect"].get("note", ""):
            assert is_part(arguments, written), (arguments, written)  # else it is noted how they were read
        match = next(call for call in left if call[0] == name and is_part(arguments, call[1]))
        left.remove(match)
    assert left == []


def wanted_calls(expect: dict[str, Any], outcome: str) -> list[tuple[str, dict[str, Any]]]:
    if outcome != expect["outcome"] and outcome in ("error_step", "final", "fail_run"):
        return []
    if "calls_repeat" in expect:
        repeat = expect["calls_repeat"]
        return [(repeat["name"], repeat["arguments"])] * repeat["times"]
    key = "calls" if outcome == expect["outcome"] else "calls_if_run"
    return [(call["name"], call.get("arguments", {})) for call in expect.get(key, ())]


def is_part(wanted: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether each wanted argument was given, as the very value: True is not 1."""
    return all(
        name in given and (type(given[name]), given[name]) == (type(value), value)
        for name, value in wanted.items()
    )


def assert_told(seen: Seen) -> None:
    """The fault is named, where the model reads it."""
    error = seen.first.error
    assert any(word.lower() in error.lower() for word in seen.case["expect"]["error_any"]), error
    for fault in seen.first.faults:
        assert fault["message"] in seen.first.told
        assert json.dumps(fault["message"])[1:-1] in json.dumps(seen.requests[1])


def assert_answered(seen: Seen, value: Any, n_steps: int) -> None:
    assert seen.run.status == "answered"
    assert len(seen.run.steps) == n_steps
    assert seen.run.answer == {"type": type(value).__name__, "is_held": True, "value": value}


def check_rules(seen: Seen) -> None:
    """What holds for every case."""
    # memory can be saved and loaded again; every call has exactly one result message under its id
    seen.cells.check_calls()
    # the kernel stays alive: it has just answered
    assert seen.cells.kernel.is_alive()
    # no step takes over 2 s more than the tools, which take no time; where others keep the machine, no work of ours
    assert [
        step.seconds for step in seen.run.steps if step.seconds > MAX_STEP_S
    ] == [] or seen.cpu_s < MAX_STEP_S
    # no error text shown to the model is over 4000 characters
    faults = [fault["message"] for step in seen.run.steps for fault in step.faults]
    assert [len(fault) for fault in faults if len(fault) > MAX_ERROR] == []
    # no traceback of the agent's own code reaches the user
    assert seen.done.error is None
    for trace in ("Traceback", "agent_magic/", "site-packages"):
        assert trace not in seen.stored, trace
    # what the page holds is of our making: no element, no attribute from the text
    assert set(seen.page.elements) <= ELEMENTS
    assert {name for name, _ in seen.page.attributes} <= ATTRIBUTES
    assert seen.page.is_balanced
