"""What a manager is told of a managed agent's run: bounded, and without secrets."""

from __future__ import annotations

from typing import Any

from agent_magic.agents.calls.reporting import tell_failure, to_summary
from agent_magic.agents.toolcalling import ToolCallingAgent
from agent_magic.core.result import RunResult
from agent_magic.models.scripted import ScriptedModel


def run_of(*replies: Any, **options: Any) -> RunResult:
    def load(n: int) -> str:
        """Load.

        Args:
            n: how much
        """
        return "x" * n

    return ToolCallingAgent([load], ScriptedModel(list(replies)), **options).run("Load it.")


def test_failure_is_no_longer_than_an_error_may_be_and_keeps_its_advice() -> None:
    text = tell_failure("analyst", run_of(RuntimeError("y" * 20_000)))
    assert len(text) <= 4_000
    assert text.startswith("analyst gave no answer (failed): GenerationError: ")
    assert text.endswith("\nCall it with another task, or do without it.")


def test_failure_tells_no_secret() -> None:
    secret = "sk-proj-" + "a1B2" * 12
    assert secret not in tell_failure("analyst", run_of("No.", f"It is {secret}.", max_steps=1))


def test_summary_has_what_was_done_and_not_what_was_thought() -> None:
    call = ScriptedModel.calls(("load", {"n": 3})) | {"content": "A thought.", "reasoning": "A deeper one."}
    result = run_of(call, "Words.", ScriptedModel.final(1))
    assert to_summary(result, 1_000).splitlines()[:2] == ['Called load with {"n": 3}', "Observation: xxx"]
    assert "thought" not in to_summary(result, 1_000)
    assert "Called final_answer" not in to_summary(result, 1_000)


def test_summary_is_cut_to_its_budget() -> None:
    assert (
        len(to_summary(run_of(ScriptedModel.calls(("load", {"n": 5_000})), ScriptedModel.final(1)), 500))
        <= 500
    )
