"""The commands of `%agent`: looking at agents, and forgetting what they remember.

It must not run an agent.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.steps import ActionStep
from agent_magic.models.select import DEFAULT_IDS_AS_OF, model_table
from agent_magic.notebook.cards import run_bundle, tool_bundle
from agent_magic.notebook.kernel_state import KernelState
from agent_magic.notebook.options import DEFAULT_NAME, help_text
from agent_magic.view.words import count


def run_command(magics: Any, command: str, names: tuple[str, ...]) -> None:
    """Do what a `%agent` line says.

    Raises:
        OptionError: There is no such agent.
    """
    _COMMANDS[command](magics, names[0] if names else None)


def _list(magics: Any, name: str | None) -> None:
    del name
    agents = _agents(magics)
    if not agents:
        print("No agents yet. A cell that begins with %%agent NAME makes one.")
    for variable, agent in agents.items():
        model = agent.model.model_id if agent.has_model else "no model yet"
        n_steps = sum(isinstance(step, ActionStep) for step in agent.memory.steps)
        tools = ", ".join(agent.tools) or "none"
        last = f", last {agent.result.status}" if agent.result else ""
        memory = f"{count(len(agent.runs), 'run')}, {count(n_steps, 'step')}"
        print(f"{variable}: {model}; tools: {tools}; {memory}{last}")


def _tools(magics: Any, name: str | None) -> None:
    _, agent = _agent(magics, name)
    for tool in agent.tools.values():
        magics.shell.display_pub.publish(data=tool_bundle(tool), metadata={})
    if not agent.tools:
        print(f"{agent.name} has no tools. Hand functions over by --tools, or as @name in a task.")


def _steps(magics: Any, name: str | None) -> None:
    _, agent = _agent(magics, name)
    for result in agent.runs:
        magics.shell.display_pub.publish(data=run_bundle(result), metadata={})
    if not agent.runs:
        print(f"{agent.name} remembers nothing.")


def _reset(magics: Any, name: str | None) -> None:
    variable, agent = _agent(magics, name)
    forgotten = count(len(agent.runs), "run")
    agent.reset()
    print(f"{variable} has forgotten {forgotten}; its options, its tools and your variables stay.")


def _models(magics: Any, name: str | None) -> None:
    del name
    print(f"Looked for from the top; the first that is there is taken (default ids of {DEFAULT_IDS_AS_OF}):")
    for row in model_table(os.environ):
        print(row)
    if magics.model:
        print(f"%config AgentMagics.model = {magics.model!r} goes before all of these.")


def _help(magics: Any, name: str | None) -> None:
    del magics, name
    print(help_text())


_COMMANDS: dict[str, Callable[[Any, str | None], None]] = {
    "list": _list,
    "tools": _tools,
    "steps": _steps,
    "reset": _reset,
    "models": _models,
    "help": _help,
}


def _agents(magics: Any) -> dict[str, MultiStepAgent]:
    state = KernelState(magics.shell)
    return {name: state[name] for name in state if isinstance(state[name], MultiStepAgent)}


def _agent(magics: Any, name: str | None) -> tuple[str, MultiStepAgent]:
    """The agent of that name; without one the default, or the only one there is."""
    agents = _agents(magics)
    if name is None:
        name = DEFAULT_NAME if DEFAULT_NAME in agents or len(agents) != 1 else next(iter(agents))
    if name not in agents:
        near = difflib.get_close_matches(name, agents, n=3) or list(agents)
        known = f"Agents: {', '.join(near)}." if near else "A cell that begins with %%agent NAME makes one."
        raise OptionError(f"%agent: there is no agent {name!r}. {known}")
    return name, agents[name]
