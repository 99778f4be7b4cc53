"""Steps, messages and schemas to JSON and back: every field of every kind."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import typing
from typing import Any

import pytest
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.core.changes import NameChange
from agent_magic.core.form.image import read_image
from agent_magic.core.form.message import read_message, read_schema, write_message, write_schema
from agent_magic.core.form.step import read_step, write_step
from agent_magic.core.form.value import RecordedValue, UnreadableError, ValueReader, ValueWriter
from agent_magic.core.messages import ChatMessage, ImagePart, TokenUsage, ToolCall, ToolExample, ToolSchema
from agent_magic.core.result import CheckResult, RunResult
from agent_magic.core.sound import Sound
from agent_magic.core.steps import (
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
from agent_magic.core.values import Description

_IMAGE = ImagePart(image=Image.new("RGBA", (3, 2), (1, 2, 3, 4)), name="photo")
_TIMING = Timing(start=1.5, end=2.25)
_USAGE = TokenUsage(input_tokens=5, output_tokens=4, cached_tokens=3, reasoning_tokens=2, cost_usd=0.1)
_FAULT = Fault(kind="ToolError", message="Too far.\nName a place nearby.")
_CALL = ToolCall(id="call_1", name="look", arguments={"place": "Tromsø", "n": None})
_VARIABLE = StateVariable(
    name="df", description=Description(type_name="DataFrame", shape="2 rows", preview="…")
)
_MANAGED = RunResult(
    run_id="run-2",
    agent_name="analyst",
    model_id="scripted",
    task="Look at @table.",
    value={1, 2},
    status="answered",
    max_steps=4,
    steps=(
        TaskStep(task="Look at @table.", variables=(_VARIABLE,)),
        ActionStep(step_number=1, timing=_TIMING, tool_results=(ToolResult(call=_CALL, observation="deep"),)),
        FinalAnswerStep(answer={1, 2}),
    ),
    usage=_USAGE,
    timing=_TIMING,
    verified="yes",
    checks=(
        CheckResult(name="is_sane", passed=True),
        CheckResult(name="is_small", passed=False, reason="It is not."),
    ),
    error=_FAULT,
    resumed_from="run-1",
    mode="code",
)
_RESULT = ToolResult(
    call=_CALL,
    observation="seen",
    output=[1, (2, {3})],
    bound_to="look_1",
    kept_as="obs_1",
    images=(_IMAGE, _IMAGE),
    sounds=(
        Sound(data=b"RIFF", media_type="audio/wav", name="tone", duration_s=0.5, rate=8_000, channels=1),
    ),
    fault=_FAULT,
    notes=("n read as None",),
    printed="looking…",
    timing=_TIMING,
    calls=(ToolResult(call=_CALL, observation="inner", output="inner"), ToolResult(call=_CALL, fault=_FAULT)),
    n_calls_left_out=3,
    run=_MANAGED,
)
_FULL: tuple[Any, ...] = (
    TaskStep(
        task="What is @df?\t\\@",
        images=(_IMAGE,),
        variables=(_VARIABLE,),
        others=(_VARIABLE, _VARIABLE),
        n_others_left_out=7,
        resumes="run-1",
        is_ours=True,
        undone=("df is gone: step 1 had made it (DataFrame)",),
    ),
    PlanningStep(
        step_number=3,
        timing=_TIMING,
        plan="1. look",
        handover="Go on.",
        model_output="<plan>1. look</plan>",
        reasoning="hm",
        is_first=False,
        diff=PlanDiff(added=("a", "b"), dropped=("c",), kept=("d",)),
        fault=_FAULT,
        token_usage=_USAGE,
        model_input_digest="0011223344556677",
    ),
    ActionStep(
        step_number=4,
        timing=_TIMING,
        model_output="I look.\ud800",
        reasoning="hm",
        calls_start=0,
        tool_results=(_RESULT, ToolResult(call=ToolCall(id="call_2", name="end"))),
        fault=_FAULT,
        token_usage=_USAGE,
        is_final_answer=True,
        changes=(
            NameChange(name="df", kind="mutated", before="2 rows", after="3 rows", detail="1 row added"),
        ),
        model_input_digest="0011223344556677",
        signed={"by": "p/m", "calls": ["sig", None]},
    ),
    ActionStep(
        step_number=5,
        timing=_TIMING,
        is_code=True,
        tool_results=(ToolResult(call=ToolCall(id="call_3", name="python", arguments={"code": "x = 1"})),),
    ),
    FinalAnswerStep(
        answer={"of": (1, dt.date(2026, 1, 31))},
        is_told=False,
        text="Of 1.",
        request="Say it.",
        token_usage=_USAGE,
    ),
)
_MESSAGE = ChatMessage(
    role="tool",
    content="",
    images=(_IMAGE,),
    tool_calls=(_CALL, ToolCall(id="call_2", name="end", arguments='{"raw": 1')),
    tool_call_id="call_1",
    is_error=True,
    is_ours=True,
    reasoning="hm",
    usage=_USAGE,
    finish_reason="stop",
    signed={"by": "p/m", "thinking_blocks": [{"type": "thinking", "signature": "sig"}]},
)
_SCHEMA = ToolSchema(
    name="look",
    description="Look there.",
    parameters={"type": "object", "properties": {"place": {"enum": ["a", None, 1.5]}}},
    examples=(ToolExample(task="Look at Oslo.", arguments={"place": "Oslo"}),),
)


def _there_and_back(step: RunStep) -> RunStep:
    writer = ValueWriter()
    form = json.loads(json.dumps(write_step(step, writer), allow_nan=False))
    again = read_step(form, ValueReader([read_image(image) for image in writer.images]))
    assert write_step(again, ValueWriter()) == form
    return again


def _parts(thing: Any) -> list[Any]:
    """The dataclass itself and all that it holds, without images and live values."""
    if isinstance(thing, tuple):
        return [part for item in thing for part in _parts(item)]
    if not dataclasses.is_dataclass(thing):
        return []
    return [thing, *(part for f in dataclasses.fields(thing) for part in _parts(getattr(thing, f.name)))]


@pytest.mark.parametrize("step", _FULL, ids=lambda step: type(step).__name__)
def test_step_comes_back_with_every_field(step: RunStep) -> None:
    assert _there_and_back(step) == step


def test_all_steps_above_have_something_else_than_the_default_in_every_field() -> None:
    steps = (*_FULL, _MESSAGE, _SCHEMA)
    assert {type(step) for step in steps} >= set(typing.get_args(RunStep))
    for kind in {type(part) for part in _parts(steps)}:
        filled = {
            field.name
            for part in _parts(steps)
            if type(part) is kind
            for field in dataclasses.fields(part)
            if getattr(part, field.name) != field.default
        }
        assert filled == {field.name for field in dataclasses.fields(kind)}, kind


@pytest.mark.parametrize(
    "step",
    [
        TaskStep(task=""),
        PlanningStep(step_number=1, timing=_TIMING),
        ActionStep(step_number=1, timing=_TIMING),
        FinalAnswerStep(answer=None),
    ],
    ids=lambda step: type(step).__name__,
)
def test_step_of_nothing_but_defaults_comes_back(step: RunStep) -> None:
    assert _there_and_back(step) == step


def test_message_comes_back_with_every_field() -> None:
    writer = ValueWriter()
    form = json.loads(json.dumps(write_message(_MESSAGE, writer), allow_nan=False))
    assert read_message(form, ValueReader([read_image(image) for image in writer.images])) == _MESSAGE
    bare = ChatMessage(role="user")
    assert write_message(bare, writer) == {"role": "user"}
    assert read_message({"role": "user"}, ValueReader()) == bare


def test_schema_comes_back_with_every_field() -> None:
    form = json.loads(json.dumps(write_schema(_SCHEMA, ValueWriter()), allow_nan=False))
    assert read_schema(form, ValueReader()) == _SCHEMA


def test_step_is_written_without_what_it_has_not() -> None:
    step = ActionStep(
        step_number=1,
        timing=_TIMING,
        model_output="I look.",
        tool_results=(ToolResult(call=_CALL, observation="seen", output=range(3), bound_to="look_1"),),
        token_usage=TokenUsage(input_tokens=0, cost_usd=float("nan")),
    )
    assert write_step(step, ValueWriter()) == snapshot(
        {
            "kind": "action",
            "step_number": 1,
            "timing": [1.5, 2.25],
            "model_output": "I look.",
            "tool_results": [
                {
                    "id": "call_1",
                    "name": "look",
                    "arguments": {"place": "Tromsø", "n": None},
                    "observation": "seen",
                    "output": {"$": "object", "type": "range", "preview": "range(0, 3)", "name": "look_1"},
                    "bound_to": "look_1",
                }
            ],
            "token_usage": {"input_tokens": 0, "cost_usd": {"$": "float", "text": "nan"}},
        }
    )


class _Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class _Place:
    name: str


@pytest.mark.parametrize(
    "answer",
    [
        3,
        "text",
        None,
        [1, (2,)],
        {1: 2},
        dt.date(2026, 1, 31),
        {2, 1},
        _Color.RED,
        [_Color.RED],
        _Place("Oslo"),
        len,
    ],
)
def test_answer_that_a_model_was_told_is_told_in_the_same_words_after_reading(answer: Any) -> None:
    step = FinalAnswerStep(answer=answer, is_told=False)
    assert _there_and_back(step).to_messages() == step.to_messages()


def test_answer_that_no_json_can_hold_comes_back_by_its_repr() -> None:
    again = _there_and_back(FinalAnswerStep(answer=[_Place("Oslo")]))
    assert again == FinalAnswerStep(answer=[RecordedValue(type_name="_Place", preview="_Place(name='Oslo')")])


def test_step_of_a_class_of_somebodys_own_is_written_as_its_base() -> None:
    class Timed(TaskStep):
        __slots__ = ()

    assert _there_and_back(Timed(task="count")) == TaskStep(task="count")


_LISTED = {
    "token_usage": "token_usage.tokens: 1 is not one of the keys "
    "cached_tokens, cost_usd, input_tokens, output_tokens, reasoning_tokens",
    "changes": "changes[0].kind: 'burnt' is not one of added, rebound, mutated, deleted",
    "extra": "extra: 1 is not one of the keys calls_start, changes, fault, is_code, is_final_answer, kind, model_input_digest, "
    "model_output, reasoning, signed, step_number, timing, token_usage, tool_results",
}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "summary"}, "kind: 'summary' is not one of task, plan, action, answer"),
        ({"kind": ["task"]}, "kind: ['task'] is not one of task, plan, action, answer"),
        ({"step_number": True}, "step_number: True is not a whole number from 0 on"),
        ({"step_number": -1}, "step_number: -1 is not a whole number from 0 on"),
        ({"timing": [1.0]}, "timing: [1.0] is not a start and an end"),
        (
            {"timing": {"start": 1.0, "end": 2.0}},
            "timing: {'start': 1.0, 'end': 2.0} is not a start and an end",
        ),
        ({"timing": [1, "2"]}, "timing[1]: '2' is not a number"),
        ({"model_output": 3}, "model_output: 3 is not text"),
        (
            {"model_output": {"$": "bytes", "text": ""}},
            "model_output: {'$': 'bytes', 'text': ''} is not text",
        ),
        ({"calls_start": "0"}, "calls_start: '0' is not a whole number from 0 on"),
        ({"is_final_answer": 1}, "is_final_answer: 1 is not true or false"),
        ({"tool_results": {}}, "tool_results: {} is not a list"),
        ({"tool_results": [None]}, "tool_results[0]: None is not a dict"),
        ({"tool_results": [{}]}, "tool_results[0].id: None is not text"),
        ({"tool_results": [{"id": "1"}]}, "tool_results[0].name: None is not text"),
        (
            {"tool_results": [{"id": "1", "name": "a", "is_told": 1}]},
            "tool_results[0].is_told: 1 is not true or false",
        ),
        (
            {"tool_results": [{"id": "1", "name": "a", "arguments": [1]}]},
            "tool_results[0].arguments: [1] is not a dict, or text",
        ),
        (
            {"tool_results": [{"id": "1", "name": "a", "output": {"$": "image", "index": 3}}]},
            "tool_results[0].output: {'$': 'image', 'index': 3} is not the form of 'image'",
        ),
        ({"token_usage": {"tokens": 1}}, None),
        ({"token_usage": {"input_tokens": "1"}}, "token_usage.input_tokens: '1' is not a number"),
        ({"changes": [{"name": "a", "kind": "burnt"}]}, None),
        ({"fault": {"kind": "ToolError"}}, "fault.message: None is not text"),
        ({"signed": [1]}, "signed: [1] is not a dict"),
        ({"extra": 1}, None),
    ],
)
def test_reading_a_step_names_the_key_that_cannot_be_read(
    change: dict[str, Any], problem: str | None
) -> None:
    form = {"kind": "action", "step_number": 1, "timing": [1.0, 2.0], **change}
    with pytest.raises(UnreadableError) as refusal:
        read_step(form, ValueReader())
    told = f"{refusal.value.path}: {refusal.value.found!r} is not {refusal.value.expected}"
    assert told == (problem or _LISTED[next(iter(change))])
