"""AgentMemory: a prefix that never changes, each step rendered once, and what a person changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from inline_snapshot import snapshot
from memories import PROJECTIONS, Walk
from PIL import Image

from agent_magic.core.edits import STEP_VIEWS
from agent_magic.core.errors import OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import ChatMessage, ImagePart, ToolCall
from agent_magic.core.request import ACT, ACT_SUMMARY, PLAN, PLAN_FULL, Projection
from agent_magic.core.short_form import FORMS
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


# -- the table of projections ----------------------------------------------------------------

_TIMING = Timing(start=0.0, end=1.0)


def _run() -> AgentMemory:
    """A task with an image, a plan, an action with a failure and an image, an answer."""
    photo = Image.new("RGB", (4, 3))
    looked = ToolResult(
        call=ToolCall(id="call_1", name="look", arguments={"place": "harbour"}),
        observation="A boat, see @look_1.",
        images=(ImagePart(image=photo, name="look_1"),),
        notes=("place read as 'harbour'",),
    )
    counted = ToolResult(
        call=ToolCall(id="call_2", name="count", arguments={"what": "boats"}),
        fault=Fault(kind="ToolExecutionError", message="count raised ValueError: too many. Name one kind."),
    )
    answered = ToolResult(
        call=ToolCall(id="call_3", name="final_answer", arguments={"answer": "one boat"}),
        observation=ACCEPTED,
    )
    return AgentMemory(
        "You call tools.",
        [
            TaskStep(task="What is in @photo?", images=(ImagePart(image=photo, name="photo"),)),
            PlanningStep(
                step_number=1, timing=_TIMING, plan="1. look\n2. count", handover="Now carry it out."
            ),
            ActionStep(
                step_number=1,
                timing=_TIMING,
                model_output="I look and count.",
                reasoning="never sent",
                tool_results=(looked, counted),
                fault=Fault(kind="ToolCallError", message="The calls did not agree. Count again."),
            ),
            ActionStep(
                step_number=2,
                timing=_TIMING,
                model_output="That is enough.",
                tool_results=(answered,),
                is_final_answer=True,
            ),
            FinalAnswerStep(answer="one boat"),
        ],
    )


def _to_lines(messages: Iterable[ChatMessage]) -> list[str]:
    """Each message in a line: role, text, images, calls."""
    lines: list[str] = []
    for message in messages:
        marks = [f"[{part.name}]" for part in message.images]
        marks += [f"{call.id}={call.name}({call.arguments})" for call in message.tool_calls]
        marks += ["ours"] * message.is_ours + ["error"] * message.is_error
        head = f"{message.role} {message.tool_call_id or ''}".rstrip()
        lines.append(" | ".join([head, str(message.content), *marks]))
    return lines


def test_normal_view_of_a_run() -> None:
    assert _to_lines(_run().to_messages()) == snapshot(
        [
            "system | You call tools.",
            "user | What is in @photo? | [photo]",
            """\
assistant | 1. look
2. count\
""",
            "user | Now carry it out. | ours",
            "assistant | I look and count. | call_1=look({'place': 'harbour'}) | call_2=count({'what': 'boats'})",
            """\
tool call_1 | (place read as 'harbour')
A boat, see @look_1. | [look_1]\
""",
            "tool call_2 | count raised ValueError: too many. Name one kind. | error",
            "user | The calls did not agree. Count again. | ours | error",
            "assistant | That is enough. | call_3=final_answer({'answer': 'one boat'})",
            "tool call_3 | accepted",
        ]
    )


def test_summary_view_of_a_run() -> None:
    assert _to_lines(_run().to_messages(summary_mode=True)) == snapshot(
        [
            "user | What is in @photo? | [photo]",
            "assistant | None | call_1=look({'place': 'harbour'}) | call_2=count({'what': 'boats'})",
            """\
tool call_1 | (place read as 'harbour')
A boat, see @look_1. | [look_1]\
""",
            "tool call_2 | count raised ValueError: too many. Name one kind. | error",
            "user | The calls did not agree. Count again. | ours | error",
            "assistant | None | call_3=final_answer({'answer': 'one boat'})",
            "tool call_3 | accepted",
        ]
    )


def test_summary_view_leaves_out_exactly_the_system_prompt_the_plan_and_the_models_texts() -> None:
    normal, summary = _to_lines(_run().to_messages()), _to_lines(_run().to_messages(summary_mode=True))
    texts = ("I look and count.", "That is enough.")
    expected = [
        line
        for line in normal
        if line.split()[0] != "system" and "1. look" not in line and "carry it" not in line
    ]
    for text in texts:
        expected = [line.replace(text, "None") for line in expected]
    assert summary == expected


@pytest.mark.parametrize(
    ("projection", "shown"),
    [
        (ACT, ["system", "plan", "thought"]),
        (ACT_SUMMARY, ["system", "plan"]),
        (PLAN, []),
        (PLAN_FULL, ["plan", "thought"]),
    ],
)
def test_each_request_shows_what_its_projection_says(projection: Projection, shown: list[str]) -> None:
    text = "\n".join(_to_lines(_run().project(projection)))
    words = {"system": "You call tools.", "plan": "1. look", "thought": "I look and count."}
    assert [what for what, word in words.items() if word in text] == shown


def test_summary_for_acting_shows_the_newest_plan_of_this_task_alone() -> None:
    memory = AgentMemory("")
    shown: list[list[str]] = []
    for step in (_plan(1), _step(1), _plan(2), _plan(3, fault=Fault(kind="GenerationError", message="gone"))):
        memory.append(step)
        shown.append([m.content or "" for m in memory.project(ACT_SUMMARY) if "plan" in (m.content or "")])
    memory.append(TaskStep(task="go on", resumes="run-1"))
    shown.append([m.content or "" for m in memory.project(ACT_SUMMARY) if "plan" in (m.content or "")])
    memory.append(TaskStep(task="another"))
    shown.append([m.content or "" for m in memory.project(ACT_SUMMARY) if "plan" in (m.content or "")])
    assert shown == [["plan 1"], ["plan 1"], ["plan 2"], ["plan 2"], ["plan 2"], []]


def _plan(number: int, **fields: Any) -> PlanningStep:
    return PlanningStep(
        step_number=number, timing=_TIMING, plan=f"plan {number}", handover="Go on.", **fields
    )


# -- what holds in every combination ---------------------------------------------------------


def _check_pairs(messages: list[ChatMessage]) -> None:
    """Each call is answered once, directly after it, and no id comes twice."""
    asked: list[str] = []
    known: set[str] = set()
    for message in messages:
        if message.role == "tool":
            assert message.tool_call_id in asked, "a result without its call"
            asked.remove(message.tool_call_id)
            continue
        assert not asked, "a call without its result"
        assert not message.tool_calls or message.role == "assistant"
        asked = [call.id for call in message.tool_calls]
        assert len(set(asked)) == len(asked)
        assert known.isdisjoint(asked), "an id that comes twice"
        known.update(asked)
    assert not asked, "a call without its result"


@pytest.mark.parametrize("seed", range(300))
def test_no_call_is_left_without_its_result_whatever_is_done_to_the_steps(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(12):
        walk.go(4)
        for projection in PROJECTIONS:
            _check_pairs(walk.memory.project(projection))
        _check_pairs(walk.memory.to_messages())
        _check_pairs(walk.memory.to_messages(summary_mode=True))


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize(("view", "form"), list(itertools.product([*STEP_VIEWS, None], FORMS)))
def test_no_call_is_left_without_its_result_in_any_view_and_form(
    projection: Any, view: Any, form: Any
) -> None:
    for place in range(5):
        memory = _run()
        memory.set_view(place, view)
        memory.shorten({place: form}, {})
        _check_pairs(memory.project(projection))


@pytest.mark.parametrize("seed", range(300))
def test_every_request_is_rebuilt_exactly_after_later_changes(seed: int) -> None:
    walk = Walk(seed)
    walk.go(40)
    walk.take_request()
    walk.go(20)
    assert tuple(request for request, _ in walk.sent) == walk.memory.requests
    for request, messages in walk.sent:
        assert walk.memory.rebuild(request) == messages
        assert walk.memory.is_rebuilt_exactly(request)


@pytest.mark.parametrize("seed", range(100))
def test_request_whose_record_was_changed_without_a_trace_is_not_rebuilt_exactly(seed: int) -> None:
    walk = Walk(seed)
    walk.go(20)
    memory = walk.memory
    memory.append(TaskStep(task="seen"))
    _, request = memory.take_request(run_id="run", step_number=1, kind="act", projection=ACT)
    assert memory.is_rebuilt_exactly(request)
    memory.entries[-1].put("step", TaskStep(task="not seen"))
    assert not memory.is_rebuilt_exactly(request)


@pytest.mark.parametrize("seed", range(300))
def test_messages_begin_with_the_very_objects_of_before_while_nothing_changes(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(4):
        walk.go(6)
        _check_prefixes(walk)


def _check_prefixes(walk: Walk) -> None:
    before = {projection: walk.memory.project(projection) for projection in PROJECTIONS}
    for _ in range(4):
        step = walk.append()
        for projection in PROJECTIONS:
            now = walk.memory.project(projection)
            shows_plan = projection.summary_mode and projection.newest_plan
            if not (shows_plan and _may_end_a_plan(step)):
                n_system = int(projection.system)
                n_before = len(before[projection])
                assert now[:n_system] == before[projection][:n_system]
                pairs = zip(before[projection][n_system:], now[n_system:n_before], strict=True)
                assert all(a is b for a, b in pairs)
            before[projection] = now


def _may_end_a_plan(step: RunStep) -> bool:
    return isinstance(step, PlanningStep | TaskStep)


@pytest.mark.parametrize("seed", range(100))
def test_what_is_rendered_step_by_step_is_what_is_rendered_at_once(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(20):
        walk.go(2)
        for projection in PROJECTIONS:
            assert walk.memory.project(projection) == walk.memory.fork().project(projection)


# -- what a person changes -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(100))
def test_undo_takes_back_all_that_a_person_did(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(12):
        walk.append()
    before = [(e.step, e.view, e.is_pinned, e.is_dropped) for e in walk.memory.entries]
    for _ in range(12):
        walk.change()
    while walk.memory.undo():
        pass
    assert [(e.step, e.view, e.is_pinned, e.is_dropped) for e in walk.memory.entries] == before


def test_undo_brings_back_a_step_that_was_dropped_twice_at_once() -> None:
    memory = _run()
    memory.drop(1, 1)
    assert len(memory) == 4
    assert len(memory.undo()) == 1
    assert len(memory) == 5
    assert memory.undo() == ()


def test_hidden_step_is_in_no_request_and_back_when_it_is_shown() -> None:
    memory = _run()
    before = memory.project(ACT)
    memory.set_view(2, "hidden")
    assert not [m for m in memory.project(ACT) if "look" in str(m.tool_calls)]
    memory.set_view(2, None)
    assert memory.project(ACT) == before


def test_view_of_a_step_goes_before_the_view_of_the_request() -> None:
    memory = _run()
    memory.set_view(1, "full")
    memory.set_view(2, "full")
    text = "\n".join(_to_lines(memory.project(PLAN)))
    assert "1. look" in text
    assert "I look and count." in text
    memory.set_view(1, "summary")
    memory.set_view(2, "summary")
    text = "\n".join(_to_lines(memory.project(ACT)))
    assert "1. look" not in text
    assert "I look and count." not in text


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda memory: memory.set_view(0, "short"),
            snapshot("A step cannot be shown as 'short'. Give one of: 'full', 'summary', 'hidden', or None."),
        ),
        (
            lambda memory: memory.set_view(9, "full"),
            snapshot("There is no step at 9; the memory has 5 steps, counted from 0."),
        ),
        (
            lambda memory: memory.drop(TaskStep(task="of another memory")),
            snapshot("This step is not in this memory. Take one of memory.steps, or its place there."),
        ),
    ],
)
def test_change_that_cannot_be_says_what_can(act: Any, message: str) -> None:
    memory = _run()
    with pytest.raises(OptionError) as refusal:
        act(memory)
    assert refusal.value.message == message
    assert memory.edits == ()


def test_edited_step_is_found_by_its_original() -> None:
    memory = _run()
    step = memory.steps[2]
    memory.edit(step, model_output="I look.")
    memory.set_view(step, "hidden")
    assert memory.view_of(2) == "hidden"


def test_join_keeps_what_was_sent_before_a_step_was_edited() -> None:
    memory = _run()
    sent, request = memory.take_request(run_id="run-1", step_number=1, kind="act", projection=ACT)
    run = memory.fork()
    run.edit(0, task="What is it?")
    run.append(_step(9))
    memory.join(run, 5, with_edits=True)
    assert memory.steps == run.steps
    assert memory.rebuild(request) == sent
    assert memory.is_rebuilt_exactly(request)
    memory.undo()
    assert memory.steps[0] == _run().steps[0]


def test_join_leaves_the_steps_before_alone_without_edits() -> None:
    memory = _run()
    run = memory.fork()
    run.edit(0, task="What is it?")
    run.append(_step(9))
    memory.join(run, 5, with_edits=False)
    assert memory.steps == (*_run().steps, run.steps[-1])
    assert memory.edits == ()


def test_images_of_a_task_are_edited_as_a_run_takes_them() -> None:
    memory = AgentMemory("system", [TaskStep(task="look")])
    image = Image.new("RGB", (1, 1))
    memory.edit(0, images=[image])
    (part,) = memory.to_messages()[-1].images
    assert part.image is image
    for wrong in ("abc", 5, image, ["x.png"]):
        with pytest.raises(OptionError):
            memory.edit(0, images=wrong)
    memory.edit(0, images=None)
    assert memory.to_messages()[-1].images == ()
