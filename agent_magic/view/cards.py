"""The cards of an agent and of a tool, as HTML and text.

It must not know their classes: it draws their records.
"""

from __future__ import annotations

from agent_magic.core.text import to_display
from agent_magic.record.cards import ToolCard
from agent_magic.record.schema import AgentRecord, Json, ToolRecord
from agent_magic.view import elements as el
from agent_magic.view import plain, titles, words
from agent_magic.view.chips import status_chip

_SENT = "Sent to a model that calls tools"
_CODE = "Told to a model that writes code"


def agent_to_bundle(agent: AgentRecord) -> dict[str, Json]:
    """An agent's card by MIME type."""
    return {"text/html": agent_html(agent), "text/plain": agent_text(agent)}


def tool_to_bundle(tool: ToolRecord) -> dict[str, Json]:
    """A tool's card by MIME type."""
    return {"text/html": tool_html(tool), "text/plain": tool_text(tool)}


def card_to_bundle(card: ToolCard) -> dict[str, Json]:
    """A tool's whole card by MIME type: what models are told of it in either form, and what is weak."""
    return {"text/html": card_html(card), "text/plain": card_text(card)}


def agent_html(agent: AgentRecord) -> str:
    """Name, status, model; memory and settings; tools with a line each."""
    model = words.model_words(agent["model"], agent["why"])
    tools = [
        [el.code(words.one_line(tool["name"], 40)), el.escape(tool["description"])] for tool in agent["tools"]
    ]
    return el.page(
        [
            el.heading(
                agent["name"],
                status_chip(agent["last_status"], words.last_status_words(agent["last_status"])),
                model,
            ),
            el.label(_agent_figures(agent)),
            el.label("Tools") + el.table(tools) if tools else el.label("No tools"),
        ]
    )


def agent_text(agent: AgentRecord) -> str:
    """Name, status, model; memory and settings; tools with a line each."""
    model = words.one_line(words.model_words(agent["model"], agent["why"]))
    status = words.last_status_words(agent["last_status"])
    width = max((len(tool["name"]) for tool in agent["tools"]), default=0)
    tools = [
        f"    {words.one_line(tool['name']):{width}}  {words.one_line(tool['description'])}".rstrip()
        for tool in agent["tools"]
    ]
    return "\n".join(
        [
            f"{words.one_line(agent['name'])} · {status} · {model}",
            _agent_figures(agent),
            *(["Tools", *tools] if tools else ["No tools"]),
        ]
    )


def tool_html(tool: ToolRecord) -> str:
    """Name, description, parameters, examples, weaknesses."""
    return el.page([*_told(tool), *_weak(tool)])


def card_html(card: ToolCard) -> str:
    """A tool, and behind a line each what either kind of model is told of it; weaknesses last."""
    forms = [
        el.fold(el.escape(_SENT), el.code_block(card["sent"], is_plain=True)),
        el.fold(el.escape(_CODE), el.code_block(card["code"])),
    ]
    return el.page([*_told(card["tool"]), *forms, *_weak(card["tool"])])


def _told(tool: ToolRecord) -> list[str]:
    parameters = [
        [
            el.code(words.one_line(p["name"], 40)),
            el.code(_type(p["type"], p.get("default"), is_required=p["is_required"])),
            el.escape(p["description"]),
        ]
        for p in tool["parameters"]
    ]
    examples = "".join(
        el.wrap("div", "", f"{el.code(titles.call_line(tool['name'], example['arguments']))} ")
        + el.wrap("div", el.FINE, el.escape(example["task"]))
        for example in tool["examples"]
    )
    return [
        el.heading(tool["name"], "", "tool"),
        el.prose(tool["description"]),
        el.label("Parameters") + el.table(parameters) if parameters else el.label("No parameters"),
        el.label("Examples") + examples if examples else "",
    ]


def _weak(tool: ToolRecord) -> list[str]:
    return [el.warning(weakness) for weakness in tool["weaknesses"]]


def tool_text(tool: ToolRecord) -> str:
    """Name, description, parameters, examples, weaknesses."""
    return "\n".join([*_told_lines(tool), *_weak_lines(tool)])


def card_text(card: ToolCard) -> str:
    """A tool, what either kind of model is told of it, weaknesses."""
    return "\n".join(
        [
            *_told_lines(card["tool"]),
            f"{_SENT}:",
            *plain.indent(to_display(card["sent"])),
            f"{_CODE}:",
            *plain.indent(to_display(card["code"])),
            *_weak_lines(card["tool"]),
        ]
    )


def _told_lines(tool: ToolRecord) -> list[str]:
    lines = [f"{words.one_line(tool['name'])} · tool", *plain.indent(to_display(tool["description"]))]
    for p in tool["parameters"]:
        kind = _type(p["type"], p.get("default"), is_required=p["is_required"])
        lines.append(f"{words.one_line(p['name'])}: {words.one_line(kind)}")
        lines += plain.indent(to_display(p["description"])) if p["description"] else []
    for example in tool["examples"]:
        lines.append(f"Example: {words.one_line(example['task'])}")
        lines.append(f"    {titles.call_line(tool['name'], example['arguments'])}")
    return lines


def _weak_lines(tool: ToolRecord) -> list[str]:
    return [f"! {words.one_line(weakness, 600)}" for weakness in tool["weaknesses"]]


def _agent_figures(agent: AgentRecord) -> str:
    memory = f"{words.count(agent['n_runs'], 'run')}, {words.count(agent['n_steps'], 'step')} in memory"
    settings = [
        f"{words.one_line(k, 80)} {words.one_line(words.argument_text(v))}"
        for k, v in agent["settings"].items()
    ]
    return " · ".join([memory, *settings])


def _type(kind: str, default: str | None, *, is_required: bool) -> str:
    if default is not None:
        return f"{kind} = {default}"
    return kind if is_required else f"{kind}, optional"
