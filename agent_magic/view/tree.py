"""A run that goes on as the lines of a tree, for terminals: finished steps, and what happens now.

It must not send anything to a terminal, nor make a line longer than it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_magic.core.text import first_line, to_display
from agent_magic.record.schema import AnyStepRecord, CallRecord, LaneRecord, NowRecord, RunRecord
from agent_magic.view import titles, words
from agent_magic.view.columns import clip, width

_CHILD, _LAST_CHILD, _CODE = "    ├─ ", "    └─ ", "    │ "
_TITLE_CHARS = 300
_LEAST_TITLE = 12
"""Columns: a title keeps so many before the badges beside it go."""
_SHOWN_CALLS = 20
_SHOWN_LINES = 12
"""Of code."""
_SHOWN_NOW = 6
_SHOWN_LANE = 8
"""Steps of the run of a managed agent."""
_BRANCH, _LAST_BRANCH = "    │  ", "       "
"""What stands before a line below a child, and below the last one."""
_WRITTEN_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLine:
    """One line, not yet cut to the terminal's width."""

    lead: str = ""
    """Never cut: number and kind, or the branch."""
    title: str = ""
    badges: str = ""
    """Behind the title, which gives way to them."""
    keeps_end: bool = False
    """Of a text that is being written the newest part is told."""
    is_strong: bool = False
    """A step, or the run."""
    is_code: bool = False
    """A line of code: its spaces stay."""

    def fit(self, columns: int) -> tuple[str, str, str]:
        """Lead, title and badges that take so many columns together."""
        lead = clip(self.lead, columns)
        room = columns - width(lead)
        badges = f"  {words.one_line(self.badges, _TITLE_CHARS)}" if self.badges else ""
        if width(badges) > room - _LEAST_TITLE:
            badges = ""
        title = to_display(self.title)
        title = title.expandtabs(4) if self.is_code else " ".join(title.split())
        return lead, clip(title, room - width(badges), keeps_end=self.keeps_end), badges


def header_lines(record: RunRecord) -> list[TreeLine]:
    """Agent and model; warnings."""
    model = words.one_line(words.model_words(record["model"], record["why"]))
    return [
        TreeLine(lead=words.one_line(record["agent"], 60) + " ", title=f"· {model}", is_strong=True),
        *(TreeLine(lead="! ", title=words.one_line(warning, 600)) for warning in record["warnings"]),
    ]


def step_lines(step: AnyStepRecord) -> list[TreeLine]:
    """A finished step: number, kind, title and badges; its calls under it."""
    badges = " · ".join([*_error_badges(step), words.step_figures(step), *words.step_labels(step)])
    if "plan" in step:
        head = TreeLine(
            lead=_lead(None, "plan"),
            title=str(titles.plan_title(step, name="")),
            badges=f"[{badges}]",
            is_strong=True,
        )
        return [head, *_children(_notes(step))]
    kind = "answer" if step.get("is_final_answer") else "act"
    calls = step.get("calls", [])
    said = words.one_line(first_line(step.get("thought", ""), _TITLE_CHARS), _TITLE_CHARS)
    code = next((call for call in calls if "code" in call), None)
    if code is not None:
        title, lines, children = said or _code_title(code), _code_lines(code), _code_children(code)
    else:
        n_calls = len(calls) + step.get("calls_left_out", 0)
        title = said or (words.count(n_calls, "call") if n_calls else "nothing said")
        lines, children = [], _shown_calls(calls, n_calls)
    below = _lanes_below(calls if code is None else titles.inner_calls(code, _SHOWN_CALLS))
    if error := step.get("error"):
        children.append(f"✗ {titles.error_line(error)}")
    head = TreeLine(lead=_lead(step["step_number"], kind), title=title, badges=f"[{badges}]", is_strong=True)
    return [head, *lines, *_children([*children, *_notes(step)], below=below)]


def now_lines(record: RunRecord, max_lines: int) -> list[TreeLine]:
    """The step that is being made: what happens now, its calls or what is being written; figures so far.

    Args:
        max_lines: At least 1.
    """
    now = record.get("now")
    if now is None:
        return []
    is_planning = now["doing"] == "planning" or "plan" in now
    head = TreeLine(
        lead=_lead(None if is_planning else now["step_number"], "plan" if is_planning else "act"),
        title=words.one_line(words.now_words(now), _TITLE_CHARS) + " …",
        is_strong=True,
    )
    figures = TreeLine(lead="    ", title=" · ".join(words.run_figures(record)[:-1]))
    room = min(max_lines - 2, _SHOWN_NOW)
    return [head, *(_now_children(now, room) if room > 0 else []), figures][:max_lines]


def _lanes_below(calls: Sequence[CallRecord | int]) -> dict[int, list[str]]:
    """By the places of calls of managed agents: a line for each step of the run, deeper ones moved in."""
    below: dict[int, list[str]] = {}
    for place, call in enumerate(calls[:_SHOWN_CALLS]):
        if not isinstance(call, int) and "run" in call:
            below[place] = _lane_steps(call["run"])
    return below


def _lane_steps(lane: LaneRecord) -> list[str]:
    shown = words.pick_ends(lane["steps"], _SHOWN_LANE)
    lines: list[str] = []
    n_missing = lane["steps_left_out"] + len(lane["steps"]) - len(shown)
    for place, step in enumerate(shown):
        if n_missing and place == len(shown) // 3:
            lines.append(words.gap_words(n_missing))
        number = "  " if "plan" in step else f"{step['step_number']:>2}"
        lines.append(f"{number}  {' · '.join(map(str, titles.titles(step)))}")
        for call in [] if "plan" in step else step.get("calls", []):
            lines += [f"      {line}" for line in _lane_steps(call["run"])] if "run" in call else []
    return lines


def _shown_calls(calls: Sequence[CallRecord], n_calls: int) -> list[str]:
    shown = [str(titles.call_title(call)) for call in calls[:_SHOWN_CALLS]]
    if n_calls > len(shown):
        n_failed = sum("error" in call for call in calls[_SHOWN_CALLS:])
        shown.append(f"{n_calls - len(shown):,} more" + (f", {n_failed} failed" if n_failed else ""))
    return shown


def _code_title(call: CallRecord) -> str:
    """How long code is, and how many calls it made."""
    about = titles.call_title(call).about
    return f"code, {about}" if about else "code"


def _code_lines(call: CallRecord, max_lines: int = _SHOWN_LINES) -> list[TreeLine]:
    """The first lines of code, as it was run."""
    edited, _ = titles.split_edit(call)
    lines = [line for line in (edited or call.get("code", "")).splitlines() if line.strip()]
    shown = [TreeLine(lead=_CODE, title=line, is_code=True) for line in lines[:max_lines]]
    if len(lines) > max_lines:
        shown[-1] = TreeLine(lead=_CODE, title=f"… {words.count(len(lines) - max_lines + 1, 'more line')}")
    return shown


def _code_children(call: CallRecord) -> list[str]:
    """The calls that code made, and what came of it."""
    children = [
        words.gap_words(row, "call") if isinstance(row, int) else str(titles.call_title(row))
        for row in titles.inner_calls(call, _SHOWN_CALLS)
    ]
    title = titles.call_title(call)
    if title.outcome:
        children.append(f"✗ {title.outcome}" if title.is_error else f"→ {title.outcome}")
    return children


def _now_children(now: NowRecord, room: int) -> list[TreeLine]:
    calls = now.get("calls", [])
    if code := next((call for call in calls if "code" in call), None):
        return _now_code(code, set(now.get("running", [])), room)
    if calls:
        return _children(_now_calls(calls, set(now.get("running", [])), room))
    written = [f"{call['name'] or '…'}({call['arguments']}" for call in now.get("writing", ())[-1:]]
    written += [now.get(field, "") for field in ("code", "plan", "thought", "reasoning")]
    newest = next((line for line in map(_newest_line, written) if line), "")
    return _children([newest], keeps_end=True) if newest else []


def _now_code(call: CallRecord, running: set[str], room: int) -> list[TreeLine]:
    """The beginning of code that runs, and the newest of the calls that it makes."""
    inner = call.get("calls", [])
    newest = [_now_title(one, running) for one in inner[-max(room // 2, 1) :]]
    return [*_code_lines(call, max(room - len(newest), 1)), *_children(newest)][:room]


def _now_calls(calls: Sequence[CallRecord], running: set[str], room: int) -> list[str]:
    """All of them if there is room; else figures, and those that run longest."""
    if len(calls) <= room:
        return [_now_title(call, running) for call in calls]
    open_ones = [call for call in calls if call["id"] in running]
    n_failed = sum("error" in call for call in calls)
    done = f"{len(calls) - len(open_ones):,} of {len(calls):,} calls done"
    return [
        done + (f", {n_failed:,} failed" if n_failed else ""),
        *(_now_title(call, running) for call in open_ones[: room - 1]),
    ]


def _now_title(call: CallRecord, running: set[str]) -> str:
    """A call; of one by a managed agent what happens in its run."""
    is_running = call["id"] in running
    if is_running and "run" in call:
        return words.lane_words(call["run"])
    return str(titles.call_title(call, is_running=is_running))


def _newest_line(text: str) -> str:
    lines = to_display(text[-_WRITTEN_CHARS:]).splitlines()
    return next((" ".join(line.split()) for line in reversed(lines) if line.strip()), "")


def _error_badges(step: AnyStepRecord) -> list[str]:
    if "error" in step:
        return ["error"]
    n_failed = 0 if "plan" in step else sum("error" in call for call in step.get("calls", []))
    return [f"{n_failed} failed"] if n_failed else []


def _notes(step: AnyStepRecord) -> list[str]:
    return [
        ("! " if "is_warning" in note else "") + words.one_line(note["text"], _TITLE_CHARS)
        for note in step.get("notes", [])
    ]


def _children(
    titles: Sequence[str], *, keeps_end: bool = False, below: Mapping[int, Sequence[str]] = {}
) -> list[TreeLine]:
    """Lines of a branch each.

    Args:
        titles: Of the children.
        keeps_end: They are being written.
        below: What stands below some of them, by their places.
    """
    last = len(titles) - 1
    lines: list[TreeLine] = []
    for i, title in enumerate(titles):
        lead, branch = (_LAST_CHILD, _LAST_BRANCH) if i == last else (_CHILD, _BRANCH)
        lines.append(TreeLine(lead=lead, title=title, keeps_end=keeps_end))
        for text in below.get(i, ()):
            bare = text.lstrip(" ")
            lines.append(TreeLine(lead=branch + " " * (len(text) - len(bare)), title=bare))
    return lines


def _lead(number: int | None, kind: str) -> str:
    return f"{'' if number is None else number:>2}  {kind:<6}  "
