"""Which of many tools a model is told of: the likely ones of its tasks, and those that it found or called since.

It is read from the memory alone, so that a preview, a resumed run and a loaded one tell the same; and
the list only grows at its end, so that what a provider has cached of it holds. It must not make a request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent_magic.core.steps import ActionStep, RunStep, TaskStep, ToolResult
from agent_magic.tools.find_tools import FIND_TOOLS, MOST_TOOLS, ToolFinder, likely_tools
from agent_magic.tools.tool import Tool


def told_tools(
    finder: ToolFinder, steps: Sequence[RunStep], tools: Mapping[str, Tool], *, is_fixed: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the tools to tell, in order: those that the first task brought, and those since.

    Args:
        finder: Of the agent.
        steps: All that the memory has.
        tools: The person's own.
        is_fixed: Leave out what the last task's own steps brought: it is told in their results.
    """
    tasks = [at for at, step in enumerate(steps) if isinstance(step, TaskStep) and not step.is_ours]
    start = tasks[0] if tasks else len(steps)
    first = likely_tools(finder, _task_at(steps, start), tools)
    end = _last_task(steps) + 1 if is_fixed else len(steps)
    since = dict.fromkeys(
        name for step in steps[start + 1 : end] for name in _brought_by(step, finder, tools)
    )
    return first, tuple(name for name in since if name not in first)


def _task_at(steps: Sequence[RunStep], at: int) -> str:
    step = steps[at] if at < len(steps) else None
    return step.task if isinstance(step, TaskStep) else ""


def _last_task(steps: Sequence[RunStep]) -> int:
    return max((at for at, step in enumerate(steps) if isinstance(step, TaskStep)), default=-1)


def _brought_by(step: RunStep, finder: ToolFinder, tools: Mapping[str, Tool]) -> Iterator[str]:
    if isinstance(step, TaskStep) and not step.is_ours:
        yield from finder.find(step.task, tools, MOST_TOOLS)
    elif isinstance(step, ActionStep):
        for result in step.tool_results:
            yield from _called(result, finder, tools)


def _called(result: ToolResult, finder: ToolFinder, tools: Mapping[str, Tool]) -> Iterator[str]:
    call = result.call
    if call.name in tools:
        yield call.name
    elif call.name == FIND_TOOLS and isinstance(call.arguments, Mapping):
        query = call.arguments.get("query")
        if isinstance(query, str):
            yield from finder.find(query, tools)
    for inner in result.calls:
        yield from _called(inner, finder, tools)
