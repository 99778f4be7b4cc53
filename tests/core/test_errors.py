"""The error tree: who catches what.

It must not test texts: those are tested where they are written.
"""

from __future__ import annotations

import pytest

from agent_magic.core import errors

_FOR_THE_MODEL = (errors.ParsingError, errors.ToolCallError, errors.ToolError, errors.ToolExecutionError)
_FOR_THE_PERSON = (errors.GenerationError, errors.PromptError)
_FOR_THE_AUTHOR = (errors.ToolDefinitionError, errors.OptionError)


@pytest.mark.parametrize("kind", _FOR_THE_MODEL + _FOR_THE_PERSON + _FOR_THE_AUTHOR)
def test_error_has_its_text_as_message_and_as_str(kind: type[errors.AgentError]) -> None:
    error = kind("what to do")
    assert (error.message, str(error)) == ("what to do", "what to do")


@pytest.mark.parametrize(
    ("kinds", "root"),
    [
        (_FOR_THE_MODEL, errors.StepError),
        (_FOR_THE_PERSON, errors.RunError),
        (_FOR_THE_AUTHOR, errors.DefinitionError),
    ],
)
def test_error_kind_has_one_reader(kinds: tuple[type, ...], root: type) -> None:
    roots = (errors.StepError, errors.RunError, errors.DefinitionError)
    for kind in kinds:
        assert [r for r in roots if issubclass(kind, r)] == [root]
        assert issubclass(kind, errors.AgentError)


def test_run_not_answered_carries_the_result() -> None:
    result = object()
    error = errors.RunNotAnswered("no answer", result)
    assert error.result is result
    assert isinstance(error, errors.RunError)


def test_generation_error_carries_the_model_id() -> None:
    assert errors.GenerationError("no key", model_id="openai/gpt-4.1").model_id == "openai/gpt-4.1"
    assert errors.GenerationError("no key").model_id == ""
