"""RunResult: plain data with one view of its steps."""

from __future__ import annotations

from agent_magic.core.messages import TokenUsage
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, FinalAnswerStep, TaskStep, Timing


def test_result_gives_its_action_steps_alone() -> None:
    timing = Timing(start=0.0, end=1.0)
    actions = tuple(ActionStep(step_number=n, timing=timing) for n in (1, 2))
    result = RunResult(
        run_id="r",
        agent_name="agent",
        model_id="scripted",
        task="count",
        value=3,
        status="answered",
        max_steps=5,
        steps=(TaskStep(task="count"), *actions, FinalAnswerStep(answer=3)),
        usage=TokenUsage(),
        timing=timing,
    )
    assert result.actions == actions
    assert result.error is None
