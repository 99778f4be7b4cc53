"""Which runs and steps of which agents last changed a variable, in lines for a person.

It must not find out what a step changed: the run has seen it.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.past.tracing import Blame
from agent_magic.core.errors import OptionError
from agent_magic.core.messages import ToolCall
from agent_magic.core.state import State
from agent_magic.core.steps import CODE_CALL, to_code
from agent_magic.core.text import first_line
from agent_magic.notebook.looking.code_lines import lines_about
from agent_magic.record.clean import redact_plain, to_plain
from agent_magic.view.titles import call_line
from agent_magic.view.words import count, one_line

_MOST_SHOWN = 5
_MOST_CALLS = 5
_TASK_CHARS = 100


def blame_lines(name: str, agents: Mapping[str, MultiStepAgent], state: State) -> list[str]:
    """The newest changes of a variable, newest first, or that there are none.

    Args:
        name: The variable.
        agents: Those to ask, by the variable that holds each.
        state: The notebook's names.

    Raises:
        OptionError: No step has changed such a variable, and it does not exist.
    """
    found = [
        (_ended_at(agent, change), holder, change)
        for holder, agent in agents.items()
        for change in agent.blame(name)
    ]
    if not found:
        if name not in state:
            raise _unknown(name, state)
        whose = next(iter(agents)) if len(agents) == 1 else "any agent"
        return [f"No step of {whose} has changed {name}, as far as is remembered."]
    found.sort(key=lambda each: each[0], reverse=True)
    lines = [line for _, holder, change in found[:_MOST_SHOWN] for line in _lines(holder, change)]
    n_more = len(found) - _MOST_SHOWN
    return [*lines, f"… and {count(n_more, 'earlier change')}"] if n_more > 0 else lines


def _lines(holder: str, blame: Blame) -> list[str]:
    name = blame.change.name
    calls = [line for call in blame.calls[:_MOST_CALLS] for line in _call_lines(call, name)]
    if len(blame.calls) > _MOST_CALLS:
        calls.append(f"… and {count(len(blame.calls) - _MOST_CALLS, 'more call')}")
    task = one_line(redact_plain(first_line(blame.task, _TASK_CHARS)), _TASK_CHARS)
    return [
        f"{holder}, step {blame.step_number} of {task!r} (run {blame.run_id})",
        f"    {one_line(redact_plain(str(blame.change)), 300)}",
        *(f"    by {call}" for call in calls),
    ]


def _call_lines(call: ToolCall, name: str) -> list[str]:
    code = to_code(call) if call.name == CODE_CALL else None
    if code is None:
        return [call_line(call.name, redact_plain(to_plain(call.arguments)))]
    return lines_about(redact_plain(code), name)


def _ended_at(agent: MultiStepAgent, blame: Blame) -> float:
    """When the step that made a change ended, in seconds since 1970."""
    return next(
        (
            step.timing.end
            for run in agent.runs
            if run.run_id == blame.run_id
            for step in run.actions
            if step.step_number == blame.step_number
        ),
        0.0,
    )


def _unknown(name: str, state: State) -> OptionError:
    near = difflib.get_close_matches(name, list(state), n=3)
    fix = f"Nearest: {', '.join(near)}." if near else "Give the name of one that exists."
    return OptionError(f"%agent blame: there is no variable {name!r}, and no remembered step had one. {fix}")
