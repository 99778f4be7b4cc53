"""The words and figures that all forms of a run share: status, counts, labels.

It must not write markup: what it gives is plain text, not yet escaped.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TypeVar

from agent_magic.core.edits import StepView
from agent_magic.core.short_form import Form
from agent_magic.core.state import parse_reference
from agent_magic.core.text import to_display
from agent_magic.record.schema import (
    AnswerRecord,
    AnyStepRecord,
    AskedItemRecord,
    CallRecord,
    Json,
    LaidOnRecord,
    LaneRecord,
    NowRecord,
    RunRecord,
    Status,
    UsageRecord,
)

_Item = TypeVar("_Item")
_MAX_ASKED = 3
_FORM_WORDS: dict[Form, str] = {
    "whole": "sent whole",
    "no_images": "sent without images",
    "short_observations": "sent shortened: observation",
    "line": "sent as one line",
    "left_out": "not sent",
}
_VIEW_WORDS: dict[StepView, str] = {
    "full": "full view",
    "summary": "summary view",
    "hidden": "hidden from the model",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much of a record a form shows."""

    chars: int | None = None
    """Length of each text of a step; None is all that the record has."""
    is_brief: bool = False
    """Titles and first characters only."""
    max_steps: int | None = None
    """The first third and the last two of so many steps, or messages."""
    is_plain: bool = False
    """Code without colours."""
    image_chars: int = 0
    """Images and sounds whose URLs are longer stand in words."""
    lane_steps: int = 4
    """Of the run of a managed agent the first third and the last two of so many steps."""
    lane_chars: int = 200
    """Length of each text in it."""

    def of_lane(self) -> Detail:
        """For the steps of the run of a managed agent."""
        chars = self.lane_chars if self.chars is None else min(self.chars, self.lane_chars)
        return replace(self, chars=chars, lane_steps=self.lane_steps // 2)


FULL = Detail(image_chars=100_000, lane_steps=40, lane_chars=2_000)
"""All that a record has."""


def status_words(record: RunRecord | LaneRecord) -> str:
    """How a run ended, in words."""
    match record["status"]:
        case "max_steps":
            return f"step limit of {record['max_steps']} reached"
        case "budget":
            return "budget used up"
        case status:
            return status


def verified_words(record: RunRecord | LaneRecord) -> str:
    """What the checks came to; empty if there were none."""
    match record.get("verified"):
        case "yes":
            return "checks passed"
        case "no":
            return "check refused"
        case _:
            return ""


def check_lines(record: RunRecord) -> list[tuple[str, bool]]:
    """Which checks passed, on one line; each that refused, with its reason; and whether it is a refusal."""
    checks = record.get("checks", [])
    passed = [one_line(check["name"], 80) for check in checks if check["passed"]]
    names = ", ".join(passed)
    lines = [(f"{'Check' if len(passed) == 1 else 'Checks'} passed: {names}", False)] if passed else []
    for check in checks:
        if not check["passed"]:
            reason = one_line(check.get("reason", ""), 600) or "no reason given"
            lines.append((f"Check refused: {one_line(check['name'], 80)}: {reason}", True))
    return lines


def is_sound(record: RunRecord) -> bool:
    """Whether the value is an answer that no check refused."""
    return record["status"] == "answered" and record.get("verified") != "no"


def last_status_words(status: Status | None) -> str:
    """How an agent's newest run ended, in words."""
    match status:
        case None:
            return "not run yet"
        case "running":
            return "running"
        case "max_steps":
            return "last run reached its step limit"
        case "budget":
            return "last run used up its budget"
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
        steps = f"{_made_words(record)} of {record['max_steps']}"
    usage = record["usage"]
    if record["status"] == "running" and not record["steps"]:
        return [steps, seconds(record["duration_s"])]
    return [steps, tokens(usage), cost(usage["cost_usd"]), seconds(record["duration_s"])]


def lane_figures(lane: LaneRecord) -> list[str]:
    """Steps, tokens and time of a managed agent's run."""
    if lane["status"] == "running":
        now = lane.get("now")
        steps = f"step {now['step_number'] if now else lane['n_steps'] + 1} of {lane['max_steps']}"
        return list(filter(None, [steps, tokens_together(lane["usage"])]))
    figures = [count(lane["n_steps"], "step"), tokens_together(lane["usage"]), seconds(lane["duration_s"])]
    return list(filter(None, figures))


def lane_words(lane: LaneRecord) -> str:
    """`analyst · answered · 3 steps · 1,292 tokens · 4.2 s`; while it goes on what it does."""
    now = lane.get("now")
    status = now_words(now) if now else status_words(lane)
    return " · ".join(
        filter(None, [one_line(lane["agent"], 60), status, verified_words(lane), *lane_figures(lane)])
    )


def step_figures(step: AnyStepRecord) -> str:
    """Tokens and time of a step or a plan."""
    usage = step.get("usage")
    return " · ".join([*([tokens(usage)] if usage else []), seconds(step["duration_s"])])


def tokens(usage: UsageRecord) -> str:
    """`1,204 tokens in (1,000 cached), 88 out (40 reasoning)`, or that they are unknown."""
    n_in, n_out, n_cached = usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"]
    if n_in is None and n_out is None:
        return "tokens unknown"
    cached = f" ({n_cached:,} cached)" if n_cached else ""
    n_reasoning = usage["reasoning_tokens"]
    reasoning = f" ({n_reasoning:,} reasoning)" if n_reasoning else ""
    return f"{_or_unknown(n_in)} tokens in{cached}, {_or_unknown(n_out)} out{reasoning}"


def tokens_together(usage: UsageRecord) -> str:
    """`1,292 tokens`; empty if they are unknown."""
    n_in, n_out = usage["input_tokens"], usage["output_tokens"]
    return "" if n_in is None and n_out is None else count((n_in or 0) + (n_out or 0), "token")


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


def labels(laid_on: LaidOnRecord | None) -> list[str]:
    """How a model is shown a step, and who edited it; nothing for a step as it was made."""
    if not laid_on:
        return []
    words = [_VIEW_WORDS[laid_on["view"]]] if "view" in laid_on else []
    if "form" in laid_on and laid_on.get("view") != "hidden":
        words.append(_FORM_WORDS[laid_on["form"]])
    if "is_pinned" in laid_on:
        words.append("pinned")
    if "edited_by" in laid_on:
        at = laid_on.get("edited_at", "")[:16].replace("T", " ")
        words.append(f"edited by {one_line(laid_on['edited_by'], 40)}" + (f", {at} UTC" if at else ""))
    return words


def step_labels(step: AnyStepRecord) -> list[str]:
    """The labels of a step or a plan; that there are warnings too, since its body may be closed."""
    n_warnings = sum("is_warning" in note for note in step.get("notes", []))
    return [*labels(step.get("laid_on")), *([count(n_warnings, "warning")] if n_warnings else [])]


def now_words(now: NowRecord) -> str:
    """What happens at the moment."""
    waiting = now.get("waiting")
    if now["doing"] == "paused":
        reason = one_line(waiting["reason"], 120) if waiting else ""
        return f"paused ({reason})" if reason else "paused"
    if now["doing"] == "waiting" and waiting:
        delay_s = waiting["delay_s"]
        delay = "" if delay_s is None else f" {math.ceil(delay_s)} s"
        return f"waiting{delay} ({one_line(waiting['reason'], 120)})"
    if now["doing"] == "asking":
        return f"waiting for your approval of {_asked_words(now)}"
    if now["doing"] == "calling":
        return _running_words(now)
    if writing := now.get("writing"):
        names = [one_line(call["name"], 60) for call in writing if call["name"]]
        return ("writing a call of " + ", ".join(dict.fromkeys(names))) if names else "writing a call"
    return "writing code" if "code" in now and now["doing"] == "thinking" else now["doing"]


def _running_words(now: NowRecord) -> str:
    """`calling mean_price`, `running code`, `running code, calling mean_price`."""
    running = set(now.get("running", []))
    calls = [call for call in now.get("calls", []) if call["id"] in running]
    inner = [one for call in calls for one in call.get("calls", []) if one["id"] in running]
    names = [_name_of(call) for call in [*calls, *inner] if "code" not in call]
    code = ["running code"] if any("code" in call for call in calls) else []
    return ", ".join([*code, *(["calling " + ", ".join(dict.fromkeys(names))] if names or not code else [])])


def _name_of(call: CallRecord) -> str:
    """Its name; of one whose run waits for another try, or for the person, that too."""
    name = one_line(call["name"], 60)
    now = call["run"].get("now") if "run" in call else None
    return f"{name} ({now_words(now)})" if now and now["doing"] in ("waiting", "paused") else name


def _asked_words(now: NowRecord) -> str:
    """`mean_price`, `mean_price and plot`, `the plan`: what waits for an answer, each name once."""
    items = now["asked"]["items"] if "asked" in now else []
    names = [_asked_name(item) for item in items if "verdict" not in item]
    names = list(dict.fromkeys(names))
    if len(names) > _MAX_ASKED:
        names = [*names[:_MAX_ASKED], f"{len(names) - _MAX_ASKED} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else "a call"


def _asked_name(item: AskedItemRecord) -> str:
    name = "the code" if "code" in item else one_line(item.get("name", "the plan"), 60)
    return f"{name} of {one_line(item['agent'], 60)}" if "agent" in item else name


def answer_label(record: RunRecord) -> str:
    """What the value at the end is: an answer only if the run says so."""
    if record["status"] != "answered":
        return "Best guess, no answer"
    return "Answer" if is_sound(record) else "Refused by a check, no answer"


def task_words(record: RunRecord) -> list[str]:
    """What there is to say beside the task."""
    resumed_from = record.get("resumed_from")
    resumed = [f"goes on with {one_line(resumed_from, 80)}"] if resumed_from else []
    return [*resumed, *labels(record.get("task_laid_on"))]


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


def pick_ends(items: list[_Item], max_items: int | None) -> list[_Item]:
    """The first third and the last two of `max_items`."""
    if max_items is None or len(items) <= max_items:
        return items
    n_first = max_items // 3
    return items[:n_first] + items[n_first - max_items :]


def gap_words(n_missing: int, noun: str = "step") -> str:
    """Said where steps, calls, messages are left out."""
    return f"… {count(n_missing, noun)} not shown here …"


def cut(text: str, max_chars: int | None) -> str:
    """`text` as it may be shown, its end cut with a note."""
    if max_chars is None or len(text) <= max_chars:
        return to_display(text)
    return f"{to_display(text[:max_chars])}… ({len(text) - max_chars:,} more characters)"


def _made_words(record: RunRecord) -> str:
    """`4 steps`; of a run that went on with another, whose steps count on, `steps 7–9`."""
    made = [step["step_number"] for step in record["steps"] if "plan" not in step]
    if not made or made[0] == 1:
        return count(record["n_steps"], "step")
    return f"step {made[0]}" if len(made) == 1 else f"steps {made[0]}–{made[-1]}"


def _or_unknown(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"
