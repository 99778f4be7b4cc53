"""An agent as an `AgentSnapshot`: what its panel and its static form show.

It must not draw, nor follow an agent: it is told when to look. Texts of the person's and of models
come out bounded and without secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from agent_magic.agents.code import CodeAgent
from agent_magic.agents.multistep import MultiStepAgent
from agent_magic.agents.person.hooks import name_of_function
from agent_magic.core.errors import AgentError
from agent_magic.core.memory import AgentMemory
from agent_magic.core.result import RunResult
from agent_magic.core.steps import ActionStep, FinalAnswerStep, PlanningStep, RunStep, TaskStep
from agent_magic.core.text import first_line
from agent_magic.core.values import Value, describe, is_json, safe_repr
from agent_magic.notebook.building.building import reason_of
from agent_magic.notebook.options.answer_types import type_words
from agent_magic.record.cards import to_agent_record, to_tool_record
from agent_magic.record.clean import clean_text, redact_plain
from agent_magic.record.laid_on import laid_on_at
from agent_magic.record.lane import to_step_record
from agent_magic.record.plan import to_plan_record
from agent_magic.record.schema import AgentRecord, LaidOnRecord, ToolRecord
from agent_magic.tools.tool import Tool
from agent_magic.view import titles
from agent_magic.view.protocol import (
    VERSION,
    AgentSnapshot,
    NameRecord,
    PanelRunRecord,
    PanelStepRecord,
    SettingsRecord,
)
from agent_magic.view.words import one_line

_MAX_STEPS = 400
"""The newest; a page that shows more is no overview."""
_MAX_NAMES = 60
_MAX_TOOLS = 50
_TITLE_CHARS = 160
_PREVIEW_CHARS = 200
_ERROR_CHARS = 600


class Panel:
    """Looks at one agent again and again; what has not changed is not worked out anew."""

    def __init__(self, panel_id: str) -> None:
        self.id = panel_id
        self._places: dict[int, tuple[int, RunStep]] = {}
        """Place and step by the id of the step as it was made; a place is never given twice."""
        self._n_places = 0
        self._titles: dict[int, tuple[RunStep, str, bool]] = {}
        self._tools: dict[str, tuple[Tool, ToolRecord]] = {}
        self._names: dict[str, tuple[int, NameRecord]] = {}
        """What was seen, with the id of the value: the value itself is not kept alive."""

    def step_at(self, place: int) -> RunStep | None:
        """The step, as it was made, that was shown at a place; None if it is not remembered any more."""
        return next((step for known, step in self._places.values() if known == place), None)

    def look(
        self, agent: MultiStepAgent, settings: SettingsRecord, *, is_running: bool, with_previews: bool = True
    ) -> AgentSnapshot:
        """The agent as it stands.

        Args:
            with_previews: Look into values that are new, which runs code of the person's: not in
                another thread than theirs.
        """
        runs, n_left_out = self._look_at_memory(agent, is_running=is_running)
        names, n_names_left_out = self._look_at_names(agent, with_previews=with_previews)
        snapshot = AgentSnapshot(
            v=VERSION,
            id=self.id,
            agent=to_record_of(agent),
            settings=settings,
            is_running=is_running,
            runs=runs,
            steps_left_out=n_left_out,
            scope=agent.state.scope,
            names=names,
            names_left_out=n_names_left_out,
            tools=[],
            tools_left_out=0,
            tools_missing=[],
        )
        try:
            tools = agent.tools
            snapshot["tools_missing"] = [
                clean_text(name, 80) for name in agent.toolbox.missing()[:_MAX_TOOLS]
            ]
        except AgentError as error:
            snapshot["tools_error"] = clean_text(error.message, _ERROR_CHARS)
            return snapshot
        self._tools = {name: self._look_at_tool(tool) for name, tool in list(tools.items())[:_MAX_TOOLS]}
        snapshot["tools"] = [record for _, record in self._tools.values()]
        snapshot["tools_left_out"] = len(tools) - len(self._tools)
        return snapshot

    def _look_at_tool(self, tool: Tool) -> tuple[Tool, ToolRecord]:
        known = self._tools.get(tool.name)
        if known is not None and known[0] is tool:
            return known
        return tool, to_tool_record(tool.to_schema(), tool.warnings)

    # -- memory --------------------------------------------------------------------------------

    def _look_at_memory(self, agent: MultiStepAgent, *, is_running: bool) -> tuple[list[PanelRunRecord], int]:
        memory = agent.memory
        originals = _originals(memory)
        entries = memory.entries
        kept = [i for i, entry in enumerate(entries) if not entry.is_dropped]
        self._keep_places([originals.get(i, entries[i].step) for i in kept])
        ended = {id(run.steps[0]): run for run in agent.runs if run.steps}
        runs: list[PanelRunRecord] = []
        for i in kept[-_MAX_STEPS:]:
            step, made = entries[i].step, originals.get(i, entries[i].step)
            if isinstance(step, TaskStep) or not runs:
                runs.append(_to_run(step, ended.get(id(made))))
            runs[-1]["steps"].append(self._to_line(step, made, laid_on_at(memory, i)))
        if runs and is_running and runs[-1]["status"] is None:
            runs[-1]["status"] = "running"
        return runs, max(len(kept) - _MAX_STEPS, 0)

    def _keep_places(self, made: list[RunStep]) -> None:
        known, self._places = self._places, {}
        for step in made:
            place = known.get(id(step))
            if place is None:
                place = (self._n_places, step)
                self._n_places += 1
            self._places[id(step)] = place
        here = {id(step) for step in made}
        self._titles = {key: title for key, title in self._titles.items() if key in here}

    def _to_line(self, step: RunStep, made: RunStep, laid_on: LaidOnRecord | None) -> PanelStepRecord:
        known = self._titles.get(id(made))
        if known is None or known[0] is not step:
            known = self._titles[id(made)] = (step, *_title_of(step))
        record = PanelStepRecord(place=self._places[id(made)][0], kind=_kind_of(step), title=known[1])
        if isinstance(step, ActionStep | PlanningStep):
            record["step_number"] = step.step_number
        if known[2]:
            record["is_error"] = True
        if laid_on:
            record["laid_on"] = laid_on
        return record

    # -- names ---------------------------------------------------------------------------------

    def _look_at_names(self, agent: MultiStepAgent, *, with_previews: bool) -> tuple[list[NameRecord], int]:
        state = agent.state
        names = state.open_names()
        newest = names[-_MAX_NAMES:]
        before, self._names = self._names, {}
        for name in newest:
            try:
                value = state[name]
            except KeyError:  # deleted meanwhile
                continue
            if with_previews or name not in before or before[name][0] != id(value):
                # A value may have changed in place: whoever may look into it, looks.
                record = _to_name(name, value, _PREVIEW_CHARS if with_previews else 0)
            else:
                record = before[name][1]
            self._names[name] = (id(value), record)
        return [record for _, record in self._names.values()], len(names) - len(newest)

    def let_go(self) -> None:
        """Hold no value of the person's any longer."""
        self._names.clear()
        self._places.clear()
        self._titles.clear()
        self._tools.clear()


def look_once(agent: MultiStepAgent) -> AgentSnapshot:
    """The agent as it stands, for a form that does not follow it."""
    values = agent.settings.values
    settings = SettingsRecord(
        summary_mode=values.summary_mode,
        planning_interval=values.planning_interval,
        is_paused=values.is_paused,
        max_steps=values.max_steps,
        approve=values.approve,
        pending={},
    )
    return Panel("").look(agent, settings, is_running=agent.is_running)


def to_record_of(agent: MultiStepAgent) -> AgentRecord:
    """The small record of an agent: model, tools, settings, what it remembers."""
    try:
        tools = [tool.to_schema() for tool in agent.tools.values()]
    except AgentError:  # two have one name by now
        tools = []
    return to_agent_record(
        name=agent.name,
        model_id=agent.model.model_id if agent.has_model else "chosen at the first run",
        reason=reason_of(agent),
        tools=tools,
        settings=_settings(agent),
        n_runs=len(agent.runs),
        n_steps=sum(isinstance(step, ActionStep) for step in agent.memory.steps),
        last_status=agent.result.status if agent.result else None,
    )


def _settings(agent: MultiStepAgent) -> dict[str, Value]:
    """The settings by name; those that are not set are None."""
    values = agent.settings.values
    checks = [name_of_function(check) for check in agent.final_answer_checks]
    prompts = agent.prompt_templates
    return {
        "mode": agent.mode if agent.mode != "tools" else None,
        "max_steps": values.max_steps,
        "max_tool_threads": agent.max_tool_threads,
        "state": agent.state.scope,
        "planning_interval": values.planning_interval,
        "summary_mode": values.summary_mode if values.summary_mode != "plan" else None,
        "checks": ", ".join(checks) or None,
        "answer_type": None if agent.answer_type is None else type_words(agent.answer_type),
        "max_time_s": values.max_time_s,
        "max_cost_usd": values.max_cost_usd,
        "max_total_tokens": values.max_total_tokens,
        "approve": values.approve if values.approve != "never" else None,
        **(_code_settings(agent) if isinstance(agent, CodeAgent) else {}),
        "prompts": ", ".join(prompts) if isinstance(prompts, Mapping) else prompts and str(prompts),
        "is_paused": values.is_paused or None,
        "description": agent.description or None,
        "instructions": agent.instructions or None,
    }


def _code_settings(agent: CodeAgent) -> dict[str, Value]:
    """How code is run, where it is not as it comes."""
    protect = agent.protect
    return {
        "writes": agent.writes if agent.writes != "new" else None,
        "protect": None if protect is None else ", ".join(protect) or "none",
        "imports": ", ".join(agent.additional_authorized_imports) or None,
        "step_timeout_s": "none" if agent.step_timeout_s is None else agent.step_timeout_s,
    }


def _originals(memory: AgentMemory) -> dict[int, RunStep]:
    """Steps that were edited, as they were made, by their place among the entries."""
    originals: dict[int, RunStep] = {}
    for change in memory.edits:
        if change.field == "step":
            originals.setdefault(change.index, change.old)
    return originals


def _to_run(step: RunStep, result: RunResult | None) -> PanelRunRecord:
    task = step.task if isinstance(step, TaskStep) else ""
    return PanelRunRecord(
        task=one_line(clean_text(first_line(task, 2_000), 2_000), _TITLE_CHARS),
        status=result.status if result else None,
        steps=[],
    )


def _kind_of(step: RunStep) -> Literal["task", "plan", "action", "answer"]:
    match step:
        case TaskStep():
            return "task"
        case PlanningStep():
            return "plan"
        case ActionStep():
            return "action"
        case FinalAnswerStep():
            return "answer"


def _title_of(step: RunStep) -> tuple[str, bool]:
    """What is said of a step on one line, and whether something went wrong in it."""
    match step:
        case TaskStep():
            text = clean_text(first_line(step.task, 2_000), 2_000)
        case FinalAnswerStep():
            text = clean_text(first_line(_answer_text(step.answer), 2_000), 2_000)
        case PlanningStep() | ActionStep():
            record = to_plan_record(step) if isinstance(step, PlanningStep) else to_step_record(step)
            lines = titles.titles(record)
            return one_line(" · ".join(map(str, lines)), _TITLE_CHARS), any(t.is_error for t in lines)
    return one_line(text, _TITLE_CHARS), False


def _answer_text(answer: Value) -> str:
    """The answer; of an object only what it is, as looking into it runs code of the person's."""
    if isinstance(answer, str):
        return answer
    return safe_repr(answer) if is_json(answer) else str(describe(answer, 0))


def _to_name(name: str, value: Value, max_chars: int) -> NameRecord:
    description = describe(value, max_chars)
    record = NameRecord(name=name, type=description.type_name)
    if description.shape:
        record["shape"] = description.shape
    if description.preview:
        record["preview"] = description.preview
    clean = cast("NameRecord", redact_plain(record))
    clean["name"], clean["type"] = one_line(clean["name"], 80), one_line(clean["type"], 80)
    return clean
