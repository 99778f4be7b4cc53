"""One execution of a task: ids, drafts, and the end that counts."""

from __future__ import annotations

import threading

from inline_snapshot import snapshot

from agent_magic.agents.run.counting import CallIds
from agent_magic.agents.run.drafts import StepDraft
from agent_magic.agents.run.run import Run
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import TokenUsage, ToolCall
from agent_magic.core.settings import AgentSettings
from agent_magic.core.state import AgentState
from agent_magic.core.steps import ActionStep, Fault, FinalAnswerStep, TaskStep, ToolResult
from agent_magic.models.scripted import ScriptedModel

_STOPPED = Fault(kind="Interrupted", message="The person interrupted the run.")


def _run() -> Run:
    run = Run(
        agent_name="agent",
        model=ScriptedModel(()),
        memory=AgentMemory("system"),
        state=AgentState(),
        settings=AgentSettings(max_steps=5),
        task=TaskStep(task="count"),
        max_steps=None,
        call_ids=CallIds(),
    )
    run.add(run.task)
    return run


# -- ids -----------------------------------------------------------------------------------------


def test_call_ids_are_given_once() -> None:
    ids = CallIds()
    assert [ids.unique(wanted) for wanted in ("a", "a", "a_2", "a", "", "", "call_1")] == snapshot(
        ["a", "a_2", "a_2_2", "a_3", "call_1", "call_1_2", "call_1_3"]
    )


def test_call_ids_are_given_once_when_threads_meet() -> None:
    ids = CallIds()
    given: list[str] = []
    threads = [
        threading.Thread(target=lambda: given.extend(ids.unique("x") for _ in range(300))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(given)) == 1_800


# -- drafts --------------------------------------------------------------------------------------


def test_draft_answers_calls_that_have_no_result() -> None:
    draft = StepDraft(1)
    draft.calls = tuple(ToolCall(id=f"c{n}", name="look", arguments={}) for n in range(3))
    draft.results[1] = ToolResult(call=draft.calls[1], observation="seen")
    draft.entered = {0, 1}
    draft.fault = _STOPPED
    step = draft.freeze()
    assert [result.to_text() for result in step.tool_results] == snapshot(
        [
            "The call was interrupted before it ended; what it did so far is not known.",
            "seen",
            "The call was not run: the run was interrupted before it.",
        ]
    )
    assert [message.tool_call_id for message in step.to_messages()] == [None, "c0", "c1", "c2", None]


def test_draft_keeps_a_reply_gone_astray_within_bounds() -> None:
    draft = StepDraft(1)
    draft.text_pieces.append("x" * 3_000_000)
    assert len(draft.freeze().model_output) == 100_000


def test_draft_adds_advice_to_each_error() -> None:
    draft = StepDraft(1)
    draft.calls = (ToolCall(id="a", name="look"), ToolCall(id="b", name="look"))
    draft.results[0] = ToolResult(call=draft.calls[0], observation="seen")
    draft.results[1] = ToolResult(call=draft.calls[1], fault=Fault(kind="ToolError", message="No."))
    draft.add_advice("Stop.")
    assert [result.to_text() for result in draft.freeze().tool_results] == ["seen", "No.\nStop."]


# -- ends ----------------------------------------------------------------------------------------


def test_first_end_counts() -> None:
    run = _run()
    first = run.end("answered", value=1)
    assert run.end("interrupted", error=_STOPPED) is first
    assert run.memory.steps == (run.task,)


def test_interrupt_between_steps_leaves_a_step_of_its_own() -> None:
    run = _run()
    run.begin_step(1)
    run.end_step()
    result = run.end("interrupted", error=_STOPPED)
    assert [step.step_number for step in result.actions] == [1, 2]
    assert [step.is_interrupted for step in result.actions] == [False, True]


def test_interrupt_within_a_step_leaves_that_step_alone() -> None:
    run = _run()
    run.begin_step(1).text_pieces.append("half a")
    result = run.end("interrupted", error=_STOPPED)
    (step,) = result.actions
    assert (step.model_output, step.fault) == ("half a", _STOPPED)


def test_interrupt_before_the_first_event_keeps_the_task() -> None:
    run = Run(
        agent_name="agent",
        model=ScriptedModel(()),
        memory=AgentMemory(),
        state=AgentState(),
        settings=AgentSettings(max_steps=5),
        task=TaskStep(task="count"),
        max_steps=None,
        call_ids=CallIds(),
    )
    result = run.end("interrupted", error=_STOPPED)
    assert [type(step) for step in result.steps] == [TaskStep, ActionStep]


def test_nothing_enters_memory_after_the_end() -> None:
    run = _run()
    run.end("interrupted", error=_STOPPED)
    before = run.memory.steps
    run.add(TaskStep(task="late"))
    assert run.memory.steps == before


def test_usage_is_unknown_before_the_first_reply_and_after_one_that_does_not_say() -> None:
    run = _run()
    assert run.usage is None
    reported = TokenUsage(input_tokens=3, output_tokens=2, cost_usd=0.5)
    run.count_usage(reported)
    assert run.usage == reported
    run.count_usage(None)
    assert run.usage == TokenUsage()


def test_waker_is_called_at_an_interrupt_and_not_after_it_was_taken_off() -> None:
    run = _run()
    woken: list[str] = []
    run.on_interrupt(lambda: woken.append("stays"))
    take_off = run.on_interrupt(lambda: woken.append("gone"))
    take_off()
    run.interrupt("Enough.")
    assert woken == ["stays"]
    run.on_interrupt(lambda: woken.append("late"))
    assert woken == ["stays", "late"]


# -- an interrupt between two lines of the recording ----------------------------------------------


def test_end_mends_a_step_that_is_made_but_not_in_memory_yet() -> None:
    run = _run()
    draft = run.begin_step(1)
    draft.step = step = draft.freeze()
    run.steps.append(step)
    result = run.end_interrupted("Enough.")
    assert result.steps == run.memory.steps
    assert [type(step).__name__ for step in result.steps] == ["TaskStep", "ActionStep", "ActionStep"]
    assert result.steps[1] is step
    assert result.steps[2].is_interrupted  # pyright: ignore[reportAttributeAccessIssue] - an action


def test_end_keeps_an_answer_that_is_in_memory() -> None:
    run = _run()
    run.begin_step(1)
    run.take_answer(42, is_told=True)
    run.end_step()
    run.add(FinalAnswerStep(answer=42))
    result = run.end_interrupted("Too late.")
    assert (result.status, result.value) == ("answered", 42)
    assert result.steps == run.memory.steps


def test_end_takes_back_an_answer_that_was_not_taken_yet() -> None:
    run = _run()
    draft = run.begin_step(1)
    call = ToolCall(id="call_1", name="final_answer", arguments={"answer": 42})
    draft.calls = (call,)
    draft.results[0] = ToolResult(call=call, observation="accepted", output=42)
    draft.is_final_answer = True
    run.take_answer(42, is_told=True)
    step = run.end_interrupted("Enough.").steps[-1]
    assert isinstance(step, ActionStep)
    assert (step.is_final_answer, step.is_interrupted) == (False, True)
    assert step.observations == "The run was interrupted before the answer was taken."
