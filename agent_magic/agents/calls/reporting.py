"""What a manager is told of a managed agent's run: its report, or why there is none.

It must not know how the run was made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import assert_never

from agent_magic.agents.run.observation import MAX_ERROR
from agent_magic.core.messages import ToolCall
from agent_magic.core.redact import redact
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep
from agent_magic.core.text import strip_control, truncate
from agent_magic.core.values import Value, safe_repr, to_text

_MAX_GUESS = 1_000
_MAX_ARGUMENTS = 500


def report_variables(name: str, result: RunResult, answer: str, summary: str) -> dict[str, Value]:
    """What the prompt `managed_report` is filled in with.

    Args:
        name: That the manager calls it by.
        result: Of its run, which was answered.
        answer: As the manager is told any tool's result.
        summary: What it did; empty to leave that out.
    """
    return {
        "name": name,
        "status": result.status,
        "verified": result.verified,
        "checks": [check.name for check in result.checks if check.passed],
        "steps": len(result.actions),
        "answer": answer,
        "summary": summary,
    }


def to_summary(result: RunResult, max_chars: int) -> str:
    """The summary view of what led to the answer, as one text: what was called or run, and what came of it."""
    pieces = [piece for step in result.actions if not step.is_final_answer for piece in _pieces(step)]
    return truncate(strip_control("\n".join(pieces)), max_chars)


def tell_failure(name: str, result: RunResult) -> str:
    """Why there is no answer, for the model that manages, and one thing to do."""
    text, advice = _reason(result)
    text = f"{name} gave no answer ({result.status}): {text}"
    return truncate(redact(strip_control(text)), MAX_ERROR - len(advice) - 1) + f"\n{advice}"


def _reason(result: RunResult) -> tuple[str, str]:
    error = result.error
    said = error.message if error else ""
    match result.status:
        case "max_steps":
            text = f"it hit its step limit of {result.max_steps}."
            if result.value is not None:
                guess = truncate(to_text(result.value), _MAX_GUESS)
                text += f" Its best guess by then, which is no answer: {guess}"
            elif error:
                text += f" {said}"
            return text, "Give it a smaller task, or do without it."
        case "budget":
            return said.partition(" To go on,")[0], "Go on without it."
        case "interrupted":
            return said or "it was stopped.", "Do not call it again for the same; go on without it."
        case "failed":
            kind = f"{error.kind}: " if error else ""
            return f"{kind}{said}", "Call it with another task, or do without it."
        case "answered":
            return "", ""
        case _:
            assert_never(result.status)


def _pieces(step: ActionStep) -> Iterator[str]:
    for message in step.to_messages(summary_mode=True):
        if message.content:
            yield f"Observation: {message.content}" if message.role == "tool" else message.content
        for call in message.tool_calls:
            yield _to_line(call)


def _to_line(call: ToolCall) -> str:
    arguments = call.arguments
    try:
        text = json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, Mapping) else str(arguments)
    except (TypeError, ValueError):
        text = safe_repr(arguments)
    return f"Called {call.name} with {truncate(text, _MAX_ARGUMENTS)}"
