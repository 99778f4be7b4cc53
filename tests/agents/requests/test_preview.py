"""The lens: what it shows is what is sent, of past calls and of the next one, in every view."""

from __future__ import annotations

import contextlib
import json
import random
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from agents.checking import AS_TEXT, PATIENCE_S, Busy, add, agent_of, assert_valid, model_of
from agents.steering import Steering
from inline_snapshot import snapshot
from PIL import Image

from agent_magic.agents.requests.preview import Preview
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import OptionError, ToolError
from agent_magic.core.events import ContextShortened, Event, SettingChanged, StepEnded, StepStarted, Waiting
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import RequestKind
from agent_magic.core.steps import ActionStep, PlanningStep
from agent_magic.models.model import Capabilities
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final
_SEEING = Capabilities(images=True)
_SEEING_TEXT = Capabilities(tools=False, images=True)


def draw(color: str) -> Image.Image:
    """Draw a square.

    Args:
        color: its color
    """
    return Image.new("RGB", (2, 2), color)


def fail(reason: str) -> str:
    """Fail.

    Args:
        reason: why
    """
    raise ToolError(f"It failed: {reason}. Do something else.")


def _call(able: Capabilities | None, name: str, **arguments: Any) -> Any:
    """A call with a thought before it, native or as text."""
    native = calls((name, arguments)) | {"content": f"I use {name}.", "reasoning": f"Why not {name}?"}
    if able is None or able.tools:
        return native
    return f"I use {name}. {json.dumps({'name': name, 'arguments': arguments})}"


def _rich_agent(able: Capabilities | None = None, **options: Any) -> ToolCallingAgent:
    """Plans, a thought, an error of a tool, one of a call, an image, a reply without a call, a refused answer, the limit."""

    def is_short(answer: str) -> bool:
        return len(answer) < 3

    return agent_of(
        [
            {"content": "1. Draw.\n2. Add.", "reasoning": "Let me plan."},
            _call(able, "draw", color="red"),
            _call(able, "fail", reason="no luck"),
            "1. Add.",
            "I only talk.",
            _call(able, "add", a=1, b=2, c=3),
            "",
            Busy("busy"),
            _call(able, "final_answer", answer="far too long"),
            _call(able, "add", a=1, b=2),
            "3. Stop.",
            _call(able, "add", a=2, b=2),
            "My best guess is 4.",
        ],
        draw,
        fail,
        add,
        planning_interval=2,
        max_steps=7,
        final_answer_checks=[is_short],
        **({"capabilities": able} if able else {}),
        **options,
    )


def _assert_all_rebuilt(agent: ToolCallingAgent) -> None:
    """Every request that the model got is what the preview of its step shows."""
    sent = model_of(agent).requests
    kept = agent.memory.requests
    assert [request.kind for request in sent] == [request.kind for request in kept]
    newest: dict[tuple[int, RequestKind], int] = {
        (request.step_number, request.kind): place for place, request in enumerate(kept)
    }
    for (step_number, kind), place in newest.items():
        preview = agent.preview(step_number, kind=kind)
        assert list(preview.messages) == sent[place].messages
        assert list(preview.tools) == sent[place].tools
        assert (preview.is_past, preview.is_exact) == (True, True)
    assert all(agent.memory.is_rebuilt_exactly(request) for request in kept)


# -- past and next calls ---------------------------------------------------------------------------

_ABLE = {"native": None, "text": AS_TEXT, "seeing": _SEEING, "seeing, text": _SEEING_TEXT}


@pytest.mark.parametrize("mode", ["plan", "all", "off"])
@pytest.mark.parametrize("able", _ABLE)
def test_preview_of_every_call_is_what_was_sent(able: str, mode: str) -> None:
    agent = _rich_agent(_ABLE[able], summary_mode=mode)
    result = agent.run("Draw, then add.", images=[Image.new("L", (3, 3))])
    assert result.status == "max_steps"
    kinds = [request.kind for request in model_of(agent).requests]
    assert kinds == [
        "plan",
        "act",
        "act",
        "plan",
        "act",
        "act",
        "plan",
        "act",
        "act",
        "act",
        "plan",
        "act",
        "final",
    ]
    _assert_all_rebuilt(agent)
    read_back = AgentMemory.from_dict(agent.memory.to_dict())
    assert all(read_back.is_rebuilt_exactly(request) for request in read_back.requests)


@pytest.mark.parametrize("mode", ["plan", "all", "off"])
@pytest.mark.parametrize("able", _ABLE)
def test_preview_of_the_next_call_is_what_is_sent_then(able: str, mode: str) -> None:
    foreseen: list[Preview] = []

    def look(step: Any, *, agent: ToolCallingAgent) -> None:
        foreseen.append(agent.preview(kind="act"))

    agent = _rich_agent(_ABLE[able], summary_mode=mode, step_callbacks={ActionStep: look, PlanningStep: look})
    at_start: list[Preview] = []
    before_act: dict[int, Preview] = {}
    for event in agent.stream("Draw, then add.", images=[Image.new("L", (3, 3))]):
        if isinstance(event, StepStarted):
            at_start.append(agent.preview(kind=event.kind))
            if event.kind == "act":
                before_act[event.step_number] = foreseen[-1] if foreseen else at_start[-1]
        elif isinstance(event, Waiting):
            at_start.append(agent.preview())
        elif (
            isinstance(event, StepEnded)
            and isinstance(event.step, ActionStep)
            and event.step.step_number == agent.max_steps
        ):
            at_start.append(agent.preview(kind="final"))
    sent = model_of(agent).requests
    assert len(at_start) == len(sent)
    for preview, request in zip(at_start, sent, strict=True):
        assert preview.kind == request.kind
        assert list(preview.messages) == request.messages
        assert list(preview.tools) == request.tools
        assert (preview.is_past, preview.is_exact, preview.shortened) == (False, None, ())
    for step_number, preview in before_act.items():
        assert preview.step_number == step_number
        assert preview.messages == agent.preview(step_number).messages


def test_preview_from_a_callback_shows_what_the_callback_changed() -> None:
    foreseen: dict[int, Preview] = {}

    def change(step: ActionStep, *, agent: ToolCallingAgent) -> None:
        if step.step_number == 1:
            agent.memory.edit(step, observations="tock")
            agent.settings.update(summary_mode="all")
        foreseen[step.step_number + 1] = agent.preview()

    tick = Steering().tick
    agent = agent_of(
        [_call(None, "tick", n=1), _call(None, "tick", n=2), final("done")], tick, step_callbacks=[change]
    )
    agent.run("Tick.")
    for step_number in (2, 3):
        assert list(foreseen[step_number].messages) == model_of(agent).requests[step_number - 1].messages
    assert foreseen[2].messages[-1]["content"] == "tock"
    assert foreseen[2].summary_mode == "all"


def test_preview_of_a_plan_counts_a_limit_that_is_not_yet_taken_up() -> None:
    agent = agent_of([_call(None, "add", a=1, b=2), "Plan", final(3)])
    events = agent.stream("go")
    for event in events:
        if isinstance(event, StepEnded):
            break
    agent.settings.update(max_steps=6)
    agent.replan_now()
    foreseen = agent.preview(kind="plan")
    list(events)
    assert list(foreseen.messages) == model_of(agent).requests[1].messages
    assert re.findall(r"\d+", foreseen.messages[-1]["content"]) == ["5"]


def test_preview_before_the_first_run_shows_its_first_request() -> None:
    agent = agent_of(["Plan", final(3)], planning_interval=1)
    plan, act = agent.preview(kind="plan", task="go"), agent.preview(task="go")
    agent.run("go")
    assert list(plan.messages) == model_of(agent).requests[0].messages
    assert (act.run_id, act.step_number, act.n_before, act.n_kept) == (None, 1, None, 0)
    assert [message["role"] for message in act.messages] == ["system", "user"]
    assert agent.memory.requests[0].step_number == 1


def test_preview_of_the_next_task_in_a_memory_is_its_first_request() -> None:
    agent = agent_of([final(1), final(2)])
    agent.run("one")
    foreseen = agent.preview(task="two")
    agent.run("two", reset=False)
    assert list(foreseen.messages) == model_of(agent).requests[1].messages
    assert (foreseen.n_before, foreseen.n_kept) == (2, 2)


def test_preview_changes_nothing() -> None:
    agent = agent_of([_call(None, "add", a=1, b=2), final(3)], context_window=2_000)
    agent.run("go")
    before = agent.memory.to_dict()
    kinds: tuple[RequestKind, ...] = ("act", "plan", "final")
    for kind in kinds:
        agent.preview(kind=kind, task="What now?")
        agent.preview(kind=kind, summary_mode="all")
    agent.preview(1)
    assert agent.memory.to_dict() == before
    assert len(model_of(agent).requests) == 2


def test_preview_of_a_call_that_must_be_shortened_is_what_is_sent_then() -> None:
    long = "word " * 900

    def read(n: int) -> str:
        """Read a page.

        Args:
            n: its number
        """
        return f"{n} {long}"

    agent = agent_of(
        [calls(("read", {"n": n})) for n in range(8)] + [final("done")], read, context_window=4_000
    )
    foreseen: list[Preview] = []
    events: list[Event] = []
    for event in agent.stream("Read."):
        events.append(event)
        if isinstance(event, StepStarted):
            foreseen.append(agent.preview())
    sent = model_of(agent).requests
    assert [list(preview.messages) for preview in foreseen] == [request.messages for request in sent]
    assert [list(preview.tools) for preview in foreseen] == [request.tools for request in sent]
    told = [event.shortened for event in events if isinstance(event, ContextShortened)]
    assert told
    assert [preview.shortened for preview in foreseen if preview.shortened] == told
    _assert_all_rebuilt(agent)


# -- after changes ---------------------------------------------------------------------------------


def test_past_calls_stay_as_they_were_whatever_is_changed_later() -> None:
    agent = _rich_agent(_SEEING)
    agent.run("Draw, then add.")
    memory = agent.memory
    plan, first = memory.steps[1:3]
    memory.edit(plan, plan="Another plan.")
    memory.edit(first, model_output="", observations="nothing", observations_images=None)
    memory.set_view(memory.steps[3], "hidden")
    memory.set_view(memory.steps[5], "summary")
    memory.drop(memory.steps[6])
    memory.set_pinned(memory.steps[7])
    memory.edit(memory.steps[0], task="Another task.")
    memory.forget_images(keep_last=0)
    agent.instructions = "Be quick."
    agent.settings.update(summary_mode="all")
    _assert_all_rebuilt(agent)
    assert memory.undo()
    _assert_all_rebuilt(agent)
    agent.model = ScriptedModel([final("x")], capabilities=_SEEING)
    agent.planning_interval = None
    agent.run("And now?", reset=False)
    assert [_message_line(message) for message in model_of(agent).requests[0].messages[:6]] == snapshot(
        [
            "system: You are an agent inside a Python noteboo…",
            "user: Draw, then add.",
            'assistant: draw({"color": "red"})',
            "tool: nothing",
            'user: There is no tool call in the reply. Tools: draw, fail, add, final_answer. To go on, call one; if the text is the answer, call final_answer with {"answer": <the answer>}.',
            'assistant: final_answer({"answer": "far too long"})',
        ]
    )


def test_another_view_of_a_past_call_is_that_of_its_moment() -> None:
    agent = _rich_agent()
    agent.run("Draw, then add.")
    as_sent = agent.preview(3)
    full, summary = agent.preview(3, summary_mode="off"), agent.preview(3, summary_mode="all")
    assert (as_sent.summary_mode, as_sent.is_exact) == ("plan", True)
    assert full.messages == as_sent.messages
    assert (full.is_exact, summary.is_exact) == (True, None)
    assert [message["role"] for message in summary.messages] == snapshot(
        ["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "user"]
    )


def test_past_calls_of_a_loaded_memory_are_shown_as_they_were_sent() -> None:
    agent = _rich_agent()
    agent.run("Draw, then add.")
    other = agent_of([final("x")])
    other.run("Something else.")
    other.memory = AgentMemory.from_dict(agent.memory.to_dict())
    asked: tuple[tuple[int, RequestKind], ...] = ((3, "plan"), (7, "act"), (8, "final"))
    for step_number, kind in asked:
        preview = other.preview(step_number, kind=kind)
        assert preview.messages == agent.preview(step_number, kind=kind).messages
        assert preview.is_exact


# -- the two views ---------------------------------------------------------------------------------


def _shown(preview: Preview) -> list[str]:
    return [_message_line(message) for message in preview.messages]


def _message_line(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, list):
        content = " + ".join(part.get("text") or f"<{part['type']}>" for part in content)
    if message["role"] == "system":
        content = content[:40] + "…"
    made = [f"{c['function']['name']}({c['function']['arguments']})" for c in message.get("tool_calls", ())]
    return f"{message['role']}: {content or ''}{' '.join(made)}"


def test_both_views_of_a_run_drop_exactly_what_the_table_says() -> None:
    agent = _rich_agent(_SEEING)
    agent.run("Draw, then add.", images=[Image.new("L", (3, 3))])
    normal = agent.preview(8, kind="final")
    summary = agent.preview(8, kind="final", summary_mode="all")
    assert _shown(normal) == snapshot(
        [
            "system: You are an agent inside a Python noteboo…",
            "user: Draw, then add. + <image_url>",
            """\
assistant: 1. Draw.
2. Add.\
""",
            "user: Go on and carry out this plan: make its next tool call now. Where a result does not fit the plan, go by the result.",
            'assistant: I use draw.draw({"color": "red"})',
            """\
tool: The result is in the variable draw_1; refer to it as "@draw_1".
Image, 2 × 2 pixels, mode RGB\
""",
            "user: Image @draw_1, from draw (call_1): + <image_url>",
            'assistant: I use fail.fail({"reason": "no luck"})',
            "tool: It failed: no luck. Do something else.",
            "assistant: 1. Add.",
            "user: Go on and carry out this plan: make its next tool call now. Where a result does not fit the plan, go by the result.",
            "assistant: I only talk.",
            'user: There is no tool call in the reply. Tools: draw, fail, add, final_answer. To go on, call one; if the text is the answer, call final_answer with {"answer": <the answer>}.',
            'assistant: I use add.add({"a": 1, "b": 2, "c": 3})',
            'tool: add: there is no argument \'c\'. Call add with {"a": <integer>, "b": <integer>}.',
            'assistant: I use final_answer.final_answer({"answer": "far too long"})',
            "tool: The answer was not accepted: the check is_short refused it (it returned False). Mend the answer and give it again.",
            'assistant: I use add.add({"a": 1, "b": 2})',
            "tool: 3",
            "assistant: 3. Stop.",
            "user: Go on and carry out this plan: make its next tool call now. Where a result does not fit the plan, go by the result.",
            'assistant: I use add.add({"a": 2, "b": 2})',
            "tool: 4",
            "user: You have used all 7 steps of this run and can call no tool any more. Give the best answer that what you know allows, in plain text, and say what is missing.",
        ]
    )
    assert _shown(summary) == snapshot(
        [
            "system: You are an agent inside a Python noteboo…",
            "user: Draw, then add. + <image_url>",
            'assistant: draw({"color": "red"})',
            """\
tool: The result is in the variable draw_1; refer to it as "@draw_1".
Image, 2 × 2 pixels, mode RGB\
""",
            "user: Image @draw_1, from draw (call_1): + <image_url>",
            'assistant: fail({"reason": "no luck"})',
            "tool: It failed: no luck. Do something else.",
            'user: There is no tool call in the reply. Tools: draw, fail, add, final_answer. To go on, call one; if the text is the answer, call final_answer with {"answer": <the answer>}.',
            'assistant: add({"a": 1, "b": 2, "c": 3})',
            'tool: add: there is no argument \'c\'. Call add with {"a": <integer>, "b": <integer>}.',
            'assistant: final_answer({"answer": "far too long"})',
            "tool: The answer was not accepted: the check is_short refused it (it returned False). Mend the answer and give it again.",
            'assistant: add({"a": 1, "b": 2})',
            "tool: 3",
            "assistant: 3. Stop.",
            "user: Go on and carry out this plan: make its next tool call now. Where a result does not fit the plan, go by the result.",
            'assistant: add({"a": 2, "b": 2})',
            "tool: 4",
            "user: You have used all 7 steps of this run and can call no tool any more. Give the best answer that what you know allows, in plain text, and say what is missing.",
        ]
    )
    planner = [_message_line(message) for message in agent.preview(7, kind="plan").messages]
    assert planner == snapshot(
        [
            "system: You plan for an agent inside a Python no…",
            "user: Draw, then add. + <image_url>",
            'assistant: draw({"color": "red"})',
            """\
tool: The result is in the variable draw_1; refer to it as "@draw_1".
Image, 2 × 2 pixels, mode RGB\
""",
            "user: Image @draw_1, from draw (call_1): + <image_url>",
            'assistant: fail({"reason": "no luck"})',
            "tool: It failed: no luck. Do something else.",
            'user: There is no tool call in the reply. Tools: draw, fail, add, final_answer. To go on, call one; if the text is the answer, call final_answer with {"answer": <the answer>}.',
            'assistant: add({"a": 1, "b": 2, "c": 3})',
            'tool: add: there is no argument \'c\'. Call add with {"a": <integer>, "b": <integer>}.',
            'assistant: final_answer({"answer": "far too long"})',
            "tool: The answer was not accepted: the check is_short refused it (it returned False). Mend the answer and give it again.",
            'assistant: add({"a": 1, "b": 2})',
            "tool: 3",
            "user: Look at what has come of the steps above and write the plan anew, for what is still to do. Keep what holds, change what does not, and leave out what is done. 1 step is left, so it must give the answer.",
        ]
    )


# -- what else it says -----------------------------------------------------------------------------


def test_preview_says_what_changed_since_the_call_before() -> None:
    agent = agent_of(["Plan", _call(None, "add", a=1, b=2), "Plan", final(3)], planning_interval=1)
    agent.run("go")
    assert [
        (preview.n_kept, preview.n_before, len(preview.messages))
        for preview in (
            agent.preview(1, kind="plan"),
            agent.preview(1),
            agent.preview(2, kind="plan"),
            agent.preview(2),
        )
    ] == snapshot([(0, None, 3), (0, None, 4), (2, 3, 5), (4, 4, 8)])
    agent.memory.edit(agent.memory.steps[2], observations="4")
    assert (agent.preview().n_kept, agent.preview().n_before) == snapshot((5, 8))


def test_preview_counts_tokens_and_says_that_they_are_estimates() -> None:
    agent = agent_of([final(3)], context_window=8_000)
    preview = agent.preview(task="What is 1 + 2?")
    assert len(preview.tokens) == len(preview.messages) == 2
    assert all(n > 0 for n in (*preview.tokens, preview.tool_tokens))
    assert preview.total_tokens == sum(preview.tokens) + preview.tool_tokens
    assert (preview.is_estimate, preview.window, preview.model_id) == (True, 8_000, "scripted")


@pytest.mark.parametrize(
    "asked",
    [
        {"step": 9},
        {"step": 0},
        {"step": 1, "kind": "plan"},
        {"step": 2, "kind": "final"},
        {"kind": "answer"},
        {"summary_mode": "none"},
        {"step": "1"},
    ],
    ids=str,
)
def test_preview_of_what_is_not_there_is_refused(asked: dict[str, Any]) -> None:
    agent = agent_of([_call(None, "add", a=1, b=2), final(3)])
    agent.run("go")
    with pytest.raises(OptionError) as error:
        agent.preview(**asked)
    assert {
        "{'step': 9}": snapshot(
            "The last run made no request of kind 'act' at step 9. It made them at: 1, 2."
        ),
        "{'step': 0}": snapshot(
            "The last run made no request of kind 'act' at step 0. It made them at: 1, 2."
        ),
        "{'step': 1, 'kind': 'plan'}": snapshot(
            "The last run made no request of kind 'plan'. Leave the step out to see the next one."
        ),
        "{'step': 2, 'kind': 'final'}": snapshot(
            "The last run made no request of kind 'final'. Leave the step out to see the next one."
        ),
        "{'kind': 'answer'}": snapshot("kind='answer' is not allowed. Give one of: 'act', 'plan', 'final'."),
        "{'summary_mode': 'none'}": snapshot(
            "summary_mode='none' is not allowed. Give one of: 'plan', 'all', 'off'."
        ),
        "{'step': '1'}": snapshot(
            "step='1' is not allowed. Give the number of a step, or None for the next call."
        ),
    }[str(asked)] == error.value.message


def test_preview_of_a_past_call_before_any_run_is_refused() -> None:
    with pytest.raises(OptionError) as error:
        agent_of([]).preview(1)
    assert error.value.message == snapshot(
        "No run was made yet, so there is no past request. Leave the step out."
    )


def test_setting_changed_after_a_preview_shows_in_the_next() -> None:
    agent = agent_of([_call(None, "add", a=1, b=2), final(3)])
    previews: list[Preview] = []
    for event in agent.stream("go"):
        if isinstance(event, StepStarted) and event.step_number == 2:
            previews.append(agent.preview())
            agent.settings.update(summary_mode="all")
            previews.append(agent.preview())
        if isinstance(event, SettingChanged):
            previews.append(agent.preview())
    assert [preview.summary_mode for preview in previews] == ["plan", "all", "all"]
    assert previews[0].messages != previews[1].messages
    assert previews[1].messages == previews[2].messages
    assert list(previews[2].messages) == model_of(agent).requests[1].messages


# -- runs that are steered all the time ------------------------------------------------------------


def _steer(agent: ToolCallingAgent, rng: random.Random, *, most_steps: int) -> None:
    """Change one thing, whatever may be changed while a run goes on."""
    memory = agent.memory
    place = rng.randrange(len(memory))
    changes: list[Callable[[], object]] = [
        lambda: agent.settings.update(summary_mode=rng.choice(["plan", "all", "off"])),
        lambda: agent.settings.update(planning_interval=rng.choice([None, 1, 2, 3])),
        lambda: agent.settings.update(max_steps=rng.randint(most_steps // 2, most_steps)),
        lambda: memory.set_view(place, rng.choice(["full", "summary", "hidden", None])),
        lambda: memory.set_pinned(place, rng.random() < 0.5),
        lambda: memory.edit(place, observations="edited"),
        lambda: memory.edit(place, model_output="edited"),
        lambda: memory.edit(place, plan="9. Edited."),
        lambda: memory.drop(max(place, 1)),
        lambda: memory.forget_images(rng.randrange(3)),
        memory.undo,
        agent.replan_now,
    ]
    with contextlib.suppress(OptionError):  # a step that has no such part
        rng.choice(changes)()


def _answer_at_random(able: Capabilities, rng: random.Random) -> Callable[[Any], Any]:
    def answer(request: Any) -> Any:
        if request.kind != "act":
            return rng.choice(["1. Draw.\n2. Add.", "2. Add.\n3. Stop.", ""])
        made = rng.choice(
            [
                ("draw", {"color": "red"}),
                ("fail", {"reason": "no luck"}),
                ("add", {"a": 1, "b": 2}),
                ("add", {"a": "one"}),
                ("subtract", {}),
            ]
        )
        return _call(able, made[0], **made[1])

    return answer


@pytest.mark.parametrize("seed", range(16))
def test_preview_is_what_is_sent_however_a_run_is_steered(seed: int) -> None:
    rng = random.Random(seed)
    able = [Capabilities(), AS_TEXT, _SEEING, _SEEING_TEXT][seed % 4]
    agent = agent_of(
        [_answer_at_random(able, rng)] * 100, draw, fail, add, capabilities=able, planning_interval=2
    )
    foreseen: dict[tuple[int, RequestKind], Preview] = {}
    for n in range(2):
        for event in agent.stream(f"Task {n}.", reset=False, max_steps=8):
            if rng.random() < 0.5:
                _steer(agent, rng, most_steps=8)
            if isinstance(event, StepStarted | SettingChanged):
                # Of a change at a step's boundary it is not known yet what kind of call comes: look at both.
                kinds: tuple[RequestKind, ...] = ("act", "plan")
                for kind in kinds:
                    foreseen[len(model_of(agent).requests), kind] = agent.preview(kind=kind)
    sent = model_of(agent).requests
    assert sum((place, request.kind) in foreseen for place, request in enumerate(sent)) > 10
    for place, request in enumerate(sent):
        if request.kind != "final":
            assert list(foreseen[place, request.kind].messages) == request.messages
            assert list(foreseen[place, request.kind].tools) == request.tools
    rebuilt = [agent.memory.rebuild(request) for request in agent.memory.requests]
    assert [model_of(agent).to_wire(messages).messages for messages in rebuilt] == [
        request.messages for request in sent
    ]
    assert all(agent.memory.is_rebuilt_exactly(request) for request in agent.memory.requests)
    assert_valid(agent.memory)


def test_many_threads_may_steer_and_look_at_one_run() -> None:
    add_or_plan = lambda request: _call(None, "add", a=1, b=2) if request.kind == "act" else "1. Add."
    agent = agent_of([add_or_plan] * 400, max_steps=100)
    is_over = threading.Event()
    errors: list[Exception] = []

    def meddle(seed: int) -> None:
        rng = random.Random(seed)
        try:
            while not is_over.is_set():
                _steer(agent, rng, most_steps=200)
                agent.preview(kind=rng.choice(["act", "plan", "final"]))
                agent.settings.update(is_paused=rng.random() < 0.1)
        except Exception as error:
            errors.append(error)

    events = agent.stream("Task.")
    next(events)
    threads = [threading.Thread(target=meddle, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    n_steps = 0
    for event in events:
        if isinstance(event, StepEnded):
            n_steps += 1
            if n_steps == 30:
                break
    is_over.set()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    events.close()
    assert errors == []
    assert agent.result is not None
    assert len(agent.memory.requests) == len(model_of(agent).requests) >= 30
    assert all(agent.memory.is_rebuilt_exactly(request) for request in agent.memory.requests)
    assert_valid(agent.memory)
