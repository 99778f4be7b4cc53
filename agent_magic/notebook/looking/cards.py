"""Agents, runs, steps and tools as things to look at, for the notebook's formatters.

It must not know how a form looks: records are drawn by the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.requests.preview import Preview
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, MemoryStep, PlanningStep
from agent_magic.core.values import safe_repr
from agent_magic.models.provider_form import to_provider_tools
from agent_magic.notebook.live import lens
from agent_magic.notebook.live.panel import look_once, to_record_of
from agent_magic.notebook.live.widget_host import mime_of, shows_widgets
from agent_magic.record.cards import ToolCard, to_tool_card
from agent_magic.record.clean import clean_text
from agent_magic.record.lane import to_step_record
from agent_magic.record.plan import to_plan_record
from agent_magic.record.shown import record_of
from agent_magic.tools.code_prompt import to_code_prompt
from agent_magic.tools.tool import Tool
from agent_magic.tools.weaknesses import weaknesses
from agent_magic.view import host
from agent_magic.view.bundle import step_to_bundle, to_bundle
from agent_magic.view.cards import agent_to_bundle, card_to_bundle, tool_to_bundle
from agent_magic.view.panel_form import panel_to_bundle
from agent_magic.view.protocol import AgentSnapshot

Bundle = dict[str, Any]
_STEP_CHARS = 2_000


def agent_output(shell: Any, agent: MultiStepAgent) -> Bundle:
    """An agent as the value of a cell: its panel where one can live, and the same parts as HTML and text."""
    notebook = host.current()
    if notebook is None or not shows_widgets(shell):
        return agent_bundle(agent)
    widget = notebook.open_panel(agent)
    return {**mime_of(widget), **panel_to_bundle(cast("AgentSnapshot", widget.snapshot))}


def agent_bundle(agent: MultiStepAgent) -> Bundle:
    """An agent: model, settings, memory, state, tools with what is weak about them."""
    return panel_to_bundle(look_once(agent))


def run_bundle(result: RunResult) -> Bundle:
    """A run, as its cell shows it."""
    return to_bundle(record_of(result))


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


def card_bundle(tool: Tool) -> Bundle:
    """A tool's whole card: what either kind of model is told of it, and what is weak about it."""
    return card_to_bundle(_to_card(tool))


def tool_bundle(tool: Tool) -> Bundle:
    """A tool's card, in text as a model that calls tools is told of it."""
    card = _to_card(tool)
    return {**card_to_bundle(card), "text/plain": tool_to_bundle(card["tool"])["text/plain"]}


def code_tool_bundle(tool: Tool) -> Bundle:
    """A tool's card, in text as a model that writes code is told of it."""
    card = _to_card(tool)
    weak = (f"! {line}" for line in card["tool"]["weaknesses"])
    return {**card_to_bundle(card), "text/plain": "\n".join([card["code"], *weak])}


def _to_card(tool: Tool) -> ToolCard:
    schema = tool.to_schema()
    (sent,) = to_provider_tools([schema])
    return to_tool_card(schema, sent=sent, code=to_code_prompt(tool), weaknesses=weaknesses(tool))


def show_defined(shell: Any, agent: MultiStepAgent, warnings: Sequence[str]) -> None:
    """Show an agent that a cell has defined."""
    shell.display_pub.publish(data=agent_to_bundle(to_record_of(agent)), metadata={})
    for warning in warnings:
        print(warning)
