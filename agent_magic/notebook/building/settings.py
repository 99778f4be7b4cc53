"""What a cell's options say of an agent's settings, checks, answer type, prompts and code.

They are read and checked first, all of them, and put into the agent afterwards. It must not know
tools nor models.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.values import Value
from agent_magic.notebook.building.checks import LiveCheck, read_checks
from agent_magic.notebook.kernel.state import KernelState
from agent_magic.notebook.options.answer_types import parse_type
from agent_magic.notebook.options.options import DEFAULT_NAME, AgentOptions, flag_of
from agent_magic.notebook.options.values import OFF, Off

_LIVE = (
    "max_steps",
    "planning_interval",
    "summary_mode",
    "approve",
    "max_time_s",
    "max_cost_usd",
    "max_total_tokens",
)
"""Fields of the options that are settings of the agent by the same name."""


_OF_CODE = {
    "writes": "writes",
    "protect": "protect",
    "imports": "additional_authorized_imports",
    "step_timeout_s": "step_timeout_s",
}
"""Fields of the options that say how code is run, with what a code agent calls each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedType:
    """The answer type that a cell named: its text, and what that meant when it was read last."""

    text: str
    found: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSettings:
    """What one cell sets; what it does not name stays."""

    live: dict[str, Value] = field(default_factory=dict[str, Value])
    checks: tuple[LiveCheck, ...] | None = None
    answer_type: NamedType | None = None
    takes_type_off: bool = False
    prompts: str | None = None
    """A file, or `OFF`."""
    code: dict[str, Value] = field(default_factory=dict[str, Value])
    """Of a code agent: how its code is run."""

    def apply(self, agent: MultiStepAgent) -> None:
        """Put it into the agent.

        Raises:
            OptionError: The prompts cannot be; nothing was changed then.
        """
        if self.prompts is not None:
            agent.prompt_templates = None if self.prompts == OFF else self.prompts
        agent.settings.update(**self.live)
        for name, value in self.code.items():
            setattr(agent, name, value)
        if self.checks is not None:
            agent.final_answer_checks = self.checks
        if self.answer_type is not None:
            agent.answer_type = self.answer_type.found
        elif self.takes_type_off:
            agent.answer_type = None


def read_settings(
    state: KernelState, agent: MultiStepAgent, options: AgentOptions, *, named: NamedType | None
) -> AskedSettings:
    """What a cell sets.

    Args:
        state: The notebook's names.
        agent: The agent as it is.
        options: The cell's.
        named: The type that an earlier cell named. Its names are read anew, since a class may have
            been defined again, unless the agent was given another type in Python.

    Raises:
        OptionError: A check, the answer type, or something of the code cannot be.
    """
    code = _read_code(state, agent, options)
    given = {name: getattr(options, name) for name in _LIVE}
    live = {
        name: None if value == OFF and name != "summary_mode" else value
        for name, value in given.items()
        if value is not None
    }
    checks = options.final_answer_checks
    text = options.answer_type
    if text is None and named is not None and agent.answer_type is named.found:
        text = named.text
    return AskedSettings(
        live=live,
        checks=None if checks is None else () if checks == OFF else read_checks(state, checks),
        answer_type=None
        if text is None or text == OFF
        else NamedType(text=text, found=parse_type(text, state)),
        takes_type_off=text == OFF,
        prompts=options.prompt_templates,
        code=code,
    )


def _read_code(state: KernelState, agent: MultiStepAgent, options: AgentOptions) -> dict[str, Value]:
    """What the cell says of code, by the names that a code agent has for it."""
    given: dict[str, Value] = {name: v for name in _OF_CODE if (v := getattr(options, name)) is not None}
    if agent.mode != "code":
        _refuse_without_code(state, agent, options, list(given))
    protect: tuple[str, ...] | Off = given.get("protect", OFF)
    for name in protect if protect != OFF else ():
        if name not in state:
            near = difflib.get_close_matches(name, list(state), n=3)
            fix = f"Nearest: {', '.join(near)}." if near else "Run the cell that defines it first."
            raise OptionError(f"%%agent --protect: there is no variable {name!r}. {fix}")
    off: Mapping[str, Value] = {"protect": (), "imports": (), "step_timeout_s": None}
    return {_OF_CODE[name]: off[name] if value == OFF else value for name, value in given.items()}


def _refuse_without_code(
    state: KernelState, agent: MultiStepAgent, options: AgentOptions, given: list[str]
) -> None:
    """Refuse what would mean nothing for an agent that calls tools."""
    name = options.name or DEFAULT_NAME
    is_living = state.get(name) is agent
    is_one, new = ("is", " --new, which starts afresh") if is_living else ("would be", "")
    for flag in map(flag_of, given):
        raise OptionError(
            f"%%agent {flag}: it is about code, and {name} {is_one} a tools agent. "
            f"Write --mode code{new}, or leave {flag} out."
        )
    if options.approve == "code":
        raise OptionError(
            f"%%agent --approve code: {name} {is_one} a tools agent, so nothing would wait for your word. "
            "Write --approve tools."
        )
