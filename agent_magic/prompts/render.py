"""Rendering one of the package's own prompts by file and key.

It must not hold templates: `templates` does.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_magic.core.values import Value
from agent_magic.prompts.templates import PromptTemplates


def render_prompt(file: str, key: str, variables: Mapping[str, Value]) -> str:
    """The prompt `key` of the package's template `file`, with `variables` filled in.

    Raises:
        PromptError: A variable is missing; the text names file, key and variable.
    """
    return PromptTemplates.load(file).render(key, variables)
