"""What a `%%agent` cell does, from its first line to its value.

The one place that sees the cell, the notebook's names, the agent and the view at once. It must
not act for the agent: what a step does is the agents' business.
"""

from __future__ import annotations

import builtins
import weakref
from functools import partial
from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.text import first_line
from agent_magic.core.values import Value, describe
from agent_magic.execution.prints.sinks import CURRENT_SINK, open_sinks
from agent_magic.execution.prints.streams import PrintRouter
from agent_magic.notebook.building.building import change_agent, keeping_of, living_agent, take_agent
from agent_magic.notebook.building.handing import Handed, hand_over, pictures
from agent_magic.notebook.building.journals import Journals
from agent_magic.notebook.cell.answers import show_answer
from agent_magic.notebook.cell.ending import end_cell
from agent_magic.notebook.display.display import Begin, show_run
from agent_magic.notebook.kernel.state import KernelState
from agent_magic.notebook.looking.cards import show_defined
from agent_magic.notebook.options.mentions import Mentions, parse_mentions
from agent_magic.notebook.options.options import DEFAULT_NAME, AgentOptions


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
    value = _run_task(magics, state, agent, options, body)
    return show_answer(magics.shell, value)


def resume(magics: Any, name: str, correction: str) -> Any:
    """Go on with the last run of an agent, as `%%agent NAME --resume` does; gives the answer itself.

    Raises:
        OptionError, KeyboardInterrupt, RunNotAnswered: As from `run_cell`.
    """
    state = KernelState(magics.shell)
    options = AgentOptions(name=name, resume=True)
    agent = living_agent(state, name)
    _check_resumable(name, agent, asked_by=f"%agent resume {name}")
    return _run_task(magics, state, agent, options, correction)


def retry(magics: Any, name: str) -> Any:
    """Do the last task of an agent again, as if its run had not been; gives the answer itself.

    Raises:
        OptionError, KeyboardInterrupt, RunNotAnswered: As from `run_cell`.
    """
    state = KernelState(magics.shell)
    options = AgentOptions(name=name)
    agent = living_agent(state, name)
    if agent is None or agent.result is None:
        raise OptionError(f"%agent retry: {name} has no run to do again. Give it a task with %%agent {name}.")
    warnings = change_agent(magics, state, agent, options, given=Handed(), mentioned=Handed())
    agent.unpause()
    return _run(magics, state, agent, options, begin=agent.stream_retry, warnings=warnings)


def _run_task(
    magics: Any, state: KernelState, agent: MultiStepAgent | None, options: AgentOptions, body: str
) -> Value:
    """Run the task in a body, or resume with the correction in it."""
    name = options.name or DEFAULT_NAME
    if options.resume:
        _check_resumable(name, agent, asked_by=f"%%agent {name} --resume")
    elif not body.strip():
        raise OptionError(
            f"%%agent {name}: the task is empty. Write what {name} is to do below the first line, "
            "add --define to make the agent without a task, or --resume to go on with its last run."
        )
    mentions = parse_mentions(body, state)
    mentioned = hand_over(state, mentions.names, source="%%agent, in the task")
    given = hand_over(state, options.tools or (), source="%%agent --tools")
    _check_name(name, [*mentions.names, *given.tools, *given.variables])
    agent = take_agent(magics, state, agent, options)
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
    text = mentions.text.rstrip("\r\n")
    if options.resume:
        agent.unpause()
        correction = text if text.strip() else None
        begin = partial(agent.stream_resume, correction, images=images, variables=variables)
    else:
        if agent.settings.is_paused:
            warnings.append(
                f"{name} is paused: it waits until {name}.unpause() is called from another thread."
            )
        begin = partial(agent.stream, text, reset=False, images=images, variables=variables)
    return _run(magics, state, agent, options, begin=begin, warnings=warnings)


def _run(
    magics: Any,
    state: KernelState,
    agent: MultiStepAgent,
    options: AgentOptions,
    *,
    begin: Begin,
    warnings: list[str],
) -> Value:
    """Show a run to its end, bind what the cell promised, and give its answer."""
    value = None
    keeping = keeping_of(agent, state)
    journals = Journals(magics.shell, agent, keeping.journal) if magics.journal else None
    try:
        with PrintRouter(CURRENT_SINK, open_sinks):
            result = show_run(
                magics,
                agent,
                begin,
                reason=keeping.reason,
                warnings=[*_tell_guard(magics, agent), *warnings],
                quiet=options.quiet or magics.quiet,
                journals=journals,
            )
        value = result.value if result is not None and result.status == "answered" else None
    finally:
        if journals is not None:
            keeping.journal = journals.journal
        # Whatever happened, the name that the cell promised is there for the next one.
        if options.as_name is not None:
            state.bind(options.as_name, value)
    return end_cell(magics, options.name or DEFAULT_NAME, result, raises=options.raises)


def _check_resumable(name: str, agent: MultiStepAgent | None, *, asked_by: str) -> None:
    task = f"Give it a task: write %%agent {name} with the task on the lines below."
    if agent is None or agent.result is None:
        raise OptionError(f"{asked_by}: {name} has no run to go on with. {task}")
    if agent.result.status == "answered":
        raise OptionError(
            f"{asked_by}: the last run of {name} was answered, so there is nothing to go on with. "
            f"{task} It remembers the run; %agent retry {name} does it again."
        )


def _define(
    magics: Any, state: KernelState, agent: MultiStepAgent | None, options: AgentOptions, body: str
) -> None:
    """Make or change the agent and run nothing; its model waits for the first run, unless it is named."""
    name = options.name or DEFAULT_NAME
    given = hand_over(state, options.tools or (), source="%%agent --tools")
    _check_name(name, [*given.tools, *given.variables])
    agent = take_agent(magics, state, agent, options)
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


_told_of_guard: weakref.WeakSet[Any] = weakref.WeakSet()
"""Shells whose person was told what the guard is."""


def _tell_guard(magics: Any, agent: MultiStepAgent) -> list[str]:
    """What the guard is not, said once in a kernel."""
    if agent.mode != "code" or magics.shell in _told_of_guard:
        return []
    _told_of_guard.add(magics.shell)
    return [
        "Code runs in this kernel with your rights. A guard keeps it from accidents; it is no security boundary."
    ]


def _tell_as(state: KernelState, name: str, agent: MultiStepAgent) -> list[str]:
    """What the answer's variable stands for now, unless that is nothing or an earlier answer of this agent."""
    if name not in state:
        hides = f"--as {name} hides Python's own {name} in this notebook; del {name} brings it back."
        return [hides] if hasattr(builtins, name) else []
    if state[name] is None or any(state[name] is run.value for run in agent.runs):
        return []
    return [f"--as {name} takes the place of your {first_line(str(describe(state[name], 80)))}."]


def _tell_mentions(mentions: Mentions) -> list[str]:
    near = [str(miss) for miss in mentions.near_misses]
    return [*near, *mentions.hints]
