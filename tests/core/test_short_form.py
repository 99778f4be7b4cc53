"""The short forms of steps, for when a request would not fit."""

from __future__ import annotations

from typing import Any

import pytest
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.core.messages import ChatMessage, ImagePart, ToolCall
from agent_magic.core.short_form import FORMS, Form, left_out_note, to_short_messages
from agent_magic.core.steps import (
    ACCEPTED,
    ActionStep,
    Fault,
    FinalAnswerStep,
    PlanningStep,
    RunStep,
    TaskStep,
    Timing,
    ToolResult,
)

_TIMING = Timing(start=0.0, end=1.0)
_LONG = "The penguins of Dream island are heavier. " * 30


def _call(n: int) -> ToolCall:
    return ToolCall(id=f"call_{n}", name="read", arguments={"page": n})


def _action(**fields: Any) -> ActionStep:
    return ActionStep(step_number=3, timing=_TIMING, **fields)


_READ = _action(
    model_output="I read two pages.",
    tool_results=(
        ToolResult(
            call=_call(1), observation=_LONG, images=(ImagePart(image=Image.new("1", (1, 1)), name="map"),)
        ),
        ToolResult(call=_call(2), fault=Fault(kind="ToolError", message="There is no page 2.")),
    ),
)


def _texts(step: RunStep, form: Form, kept: dict[str, str] | None = None, **view: bool) -> list[Any]:
    summary_mode = view.get("summary_mode", False)
    messages = to_short_messages(step, form, kept or {}, summary_mode=summary_mode)
    return [(message.role, message.content, len(message.images)) for message in messages]


def test_whole_form_is_what_the_step_says() -> None:
    assert to_short_messages(_READ, "whole", {}, summary_mode=False) == _READ.to_messages()


def test_images_go_alone_with_a_note() -> None:
    assert _texts(_READ, "no_images")[1] == ("tool", f"{_LONG}\n(@map: no longer shown, to save room)", 0)


def test_observations_are_cut_and_say_where_the_whole_is() -> None:
    assert _texts(_READ, "short_observations", {"call_1": "obs_7"}) == snapshot(
        [
            ("assistant", "I read two pages.", 0),
            (
                "tool",
                """\
The penguins of Dream island are heavier. The penguins of Dream island are heavier. The penguins of Dream isla
… 1,133 characters cut; the whole is obs_7: peek(name="obs_7", start=0) …
and are heavier. \n\
(@map: no longer shown, to save room)\
""",
                0,
            ),
            ("tool", "There is no page 2.", 0),
        ]
    )


def test_short_observations_of_the_summary_view_have_no_text_of_the_model() -> None:
    messages = to_short_messages(_READ, "short_observations", {}, summary_mode=True)
    assert messages[0].content is None
    assert messages[0].tool_calls == (_call(1), _call(2))


def test_line_tells_calls_and_outcomes() -> None:
    assert _texts(_READ, "line", {"call_1": "obs_7"}) == snapshot(
        [
            ("assistant", None, 0),
            (
                "tool",
                "The penguins of Dream island are heavier. The penguins of Dream island are heavier. The penguins of Dream island are heavier. The penguins of Dream island are h … (the whole is obs_7)",
                0,
            ),
            ("tool", "There is no page 2.", 0),
        ]
    )


def test_line_of_steps_without_calls() -> None:
    steps = [
        _action(fault=Fault(kind="ParsingError", message="There is no tool call in the reply.")),
        _action(model_output=_LONG),
        _action(fault=Fault(kind="GenerationError", message="secret words of a server")),
    ]
    assert [_texts(step, "line") for step in steps] == snapshot(
        [
            [("user", "There is no tool call in the reply.", 0)],
            [
                (
                    "assistant",
                    "The penguins of Dream island are heavier. The penguins of Dream island are heavier. The penguins of Dream island are heavier. The penguins of Dream island are h …",
                    0,
                )
            ],
            [],
        ]
    )


def test_line_of_a_plan_is_nothing() -> None:
    plan = PlanningStep(step_number=1, timing=_TIMING, plan="1. Read.", handover="Go on.")
    assert _texts(plan, "short_observations") == [("assistant", "1. Read.", 0), ("user", "Go on.", 0)]
    assert _texts(plan, "line") == []


def test_tasks_and_answers_are_cut_to_a_few_lines() -> None:
    answer = FinalAnswerStep(answer=_LONG, is_told=False, request="Answer now.")
    for step in (TaskStep(task=_LONG), answer):
        assert _texts(step, "short_observations") == [
            (message.role, message.content, 0) for message in step.to_messages()
        ]
        assert all(len(content) <= 400 for _, content, _ in _texts(step, "line"))
    told = _action(tool_results=(ToolResult(call=_call(1), observation=ACCEPTED),), is_final_answer=True)
    assert _texts(told, "line") == [("assistant", None, 0), ("tool", "accepted", 0)]


@pytest.mark.parametrize("summary_mode", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_no_form_orphans_the_id_of_a_call(form: Form, summary_mode: bool) -> None:
    waiting: list[str] = []
    for message in to_short_messages(_READ, form, {}, summary_mode=summary_mode):
        if message.role == "tool":
            assert message.tool_call_id == waiting.pop(0)
        waiting += [call.id for call in message.tool_calls]
    assert not waiting


def test_forms_grow_shorter() -> None:
    sizes = [sum(len(content or "") for _, content, _ in _texts(_READ, form)) for form in FORMS[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0


def test_left_out_steps_are_counted() -> None:
    assert [left_out_note(n) for n in (1, 12)] == [
        ChatMessage(role="user", content="(One earlier step is left out here to save room.)", is_ours=True),
        ChatMessage(role="user", content="(12 earlier steps are left out here to save room.)", is_ours=True),
    ]


def test_arguments_of_a_line_are_cut_and_stay_arguments() -> None:
    given: list[Any] = [
        '{"page',
        None,
        {"page": object},
        {"rows": list(range(50)), "text": "y" * 100, "few": [1]},
        {f"a{n}": n for n in range(11)},
    ]
    shown: list[Any] = []
    for arguments in given:
        result = ToolResult(call=ToolCall(id="c", name="read", arguments=arguments), observation="x\n\ny")
        asked, told = to_short_messages(_action(tool_results=(result,)), "line", {}, summary_mode=False)
        assert (asked.tool_calls[0].id, told.tool_call_id, told.content) == ("c", "c", "x y")
        shown.append(asked.tool_calls[0].arguments)
    assert shown == snapshot(
        [
            '{"page',
            None,
            {"page": object},
            {
                "rows": "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 2 …",
                "text": "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy …",
                "few": [1],
            },
            {"a0": 0, "a1": 1, "a2": 2, "a3": 3, "a4": 4, "a5": 5, "a6": 6, "a7": 7, "…": "3 more"},
        ]
    )
