"""`user_input`: a question of the model's that the person answers.

It must not draw: the question stands where the front end asks for input.
"""

from __future__ import annotations

import builtins

from agent_magic.core.errors import ToolError
from agent_magic.core.redact import redact
from agent_magic.core.text import to_display, truncate
from agent_magic.tools.tool import Tool

_LONGEST_QUESTION = 2_000


class UserInput(Tool):
    """Asks the person where the front end takes input; else it is an error that the model is told."""

    name = "user_input"
    description = (
        "Ask the person a question and wait for the answer. Only for what nothing else can tell you."
    )
    inputs = {"question": {"type": "string", "description": "one question, in the person's language"}}  # noqa: RUF012 - the class form of a tool
    output_type = "string"
    main_thread = True
    """A kernel gets its input there only."""

    def forward(self, question: str) -> str:
        """What the person typed."""
        shown = truncate(to_display(redact(question)).strip(), _LONGEST_QUESTION)
        if not shown:
            raise ToolError('user_input: the question is empty. Call user_input with {"question": "…?"}.')
        try:
            # Looked up now: kernels and live displays put their own in its place.
            return builtins.input(f"{shown} ").strip()
        # A kernel without a front end, no standard input, one that is closed.
        except (NotImplementedError, EOFError, OSError):
            raise ToolError(
                "user_input: nobody can answer here. Decide yourself, and say in your answer what you took for granted."
            ) from None
