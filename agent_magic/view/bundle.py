"""The MIME bundles of a run: all four forms when it ended, two small ones while it goes on.

It must not make a record, nor send anything anywhere.
"""

from __future__ import annotations

from agent_magic.record.schema import RUN_MIME, AnyStepRecord, Json, RunRecord
from agent_magic.view import html, plain
from agent_magic.view.elements import page
from agent_magic.view.fitting import DETAILS, fit
from agent_magic.view.html import to_html
from agent_magic.view.html_step import step_html
from agent_magic.view.markdown import step_markdown, to_markdown
from agent_magic.view.plain import to_text
from agent_magic.view.words import Detail

MAX_HTML_BYTES = 200_000
MAX_TEXT_BYTES = 95_000
"""Of Markdown and of plain text each. With the record, all stay under 800 kB in a notebook file."""

_BRIEF_FROM = 100
"""Above so many steps html and markdown show titles only."""
_BRIEF_DETAILS = tuple(detail for detail in DETAILS if detail.is_brief)

_LIVE_DETAIL = Detail(chars=600)
_LIVE_BRIEF = Detail(is_brief=True)
_LIVE_OPEN_STEPS = 12
_LIVE_STEPS = 60
_LIVE_LINES = 8

DrawnSteps = dict[tuple[int, bool], tuple[AnyStepRecord, str]]
"""HTML of finished steps, kept by whoever draws one run again and again. Starts empty."""


def to_bundle(record: RunRecord, *, kept: RunRecord | None = None) -> dict[str, Json]:
    """The four forms of a run by MIME type; in a notebook file they take under 800 kB together.

    Args:
        kept: The record that is saved, with what only loading it needs; the other forms have no use for that.
    """
    details = _BRIEF_DETAILS if len(record["steps"]) > _BRIEF_FROM else DETAILS
    return {
        RUN_MIME: kept or record,
        "text/html": fit(lambda detail: to_html(record, detail=detail), details, MAX_HTML_BYTES),
        "text/markdown": fit(lambda detail: to_markdown(record, detail=detail), details, MAX_TEXT_BYTES),
        "text/plain": fit(lambda detail: to_text(record, detail=detail), DETAILS, MAX_TEXT_BYTES),
    }


def to_live_bundle(record: RunRecord, *, drawn: DrawnSteps | None = None) -> dict[str, Json]:
    """A run that goes on, as small HTML and text: the newest steps, and what happens now.

    Steps that `drawn` has are not drawn again, as long as they are the same objects. Of a quiet run
    header and progress are left.
    """
    drawn = {} if drawn is None else drawn
    parts = [html.header(record)]
    lines = plain.header(record)
    if not record.get("is_quiet"):
        steps = record["steps"]
        shown = steps[-_LIVE_STEPS:]
        if len(shown) < len(steps):
            parts.append(html.gap_html(len(steps) - len(shown)))
        first_open = len(shown) - _LIVE_OPEN_STEPS
        parts += [_draw(step, drawn, is_brief=i < first_open) for i, step in enumerate(shown)]
        for step in shown[-_LIVE_LINES:]:
            lines += plain.step_text(step, _LIVE_BRIEF)
    if now := record.get("now"):
        parts.append(html.now_html(now))
        lines += [plain.now_text(now), *plain.now_lanes(now)]
    return {"text/html": page(parts), "text/plain": "\n".join(lines)}


def step_to_bundle(step: AnyStepRecord) -> dict[str, Json]:
    """One step or plan by itself, as HTML, Markdown and text."""
    return {
        "text/html": page([step_html(step)]),
        "text/markdown": step_markdown(step),
        "text/plain": "\n".join(plain.step_text(step)),
    }


def _draw(step: AnyStepRecord, drawn: DrawnSteps, *, is_brief: bool) -> str:
    # The step is kept beside its drawing, so that no other object can get its id.
    key = (id(step), is_brief)
    if key not in drawn:
        drawn[key] = (step, step_html(step, _LIVE_BRIEF if is_brief else _LIVE_DETAIL))
    return drawn[key][1]
