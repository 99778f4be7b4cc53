"""A run as HTML: nested `<details>`, no script, no style sheet, no links.

It must not write a tag by itself: that is the business of `elements`, which escapes every text.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_magic.record.schema import CallRecord, LaneRecord, NowRecord, RunRecord
from agent_magic.view import titles, words
from agent_magic.view.chips import run_chips
from agent_magic.view.elements import (
    AMBER,
    BLUE,
    FINE,
    GREEN,
    GREY,
    LABEL,
    LINE,
    MONO,
    RED,
    block,
    code,
    code_block,
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
from agent_magic.view.html_call import NAME, VALUE, error_html, titles_html
from agent_magic.view.html_lane import gap_html, lane_line
from agent_magic.view.html_step import labels_html, notes_html, step_html
from agent_magic.view.words import FULL, Detail

_NEWEST_CHARS = 1_500
"""Of what the model is writing: the whole goes over the wire at each drawing."""
_NEWEST_STEPS = 4
"""Of the run of a managed agent, likewise."""
_BRIEF = Detail(is_brief=True)


def to_html(record: RunRecord, *, detail: Detail = FULL) -> str:
    """A run as one `<div>`; of a quiet one header and answer."""
    parts = [header(record)]
    if not record.get("is_quiet"):
        parts += [_task(record), *_steps(record, detail)]
    return page([*parts, *ending(record)])


def header(record: RunRecord) -> str:
    """Agent, status, model and why; figures; warnings."""
    first = heading(record["agent"], run_chips(record), words.model_words(record["model"], record["why"]))
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


def ending(record: RunRecord) -> list[str]:
    """The error and the answer, as far as there are."""
    parts: list[str] = []
    if error := record["error"]:
        parts.append(panel(RED if record["status"] == "failed" else AMBER, error_html(error, None)))
    if answer := record["answer"]:
        is_prose = answer["type"] in ("str", "NoneType")
        kind = words.answer_type(answer)
        label = wrap("div", LABEL, escape(words.answer_label(record) + (f" · {kind}" if kind else "")))
        style = "white-space:pre-wrap;overflow-wrap:anywhere;" + ("font-size:14px" if is_prose else MONO)
        body = wrap("div", style, escape(words.answer_text(answer)))
        parts.append(panel(GREEN if words.is_sound(record) else AMBER, label + body + _checks(record)))
    elif checks := _checks(record):
        parts.append(panel(AMBER, checks))
    return parts


def now_html(now: NowRecord) -> str:
    """The step that is being made: what happens, and the newest of what the model writes."""
    parts = [
        start("div", f"border-top:1px solid {LINE};padding:4px 0"),
        wrap("span", f"color:{BLUE};padding:0 6px 0 2px", "●"),
        wrap("span", f"color:{GREY};padding-right:4px", escape(str(now["step_number"]))),
        f"{escape(words.now_words(now))} …",
    ]
    style = "padding-left:1.5em;white-space:pre-wrap"
    if text := now.get("plan") or now.get("thought"):
        parts.append(wrap("div", style, escape(_newest(text))))
    elif "reasoning" in now and "code" not in now:
        parts.append(wrap("div", f"{style};color:{GREY}", escape(now["reasoning"][-400:])))
    if "code" in now:
        parts.append(indent(code_block(_newest(now["code"]))))
    parts += [_now_call(call, now.get("running", [])) for call in now.get("calls", [])]
    for item in now["asked"]["items"] if "asked" in now else []:
        if "code" in item and "verdict" not in item:
            parts.append(indent(code_block(item["code"])))
    if notes := notes_html(now.get("notes", [])):
        parts.append(wrap("div", "padding-left:1.5em", notes))
    return "".join([*parts, "</div>"])


def _now_call(call: CallRecord, running: Sequence[str]) -> str:
    """A call that is made or was made in this step; of code that runs the code, and its calls."""
    is_running = call["id"] in running
    title = wrap("div", "padding-left:1.5em", titles_html([titles.call_title(call, is_running=is_running)]))
    if "run" in call:
        title += wrap("div", "padding-left:1.5em", _now_lane(call["run"]))
    if "code" not in call or not is_running:
        return title
    rows = [
        gap_html(row, "call") if isinstance(row, int) else _now_call(row, running)
        for row in titles.inner_calls(call)
    ]
    return indent("".join([code_block(call["code"]), *rows]))


def _now_lane(lane: LaneRecord) -> str:
    """The run of a managed agent: its newest steps by their titles, and what happens in it."""
    n_missing = lane["steps_left_out"] + max(len(lane["steps"]) - _NEWEST_STEPS, 0)
    parts = [lane_line(lane), *([gap_html(n_missing)] if n_missing else [])]
    parts += [step_html(step, _BRIEF) for step in lane["steps"][-_NEWEST_STEPS:]]
    if "now" in lane:
        parts.append(now_html(lane["now"]))
    return panel(LINE, "".join(parts))


def _newest(text: str) -> str:
    return text if len(text) <= _NEWEST_CHARS else "…" + text[-_NEWEST_CHARS:]


def _checks(record: RunRecord) -> str:
    return "".join(
        warning(line) if is_refusal else wrap("div", FINE, escape(line))
        for line, is_refusal in words.check_lines(record)
    )


def _task(record: RunRecord) -> str:
    body = block(record["task"])
    variables = [
        [
            wrap("code", NAME, escape(words.one_line(f"@{variable['name']}", 40))),
            wrap("code", VALUE, escape(variable["description"])),
        ]
        for variable in record["variables"]
    ]
    variables += [[code(words.one_line(image, 40)), ""] for image in record["images"]]
    if variables:
        body += label("Variables") + table(variables)
    title = span(f"color:{GREY};padding-right:6px", "Task") + escape(words.one_line(record["task"], 120))
    title += labels_html(words.task_words(record))
    return fold(title, indent(body), style=f"border-top:1px solid {LINE};padding:3px 0")


def _steps(record: RunRecord, detail: Detail) -> list[str]:
    parts: list[str] = []
    shown = words.pick_ends(record["steps"], detail.max_steps)
    expected = shown[0]["step_number"] if shown else 1
    for step in shown:
        if step["step_number"] > expected:
            parts.append(gap_html(step["step_number"] - expected))
        parts.append(step_html(step, detail))
        expected = step["step_number"] + ("plan" not in step)
    if now := record.get("now"):
        parts.append(now_html(now))
    return parts
