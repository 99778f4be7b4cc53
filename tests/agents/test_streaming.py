"""One model call: pieces, retries, and what of a broken reply counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agents.checking import Busy, add, agent_of, assert_usable, model_of, told, within
from inline_snapshot import snapshot

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import GenerationError
from agent_magic.core.events import ArgumentsDelta, ModelReplied, RunEnded, StepStarted, TextDelta, Waiting
from agent_magic.core.messages import ChatMessage, MessageDelta, TokenUsage, ToolCall, ToolCallDelta
from agent_magic.core.steps import Fault
from agent_magic.models.model import Model
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final


class Broken(Model):
    """A provider whose first streams break in the middle, as lines do."""

    model_id = "broken"

    def __init__(self, n_breaks: int) -> None:
        self.n_breaks = n_breaks
        self.n_closed = 0

    def generate(self, messages: Any, **options: Any) -> ChatMessage:
        raise NotImplementedError

    def stream(self, messages: Any, **options: Any) -> Iterator[MessageDelta]:
        try:
            self.n_breaks -= 1
            yield MessageDelta(reasoning="thinking ")
            yield MessageDelta(text="half a thought")
            yield MessageDelta(
                tool_calls=(ToolCallDelta(index=0, id="a", name="add", arguments='{"a": 1, '),)
            )
            if self.n_breaks >= 0:
                raise Busy("connection reset by peer")
            yield MessageDelta(text=" and the other half")
            yield MessageDelta(tool_calls=(ToolCallDelta(index=0, arguments='"b": 2}'),))
            yield MessageDelta(usage=TokenUsage(input_tokens=5))
        finally:
            self.n_closed += 1


# -- pieces --------------------------------------------------------------------------------------


def test_pieces_are_yielded_as_they_come_and_add_up_to_the_reply() -> None:
    reply = calls(("add", {"a": 1, "b": 2})) | {"content": "I add them now.", "reasoning": "Let me think."}
    agent = agent_of([reply, final(3)], stream_pieces=4)
    deltas = [e for e in agent.stream("1 + 2") if isinstance(e, TextDelta) and e.step_number == 1]
    assert "".join(d.text for d in deltas if not d.is_reasoning) == "I add them now."
    assert "".join(d.text for d in deltas if d.is_reasoning) == "Let me think."
    assert len(deltas) == 8
    assert agent.result is not None
    step = agent.result.actions[0]
    assert (step.model_output, step.reasoning) == ("I add them now.", "Let me think.")


def test_arguments_of_calls_are_yielded_as_they_come() -> None:
    reply = calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4}))
    agent = agent_of([reply, final(3)], stream_pieces=3)
    deltas = [e for e in agent.stream("1 + 2") if isinstance(e, ArgumentsDelta) and e.step_number == 1]
    assert [(delta.place, delta.name, delta.text) for delta in deltas] == [
        (0, "add", ""),
        (0, "add", '{"a": '),
        (0, "add", '1, "b"'),
        (0, "add", ": 2}"),
        (1, "add", ""),
        (1, "add", '{"a": '),
        (1, "add", '3, "b"'),
        (1, "add", ": 4}"),
    ]


def test_calls_in_the_reply_to_a_request_for_a_plan_are_not_told() -> None:
    reply = calls(("add", {"a": 1, "b": 2})) | {"content": "1. Add."}
    agent = agent_of([reply, final(3)], stream_pieces=3, planning_interval=9)
    events = list(agent.stream("1 + 2"))
    names = {event.name for event in events if isinstance(event, ArgumentsDelta)}
    assert names == {"final_answer"}


def test_reply_that_comes_whole_has_no_deltas() -> None:
    events = list(agent_of([final(3) | {"content": "Three."}]).stream("1 + 2"))
    assert not any(isinstance(event, TextDelta | ArgumentsDelta) for event in events)
    assert any(isinstance(event, ModelReplied) and event.message.content == "Three." for event in events)


def test_model_that_can_only_generate_is_enough() -> None:
    class Plain(Model):
        model_id = "plain"

        def generate(self, messages: Any, **options: Any) -> ChatMessage:
            call = ToolCall(id="x", name="final_answer", arguments=json.dumps({"answer": len(messages)}))
            return ChatMessage(role="assistant", tool_calls=(call,))

    result = ToolCallingAgent([add], Plain()).run("how many")
    assert (result.status, result.value, result.model_id) == ("answered", 2, "plain")


def test_stream_may_be_any_iterator() -> None:
    class Listed(Model):
        def generate(self, messages: Any, **options: Any) -> ChatMessage:
            raise NotImplementedError

        def stream(self, messages: Any, **options: Any) -> Iterator[MessageDelta]:
            call = ToolCallDelta(index=0, id="x", name="final_answer", arguments='{"answer": 1}')
            return iter([MessageDelta(text="ok"), MessageDelta(tool_calls=(call,))])

    assert ToolCallingAgent([add], Listed()).run("one").value == 1


# -- retries -------------------------------------------------------------------------------------


def test_passing_failure_is_tried_again_and_is_no_step() -> None:
    agent = agent_of([Busy("busy"), Busy("busy"), final(3)])
    events = list(agent.stream("1 + 2"))
    assert [event for event in events if isinstance(event, Waiting)] == snapshot(
        [
            Waiting(
                step_number=1,
                reason="scripted: the connection failed or broke off. Look at the network, or at the model's server. It says: busy",
                delay_s=0.0,
                attempt=1,
            ),
            Waiting(
                step_number=1,
                reason="scripted: the connection failed or broke off. Look at the network, or at the model's server. It says: busy",
                delay_s=0.5,
                attempt=2,
            ),
        ]
    )
    assert sum(isinstance(event, StepStarted) for event in events) == 1
    assert agent.result is not None
    assert (agent.result.value, len(agent.result.actions)) == (3, 1)
    assert_usable(agent)


def test_wait_without_a_word_from_the_provider_is_short() -> None:
    agent = agent_of([TimeoutError("slow"), final(3)])
    with within(10):
        (wait,) = (event for event in agent.stream("1 + 2") if isinstance(event, Waiting))
    assert 0 < wait.delay_s <= 2
    assert wait.attempt == 1


def test_failure_that_does_not_pass_ends_the_run_after_some_tries() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), *[Busy("busy")] * 9])
    events = list(agent.stream("1 + 2"))
    assert [event.attempt for event in events if isinstance(event, Waiting)] == [1, 2, 3]
    assert agent.result is not None
    assert agent.result.status == "failed"
    assert agent.result.error == snapshot(
        Fault(
            kind="GenerationError",
            message="scripted: the connection failed or broke off. Look at the network, or at the model's server. It says: busy (tried 4 times)",
        )
    )
    assert len(model_of(agent).requests) == 5
    assert told(agent.result)[0] == "3"
    assert isinstance(events[-1], RunEnded)
    assert_usable(agent)


def test_tries_are_counted_anew_for_each_call() -> None:
    agent = agent_of([*[Busy("busy")] * 3, calls(("add", {"a": 1, "b": 2})), *[Busy("busy")] * 3, final(3)])
    assert agent.run("1 + 2").status == "answered"


def test_failure_that_cannot_pass_is_not_tried_again() -> None:
    agent = agent_of([GenerationError("the script ends here", model_id="scripted"), final(3)])
    events = list(agent.stream("1 + 2"))
    assert not any(isinstance(event, Waiting) for event in events)
    assert agent.result is not None
    assert (agent.result.status, agent.result.error and agent.result.error.message) == (
        "failed",
        "the script ends here",
    )


def test_call_at_the_step_limit_is_tried_again_too() -> None:
    agent = agent_of([calls(("add", {"a": 1, "b": 2})), Busy("busy"), "Three."], max_steps=1)
    assert agent.run("1 + 2").value == "Three."


def test_nothing_of_a_broken_stream_counts() -> None:
    model = Broken(2)
    agent = ToolCallingAgent([add], model)
    events = agent.stream("1 + 2", max_steps=1)
    for event in events:
        if isinstance(event, ModelReplied):
            break
    events.close()
    assert agent.result is not None
    (step,) = agent.result.actions
    assert step.model_output == "half a thought and the other half"
    assert step.reasoning == "thinking "
    assert step.token_usage == TokenUsage(input_tokens=5)
    assert model.n_closed == 3
    assert_usable(agent)


def test_stream_that_stays_broken_leaves_an_empty_step() -> None:
    model = Broken(99)
    agent = ToolCallingAgent([add], model)
    result = agent.run("1 + 2")
    assert result.status == "failed"
    (step,) = result.actions
    assert (step.model_output, step.reasoning, step.tool_calls) == ("", "", ())
    assert step.to_messages() == ()
    assert_usable(agent)


def test_closing_a_run_closes_the_models_stream() -> None:
    model = Broken(0)
    events = ToolCallingAgent([add], model).stream("1 + 2")
    for event in events:
        if isinstance(event, TextDelta):
            break
    assert model.n_closed == 0
    events.close()
    assert model.n_closed == 1


def test_failure_of_the_model_holds_no_secret(monkeypatch: Any) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "correct-horse")
    result = agent_of([ValueError("bad token correct-horse")]).run("1 + 2")
    assert result.error is not None
    assert "correct-horse" not in result.error.message
