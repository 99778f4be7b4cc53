"""The lens as Markdown and as plain text.

It must not put a text into Markdown outside a code span or a fence, nor send a terminal any
control character but line ends and tabs.
"""

from __future__ import annotations

from agent_magic.core.text import to_display
from agent_magic.record.preview_schema import MessageRecord, PreviewRecord
from agent_magic.view import preview_words as pw
from agent_magic.view import words
from agent_magic.view.markdown import fence, span
from agent_magic.view.plain import indent
from agent_magic.view.words import Detail

_INDENT = "    "


def preview_text(preview: PreviewRecord, other: PreviewRecord | None, detail: Detail) -> str:
    """A request as text; marked is what the `other` view of the same call has not."""
    lines = [
        f"{pw.title(preview)} · {pw.view(preview)} · {words.one_line(preview['model'])}",
        pw.figures(preview),
        pw.difference(preview),
        *pw.remarks(preview),
        *(f"! {text}" for text in pw.warnings(preview)),
        "",
    ]
    only_here = pw.only_here(preview, other)
    expected = 1
    for message in words.pick_ends(preview["messages"], detail.max_steps):
        number = message["number"]
        if number > expected:
            lines.append(_INDENT + words.gap_words(number - expected, "message"))
        lines.append(_title(message, is_only_here=number in only_here))
        lines += [_INDENT + pw.first_words(message)] if detail.is_brief else []
        lines += [] if detail.is_brief else _body(message, detail)
        expected = number + 1
    if preview["tools"]:
        lines += ["", pw.tools_title(preview), *_tools(preview, detail)]
    return "\n".join(lines)


def preview_markdown(preview: PreviewRecord, other: PreviewRecord | None, detail: Detail) -> str:
    """A request as Markdown; marked is what the `other` view of the same call has not."""
    parts = [
        f"**{pw.title(preview)}** · **{pw.view(preview)}** · {span(preview['model'])}",
        *(f"- {span(line)}" for line in (pw.figures(preview), pw.difference(preview), *pw.remarks(preview))),
        *(f"⚠ {span(text)}" for text in pw.warnings(preview)),
    ]
    only_here = pw.only_here(preview, other)
    expected = 1
    for message in words.pick_ends(preview["messages"], detail.max_steps):
        number = message["number"]
        if number > expected:
            parts.append(words.gap_words(number - expected, "message"))
        parts.append(_markdown_title(message, is_only_here=number in only_here))
        parts += [] if detail.is_brief else _markdown_body(message, detail)
        expected = number + 1
    if preview["tools"]:
        parts.append(f"**Tools** {span(pw.tools_title(preview))}")
        for tool in preview["tools"]:
            parts.append(f"*Tool* {span(tool['name'])} {span(pw.tool_line(tool))}".rstrip())
            if not detail.is_brief:
                parts.append(fence(words.cut(f"{tool['description']}\n\n{tool['parameters']}", detail.chars)))
    return "\n\n".join(parts) + "\n"


def _title(message: MessageRecord, *, is_only_here: bool) -> str:
    counted = pw.message_tokens(message)
    labels = pw.message_labels(message, is_only_here=is_only_here)
    return "".join(
        [
            f"{message['number']:>2}  {words.one_line(message['role'], 40)}",
            f"  [{counted}]" if counted else "",
            f"  ({', '.join(labels)})" if labels else "",
        ]
    )


def _body(message: MessageRecord, detail: Detail) -> list[str]:
    lines = (
        [f"{_INDENT}answers call {words.one_line(message['call_id'], 80)}"] if "call_id" in message else []
    )
    for part in message["parts"]:
        if "is_image" in part:
            lines.append(f"{_INDENT}(image: {words.one_line(part['text'], 300)})")
        else:
            lines += indent(words.cut(part["text"], detail.chars))
    for call in message.get("calls", []):
        lines.append(f"{_INDENT}calls {words.one_line(call['name'], 80)} ({words.one_line(call['id'], 80)})")
        lines += [f"{_INDENT}{line}".rstrip() for line in indent(words.cut(call["arguments"], detail.chars))]
    return lines


def _tools(preview: PreviewRecord, detail: Detail) -> list[str]:
    lines: list[str] = []
    for tool in preview["tools"]:
        if detail.is_brief:
            lines.append(f"{_INDENT}{words.one_line(tool['name'], 60)}  {pw.tool_line(tool)}".rstrip())
            continue
        lines.append(_INDENT + words.one_line(tool["name"], 60))
        for text in (tool["description"], tool["parameters"]):
            lines += [f"{_INDENT}{line}".rstrip() for line in indent(words.cut(text, detail.chars))]
    if preview["tools_left_out"]:
        lines.append(_INDENT + to_display(words.gap_words(preview["tools_left_out"], "tool")))
    return lines


def _markdown_title(message: MessageRecord, *, is_only_here: bool) -> str:
    counted = pw.message_tokens(message)
    labels = pw.message_labels(message, is_only_here=is_only_here)
    parts = [
        f"**{message['number']}** {span(message['role'])}",
        span(f"{counted} tokens") if counted else "",
        f"*{', '.join(labels)}*" if labels else "",
        span(pw.first_words(message)),
    ]
    return " · ".join(filter(None, parts))


def _markdown_body(message: MessageRecord, detail: Detail) -> list[str]:
    parts = [f"Answers call {span(message['call_id'])}"] if "call_id" in message else []
    for part in message["parts"]:
        if "is_image" in part:
            parts.append(f"*Image* {span(part['text'])}")
        else:
            parts.append(fence(words.cut(part["text"], detail.chars)))
    for call in message.get("calls", []):
        parts += [f"*Call* {span(call['name'])} {span(call['id'])}"]
        parts.append(fence(words.cut(call["arguments"], detail.chars)))
    return parts
