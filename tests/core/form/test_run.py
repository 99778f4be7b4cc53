from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.form.memory import MemoryTables
from agent_magic.core.form.run import by_place, read_run, write_run
from agent_magic.core.form.step import read_step
from agent_magic.core.form.value import RecordedValue, UnreadableError, ValueReader
from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import CheckResult, RunResult
from agent_magic.core.steps import Fault, FinalAnswerStep, TaskStep, Timing


def _result(**fields: Any) -> RunResult:
    given: dict[str, Any] = {
        "run_id": "run_1",
        "agent_name": "analyst",
        "model_id": "scripted",
        "task": "count",
        "value": None,
        "status": "failed",
        "max_steps": 20,
        "steps": (TaskStep(task="count"),),
        "usage": TokenUsage(input_tokens=3),
        "timing": Timing(start=1.0, end=2.0),
    }
    return RunResult(**given | fields)


def _there_and_back(result: RunResult) -> RunResult:
    tables = MemoryTables()
    form = json.loads(json.dumps(write_run(result, tables.steps.place, tables.values)))
    steps = [read_step(step, ValueReader()) for step in tables.steps.forms]
    return read_run(form, by_place(lambda place: steps[place]), ValueReader())


def test_run_comes_back_with_all_that_it_has() -> None:
    result = _result(
        value=[1, (2,)],
        status="max_steps",
        error=Fault(kind="FinalAnswerRejected", message="no"),
        verified="no",
        checks=(CheckResult(name="is_even", passed=False, reason="3 is odd"),),
        resumed_from="run_0",
    )
    assert _there_and_back(result) == result


def test_value_that_a_step_holds_comes_back_as_the_very_object() -> None:
    answer = [1, 2]
    result = _result(
        status="answered", value=answer, steps=(TaskStep(task="count"), FinalAnswerStep(answer=answer))
    )
    again = _there_and_back(result)
    assert again == result
    assert isinstance(again.steps[-1], FinalAnswerStep)
    assert again.value is again.steps[-1].answer


def test_object_comes_back_by_its_repr() -> None:
    assert _there_and_back(_result(value=range(3))).value == RecordedValue(
        type_name="range", preview="range(0, 3)"
    )


def test_step_that_cannot_be_had_is_left_out() -> None:
    tables = MemoryTables()
    form = write_run(_result(), tables.steps.place, tables.values)
    assert read_run(form, by_place(lambda _place: None), ValueReader()).steps == ()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"status": "running"},
            snapshot("status: 'running', and not one of answered, max_steps, interrupted, failed, budget"),
        ),
        ({"steps": [-1]}, snapshot("steps[0]: -1, and not a place, counted from 0")),
        ({"steps": "all"}, snapshot("steps: 'all', and not a list")),
        ({"timing": [0, 1e20]}, snapshot("timing[1]: 1e+20, and not seconds since 1970")),
        (
            {"timing": [{"$": "float", "text": "nan"}, 1]},
            snapshot("timing[0]: nan, and not seconds since 1970"),
        ),
        (
            {"more": 1},
            snapshot(
                "more: 1, and not one of the keys agent_name, checks, error, is_told, max_steps, mode, model_id, resumed_from, run_id, st"
            ),
        ),
        ({"checks": [{"name": "a", "passed": 1}]}, snapshot("checks[0].passed: 1, and not true or false")),
    ],
)
def test_form_that_nobody_wrote_is_refused(changes: Any, fault: Any) -> None:
    tables = MemoryTables()
    form = write_run(_result(), tables.steps.place, tables.values) | changes
    with pytest.raises(UnreadableError) as caught:
        read_run(form, by_place(lambda _place: None), ValueReader())
    error = caught.value
    assert f"{error.path}: {error.found!r}, and not {error.expected}"[:120] == fault
