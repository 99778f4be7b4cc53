"""Requests stay within the window: what is shortened, in which order, and that nothing is lost."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import tiktoken
from agents.checking import AS_TEXT, add, agent_of, assert_valid, model_of
from agents.long_texts import long_text
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.agents.requests.window import room_in, window_for
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import ContextShortened, Event, RunEnded, StepEnded
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, TaskStep
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel, ScriptedRequest
from agent_magic.models.tokens import estimate_tokens

calls, final = ScriptedModel.calls, ScriptedModel.final
WINDOW = 8_000
GPT_4O = LiteLLMModel("openai/gpt-4o")


def read(page: int) -> str:
    """Read a page of the book.

    Args:
        page: number of the page
    """
    return long_text(page)


class Gpt4o(ScriptedModel):
    """A script whose tokens are counted by a real tokenizer."""

    def count_tokens(self, text: str) -> int | None:
        return GPT_4O.count_tokens(text)


def count_exactly(text: str) -> int:
    assert GPT_4O.count_tokens("a") == 1  # from now on the tokenizer's ranks are at hand
    return len(tiktoken.get_encoding("o200k_base").encode(text, disallowed_special=()))


def tokens_of(request: ScriptedRequest, count: Any) -> int:
    """Counted from the provider's form alone: texts and arguments, 4 for each message, the tools."""
    total = sum(count(json.dumps(tool, ensure_ascii=False)) for tool in request.tools)
    for message in request.messages:
        total += 4 + count(message["content"] or "")
        for call in message.get("tool_calls", ()):
            total += count(call["function"]["name"]) + count(call["function"]["arguments"])
    return total


def texts_of(request: ScriptedRequest) -> list[str]:
    return [message["content"] or "" for message in request.messages]


def stream(
    agent: ToolCallingAgent, task: str = "Read the book.", **given: Any
) -> tuple[list[Event], RunResult]:
    events = list(agent.stream(task, **given))
    assert isinstance(events[-1], RunEnded)
    return events, events[-1].result


def shortenings(events: Sequence[Event]) -> list[ContextShortened]:
    return [event for event in events if isinstance(event, ContextShortened)]


def pages(numbers: Sequence[int]) -> list[Any]:
    return [calls(("read", {"page": number})) for number in numbers]


def assert_calls_answered(request: ScriptedRequest) -> None:
    """Each result follows its call, and each call has a result."""
    waiting: list[str] = []
    for message in request.messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting
            waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert not waiting


# -- the long run ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(0, 600, 100))
@pytest.mark.parametrize("capabilities", [Capabilities(), AS_TEXT], ids=["native", "text"])
def test_long_run_with_an_unknown_tokenizer_stays_within_the_window(
    seed: int, capabilities: Capabilities
) -> None:
    script = [*pages(range(seed, seed + 80)), final("read")]
    agent = agent_of(script, read, max_steps=100, context_window=WINDOW, capabilities=capabilities)
    events, result = stream(agent)
    assert (result.status, result.value) == ("answered", "read")
    requests = model_of(agent).requests
    assert len(requests) == 81
    assert max(tokens_of(request, estimate_tokens) for request in requests) <= WINDOW
    assert all(event.is_estimate for event in shortenings(events))
    _assert_whole(agent, result, range(seed, seed + 80))


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4])
def test_long_run_with_a_known_tokenizer_stays_within_the_window(seed: int) -> None:
    numbers = range(seed, 400 + seed, 5)  # 80 pages of one kind
    model = Gpt4o([*pages(numbers), final("read")], context_window=WINDOW)
    agent = ToolCallingAgent([read], model, max_steps=100)
    events, result = stream(agent)
    assert (result.status, result.value) == ("answered", "read")
    assert max(tokens_of(request, count_exactly) for request in model.requests) <= WINDOW
    told = shortenings(events)
    assert told
    assert not any(event.is_estimate for event in told)
    for event in told:
        assert event.tokens_after <= room_in(WINDOW) < event.tokens_before
        assert event.window == WINDOW
    _assert_whole(agent, result, numbers)


def _assert_whole(agent: ToolCallingAgent, result: RunResult, numbers: Sequence[int]) -> None:
    """Nothing of the record is lost, and the whole of each observation is at hand."""
    assert [step.action_output for step in result.actions[:-1]] == [long_text(number) for number in numbers]
    for step, number in zip(result.actions, numbers, strict=False):
        (one,) = step.tool_results
        assert one.kept_as is not None
        assert agent.state[one.kept_as] == long_text(number)
        assert one.observation.startswith(long_text(number)[:1_000])
    assert result.steps == agent.memory.steps
    assert all(agent.memory.is_rebuilt_exactly(request) for request in agent.memory.requests)
    assert_valid(agent.memory)
    if agent.model.capabilities.tools:
        for request in model_of(agent).requests:
            assert_calls_answered(request)


def test_long_run_does_not_change_its_history_at_every_step() -> None:
    script = [*pages(range(0, 400, 5)), final("read")]
    agent = agent_of(script, read, max_steps=100, context_window=WINDOW)
    events, _ = stream(agent)
    requests = model_of(agent).requests
    is_kept = [
        after.messages[: len(before.messages)] == before.messages
        for before, after in itertools.pairwise(requests)
    ]
    assert is_kept.count(False) == len(shortenings(events))
    assert len(shortenings(events)) <= 40


def test_run_of_500_steps_ends_within_the_window() -> None:
    numbers = range(0, 2_500, 5)
    agent = agent_of([*pages(numbers), final("read")], read, max_steps=600, context_window=WINDOW)
    events, result = stream(agent)
    assert result.status == "answered"
    assert max(tokens_of(request, estimate_tokens) for request in model_of(agent).requests) <= WINDOW
    last = model_of(agent).requests[-1]
    note = next(text for text in texts_of(last) if "left out here" in text)
    assert note.startswith("(4")
    assert len(shortenings(events)) < 250
    _assert_whole(agent, result, numbers)


# -- what a shortened step looks like -----------------------------------------------------------------


def test_shortened_observation_can_be_looked_into_by_peek() -> None:
    seen: list[Sequence[Mapping[str, Any]]] = []

    def look(request: ScriptedRequest) -> Any:
        seen.append(request.tools)
        (note,) = [text for text in texts_of(request)[:4] if "the whole is obs_1" in text]
        assert len(note) <= 240
        return calls(("peek", {"name": "obs_1", "start": 10_000, "length": 100}))

    agent = agent_of([*pages(range(0, 40, 5)), look, final("seen")], read, context_window=WINDOW)
    _, result = stream(agent)
    assert [tool["name"] for tool in seen[0]] == ["read", "final_answer", "peek"]
    assert result.actions[8].observations == (
        f'obs_1: characters 10000 to 10100 of 20000. Read on with {{"name": "obs_1", "start": 10100}}.\n'
        f"{long_text(0)[10_000:10_100]}"
    )


def test_observation_that_was_not_cut_is_kept_whole_when_it_is_shortened() -> None:
    def note(number: int) -> str:
        """Take a note."""
        return long_text(number, 3_000)

    script = [calls(("note", {"number": number})) for number in range(0, 60, 5)]
    agent = agent_of([*script, final("noted")], note, context_window=WINDOW)
    _, result = stream(agent)
    first = texts_of(model_of(agent).requests[-1])
    assert all(one.kept_as is None for step in result.actions for one in step.tool_results)
    assert agent.state["obs_1"] == long_text(0, 3_000)
    assert any("the whole is obs_1" in text for text in first)


def test_peek_gives_no_more_than_an_observation_may_have() -> None:
    peek = calls(("peek", {"name": "obs_1"}))
    agent = agent_of([*pages([0]), peek, final("seen")], read, context_window=2_000)
    _, result = stream(agent)
    (one,) = result.actions[1].tool_results
    assert one.kept_as is None
    assert len(one.observation) <= 1_000
    assert "obs_2" not in list(agent.state)


def test_steps_in_each_of_their_short_forms() -> None:
    def note(number: int) -> str:
        """Take a note."""
        return f"Note {number}: " + "The penguins are heavier here than elsewhere. " * 30

    script = [calls(("note", {"number": number})) | {"content": f"I note {number}."} for number in range(9)]
    agent = agent_of([*script, final("noted")], note, context_window=2_250)
    events, _ = stream(agent, "Take notes.")
    assert [event.shortened for event in shortenings(events)] == snapshot(
        [
            ("observations: step 1, step 2, step 3",),
            ("observations: step 4, step 5", "all but one line: step 1, step 2, step 3"),
            ("all but one line: step 4, step 5, step 6", "left out: step 1"),
            ("all but one line: step 7, step 8", "left out: step 2, step 3"),
        ]
    )
    assert texts_of(model_of(agent).requests[-1])[1:-1] == snapshot(
        [
            "Take notes.",
            "(3 earlier steps are left out here to save room.)",
            "",
            "Note 3: The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins a … (the whole is obs_4)",
            "",
            "Note 4: The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins a … (the whole is obs_5)",
            "",
            "Note 5: The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins a … (the whole is obs_6)",
            "",
            "Note 6: The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins a … (the whole is obs_7)",
            "",
            "Note 7: The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins are heavier here than elsewhere. The penguins a … (the whole is obs_8)",
            "I note 8.",
        ]
    )


# -- the rules -----------------------------------------------------------------------------------------


def _forms(agent: ToolCallingAgent) -> list[str]:
    return [agent.memory.form_of(step) for step in agent.memory.steps]


def test_images_go_first_and_the_oldest_of_them() -> None:
    def draw(number: int) -> Image.Image:
        """Draw a picture."""
        return Image.new("RGB", (number + 1, 4))

    script = [calls(("draw", {"number": number})) for number in range(6)]
    able = Capabilities(images=True)
    agent = agent_of([*script, final("drawn")], draw, context_window=WINDOW, capabilities=able, state={})
    events, _ = stream(agent, "Draw.")
    assert [event.shortened for event in shortenings(events)] == snapshot(
        [("images: step 1, step 2",), ("images: step 3, step 4",)]
    )
    assert _forms(agent) == snapshot(
        ["whole", "no_images", "no_images", "no_images", "no_images", "whole", "whole", "whole", "whole"]
    )
    messages = model_of(agent).requests[-1].messages
    n_images = sum(
        part["type"] == "image_url"
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
    )
    assert n_images == _forms(agent)[1:-2].count("whole")


def test_pinned_steps_are_shortened_last() -> None:
    agent = agent_of([*pages(range(0, 15, 5)), final(1)], read, context_window=100_000)
    agent.run("Read.")
    agent.memory.set_pinned(1)
    model = ScriptedModel([*pages(range(0, 50, 5)), final(2)], context_window=WINDOW)
    agent.model = model
    agent.run("Read on.", reset=False)
    forms = _forms(agent)
    assert forms[1] == "whole"
    assert forms[2] != "whole"


def test_task_plan_and_newest_step_are_never_shortened() -> None:
    task = "Read the book. " + "It is a long book, so be patient. " * 20
    plan = "1. Read each page. " + "Then read the next. " * 20
    agent = agent_of([plan, *pages(range(0, 100, 5)), final(1)], read, context_window=WINDOW, max_steps=40)
    agent.planning_interval = 30
    events, result = stream(agent, task)
    assert result.status == "answered"
    assert shortenings(events)
    for request in model_of(agent).requests[2:]:
        assert request.messages[1]["content"] == task
        assert request.messages[2]["content"] == plan.strip()
        newest = request.messages[-1]["content"]
        assert len(newest) > 3_900


def test_plan_of_an_earlier_run_is_not_protected() -> None:
    plan = "1. Read each page. " + "Then read the next. " * 100
    agent = agent_of([plan, final(1)], read, planning_interval=9)
    agent.run("Read.")
    agent.planning_interval = None
    agent.model = ScriptedModel([*pages(range(0, 200, 5)), final(2)], context_window=4_000)
    agent.max_steps = 50
    assert agent.run("Read on.", reset=False).status == "answered"
    assert plan.strip() in texts_of(model_of(agent).requests[0])
    last = texts_of(model_of(agent).requests[-1])
    assert plan.strip() not in last


def test_steps_of_earlier_runs_go_first() -> None:
    agent = agent_of([*pages([0, 5, 10]), final(1)], read)
    agent.run("Read three.")
    agent.model = ScriptedModel([*pages([15, 20]), final(2)], context_window=WINDOW)
    agent.run("Read two more.", reset=False)
    assert _forms(agent) == snapshot(
        [
            "whole",
            "short_observations",
            "short_observations",
            "whole",
            "whole",
            "whole",
            "whole",
            "whole",
            "whole",
            "whole",
            "whole",
        ]
    )


def test_correction_of_a_resumed_run_is_protected() -> None:
    agent = agent_of(pages([0]), read, max_steps=1)
    agent.run("Read the book.")
    agent.model = ScriptedModel([*pages(range(0, 100, 5)), final(1)], context_window=WINDOW)
    result = agent.resume("Read on, and look out for penguins. " * 20, max_steps=30)
    assert result.status == "answered"
    texts = texts_of(model_of(agent).requests[-1])
    assert "Read the book." in texts
    assert "Read on, and look out for penguins. " * 20 in texts


def test_hidden_and_dropped_steps_are_neither_counted_nor_shortened() -> None:
    agent = agent_of([*pages(range(0, 15, 5)), final(1)], read, context_window=100_000)
    agent.run("Read.")
    agent.memory.set_view(1, "hidden")
    dropped = agent.memory.steps[2]
    agent.memory.drop(dropped)
    agent.model = ScriptedModel([*pages(range(0, 60, 5)), final(2)], context_window=WINDOW)
    _, result = stream(agent, "Read on.", reset=False)
    assert result.status == "answered"
    assert agent.memory.form_of(1) == "whole"
    assert agent.memory.form_of(dropped) == "whole"
    assert max(tokens_of(request, estimate_tokens) for request in model_of(agent).requests) <= WINDOW


@pytest.mark.parametrize("mode", ["plan", "all", "off"])
def test_requests_for_plans_stay_within_the_window_in_every_mode(mode: Any) -> None:
    def reply(request: ScriptedRequest) -> Any:
        n_acts = sum(one.kind == "act" for one in model.requests)
        if request.kind == "plan":
            return f"{n_acts}. Read on."
        return final("read") if n_acts > 30 else calls(("read", {"page": 5 * n_acts}))

    model = ScriptedModel([reply] * 60, context_window=WINDOW)
    agent = ToolCallingAgent([read], model, max_steps=40, planning_interval=4, summary_mode=mode)
    _, result = stream(agent)
    assert result.status == "answered"
    assert [request.kind for request in model.requests].count("plan") == 8
    assert max(tokens_of(request, estimate_tokens) for request in model.requests) <= WINDOW
    assert all(agent.memory.is_rebuilt_exactly(request) for request in agent.memory.requests)
    for request in model.requests:
        assert_calls_answered(request)


def test_unknown_window_leaves_everything_whole() -> None:
    agent = agent_of([*pages(range(30)), final(1)], read, max_steps=40)
    events, result = stream(agent)
    assert result.status == "answered"
    assert not shortenings(events)
    assert set(_forms(agent)) == {"whole"}


# -- what does not fit ---------------------------------------------------------------------------------


def test_window_smaller_than_the_system_prompt_fails_with_what_to_do() -> None:
    model = Gpt4o([final(1)], context_window=250)
    result = ToolCallingAgent([add], model).run("1 + 2")
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.message == snapshot(
        "scripted: the request has 402 tokens in its shortest form, and 219 fit beside a reply (system prompt 241, tools 153, the task 8). Take a model with a larger window, or make the largest part smaller: fewer tools, a shorter task, or agent.memory.edit and drop for what is in memory."
    )
    assert model.requests == []


def test_estimate_far_over_the_window_fails_and_a_little_over_it_asks() -> None:
    agent = agent_of([final(1)], context_window=100)
    assert agent.run("1 + 2").status == "failed"
    agent = agent_of([final(1)], context_window=500)
    assert agent.preview(task="1 + 2").total_tokens > room_in(500)
    assert agent.run("1 + 2").status == "answered"


def test_observation_larger_than_the_window_is_shortened_though_it_is_the_newest() -> None:
    def shout(page: int) -> str:
        """Read a page of codes."""
        return "ÄÖ9X" * 2_000

    script = [
        calls(("shout", {"page": 1})),
        calls(("shout", {"page": 2}), ("shout", {"page": 3})),
        final("read"),
    ]
    agent = agent_of(script, shout, context_window=4_000)
    _, result = stream(agent)
    assert result.status == "answered"
    assert max(tokens_of(request, estimate_tokens) for request in model_of(agent).requests) <= 4_000
    assert [len(text) for text in texts_of(model_of(agent).requests[-1])[2:]] == snapshot(
        [0, 240, 0, 240, 240]
    )


def test_huge_newest_step_does_not_push_out_all_others() -> None:
    def shout() -> str:
        """Read codes."""
        return "9X" * 4_000

    script = [*[calls(("add", {"a": n, "b": 1})) for n in range(5)], calls(*[("shout", {})] * 5), final(1)]
    agent = agent_of(script, add, shout, context_window=WINDOW)
    _, result = stream(agent)
    assert result.status == "answered"
    assert _forms(agent)[1:6] == ["whole"] * 5
    assert isinstance(agent.memory.steps[0], TaskStep)
    assert isinstance(agent.memory.steps[6], ActionStep)


def test_window_for_is_the_opposite_of_room_in() -> None:
    for window in (100, 4_096, 8_192, 32_768, 32_769, 128_000, 1_000_000):
        assert abs(window_for(room_in(window)) - window) <= 1


@pytest.mark.parametrize("capabilities", [Capabilities(), AS_TEXT], ids=["native", "text"])
def test_preview_foresees_what_will_be_shortened(capabilities: Capabilities) -> None:
    script = [*pages(range(0, 150, 5)), final("read")]
    agent = agent_of(script, read, max_steps=40, context_window=WINDOW, capabilities=capabilities)
    foreseen: list[Any] = []
    told: list[Any] = []
    for event in agent.stream("Read the book."):
        if isinstance(event, ContextShortened):
            told.append(event.shortened)
        if (
            isinstance(event, StepEnded)
            and isinstance(event.step, ActionStep)
            and not event.step.is_final_answer
        ):
            foreseen.append(agent.preview())
    sent = model_of(agent).requests[1:]
    assert len(foreseen) == len(sent) == 30
    assert [list(preview.messages) for preview in foreseen] == [request.messages for request in sent]
    assert [[tool["name"] for tool in preview.tools] for preview in foreseen] == [
        [tool["name"] for tool in request.tools] for request in sent
    ]
    assert [preview.shortened for preview in foreseen if preview.shortened] == told
    assert told


def test_last_answer_at_the_limit_is_asked_for_within_the_window() -> None:
    agent = agent_of([*pages(range(0, 30, 5)), "Read."], read, max_steps=6, context_window=4_000)
    events, result = stream(agent)
    assert (result.status, result.value) == ("max_steps", "Read.")
    assert max(tokens_of(request, estimate_tokens) for request in model_of(agent).requests) <= 4_000
    assert shortenings(events)


def test_shortened_steps_stay_so_in_json_and_back() -> None:
    agent = agent_of([*pages(range(0, 150, 5)), final("read")], read, max_steps=40, context_window=WINDOW)
    agent.run("Read the book.")
    again = AgentMemory.from_dict(agent.memory.to_dict())
    assert [again.form_of(step) for step in again.steps] == _forms(agent)
    assert [message.content for message in again.to_messages()] == [
        message.content for message in agent.memory.to_messages()
    ]
    assert all(again.is_rebuilt_exactly(request) for request in again.requests)


def test_corrections_but_the_last_are_shortened() -> None:
    def stop(_request: Any) -> Any:
        raise ValueError("no")

    agent = agent_of([stop] * 36 + [final(1)], context_window=4_000)
    agent.run("The task itself.")
    for _ in range(35):
        agent.resume("correction " * 100)
    agent.resume("And now the last word.")
    assert agent.result is not None
    assert agent.result.status == "answered"
    sent = str(model_of(agent).requests[-1].messages)
    assert "The task itself." in sent
    assert "And now the last word." in sent
