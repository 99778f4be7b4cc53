"""200 runs at once over real HTTP, each with a fate of its own: none learns of another, and nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from agents.checking import PATIENCE_S, assert_valid
from models.openai_server import OpenAIServer, Received, Turn, call_delta, delta, fault, serve, usage_chunk

from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.result import RunResult
from agent_magic.core.steps import TaskStep
from agent_magic.models.litellm import LiteLLMModel

# Of the clients that LiteLLM makes at once for one address it keeps one; Python closes the others' connections.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
N_OF_EACH = 20
AT_ONCE = {"Retry-After": "0"}
FATES = {
    "plain": "answered",
    "limited": "answered",  # 429 once
    "cut": "answered",  # a stream that breaks off once
    "garbled": "answered",  # arguments that are no JSON, once
    "raising": "answered",  # a tool that raises
    "refused": "failed",  # 401
    "down": "failed",  # 500 each time
    "endless": "max_steps",
    "costly": "budget",
    "slow": "interrupted",
}


def calling(name: str, arguments: str, *, end: Any = "done") -> Turn:
    chunks = [call_delta(0, "c", name, arguments[:4]), call_delta(0, None, None, arguments[4:])]
    if end == "done":
        chunks += [delta(finish_reason="tool_calls"), usage_chunk(prompt_tokens=50, completion_tokens=5)]
    return Turn(chunks=chunks, end=end)


class Provider:
    """Answers each run by what its task says, and by how often it was asked before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.n_asked: Counter[str] = Counter()
        self.sent: dict[str, list[str]] = {}
        self.let_go = threading.Event()

    def __call__(self, received: Received) -> Turn:
        text = json.dumps(received.body["messages"])
        fate, number = re.findall(r"fate (\w+) number (\d+)", text)[-1]
        with self._lock:
            self.n_asked[number] += 1
            n = self.n_asked[number]
            self.sent.setdefault(number, []).append(text)
        return self._turn(fate, number, n)

    def _turn(self, fate: str, number: str, n: int) -> Turn:
        match fate:
            case "refused":
                return fault(401, "Incorrect API key")
            case "down":
                return fault(500, headers=AT_ONCE)
            case "limited" if n == 1:
                return fault(429, headers=AT_ONCE)
            case "cut" if n == 1:
                return calling("tell", "{}", end="reset")
            case "garbled" if n == 1:
                return calling("tell", '{"number": ')
            case "slow":
                self.let_go.wait(5 * PATIENCE_S)
            case _:
                pass
        is_first = n == (2 if fate in ("limited", "cut", "garbled") else 1)
        if fate == "raising" and n == 1:
            return calling("fail", json.dumps({"number": int(number)}))
        if is_first or fate in ("endless", "costly"):
            return calling("tell", json.dumps({"number": int(number)}))
        return calling("final_answer", json.dumps({"answer": f"told {number}"}))


def tell(number: int) -> str:
    """Tell a number.

    Args:
        number: which
    """
    return f"told {number}"


def fail(number: int) -> str:
    """Fail.

    Args:
        number: which
    """
    raise ValueError(f"no {number}")


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serve() as running:
        yield running


def make_agent(server: OpenAIServer, fate: str) -> ToolCallingAgent:
    model = LiteLLMModel("openai/tiny", api_base=server.api_base, api_key="k", context_window=100_000)
    limits: dict[str, Any] = {"endless": {"max_steps": 2}, "costly": {"max_total_tokens": 60}}.get(fate, {})
    return ToolCallingAgent([tell, fail], model, name=fate, **limits)


@dataclass(frozen=True)
class Done:
    """What came of runs of all fates at once, `n` of each."""

    n: int
    provider: Provider
    agents: dict[int, ToolCallingAgent]
    results: dict[int, RunResult]

    def of(self, fate: str) -> dict[int, RunResult]:
        return {number: self.results[number] for number in numbers(fate, self.n)}


@pytest.fixture(scope="module")
def done(server: OpenAIServer) -> Done:
    return run_all(server, N_OF_EACH)


def run_all(server: OpenAIServer, n: int) -> Done:
    """All runs at once."""
    provider = server.answer = Provider()
    fates = {number: fate for fate in FATES for number in numbers(fate, n)}
    agents = {number: make_agent(server, fate) for number, fate in fates.items()}

    async def one(number: int, fate: str) -> tuple[int, RunResult]:
        return number, await agents[number].arun(f"fate {fate} number {number}")

    def wait_until_all_slow_ones_wait() -> None:
        while sum(provider.n_asked[str(number)] for number in numbers("slow", n)) < n:
            time.sleep(0.02)

    async def stop_the_slow_ones() -> None:
        await asyncio.to_thread(wait_until_all_slow_ones_wait)
        for number in numbers("slow", n):
            agents[number].interrupt("enough")

    async def main() -> dict[int, RunResult]:
        stopping = asyncio.create_task(stop_the_slow_ones())
        runs = [one(number, fate) for number, fate in fates.items()]
        try:
            return dict(await asyncio.gather(*runs))
        finally:
            await stopping
            provider.let_go.set()

    return Done(n, provider, agents, asyncio.run(main()))


def _n_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def numbers(fate: str, n: int) -> range:
    start = 1_000 + 100 * list(FATES).index(fate)
    return range(start, start + n)


def test_each_of_200_runs_has_its_own_status_and_answer(done: Done) -> None:
    assert len(done.results) == 200
    for fate, status in FATES.items():
        for number, result in done.of(fate).items():
            assert (result.task, result.status) == (f"fate {fate} number {number}", status)
            if status == "answered":
                assert result.value == f"told {number}"


def test_no_run_of_200_learns_of_another(done: Done) -> None:
    for number, texts in done.provider.sent.items():
        assert {found for text in texts for found in re.findall(r"number (\d{4})", text)} == {number}
    for number, result in done.results.items():
        seen = " ".join(step.observations or "" for step in result.actions)
        assert set(re.findall(r"\d{4}", seen)) <= {str(number)}


def test_memory_of_each_run_is_whole_and_its_own(done: Done) -> None:
    for number, agent in done.agents.items():
        assert_valid(agent.memory)
        tasks = [step.task for step in agent.memory.steps if isinstance(step, TaskStep)]
        assert tasks == [done.results[number].task]
        assert agent.runs == [done.results[number]]


def test_more_runs_open_no_more_threads_and_files(server: OpenAIServer, done: Done) -> None:
    def ours() -> int:
        return sum(thread.name.startswith("agent_magic") for thread in threading.enumerate())

    n_threads = ours()
    gc.collect()
    n_files = _n_files()
    for _ in range(3):
        run_all(server, 3)
    gc.collect()
    # Threads are kept for a while; of a round of 30 runs no more than these are new.
    assert ours() <= max(n_threads, 30 + 1)
    assert _n_files() <= n_files + 40  # connections that are kept for the next call; 180 calls were made
