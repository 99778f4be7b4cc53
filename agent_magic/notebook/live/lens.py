"""The lens on a page: what a model is sent, normal and summary view side by side.

It must not build a request: the agent gives the preview.
"""

from __future__ import annotations

from typing import Any

from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.requests.moment import projection_of
from agent_magic.agents.requests.preview import Preview, preview_sent
from agent_magic.core.edits import name_of
from agent_magic.core.errors import OptionError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.messages import RequestKind
from agent_magic.core.settings import SummaryMode
from agent_magic.core.steps import RunStep
from agent_magic.record.laid_on import places_of
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
    return preview_to_bundle(*_both(agent, seen, step, kind)), said


def look_at_both(
    agent: MultiStepAgent, *, step: int | None, kind: RequestKind
) -> tuple[PreviewRecord, PreviewRecord]:
    """The records of both views of a call, the normal one first.

    Raises:
        OptionError: No such call was made.
    """
    return _both(agent, agent.preview(step, kind=kind), step, kind)


def look_at_step(
    agent: MultiStepAgent, step: RunStep, kind: RequestKind, memory: AgentMemory
) -> tuple[PreviewRecord, PreviewRecord]:
    """The records of both views of the call that made a step, of whichever run.

    Args:
        memory: The one of the agent's that the step is in.

    Raises:
        OptionError: No such call was made.
    """
    number = getattr(step, "step_number", None)
    if number is None:
        raise OptionError(f"No call of a model made {name_of(step)}. Look at a step or a plan.")
    index = places_of(memory).get(id(step), len(memory.entries))
    # Numbers begin anew in each run: the call that made a step saw the steps before it, and no later ones.
    made_by = [r for r in memory.requests if r.n_steps <= index and (r.step_number, r.kind) == (number, kind)]
    if not made_by:
        return look_at_both(agent, step=number, kind=kind)

    def look(summary_mode: SummaryMode | None) -> Preview:
        return preview_sent(
            memory,
            agent.model,
            run_ids=(made_by[-1].run_id,),
            step_number=number,
            kind=kind,
            summary_mode=summary_mode,
        )

    sent = look(None)
    return to_view_record(look("off"), sent), to_view_record(look("all"), sent)


def _both(
    agent: MultiStepAgent, sent: Preview, step: int | None, kind: RequestKind
) -> tuple[PreviewRecord, PreviewRecord]:
    normal = agent.preview(step, kind=kind, summary_mode="off")
    summary = agent.preview(step, kind=kind, summary_mode="all")
    return to_view_record(normal, sent), to_view_record(summary, sent)


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
