from __future__ import annotations

import asyncio
import functools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.models.scripted import ScriptedModel
from agent_magic.tools.callable_tool import tool_from
from agent_magic.tools.decorator import tool
from agent_magic.tools.tool import Tool

calls, final = ScriptedModel.calls, ScriptedModel.final


class Counting:
    """Notes how many bodies are entered at once."""

    def __init__(self) -> None:
        self.n_inside = self.most = 0
        self._lock = threading.Lock()

    def work(self) -> None:
        with self._lock:
            self.n_inside += 1
            self.most = max(self.most, self.n_inside)
        time.sleep(0.02)
        with self._lock:
            self.n_inside -= 1

    async def work_async(self) -> None:
        self.n_inside += 1
        self.most = max(self.most, self.n_inside)
        await asyncio.sleep(0.02)
        self.n_inside -= 1


def make(counting: Counting, *, sequential: bool = True) -> Any:
    @tool(sequential=sequential)
    def write(n: int) -> int:
        """Write.

        Args:
            n: what
        """
        counting.work()
        return n

    return write


def make_async(counting: Counting, *, sequential: bool = True) -> Any:
    @tool(sequential=sequential)
    async def write(n: int) -> int:
        """Write.

        Args:
            n: what
        """
        await counting.work_async()
        return n

    return write


async def _await(awaitable: Any) -> Any:
    return await awaitable


@pytest.mark.parametrize("sequential", [True, False])
def test_bodies_of_a_sequential_tool_run_one_at_a_time_for_all_agents(sequential: bool) -> None:
    counting = Counting()
    write = make(counting, sequential=sequential)
    agents = [
        ToolCallingAgent([write], ScriptedModel([calls(("write", {"n": 1})), final(1)])) for _ in range(4)
    ]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda agent: agent.run("Write."), agents))
    assert (counting.most == 1) is sequential


def test_bodies_of_a_sequential_tool_run_one_at_a_time_in_code() -> None:
    counting = Counting()
    code = (
        "<code>from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(3) as threads:\n"
        "    done = list(threads.map(write, [1, 2, 3]))\n"
        "final_answer(done)</code>"
    )
    result = CodeAgent([make(counting)], ScriptedModel([code]), additional_authorized_imports=["*"]).run(
        "Write."
    )
    assert (result.value, counting.most) == ([1, 2, 3], 1)


@pytest.mark.parametrize("sequential", [True, False])
def test_bodies_of_an_async_sequential_tool_run_one_at_a_time_for_all_agents(sequential: bool) -> None:
    counting = Counting()
    write = make_async(counting, sequential=sequential)
    children = [
        ToolCallingAgent(
            [write],
            ScriptedModel([calls(("write", {"n": n})), final(n)]),
            name=f"child_{n}",
            description="Writes.",
        )
        for n in range(3)
    ]
    turn = calls(*((child.name, {"task": "Write."}) for child in children))
    boss = ToolCallingAgent(managed_agents=children, model=ScriptedModel([turn, final(1)]), name="boss")
    assert boss.run("Write.").status == "answered"
    assert (counting.most == 1) is sequential


def test_bodies_of_an_async_sequential_tool_run_one_at_a_time_in_tasks_of_code() -> None:
    counting = Counting()
    code = "<code>import asyncio\nfinal_answer(await asyncio.gather(write(1), write(2), write(3)))</code>"
    result = CodeAgent([make_async(counting)], ScriptedModel([code])).run("Write.")
    assert (result.value, counting.most) == ([1, 2, 3], 1)


def test_turn_of_an_async_body_excludes_threads_and_other_loops() -> None:
    counting = Counting()

    class Write:
        """Writes, now or later."""

        def __call__(self, n: int) -> Any:
            """Write.

            Args:
                n: what
            """
            return self._later(n) if n % 2 else counting.work()

        async def _later(self, n: int) -> None:
            await counting.work_async()

    write = tool_from(tool(sequential=True)(Write()), name="write")

    def call(n: int) -> None:
        result = write.invoke(write.prepare({"n": n}, None))
        if n % 2:
            asyncio.run(_await(result))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(call, range(4)))
    assert counting.most == 1


def test_calls_from_inside_of_a_body_take_turns_among_each_other() -> None:
    counting = Counting()

    @tool(sequential=True)
    async def write(n: int) -> int:
        """Write.

        Args:
            n: what
        """
        if n:
            inner = [made.invoke(made.prepare({"n": 0}, None)) for _ in range(3)]
            return sum(await asyncio.gather(*inner))
        await counting.work_async()
        return 1

    made = tool_from(write)
    assert asyncio.run(_await(made.invoke(made.prepare({"n": 1}, None)))) == 3
    assert counting.most == 1


def test_async_body_that_is_cancelled_hands_its_turn_on() -> None:
    @tool(sequential=True)
    async def wait(seconds: float) -> float:
        """Wait.

        Args:
            seconds: how long
        """
        await asyncio.sleep(seconds)
        return seconds

    made = tool_from(wait)

    async def main() -> float:
        first = asyncio.ensure_future(made.invoke(made.prepare({"seconds": 60}, None)))
        await asyncio.sleep(0)
        first.cancel()
        return await made.invoke(made.prepare({"seconds": 0}, None))

    assert asyncio.run(main()) == 0


def test_tools_of_one_function_share_its_turn() -> None:
    counting = Counting()
    write = make(counting)
    tools = [tool_from(write), tool_from(functools.partial(write, 1), name="write_one")]
    prepared = [tools[0].prepare({"n": 2}, None), tools[1].prepare({}, None)]
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda pair: pair[0].invoke(pair[1]), zip(tools, prepared, strict=True)))
    assert counting.most == 1


def test_class_form_has_turns_too_and_may_call_itself() -> None:
    counting = Counting()

    class Write(Tool):
        name = "write"
        description = "Write."
        inputs = {"n": {"type": "integer", "description": "what"}}  # noqa: RUF012 - as people write it
        output_type = "integer"
        sequential = True

        def forward(self, n: int) -> int:
            counting.work()
            return self(n - 1) if n else 0

    write = Write()
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(write, [1, 1, 1])) == [0, 0, 0]
    assert counting.most == 1
