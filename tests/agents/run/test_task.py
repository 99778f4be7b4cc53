from __future__ import annotations

import math

import pytest
from inline_snapshot import snapshot

from agent_magic import ScriptedModel, ToolCallingAgent
from agent_magic.core.errors import OptionError


def told(**settings: object) -> str:
    """The first request's task message, of an agent with these settings."""
    model = ScriptedModel([ScriptedModel.final("x")])
    ToolCallingAgent((), model, **settings).run("Sum up.")
    return model.requests[0].messages[-1]["content"]


def test_state_given_in_python_is_told_by_name_type_and_shape() -> None:
    state = {"prices": [1.5, 2.5], "_own": 1, "math": math, "root": math.sqrt, "helper": ScriptedModel([])}
    assert told(state=state) == snapshot("""\
Sum up.

Other variables:
- @prices: list, 2 items\
""")


def test_many_variables_are_told_in_part() -> None:
    text = told(state={f"v{n:04}": n for n in range(2_000)})
    assert text.splitlines()[-2:] == snapshot(["- @v0049: int", "- and 1,950 more"])
    assert len(text) < 2_000


def test_additional_args_are_told_with_a_preview() -> None:
    model = ScriptedModel([ScriptedModel.final("x")])
    ToolCallingAgent((), model).run("Sum up.", additional_args={"prices": [1.5, 2.5]})
    assert model.requests[0].messages[-1]["content"] == snapshot("""\
Sum up.

State variables:
- @prices: list, 2 items: [1.5, 2.5]\
""")


def test_previews_of_many_mentions_are_bounded_together() -> None:
    model = ScriptedModel([ScriptedModel.final("x")])
    values = {f"v{n:04}": "x" * 500 for n in range(300)}
    ToolCallingAgent((), model).run("Sum up.", additional_args=values)
    text = model.requests[0].messages[-1]["content"]
    assert 20_000 < len(text) < 40_000
    assert "@v0299: str, 500 characters" in text


def test_task_must_be_text() -> None:
    with pytest.raises(OptionError) as error:
        ToolCallingAgent((), ScriptedModel([])).run(5)  # type: ignore[arg-type]
    assert error.value.message == snapshot("The task is of type int. Give it as text.")
