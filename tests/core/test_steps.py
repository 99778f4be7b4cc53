"""Each step's messages, in both views."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from inline_snapshot import snapshot

from agent_magic.core.messages import ChatMessage, ImagePart, ToolCall
from agent_magic.core.steps import (
    ACCEPTED,
    ActionStep,
    Fault,
    FinalAnswerStep,
    StateVariable,
    SystemPromptStep,
    TaskStep,
    Timing,
    ToolResult,
)
from agent_magic.core.values import describe

_TIMING = Timing(start=100.0, end=102.5)
_ADD = ToolCall(id="call_1", name="add", arguments={"a": 1, "b": 2})
_LOAD = ToolCall(id="call_2", name="load", arguments={"path": "nowhere"})


def _to_plain(messages: tuple[ChatMessage, ...]) -> list[dict[str, Any]]:
    """Messages as mappings of what is set in them."""
    return [
        {
            f.name: getattr(message, f.name)
            for f in dataclasses.fields(message)
            if getattr(message, f.name) not in (None, (), False)
        }
        for message in messages
    ]


def _both(step: Any) -> list[dict[str, Any]]:
    """The messages of a step that looks the same in both views."""
    normal = step.to_messages()
    assert step.to_messages(summary_mode=True) == normal
    return _to_plain(normal)


def _action(**fields: Any) -> ActionStep:
    return ActionStep(step_number=1, timing=_TIMING, **fields)


# -- system prompt and task ------------------------------------------------------------------


def test_system_prompt_is_sent_in_the_normal_view_alone() -> None:
    step = SystemPromptStep(text="Be brief.")
    assert _to_plain(step.to_messages()) == snapshot([{"role": "system", "content": "Be brief."}])
    assert step.to_messages(summary_mode=True) == ()


def test_task_is_sent_byte_for_byte() -> None:
    assert _both(TaskStep(task='Which {region} of "@df"?\n\t')) == snapshot(
        [
            {
                "role": "user",
                "content": """\
Which {region} of "@df"?
	\
""",
            }
        ]
    )


def test_task_tells_the_variables_that_it_mentions() -> None:
    variables = tuple(
        StateVariable(name=name, description=describe(value))
        for name, value in {"prices": [1.5, 2.5], "city": "Oslo"}.items()
    )
    (message,) = TaskStep(task="Sum @prices in @city.", variables=variables).to_messages()
    assert message.content == snapshot("""\
Sum @prices in @city.

State variables:
- @prices: list, 2 items: [1.5, 2.5]
- @city: str, 4 characters: 'Oslo'\
""")


def test_task_lists_other_variables_without_previews() -> None:
    others = (
        StateVariable(name="prices", description=describe([1.5, 2.5], 0)),
        StateVariable(name="city", description=describe("Oslo", 0)),
    )
    (message,) = TaskStep(task="Sum up.", others=others, n_others_left_out=1_950).to_messages()
    assert message.content == snapshot("""\
Sum up.

Other variables:
- @prices: list, 2 items
- @city: str, 4 characters
- and 1,950 more\
""")


def test_task_has_its_images_in_its_own_message() -> None:
    image = ImagePart(image=object(), name="photo")
    (message,) = TaskStep(task="What is this?", images=(image,)).to_messages()
    assert message.images == (image,)


# -- action ----------------------------------------------------------------------------------


def test_action_sends_text_calls_and_results() -> None:
    step = _action(
        model_output="I add first.",
        reasoning="secret thoughts",
        tool_results=(
            ToolResult(call=_ADD, observation="3", output=3, notes=("a read as 1",)),
            ToolResult(call=_LOAD, fault=Fault(kind="ToolExecutionError", message="load raised OSError.")),
        ),
    )
    assert _to_plain(step.to_messages()) == snapshot(
        [
            {
                "role": "assistant",
                "content": "I add first.",
                "tool_calls": (
                    ToolCall(id="call_1", name="add", arguments={"a": 1, "b": 2}),
                    ToolCall(id="call_2", name="load", arguments={"path": "nowhere"}),
                ),
                "reasoning": "secret thoughts",
            },
            {
                "role": "tool",
                "content": """\
(a read as 1)
3\
""",
                "tool_call_id": "call_1",
            },
            {"role": "tool", "content": "load raised OSError.", "tool_call_id": "call_2", "is_error": True},
        ]
    )
    assert _to_plain(step.to_messages(summary_mode=True)) == snapshot(
        [
            {
                "role": "assistant",
                "tool_calls": (
                    ToolCall(id="call_1", name="add", arguments={"a": 1, "b": 2}),
                    ToolCall(id="call_2", name="load", arguments={"path": "nowhere"}),
                ),
                "reasoning": "secret thoughts",
            },
            {
                "role": "tool",
                "content": """\
(a read as 1)
3\
""",
                "tool_call_id": "call_1",
            },
            {"role": "tool", "content": "load raised OSError.", "tool_call_id": "call_2", "is_error": True},
        ]
    )


def test_action_sends_the_thought_before_calls_that_were_read_from_text() -> None:
    text = 'I add first.\n\n{"name": "add"}'
    step = _action(
        model_output=text, calls_start=text.index("{"), tool_results=(ToolResult(call=_ADD, observation="3"),)
    )
    assert [m.content for m in step.to_messages()] == ["I add first.", "3"]


def test_action_sends_no_empty_text_beside_calls() -> None:
    step = _action(
        model_output='{"name": "add"}', calls_start=0, tool_results=(ToolResult(call=_ADD, observation="3"),)
    )
    assert _to_plain(step.to_messages())[0] == {"role": "assistant", "tool_calls": (_ADD,)}


def test_action_sends_a_fault_of_the_step_as_the_users_word() -> None:
    step = _action(
        model_output="I think it is 3.", fault=Fault(kind="ParsingError", message="There is no tool call.")
    )
    assert _to_plain(step.to_messages()) == snapshot(
        [
            {"role": "assistant", "content": "I think it is 3."},
            {"role": "user", "content": "There is no tool call.", "is_error": True, "is_ours": True},
        ]
    )
    assert _to_plain(step.to_messages(summary_mode=True)) == snapshot(
        [{"role": "user", "content": "There is no tool call.", "is_error": True, "is_ours": True}]
    )


def test_action_sends_nothing_of_a_failure_of_the_model_itself() -> None:
    step = _action(fault=Fault(kind="GenerationError", message="openai/gpt-4.1 refused the key (401)."))
    assert step.to_messages() == ()
    assert step.to_messages(summary_mode=True) == ()


def test_action_tells_that_it_was_interrupted() -> None:
    fault = Fault(kind="Interrupted", message="The person interrupted the run.")
    step = _action(model_output="I was about", fault=fault)
    assert step.is_interrupted
    assert _to_plain(step.to_messages()) == snapshot(
        [
            {"role": "assistant", "content": "I was about"},
            {"role": "user", "content": "The person interrupted the run.", "is_error": True, "is_ours": True},
        ]
    )


def test_action_has_reasoning_and_what_is_signed_of_it_beside_native_calls_alone() -> None:
    thought: dict[str, Any] = {"reasoning": "secret thoughts", "signed": {"by": "p/m", "calls": ["secret"]}}
    results = (ToolResult(call=_ADD, observation="3"),)
    without = (
        _action(model_output="text", **thought),
        _action(model_output="{}", calls_start=0, tool_results=results, **thought),
        _action(model_output="<code>1</code>", is_code=True, tool_results=results, **thought),
    )
    for summary_mode in (False, True):
        for step in without:
            assert "secret" not in repr(step.to_messages(summary_mode=summary_mode))
        first, *others = _action(tool_results=results, **thought).to_messages(summary_mode=summary_mode)
        assert (first.reasoning, first.signed) == tuple(thought.values())
        assert "secret" not in repr(others)


def test_action_answers_each_call_once_with_its_id() -> None:
    step = _action(
        tool_results=(ToolResult(call=_LOAD, observation="b"), ToolResult(call=_ADD, observation="a"))
    )
    asked, *answers = step.to_messages()
    assert [call.id for call in asked.tool_calls] == [m.tool_call_id for m in answers] == ["call_2", "call_1"]


def test_action_gathers_observations_output_and_faults() -> None:
    call_fault = Fault(kind="ToolError", message="Too far.")
    own_fault = Fault(kind="Interrupted", message="Stopped.")
    step = _action(
        tool_results=(
            ToolResult(call=_ADD, observation="3", output=3),
            ToolResult(call=_LOAD, fault=call_fault, output=None),
        ),
        fault=own_fault,
    )
    assert step.tool_calls == (_ADD, _LOAD)
    assert step.observations == "3\n\nToo far."
    assert step.action_output == 3
    assert step.faults == (own_fault, call_fault)


def test_action_output_is_none_when_no_call_succeeded() -> None:
    assert (
        _action(
            tool_results=(ToolResult(call=_ADD, fault=Fault(kind="ToolError", message="no")),)
        ).action_output
        is None
    )
    assert _action().action_output is None


def test_action_output_is_the_object_itself() -> None:
    frame = object()
    assert _action(tool_results=(ToolResult(call=_ADD, output=frame),)).action_output is frame


def test_step_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        _action().model_output = "changed"  # type: ignore[misc]  # that is what is tested


def test_timing_has_a_duration() -> None:
    assert _TIMING.duration_s == 2.5


# -- final answer ----------------------------------------------------------------------------


def test_final_answer_of_a_native_call_is_told_by_its_tool_result_alone() -> None:
    call = ToolCall(id="call_9", name="final_answer", arguments={"answer": 3})
    action = _action(
        tool_results=(ToolResult(call=call, observation=ACCEPTED, output=3),), is_final_answer=True
    )
    final = FinalAnswerStep(answer=3)
    assert _both(final) == []
    assert _both(action) == snapshot(
        [
            {
                "role": "assistant",
                "tool_calls": (ToolCall(id="call_9", name="final_answer", arguments={"answer": 3}),),
            },
            {"role": "tool", "content": "accepted", "tool_call_id": "call_9"},
        ]
    )


def test_final_answer_at_the_step_limit_is_told_as_text_after_its_request() -> None:
    final = FinalAnswerStep(answer="About 3.", is_told=False, request="Give the best answer.")
    assert _both(final) == snapshot(
        [
            {"role": "user", "content": "Give the best answer.", "is_ours": True},
            {"role": "assistant", "content": "About 3."},
        ]
    )


@pytest.mark.parametrize(
    ("answer", "text"), [(None, "None"), (0, "0"), ("", ""), ([], "[]"), (False, "false")]
)
def test_final_answer_that_is_not_told_yet_is_told_even_when_empty(answer: Any, text: str) -> None:
    (message,) = FinalAnswerStep(answer=answer, is_told=False).to_messages()
    assert message == ChatMessage(role="assistant", content=text)
