"""A run as HTML: nested `<details>`, no script, no style sheet, no links.

It must not write a tag by itself: that is the business of `elements`, which escapes every text.
"""

from __future__ import annotations

from agent_magic.record.schema import CallRecord, ErrorRecord, Json, NowRecord, RunRecord, Status, StepRecord
from agent_magic.view import words
from agent_magic.view.elements import (
    AMBER,
    BLUE,
    CODE,
    FINE,
    GREEN,
    GREY,
    LABEL,
    LINE,
    MONO,
    RED,
    block,
    code,
    escape,
    fold,
    heading,
    indent,
    label,
    page,
    panel,
    span,
    start,
    table,
    warning,
    wrap,
)
from agent_magic.view.words import Detail, Title

FULL = Detail()

_STATUS_COLOURS: dict[Status, str] = {
    "answered": GREEN,
    "failed": RED,
    "max_steps": AMBER,
    "interrupted": AMBER,
    "running": BLUE,
}

# Said on the element itself: Lab lets every `code` wrap, whatever its cell says.
_NAME = f"{CODE};white-space:nowrap"
_VALUE = f"{CODE};white-space:pre-wrap"


def to_html(record: RunRecord, *, quiet: bool = False, detail: Detail = FULL) -> str:
    """A run as one `<div>`; `quiet` leaves header and answer."""
    parts = [header(record)]
    if not quiet:
        parts += [_task(record), *_steps(record, detail)]
    return page([*parts, *ending(record)])


def header(record: RunRecord) -> str:
    """Agent, status, model and why; figures; warnings."""
    chip = status_chip(record["status"], words.status_words(record))
    first = heading(record["agent"], chip, words.model_words(record["model"], record["why"]))
    figures = " · ".join(words.run_figures(record))
    warnings = [warning(text) for text in record["warnings"]]
    return "".join(
        [
            start("div", "padding:2px 0 6px"),
            first,
            wrap("div", FINE, escape(figures)),
            *warnings,
            "</div>",
        ]
    )


def status_chip(status: Status | None, text: str) -> str:
    """The status in words, framed in its colour."""
    colour = GREY if status is None else _STATUS_COLOURS[status]
    style = (
        f"color:{colour};border:1px solid {colour};border-radius:10px;padding:0 8px;margin:0 4px;font-size:11px;"
        "white-space:nowrap"
    )
    return span(style, text)


def ending(record: RunRecord) -> list[str]:
    """The error and the answer, as far as there are."""
    parts: list[str] = []
    if error := record["error"]:
        parts.append(panel(RED if record["status"] == "failed" else AMBER, _error(error, None)))
    if answer := record["answer"]:
        is_prose = answer["type"] in ("str", "NoneType")
        kind = words.answer_type(answer)
        label = wrap("div", LABEL, escape(words.answer_label(record) + (f" · {kind}" if kind else "")))
        style = "white-space:pre-wrap;overflow-wrap:anywhere;" + ("font-size:14px" if is_prose else MONO)
        body = wrap("div", style, escape(words.answer_text(answer)))
        parts.append(panel(GREEN if record["status"] == "answered" else AMBER, label + body))
    return parts


def step_html(step: StepRecord, detail: Detail = FULL) -> str:
    """One step: a line that opens. Steps with an error are open."""
    title = _titles(words.step_titles(step, is_brief=detail.is_brief))
    number = span(f"color:{GREY};padding-right:6px", str(step["step_number"]))
    if detail.is_brief:
        rest = _brief(step)
        return wrap("div", f"border-top:1px solid {LINE};padding:3px 0", number + title + rest)
    figures = wrap(
        "span", f"{LABEL};float:right;margin-right:-4.5em;text-indent:0", words.seconds(step["duration_s"])
    )
    body = _step_body(step, detail)
    is_open = "error" in step or any("error" in call for call in step.get("calls", []))
    return fold(
        f"{figures} {number}{title}",
        body,
        is_open=is_open,
        style=f"border-top:1px solid {LINE};padding:3px 0",
    )


def now_html(now: NowRecord) -> str:
    """The step that is being made: what happens, and the newest of what the model writes."""
    parts = [
        start("div", f"border-top:1px solid {LINE};padding:4px 0"),
        wrap("span", f"color:{BLUE};padding:0 6px 0 2px", "●"),
        wrap("span", f"color:{GREY};padding-right:4px", escape(str(now["step_number"]))),
        f"{escape(words.now_words(now))} …",
    ]
    style = "padding-left:1.5em;white-space:pre-wrap"
    if "thought" in now:
        parts.append(wrap("div", style, escape(now["thought"])))
    elif "reasoning" in now:
        parts.append(wrap("div", f"{style};color:{GREY}", escape(now["reasoning"][-400:])))
    running = now.get("running", [])
    titles = [words.call_title(call, is_running=call["id"] in running) for call in now.get("calls", [])]
    parts += [wrap("div", "padding-left:1.5em", _titles([title])) for title in titles]
    return "".join([*parts, "</div>"])


def gap_html(n_missing: int) -> str:
    """Said where steps are left out."""
    return wrap(
        "div", f"{LABEL};border-top:1px solid {LINE};padding:3px 0 3px 1.5em", words.gap_words(n_missing)
    )


def _task(record: RunRecord) -> str:
    body = block(record["task"])
    variables = [
        [
            wrap("code", _NAME, escape(words.one_line(f"@{variable['name']}", 40))),
            wrap("code", _VALUE, escape(variable["description"])),
        ]
        for variable in record["variables"]
    ]
    variables += [[code(words.one_line(image, 40)), ""] for image in record["images"]]
    if variables:
        body += label("Variables") + table(variables)
    title = span(f"color:{GREY};padding-right:6px", "Task") + escape(words.one_line(record["task"], 120))
    return fold(title, indent(body), style=f"border-top:1px solid {LINE};padding:3px 0")


def _steps(record: RunRecord, detail: Detail) -> list[str]:
    parts: list[str] = []
    expected = 1
    for step in words.pick_steps(record, detail.max_steps):
        if step["step_number"] > expected:
            parts.append(gap_html(step["step_number"] - expected))
        parts.append(step_html(step, detail))
        expected = step["step_number"] + 1
    if now := record.get("now"):
        parts.append(now_html(now))
    return parts


def _step_body(step: StepRecord, detail: Detail) -> str:
    parts: list[str] = []
    if "reasoning" in step:
        parts.append(fold(span(LABEL, "Reasoning"), block(step["reasoning"], detail.chars)))
    if "thought" in step:
        text = escape(words.cut(step["thought"], detail.chars))
        parts.append(label("Thought") + wrap("div", "white-space:pre-wrap;margin:0 0 8px", text))
    parts += [_call(call, detail) for call in step.get("calls", [])]
    if left_out := step.get("calls_left_out"):
        parts.append(label(f"… {words.count(left_out, 'call')} not shown here …"))
    if "error" in step:
        parts.append(_error(step["error"], detail.chars))
    if usage := step.get("usage"):
        parts.append(label(words.tokens(usage)))
    return indent("".join(parts))


def _call(call: CallRecord, detail: Detail) -> str:
    figures = words.seconds(call["duration_s"]) if "duration_s" in call else ""
    parts = [f"{wrap('code', CODE + ';font-weight:600', escape(call['name']))} {span(LABEL, figures)}"]
    parts.append(_arguments(call["arguments"], detail.chars))
    parts += [wrap("div", FINE, f"({escape(note)})") for note in call.get("notes", [])]
    if "printed" in call:
        parts.append(label("Printed") + block(call["printed"], detail.chars))
    if "error" in call:
        parts.append(_error(call["error"], detail.chars))
    elif observation := words.told(call):
        parts.append(label("Observation") + block(observation, detail.chars))
    if preview := call.get("output", {}).get("preview"):
        parts.append(label("Output") + block(preview, detail.chars))
    if "bound_to" in call:
        bound = f"{span(LABEL, 'Kept as')} {code(call['bound_to'])} {span(LABEL, words.value_words(call))}"
        parts.append(wrap("div", "", bound))
    return panel(LINE, "".join(parts))


def _arguments(arguments: dict[str, Json] | str, max_chars: int | None) -> str:
    if isinstance(arguments, str):
        return label("Arguments as written") + block(arguments, max_chars)
    rows = [
        [
            wrap("code", f"{_NAME};color:{GREY}", escape(words.one_line(name, 40))),
            wrap("code", _VALUE, escape(words.cut(words.argument_text(value), max_chars))),
        ]
        for name, value in arguments.items()
    ]
    return table(rows) if rows else ""


def _error(error: ErrorRecord, max_chars: int | None) -> str:
    kind = span(f"color:{RED};font-weight:600", error["kind"])
    text = wrap(
        "div",
        "white-space:pre-wrap;overflow-wrap:anywhere;margin-bottom:6px",
        escape(words.cut(error["message"], max_chars)),
    )
    return kind + text


def _brief(step: StepRecord) -> str:
    calls = step.get("calls", [])
    text = next(filter(None, map(words.told, calls)), step.get("thought", ""))
    if len(text) <= 80 and "\n" not in text:
        return ""
    return wrap("div", f"{LABEL};padding-left:1.5em", escape(words.one_line(text, 200)))


def _titles(titles: list[Title]) -> str:
    shown: list[str] = []
    for title in titles:
        outcome = span(f"color:{RED}", f"✗ {title.outcome}") if title.is_error else escape(title.outcome)
        arrow = " → " if title.code and title.outcome and not title.is_error else " "
        shown.append(f"{code(title.code)}{arrow}{outcome}" if title.code else outcome)
    return f" {span(f'color:{GREY}', '·')} ".join(shown)
