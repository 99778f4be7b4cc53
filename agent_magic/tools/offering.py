"""OffersTool: what is no callable and can be handed to an agent all the same, such as another agent.

It must not know what offers a tool.
"""

from __future__ import annotations

from agent_magic.tools.tool import Tool


class OffersTool:
    """Whatever has itself made into a tool. Derived from, and not told by shape: a method of that name is common."""

    def to_tool(self, name: str | None = None) -> Tool:
        """The tool; the same object each time, as long as it has the same description.

        Args:
            name: The variable that holds it; None for its own name.
        """
        raise NotImplementedError(
            f"{type(self).__name__} derives from OffersTool: give it a method to_tool(name)."
        )
