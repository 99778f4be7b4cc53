"""What requests for a plan and for the last answer are made of, whatever kind of agent asks.

It must not read a memory: a request's history is the memory's business.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_magic.agents.calls.managed import ManagedAgent
from agent_magic.agents.calls.teams import managed_in
from agent_magic.agents.requests.moment import Composed, Moment, projection_of
from agent_magic.core.messages import ChatMessage
from agent_magic.prompts.templates import PromptTemplates
from agent_magic.tools.answer import answer_schema
from agent_magic.tools.builtin import FINAL_ANSWER
from agent_magic.tools.tool import Tool


def compose_plan(
    moment: Moment, prompts: PromptTemplates, tools: Mapping[str, Tool], instructions: str
) -> Composed:
    """A request for a plan: the planner's own system prompt, the history, what is asked for.

    The first plan of a run and later ones begin alike, so that they share what a provider caches.
    """
    system = prompts.render(
        "planning_system",
        {
            "tools": [
                tool.to_schema()
                for name, tool in tools.items()
                if name != FINAL_ANSWER.name and not isinstance(tool, ManagedAgent)
            ],
            "managed_agents": [
                {"name": name, "description": tool.agent.description}
                for name, tool in managed_in(tools).items()
            ],
            "custom_instructions": instructions,
        },
    )
    numbers = {"max_steps": moment.max_steps, "remaining_steps": moment.n_left}
    if moment.has_plan:
        asked = prompts.render("replan", {**numbers, "steps_done": moment.step_number - 1})
    else:
        asked = prompts.render("first_plan", numbers)
    return Composed(
        kind="plan",
        projection=projection_of("plan", moment.summary_mode),
        head=(ChatMessage(role="system", content=system),),
        tail=(ChatMessage(role="user", content=asked, is_ours=True),),
        tools=tools,
    )


def compose_final(moment: Moment, prompts: PromptTemplates, tools: Mapping[str, Tool]) -> Composed:
    """The request at the step limit: the history as for an action, and a word that it is the end."""
    asked = prompts.render(
        "final_request",
        {"max_steps": moment.max_steps, "answer_schema": answer_schema(tools[FINAL_ANSWER.name])},
    )
    return Composed(
        kind="final",
        projection=projection_of("final", moment.summary_mode),
        tail=(ChatMessage(role="user", content=asked, is_ours=True),),
        tools=tools,
    )
