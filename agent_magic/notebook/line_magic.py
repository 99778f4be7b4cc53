"""The commands of `%agent`: looking at agents, letting them go on, and forgetting what they remember.

It must not parse a line, nor decide what a run does.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.steps import ActionStep
from agent_magic.core.values import Value
from agent_magic.notebook.building.building import choose_once
from agent_magic.notebook.kernel.state import KernelState
from agent_magic.notebook.live.lens import look_at
from agent_magic.notebook.looking.blame import blame_lines
from agent_magic.notebook.looking.cards import card_bundle, code_tool_bundle, tool_bundle
from agent_magic.notebook.looking.model_list import model_lines
from agent_magic.notebook.looking.remembered import remembered
from agent_magic.notebook.options.commands import Command
from agent_magic.notebook.options.help import help_text
from agent_magic.notebook.options.options import DEFAULT_NAME
from agent_magic.notebook.options.values import Word, split_words
from agent_magic.notebook.session import resume, retry
from agent_magic.record.step import to_usage
from agent_magic.tools.default_tools import DEFAULT_TOOLS, make_default_tool
from agent_magic.tools.tool import Tool
from agent_magic.tools.toolbox import LiveTool, Toolbox, is_tool_source
from agent_magic.view.words import cost, count, tokens

_NEAR = 0.65
"""How alike two names must be, from 0 to 1, for one to be taken for a slip of the other."""


def run_command(magics: Any, command: Command) -> Value:
    """Do what a `%agent` line says; the answer, where it lets an agent go on.

    Raises:
        OptionError: There is no such agent, or it cannot do that.
        KeyboardInterrupt, RunNotAnswered: As from a `%%agent` cell.
    """
    return _COMMANDS[command.name](magics, command)


def _list(magics: Any, command: Command) -> None:
    del command
    agents = _agents(magics)
    if not agents:
        print("No agents yet. A cell that begins with %%agent NAME makes one.")
    for variable, agent in agents.items():
        model = agent.model.model_id if agent.has_model else "no model yet"
        n_steps = sum(isinstance(step, ActionStep) for step in agent.memory.steps)
        tools = ", ".join(agent.tools) or "none"
        last = f", last {agent.result.status}" if agent.result else ""
        usage = to_usage(agent.usage)
        spent = f"; {tokens(usage)}, {cost(usage['cost_usd'])}" if agent.runs else ""
        memory = f"{count(len(agent.runs), 'run')}, {count(n_steps, 'step')}"
        mode = "code; " if agent.mode == "code" else ""
        print(f"{variable}: {mode}{model}; tools: {tools}; {memory}{last}{spent}")


def _tools(magics: Any, command: Command) -> None:
    if command.agent is not None and (tool := _tool_named(magics, command.agent)):
        _publish(magics, card_bundle(tool))
        return
    _, agent = _agent(magics, command.agent, beside=" or function" if command.agent else "")
    to_bundle = code_tool_bundle if agent.mode == "code" else tool_bundle
    for tool in agent.tools.values():
        _publish(magics, to_bundle(tool))
    if not agent.tools:
        print(f"{agent.name} has no tools. Hand functions over by --tools, or as @name in a task.")


def _preview(magics: Any, command: Command) -> None:
    _, agent = _agent(magics, command.agent)
    choose_once(magics, KernelState(magics.shell), agent)
    bundle, said = look_at(
        agent, step=command.step, kind=command.kind or "act", summary_mode=command.summary_mode
    )
    _publish(magics, bundle)
    for line in said:
        print(line)


def _steps(magics: Any, command: Command) -> None:
    _, agent = _agent(magics, command.agent)
    bundles, n_dropped = remembered(agent)
    for bundle in bundles:
        _publish(magics, bundle)
    if not bundles:
        print(f"{agent.name} remembers nothing.")
    if n_dropped:
        print(f"{count(n_dropped, 'step')} dropped; memory.undo() of the agent takes the last change back.")


def _undo(magics: Any, command: Command) -> None:
    _, agent = _agent(magics, command.agent)
    try:
        undone = agent.undo(command.step)
    except OptionError as error:
        raise OptionError(f"%agent undo: {error.message}") from None
    for line in (*undone.undone, *undone.kept):
        print(line)


def _blame(magics: Any, command: Command) -> None:
    agents = _agents(magics) if command.agent is None else dict([_agent(magics, command.agent)])
    for line in blame_lines(command.variable or "", agents, KernelState(magics.shell)):
        print(line)


def _resume(magics: Any, command: Command) -> Value:
    name, correction = _split_name(magics, command.text)
    variable, _ = _agent(magics, name)
    return resume(magics, variable, correction)


def _retry(magics: Any, command: Command) -> Value:
    variable, _ = _agent(magics, command.agent)
    return retry(magics, variable)


def _reset(magics: Any, command: Command) -> None:
    variable, agent = _agent(magics, command.agent)
    forgotten = count(len(agent.runs), "run")
    agent.reset()
    print(f"{variable} has forgotten {forgotten}; its options, its tools and your variables stay.")


def _models(magics: Any, command: Command) -> None:
    for line in model_lines(command.text, magics.model, os.environ):
        print(line)


def _help(magics: Any, command: Command) -> None:
    del magics, command
    print(help_text())


_COMMANDS: dict[str, Callable[[Any, Command], Value]] = {
    "list": _list,
    "tools": _tools,
    "preview": _preview,
    "steps": _steps,
    "undo": _undo,
    "blame": _blame,
    "resume": _resume,
    "retry": _retry,
    "reset": _reset,
    "models": _models,
    "help": _help,
}


def _publish(magics: Any, bundle: dict[str, Any]) -> None:
    magics.shell.display_pub.publish(data=bundle, metadata={})


def _agents(magics: Any) -> dict[str, MultiStepAgent]:
    state = KernelState(magics.shell)
    return {name: value for name, value in state.items() if isinstance(value, MultiStepAgent)}


def _tool_named(magics: Any, name: str) -> Tool | None:
    """The tool that a variable holds, or else an agent's tool or one of ours of that name; None if it is an agent or neither."""
    state, agents = KernelState(magics.shell), _agents(magics)
    if name in agents:
        return None
    if name in state and is_tool_source(state[name]):
        return next(iter(Toolbox([LiveTool(name=name, state=state)]).current().values()))
    for agent in agents.values():
        if name in agent.tools:
            return agent.tools[name]
    return make_default_tool(name) if name in DEFAULT_TOOLS else None


def _agent(magics: Any, name: str | None, *, beside: str = "") -> tuple[str, MultiStepAgent]:
    """The agent of that name; without one the default, or the only one there is.

    Args:
        magics: Of the notebook.
        name: Of the variable.
        beside: What else the name could have been, for the error: ` or function`.
    """
    agents = _agents(magics)
    if name is None:
        name = DEFAULT_NAME if DEFAULT_NAME in agents or len(agents) != 1 else next(iter(agents))
    if name not in agents:
        near = difflib.get_close_matches(name, agents, n=3) or list(agents)
        known = f"Agents: {', '.join(near)}." if near else "A cell that begins with %%agent NAME makes one."
        raise OptionError(f"%agent: there is no agent{beside} {name!r}. {known}")
    return name, agents[name]


def _split_name(magics: Any, text: str) -> tuple[str | None, str]:
    """The agent's name at the head of a text, if one is there, and the rest of the text.

    Raises:
        OptionError: The text is a single word, or begins with one that is nearly the name of an
            agent: it is rather a slip than a correction.
    """
    word, _, rest = text.partition(" ")
    if not word or word[0] in "\"'":
        return None, _unquoted(text)
    name = word.removeprefix("@")
    agents = _agents(magics)
    if name in agents:
        return name, _unquoted(rest.strip())
    near = difflib.get_close_matches(name, agents, n=3, cutoff=_NEAR)
    if near or (agents and not rest.strip()):
        raise OptionError(
            f"%agent resume: there is no agent {name!r}. Agents: {', '.join(near or agents)}. "
            "If it begins a correction, put the whole correction in quotes."
        )
    return None, text


def _unquoted(text: str) -> str:
    """The text without quotes around all of it."""
    try:
        words: list[Word] = split_words(text)
    except OptionError:  # an apostrophe
        return text
    return words[0].text if len(words) == 1 and text[:1] in ("'", '"') else text
