"""The panel of an agent as HTML and text, for where no widget can live.

It must not know an agent: it draws a snapshot.
"""

from __future__ import annotations

from agent_magic.core.text import to_display
from agent_magic.record.schema import Json, ToolRecord
from agent_magic.view import cards, plain, words
from agent_magic.view import elements as el
from agent_magic.view.protocol import AgentSnapshot, NameRecord, PanelRunRecord, PanelStepRecord

_MAX_RUNS = 5
_MAX_STEPS = 12
_PREVIEW_CHARS = 200
_WARNING_CHARS = 600


def panel_to_bundle(panel: AgentSnapshot) -> dict[str, Json]:
    """An agent's panel by MIME type."""
    return {"text/html": panel_html(panel), "text/plain": panel_text(panel)}


def panel_html(panel: AgentSnapshot) -> str:
    """The card, then memory, state, and tools with what is weak about them."""
    runs = panel["runs"][-_MAX_RUNS:]
    names = [[el.code(name["name"]), el.escape(_about(name))] for name in panel["names"]]
    return el.page(
        [
            cards.agent_html(panel["agent"]),
            *(el.warning(line) for line in _tool_warnings(panel)),
            el.label(f"Memory{_older(panel)}") if runs else "",
            *(el.fold(el.escape(_run_line(run)), el.indent(_steps_html(run))) for run in runs),
            el.label(_state_label(panel)) + el.table(names) if names else "",
            el.fold(el.escape("What the model is told of each tool"), _tools_html(panel["tools"]))
            if panel["tools"]
            else "",
        ]
    )


def panel_text(panel: AgentSnapshot) -> str:
    """The card, then memory, state, and tools with what is weak about them."""
    runs = panel["runs"][-_MAX_RUNS:]
    lines = [cards.agent_text(panel["agent"])]
    lines += [f"! {line}" for line in _tool_warnings(panel)]
    lines += [f"Memory{_older(panel)}"] if runs else []
    for run in runs:
        lines.append(f"    {_run_line(run)}")
        lines += [f"        {line}" for line in _step_lines(run)]
    if panel["names"]:
        about = [f"{words.one_line(name['name'], 80)}  {_about(name)}" for name in panel["names"]]
        lines += [_state_label(panel), *plain.indent("\n".join(about))]
    return "\n".join(lines)


def _tool_warnings(panel: AgentSnapshot) -> list[str]:
    weak = [words.one_line(line, _WARNING_CHARS) for tool in panel["tools"] for line in tool["weaknesses"]]
    gone = [
        f"Tool {words.one_line(name, 80)!r} is gone: its variable was deleted"
        for name in panel["tools_missing"]
    ]
    error = [words.one_line(panel["tools_error"], _WARNING_CHARS)] if "tools_error" in panel else []
    return [*error, *gone, *weak]


def _older(panel: AgentSnapshot) -> str:
    n_shown = len(panel["runs"][:-_MAX_RUNS])
    older = [words.count(n_shown, "older run")] if n_shown else []
    older += [words.count(panel["steps_left_out"], "older step")] if panel["steps_left_out"] else []
    return f" ({' and '.join(older)} not shown here)" if older else ""


def _run_line(run: PanelRunRecord) -> str:
    n_steps = sum(step["kind"] == "action" for step in run["steps"])
    task = next((step["title"] for step in run["steps"] if step["kind"] == "task"), run["task"])
    return " · ".join(
        [words.one_line(task, 100) or "a run", run["status"] or "loaded", words.count(n_steps, "step")]
    )


def _step_lines(run: PanelRunRecord) -> list[str]:
    steps = [step for step in run["steps"] if step["kind"] != "task"]
    shown = words.pick_ends(steps, _MAX_STEPS)
    lines = [_step_line(step) for step in shown]
    if len(shown) < len(steps):
        lines.insert(_MAX_STEPS // 3, words.gap_words(len(steps) - len(shown)))
    return lines


def _step_line(step: PanelStepRecord) -> str:
    match step["kind"]:
        case "action":
            line = f"{step.get('step_number', '')}. {step['title']}"
        case "answer":
            line = f"Answer: {step['title']}"
        case _:
            line = step["title"]
    return " · ".join([words.one_line(line, 160), *words.labels(step.get("laid_on"))])


def _steps_html(run: PanelRunRecord) -> str:
    return "".join(el.wrap("div", "", el.escape(line)) for line in _step_lines(run))


def _state_label(panel: AgentSnapshot) -> str:
    what = "all names" if panel["scope"] == "all" else "names that were given, mentioned or made"
    more = f"; {panel['names_left_out']:,} more" if panel["names_left_out"] else ""
    return f"State ({what}{more})"


def _about(name: NameRecord) -> str:
    head = f"{name['type']}, {name['shape']}" if "shape" in name else name["type"]
    preview = words.one_line(to_display(name.get("preview", "")), _PREVIEW_CHARS)
    return f"{head}: {preview}" if preview else head


def _tools_html(tools: list[ToolRecord]) -> str:
    return "".join(el.panel(el.GREY, cards.tool_html(tool)) for tool in tools)
