"""A run from its record in a notebook alone, with the texts as they stand there: cut.

It must not raise for what somebody did to the record: a part of another type is left out.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from typing import cast, get_args

from agent_magic.core.form.value import RecordedValue
from agent_magic.core.messages import TokenUsage, ToolCall
from agent_magic.core.result import AgentMode, CheckResult, RunResult, RunStatus
from agent_magic.core.steps import (
    CLOSING_TAG,
    CODE_CALL,
    OPENING_TAG,
    ActionStep,
    Fault,
    FinalAnswerStep,
    PlanDiff,
    PlanningStep,
    RunStep,
    StateVariable,
    TaskStep,
    Timing,
    ToolResult,
)
from agent_magic.core.values import Description, Value
from agent_magic.record.schema import Json

_STATUSES: dict[Value, RunStatus] = {status: status for status in get_args(RunStatus)}
_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_LONGEST_S = 1e9
_MAX_DEPTH = 8
"""Of runs inside runs; those of a record are fewer."""
_JSON_TYPES = {"int": int, "float": float, "bool": bool, "list": list, "dict": dict}


def from_record(record: Mapping[str, Json]) -> RunResult:
    """The run that a record tells of; one that still went on has the status `interrupted`."""
    return _to_run(record, _to_moment(record.get("started")), depth=0)


def _to_run(record: Mapping[str, Json], start: float, *, depth: int) -> RunResult:
    mode: AgentMode = "code" if record.get("mode") == "code" else "tools"
    steps: list[RunStep] = [
        _to_task(record),
        *(
            _to_plan(form, start) if form.get("kind") == "plan" else _to_action(form, start, mode, depth)
            for form in _dicts(record, "steps")
        ),
    ]
    status = _STATUSES.get(_text(record, "status"), "interrupted")
    answer = record.get("answer")
    value = None
    if type(answer) is dict:
        value = _to_value(cast("dict[str, Json]", answer))
        steps.append(FinalAnswerStep(answer=value))
    verified = record.get("verified")
    return RunResult(
        run_id=_text(record, "run_id"),
        agent_name=_text(record, "agent"),
        model_id=_text(record, "model"),
        task=_text(record, "task"),
        value=value,
        status=status,
        max_steps=_count(record, "max_steps"),
        steps=tuple(steps),
        usage=_to_usage(record.get("usage")) or TokenUsage(),
        timing=Timing(start=start, end=start + _seconds(record)),
        error=_to_fault(record.get("error")),
        verified=verified if verified in ("yes", "no") else "unchecked",
        checks=tuple(
            CheckResult(
                name=_text(check, "name"), passed=check.get("passed") is True, reason=_text(check, "reason")
            )
            for check in _dicts(record, "checks")
        ),
        resumed_from=_text(record, "resumed_from") or None,
        mode=mode,
    )


def _to_task(record: Mapping[str, Json]) -> TaskStep:
    variables = [
        StateVariable(
            name=_text(variable, "name"),
            description=Description(type_name=_text(variable, "description"), shape="", preview=""),
        )
        for variable in _dicts(record, "variables")
    ]
    return TaskStep(
        task=_text(record, "task"),
        variables=tuple(variables),
        resumes=_text(record, "resumed_from") or None,
    )


def _to_action(form: Mapping[str, Json], start: float, mode: AgentMode, depth: int) -> ActionStep:
    calls = list(_dicts(form, "calls"))
    thought, calls_start = _text(form, "thought"), None
    is_code = mode == "code"
    if is_code:  # such a step has one block of code, or none that could be read
        calls = [call for call in calls if type(call.get("code")) is str][:1]
        if calls:
            thought = f"{thought}\n" if thought else ""
            calls_start = len(thought)
            thought += f"{OPENING_TAG}\n{_text(calls[0], 'code')}\n{CLOSING_TAG}"
    return ActionStep(
        step_number=_count(form, "step_number"),
        timing=Timing(start=start, end=start + _seconds(form)),
        model_output=thought,
        reasoning=_text(form, "reasoning"),
        calls_start=calls_start,
        tool_results=tuple(_to_result(call, start, depth, is_code=is_code) for call in calls),
        is_code=is_code,
        fault=_to_fault(form.get("error")),
        token_usage=_to_usage(form.get("usage")),
        is_final_answer=form.get("is_final_answer") is True,
    )


def _to_plan(form: Mapping[str, Json], start: float) -> PlanningStep:
    diff = form.get("diff")
    lines = cast("dict[str, Json]", diff) if type(diff) is dict else {}
    return PlanningStep(
        step_number=_count(form, "step_number"),
        timing=Timing(start=start, end=start + _seconds(form)),
        plan=_text(form, "plan"),
        model_output=_text(form, "original") or _text(form, "plan"),
        reasoning=_text(form, "reasoning"),
        is_first="diff" not in form,
        diff=PlanDiff(**{name: tuple(_lines(lines, name)) for name in ("added", "dropped", "kept")}),
        fault=_to_fault(form.get("error")),
        token_usage=_to_usage(form.get("usage")),
    )


def _to_result(
    call: Mapping[str, Json], start: float, depth: int, *, is_code: bool = False, is_inner: bool = False
) -> ToolResult:
    arguments, output = call.get("arguments"), call.get("output")
    if is_code:
        arguments = {"code": _text(call, "code")}
    told = cast("dict[str, Json]", output) if type(output) is dict else None
    return ToolResult(
        call=ToolCall(
            id=_text(call, "id"),
            name=CODE_CALL if is_code else _text(call, "name"),
            arguments=arguments if type(arguments) is dict or type(arguments) is str else {},
        ),
        observation=_text(call, "observation"),
        output=None
        if told is None
        else RecordedValue(
            type_name=_text(told, "type"), preview=_text(told, "preview"), shape=_text(told, "shape")
        ),
        bound_to=_text(call, "bound_to") or None,
        fault=_to_fault(call.get("error")),
        notes=tuple(_lines(call, "notes")),
        printed=_text(call, "printed"),
        timing=Timing(start=start, end=start + _seconds(call)) if "duration_s" in call else None,
        calls=()
        if is_inner
        else tuple(_to_result(inner, start, depth, is_inner=True) for inner in _dicts(call, "calls")),
        n_calls_left_out=0 if is_inner else _count(call, "calls_left_out"),
        run=_to_lane(call, start, depth + 1),
    )


def _to_lane(call: Mapping[str, Json], start: float, depth: int) -> RunResult | None:
    """The run that a managed agent made for a call; its task is what the call asked for."""
    lane = call.get("run")
    if type(lane) is not dict or depth > _MAX_DEPTH:
        return None
    arguments = call.get("arguments")
    task = _text(cast("dict[str, Json]", arguments), "task") if type(arguments) is dict else ""
    return _to_run({**cast("dict[str, Json]", lane), "task": task}, start, depth=depth)


def _to_value(answer: Mapping[str, Json]) -> Value:
    """Plain data as it was, if its text was not cut; other objects by their text."""
    kind, text = _text(answer, "type"), _text(answer, "text")
    if kind == "str":
        return text
    if kind in _JSON_TYPES:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if type(value) is _JSON_TYPES[kind]:
            return value
    return RecordedValue(type_name=kind, preview=text, shape=_text(answer, "shape"))


def _to_fault(form: Json) -> Fault | None:
    if type(form) is not dict:
        return None
    error = cast("dict[str, Json]", form)
    return Fault(kind=_text(error, "kind"), message=_text(error, "message"))


def _to_usage(form: Json) -> TokenUsage | None:
    if type(form) is not dict:
        return None
    figures = cast("dict[str, Json]", form)
    cost = figures.get("cost_usd")
    return TokenUsage(
        **{name: _figure(figures, name) for name in _COUNTS},
        cost_usd=cost if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )


def _to_moment(text: Json) -> float:
    try:
        moment = dt.datetime.fromisoformat(text if type(text) is str else "")
        return max(moment.timestamp(), 0.0)
    except (ValueError, OverflowError, OSError):
        return 0.0


def _seconds(form: Mapping[str, Json]) -> float:
    seconds = form.get("duration_s")
    if isinstance(seconds, int | float) and 0 <= seconds < _LONGEST_S:
        return float(seconds)
    return 0.0


def _count(form: Mapping[str, Json], key: str) -> int:
    number = form.get(key)
    return number if type(number) is int and number >= 0 else 0


def _figure(form: Mapping[str, Json], key: str) -> int | None:
    number = form.get(key)
    return number if type(number) is int and number >= 0 else None


def _text(form: Mapping[str, Json], key: str) -> str:
    text = form.get(key)
    return text if type(text) is str else ""


def _lines(form: Mapping[str, Json], key: str) -> list[str]:
    return [line for line in _list(form, key) if type(line) is str]


def _dicts(form: Mapping[str, Json], key: str) -> Iterator[dict[str, Json]]:
    return (cast("dict[str, Json]", part) for part in _list(form, key) if type(part) is dict)


def _list(form: Mapping[str, Json], key: str) -> list[Json]:
    part = form.get(key)
    return cast("list[Json]", part) if type(part) is list else []
