"""The lens: what a model was or would be sent, as HTML, Markdown and text.

It must not write a tag by itself: that is the business of `elements`, which escapes every text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from agent_magic.record.preview_schema import MessageRecord, PreviewRecord, SentToolRecord
from agent_magic.record.schema import Json
from agent_magic.view import elements as el
from agent_magic.view import html, words
from agent_magic.view import preview_words as pw
from agent_magic.view.chips import chip
from agent_magic.view.fitting import DETAILS, fit
from agent_magic.view.html_step import labels_html
from agent_magic.view.preview_text import preview_markdown, preview_text
from agent_magic.view.words import Detail

MAX_HTML_BYTES = 400_000
MAX_TEXT_BYTES = 190_000
"""Of Markdown and of plain text each. All stay under 800 kB in a notebook file."""

_FULL = Detail()
_Draw: TypeAlias = Callable[[PreviewRecord, PreviewRecord | None, Detail], str]
_ROW = f"border-top:1px solid {el.LINE};padding:3px 0 3px 6px;border-left:3px solid"


def preview_to_bundle(preview: PreviewRecord, summary: PreviewRecord | None = None) -> dict[str, Json]:
    """A request by MIME type; with `summary`, the summary view of the same call beside it."""
    return {
        "text/html": fit(lambda detail: preview_html(preview, summary, detail), DETAILS, MAX_HTML_BYTES),
        "text/markdown": fit(
            lambda detail: _both(preview_markdown, preview, summary, detail), DETAILS, MAX_TEXT_BYTES
        ),
        "text/plain": fit(
            lambda detail: _both(preview_text, preview, summary, detail), DETAILS, MAX_TEXT_BYTES
        ),
    }


def preview_html(preview: PreviewRecord, summary: PreviewRecord | None = None, detail: Detail = _FULL) -> str:
    """A request, or its two views side by side: on a narrow page one below the other."""
    if summary is None:
        return el.page(_parts(preview, None, detail))
    columns = "".join(
        el.wrap("div", "flex:1 1 380px;min-width:0", "".join(_parts(view, other, detail)))
        for view, other in ((preview, summary), (summary, preview))
    )
    return el.page([el.wrap("div", "display:flex;flex-wrap:wrap;gap:12px 24px", columns)])


def _both(draw: _Draw, preview: PreviewRecord, summary: PreviewRecord | None, detail: Detail) -> str:
    if summary is None:
        return draw(preview, None, detail)
    return f"{draw(preview, summary, detail)}\n\n{draw(summary, preview, detail)}"


def _parts(preview: PreviewRecord, other: PreviewRecord | None, detail: Detail) -> list[str]:
    parts = [_header(preview)]
    only_here = pw.only_here(preview, other)
    expected = 1
    for message in words.pick_ends(preview["messages"], detail.max_steps):
        number = message["number"]
        if number > expected:
            parts.append(html.gap_html(number - expected, "message"))
        parts.append(_message(message, detail, is_only_here=number in only_here))
        expected = number + 1
    if preview["tools"]:
        parts.append(_tools(preview, detail))
    return parts


def _header(preview: PreviewRecord) -> str:
    view = chip(el.AMBER if preview["summary_mode"] else el.BLUE, pw.view(preview))
    lines = [pw.figures(preview), pw.difference(preview), *pw.remarks(preview)]
    return el.wrap(
        "div",
        "padding:2px 0 6px",
        "".join(
            [
                el.heading(pw.title(preview), view, preview["model"]),
                *(el.wrap("div", el.FINE, el.escape(line)) for line in lines),
                *(el.warning(text) for text in pw.warnings(preview)),
            ]
        ),
    )


def _message(message: MessageRecord, detail: Detail, *, is_only_here: bool) -> str:
    style = f"{_ROW} {el.BLUE if 'is_new' in message else 'transparent'}"
    title = _title(message, is_only_here=is_only_here)
    if detail.is_brief:
        return el.wrap("div", style, title)
    return el.fold(_figures(pw.message_tokens(message)) + title, _body(message, detail), style=style)


def _title(message: MessageRecord, *, is_only_here: bool) -> str:
    number = el.span(f"color:{el.GREY};padding-right:6px", str(message["number"]))
    role = el.span("font-weight:600", words.one_line(message["role"], 40))
    labels = labels_html(pw.message_labels(message, is_only_here=is_only_here))
    return f"{number}{role} {el.escape(pw.first_words(message))}{labels}"


def _body(message: MessageRecord, detail: Detail) -> str:
    parts = [el.label(f"answers call {message['call_id']}")] if "call_id" in message else []
    for part in message["parts"]:
        if "is_image" in part:
            parts.append(el.label("Image") + el.code(words.one_line(part["text"], 300)))
        else:
            parts.append(el.block(part["text"], detail.chars))
    for call in message.get("calls", []):
        name = el.wrap("code", f"{el.CODE};font-weight:600", el.escape(call["name"]))
        parts.append(f"{name} {el.span(el.LABEL, call['id'])}{el.block(call['arguments'], detail.chars)}")
    return el.indent("".join(parts))


def _tools(preview: PreviewRecord, detail: Detail) -> str:
    style = f"{_ROW} transparent"
    title = el.span("font-weight:600", pw.tools_title(preview))
    if detail.is_brief:
        return el.wrap("div", style, title)
    tools = [_tool(tool, detail) for tool in preview["tools"]]
    if preview["tools_left_out"]:
        tools.append(el.label(words.gap_words(preview["tools_left_out"], "tool")))
    return el.fold(title, el.indent("".join(tools)), style=style)


def _tool(tool: SentToolRecord, detail: Detail) -> str:
    labels = labels_html(["redacted"] if "is_redacted" in tool else [])
    title = f"{el.code(words.one_line(tool['name'], 60))} {el.escape(pw.tool_line(tool))}{labels}"
    description = el.prose(words.cut(tool["description"], detail.chars))
    return el.fold(title, el.indent(description + el.block(tool["parameters"], detail.chars)))


def _figures(text: str) -> str:
    if not text:
        return ""
    return (
        el.wrap(
            "span",
            f"{el.LABEL};float:right;margin-right:-4.5em;padding-left:6px;text-indent:0",
            el.escape(text),
        )
        + " "
    )
