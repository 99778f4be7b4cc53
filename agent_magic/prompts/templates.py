"""Prompt templates: the package's YAML, any part of it replaced by a person's own, rendered in a sandbox.

Data never becomes template source: what a person or a tool wrote is a variable's value only.
It must not know what a prompt is for.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Self, cast

import jinja2
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment

from agent_magic.core.errors import OptionError, PromptError
from agent_magic.core.text import truncate
from agent_magic.core.values import Value, safe_repr

GIVEN_IN_PYTHON = "given in Python"
"""The source of a prompt that came in a mapping."""
_LONGEST_SHOWN = 120

# Prompts are plain text for a model, not HTML: escaping would change what it reads.
_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False)
# Jinja's own `tojson` writes `<` and the like as escapes, for HTML's sake.
_ENVIRONMENT.filters["tojson"] = functools.partial(json.dumps, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt:
    template: jinja2.Template
    source: str
    """The file that it is written in, or `GIVEN_IN_PYTHON`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplates:
    """The prompts of one kind of agent, by key."""

    file: str
    """The package's own file, whose keys are those that there are."""
    _prompts: Mapping[str, _Prompt]

    @classmethod
    def load(cls, file: str) -> PromptTemplates:
        """The prompts of the package's `file`; the same object each time."""
        return _load(file)

    @property
    def sources(self) -> dict[str, str]:
        """Where each prompt is written: a file's name, or `GIVEN_IN_PYTHON`."""
        return {key: prompt.source for key, prompt in self._prompts.items()}

    def override(self, source: Mapping[str, str] | str | os.PathLike[str]) -> Self:
        """The same prompts with some replaced; these stay as they are.

        Args:
            source: Template texts by key, or the path of a YAML file that holds such a mapping.

        Raises:
            OptionError: The source cannot be read, or holds an unknown key or what is no template.
        """
        if isinstance(source, Mapping):
            name, texts = GIVEN_IN_PYTHON, cast("Mapping[Value, Value]", source)
        elif isinstance(source, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not be typed
            name = os.fspath(source)
            texts = self._read_file(name)
        else:
            raise OptionError(
                f"Prompts cannot be read from {_shown(source)}, which is of type {type(source).__name__}.\n"
                f"Give the path of a YAML file, or a mapping with any of: {', '.join(self._prompts)}."
            )
        own = {key: self._compile(key, text, name) for key, text in texts.items()}
        return replace(self, _prompts={**self._prompts, **own})

    def render(self, key: str, variables: Mapping[str, Value]) -> str:
        """The prompt `key` with `variables` filled in.

        Raises:
            PromptError: A variable is missing, or the template fails; the text names file, key and
                variable.
        """
        prompt = self._prompts.get(key)
        if prompt is None:
            raise PromptError(f"{self.file} has no prompt {key!r}; it has: {', '.join(self._prompts)}.")
        try:
            return prompt.template.render(variables)
        except jinja2.UndefinedError as error:
            raise PromptError(
                f"{_place(prompt.source, key)}: {error}. Given were: {', '.join(sorted(variables))}. "
                "Give that variable or take it out of the template."
            ) from error
        except Exception as error:  # a template's expressions may raise anything
            raise PromptError(
                f"{_place(prompt.source, key)} cannot be filled in: {type(error).__name__}: {error}. "
                "Change that part of the template."
            ) from error

    def _read_file(self, path: str) -> Mapping[Value, Value]:
        wanted = f"Give the path of a YAML file in UTF-8 with any of: {', '.join(self._prompts)}."
        try:
            text = Path(path).expanduser().read_text(encoding="utf-8")
            found = yaml.safe_load(text)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise OptionError(f"The prompts' file {path!r} cannot be read: {reason}.\n{wanted}") from error
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise OptionError(
                f"The prompts' file {path!r} is no YAML: {_yaml_reason(error)}.\n{wanted}"
            ) from error
        if not isinstance(found, dict):
            raise OptionError(
                f"The prompts' file {path!r} holds {_shown(found)} and no mapping of keys to texts.\n{wanted}"
            )
        return cast("dict[Value, Value]", found)

    def _compile(self, key: Value, text: Value, source: str) -> _Prompt:
        if key not in self._prompts:
            near = difflib.get_close_matches(str(key), self._prompts, n=1)
            advice = (
                f"Nearest: {near[0]!r}. Write that"
                if near
                else f"Write one of: {', '.join(self._prompts)}; or"
            )
            raise OptionError(
                f"{_place(source, key)}: there is no prompt of that name in {self.file}.\n"
                f"{advice}{' or' if near else ''} take it out."
            )
        if not isinstance(text, str):
            raise OptionError(
                f"{_place(source, key)} is {_shown(text)}, of type {type(text).__name__}; expected text.\n"
                + (
                    "Give a str."
                    if source == GIVEN_IN_PYTHON
                    else f'Write "{key}: |-" and the text below it, indented.'
                )
            )
        try:
            return _Prompt(template=_ENVIRONMENT.from_string(text), source=source)
        except jinja2.TemplateSyntaxError as error:
            lines = text.splitlines()[error.lineno - 1 : error.lineno]
            shown = truncate(lines[0].strip(), _LONGEST_SHOWN) if lines else ""
            raise OptionError(
                f"{_place(source, key)}, line {error.lineno} of the prompt: {shown!r} is no Jinja template: "
                f"{(error.message or '').rstrip('.')}.\n"
                "Mend that line; braces that are meant as text are written {{ '{{' }}."
            ) from error
        except RecursionError as error:
            raise OptionError(
                f"{_place(source, key)} is nested too deeply to be a template. Make it flatter."
            ) from error


@functools.cache
def _load(file: str) -> PromptTemplates:
    text = resources.files(__package__ or "agent_magic.prompts").joinpath(file).read_text(encoding="utf-8")
    own = cast("dict[str, str]", yaml.safe_load(text))
    return PromptTemplates(
        file=file,
        _prompts={
            key: _Prompt(template=_ENVIRONMENT.from_string(prompt), source=file)
            for key, prompt in own.items()
        },
    )


def _place(source: str, key: Value) -> str:
    """`my.yaml, prompt 'replan'`."""
    where = "Prompts given in Python" if source == GIVEN_IN_PYTHON else source
    return f"{where}, prompt {_shown(key)}"


def _yaml_reason(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}, {error.problem}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is no UTF-8"
    return " ".join(str(error).split()) or type(error).__name__


def _shown(value: Value) -> str:
    return safe_repr(value, _LONGEST_SHOWN)
