"""The one-line titles of steps, plans and calls.

It must not write markup: what it gives is plain text, not yet escaped.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from agent_magic.core.approval import EDITED
from agent_magic.core.state import parse_reference
from agent_magic.core.steps import ACCEPTED, ANSWER_GIVEN, NOTHING_TOLD
from agent_magic.core.text import first_line
from agent_magic.record.schema import (
    AnyStepRecord,
    CallRecord,
    ErrorRecord,
    Json,
    NowRecord,
    PlanDiffRecord,
    PlanRecord,
    StepRecord,
)
from agent_magic.view.words import count, one_line, pick_ends

_ARGUMENT_CHARS = 32
_ARGUMENTS_CHARS = 90
_OUTCOME_CHARS = 80
_TITLED_CALLS = 3
_UNTELLING = ("#", "import ", "from ", "@", '"""', "'''", "try:")
_BEGINNING = re.compile(r"[\w, ]+ = (?:\{\}|\[\]|\(\)|set\(\)|None|True|False|-?[\d._]+)")
"""Such as `prices = {}`."""
_EDITED_CODE = f"{EDITED} this code:\n"
_OBJECT = re.compile(r"<\w+, [^<>\"]+>")
"""How a record tells of an object that code handed to a tool: `<DataFrame, 3 rows × 2 columns>`."""
_CUT = re.compile(r"^… [\d,]+ characters cut …$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """A call, or a step without calls, on one line."""

    code: str
    """What was called: `mean_price(city="Oslo")`; empty if nothing was."""
    outcome: str
    """What came of it, or what the model said."""
    is_error: bool = False
    about: str = ""
    """Of a block of code, of which `code` is a line: how long it is, and how many calls it made. Of a
    call of a managed agent: how many steps it made."""

    def __str__(self) -> str:
        called = f"{self.code} ({self.about})" if self.about else self.code
        if self.is_error:
            return f"{called} ✗ {self.outcome}".lstrip()
        return f"{called} → {self.outcome}" if called and self.outcome else called or self.outcome


def titles(step: AnyStepRecord, *, is_brief: bool = True) -> list[Title]:
    """The titles of a step, or the one of a plan."""
    return [plan_title(step, is_brief=is_brief)] if "plan" in step else step_titles(step, is_brief=is_brief)


def plan_title(plan: PlanRecord, *, is_brief: bool = True, name: str = "Plan: ") -> Title:
    """`Plan: 3 steps · 1 added, 1 dropped`, or why there is none."""
    if error := plan.get("error"):
        return Title(code="", outcome=name + _error_outcome(error, is_brief=is_brief), is_error=True)
    said = one_line(first_line(plan["plan"], _OUTCOME_CHARS), _OUTCOME_CHARS)
    what = count(plan["n_items"], "step") if "n_items" in plan else said or "nothing said"
    differs = [_diff_words(plan["diff"])] if "diff" in plan else []
    is_told = "edited_by" in plan.get("laid_on", {})
    edited = ["edited"] if "original" in plan and not is_told else []
    return Title(code="", outcome=name + " · ".join([what, *differs, *edited]))


def step_titles(step: StepRecord, *, is_brief: bool = True) -> list[Title]:
    """A line for each of the first calls; else one for the error or for what was said.

    Where the step's body follows, errors need be said by kind only: then it is not brief.
    """
    calls = step.get("calls", [])
    titles = [call_title(call, is_brief=is_brief) for call in calls[:_TITLED_CALLS]]
    n_more = len(calls) - len(titles) + step.get("calls_left_out", 0)
    if n_more:
        failed = sum("error" in call for call in calls[_TITLED_CALLS:])
        titles.append(Title(code="", outcome=f"{n_more} more" + (f", {failed} failed" if failed else "")))
    error = step.get("error")
    # An interrupt that hit a call is said there, once.
    if error and not any("error" in call and call["error"]["kind"] == "Interrupted" for call in calls):
        titles.append(Title(code="", outcome=_error_outcome(error, is_brief=is_brief), is_error=True))
    if not titles:
        said = one_line(first_line(step.get("thought", ""), _OUTCOME_CHARS), _OUTCOME_CHARS)
        titles.append(Title(code="", outcome=said or "nothing said"))
    return titles


def call_title(call: CallRecord, *, is_running: bool = False, is_brief: bool = True) -> Title:
    """A call, or a block of code, and what came of it on one line."""
    if "code" in call:
        return _code_title(call, is_running=is_running, is_brief=is_brief)
    code = call_line(call["name"], call["arguments"]) + (" as edited" if "is_edited" in call else "")
    title = Title(code=code, outcome="", about=count(call["run"]["n_steps"], "step") if "run" in call else "")
    if error := call.get("error"):
        return replace(title, outcome=_error_outcome(error, is_brief=is_brief), is_error=True)
    if is_running:
        return replace(title, outcome="…", about="")
    return replace(title, outcome=_outcome(call))


def code_line(code: str) -> str:
    """The line that tells best what code does: the first that is no comment, no import and no bare beginning."""
    lines = [line.strip() for line in code.splitlines() if line.strip()]
    some = [line for line in lines if not line.startswith(_UNTELLING)]
    telling = next((line for line in some if not _BEGINNING.fullmatch(line)), (some or lines or [""])[0])
    return one_line(telling, _ARGUMENTS_CHARS) + (" …" if len(lines) > 1 else "")


def split_edit(call: CallRecord) -> tuple[str, list[str]]:
    """The code that the person had run in the place of the model's, empty if there is none; the other notes."""
    notes = call.get("notes", [])
    edited = next((note for note in notes if note.startswith(_EDITED_CODE)), "")
    return edited.removeprefix(_EDITED_CODE), [note for note in notes if note is not edited]


def inner_calls(call: CallRecord, max_calls: int | None = None) -> list[CallRecord | int]:
    """The calls that code made; where some are left out, how many.

    Args:
        max_calls: The first third and the last two of so many.
    """
    calls = call.get("calls", [])
    shown = pick_ends(calls, max_calls)
    rows: list[CallRecord | int] = [*shown]
    if left_out := call.get("calls_left_out", 0) + len(calls) - len(shown):
        rows.insert(len(shown) // 3, left_out)
    return rows


def calls_in(now: NowRecord) -> list[CallRecord]:
    """The calls of the step that is being made, and after each of code those that it made."""
    return [one for call in now.get("calls", []) for one in (call, *call.get("calls", []))]


def call_line(name: str, arguments: dict[str, Json] | str) -> str:
    """`mean_price(city="Oslo")`, long arguments cut."""
    return f"{one_line(name, 60)}({_arguments_line(arguments)})"


def value_words(call: CallRecord) -> str:
    """Type and shape of what a call returned: `DataFrame, 3 rows × 2 columns`."""
    output = call.get("output")
    if not output:
        return ""
    shape = output.get("shape", "")
    return one_line(f"{output['type']}, {shape}" if shape else output["type"], 100)


def error_line(error: ErrorRecord) -> str:
    """Kind and first line of an error."""
    return one_line(f"{error['kind']}: {first_line(error['message'], 150)}", 160)


def told(call: CallRecord) -> str:
    """What the model was told of a call; nothing for an answer that was just accepted."""
    observation = call.get("observation", "")
    return "" if observation == ACCEPTED else observation


def _outcome(call: CallRecord) -> str:
    observation = call.get("observation", "")
    if observation == ACCEPTED:
        return ""
    if bound_to := call.get("bound_to"):
        return f"{one_line(bound_to, 60)}: {value_words(call)}"
    answer = call["run"]["answer"] if "run" in call else None
    # What a managed agent reports begins with how it went.
    telling = answer["text"] if answer and call.get("run", {}).get("status") == "answered" else observation
    return one_line(first_line(telling, _OUTCOME_CHARS), _OUTCOME_CHARS)


def _code_title(call: CallRecord, *, is_running: bool, is_brief: bool) -> Title:
    edited, _ = split_edit(call)
    code = edited or call.get("code", "")
    n_lines = 0 if _CUT.search(code) else len(code.strip().splitlines())
    n_calls = len(call.get("calls", [])) + call.get("calls_left_out", 0)
    about = ", ".join(
        [
            *(["as edited"] if "is_edited" in call else []),
            *([count(n_lines, "line")] if n_lines > 1 else []),
            *([count(n_calls, "call")] if n_calls else []),
        ]
    )
    title = Title(code=code_line(code), outcome="", about=about)
    if error := call.get("error"):
        return replace(title, outcome=_error_outcome(error, is_brief=is_brief), is_error=True)
    return replace(title, outcome="…" if is_running else _code_outcome(call))


def _code_outcome(call: CallRecord) -> str:
    """What code ended in, else the last that it printed."""
    output = call.get("output")
    if output:
        preview = output.get("preview", "")
        is_short = 0 < len(preview) <= _OUTCOME_CHARS and "\n" not in preview
        return one_line(preview, _OUTCOME_CHARS) if is_short else value_words(call)
    lines = [line for line in told(call).splitlines() if line.strip()]
    if not lines or lines[0].startswith(NOTHING_TOLD):
        return ""
    return one_line(lines[-1].removeprefix(ANSWER_GIVEN), _OUTCOME_CHARS)


def _diff_words(diff: PlanDiffRecord) -> str:
    differs = [
        f"{number:,} {verb}"
        for number, verb in ((diff["n_added"], "added"), (diff["n_dropped"], "dropped"))
        if number
    ]
    return ", ".join(differs) or "as before"


def _arguments_line(arguments: dict[str, Json] | str) -> str:
    if isinstance(arguments, str):
        return one_line(arguments, _ARGUMENTS_CHARS)
    line = ", ".join(f"{one_line(name, 40)}={_short(value)}" for name, value in arguments.items())
    return one_line(line, _ARGUMENTS_CHARS)


def _short(value: Json) -> str:
    is_bare = isinstance(value, str) and (parse_reference(value) or _OBJECT.fullmatch(value))
    return one_line(value if is_bare else json.dumps(value, ensure_ascii=False), _ARGUMENT_CHARS)


def _error_outcome(error: ErrorRecord, *, is_brief: bool) -> str:
    return error_line(error) if is_brief else one_line(error["kind"], 80)
