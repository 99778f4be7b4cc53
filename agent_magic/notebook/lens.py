"""The lens on a page: what a model is sent, normal and summary view side by side.

It must not build a request: the agent gives the preview.
"""

from __future__ import annotations

from typing import Any

from agent_magic.agents.moment import projection_of
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.preview import Preview
from agent_magic.core.messages import RequestKind
from agent_magic.core.settings import SummaryMode
from agent_magic.record.preview import to_preview_record
from agent_magic.record.preview_schema import PreviewRecord
from agent_magic.view.preview import preview_to_bundle

Bundle = dict[str, Any]


def preview_bundle(preview: Preview) -> Bundle:
    """One view of a request."""
    return preview_to_bundle(to_view_record(preview))


def look_at(
    agent: MultiStepAgent, *, step: int | None, kind: RequestKind, summary_mode: SummaryMode | None
) -> tuple[Bundle, list[str]]:
    """A call of an agent, past or next: both views, or the one that `summary_mode` means.

    Returns:
        What to display, and what to say below it.

    Raises:
        OptionError: No such call was made.
    """
    seen = agent.preview(step, kind=kind, summary_mode=summary_mode)
    said = [f"To stay within the window: {line}" for line in seen.shortened]
    if summary_mode is not None:
        sent = seen if seen.is_past else agent.preview(kind=kind)
        return preview_to_bundle(to_view_record(seen, sent)), said
    normal = agent.preview(step, kind=kind, summary_mode="off")
    summary = agent.preview(step, kind=kind, summary_mode="all")
    return preview_to_bundle(to_view_record(normal, seen), to_view_record(summary, seen)), said


def to_view_record(preview: Preview, sent: Preview | None = None) -> PreviewRecord:
    """The record that a preview is drawn from.

    Args:
        sent: The same call in the view that will be sent, if it is known; of a past one the preview itself knows.
    """
    if preview.is_past:
        is_other_view = preview.is_exact is None
    else:
        is_other_view = sent is not None and _is_summary(preview) != _is_summary(sent)
    return to_preview_record(
        kind=preview.kind,
        step_number=preview.step_number,
        is_past=preview.is_past,
        is_exact=preview.is_exact,
        is_other_view=is_other_view,
        is_new_run=not preview.is_past and preview.run_id is None,
        summary_mode=_is_summary(preview),
        model_id=preview.model_id,
        messages=preview.messages,
        tools=preview.tools,
        tokens=[(number, preview.is_estimate) for number in preview.tokens],
        tools_tokens=(preview.tool_tokens, preview.is_estimate),
        window=preview.window,
        n_kept=preview.n_kept,
        n_before=preview.n_before,
        options=preview.options,
    )


def _is_summary(preview: Preview) -> bool:
    return projection_of(preview.kind, preview.summary_mode).summary_mode
