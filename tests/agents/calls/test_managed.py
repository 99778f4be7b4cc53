"""Managed agents: called as tools, told of as they go on, counted, stopped and answered for with their manager."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from typing import Any

import pytest
from agents.answering import answering, approve, only
from agents.checking import PATIENCE_S
from inline_snapshot import snapshot

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import OptionError, ToolDefinitionError
from agent_magic.core.events import (
    Event,
    ManagedEvent,
    RunEnded,
    RunStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    Waiting,
)
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import RunResult
from agent_magic.core.state import NamespaceState
from agent_magic.core.steps import ToolResult
from agent_magic.models.scripted import ScriptedModel

calls, final = ScriptedModel.calls, ScriptedModel.final
USAGE = {"usage": {"input_tokens": 100, "output_tokens": 10, "cost_usd": 0.5}}


def analyst_of(*replies: Any, kind: type[MultiStepAgent] = ToolCallingAgent, **options: Any) -> Any:
    options = {"name": "analyst", "description": "Analyses tables.", **options}
    return kind(model=ScriptedModel(list(replies)), **options)


def boss_of(*replies: Any, kind: type[MultiStepAgent] = ToolCallingAgent, **options: Any) -> Any:
    return kind(model=ScriptedModel(list(replies)), **{"name": "boss", **options})


def ask(task: str = "count", name: str = "analyst", **additional_args: Any) -> dict[str, Any]:
    """A reply that gives an agent a task."""
    more = {"additional_args": additional_args} if additional_args else {}
    return calls((name, {"task": task, **more}))


def made(result: RunResult, step: int = 1) -> tuple[ToolResult, ...]:
    """What became of a step's calls, those of code without the code's own."""
    results = result.actions[step - 1].tool_results
    return results[0].calls if result.mode == "code" else results


def told(agent: Any, request: int) -> str:
    """The last message of a request, counted from 1."""
    return agent.model.requests[request - 1].messages[-1]["content"]


def names(events: list[Event]) -> list[str]:
    """What happened, a word each; what happened in a managed agent's run with a mark for each level."""
    found: list[str] = []
    for each in events:
        event, depth = each, 0
        while isinstance(event, ManagedEvent):
            event, depth = event.event, depth + 1
        if not isinstance(event, TextDelta):
            found.append("· " * depth + type(event).__name__)
    return found


# -- what the manager is told ---------------------------------------------------------------------


def test_agent_is_told_of_as_a_tool_with_a_task() -> None:
    schema = analyst_of().to_tool().to_schema()
    assert (schema.name, schema.description, schema.parameters) == snapshot(
        (
            "analyst",
            """\
Analyses tables.

It is an agent: it works on its task by itself, step by step, with tools of its own, and gives its answer. It knows nothing of what you know.\
""",
            {
                "type": "object",
                "properties": {
                    "task": {
                        "type": "string",
                        "description": "what it is to do, whole: it is told nothing else.",
                    },
                    "additional_args": {
                        "anyOf": [{"type": "object", "additionalProperties": True}, {"type": "null"}],
                        "description": "what it needs for that, each by the name that it is to know it by; objects are handed over themselves.",
                    },
                },
                "required": ["task"],
                "additionalProperties": False,
            },
        )
    )


def test_system_prompt_names_the_agents() -> None:
    boss = boss_of(final(1), managed_agents=[analyst_of(), analyst_of(name="writer")])
    boss.run("Do it.")
    assert boss.model.requests[0].messages[0]["content"].splitlines()[-1] == snapshot(
        '- analyst, writer are agents: each does its task by itself and reports. They see nothing of all this, so say all that is needed in the task, and hand over values by names, such as "additional_args": {"table": "@df"}. A task for which no answer is reported is not done.'
    )


def test_plan_is_asked_for_with_the_agents_apart_from_the_tools() -> None:
    boss = boss_of("1. Answer.", final(1), managed_agents=[analyst_of()], tools=[len], planning_interval=5)
    boss.run("Do it.")
    prompt = boss.model.requests[0].messages[0]["content"]
    start = prompt.index("The agent's tools:")
    assert prompt[start : prompt.index("Write this")] == snapshot("""\
The agent's tools:
- len(obj): Return the number of items in a container.

Agents that it can give whole tasks to; each does its task by itself and answers:
- analyst(task, additional_args): Analyses tables.

""")


def test_answer_is_reported() -> None:
    boss = boss_of(ask(), final("done"), managed_agents=[analyst_of(final(42))])
    boss.run("Do it.")
    assert told(boss, 2) == snapshot("""\
analyst answered after 1 step:
42\
""")


def test_report_names_the_checks_that_the_answer_passed() -> None:
    def is_even(answer: int) -> bool:
        return answer % 2 == 0

    boss = boss_of(
        ask(), final("done"), managed_agents=[analyst_of(final(42), final_answer_checks=[is_even])]
    )
    boss.run("Do it.")
    assert told(boss, 2) == snapshot("""\
analyst answered after 1 step, and the answer passed the check is_even:
42\
""")
    assert made(boss.result)[0].run.verified == "yes"


def test_report_has_the_summary_view_if_the_agent_is_to_give_it() -> None:
    def count(n: int) -> int:
        return n + 1

    analyst = analyst_of(
        calls(("count", {"n": 1})) | {"content": "I count."},
        final(2),
        tools=[count],
        provide_run_summary=True,
    )
    boss = boss_of(ask(), final("done"), managed_agents=[analyst])
    boss.run("Do it.")
    assert told(boss, 2) == snapshot("""\
analyst answered after 2 steps:
2

What it did:
Called count with {"n": 1}
Observation: 2\
""")


def test_object_is_answered_by_reference() -> None:
    answer = {1, 2}
    boss = boss_of(
        ask(), final("@analyst_1"), managed_agents=[analyst_of(final("@found"), state={"found": answer})]
    )
    assert boss.run("Do it.").value is answer
    assert made(boss.result)[0].bound_to == "analyst_1"


@pytest.mark.parametrize(
    ("replies", "options"),
    [
        pytest.param(["No call.", "About 7."], {"max_steps": 1}, id="max_steps"),
        pytest.param([RuntimeError("no such model")], {}, id="failed"),
        pytest.param([final(1) | USAGE], {"max_total_tokens": 1}, id="budget"),
    ],
)
def test_agent_without_an_answer_is_told_as_such(
    replies: list[Any], options: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    boss = boss_of(ask(), final("none"), managed_agents=[analyst_of(*replies, **options)])
    assert boss.run("Do it.").status == "answered"
    (result,) = made(boss.result)
    assert result.fault is not None
    assert (result.fault.kind, result.run.status) == ("ToolExecutionError", request.node.callspec.id)
    assert (
        told(boss, 2)
        == {
            "max_steps": snapshot("""\
analyst gave no answer (max_steps): it hit its step limit of 1. Its best guess by then, which is no answer: About 7.
Give it a smaller task, or do without it.\
"""),
            "failed": snapshot("""\
analyst gave no answer (failed): GenerationError: scripted could not be asked (RuntimeError). It says: no such model
Call it with another task, or do without it.\
"""),
            "budget": snapshot("""\
analyst gave no answer (budget): The next call would pass max_total_tokens=1: 0 were used, and it needs about 48.
Go on without it.\
"""),
        }[request.node.callspec.id]
    )


def test_agent_that_the_person_stops_alone_is_told_as_interrupted() -> None:
    analyst = analyst_of(lambda _: analyst.interrupt("Enough of it.") or final(1))
    boss = boss_of(ask(), final("none"), managed_agents=[analyst])
    assert boss.run("Do it.").status == "answered"
    assert told(boss, 2) == snapshot("""\
analyst gave no answer (interrupted): Enough of it.
Do not call it again for the same; go on without it.\
""")


def test_blank_task_and_bad_names_are_refused_before_a_run() -> None:
    analyst = analyst_of()
    boss = boss_of(ask(" "), ask("go", **{"a b": 1}), final(1), managed_agents=[analyst])
    boss.run("Do it.")
    assert [told(boss, 2), told(boss, 3)] == snapshot(
        [
            "analyst: argument 'task' is blank. Say in it all that it is to do.",
            "analyst: additional_args has the key 'a b', which is no name. Give each value a name that is an identifier, such as \"table\".",
        ]
    )
    assert analyst.model.requests == []


# -- what the agent is given -----------------------------------------------------------------------


def test_values_are_handed_over_by_reference_and_stay_out_of_the_state() -> None:
    rows = [{1}, {2}]
    analyst = analyst_of(final("@table"))
    state = {"rows": rows}
    boss = boss_of(ask(table="@rows", n=3), final("@analyst_1"), managed_agents=[analyst], state=state)
    assert boss.run("Do it.").value is rows
    assert list(state) == ["rows"]
    assert "table" not in analyst.state
    assert analyst.model.requests[0].messages[-1]["content"] == snapshot("""\
count

State variables:
- @table: list, 2 items: [{1}, {2}]
- @n: int: 3\
""")


def test_variable_that_the_task_mentions_is_handed_over_too() -> None:
    rows = [{1}]
    analyst = analyst_of(final("@rows"))
    boss = boss_of(
        ask("Count @rows, and mail x@rows.no."), final(1), managed_agents=[analyst], state={"rows": rows}
    )
    boss.run("Do it.")
    assert made(boss.result)[0].output is rows
    assert made(boss.result)[0].notes == snapshot(("@rows of the task was handed over",))


def test_closed_name_is_refused_with_the_nearest() -> None:
    boss = boss_of(ask(table="@row"), final(1), managed_agents=[analyst_of()], state={"rows": {1}})
    boss.run("Do it.")
    assert told(boss, 2) == snapshot(
        "analyst: argument 'additional_args.table' is '@row'; no open variable has that name. Nearest: rows. Write \"@rows\", or give text without \"@\"."
    )


def test_what_a_manager_kept_is_not_taken_for_what_its_agent_keeps() -> None:
    def long(n: int) -> str:
        return f"{n}" * 9_000

    analyst = analyst_of(calls(("long", {"n": 2})), final("@obs_1"), tools=[long])
    boss = boss_of(
        calls(("long", {"n": 1})), ask(obs_1="@obs_1"), final(1), managed_agents=[analyst], tools=[long]
    )
    boss.run("Do it.")
    assert made(boss.result, 2)[0].output == "1" * 9_000


def test_each_call_begins_afresh_and_leaves_the_agent_as_it_was() -> None:
    analyst = analyst_of(final("own"), final(1), final(2))
    analyst.run("Mine.")
    before = (analyst.memory, analyst.result, list(analyst.state))
    boss = boss_of(ask("one"), ask("two"), final(3), managed_agents=[analyst])
    boss.run("Do it.")
    users = [
        [message["content"] for message in request.messages if message["role"] == "user"]
        for request in analyst.model.requests
    ]
    assert users == [["Mine."], ["one"], ["two"]]
    assert (analyst.memory, analyst.result, list(analyst.state)) == before
    assert analyst.runs == [before[1]]


def test_agent_that_keeps_its_memory_goes_on() -> None:
    analyst = analyst_of(final(1), final(2), keep_memory=True)
    boss = boss_of(ask("one"), ask("two"), final(3), managed_agents=[analyst])
    boss.run("Do it.")
    second = [m["content"] for m in analyst.model.requests[1].messages if m["role"] == "user"]
    assert second == ["one", "two"]
    assert [run.value for run in analyst.runs] == [1, 2]


# -- events ----------------------------------------------------------------------------------------


def test_events_of_an_agents_run_come_as_they_happen_inside_its_call() -> None:
    writer = analyst_of(final("w"), name="writer")
    analyst = analyst_of(ask("write", "writer"), final(1), managed_agents=[writer])
    boss = boss_of(ask(), final(2), managed_agents=[analyst])
    assert names(list(boss.stream("Do it."))) == snapshot(
        [
            "RunStarted",
            "StepStarted",
            "ModelReplied",
            "ToolCallStarted",
            "· RunStarted",
            "· StepStarted",
            "· ModelReplied",
            "· ToolCallStarted",
            "· · RunStarted",
            "· · StepStarted",
            "· · ModelReplied",
            "· · StepEnded",
            "· · StepEnded",
            "· · RunEnded",
            "· ToolCallEnded",
            "· StepEnded",
            "· StepStarted",
            "· ModelReplied",
            "· StepEnded",
            "· StepEnded",
            "· RunEnded",
            "ToolCallEnded",
            "StepEnded",
            "StepStarted",
            "ModelReplied",
            "StepEnded",
            "StepEnded",
            "RunEnded",
        ]
    )


def test_event_says_of_which_call_and_run_it_is() -> None:
    boss = boss_of(ask(), final(2), managed_agents=[analyst_of(final(1))])
    events = list(boss.stream("Do it."))
    (started,) = [event for event in events if isinstance(event, ToolCallStarted)]
    managed = [event for event in events if isinstance(event, ManagedEvent)]
    run = made(boss.result)[0].run
    assert {(e.step_number, e.call_id, e.agent_name, e.run_id, e.inside) for e in managed} == {
        (1, started.call.id, "analyst", run.run_id, None)
    }
    assert isinstance(managed[0].event, RunStarted)
    assert isinstance(managed[-1].event, RunEnded)
    assert managed[-1].event.result is run


def test_agents_called_side_by_side_have_runs_of_their_own() -> None:
    meeting = threading.Barrier(2)

    def meet() -> str:
        meeting.wait(PATIENCE_S)
        return "met"

    analyst = ToolCallingAgent(
        model=ScriptedModel.rules({"met": final("done"), "": calls(("meet", {}))}),
        name="analyst",
        description="Meets.",
        tools=[meet],
    )
    boss = boss_of(
        calls(("analyst", {"task": "a"}), ("analyst", {"task": "b"})), final(2), managed_agents=[analyst]
    )
    events = list(boss.stream("Do it."))
    one, two = made(boss.result)
    assert (one.run.task, two.run.task) == ("a", "b")
    assert one.run.run_id != two.run.run_id
    assert [one.run.value, two.run.value] == ["done", "done"]
    for result in (one, two):
        own = [e for e in events if isinstance(e, ManagedEvent) and e.call_id == result.call.id]
        assert {event.run_id for event in own} == {result.run.run_id}
        ended = next(i for i, e in enumerate(events) if isinstance(e, ToolCallEnded) and e.result is result)
        assert events.index(own[-1]) < ended


def test_what_happens_in_an_agents_code_is_told_to_the_listener_at_once() -> None:
    heard: list[Event] = []

    def look() -> str:
        heard_then.extend(names(heard))
        return "seen"

    heard_then: list[str] = []
    analyst = analyst_of("<code>look()\nfinal_answer(1)</code>", kind=CodeAgent, tools=[look])
    boss = boss_of(ask(), final(2), managed_agents=[analyst])
    heard.extend(boss.stream("Do it.", listen=heard.append))
    assert heard_then == snapshot(
        [
            "RunStarted",
            "StepStarted",
            "ModelReplied",
            "ToolCallStarted",
            "· RunStarted",
            "· StepStarted",
            "· ModelReplied",
            "· ToolCallStarted",
            "· ToolCallStarted",
        ]
    )
    assert names(heard)[len(heard_then) : len(heard_then) + 3] == snapshot(
        ["· ToolCallEnded", "· ToolCallEnded", "· StepEnded"]
    )


# -- counting ----------------------------------------------------------------------------------------


def test_usage_of_managed_runs_is_counted_once() -> None:
    writer = analyst_of(final("w") | USAGE, name="writer")
    analyst = analyst_of(ask("write", "writer") | USAGE, final(1) | USAGE, managed_agents=[writer])
    boss = boss_of(ask() | USAGE, final(2) | USAGE, managed_agents=[analyst])
    result = boss.run("Do it.")
    assert result.usage == TokenUsage(
        input_tokens=500, output_tokens=50, cached_tokens=None, reasoning_tokens=None, cost_usd=2.5
    )
    assert made(result)[0].run.usage.input_tokens == 300


def test_budget_of_the_manager_holds_for_its_agents() -> None:
    analyst = analyst_of(*[calls(("count", {})) | USAGE] * 9, tools=[_count])
    boss = boss_of(ask() | USAGE, final(2) | USAGE, managed_agents=[analyst], max_total_tokens=350)
    result = boss.run("Do it.")
    assert (result.status, made(result)[0].run.status) == ("budget", "budget")
    assert len(analyst.model.requests) == 2
    assert made(result)[0].fault.message == snapshot("""\
analyst gave no answer (budget): The next call would pass max_total_tokens=350 of boss: 330 were used, and it needs about 114.
Go on without it.\
""")


def _count() -> int:
    """Count."""
    return 1


_count.__name__ = "count"

# -- stopping and asking -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ToolCallingAgent, CodeAgent])
@pytest.mark.parametrize("n_calls", [1, 2])
def test_interrupt_of_the_manager_reaches_its_agents_alone(kind: type[MultiStepAgent], n_calls: int) -> None:
    entered, gate = threading.Semaphore(0), threading.Event()

    async def hang() -> None:
        entered.release()
        await asyncio.to_thread(gate.wait, PATIENCE_S)

    analyst = ToolCallingAgent(
        model=ScriptedModel.rules({"": calls(("hang", {}))}),
        name="analyst",
        description="Hangs.",
        tools=[hang],
    )
    code = "<code>analyst('a')\nfinal_answer('late')</code>"
    reply = code if kind is CodeAgent else calls(*[("analyst", {"task": "a"})] * n_calls)
    boss = boss_of(reply, final("late"), kind=kind, managed_agents=[analyst])
    other = threading.Thread(target=lambda: analyst.run("mine"))
    worker = threading.Thread(target=lambda: boss.run("Do it."))
    other.start()
    worker.start()
    n_entered = 2 if kind is CodeAgent else 1 + n_calls
    for _ in range(n_entered):
        assert entered.acquire(timeout=PATIENCE_S)
    boss.interrupt("Stop.")
    worker.join(PATIENCE_S)
    result = boss.result
    assert result.status == "interrupted"
    assert [call.run.status for call in made(result)] == ["interrupted"] * (n_entered - 1)
    assert {call.fault.kind for call in made(result)} == {"Interrupted"}
    assert len(boss.model.requests) == 1
    # the agent's own run is not its manager's to stop
    assert analyst.is_running
    gate.set()
    analyst.interrupt()
    other.join(PATIENCE_S)
    assert not analyst.is_running


def test_closing_the_managers_stream_ends_its_agents_run() -> None:
    boss = boss_of(ask(), managed_agents=[analyst_of(calls(("count", {})), final(1), tools=[_count])])
    events = boss.stream("Do it.")
    for event in events:
        if isinstance(event, ManagedEvent) and isinstance(event.event, ToolCallStarted):
            break
    events.close()
    (result,) = made(boss.result)
    assert (boss.result.status, result.run.status) == ("interrupted", "interrupted")
    assert result.fault.message == snapshot(
        "The call was interrupted before it ended. If its answer is still needed, call it again."
    )


def test_cancelling_arun_ends_the_runs_of_agents_and_keeps_them() -> None:
    entered, gate = threading.Event(), threading.Event()

    def hang() -> None:
        entered.set()
        gate.wait(PATIENCE_S)

    analyst = analyst_of(calls(("hang", {})), final(1), tools=[hang])
    boss = boss_of(ask(), final(2), managed_agents=[analyst])

    async def go() -> None:
        task = asyncio.create_task(boss.arun("Do it."))
        assert await asyncio.to_thread(entered.wait, PATIENCE_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    try:
        asyncio.run(go())
        (result,) = made(boss.result)
        assert (boss.result.status, result.run.status) == ("interrupted", "interrupted")
        assert not analyst.is_running
    finally:
        gate.set()


def test_manager_whose_agent_was_interrupted_can_be_resumed() -> None:
    analyst = analyst_of(lambda _: boss.interrupt("Wait.") or final(1), final(2))
    boss = boss_of(ask(), ask(), final("done"), managed_agents=[analyst])
    assert boss.run("Do it.").status == "interrupted"
    again = boss.resume()
    assert (again.status, again.value) == ("answered", "done")
    assert made(again)[0].run.value == 2
    interrupted = next(m for m in boss.model.requests[1].messages if m["role"] == "tool")
    assert interrupted["content"] == snapshot(
        "The call was interrupted before it ended. If its answer is still needed, call it again."
    )


def test_question_of_an_agent_can_be_answered_at_its_managers_desk() -> None:
    analyst = analyst_of(calls(("count", {})), final(1), tools=[_count], approve="tools")
    boss = boss_of(ask(), final("done"), managed_agents=[analyst])
    asked: list[Any] = []

    def answer(question: Any) -> None:
        asked.append((question.agent_name, only(question).name, len(analyst.approvals.open)))
        approve(boss, question)

    with answering(boss, answer) as raised:
        assert boss.run("Do it.").value == "done"
    assert raised == []
    assert asked == [("analyst", "count", 1)]
    assert boss.approvals.open == analyst.approvals.open == ()


def test_question_of_an_agent_that_nobody_can_answer_is_its_failure() -> None:
    analyst = analyst_of(calls(("count", {})), final(1), tools=[_count], approve="tools")
    boss = boss_of(ask(), final("none"), managed_agents=[analyst])
    assert boss.run("Do it.").value == "none"
    assert made(boss.result)[0].run.error.kind == "ApprovalError"


def test_pause_of_the_manager_holds_its_agents() -> None:
    analyst = analyst_of(lambda _: boss.pause() or calls(("count", {})), final(1), tools=[_count])
    boss = boss_of(ask(), final("done"), managed_agents=[analyst])
    waiting = threading.Event()

    def go_on() -> None:
        assert waiting.wait(PATIENCE_S)
        boss.unpause()

    thread = threading.Thread(target=go_on)
    thread.start()
    for event in boss.stream("Do it."):
        if isinstance(event, ManagedEvent) and isinstance(event.event, Waiting):
            waiting.set()
    thread.join(PATIENCE_S)
    assert boss.result.value == "done"
    assert waiting.is_set()


# -- code ----------------------------------------------------------------------------------------------


def test_code_gets_the_value_or_an_error_that_names_agent_and_status() -> None:
    analyst = analyst_of(final({"n": 1}), RuntimeError("no such model"))
    code = "a = analyst('one')\nprint(a['n'])\nanalyst('two')"
    boss = boss_of(
        f"<code>{code}</code>", "<code>final_answer(a)</code>", kind=CodeAgent, managed_agents=[analyst]
    )
    assert boss.run("Do it.").value == {"n": 1}
    assert [call.run.status for call in made(boss.result)] == ["answered", "failed"]
    assert told(boss, 2) == snapshot("""\
Observation:
1
analyst gave no answer (failed): GenerationError: scripted could not be asked (RuntimeError). It says: no such model
Call it with another task, or do without it.
  line 3: `analyst('two')`
What ran before that line stands, so go on from there: mend it, and do not repeat the rest.\
""")


def test_code_is_noted_what_an_agent_did_that_is_to_give_a_summary() -> None:
    analyst = analyst_of(calls(("count", {})), final(2), tools=[_count], provide_run_summary=True)
    boss = boss_of(
        "<code>n = analyst('count')</code>",
        "<code>final_answer(n)</code>",
        kind=CodeAgent,
        managed_agents=[analyst],
    )
    assert boss.run("Do it.").value == 2
    assert told(boss, 2) == snapshot("""\
Observation:
(analyst answered after 2 steps:
2

What it did:
Called count with {}
Observation: 1)
The code ran. It printed nothing, and its last line has no value.\
""")


def test_agents_called_from_threads_of_code_have_runs_of_their_own() -> None:
    analyst = ToolCallingAgent(
        model=ScriptedModel.rules({"a": final(1), "b": final(2)}), name="analyst", description="A."
    )
    code = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(2) as pool:\n"
        "    found = list(pool.map(analyst, ['a', 'b']))\n"
        "final_answer(found)"
    )
    boss = boss_of(
        f"<code>{code}</code>",
        kind=CodeAgent,
        managed_agents=[analyst],
        additional_authorized_imports=["concurrent.futures"],
    )
    assert boss.run("Do it.").value == [1, 2]
    assert sorted(call.run.value for call in made(boss.result)) == [1, 2]


def test_code_of_manager_and_agent_works_on_one_namespace() -> None:
    ns: dict[str, Any] = {"n": 2}
    analyst = analyst_of("<code>twice = n * k\nfinal_answer(twice)</code>", kind=CodeAgent, state=ns)
    code = "x = analyst('double', additional_args={'k': 3})\nfinal_answer(x + twice)"
    boss = boss_of(f"<code>{code}</code>", kind=CodeAgent, managed_agents=[analyst], state=ns)
    assert boss.run("Do it.").value == 12
    assert ns == {"n": 2, "twice": 6, "x": 6}


def test_agent_that_writes_code_may_change_what_it_made_in_an_earlier_call() -> None:
    ns: dict[str, Any] = {}
    analyst = analyst_of(
        "<code>mine = 1\nfinal_answer(mine)</code>",
        "<code>mine = 2\nfinal_answer(mine)</code>",
        kind=CodeAgent,
        state=ns,
    )
    boss = boss_of(ask(), ask(), final("done"), managed_agents=[analyst])
    boss.run("Do it.")
    assert made(boss.result, 2)[0].run.value == 2


# -- names and circles -----------------------------------------------------------------------------------


def test_two_agents_of_one_name_are_refused() -> None:
    with pytest.raises(ToolDefinitionError) as refused:
        boss_of(managed_agents=[analyst_of(), analyst_of()])
    assert refused.value.message == snapshot("""\
Two tools have the name 'analyst'.
Give one of them another: put it in a variable of another name, or give the agent  name="analyst_2"\
""")


def test_agent_with_the_name_of_a_tool_is_refused() -> None:
    def analyst() -> int:
        return 1

    with pytest.raises(ToolDefinitionError) as refused:
        boss_of(tools=[analyst], managed_agents=[analyst_of()])
    assert refused.value.message == snapshot("""\
Two tools have the name 'analyst'.
Give one of them another: put it in a variable of another name, or give the agent  name="analyst_2"\
""")


def test_agent_with_its_managers_name_is_refused() -> None:
    with pytest.raises(OptionError) as refused:
        ToolCallingAgent(managed_agents=[ToolCallingAgent()])
    assert refused.value.message == snapshot(
        "A manager and an agent of its are both called 'agent'. Give one of them another name: name='analyst', say."
    )


@pytest.mark.parametrize("given", [analyst_of(), [len], None])
def test_what_is_no_list_of_agents_is_refused(given: Any) -> None:
    with pytest.raises(OptionError) as refused:
        boss_of(managed_agents=given)
    assert refused.value.message.startswith("managed_agents")


def test_agents_that_manage_each_other_are_refused_before_a_run() -> None:
    analyst = analyst_of()
    boss = boss_of(ask(), managed_agents=[analyst])
    analyst.toolbox.add(boss)
    with pytest.raises(OptionError) as refused:
        boss.run("Do it.")
    assert refused.value.message == snapshot(
        "boss → analyst → boss: an agent would manage itself, and its runs would never end. Take one of them out of the tools of another."
    )
    assert boss.model.requests == []


def test_agent_is_a_tool_as_well_as_a_managed_agent() -> None:
    analyst = analyst_of(final(1))
    boss = boss_of(ask(), final(2), tools=[analyst])
    assert boss.managed_agents == {"analyst": analyst}
    assert boss.run("Do it.").value == 2


def test_agent_without_a_description_is_told_to_its_author() -> None:
    assert analyst_of(description="").to_tool().warnings == snapshot(
        (
            'Agent \'analyst\' has no description, so a manager cannot know what it is for. Give it one: description="…", or  --define --description "…"  in a cell',
        )
    )


def test_description_that_changes_is_told_from_the_next_run_on() -> None:
    analyst = analyst_of()
    first = analyst.to_tool()
    assert analyst.to_tool() is first
    analyst.description = "Counts."
    assert analyst.to_tool().description.splitlines()[0] == "Counts."


# -- kept ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ToolCallingAgent, CodeAgent])
def test_memory_with_managed_runs_comes_back_from_json(kind: type[MultiStepAgent]) -> None:
    code = "<code>analyst('count')\nfinal_answer(2)</code>"
    replies = [code] if kind is CodeAgent else [ask(), final(2)]
    boss = boss_of(
        *replies, kind=kind, managed_agents=[analyst_of(calls(("count", {})), final([1]), tools=[_count])]
    )
    boss.run("Do it.")
    again = AgentMemory.from_dict(json.loads(json.dumps(boss.memory.to_dict())))
    assert again.to_messages() == boss.memory.to_messages()
    (result,) = made(boss.result)
    step = again.steps[1]
    (back,) = step.tool_results[0].calls if kind is CodeAgent else step.tool_results
    assert back.run == result.run
    assert back.output is back.run.value


def test_async_tools_of_a_managed_agent_run_in_the_loop_of_arun() -> None:
    async def where() -> int:
        return id(asyncio.get_running_loop())

    boss = boss_of(
        ask(), final(2), managed_agents=[analyst_of(calls(("where", {})), final(1), tools=[where])]
    )

    async def go() -> int:
        assert (await boss.arun("Do it.")).value == 2
        return id(asyncio.get_running_loop())

    loop = asyncio.run(go())
    run = made(boss.result)[0].run
    assert run is not None
    assert run.actions[0].action_output == loop


# -- prompts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ToolCallingAgent, CodeAgent])
def test_each_request_begins_with_the_one_before(kind: type[MultiStepAgent]) -> None:
    replies = (
        [f"<code>print(analyst('{n}'))</code>" for n in "ab"] + ["<code>final_answer(1)</code>"]
        if kind is CodeAgent
        else [ask("a"), ask("b"), final(1)]
    )
    analyst = analyst_of(final(1), final(2))
    boss = boss_of(*replies, kind=kind, managed_agents=[analyst])
    boss.run("Do it.")
    requests = boss.model.requests
    for before, after in itertools.pairwise(requests):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.tools == before.tools
    # and an agent that is called again has the same system prompt, which a provider has kept
    assert analyst.model.requests[0].messages[0] == analyst.model.requests[1].messages[0]


def test_report_can_be_worded_by_the_person() -> None:
    templates = {"managed_report": "{{ name }}/{{ status }}/{{ verified }}/{{ steps }}: {{ answer }}"}
    boss = boss_of(ask(), final(2), managed_agents=[analyst_of(final(1))], prompt_templates=templates)
    boss.run("Do it.")
    assert told(boss, 2) == "analyst/answered/unchecked/1: 1"


def test_circle_without_the_manager_is_told_to_it_by_the_agent_that_stands_in_it() -> None:
    analyst, writer = analyst_of(), analyst_of(name="writer")
    analyst.toolbox.add(writer)
    writer.toolbox.add(analyst)
    boss = boss_of(ask(), final(2), managed_agents=[analyst])
    assert boss.run("Do it.").value == 2
    assert told(boss, 2) == snapshot("""\
analyst could not begin: analyst → writer → analyst: an agent would manage itself, and its runs would never end. Take one of them out of the tools of another.
Do without it, or say so in the answer.\
""")


def test_agent_that_comes_to_manage_its_manager_midway_is_not_called_for_it() -> None:
    analyst = analyst_of(ask("all of it", "boss"), final(1))
    boss = boss_of(lambda _: analyst.toolbox.add(boss) or ask(), final(2), managed_agents=[analyst])
    assert boss.run("Do it.").value == 2
    assert told(boss, 2) == snapshot("""\
analyst could not begin: analyst → boss → analyst: an agent would manage itself, and its runs would never end. Take one of them out of the tools of another.
Do without it, or say so in the answer.\
""")


# -- two that write code on the same names --------------------------------------------------------


def _writers(*codes: str) -> ToolCallingAgent:
    """A manager that asks an agent for each piece of code, all in one turn, on one namespace."""
    state = NamespaceState({})
    children = [
        CodeAgent(
            [nap],
            ScriptedModel([f"<code>{code}</code>", "<code>final_answer(1)</code>"]),
            name=f"child_{n}",
            state=state,
        )
        for n, code in enumerate(codes)
    ]
    turn = ScriptedModel.calls(*[(child.name, {"task": "Write."}) for child in children])
    return ToolCallingAgent(
        managed_agents=children, model=ScriptedModel([turn, ScriptedModel.final(1)]), state=state
    )


def nap() -> None:
    """Wait a little."""
    time.sleep(0.05)


def test_steps_of_agents_that_write_side_by_side_have_their_own_changes_alone() -> None:
    manager = _writers("va = 1\nnap()\nva2 = 2", "vb = 1\nnap()", "vc = 1")
    (step, _) = manager.run("Write.").actions
    changed = [
        [change.name for inner in result.run.actions for change in inner.changes]  # type: ignore[union-attr]
        for result in step.tool_results
    ]
    assert [set(names) & {"nap", "final_answer"} for names in changed] == [set()] * 3
    assert {"va", "va2"} <= set(changed[0])
    assert "vc" in changed[2]


def test_blame_names_the_managed_agent_whose_step_it_was() -> None:
    manager = _writers("va = 1", "vb = 1")
    manager.run("Write.")
    assert [[call.name for call in found.calls] for found in manager.blame("va")] == [["child_0"]]
    assert [[call.name for call in found.calls] for found in manager.blame("vb")] == [["child_1"]]
