"""A run as Markdown: every text in a code span or a fence that it cannot break out of.

It must not use headings (they would enter the notebook's table of contents) nor raw HTML.
"""

from __future__ import annotations

import re

from agent_magic.record.schema import (
    AnyStepRecord,
    CallRecord,
    ErrorRecord,
    Json,
    LaneRecord,
    NoteRecord,
    PlanRecord,
    RunRecord,
    StepRecord,
)
from agent_magic.record.thumbnails import to_words
from agent_magic.view import titles, words
from agent_magic.view.titles import Title
from agent_magic.view.words import FULL, Detail

_TICKS = re.compile("`+")
_SHOWN_CALLS = 15
"""Of the calls that code made."""


def to_markdown(record: RunRecord, *, detail: Detail = FULL) -> str:
    """A run as Markdown; of a quiet one header and answer."""
    parts = [header(record)]
    if not record.get("is_quiet"):
        parts += [_with_labels("**Task**", words.task_words(record)), fence(record["task"])]
        parts += [
            f"- {span('@' + v['name'])}: {span(words.one_line(v['description']))}"
            for v in record["variables"]
        ]
        parts += [f"- {span(image)}" for image in record["images"]]
        parts += _steps(record, detail)
    if error := record["error"]:
        parts += _error(error, None)
    if answer := record["answer"]:
        kind = words.answer_type(answer)
        parts.append(f"**{words.answer_label(record)}**" + (f" {span(kind)}" if kind else ""))
        parts.append(fence(words.answer_text(answer)))
    parts += [
        f"⚠ {span(line)}" if is_refusal else f"- {span(line)}"
        for line, is_refusal in words.check_lines(record)
    ]
    return "\n\n".join(parts) + "\n"


def header(record: RunRecord) -> str:
    """Agent, status, model and why; figures; warnings."""
    model = span(words.one_line(words.model_words(record["model"], record["why"])))
    status = words.status_words(record)
    verified = f" · **{checks}**" if (checks := words.verified_words(record)) else ""
    lines = [
        f"**Agent** {span(record['agent'])} · **{status}**{verified} · {model}",
        # A code span, since two `$` on a page would be read as mathematics.
        span(" · ".join(words.run_figures(record))),
        *(f"⚠ {span(words.one_line(warning, 600))}" for warning in record["warnings"]),
    ]
    return "\n\n".join(lines)


def step_markdown(step: AnyStepRecord, detail: Detail = FULL) -> str:
    """One step or plan."""
    if "plan" in step:
        line = f"**Plan** {_title(titles.plan_title(step, is_brief=detail.is_brief, name=''))}"
    else:
        shown = titles.step_titles(step, is_brief=detail.is_brief)
        line = f"**Step {step['step_number']}** {' · '.join(map(_title, shown))}"
    parts = [_with_labels(f"{line} · {span(words.step_figures(step))}", words.step_labels(step))]
    if detail.is_brief:
        return parts[0]
    parts += _notes(step.get("notes", []))
    parts += _plan_body(step, detail) if "plan" in step else _step_body(step, detail)
    if "error" in step:
        parts += _error(step["error"], detail.chars)
    return "\n\n".join(parts)


def span(text: str) -> str:
    """A code span that holds exactly this text, on one line."""
    text = words.one_line(text, 1_000)
    if not text:
        return ""
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    pad = " " if len(ticks) > 1 else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(text: str, language: str = "text") -> str:
    """A fenced block whose fence is longer than any in the text."""
    text = words.cut(text, None)
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{ticks}{language}\n{text}\n{ticks}"


def _steps(record: RunRecord, detail: Detail) -> list[str]:
    parts: list[str] = []
    shown = words.pick_ends(record["steps"], detail.max_steps)
    expected = shown[0]["step_number"] if shown else 1
    for step in shown:
        if step["step_number"] > expected:
            parts.append(words.gap_words(step["step_number"] - expected))
        parts.append(step_markdown(step, detail))
        expected = step["step_number"] + ("plan" not in step)
    if now := record.get("now"):
        parts.append(f"**Step {now['step_number']}** {span(words.now_words(now))} …")
    return parts


def _step_body(step: StepRecord, detail: Detail) -> list[str]:
    parts: list[str] = []
    for key, name in (("reasoning", "Reasoning"), ("thought", "Thought")):
        if text := step.get(key):
            parts += [f"*{name}*", fence(words.cut(str(text), detail.chars))]
    for call in step.get("calls", []):
        parts += _call(call, detail)
    if left_out := step.get("calls_left_out"):
        parts.append(words.gap_words(left_out, "call"))
    if changes := step.get("changes"):
        parts += ["*Namespace*", fence("\n".join(words.one_line(change, 300) for change in changes))]
    if left_out := step.get("changes_left_out"):
        parts.append(words.gap_words(left_out, "change"))
    return parts


def _plan_body(plan: PlanRecord, detail: Detail) -> list[str]:
    parts: list[str] = []
    if "reasoning" in plan:
        parts += ["*Reasoning*", fence(words.cut(plan["reasoning"], detail.chars))]
    if plan["plan"]:
        parts += ["*Plan*", fence(words.cut(plan["plan"], detail.chars))]
    if "diff" in plan:
        for name, lines in (("Added", plan["diff"]["added"]), ("Dropped", plan["diff"]["dropped"])):
            if lines:
                parts += [f"*{name}*", fence("\n".join(words.one_line(line, 300) for line in lines))]
    if "original" in plan:
        parts += ["*As the model wrote it*", fence(words.cut(plan["original"], detail.chars))]
    return parts


def _notes(notes: list[NoteRecord]) -> list[str]:
    # No line begins with a span: a lesser reader would take three of its ticks for a fence.
    return [f"{'⚠' if 'is_warning' in note else '-'} {span(note['text'])}" for note in notes]


def _with_labels(line: str, labels: list[str]) -> str:
    return " ".join([line, *([span(" · ".join(labels))] if labels else [])])


def _code(call: CallRecord, detail: Detail) -> list[str]:
    edited, notes = titles.split_edit(call)
    original = fence(words.cut(call.get("code", ""), detail.chars), "python")
    parts = ["*Code*", original]
    if edited:
        parts = ["*Code, as it was changed*", fence(words.cut(edited, detail.chars), "python")]
        parts += ["*As the model wrote it*", original]
    parts += [f"({span(words.one_line(note, 500))})" for note in notes]
    if rows := titles.inner_calls(call, _SHOWN_CALLS):
        parts += ["*Calls*", "\n".join(f"- {_inner_row(row)}" for row in rows)]
    return parts


def _inner_row(row: CallRecord | int) -> str:
    return words.gap_words(row, "call") if isinstance(row, int) else _title(titles.call_title(row))


def _lane(lane: LaneRecord, detail: Detail) -> list[str]:
    """The run of a managed agent, and a line for each of its steps."""
    lines = _lane_lines(lane, detail, "")
    return [f"*Run of* {span(words.lane_words(lane))}", *(["\n".join(lines)] if lines else [])]


def _lane_lines(lane: LaneRecord, detail: Detail, indent: str) -> list[str]:
    shown = words.pick_ends(lane["steps"], detail.lane_steps)
    items = [_lane_step(step, detail, indent) for step in shown]
    if n_missing := lane["steps_left_out"] + len(lane["steps"]) - len(shown):
        items.insert(len(shown) // 3, [f"{indent}- {words.gap_words(n_missing)}"])
    return [line for item in items for line in item]


def _lane_step(step: AnyStepRecord, detail: Detail, indent: str) -> list[str]:
    number = "" if "plan" in step else f"{step['step_number']}: "
    lines = [f"{indent}- {number}{' · '.join(map(_title, titles.titles(step)))}"]
    for call in [] if "plan" in step else step.get("calls", []):
        if "run" in call:
            lines.append(f"{indent}    - *Run of* {span(words.lane_words(call['run']))}")
            lines += _lane_lines(call["run"], detail.of_lane(), f"{indent}        ")
    return lines


def _call(call: CallRecord, detail: Detail) -> list[str]:
    if "code" in call:
        parts = _code(call, detail)
    else:
        parts = [f"*Call* {span(call['name'])}"]
        parts += _arguments(call["arguments"], detail.chars)
        parts += [f"({span(words.one_line(note, 500))})" for note in call.get("notes", [])]
    for one in (call, *call.get("calls", [])):
        if "run" in one:
            parts += _lane(one["run"], detail)
    if "printed" in call:
        parts += ["*Printed*", fence(words.cut(call["printed"], detail.chars))]
    if observation := titles.told(call):
        parts += ["*Observation*", fence(words.cut(observation, detail.chars))]
    if "error" in call:
        parts += _error(call["error"], detail.chars)
    preview = call.get("output", {}).get("preview")
    if preview and "code" not in call:  # what code ended in is observed
        parts += ["*Output*", fence(words.cut(preview, detail.chars))]
    # No line begins with a span, see `_notes`.
    parts += [f"- {span(to_words(image))}" for image in call.get("images", [])]
    parts += [f"- {span(sound['words'])}" for sound in call.get("sounds", [])]
    if "bound_to" in call:
        parts.append(f"Kept as {span(call['bound_to'])} {span(titles.value_words(call))}")
    return parts


def _arguments(arguments: dict[str, Json] | str, max_chars: int | None) -> list[str]:
    if isinstance(arguments, str):
        return [fence(words.cut(arguments, max_chars))]
    lines = [
        f"{words.one_line(name, 80)} = {words.cut(words.argument_text(value), max_chars)}"
        for name, value in arguments.items()
    ]
    return [fence("\n".join(lines))] if lines else []


def _error(error: ErrorRecord, max_chars: int | None) -> list[str]:
    return [f"**Error** {span(error['kind'])}", fence(words.cut(error["message"], max_chars))]


def _title(title: Title) -> str:
    if not title.code:
        return span(f"✗ {title.outcome}" if title.is_error else title.outcome)
    called = " ".join([span(title.code), *([f"({title.about})"] if title.about else [])])
    if not title.outcome:
        return called
    return f"{called} {'✗' if title.is_error else '→'} {span(title.outcome)}"
