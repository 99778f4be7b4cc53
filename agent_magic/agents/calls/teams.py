"""Which agents an agent manages: found among its tools, their names and circles checked.

It must not run one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, cast

from agent_magic.agents.calls.managed import Manageable, ManagedAgent
from agent_magic.core.errors import OptionError
from agent_magic.core.settings import AgentSettings
from agent_magic.core.values import Value, safe_repr
from agent_magic.tools.offering import OffersTool
from agent_magic.tools.tool import Tool


class Managing(Manageable, Protocol):
    """An agent that may have others among its tools."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools as they are now, by name."""
        ...


def managed_in(tools: Mapping[str, Tool]) -> dict[str, ManagedAgent]:
    """Those of the tools that are agents."""
    return {name: tool for name, tool in tools.items() if isinstance(tool, ManagedAgent)}


def check_managed(agents: Value) -> tuple[OffersTool, ...]:
    """What was given as `managed_agents`, if they are agents.

    Raises:
        OptionError: They are not.
    """
    if isinstance(agents, OffersTool) or not isinstance(agents, Iterable):
        raise OptionError(
            f"managed_agents is a list of agents, and not {safe_repr(agents, 80)}. Write managed_agents=[analyst]."
        )
    given = tuple(cast("Iterable[Value]", agents))
    for agent in given:
        if not isinstance(agent, OffersTool):
            raise OptionError(
                f"managed_agents: {safe_repr(agent, 80)} is no agent. Give functions in tools=[…], agents here."
            )
    return given


def refuse_team(agent: Managing, tools: Mapping[str, Tool] | None = None) -> None:
    """See that an agent can manage those among its tools.

    Args:
        agent: The manager.
        tools: That it is going to have, if not those that it has.

    Raises:
        OptionError: One of them has its name, or manages it in turn.
    """
    for tool in managed_in(agent.tools if tools is None else tools).values():
        if path := _way_to(agent, tool, [agent.name], []):
            raise OptionError(
                f"{' → '.join(path)}: an agent would manage itself, and its runs would never end. "
                f"Take one of them out of the tools of another."
            )
        if tool.agent.name == agent.name:
            raise OptionError(
                f"A manager and an agent of its are both called {agent.name!r}. "
                "Give one of them another name: name='analyst', say."
            )


def _way_to(
    goal: Manageable, tool: ManagedAgent, so_far: Sequence[str], seen: list[AgentSettings]
) -> list[str]:
    """The names on the way from an agent to `goal`; empty if there is none."""
    here = [*so_far, tool.name]
    if tool.agent.settings is goal.settings:
        return here
    if any(
        known is tool.agent.settings for known in seen
    ):  # a circle without the manager: not its own to refuse
        return []
    seen.append(tool.agent.settings)
    for below in managed_in(cast("Managing", tool.agent).tools).values():
        if way := _way_to(goal, below, here, seen):
            return way
    return []
