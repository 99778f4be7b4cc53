from __future__ import annotations

import pytest

from agent_magic.core.steps import FinalAnswerStep, SystemPromptStep, TaskStep
from agent_magic.notebook.looking.cards import step_bundle

SECRET = "correct-horse-battery"
"""Known by its variable alone: it has no shape of a key."""


class Odd:
    """An answer whose repr fails."""

    def __repr__(self) -> str:
        raise ValueError("odd")


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (TaskStep(task=f"Use {SECRET}."), "task='Use [redacted].'"),
        (SystemPromptStep(text=f"Use {SECRET}."), "text='Use [redacted].'"),
        (FinalAnswerStep(answer={"found": [SECRET]}), "answer={'found': ['[redacted]']}"),
    ],
)
def test_step_shows_no_secret_of_the_environment(monkeypatch, step, shown):
    monkeypatch.setenv("MY_API_KEY", SECRET)
    (text,) = step_bundle(step).values()
    assert shown in text
    assert SECRET not in text


@pytest.mark.parametrize("n_before", range(1_230, 1_294, 7))
def test_step_shows_no_half_of_a_secret_where_it_is_cut(monkeypatch, n_before):
    monkeypatch.setenv("MY_API_KEY", SECRET)
    (text,) = step_bundle(TaskStep(task="x" * n_before + f" {SECRET} " + "y " * 2_000)).values()
    assert "characters cut" in text
    assert len(text) <= 2_000
    assert SECRET[:5] not in text


def test_step_whose_answer_cannot_be_shown_is_told():
    assert step_bundle(FinalAnswerStep(answer=Odd())) == {
        "text/plain": "<FinalAnswerStep whose repr raised ValueError>"
    }
