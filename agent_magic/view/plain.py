"""A run as plain text: a tree for terminals and for readers that know nothing else.

It must not send a terminal any control character but line ends and tabs.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_magic.core.text import to_display
from agent_magic.record.schema import (
    AnyStepRecord,
    CallRecord,
    ErrorRecord,
    Json,
    LaneRecord,
    NoteRecord,
    NowRecord,
    PlanRecord,
    RunRecord,
    StepRecord,
)
from agent_magic.record.thumbnails import to_words
from agent_magic.view import titles, words
from agent_magic.view.words import FULL, Detail

_INDENT = "    "
_SHOWN_CALLS = 15
"""Of the calls that code made."""


def to_text(record: RunRecord, *, detail: Detail = FULL) -> str:
    """A run as text without a line end at its end; of a quiet one header and answer."""
    lines = header(record)
    if not record.get("is_quiet"):
        lines += ["", "Task" + _labels(words.task_words(record)), *indent(to_display(record["task"]))]
        for variable in record["variables"]:
            lines += indent(to_display(f"@{variable['name']}: {variable['description']}"))
        lines += [f"{_INDENT}{words.one_line(image)}" for image in record["images"]]
        lines += ["", *_steps(record, detail)]
    if error := record["error"]:
        lines += ["", *_error(error, None)]
    if answer := record["answer"]:
        kind = words.answer_type(answer)
        label = words.answer_label(record) + (f" ({to_display(kind)})" if kind else "")
        lines += ["", label, *indent(words.answer_text(answer))]
    if checks := words.check_lines(record):
        lines += ["", *(f"! {line}" if is_refusal else line for line, is_refusal in checks)]
    return "\n".join(lines)


def header(record: RunRecord) -> list[str]:
    """Agent, status, model and why; figures; warnings."""
    model = words.one_line(words.model_words(record["model"], record["why"]))
    status = " · ".join(filter(None, [words.status_words(record), words.verified_words(record)]))
    return [
        f"{words.one_line(record['agent'])} · {status} · {model}",
        " · ".join(words.run_figures(record)),
        *(f"! {words.one_line(warning, 600)}" for warning in record["warnings"]),
    ]


def step_text(step: AnyStepRecord, detail: Detail = FULL) -> list[str]:
    """One step or plan as lines."""
    title = " · ".join(map(str, titles.titles(step, is_brief=detail.is_brief)))
    number = "  " if "plan" in step else f"{step['step_number']:>2}"
    lines = [f"{number}  {title}  [{words.step_figures(step)}]{_labels(words.step_labels(step))}"]
    if detail.is_brief:
        return lines
    body = _notes(step.get("notes", []))
    body += _plan_body(step, detail) if "plan" in step else _step_body(step, detail)
    if "error" in step:
        body += _error(step["error"], detail.chars)
    return lines + [_INDENT + line for line in body]


def now_text(now: NowRecord) -> str:
    """What happens at the moment, on one line."""
    return f"{now['step_number']:>2}  {words.now_words(now)} …"


def now_lanes(now: NowRecord) -> list[str]:
    """What happens in the runs of managed agents, a line each."""
    lines: list[str] = []
    for call in titles.calls_in(now):
        if "run" in call:
            lines.append(f"{_INDENT}{words.lane_words(call['run'])}")
            lines += (
                [_INDENT + line for line in now_lanes(call["run"]["now"])] if "now" in call["run"] else []
            )
    return lines


def indent(text: str) -> Iterable[str]:
    """The lines of `text`, moved in."""
    return [f"{_INDENT}{line}".rstrip() for line in text.split("\n")]


def _steps(record: RunRecord, detail: Detail) -> list[str]:
    lines: list[str] = []
    shown = words.pick_ends(record["steps"], detail.max_steps)
    expected = shown[0]["step_number"] if shown else 1
    for step in shown:
        if step["step_number"] > expected:
            lines.append(f"{_INDENT}{words.gap_words(step['step_number'] - expected)}")
        lines += step_text(step, detail)
        expected = step["step_number"] + ("plan" not in step)
    if now := record.get("now"):
        lines.append(now_text(now))
    return lines


def _step_body(step: StepRecord, detail: Detail) -> list[str]:
    body: list[str] = []
    if "reasoning" in step:
        body += ["reasoning", *indent(words.cut(step["reasoning"], detail.chars))]
    if "thought" in step:
        body += ["thought", *indent(words.cut(step["thought"], detail.chars))]
    for call in step.get("calls", []):
        body += _call(call, detail)
    if left_out := step.get("calls_left_out"):
        body.append(words.gap_words(left_out, "call"))
    if changes := step.get("changes"):
        body += ["namespace", *(_INDENT + words.one_line(change, 300) for change in changes)]
    if left_out := step.get("changes_left_out"):
        body.append(words.gap_words(left_out, "change"))
    return body


def _plan_body(plan: PlanRecord, detail: Detail) -> list[str]:
    body: list[str] = []
    if "reasoning" in plan:
        body += ["reasoning", *indent(words.cut(plan["reasoning"], detail.chars))]
    if plan["plan"]:
        body += ["plan", *indent(words.cut(plan["plan"], detail.chars))]
    if "diff" in plan:
        for name, lines in (("added", plan["diff"]["added"]), ("dropped", plan["diff"]["dropped"])):
            body += [name, *(_INDENT + words.one_line(line, 300) for line in lines)] if lines else []
    if "original" in plan:
        body += ["as the model wrote it", *indent(words.cut(plan["original"], detail.chars))]
    return body


def _notes(notes: list[NoteRecord]) -> list[str]:
    return [
        f"! {words.one_line(note['text'], 600)}"
        if "is_warning" in note
        else words.one_line(note["text"], 600)
        for note in notes
    ]


def _labels(labels: list[str]) -> str:
    return f"  ({', '.join(labels)})" if labels else ""


def _code(call: CallRecord, detail: Detail) -> list[str]:
    edited, notes = titles.split_edit(call)
    original = list(indent(words.cut(call.get("code", ""), detail.chars)))
    lines = ["code", *original]
    if edited:
        lines = ["code, as it was changed", *indent(words.cut(edited, detail.chars))]
        lines += ["as the model wrote it", *original]
    lines += [f"({words.one_line(note, 500)})" for note in notes]
    if rows := titles.inner_calls(call, _SHOWN_CALLS):
        lines.append("calls")
    for row in rows:
        lines.append(_INDENT + _inner_row(row))
        if not isinstance(row, int) and "run" in row:
            lines += [2 * _INDENT + line for line in _lane(row["run"], detail)]
    return lines


def _inner_row(row: CallRecord | int) -> str:
    if isinstance(row, int):
        return words.gap_words(row, "call")
    return f"{titles.call_title(row)}" + (
        f"  [{words.seconds(row['duration_s'])}]" if "duration_s" in row else ""
    )


def _call(call: CallRecord, detail: Detail) -> list[str]:
    if "code" in call:
        return [*_code(call, detail), *(line.removeprefix(_INDENT) for line in _outcome(call, detail))]
    lines = [f"{words.one_line(call['name'])}"]
    lines += _arguments(call["arguments"], detail.chars)
    lines += [f"{_INDENT}({words.one_line(note, 500)})" for note in call.get("notes", [])]
    return lines + _outcome(call, detail)


def _lane(lane: LaneRecord, detail: Detail) -> list[str]:
    """The run of a managed agent: a line about it, and its steps under that."""
    shown = words.pick_ends(lane["steps"], detail.lane_steps)
    steps = [step_text(step, detail.of_lane()) for step in shown]
    if n_missing := lane["steps_left_out"] + len(lane["steps"]) - len(shown):
        steps.insert(len(shown) // 3, [words.gap_words(n_missing)])
    return [words.lane_words(lane), *(_INDENT + line for step in steps for line in step)]


def _outcome(call: CallRecord, detail: Detail) -> list[str]:
    lines: list[str] = []
    if "run" in call:
        lines += [_INDENT + line for line in _lane(call["run"], detail)]
    if "printed" in call:
        lines += [f"{_INDENT}printed", *_inner(words.cut(call["printed"], detail.chars))]
    if observation := titles.told(call):
        lines += [f"{_INDENT}observation", *_inner(words.cut(observation, detail.chars))]
    if "error" in call:
        lines += [_INDENT + line for line in _error(call["error"], detail.chars)]
    preview = call.get("output", {}).get("preview")
    if preview and "code" not in call:  # what code ended in is observed
        lines += [f"{_INDENT}output", *_inner(words.cut(preview, detail.chars))]
    lines += [f"{_INDENT}{words.one_line(to_words(image))}" for image in call.get("images", [])]
    lines += [f"{_INDENT}{words.one_line(sound['words'])}" for sound in call.get("sounds", [])]
    if "bound_to" in call:
        lines.append(f"{_INDENT}kept as {words.one_line(call['bound_to'])}: {titles.value_words(call)}")
    return lines


def _arguments(arguments: dict[str, Json] | str, max_chars: int | None) -> list[str]:
    if isinstance(arguments, str):
        return list(indent(words.cut(arguments, max_chars)))
    lines: list[str] = []
    for name, value in arguments.items():
        text = words.cut(words.argument_text(value), max_chars)
        if "\n" in text:
            lines += [f"{_INDENT}{words.one_line(name, 80)} =", *_inner(text)]
        else:
            lines.append(f"{_INDENT}{words.one_line(name, 80)} = {text}")
    return lines


def _error(error: ErrorRecord, max_chars: int | None) -> list[str]:
    return [f"error {words.one_line(error['kind'])}", *indent(words.cut(error["message"], max_chars))]


def _inner(text: str) -> list[str]:
    return [f"{_INDENT}{line}".rstrip() for line in indent(text)]
