"""The words and figures that all forms of a run share: status, counts, one-line titles.

It must not write markup: what it gives is plain text, not yet escaped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from agent_magic.core.state import parse_reference
from agent_magic.core.steps import ACCEPTED
from agent_magic.core.text import first_line, to_display
from agent_magic.record.schema import (
    AnswerRecord,
    CallRecord,
    ErrorRecord,
    Json,
    NowRecord,
    RunRecord,
    Status,
    StepRecord,
    UsageRecord,
)

_ARGUMENT_CHARS = 32
_ARGUMENTS_CHARS = 90
_OUTCOME_CHARS = 80
_TITLED_CALLS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much of a record a form shows."""

    chars: int | None = None
    """Length of each text of a step; None is all that the record has."""
    is_brief: bool = False
    """Titles and first characters only."""
    max_steps: int | None = None
    """The first third and the last two of so many steps."""


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


def status_words(record: RunRecord) -> str:
    """How a run ended, in words."""
    return (
        f"step limit of {record['max_steps']} reached"
        if record["status"] == "max_steps"
        else record["status"]
    )


def last_status_words(status: Status | None) -> str:
    """How an agent's newest run ended, in words."""
    match status:
        case None:
            return "not run yet"
        case "running":
            return "running"
        case "max_steps":
            return "last run reached its step limit"
        case _:
            return f"last run {status}"


def model_words(model: str, why: str | None) -> str:
    """The model and why it was chosen; a reason that names it says both."""
    if not why:
        return model
    return why if why.startswith(model) else f"{model} · {why}"


def run_figures(record: RunRecord) -> list[str]:
    """Steps, tokens, cost and time of a run."""
    if record["status"] == "running":
        now = record.get("now")
        steps = f"step {now['step_number'] if now else record['n_steps'] + 1} of {record['max_steps']}"
    else:
        steps = f"{count(record['n_steps'], 'step')} of {record['max_steps']}"
    usage = record["usage"]
    if record["status"] == "running" and not record["n_steps"]:
        return [steps, seconds(record["duration_s"])]
    return [steps, tokens(usage), cost(usage["cost_usd"]), seconds(record["duration_s"])]


def step_figures(step: StepRecord) -> str:
    """Tokens and time of a step."""
    usage = step.get("usage")
    return " · ".join([*([tokens(usage)] if usage else []), seconds(step["duration_s"])])


def tokens(usage: UsageRecord) -> str:
    """`1,204 tokens in (1,000 cached), 88 out`, or that they are unknown."""
    n_in, n_out, n_cached = usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"]
    if n_in is None and n_out is None:
        return "tokens unknown"
    cached = f" ({n_cached:,} cached)" if n_cached else ""
    return f"{_or_unknown(n_in)} tokens in{cached}, {_or_unknown(n_out)} out"


def cost(cost_usd: float | None) -> str:
    """`$0.0123`; `$0` is a price, an unknown one is said to be unknown."""
    if cost_usd is None:
        return "cost unknown"
    if cost_usd == 0:
        return "$0"
    return (
        f"${cost_usd:.2f}" if cost_usd >= 1 else f"${cost_usd:.2g}" if cost_usd >= 0.0001 else "under $0.0001"
    )


def seconds(duration_s: float) -> str:
    """`12 ms`, `4.2 s`, `3 min 20 s`."""
    if duration_s < 0.1:
        return f"{1000 * duration_s:.0f} ms"
    if duration_s < 60:
        return f"{duration_s:.1f} s" if duration_s < 10 else f"{duration_s:.0f} s"
    minutes, rest = divmod(round(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def count(number: int, noun: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def one_line(text: str, max_chars: int = 200) -> str:
    """`text` without line ends, cut with `…`, as it may be shown."""
    line = " ".join(to_display(text[: 4 * max_chars]).split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


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
    code = call_line(call["name"], call["arguments"])
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


def now_words(now: NowRecord) -> str:
    """What happens at the moment."""
    waiting = now.get("waiting")
    if now["doing"] == "waiting" and waiting:
        return f"waiting {waiting['delay_s']:.3g} s ({one_line(waiting['reason'], 120)})"
    if now["doing"] == "calling":
        running = now.get("running", [])
        names = [one_line(call["name"], 60) for call in now.get("calls", []) if call["id"] in running]
        return "calling " + ", ".join(dict.fromkeys(names))
    return "thinking"


def answer_label(record: RunRecord) -> str:
    """What the value at the end is: an answer only if the run says so."""
    return "Answer" if record["status"] == "answered" else "Best guess, no answer"


def answer_type(answer: AnswerRecord) -> str:
    """Type and shape of the answer; empty for text."""
    shape = answer.get("shape", "")
    return (
        ""
        if answer["type"] in ("str", "NoneType")
        else f"{answer['type']}, {shape}"
        if shape
        else answer["type"]
    )


def answer_text(answer: AnswerRecord) -> str:
    """The answer in full; None is said, not left blank."""
    return "The answer is None." if answer["type"] == "NoneType" else to_display(answer["text"])


def argument_text(value: Json) -> str:
    """A value as a person reads it: references and long texts bare, the rest as JSON."""
    if isinstance(value, str) and (parse_reference(value) or "\n" in value or len(value) > 200):
        return value
    return json.dumps(value, ensure_ascii=False)


def pick_steps(record: RunRecord, max_steps: int | None) -> list[StepRecord]:
    """The first third and the last two of `max_steps`."""
    steps = record["steps"]
    if max_steps is None or len(steps) <= max_steps:
        return steps
    n_first = max_steps // 3
    return steps[:n_first] + steps[n_first - max_steps :]


def gap_words(n_missing: int) -> str:
    """Said where steps are left out."""
    return f"… {count(n_missing, 'step')} not shown here …"


def cut(text: str, max_chars: int | None) -> str:
    """`text` as it may be shown, its end cut with a note."""
    if max_chars is None or len(text) <= max_chars:
        return to_display(text)
    return f"{to_display(text[:max_chars])}… ({len(text) - max_chars:,} more characters)"


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


def _or_unknown(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"
