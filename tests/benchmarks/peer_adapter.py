"""This package as a suite of peer benchmarks sees it: the suite's interface over our public names.

It must not reach past what a person can call; the model is asked as a provider's would be.
"""

from __future__ import annotations

import asyncio
import json
import time

from adapters.base import Adapter  # the suite's own; it is on the path where this file is loaded


class AgentMagic(Adapter):
    name, dist, modules = "agent_magic", "agent-magic", ["agent_magic"]
    extension = "agent_magic"
    kinds = frozenset({"tool", "code"})
    # No "logging": outside a notebook nothing is shown unless the person sets `logging` up.
    features = frozenset({"planning", "async_tools", "async_runs", "dump", "load"})

    def build(
        self,
        script,
        tools,
        *,
        kind="tool",
        logging="silent",
        planning_interval=None,
        wire=False,
        recorder=None,
        max_parallel=None,
        max_steps=100_000,
    ):
        if kind not in self.kinds or logging != "silent":
            raise NotImplementedError(f"kind={kind!r}, logging={logging!r}")
        # Imported here, for the suite loads this file to ask what it can do.
        from agent_magic import ChatMessage, CodeAgent, Model, ToolCall, ToolCallingAgent

        agent_kind = kind  # `generate` has a `kind` of its own

        class Scripted(Model):
            model_id = "scripted"
            n_turns = 0

            def generate(self, messages, *, tools=(), stop=(), kind="act", **options):
                if recorder:
                    recorder(self.to_wire(messages, tools, kind).messages)
                elif wire:  # what a model that posts by itself does before its HTTP call
                    self.to_json(messages)
                if script.latency:
                    time.sleep(script.latency)
                if kind == "plan":
                    return ChatMessage(role="assistant", content=script.plan)
                number, self.n_turns = self.n_turns, self.n_turns + 1
                turn = script.turn(number)
                if agent_kind == "code":
                    code = turn.code if turn.final is None else f"final_answer({turn.final!r})"
                    return ChatMessage(role="assistant", content=f"I go on.\n<code>\n{code}\n</code>")
                calls = turn.calls if turn.final is None else [("final_answer", {"answer": turn.final})]
                return ChatMessage(
                    role="assistant",
                    tool_calls=tuple(
                        ToolCall(id=f"c{number}_{place}", name=name, arguments=arguments)
                        for place, (name, arguments) in enumerate(calls)
                    ),
                )

        threads = {} if max_parallel is None else {"max_tool_threads": max_parallel}
        return (CodeAgent if kind == "code" else ToolCallingAgent)(
            tools=tools, model=Scripted(), max_steps=max_steps, planning_interval=planning_interval, **threads
        )

    def run(self, agent, task):
        agent.model.n_turns = 0
        return _answer(agent.run(task))

    def run_many(self, agents, task):
        async def one(agent):
            agent.model.n_turns = 0
            return _answer(await agent.arun(task))

        async def all_of_them():
            return await asyncio.gather(*map(one, agents))

        return asyncio.run(all_of_them())

    def observation(self, agent):
        return agent.result.actions[0].observations

    def dump(self, agent, how="default"):
        # One form: it holds all that `how="full"` asks for, the requests included.
        return json.dumps(agent.memory.to_dict()).encode()

    def load(self, data):
        from agent_magic import AgentMemory

        return AgentMemory.from_dict(json.loads(data))

    def executor(self):
        """Runs code with the guard on, as a step of an agent does, on one namespace."""
        from agent_magic.execution.executor import DictExecutor
        from agent_magic.execution.request import CodeStep

        namespace = {}
        executor = DictExecutor(namespace)

        def run(code, variables):
            namespace.update(variables)
            outcome = executor.execute(CodeStep(code=code, label="step 1"))
            if outcome.error is not None:
                raise outcome.error
            return namespace["result"]

        return run


def _answer(result):
    assert result.status == "answered", result
    return result.value


ADAPTER = AgentMagic()
