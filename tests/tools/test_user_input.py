"""`user_input`, where a person can answer and where nobody can."""

from __future__ import annotations

import builtins
import io

import pytest
from inline_snapshot import snapshot

from agent_magic.core.errors import ToolError
from agent_magic.core.messages import ToolSchema
from agent_magic.tools.user_input import UserInput


def refusal(question: str = "Which city?") -> str:
    with pytest.raises(ToolError) as caught:
        UserInput()(question)
    return caught.value.message


def test_user_input_is_told_to_a_model_and_runs_where_input_comes_from():
    assert UserInput().to_schema() == snapshot(
        ToolSchema(
            name="user_input",
            description="Ask the person a question and wait for the answer. Only for what nothing else can tell you.",
            parameters={
                "type": "object",
                "properties": {
                    "question": {"type": "string", "description": "one question, in the person's language"}
                },
                "required": ["question"],
                "additionalProperties": False,
            },
        )
    )
    assert UserInput().main_thread


def test_question_is_asked_as_the_front_end_has_it_now(monkeypatch):
    asked = []
    # As kernels do it: they put their own `input` in the place of Python's.
    monkeypatch.setattr(builtins, "input", lambda prompt: asked.append(prompt) or " Oslo \n")
    assert UserInput()("Which \x1b[31mcity?\n") == "Oslo"
    assert asked == ["Which city? "]


def test_secret_in_a_question_is_not_shown(monkeypatch):
    asked = []
    monkeypatch.setattr(builtins, "input", lambda prompt: asked.append(prompt) or "no")
    UserInput()("Is sk-proj-abcdefghijklmnopqrstuv right?")
    assert asked == ["Is [redacted] right? "]


def test_question_that_nobody_can_answer_is_told_to_the_model(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert refusal() == snapshot(
        "user_input: nobody can answer here. Decide yourself, and say in your answer what you took for granted."
    )


def test_empty_question_is_not_asked():
    assert refusal(" \n") == snapshot(
        'user_input: the question is empty. Call user_input with {"question": "…?"}.'
    )


def test_interrupt_at_the_question_is_one_of_the_run(monkeypatch):
    def interrupted(_prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(builtins, "input", interrupted)
    with pytest.raises(KeyboardInterrupt):
        UserInput()("Which city?")
