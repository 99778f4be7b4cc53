"""How agents, runs, steps and tools look as a cell's last expression.

The types are named by text, so that loading imports none of them; the objects themselves know
nothing of being drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Bundle = dict[str, Any]
_AGENT = ("agent_magic.agents.multistep", "MultiStepAgent")


def install(shell: Any) -> None:
    """Register a formatter for each type."""
    formatter = shell.display_formatter.mimebundle_formatter
    for (module, name), draw in _TYPES.items():
        formatter.for_type_by_name(module, name, draw)

    def draw_agent(agent: Any) -> Bundle:
        from agent_magic.notebook.looking import cards  # noqa: PLC0415 - only once there is a thing to draw

        return cards.agent_output(shell, agent)

    formatter.for_type_by_name(*_AGENT, draw_agent)


def uninstall(shell: Any) -> None:
    """Take the formatters off again."""
    formatter = shell.display_formatter.mimebundle_formatter
    for key in (_AGENT, *_TYPES):
        formatter.deferred_printers.pop(key, None)
    for kind in [k for k in formatter.type_printers if (k.__module__, k.__name__) in (_AGENT, *_TYPES)]:
        formatter.pop(kind)


def _draw(name: str) -> Callable[[Any], Bundle]:
    def draw(thing: Any) -> Bundle:
        from agent_magic.notebook.looking import cards  # noqa: PLC0415 - only once there is a thing to draw

        return getattr(cards, name)(thing)

    return draw


_TYPES: dict[tuple[str, str], Callable[[Any], Bundle]] = {
    ("agent_magic.core.steps", "RunResult"): _draw("run_bundle"),
    ("agent_magic.core.steps", "ActionStep"): _draw("step_bundle"),
    ("agent_magic.agents.requests.preview", "Preview"): _draw("preview_bundle"),
    ("agent_magic.core.plan", "PlanningStep"): _draw("step_bundle"),
    ("agent_magic.core.task", "TaskStep"): _draw("step_bundle"),
    ("agent_magic.core.steps", "FinalAnswerStep"): _draw("step_bundle"),
    ("agent_magic.core.memory_step", "SystemPromptStep"): _draw("step_bundle"),
    ("agent_magic.tools.tool", "Tool"): _draw("tool_bundle"),
}
