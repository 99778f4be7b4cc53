"""Agents, runs, steps and tools as things to look at, for the notebook's formatters.

It must not know how a form looks: records are drawn by the view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_magic.agents.hooks import name_of_function
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.preview import Preview
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, MemoryStep, PlanningStep
from agent_magic.core.values import Value, safe_repr
from agent_magic.notebook import lens
from agent_magic.notebook.answer_types import type_words
from agent_magic.notebook.building import reason_of
from agent_magic.record.cards import to_agent_record, to_tool_record
from agent_magic.record.clean import clean_text
from agent_magic.record.plan import to_plan_record
from agent_magic.record.run import to_record
from agent_magic.record.step import to_step_record
from agent_magic.tools.tool import Tool
from agent_magic.view.bundle import step_to_bundle, to_bundle
from agent_magic.view.cards import agent_to_bundle, tool_to_bundle

Bundle = dict[str, Any]
_STEP_CHARS = 2_000


def agent_bundle(agent: MultiStepAgent) -> Bundle:
    """An agent: model, tools, settings, what it remembers."""
    return agent_to_bundle(
        to_agent_record(
            name=agent.name,
            model_id=agent.model.model_id if agent.has_model else "chosen at the first run",
            reason=reason_of(agent),
            tools=[tool.to_schema() for tool in agent.tools.values()],
            settings=_settings(agent),
            n_runs=len(agent.runs),
            n_steps=sum(isinstance(step, ActionStep) for step in agent.memory.steps),
            last_status=agent.result.status if agent.result else None,
        )
    )


def _settings(agent: MultiStepAgent) -> dict[str, Value]:
    """The settings by name; those that are not set are None."""
    values = agent.settings.values
    checks = [name_of_function(check) for check in agent.final_answer_checks]
    prompts = agent.prompt_templates
    return {
        "max_steps": values.max_steps,
        "max_tool_threads": agent.max_tool_threads,
        "state": agent.state.scope,
        "planning_interval": values.planning_interval,
        "summary_mode": values.summary_mode if values.summary_mode != "plan" else None,
        "checks": ", ".join(checks) or None,
        "answer_type": None if agent.answer_type is None else type_words(agent.answer_type),
        "max_time_s": values.max_time_s,
        "max_cost_usd": values.max_cost_usd,
        "max_total_tokens": values.max_total_tokens,
        "prompts": ", ".join(prompts) if isinstance(prompts, Mapping) else prompts and str(prompts),
        "is_paused": values.is_paused or None,
        "description": agent.description or None,
        "instructions": agent.instructions or None,
    }


def run_bundle(result: RunResult) -> Bundle:
    """A run, as its cell shows it."""
    return to_bundle(to_record(result))


def step_bundle(step: MemoryStep) -> Bundle:
    """One step; tasks and answers as their fields."""
    if isinstance(step, ActionStep):
        return step_to_bundle(to_step_record(step))
    if isinstance(step, PlanningStep):
        return step_to_bundle(to_plan_record(step))
    return {"text/plain": clean_text(_whole_repr(step), _STEP_CHARS)}


def _whole_repr(step: MemoryStep) -> str:
    """The `repr` uncut, as half a secret is no longer known for one."""
    try:
        return repr(step)
    except Exception:  # noqa: BLE001 - an answer's repr is the person's code and may raise anything
        return safe_repr(step)


def preview_bundle(preview: Preview) -> Bundle:
    """What a model is sent, in one view."""
    return lens.preview_bundle(preview)


def tool_bundle(tool: Tool) -> Bundle:
    """A tool, as the model is told of it, and what is weak about it."""
    return tool_to_bundle(to_tool_record(tool.to_schema(), tool.warnings))


def show_defined(shell: Any, agent: MultiStepAgent, warnings: Sequence[str]) -> None:
    """Show an agent that a cell has defined."""
    shell.display_pub.publish(data=agent_bundle(agent), metadata={})
    for warning in warnings:
        print(warning)
