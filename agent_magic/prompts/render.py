"""Prompt templates: read from the package's YAML, rendered in a sandbox.

Data never becomes template source: what a person or a tool wrote is a variable's value only.
It must not know what a prompt is for.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources

import jinja2
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment

from agent_magic.core.errors import PromptError
from agent_magic.core.values import Value

# Prompts are plain text for a model, not HTML: escaping would change what it reads.
_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False)
# Jinja's own `tojson` writes `<` and the like as escapes, for HTML's sake.
_ENVIRONMENT.filters["tojson"] = functools.partial(json.dumps, ensure_ascii=False)


def render_prompt(file: str, key: str, variables: Mapping[str, Value]) -> str:
    """The prompt `key` of the package's template `file`, with `variables` filled in.

    Raises:
        PromptError: A variable is missing; the text names file, key and variable.
    """
    template = _templates(file).get(key)
    if template is None:
        raise PromptError(f"{file} has no prompt {key!r}; it has: {', '.join(_templates(file))}.")
    try:
        return template.render(variables)
    except jinja2.UndefinedError as error:
        raise PromptError(
            f"{file}, prompt {key!r}: {error}. Given were: {', '.join(sorted(variables))}. "
            "Give that variable or take it out of the template."
        ) from error


@functools.cache
def _templates(file: str) -> dict[str, jinja2.Template]:
    source = resources.files(__package__ or "agent_magic.prompts").joinpath(file).read_text(encoding="utf-8")
    return {key: _ENVIRONMENT.from_string(text) for key, text in yaml.safe_load(source).items()}
