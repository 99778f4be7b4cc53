from __future__ import annotations

import pytest

from agent_magic.core.steps import FinalAnswerStep, SystemPromptStep, TaskStep
from agent_magic.notebook.cards import step_bundle

SECRET = "correct-horse-battery"
"""Known by its variable alone: it has no shape of a key."""


class Odd:
    """An answer whose repr fails."""

    def __repr__(self) -> str:
        raise ValueError("odd")


@pytest.mark.parametrize(
    "make",
    [
        lambda text: TaskStep(task=text),
        lambda text: SystemPromptStep(text=text),
        lambda text: FinalAnswerStep(answer={"found": [text]}),
    ],
)
@pytest.mark.parametrize("n_before", [0, *range(1_230, 1_330, 7)])
def test_step_shows_no_secret_of_the_environment_wherever_it_is_cut(monkeypatch, make, n_before):
    monkeypatch.setenv("MY_API_KEY", SECRET)
    bundle = step_bundle(make("x" * n_before + f"{SECRET} " + "y " * 2_000))
    assert list(bundle) == ["text/plain"]
    assert len(bundle["text/plain"]) <= 2_000
    assert SECRET[:8] not in bundle["text/plain"]
    assert ("[redacted]" in bundle["text/plain"]) or n_before


def test_step_whose_answer_cannot_be_shown_is_told():
    assert step_bundle(FinalAnswerStep(answer=Odd())) == {
        "text/plain": "<FinalAnswerStep whose repr raised ValueError>"
    }
