"""What providers do instead of replying, each asked of a real agent over real HTTP."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from cases.bad_replies import SETUP, Raw, cases_of
from cases.inside import check_calls, to_plain
from models.conftest import no_connection_is_left_open
from models.openai_server import OpenAIServer, Turn, call_delta, delta, fault, serve
from threads import join

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.events import Event, Waiting
from agent_magic.core.result import RunResult
from agent_magic.models.litellm import LiteLLMModel
from agent_magic.record.draft import RunDraft
from agent_magic.view.bundle import to_bundle

__all__ = ["no_connection_is_left_open"]

CASES: dict[str, Raw] = {case["id"]: case for case in cases_of("tool", is_provider=True)}
KEY = "sk-test-000000000000000000000000"
MAX_ERROR = 4_000
PATIENCE_S = 60.0
LONGEST_WAIT_S = 60.0
"""Whatever a provider asks for."""
ARGUMENTS_OF = "add"
"""The tool whose arguments a broken stream holds."""
KNOWN = {"outcome", "also_ok", "final", "error_any", "never", "note"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of a case."""

    case: dict[str, Any]
    agent: ToolCallingAgent
    result: RunResult
    called: list[Any]
    waits: list[Waiting]
    received_at: list[float]
    seconds: float
    stored: str
    """All four forms of the run, as they are stored with the cell."""

    @property
    def n_asked(self) -> int:
        return len(self.received_at)

    @property
    def error(self) -> str:
        return self.result.error.message if self.result.error else ""


# -- running -------------------------------------------------------------------------------------


def turn(raw: dict[str, Any]) -> Turn:
    match raw:
        case {"status": 200, "body": str(page)}:
            return Turn(body=page)
        case {"status": int(status), **rest} if rest.keys() <= {"headers", "body"}:
            return fault(status, rest.get("body", "no"), headers=rest.get("headers"))
        case {"stream_chunks": [first, *pieces], "then": "connection_reset"}:
            chunks = [call_delta(0, "c1", ARGUMENTS_OF, first), *(call_delta(0, arguments=p) for p in pieces)]
            return Turn(chunks=chunks, end="reset")
        case {"hang_seconds": int(seconds)}:
            return Turn(body={}, pause_s=seconds)
        case {"reply": "closing"}:
            closing = call_delta(0, "c9", "final_answer", '{"answer": "recovered"}')
            return Turn(chunks=[closing, delta("tool_calls")])
        case _:
            raise AssertionError(f"what the provider does is not known: {raw}")


def agent_for(case: dict[str, Any], server: OpenAIServer) -> tuple[ToolCallingAgent, list[Any]]:
    server.play(*map(turn, case["provider"]))
    namespace: dict[str, Any] = {}
    exec(SETUP["code"], namespace)
    tools = [namespace[name] for name in ("add", "echo", "pick", "boom", "page")]
    model = LiteLLMModel(
        "openai/tiny", api_base=server.api_base, api_key=KEY, timeout_s=case.get("model_timeout_s", 20)
    )
    return ToolCallingAgent(tools, model, max_steps=SETUP["max_steps"]), namespace["CALLS"]


def ask(case: dict[str, Any]) -> Seen:
    with serve() as server:
        agent, called = agent_for(case, server)
        agent.model.capabilities  # noqa: B018 - reads the library in, which is no part of the time
        draft, waits, begun = RunDraft(), list[Waiting](), time.monotonic()

        def take(event: Event) -> None:
            draft.add(event)
            if isinstance(event, Waiting):
                waits.append(event)

        for event in agent.stream(SETUP["task"]):
            take(event)
        assert agent.result is not None
        return Seen(
            case=case,
            agent=agent,
            result=agent.result,
            called=called,
            waits=waits,
            received_at=[one.at for one in server.received],
            seconds=time.monotonic() - begun,
            stored=json.dumps(to_bundle(draft.to_record()), ensure_ascii=False),
        )


@pytest.fixture(scope="module")
def running() -> Iterator[dict[str, Future[Seen]]]:
    """All cases, side by side: most of their time they wait."""
    with ThreadPoolExecutor(len(CASES)) as pool:
        yield {name: pool.submit(ask, case) for name, case in CASES.items()}


# -- clauses that are prose, each with its assertion ---------------------------------------------


def check_no_retry(seen: Seen) -> None:
    assert (seen.n_asked, seen.waits) == (1, [])


def check_key_is_nowhere(seen: Seen) -> None:
    assert KEY in seen.case["provider"][0]["body"]
    saved = json.dumps(seen.agent.memory.to_dict())
    for text in (seen.error, seen.stored, saved, str(seen.result), repr(seen.result), repr(seen.agent.model)):
        assert KEY not in text
        assert KEY[3:] not in text
    assert "Incorrect API key provided" in seen.error  # what the provider says is told all the same


def check_no_part_ran(seen: Seen) -> None:
    assert seen.called == []
    assert [call.name for step in seen.result.actions for call in step.tool_calls] == ["final_answer"]


NEVER: dict[str, Callable[[Seen], None]] = {
    "retries": check_no_retry,
    "the whole key in the shown error or in the saved run": check_key_is_nowhere,
    "add runs with part of its arguments": check_no_part_ran,
}


def note_waits_as_told(seen: Seen) -> None:
    (wait,) = seen.waits
    assert (wait.delay_s, wait.attempt) == (1.0, 1)
    first, second = seen.received_at
    assert second - first >= 1.0
    assert len(seen.result.actions) == 1
    # with a cap
    long = {"provider": [{"status": 429, "headers": {"retry-after": "3600"}}]}
    with serve() as server:
        agent, _ = agent_for(long, server)
        events = agent.stream(SETUP["task"])
        wait = next(event for event in events if isinstance(event, Waiting))
        assert 1.0 < wait.delay_s <= LONGEST_WAIT_S
        events.close()


def note_three_retries(seen: Seen) -> None:
    assert [wait.attempt for wait in seen.waits] == [1, 2, 3]
    assert seen.n_asked == 4
    assert len(seen.result.actions) == 1


def note_ends_in_time(seen: Seen) -> None:
    a_try = seen.case["model_timeout_s"]
    assert seen.n_asked == 4
    assert seen.seconds < a_try * seen.n_asked + sum(wait.delay_s for wait in seen.waits) + 2
    # an interrupt ends it at once
    with serve() as server:
        agent, _ = agent_for({**seen.case, "model_timeout_s": 30}, server)
        stopped_at: list[float] = []

        def stop() -> None:
            while not server.received:
                time.sleep(0.01)
            time.sleep(0.1)
            stopped_at.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=stop, daemon=True)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            agent.run(SETUP["task"])
        assert time.monotonic() - stopped_at[0] < 10  # and not 30
        assert agent.result is not None
        assert agent.result.status == "interrupted"
        assert len(server.received) == 1
        join(thread)


NOTES: dict[str, Callable[[Seen], None]] = {
    "waits as told, with a cap; the try is not a step": note_waits_as_told,
    "so at least three retries; none of the tries is a step": note_three_retries,
    "within 2 s times the number of tries, plus the waits between them, plus 2 s; an interrupt ends it at once": note_ends_in_time,
}


# -- judging -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(CASES, key=lambda name: "model_timeout_s" in CASES[name]))
def test_bad_provider_has_its_outcome(running: dict[str, Future[Seen]], name: str) -> None:
    case = CASES[name]
    assert case.keys() <= {"id", "kind", "title", "provider", "model_timeout_s", "expect"}
    seen = running[name].result(PATIENCE_S)
    judge(seen)
    check_rules(seen)


def judge(seen: Seen) -> None:
    expect, result = seen.case["expect"], seen.result
    assert expect.keys() <= KNOWN
    is_final = result.status == "answered" and result.actions[0].is_final_answer
    outcome = "fail_run" if result.status == "failed" else "final" if is_final else result.status
    assert outcome in (expect["outcome"], *expect.get("also_ok", ())), result
    assert seen.called == []
    if outcome == "final":
        assert (result.value, len(result.actions)) == (expect["final"], 1)
    else:
        assert result.value is None
        assert any(word.lower() in seen.error.lower() for word in expect["error_any"]), seen.error
    for never in expect.get("never", ()):
        NEVER[never](seen)
    if "note" in expect:
        NOTES[expect["note"]](seen)


def check_rules(seen: Seen) -> None:
    """What holds for every case; how long a step takes is what the provider takes."""
    check_calls({"bot": seen.agent})
    faults = [fault["message"] for step in to_plain(seen.result)["steps"] for fault in step["faults"]]
    assert [len(fault) for fault in faults if len(fault) > MAX_ERROR] == []
    for trace in ("Traceback", "agent_magic/", "site-packages"):
        assert trace not in seen.stored
