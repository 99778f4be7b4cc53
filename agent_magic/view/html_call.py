"""A tool call, and a block of code with the calls that it made, as HTML.

It must not write a tag by itself: that is the business of `elements`, which escapes every text.
"""

from __future__ import annotations

from agent_magic.record.schema import CallRecord, ErrorRecord, Json
from agent_magic.record.thumbnails import to_words
from agent_magic.view import titles, words
from agent_magic.view.elements import (
    CODE,
    FINE,
    GREY,
    LABEL,
    LINE,
    RED,
    block,
    code,
    code_block,
    escape,
    fold,
    indent,
    label,
    panel,
    picture,
    sound,
    span,
    table,
    wrap,
)
from agent_magic.view.html_lane import DrawStep, lane_html
from agent_magic.view.titles import Title
from agent_magic.view.words import Detail

# Said on the element itself: Lab lets every `code` wrap, whatever its cell says.
NAME = f"{CODE};white-space:nowrap"
VALUE = f"{CODE};white-space:pre-wrap"


def call_html(call: CallRecord, detail: Detail, draw_step: DrawStep) -> str:
    """A call, or a block of code, and what came of it.

    Args:
        call: The call.
        detail: How much is shown.
        draw_step: Draws a step of a run that a managed agent made for it.
    """
    draw = _code if "code" in call else _call
    return panel(LINE, draw(call, detail, draw_step))


def titles_html(shown_titles: list[Title]) -> str:
    """Titles on one line."""
    shown: list[str] = []
    for title in shown_titles:
        outcome = span(f"color:{RED}", f"✗ {title.outcome}") if title.is_error else escape(title.outcome)
        about = f" {span(LABEL, title.about)}" if title.about else ""
        arrow = " → " if title.code and title.outcome and not title.is_error else " "
        shown.append(f"{code(title.code)}{about}{arrow}{outcome}" if title.code else outcome)
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


def _call(call: CallRecord, detail: Detail, draw_step: DrawStep) -> str:
    name = wrap("code", CODE + ";font-weight:600", escape(call["name"]))
    parts = [f"{name} {span(LABEL, _seconds(call))}", _arguments(call["arguments"], detail.chars)]
    parts += [wrap("div", FINE, f"({escape(note)})") for note in call.get("notes", [])]
    return "".join([*parts, *_outcome(call, detail, draw_step)])


def _code(call: CallRecord, detail: Detail, draw_step: DrawStep) -> str:
    edited, notes = titles.split_edit(call)
    whose = "Code, as it was changed" if edited else "Code"
    parts = [
        f"{span(LABEL, whose)} {span(LABEL, _seconds(call))}",
        code_block(edited or call.get("code", ""), detail.chars, is_plain=detail.is_plain),
    ]
    if edited:
        original = code_block(call.get("code", ""), detail.chars, is_plain=detail.is_plain)
        parts.append(fold(span(LABEL, "As the model wrote it"), original))
    parts += [wrap("div", FINE, f"({escape(note)})") for note in notes]
    if rows := [_inner(row, detail, draw_step) for row in titles.inner_calls(call)]:
        parts += [label("Calls"), *rows]
    return "".join([*parts, *_outcome(call, detail, draw_step)])


def _inner(row: CallRecord | int, detail: Detail, draw_step: DrawStep) -> str:
    """A call that code made, as a line that opens; or how many are left out."""
    if isinstance(row, int):
        return label(words.gap_words(row, "call"))
    title = titles_html([titles.call_title(row, is_brief=True)])
    body = "".join(
        [
            _arguments(row["arguments"], detail.chars),
            *(wrap("div", FINE, f"({escape(note)})") for note in row.get("notes", [])),
            *_outcome(row, detail, draw_step),
        ]
    )
    figures = wrap("span", f"{LABEL};float:right;margin-right:-4.5em;text-indent:0", escape(_seconds(row)))
    return fold(f"{figures} {title}", indent(body), style="padding:1px 0")


def _outcome(call: CallRecord, detail: Detail, draw_step: DrawStep) -> list[str]:
    parts: list[str] = []
    if "run" in call:
        parts.append(lane_html(call["run"], detail, draw_step))
    if "printed" in call:
        parts.append(label("Printed") + block(call["printed"], detail.chars))
    if observation := titles.told(call):
        parts.append(label("Observation") + block(observation, detail.chars))
    if "error" in call:
        parts.append(error_html(call["error"], detail.chars))
    preview = call.get("output", {}).get("preview")
    if preview and "code" not in call:  # what code ended in is observed
        parts.append(label("Output") + block(preview, detail.chars))
    parts += [
        picture(image, to_words(image)) if len(image) <= detail.image_chars else label(to_words(image))
        for image in call.get("images", [])
    ]
    parts += [
        sound(one.get("url", "") if len(one.get("url", "")) <= detail.image_chars else "", one["words"])
        for one in call.get("sounds", [])
    ]
    if "bound_to" in call:
        bound = f"{span(LABEL, 'Kept as')} {code(call['bound_to'])} {span(LABEL, titles.value_words(call))}"
        parts.append(wrap("div", "", bound))
    return parts


def _seconds(call: CallRecord) -> str:
    return words.seconds(call["duration_s"]) if "duration_s" in call else ""


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
