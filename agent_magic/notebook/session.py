"""What a `%%agent` cell does, from its first line to its value.

The one place that sees the cell, the notebook's names, the agent and the view at once. It must
not act for the agent: what a step does is the agents' business.
"""

from __future__ import annotations

import builtins
from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.printed import CURRENT_SINK, open_sinks
from agent_magic.core.errors import OptionError, RunNotAnswered
from agent_magic.core.result import RunResult
from agent_magic.core.text import first_line
from agent_magic.core.values import describe
from agent_magic.notebook.answers import show_answer, takes_input
from agent_magic.notebook.building import change_agent, keeping_of, living_agent, new_agent
from agent_magic.notebook.cards import show_defined
from agent_magic.notebook.display import show_run
from agent_magic.notebook.handing import Handed, hand_over, pictures
from agent_magic.notebook.kernel_state import KernelState
from agent_magic.notebook.mentions import Mentions, parse_mentions
from agent_magic.notebook.options import DEFAULT_NAME, AgentOptions
from agent_magic.notebook.prints import PrintRouter


def run_cell(magics: Any, options: AgentOptions, body: str) -> Any:
    """Do what a `%%agent` cell says; the value of the answer is the value of the cell.

    Raises:
        OptionError: The cell asks for something that cannot be; nothing was touched.
        KeyboardInterrupt: The run was interrupted; it is recorded and shown.
        RunNotAnswered: It ended otherwise without an answer, and nobody is there to see it.
    """
    state = KernelState(magics.shell)
    name = options.name or DEFAULT_NAME
    agent = living_agent(state, name)
    if options.define:
        return _define(magics, state, agent, options, body)
    if not body.strip():
        raise OptionError(
            f"%%agent {name}: the task is empty. Write what {name} is to do below the first line, "
            "or add --define to make the agent without a task."
        )
    mentions = parse_mentions(body, state)
    mentioned = hand_over(state, mentions.names, source="%%agent, in the task")
    given = hand_over(state, options.tools or (), source="%%agent --tools")
    _check_name(name, [*mentions.names, *given.tools, *given.variables])
    if agent is None or options.new:
        agent = new_agent(magics, state, name)
    warnings = _tell_mentions(mentions) + change_agent(
        magics, state, agent, options, given=given, mentioned=mentioned
    )
    if options.as_name is not None:
        warnings += _tell_as(state, options.as_name, agent)
    state.bind(name, agent)
    variables = {**mentioned.variables, **given.variables}
    images = pictures(variables) if keeping_of(agent, state).images == "auto" else []
    if images and not agent.model.capabilities.images:
        images = []
    value = None
    try:
        with PrintRouter(CURRENT_SINK, open_sinks):
            result = show_run(
                magics.shell,
                agent,
                agent.stream(mentions.text.rstrip("\r\n"), reset=False, images=images, variables=variables),
                reason=keeping_of(agent, state).reason,
                warnings=warnings,
                quiet=options.quiet or magics.quiet,
            )
        value = result.value if result is not None and result.status == "answered" else None
    finally:
        # Whatever happened, the name that the cell promised is there for the next one.
        if options.as_name is not None:
            state.bind(options.as_name, value)
    if result is None:
        raise _one_line(KeyboardInterrupt("Stopped before the run began."))
    return _end_cell(magics, options, result)


def _end_cell(magics: Any, options: AgentOptions, result: RunResult) -> Any:
    if result.status == "answered":
        return show_answer(magics.shell, result.value)
    said = result.error.message if result.error else ""
    if result.status == "interrupted":
        raise _one_line(KeyboardInterrupt(said))  # always, so that Run All stops
    wanted = options.raises if options.raises is not None else magics.raise_unanswered
    if wanted or (wanted is None and not takes_input(magics.shell)):
        why = "its step limit was reached" if result.status == "max_steps" else "its run failed"
        because = f": {first_line(said, 300)}" if said else ""
        # The variable, not the agent's own name: that may be another, and the text says what to type.
        name = options.name or DEFAULT_NAME
        raise _one_line(
            RunNotAnswered(f"{name} gave no answer, {why}{because} ({name}.result has every step)", result)
        )
    return None


def _one_line(error: BaseException) -> BaseException:
    """The error as one line: IPython asks it for its own traceback, and our frames say nothing."""
    lines = [f"{type(error).__name__}: {error}"]
    error._render_traceback_ = lambda: lines  # type: ignore[attr-defined] # the name is IPython's protocol
    return error


def _define(
    magics: Any, state: KernelState, agent: MultiStepAgent | None, options: AgentOptions, body: str
) -> None:
    """Make or change the agent and run nothing; its model waits for the first run, unless it is named."""
    name = options.name or DEFAULT_NAME
    given = hand_over(state, options.tools or (), source="%%agent --tools")
    _check_name(name, [*given.tools, *given.variables])
    if agent is None or options.new:
        agent = new_agent(magics, state, name)
    warnings = change_agent(magics, state, agent, options, given=given, mentioned=Handed())
    if body.strip():
        agent.instructions = body.strip()
    for key in given.variables:
        agent.state.open(key)
    state.bind(name, agent)
    show_defined(magics.shell, agent, warnings)


def _check_name(name: str, taken: list[str]) -> None:
    if name in taken:
        raise OptionError(
            f"`{name}` is a tool or mention of this cell, so the agent needs another name. Write %%agent NAME."
        )


def _tell_as(state: KernelState, name: str, agent: MultiStepAgent) -> list[str]:
    """What the answer's variable stands for now, unless it is an earlier answer of this agent."""
    if name not in state:
        hides = f"--as {name} hides Python's own {name} in this notebook; del {name} brings it back."
        return [hides] if hasattr(builtins, name) else []
    if any(state[name] is run.value for run in agent.runs):
        return []
    return [f"--as {name} takes the place of your {first_line(str(describe(state[name], 80)))}."]


def _tell_mentions(mentions: Mentions) -> list[str]:
    near = [str(miss) for miss in mentions.near_misses]
    return [*near, *mentions.hints]
