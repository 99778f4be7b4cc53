"""A run with two managed agents, for the tests of this room."""

from __future__ import annotations

from record.journals import CALLS, FINAL, make_agent

from agent_magic import ToolCallingAgent


def make_boss(**options: int) -> ToolCallingAgent:
    """It asks two agents in one step; the second of them has an agent of its own."""
    looker = make_agent(CALLS(("look", {"place": "Oslo"})), FINAL("Oslo is there"), name="looker")
    counter = make_agent(CALLS(("count", {"place": "Bergen"})), FINAL(6), name="counter")
    chief = make_agent(
        CALLS(("counter", {"task": "Count Bergen."})),
        FINAL(7),
        name="chief",
        tools=[],
        managed_agents=[counter],
    )
    both = CALLS(("looker", {"task": "Look at Oslo."}), ("chief", {"task": "Find a number."}))
    return make_agent(both, FINAL("done"), name="boss", tools=[], managed_agents=[looker, chief], **options)
