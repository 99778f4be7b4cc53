"""A step, a plan and a call as HTML.

It must not write a tag by itself: that is the business of `elements`, which escapes every text.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_magic.record.schema import (
    AnyStepRecord,
    CallRecord,
    ErrorRecord,
    Json,
    NoteRecord,
    PlanRecord,
    StepRecord,
)
from agent_magic.record.thumbnails import to_words
from agent_magic.view import titles, words
from agent_magic.view.elements import (
    AMBER,
    CODE,
    FINE,
    GREEN,
    GREY,
    LABEL,
    LINE,
    RED,
    block,
    code,
    escape,
    fold,
    indent,
    label,
    panel,
    picture,
    span,
    table,
    warning,
    wrap,
)
from agent_magic.view.titles import Title
from agent_magic.view.words import FULL, Detail

# Said on the element itself: Lab lets every `code` wrap, whatever its cell says.
NAME = f"{CODE};white-space:nowrap"
VALUE = f"{CODE};white-space:pre-wrap"
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


def titles_html(shown_titles: list[Title]) -> str:
    """Titles on one line."""
    shown: list[str] = []
    for title in shown_titles:
        outcome = span(f"color:{RED}", f"✗ {title.outcome}") if title.is_error else escape(title.outcome)
        arrow = " → " if title.code and title.outcome and not title.is_error else " "
        shown.append(f"{code(title.code)}{arrow}{outcome}" if title.code else outcome)
    return f" {span(f'color:{GREY}', '·')} ".join(shown)


def error_html(error: ErrorRecord, max_chars: int | None) -> str:
    """Kind and text of an error."""
    kind = span(f"color:{RED};font-weight:600", error["kind"])
    text = wrap(
        "div",
        "white-space:pre-wrap;overflow-wrap:anywhere;margin-bottom:6px",
        escape(words.cut(error["message"], max_chars)),
    )
    return kind + text


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
    parts += [_call(call, detail) for call in step.get("calls", [])]
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


def _call(call: CallRecord, detail: Detail) -> str:
    figures = words.seconds(call["duration_s"]) if "duration_s" in call else ""
    parts = [f"{wrap('code', CODE + ';font-weight:600', escape(call['name']))} {span(LABEL, figures)}"]
    parts.append(_arguments(call["arguments"], detail.chars))
    parts += [wrap("div", FINE, f"({escape(note)})") for note in call.get("notes", [])]
    if "printed" in call:
        parts.append(label("Printed") + block(call["printed"], detail.chars))
    if "error" in call:
        parts.append(error_html(call["error"], detail.chars))
    elif observation := titles.told(call):
        parts.append(label("Observation") + block(observation, detail.chars))
    if preview := call.get("output", {}).get("preview"):
        parts.append(label("Output") + block(preview, detail.chars))
    parts += [
        picture(image, to_words(image)) if len(image) <= detail.image_chars else label(to_words(image))
        for image in call.get("images", [])
    ]
    if "bound_to" in call:
        bound = f"{span(LABEL, 'Kept as')} {code(call['bound_to'])} {span(LABEL, titles.value_words(call))}"
        parts.append(wrap("div", "", bound))
    return panel(LINE, "".join(parts))


def _arguments(arguments: dict[str, Json] | str, max_chars: int | None) -> str:
    if isinstance(arguments, str):
        return label("Arguments as written") + block(arguments, max_chars)
    rows = [
        [
            wrap("code", f"{NAME};color:{GREY}", escape(words.one_line(name, 40))),
            wrap("code", VALUE, escape(words.cut(words.argument_text(value), max_chars))),
        ]
        for name, value in arguments.items()
    ]
    return table(rows) if rows else ""


def _brief(step: StepRecord) -> str:
    calls = step.get("calls", [])
    text = next(filter(None, map(titles.told, calls)), step.get("thought", ""))
    if len(text) <= 80 and "\n" not in text:
        return ""
    return wrap("div", f"{LABEL};padding-left:1.5em", escape(words.one_line(text, 200)))
