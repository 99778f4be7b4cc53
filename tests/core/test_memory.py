"""AgentMemory: a prefix that never changes, and each step rendered once."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from inline_snapshot import snapshot

from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, ToolCall
from agent_magic.core.steps import ActionStep, TaskStep, Timing, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class _CountingStep(ActionStep):
    """A step that notes how often it is rendered, and in which view."""

    renderings: list[bool] = field(default_factory=list)

    def to_messages(self, *, summary_mode: bool = False) -> tuple[ChatMessage, ...]:
        self.renderings.append(summary_mode)
        return ActionStep.to_messages(self, summary_mode=summary_mode)


def _step(number: int) -> _CountingStep:
    call = ToolCall(id=f"call_{number}", name="look", arguments={"n": number})
    return _CountingStep(
        step_number=number,
        timing=Timing(start=0.0, end=1.0),
        model_output=f"thought {number}",
        tool_results=(ToolResult(call=call, observation=f"seen {number}"),),
    )


@pytest.mark.parametrize("summary_mode", [False, True])
def test_messages_begin_with_the_very_objects_of_one_step_less(summary_mode: bool) -> None:
    memory = AgentMemory("Be brief.", [TaskStep(task="count")])
    before = memory.to_messages(summary_mode=summary_mode)
    for number in range(1, 40):
        memory.append(_step(number))
        now = memory.to_messages(summary_mode=summary_mode)
        assert len(now) > len(before)
        steps_before = before if summary_mode else before[1:]
        steps_now = now if summary_mode else now[1:]
        assert all(a is b for a, b in zip(steps_before, steps_now, strict=False))
        assert now[: len(before)] == before
        before = now


def test_each_step_is_rendered_once_in_each_view() -> None:
    memory = AgentMemory("Be brief.")
    steps = [_step(number) for number in range(1, 20)]
    for step in steps:
        memory.append(step)
        memory.to_messages()
        memory.to_messages(summary_mode=True)
    assert [sorted(step.renderings) for step in steps] == [[False, True]] * len(steps)


def test_messages_list_may_be_changed_by_who_asked_for_it() -> None:
    memory = AgentMemory("Be brief.", [TaskStep(task="count")])
    memory.to_messages().clear()
    assert [message.role for message in memory.to_messages()] == ["system", "user"]


def test_set_system_prompt_changes_the_first_message_alone() -> None:
    memory = AgentMemory("old", [TaskStep(task="count"), _step(1)])
    before = memory.to_messages()
    memory.set_system_prompt("new")
    after = memory.to_messages()
    assert (before[0].content, after[0].content) == ("old", "new")
    assert all(a is b for a, b in zip(before[1:], after[1:], strict=True))
    assert memory.system_prompt.text == "new"


def test_set_system_prompt_keeps_the_step_when_the_text_is_the_same() -> None:
    memory = AgentMemory("same")
    step = memory.system_prompt
    memory.set_system_prompt("same")
    assert memory.system_prompt is step


def test_summary_view_leaves_out_the_system_prompt_and_the_thoughts() -> None:
    memory = AgentMemory("Be brief.", [TaskStep(task="count"), _step(1)])
    assert [(m.role, m.content) for m in memory.to_messages(summary_mode=True)] == snapshot(
        [("user", "count"), ("assistant", None), ("tool", "seen 1")]
    )
    assert [(m.role, m.content) for m in memory.to_messages()] == snapshot(
        [("system", "Be brief."), ("user", "count"), ("assistant", "thought 1"), ("tool", "seen 1")]
    )


def test_steps_are_a_copy_oldest_first() -> None:
    task, step = TaskStep(task="count"), _step(1)
    memory = AgentMemory("Be brief.", [task])
    steps = memory.steps
    memory.append(step)
    assert steps == (task,)
    assert memory.steps == (task, step)
    assert len(memory) == 2
