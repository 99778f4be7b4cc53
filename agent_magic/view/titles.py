"""The one-line titles of steps, plans and calls.

It must not write markup: what it gives is plain text, not yet escaped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from agent_magic.core.state import parse_reference
from agent_magic.core.steps import ACCEPTED
from agent_magic.core.text import first_line
from agent_magic.record.schema import (
    AnyStepRecord,
    CallRecord,
    ErrorRecord,
    Json,
    PlanDiffRecord,
    PlanRecord,
    StepRecord,
)
from agent_magic.view.words import count, one_line

_ARGUMENT_CHARS = 32
_ARGUMENTS_CHARS = 90
_OUTCOME_CHARS = 80
_TITLED_CALLS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """A call, or a step without calls, on one line."""

    code: str
    """What was called: `mean_price(city="Oslo")`; empty if nothing was."""
    outcome: str
    """What came of it, or what the model said."""
    is_error: bool = False

    def __str__(self) -> str:
        if self.is_error:
            return f"{self.code} ✗ {self.outcome}".lstrip()
        return f"{self.code} → {self.outcome}" if self.code and self.outcome else self.code or self.outcome


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
    """A call and what came of it on one line."""
    code = call_line(call["name"], call["arguments"]) + (" as edited" if "is_edited" in call else "")
    if error := call.get("error"):
        return Title(code=code, outcome=_error_outcome(error, is_brief=is_brief), is_error=True)
    observation = call.get("observation", "")
    if is_running:
        return Title(code=code, outcome="…")
    if observation == ACCEPTED:
        return Title(code=code, outcome="")
    if bound_to := call.get("bound_to"):
        return Title(code=code, outcome=f"{one_line(bound_to, 60)}: {value_words(call)}")
    return Title(code=code, outcome=one_line(first_line(observation, _OUTCOME_CHARS), _OUTCOME_CHARS))


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
    is_reference = isinstance(value, str) and parse_reference(value)
    return one_line(value if is_reference else json.dumps(value, ensure_ascii=False), _ARGUMENT_CHARS)


def _error_outcome(error: ErrorRecord, *, is_brief: bool) -> str:
    return error_line(error) if is_brief else one_line(error["kind"], 80)
