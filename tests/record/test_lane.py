from __future__ import annotations

from dataclasses import replace
from typing import Any

from inline_snapshot import snapshot
from record.managed import make_boss
from view.samples import START, action, call, run

from agent_magic.core.approval import Item, Question
from agent_magic.core.events import (
    Event,
    ManagedEvent,
    Notice,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.messages import TokenUsage, ToolCall
from agent_magic.core.result import RunResult
from agent_magic.core.steps import TaskStep, ToolResult
from agent_magic.record.clean import stored_size
from agent_magic.record.draft import RunDraft
from agent_magic.record.lane import to_step_record
from agent_magic.record.limits import Limits
from agent_magic.record.run import MAX_BYTES, to_record

KEY = "sk-" + "a1B2c3D4" * 4


def managed(
    steps: tuple[Any, ...], name: str = "looker", call_id: str = "call_1", **fields: Any
) -> ToolResult:
    inner = run(*steps, agent_name=name, run_id=f"run_of_{name}", **({"value": "There."} | fields))
    return call(name, {"task": "Look."}, call_id, observation=f"{name} answered", output="There.", run=inner)


def looks(n: int, text: str = "seen") -> tuple[Any, ...]:
    return tuple(action(i + 1, call("look", {"n": i}, f"look_{i}", observation=text)) for i in range(n))


def lanes_of(result: RunResult) -> list[dict[str, Any]]:
    calls = to_record(result)["steps"][0]["calls"]  # type: ignore[typeddict-item] # it is an action
    return [one["run"] for one in calls]


def test_lane_is_the_record_of_a_run_without_what_the_top_alone_has() -> None:
    (lane,) = lanes_of(run(action(1, managed(looks(1)))))
    assert lane == snapshot(
        {
            "run_id": "run_of_looker",
            "agent": "looker",
            "model": "openai/gpt-5",
            "mode": "tools",
            "status": "answered",
            "max_steps": 20,
            "n_steps": 1,
            "duration_s": 4.2,
            "usage": {
                "input_tokens": 1506,
                "output_tokens": 120,
                "cached_tokens": 1024,
                "reasoning_tokens": None,
                "cost_usd": 0.00315,
            },
            "steps": [
                {
                    "step_number": 1,
                    "duration_s": 1.25,
                    "calls": [{"id": "look_0", "name": "look", "arguments": {"n": 0}, "observation": "seen"}],
                    "usage": {
                        "input_tokens": 501,
                        "output_tokens": 40,
                        "cached_tokens": 0,
                        "reasoning_tokens": None,
                        "cost_usd": None,
                    },
                }
            ],
            "steps_left_out": 0,
            "answer": {"type": "str", "text": "There."},
            "error": None,
        }
    )


def test_lane_of_a_real_run_has_the_lane_of_the_agent_inside_it() -> None:
    looker, chief = lanes_of(_result_of_boss())
    assert (looker["agent"], looker["status"], looker["n_steps"]) == ("looker", "answered", 2)
    inner = chief["steps"][0]["calls"][0]["run"]
    assert (inner["agent"], inner["answer"]) == ("counter", {"type": "int", "text": "6"})


def test_lane_is_under_a_call_that_code_made_too() -> None:
    inner = managed(looks(2))
    code = call("python", {"code": "looker('Look.')"}, "code_1", observation="", calls=(inner,))
    (record,) = to_step_record(action(1, code, is_code=True))["calls"]
    assert record["calls"][0]["run"]["n_steps"] == 2


def test_steps_in_lanes_are_cut_before_those_of_the_run() -> None:
    own = tuple(action(i + 2, call("look", {}, f"own_{i}", observation="own " * 1_900)) for i in range(40))
    deep = (
        managed(looks(40, "deep " * 2_000), call_id="c1"),
        managed(looks(40, "deep " * 2_000), call_id="c2"),
    )
    record = to_record(run(action(1, *deep), *own))
    assert stored_size(record) <= MAX_BYTES
    assert len(record["steps"]) == 41
    assert all(step["calls"][0]["observation"] == "own " * 1_900 for step in record["steps"][1:])  # type: ignore[typeddict-item] # actions
    lane = record["steps"][0]["calls"][0]["run"]  # type: ignore[typeddict-item] # an action
    assert (len(lane["steps"]), lane["steps_left_out"], lane["n_steps"]) == snapshot((20, 20, 40))


def test_record_with_many_long_lanes_in_lanes_fits() -> None:
    lane = managed(looks(60, "x" * 5_000), "deepest")
    for depth in range(40):
        lane = managed((action(1, lane, replace(lane, call=replace(lane.call, id="c2"))),), f"around_{depth}")
    record = to_record(run(*(action(i + 1, lane) for i in range(30))))
    assert stored_size(record) <= MAX_BYTES
    assert len(record["steps"]) == 30


def test_lane_holds_no_secret() -> None:
    step = action(1, call("look", {"key": KEY}, observation=KEY))
    record = to_record(run(action(1, managed((step,), value=KEY))))
    assert KEY not in str(record)


# -- while it goes on --------------------------------------------------------------------------------

TASK = TaskStep(task="Look.")


def inside(event: Event, call_id: str = "call_1", name: str = "looker") -> ManagedEvent:
    return ManagedEvent(step_number=1, call_id=call_id, agent_name=name, run_id=f"run_of_{name}", event=event)


def begun(call_id: str = "call_1", name: str = "looker") -> list[Event]:
    started = RunStarted(run_id=f"run_of_{name}", agent_name=name, model_id="m", max_steps=5, task=TASK)
    made = ToolCall(id=call_id, name=name, arguments={"task": "Look."})
    return [
        ToolCallStarted(step_number=1, call=made),
        inside(started, call_id, name),
        inside(StepStarted(step_number=1), call_id, name),
    ]


def draft_of(*events: Event) -> RunDraft:
    draft = RunDraft(clock=lambda: START)
    draft.add(RunStarted(run_id="run_1", agent_name="boss", model_id="m", max_steps=5, task=TASK))
    draft.add(StepStarted(step_number=1))
    for event in events:
        draft.add(event)
    return draft


def lanes_now(draft: RunDraft) -> list[dict[str, Any]]:
    return [one["run"] for one in draft.to_record()["now"]["calls"]]


def test_draft_has_a_lane_for_each_call_with_what_happens_in_it() -> None:
    step = inside(StepEnded(step=looks(1)[0]), "call_2", "digger")
    looker, digger = lanes_now(draft_of(*begun(), *begun("call_2", "digger"), step))
    assert (looker["agent"], looker["status"], looker["steps"]) == ("looker", "running", [])
    assert looker["now"] == {"step_number": 1, "doing": "thinking"}
    assert [one["step_number"] for one in digger["steps"]] == [1]
    assert digger["now"]["step_number"] == 2


def test_lane_that_ended_keeps_its_steps_as_the_same_objects_until_the_step_ends() -> None:
    draft = draft_of(*begun(), inside(StepEnded(step=looks(1)[0])))
    before = lanes_now(draft)[0]["steps"][0]
    result = managed(looks(1))
    assert result.run is not None
    draft.add(inside(RunEnded(result=result.run)))
    (lane,) = lanes_now(draft)
    assert lane["status"] == "answered"
    assert "now" not in lane
    assert lane["steps"][0] is before
    draft.add(ToolCallEnded(step_number=1, result=result))
    draft.add(StepEnded(step=action(1, result)))
    record = draft.to_record()
    assert record["steps"][0]["calls"][0]["run"]["agent"] == "looker"  # type: ignore[typeddict-item] # an action
    assert record["usage"]["input_tokens"] == 501 + 1_506


def test_question_of_a_managed_agent_is_asked_of_the_person_by_its_name() -> None:
    item = Item(id="i1", digest="d", kind="call", call=ToolCall(id="c", name="look", arguments={"n": 1}))
    question = Question(id="q1", run_id="r", step_number=1, items=(item,))
    deeper = inside(Waiting(step_number=1, reason="asked", kind="approval", question=question), "c9", "deep")
    draft = draft_of(
        *begun(),
        *(inside(event) for event in begun("c9", "deep")),
        inside(deeper),
        *begun("call_2", "digger"),
        inside(
            Waiting(step_number=1, reason="asked", kind="approval", question=question), "call_2", "digger"
        ),
    )
    now = draft.to_record()["now"]
    assert now["doing"] == "asking"
    assert [one["agent"] for one in now["asked"]["items"]] == ["looker → deep", "digger"]


def test_wait_in_a_lane_counts_down() -> None:
    at = [0.0]
    draft = RunDraft(clock=lambda: at[0])
    for event in (StepStarted(step_number=1), *begun()):
        draft.add(event)
    assert not draft.counts_down
    draft.add(inside(Waiting(step_number=1, reason="busy", delay_s=20.0, attempt=1)))
    at[0] = 5.5
    assert draft.counts_down
    assert lanes_now(draft)[0]["now"]["waiting"]["delay_s"] == 14.5
    at[0] = 30.0
    assert not draft.counts_down


def test_notice_of_a_managed_agent_stands_beside_the_step_that_asked_it() -> None:
    draft = draft_of(*begun(), inside(Notice(step_number=1, message="A callback raised.")))
    draft.add(StepEnded(step=action(1, managed(looks(1)))))
    assert draft.to_record()["steps"][0]["notes"] == [
        {"text": "looker: A callback raised.", "is_warning": True}
    ]


def test_of_very_many_managed_agents_at_once_some_are_shown_as_running_only() -> None:
    events = [event for i in range(30) for event in begun(f"call_{i}", f"agent_{i}")]
    calls = draft_of(*events).to_record()["now"]["calls"]
    assert len(calls) == 30
    assert sum("run" in one for one in calls) == 20


def test_step_of_a_run_that_goes_on_is_within_its_limits() -> None:
    results = [managed(looks(40, "x" * 5_000), call_id=f"c{i}") for i in range(10)]
    assert stored_size(to_step_record(action(1, *results), Limits(chars=2_000))) < 60_000


def _result_of_boss() -> RunResult:
    boss = make_boss()
    boss.run("Go.")
    assert boss.result is not None
    assert boss.result.usage == TokenUsage()
    return boss.result
