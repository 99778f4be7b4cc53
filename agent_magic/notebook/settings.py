"""What a cell's options say of an agent's settings, checks, answer type and prompts.

They are read and checked first, all of them, and put into the agent afterwards. It must not know
tools nor models.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.core.values import Value
from agent_magic.notebook.answer_types import parse_type
from agent_magic.notebook.checks import LiveCheck, read_checks
from agent_magic.notebook.kernel_state import KernelState
from agent_magic.notebook.option_values import OFF
from agent_magic.notebook.options import AgentOptions

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

    def apply(self, agent: MultiStepAgent) -> None:
        """Put it into the agent.

        Raises:
            OptionError: The prompts cannot be; nothing was changed then.
        """
        if self.prompts is not None:
            agent.prompt_templates = None if self.prompts == OFF else self.prompts
        agent.settings.update(**self.live)
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
        OptionError: A check or the answer type cannot be.
    """
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
    )
