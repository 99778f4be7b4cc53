"""The few HTML elements that runs and cards are made of, with their looks.

It must not let a text through unescaped: every text goes through `escape`, and no attribute is
made from data but the URL of an image, or of a sound, that is plainly one in base64. What is named `body` or `title`
is HTML already.

Colours come from the page's `--jp-*` variables; what stands behind them for other pages is either
half transparent or of a middle tone, so that it is readable on white and on black.
"""

from __future__ import annotations

import html

from agent_magic.core.text import to_display
from agent_magic.record.sounds import is_playable
from agent_magic.record.thumbnails import is_shown
from agent_magic.view import words
from agent_magic.view.highlighting import Kind, Pieces, to_pieces

GREEN = "var(--jp-success-color1,#388e3c)"
RED = "var(--jp-error-color1,#d84343)"
AMBER = "var(--jp-warn-color1,#c77700)"
BLUE = "var(--jp-brand-color1,#2b7fd4)"
GREY = "var(--jp-ui-font-color2,#808080)"
LINE = "var(--jp-border-color2,rgba(128,128,128,.3))"
MONO = "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:12px"
# Lab gives `code` a background and `pre` none; here it is the other way round.
CODE = f"{MONO};background:none;padding:0;color:inherit"
BLOCK = (
    f"{MONO};line-height:1.45;color:inherit;white-space:pre-wrap;overflow-wrap:anywhere;margin:2px 0 8px;"
    "padding:6px 10px;border-radius:4px;background:var(--jp-cell-editor-background,rgba(128,128,128,.1));"
    "max-height:24em;overflow:auto"
)
CODE_COLOURS: dict[Kind, str] = {
    "keyword": "var(--jp-mirror-editor-keyword-color,#9b59d0)",
    "string": "var(--jp-mirror-editor-string-color,#c0504d)",
    "number": "var(--jp-mirror-editor-number-color,#2e8b57)",
    "comment": "var(--jp-mirror-editor-comment-color,#808080)",
    "definition": "var(--jp-mirror-editor-def-color,#2b7fd4)",
    "builtin": "var(--jp-mirror-editor-builtin-color,#2e8b7f)",
}
LABEL = f"color:{GREY};font-size:11px"
FINE = f"color:{GREY};font-size:12px"
_CELL = "text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0"
_ROOT = (
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.5;"
    "color:var(--jp-ui-font-color1,inherit);max-width:920px;overflow-wrap:anywhere;text-align:left"
)


def page(parts: list[str]) -> str:
    """Parts in the `<div>` that sets font and colour; in it `$` is no mathematics."""
    return (
        start("div", _ROOT, css_class="agent-magic mathjax_ignore")
        + "\n".join(filter(None, parts))
        + "</div>"
    )


def escape(text: str) -> str:
    """Text as HTML that shows it."""
    return html.escape(to_display(text))


def label(text: str) -> str:
    """A small grey heading."""
    return wrap("div", f"{LABEL};margin-top:4px", escape(text))


def block(text: str, max_chars: int | None = None) -> str:
    """Text in a box, in the code font, line ends kept."""
    return wrap("pre", BLOCK, escape(words.cut(text, max_chars)))


def code_block(text: str, max_chars: int | None = None, *, is_plain: bool = False) -> str:
    """Python code in a box, in colours unless it `is_plain`."""
    shown = words.cut(text, max_chars)
    pieces: Pieces = ((None, shown),) if is_plain else to_pieces(shown)
    body = "".join(
        html.escape(piece)
        if kind is None
        else wrap("span", f"color:{CODE_COLOURS[kind]}", html.escape(piece))
        for kind, piece in pieces
    )
    return wrap("pre", BLOCK, wrap("code", f"{CODE};white-space:pre-wrap", body))


def code(text: str) -> str:
    """Code within a line."""
    return wrap("code", CODE, escape(text))


def table(rows: list[list[str]]) -> str:
    """Rows of cells that are HTML already, names first; without lines and the page's stripes."""
    # A name keeps to one line, so that a narrow page does not break it at every sign.
    name, other = (start("td", f"{_CELL};white-space:{space}") for space in ("nowrap", "pre-wrap"))
    lines = "".join(
        '<tr style="background:none">'
        + "".join(f"{other if column else name}{body}</td>" for column, body in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return wrap("table", "margin:2px 0 6px;border:0;border-collapse:collapse;table-layout:auto", lines)


def heading(name: str, chip: str, rest: str) -> str:
    """A name in bold, a chip that is HTML already, the rest in grey."""
    return wrap("div", "", titled(name, chip, rest))


def titled(name: str, chip: str, rest: str) -> str:
    """The same as a part of a line."""
    parts = [span("font-weight:600;font-size:14px", name), chip, span(f"color:{GREY}", rest)]
    return " ".join(filter(None, parts))


def picture(url: str, instead: str) -> str:
    """An image that a record holds; words if it is none."""
    if not is_shown(url):
        return label(instead)
    style = "display:block;max-width:100%;height:auto;margin:4px 0 8px"
    return f'<img src="{url}" alt="{escape(instead)}" style="{style}">'


def sound(url: str, told: str) -> str:
    """A sound that a record holds, with what plays it; words if it is none."""
    if not is_playable(url):
        return label(told)
    style = "display:block;max-width:100%;height:36px;margin:4px 0 8px"
    return f'{label(told)}<audio controls preload="metadata" src="{url}" style="{style}"></audio>'


def prose(text: str) -> str:
    """Text in the page's font, line ends kept."""
    return wrap("div", "white-space:pre-wrap;margin:2px 0 6px", escape(text))


def warning(text: str) -> str:
    """A line in the colour of warnings."""
    return wrap("div", f"color:{AMBER}", f"⚠ {escape(text)}")


def fold(title: str, body: str, *, is_open: bool = False, style: str = "") -> str:
    """A line that opens what it stands for."""
    opened = start("details", style, is_open=is_open)
    return f'{opened}<summary style="cursor:pointer;padding:0 4.5em 0 1.5em;text-indent:-1.5em">{title}</summary>{body}</details>'


def panel(colour: str, body: str) -> str:
    """A part with a coloured line at its left."""
    return wrap("div", f"border-left:3px solid {colour};padding:2px 0 2px 10px;margin:6px 0", body)


def indent(body: str) -> str:
    """What stands under a line that was opened."""
    return wrap("div", "padding:6px 0 2px 1.5em", body)


def span(style: str, text: str) -> str:
    """Text within a line, with a style; nothing for no text."""
    return wrap("span", style, escape(text)) if text else ""


def wrap(tag: str, style: str, body: str) -> str:
    """An element around HTML."""
    return f"{start(tag, style)}{body}</{tag}>"


def start(tag: str, style: str, *, is_open: bool = False, css_class: str = "") -> str:
    """A start tag."""
    classes = f' class="{css_class}"' if css_class else ""
    styles = f' style="{style}"' if style else ""
    return f"<{tag}{classes}{styles}{' open' if is_open else ''}>"
