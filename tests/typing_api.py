"""The public surface as a type checker sees it: this file is checked, never run."""

from __future__ import annotations

from typing import Any, assert_type

from agent_magic import (
    ActionStep,
    AgentMemory,
    ChatMessage,
    CodeAgent,
    CodeExecutor,
    LiteLLMModel,
    LocalModel,
    Model,
    RunResult,
    ScriptedModel,
    Tool,
    ToolCallingAgent,
    ToolError,
    tool,
)
from agent_magic.execution.request import CodeOutcome, CodeStep


@tool
def double(n: int) -> int:
    """Twice a number."""
    return 2 * n


@tool(name="halve", sequential=True)
def half(n: float) -> float:
    """Half a number."""
    if n == 0:
        raise ToolError("Give a number other than 0.")
    return n / 2


class Weather(Tool):
    name = "weather"
    description = "The weather of a city."
    inputs = {"city": {"type": "string", "description": "its name"}}  # noqa: RUF012 - as the documentation writes it
    output_type = "string"

    def forward(self, city: str) -> str:
        return city


assert_type(double(2), int)
assert_type(half(2.0), float)

models: list[Model] = [LocalModel(), LiteLLMModel("openai/gpt-5"), ScriptedModel([ScriptedModel.final(1)])]
agent = ToolCallingAgent([double, half, Weather(), len], models[0], name="calc", max_steps=3, state={"x": 1})
assert_type(agent.run("task"), RunResult)
assert_type(agent.memory, AgentMemory)
assert_type(agent.result, RunResult | None)

result = agent.run("task", reset=False, additional_args={"y": 2}, max_steps=1)
assert_type(result.value, Any)
assert_type(result.usage.input_tokens, int | None)
assert_type(result.actions, tuple[ActionStep, ...])
assert_type(agent.memory.to_messages(summary_mode=True), list[ChatMessage])
for event in agent.stream("task"):
    print(event)


async def asynchronous() -> RunResult:
    return await agent.arun("task")


@tool(requires=lambda n: n > 0)
def root(n: float) -> float:
    """The square root of a number."""
    return n**0.5


class NoExecutor:
    def execute(self, step: CodeStep) -> CodeOutcome:
        return CodeOutcome(printed=step.code)


executor: CodeExecutor = NoExecutor()
coder = CodeAgent(
    [root],
    models[0],
    state=globals(),
    executor=executor,
    additional_authorized_imports=["scipy"],
    writes="none",
    protect=(),
)
assert_type(coder.run("task"), RunResult)
assert_type(coder.undo(1).undone, tuple[str, ...])
assert_type(coder.result.actions[0].code_action if coder.result else None, str | None)
