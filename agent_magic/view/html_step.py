"""A step and a plan as HTML.

It must not write a tag by itself: that is the business of `elements`, which escapes every text.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_magic.record.schema import AnyStepRecord, NoteRecord, PlanRecord, StepRecord
from agent_magic.view import titles, words
from agent_magic.view.elements import (
    AMBER,
    FINE,
    GREEN,
    GREY,
    LABEL,
    LINE,
    block,
    escape,
    fold,
    indent,
    label,
    panel,
    span,
    warning,
    wrap,
)
from agent_magic.view.html_call import call_html, error_html, titles_html
from agent_magic.view.words import FULL, Detail

_TEXT = "white-space:pre-wrap;margin:0 0 8px"


def step_html(step: AnyStepRecord, detail: Detail = FULL) -> str:
    """One step or plan: a line that opens. Those with an error are open."""
    title = titles_html(titles.titles(step, is_brief=detail.is_brief)) + labels_html(words.step_labels(step))
    is_plan = "plan" in step
    number = "" if is_plan else span(f"color:{GREY};padding-right:6px", str(step["step_number"]))
    if detail.is_brief:
        rest = "" if is_plan else _brief(step)
        return wrap("div", f"border-top:1px solid {LINE};padding:3px 0", number + title + rest)
    figures = wrap(
        "span", f"{LABEL};float:right;margin-right:-4.5em;text-indent:0", words.seconds(step["duration_s"])
    )
    body = _plan_body(step, detail) if "plan" in step else _step_body(step, detail)
    calls = [] if "plan" in step else step.get("calls", [])
    is_open = "error" in step or any("error" in call for call in calls)
    return fold(
        f"{figures} {number}{title}",
        body,
        is_open=is_open,
        style=f"border-top:1px solid {LINE};padding:3px 0",
    )


def labels_html(labels: Sequence[str]) -> str:
    """Small labels after a title."""
    return f" {span(LABEL, ' · '.join(labels))}" if labels else ""


def notes_html(notes: Sequence[NoteRecord]) -> str:
    """What happened around a step, a line each."""
    return "".join(
        warning(note["text"]) if "is_warning" in note else wrap("div", FINE, escape(note["text"]))
        for note in notes
    )


def _step_body(step: StepRecord, detail: Detail) -> str:
    parts = [notes_html(step.get("notes", []))]
    if "reasoning" in step:
        parts.append(fold(span(LABEL, "Reasoning"), block(step["reasoning"], detail.chars)))
    if "thought" in step:
        text = escape(words.cut(step["thought"], detail.chars))
        parts.append(label("Thought") + wrap("div", _TEXT, text))
    parts += [call_html(call, detail, step_html) for call in step.get("calls", [])]
    if left_out := step.get("calls_left_out"):
        parts.append(label(words.gap_words(left_out, "call")))
    if "changes" in step:
        parts.append(_changes(step))
    if "error" in step:
        parts.append(error_html(step["error"], detail.chars))
    if usage := step.get("usage"):
        parts.append(label(words.tokens(usage)))
    return indent("".join(parts))


def _plan_body(plan: PlanRecord, detail: Detail) -> str:
    parts = [notes_html(plan.get("notes", []))]
    if "reasoning" in plan:
        parts.append(fold(span(LABEL, "Reasoning"), block(plan["reasoning"], detail.chars)))
    if plan["plan"]:
        parts.append(wrap("div", _TEXT, escape(words.cut(plan["plan"], detail.chars))))
    for name, key, colour in (("Added", "added", GREEN), ("Dropped", "dropped", AMBER)):
        if lines := plan["diff"][key] if "diff" in plan else []:
            shown = "".join(wrap("div", "", escape(words.one_line(line, 300))) for line in lines)
            parts.append(label(name) + panel(colour, shown))
    if "original" in plan:
        original = block(plan["original"], detail.chars)
        parts.append(fold(span(LABEL, "As the model wrote it"), original))
    if "error" in plan:
        parts.append(error_html(plan["error"], detail.chars))
    if usage := plan.get("usage"):
        parts.append(label(words.tokens(usage)))
    return indent("".join(parts))


def _changes(step: StepRecord) -> str:
    lines = list(step.get("changes", []))
    if left_out := step.get("changes_left_out"):
        lines.append(words.gap_words(left_out, "change"))
    return label("Namespace") + block("\n".join(words.one_line(line, 300) for line in lines))


def _brief(step: StepRecord) -> str:
    calls = step.get("calls", [])
    text = next(filter(None, map(titles.told, calls)), step.get("thought", ""))
    if len(text) <= 80 and "\n" not in text:
        return ""
    return wrap("div", f"{LABEL};padding-left:1.5em", escape(words.one_line(text, 200)))
