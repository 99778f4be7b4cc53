"""The agents of a notebook: found by their variable, made, and changed by a cell's options.

What the notebook keeps for an agent beside the agent itself lives here. It must not run one.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_magic.agents.calls.teams import managed_in, refuse_team
from agent_magic.agents.code import CodeAgent
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.result import AgentMode
from agent_magic.core.state import AgentState
from agent_magic.core.values import Value
from agent_magic.execution.executor import NamespaceExecutor
from agent_magic.models.model import Model
from agent_magic.models.select import Choice, choose_model
from agent_magic.notebook.building.checks import refuse_lost_checks
from agent_magic.notebook.building.handing import Handed
from agent_magic.notebook.building.settings import NamedType, read_settings
from agent_magic.notebook.cell.asking import refuse_unattended
from agent_magic.notebook.kernel.executor import KernelExecutor
from agent_magic.notebook.kernel.state import KernelState
from agent_magic.notebook.options.options import DEFAULT_NAME, AgentOptions
from agent_magic.record.journal import Journal
from agent_magic.tools.tool import Tool
from agent_magic.tools.toolbox import LiveTool, Source, Toolbox


@dataclass(slots=True, kw_only=True)
class Keeping:
    """What the notebook keeps for one agent."""

    own_tools: list[Source] = field(default_factory=list[Source])
    """Those it was made with in Python."""
    given: Mapping[str, LiveTool] = field(default_factory=dict[str, LiveTool])
    """From the last `--tools`."""
    mentioned: Mapping[str, LiveTool] = field(default_factory=dict[str, LiveTool])
    """From all cells so far."""
    images: str = "auto"
    answer_type: NamedType | None = None
    """From the last `--answer-type`."""
    reason: str = ""
    """Why it has this model, as the header says it."""
    journal: Journal | None = None
    """That its last run was written to."""


_keepings: weakref.WeakKeyDictionary[MultiStepAgent, Keeping] = weakref.WeakKeyDictionary()


def journals_kept() -> list[tuple[MultiStepAgent, Journal]]:
    """The agents whose runs were written to a journal, each with it."""
    return [(agent, keeping.journal) for agent, keeping in _keepings.items() if keeping.journal is not None]


def living_agent(state: KernelState, name: str) -> MultiStepAgent | None:
    """The agent that the variable `name` holds, None if there is no such variable.

    Raises:
        OptionError: The variable holds something else of the person's.
    """
    if name not in state:
        return None
    value = state[name]
    if not isinstance(value, MultiStepAgent):
        raise OptionError(
            f"`{name}` is your {type(value).__name__}; choose another name. Nothing was changed."
        )
    return value


def take_agent(
    magics: Any, state: KernelState, living: MultiStepAgent | None, options: AgentOptions
) -> MultiStepAgent:
    """The agent that a cell asks: the living one, or a new one where there is none or it asks for one.

    Raises:
        OptionError: The living one is of another mode than the cell names.
    """
    name = options.name or DEFAULT_NAME
    if living is None or options.new:
        agent = _new_agent(magics, state, name, options.mode or magics.mode)
        # A cell with --new is run again and again: what its agent made before is no variable of the person's.
        if isinstance(agent, CodeAgent) and isinstance(living, CodeAgent):
            before, now = living.executor, agent.executor
            if isinstance(before, NamespaceExecutor) and isinstance(now, NamespaceExecutor):
                now.take_over(before)
        return agent
    if options.mode not in (None, living.mode):
        raise OptionError(
            f"%%agent {name}: {name} is a {living.mode} agent, and its mode stays. Nothing was changed. "
            f"Write --mode {options.mode} --new to start afresh, or choose another name."
        )
    return living


def _new_agent(magics: Any, state: KernelState, name: str, mode: AgentMode) -> MultiStepAgent:
    """An agent with the settings of `%config AgentMagics`; its model is chosen later."""
    settings: dict[str, Value] = {
        "name": name,
        "instructions": magics.instructions,
        "max_steps": magics.max_steps,
        "max_tool_threads": magics.max_tool_threads,
        "planning_interval": magics.planning_interval,
        "summary_mode": magics.summary_mode,
        "max_time_s": magics.max_time_s,
        "max_cost_usd": magics.max_cost_usd,
        "max_total_tokens": magics.max_total_tokens,
        "approve": magics.approve,
        "prompt_templates": magics.prompt_templates or None,
        "state": AgentState(state, scope=magics.state, references=magics.references),
    }
    if mode == "code":
        agent = CodeAgent(
            **settings,
            executor=KernelExecutor(magics.shell),
            additional_authorized_imports=tuple(magics.imports),
            step_timeout_s=magics.step_timeout_s,
            writes=magics.writes,
            protect=None if magics.protect is None else tuple(magics.protect),
        )
    else:
        agent = ToolCallingAgent(**settings)
    _keepings[agent] = Keeping(images=magics.images)
    return agent


def keeping_of(agent: MultiStepAgent, state: KernelState) -> Keeping:
    """What is kept for the agent; one made in Python, without a State, gets the notebook's now."""
    if agent not in _keepings:
        _keepings[agent] = Keeping(
            own_tools=list(agent.toolbox.sources), reason="given to the agent in Python"
        )
        if not list(agent.state):
            agent.state = AgentState(state)
            if isinstance(agent, CodeAgent) and agent.executor is None:
                agent.executor = KernelExecutor(state.shell)
    return _keepings[agent]


def reason_of(agent: MultiStepAgent) -> str | None:
    """Why the agent has its model, if the notebook knows."""
    keeping = _keepings.get(agent)
    return keeping.reason or None if keeping else None


def change_agent(
    magics: Any,
    state: KernelState,
    agent: MultiStepAgent,
    options: AgentOptions,
    *,
    given: Handed,
    mentioned: Handed,
) -> list[str]:
    """Apply a cell's options and tools to the agent; those not given stay as they are.

    Returns:
        What the author of the tools should know, a line each.

    Raises:
        DefinitionError: A tool, the model or a setting cannot be; nothing was changed then.
    """
    keeping = keeping_of(agent, state)
    asked = read_settings(state, agent, options, named=keeping.answer_type)
    if not options.define:
        refuse_unattended(magics, agent.name, asked.live.get("approve", agent.approve))
        if asked.checks is None:
            refuse_lost_checks(agent)
    _refuse_lost_tools(keeping, {**given.variables, **mentioned.variables})
    given_tools = keeping.given if options.tools is None else given.tools
    mentioned_tools = {**keeping.mentioned, **mentioned.tools}
    live = {**given_tools, **mentioned_tools}
    # A tool that the agent was made with and that is named here too is the live one from now on.
    own = [source for source in keeping.own_tools if not live.keys() & Toolbox([source]).current().keys()]
    toolbox = Toolbox([*own, *live.values()])
    tools = toolbox.current()
    refuse_team(agent, tools)
    choice = _choose(magics, state, agent, options)
    _take_in(magics, state, tools, is_run=not options.define)
    asked.apply(agent)
    if asked.answer_type is not None or asked.takes_type_off:
        keeping.answer_type = asked.answer_type
    if choice is not None:
        agent.model, keeping.reason = choice.model, choice.reason
    if options.max_tool_threads is not None:
        agent.max_tool_threads = options.max_tool_threads
    if options.description is not None:
        agent.description = options.description
    if options.instructions is not None:
        agent.instructions = options.instructions
    if options.state is not None:
        agent.state.scope = options.state
    agent.state.references = magics.references
    if options.images is not None:
        keeping.images = options.images
    keeping.given, keeping.mentioned, agent.toolbox = given_tools, mentioned_tools, toolbox
    return _tell_tools(agent)


def choose_once(magics: Any, state: KernelState, agent: MultiStepAgent) -> None:
    """Give the agent its model now, as its first run would, unless it has one.

    Raises:
        OptionError: There is none to be had, or it cannot do what this agent does.
    """
    choice = _choose(magics, state, agent, AgentOptions())
    if choice is not None:
        agent.model, keeping_of(agent, state).reason = choice.model, choice.reason


def _take_in(magics: Any, state: KernelState, tools: Mapping[str, Tool], *, is_run: bool) -> None:
    """Let the agents among the tools be of this notebook, as their own first cell would; each once.

    Args:
        is_run: They are about to be called, so each needs its model.

    Raises:
        OptionError: One of them has none, and there is none to be had.
    """
    seen: list[MultiStepAgent] = []
    waiting = [tool.agent for tool in managed_in(tools).values()]
    while waiting:
        agent = waiting.pop()
        if not isinstance(agent, MultiStepAgent) or agent in seen:
            continue
        seen.append(agent)
        keeping_of(agent, state)
        if is_run:
            choose_once(magics, state, agent)
        waiting += agent.managed_agents.values()


def _refuse_lost_tools(keeping: Keeping, variables: Mapping[str, Value]) -> None:
    """Refuse a tool that this cell names and that can no longer be called."""
    for name, value in variables.items():
        if name in keeping.given or name in keeping.mentioned:
            raise OptionError(
                f"%%agent: `{name}` was a tool of this agent and is your {type(value).__name__} now. "
                "Define it as a function again, or give it as a variable to a new agent, with --new."
            )


def _choose(magics: Any, state: KernelState, agent: MultiStepAgent, options: AgentOptions) -> Choice | None:
    """The model that the cell asks for, or that the agent's first run needs; None to leave the one it has."""
    wanted: Model | str | None = options.model
    if options.model is None and options.define:
        return None  # nothing is run, so its model may wait
    if options.model is not None and options.model.startswith("@"):
        wanted = _live_model(state, options.model[1:])
    elif options.model is None and options.model_args and agent.has_model:
        wanted = agent.model.model_id  # the same model with other arguments
    elif options.model is None and agent.has_model:
        return None
    choice = choose_model(wanted, magics.model or None, model_args=options.model_args or {})
    agent.check_model(choice.model)
    return choice


def _live_model(state: KernelState, name: str) -> Model:
    if name not in state:
        raise OptionError(
            f"%%agent --model @{name}: there is no variable {name!r}. Bind a Model to it, or write provider/name."
        )
    value = state[name]
    if not isinstance(value, Model):
        raise OptionError(
            f"%%agent --model @{name}: `{name}` is your {type(value).__name__}, not a Model. "
            "Name a variable that holds one, or write provider/name."
        )
    return value


def _tell_tools(agent: MultiStepAgent) -> list[str]:
    tools = agent.toolbox.current()
    gone = [
        f"The tool {name} is gone or no longer callable, so the run goes without it."
        for name in agent.toolbox.missing()
    ]
    return [*gone, *(weakness for tool in tools.values() for weakness in tool.warnings)]
